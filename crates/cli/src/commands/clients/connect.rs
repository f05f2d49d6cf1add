//! `dragoman connect`: lets a client use Dragoman, by an entry in the client's settings.

use std::path::{Path, PathBuf};

use clients::client_app::{ClientApp, KeyReference};
use clients::connection::{self, ConnectionRecord};
use clients::import::{ImportFrom, replaceable};
use clients::own_entry::{ApiKey, Reach, Unreachable, own_entry};
use config::{Config, DEFAULT_PROFILE, EditFault, changed_lines};
use serde_json::{Value, json};

use super::client_files::{self, ClientFile};
use super::connection_records::{self, RecordPlace};
use crate::commands::configuration::changed_lines::show_lines;
use crate::commands::configuration::config_file::ConfigFile;
use crate::commands::configuration::confirmation::confirmed;
use crate::commands::configuration::settings::Settings;
use crate::commands::configuration::text_file::TextFile;
use crate::commands::serving::address;
use crate::commands::serving::welcome;
use crate::output::console::Console;
use crate::output::failure::Failure;
use crate::output::options::Global;

/// The variable from which clients take the API key.
const KEY_VARIABLE: &str = "DRAGOMAN_KEY";

const EXAMPLES: &str = "\
Clients: claude-desktop, claude-code, cursor, vscode, windsurf, zed, gemini, codex, cline, goose, lm-studio.
`dragoman disconnect CLIENT` undoes everything.

Examples:
  dragoman connect cursor                         add Dragoman to Cursor's settings
  dragoman connect cursor --only                  and remove the servers that Cursor reaches directly (import them first)
  dragoman connect vscode --project               for the project in this folder
  dragoman connect claude-code --profile editors  use one profile
  dragoman connect zed --key dgm_…                send this API key
  dragoman connect codex --print                  print the entry, and change nothing";

/// Let a client use Dragoman
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command")]
pub(crate) struct Args {
    /// The client
    #[arg(value_name = "CLIENT")]
    client: String,
    /// The profile that the client uses
    #[arg(long, short, value_name = "PROFILE", default_value = DEFAULT_PROFILE)]
    profile: String,
    /// The name of the entry
    #[arg(long, value_name = "NAME", default_value = "dragoman")]
    name: String,
    /// The URL of the profile [default: that of the configuration]
    #[arg(long, value_name = "URL", conflicts_with = "start")]
    url: Option<String>,
    /// Let the client start Dragoman as a program, instead of sending requests to a running gateway
    #[arg(long)]
    start: bool,
    /// The API key to write into the settings [default: a reference to a variable, if the client reads variables]
    #[arg(long, value_name = "KEY", conflicts_with = "start")]
    key: Option<String>,
    /// Remove the servers that `import` can take from the client's settings; `disconnect` brings them back
    #[arg(long)]
    only: bool,
    /// Write the settings of the project in this folder instead of your own
    #[arg(long)]
    project: bool,
    /// The settings file, if it is elsewhere
    #[arg(long, value_name = "FILE", conflicts_with = "project")]
    file: Option<PathBuf>,
    /// Print the entry, and change nothing
    #[arg(long)]
    print: bool,
    /// Write the file without asking
    #[arg(long, short)]
    yes: bool,
    /// Show the change without writing it
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
}

/// Connects the client.
pub(crate) fn run(args: &Args, global: &Global, console: &Console) -> Result<(), Failure> {
    let client = client_files::client(&args.client)?;
    let gateway = Gateway::of(global)?;
    if !gateway.config.profiles.contains_key(&args.profile) {
        let names: Vec<&str> = gateway.config.profiles.keys().map(String::as_str).collect();
        let message = format!("there is no profile {:?}", args.profile);
        return Err(Failure::usage(message).help(format!("the configured profiles are {}", names.join(", "))));
    }
    let (entry, variable) = args.entry(client, &gateway)?;
    if args.print {
        return console.print(&printed(client, &args.name, &entry)?);
    }
    let place = args.place(client)?;
    let file = TextFile::open(place.path.clone())?;
    let record_place = RecordPlace::of(client, &file.path)?;
    let edit_failed = |fault: EditFault| {
        Failure::usage(format!("{}: {}", file.shown.display(), fault.message)).help(fault.help)
    };
    // A repeated `connect` starts from the settings as they were before the first one.
    let before = match (&file.text, record_place.read()?) {
        (Some(now), Some(record)) => connection::disconnect(client, now, &record).map_err(edit_failed)?,
        (text, _) => text.clone(),
    };
    let replaced = if args.only {
        let project = place.project.as_ref().map(|folder| folder.display().to_string());
        let from = ImportFrom { client, project: project.as_deref(), secrets: "" };
        replaceable(from, before.as_deref().unwrap_or_default()).map_err(edit_failed)?
    } else {
        Vec::new()
    };
    let record = connection::connect(client, before.as_deref(), (&args.name, &entry), &replaced)
        .map_err(edit_failed)?;
    args.write(client, &file, &record, &record_place, variable, console)
}

/// The gateway that clients are to use.
struct Gateway {
    config: Config,
    /// The absolute path of its configuration; `None` for the embedded demo.
    file: Option<PathBuf>,
}

impl Gateway {
    /// Reads the configuration. Its variables may be unset here, because only the gateway needs them.
    fn of(global: &Global) -> Result<Self, Failure> {
        let file = ConfigFile::open(global.config.as_deref())?;
        let Some(text) = &file.text else {
            return Ok(Self { config: Settings::load(global.config.as_deref())?.config, file: None });
        };
        let Some(loaded) = file.check(text)?.loaded else {
            let message = format!("{} depends on variables that are not set here", file.shown.display());
            return Err(Failure::usage(message).help("`dragoman check` lists them"));
        };
        Ok(Self { config: loaded.config, file: std::path::absolute(&file.path).ok() })
    }
}

impl Args {
    /// Returns the entry, and the variable that the client reads.
    fn entry(&self, client: &ClientApp, gateway: &Gateway) -> Result<(Value, Option<&'static str>), Failure> {
        if self.start || client.remote.is_none() {
            let program =
                std::env::current_exe().map_or("dragoman".to_owned(), |path| path.display().to_string());
            let mut args = vec!["stdio".to_owned()];
            if let Some(file) = &gateway.file {
                args.extend(["--config".to_owned(), file.display().to_string()]);
            }
            if self.profile != DEFAULT_PROFILE {
                args.extend(["--profile".to_owned(), self.profile.clone()]);
            }
            let reach = Reach::Program { program: &program, args: &args };
            return own_entry(client, &self.name, reach)
                .map(|entry| (entry, None))
                .map_err(unreachable(client));
        }
        let url = self.url.clone().unwrap_or_else(|| address_of(&gateway.config, &self.profile));
        let key = match (&self.key, welcome::needs_bearer(&gateway.config)) {
            (Some(key), _) => Some(ApiKey::Literal(key)),
            (None, true) => Some(ApiKey::Variable(KEY_VARIABLE)),
            (None, false) => None,
        };
        let variable = matches!(key, Some(ApiKey::Variable(_))).then_some(KEY_VARIABLE);
        let entry =
            own_entry(client, &self.name, Reach::Url { url: &url, key }).map_err(unreachable(client))?;
        Ok((entry, variable))
    }

    fn place(&self, client: &'static ClientApp) -> Result<ClientFile, Failure> {
        if let Some(path) = &self.file {
            return Ok(ClientFile { client, path: path.clone(), project: None });
        }
        client_files::of_client(client, self.project).into_iter().next().ok_or_else(|| {
            let message = if self.project {
                format!("{} has no settings for projects", client.title)
            } else {
                "your home folder is unknown".to_owned()
            };
            Failure::usage(message).help("name the settings file with --file FILE")
        })
    }

    fn write(
        &self,
        client: &ClientApp,
        file: &TextFile,
        record: &ConnectionRecord,
        place: &RecordPlace,
        variable: Option<&str>,
        console: &Console,
    ) -> Result<(), Failure> {
        let old = file.text.as_deref().unwrap_or_default();
        let lines = changed_lines(old, &record.after);
        if !console.json {
            let head = if file.text.is_some() { "Change" } else { "Create" };
            console.print(&console.fitted(&format!("{head} {}:", file.shown.display())))?;
            show_lines(&lines, console)?;
        }
        let is_wanted =
            self.dry_run || self.yes || confirmed(&format!("Write {}'s settings?", client.title), console)?;
        if !is_wanted {
            console.note("Nothing was changed.");
            return Ok(());
        }
        let backup = if self.dry_run {
            None
        } else {
            // The record comes first: without it, `disconnect` could not undo the change.
            place.write(record)?;
            file.replace(&record.after, self.key.is_some())?
        };
        if console.json {
            let added = lines.iter().filter(|line| line.is_added).map(|line| &*line.text).collect::<Vec<_>>();
            return console.print(
                &json!({
                    "client": client.name,
                    "file": file.shown.display().to_string(),
                    "backup": backup.map(|backup| backup.display().to_string()),
                    "written": !self.dry_run,
                    "replaced": record.replaced,
                    "lines": added,
                    "variable": variable,
                })
                .to_string(),
            );
        }
        if self.dry_run {
            return Ok(());
        }
        told(client, backup.as_deref(), variable, console)
    }
}

/// Prints the result and the next steps for the user.
fn told(
    client: &ClientApp,
    backup: Option<&Path>,
    variable: Option<&str>,
    console: &Console,
) -> Result<(), Failure> {
    let kept =
        backup.map(|backup| format!(" The old settings are in {}.", backup.display())).unwrap_or_default();
    console.print(&console.fitted(&format!("{} now uses Dragoman.{kept}", client.title)))?;
    console.note(&format!("\n{}", console.err.bold("Next")));
    if let Some(variable) = variable {
        let how =
            format!("  set {variable} where {} starts, to an API key: dragoman key new me", client.title);
        console.note(&console.fitted_err(&how, 2));
    }
    console.note(&console.fitted_err(&format!("  {}", client.reload), 2));
    console.note(&console.fitted_err(&format!("  dragoman disconnect {}    undoes this", client.name), 2));
    Ok(())
}

/// Returns the URL of a profile, for clients on this machine.
fn address_of(config: &Config, profile: &str) -> String {
    let path = if profile == DEFAULT_PROFILE { "/mcp".to_owned() } else { format!("/mcp/{profile}") };
    match (&config.public_url, config.listen.first()) {
        (Some(origin), _) => format!("{}{path}", origin.trim_end_matches('/')),
        (None, Some(first)) => address::url(config, *first, &path),
        (None, None) => format!("http://127.0.0.1:8808{path}"),
    }
}

fn unreachable(client: &ClientApp) -> impl Fn(Unreachable) -> Failure + '_ {
    move |why| match why {
        Unreachable::OnlyPrograms => {
            Failure::usage(format!("{} can connect only to programs that it starts", client.title))
                .help("leave out --url and --key")
        }
        Unreachable::NeedsKeyItself => {
            let message = format!(
                "{} cannot read a key from a variable, so its settings must contain the API key",
                client.title
            );
            Failure::usage(message)
                .help("create a key with `dragoman key new me`, and pass it with --key KEY; or use --start")
        }
        Unreachable::NeedsVariable => {
            let name = if let KeyReference::VariableKey(name) = client.key { name } else { "a variable" };
            let message = format!("{} reads its key only from a variable ({name})", client.title);
            Failure::usage(message)
                .help(format!("leave out --key, and set {KEY_VARIABLE} where the client starts"))
        }
    }
}

/// Returns the entry in the client's notation, below its key.
fn printed(client: &ClientApp, name: &str, entry: &Value) -> Result<String, Failure> {
    let text = clients::settings_text::put(client, "", name, entry);
    text.map(|text| text.trim_end().to_owned()).map_err(|fault| Failure::new(fault.message).help(fault.help))
}

/// Returns the record of a client's connection, and the location of the client's settings, for `disconnect`.
pub(crate) fn connected(
    client: &'static ClientApp,
    of_project: bool,
    file: Option<&PathBuf>,
) -> Result<(TextFile, RecordPlace), Failure> {
    let places = client_files::of_client(client, of_project);
    let path = file.cloned().or_else(|| places.into_iter().next().map(|place| place.path));
    let path =
        path.ok_or_else(|| Failure::usage("the settings file is unknown").help("name it with --file FILE"))?;
    if !path.exists() {
        let message = format!("{} has no settings file {}", client.title, path.display());
        return Err(Failure::usage(message).help(connection_records::ELSEWHERE));
    }
    let file = TextFile::open(path)?;
    let record = RecordPlace::of(client, &file.path)?;
    Ok((file, record))
}
