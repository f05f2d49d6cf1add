//! `dragoman import`: takes servers from the settings of clients into the configuration file.
//!
//! | file | is for |
//! |---|---|
//! | `plan` | the decision about each server that was found |
//! | `secret_files` | the files with secrets |

mod plan;
mod secret_files;

use std::path::PathBuf;

use clients::client_app::CLIENTS;
use config::{add_server, add_to_profile, changed_lines};
use serde_json::{Value, json};

use self::plan::{ImportDecision, ImportPlan, PlannedServer};
use super::client_files::{self, ClientFile};
use crate::commands::configuration::changed_lines::show_changes;
use crate::commands::configuration::config_file::{CheckedConfig, ConfigFile};
use crate::commands::configuration::confirmation::confirmed;
use crate::output::console::{Console, one_line};
use crate::output::failure::Failure;
use crate::output::options::Global;

const EXAMPLES: &str = "\
Dragoman copies the servers into its configuration file, and starts none of them. It leaves the clients' settings as they are; to let a
client use Dragoman instead, run `dragoman connect CLIENT`. Secrets move to files that only you can read, in the folder `secrets` beside the
configuration file.

Examples:
  dragoman import                                 the servers of all clients on this machine, and of the project in this folder
  dragoman import cursor vscode                   the servers of these clients
  dragoman import ~/old/mcp.json                  the servers in a file
  dragoman import --dry-run                       show the servers and the change without writing it";

/// Take servers from the settings of clients into the configuration file
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Clients or files; all known clients if none is named
    #[arg(value_name = "CLIENT|FILE")]
    sources: Vec<String>,
    /// Also add the servers to the list of servers of this profile
    #[arg(long, short, value_name = "PROFILE")]
    profile: Option<String>,
    /// Write the file without asking
    #[arg(long, short)]
    yes: bool,
    /// Show the change without writing it
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
}

impl Args {
    /// Returns the arguments for importing everything that is found, after a question to the user.
    pub(crate) fn of_all() -> Self {
        Self { sources: Vec::new(), profile: None, yes: false, dry_run: false }
    }
}

/// Imports the servers.
pub(crate) fn run(args: &Args, global: &Global, console: &Console) -> Result<(), Failure> {
    let file = ConfigFile::open(global.config.as_deref())?;
    let old = file.text.as_deref().unwrap_or_default();
    if file.text.is_some() {
        file.check(old)?;
    }
    let plan = ImportPlan::of(&sources(&args.sources)?, old)?;
    let Edited { text: new, unset, unseen } = edited(&file, old, &plan, args.profile.as_deref())?;
    if !console.json {
        show_plan(&plan, console)?;
    }
    if plan.taken().next().is_none() {
        return if console.json { print_json(&plan, &file, &[], None, false, console) } else { Ok(()) };
    }
    if !args.yes && !args.dry_run {
        let question = format!("Add {} to {}?", servers(plan.taken().count()), file.shown.display());
        if !confirmed(&question, console)? {
            console.note("Nothing was changed.");
            return Ok(());
        }
    }
    let backup = if args.dry_run {
        None
    } else {
        secret_files::write(&file, plan.secrets())?;
        file.replace(&new, false)?
    };
    if console.json {
        return print_json(&plan, &file, &unset, backup, !args.dry_run, console);
    }
    let did = if args.dry_run { "Would add" } else { "Added" };
    let what = servers(plan.taken().count());
    show_changes(did, &what, &file, backup.as_deref(), &changed_lines(old, &new), console)?;
    if args.dry_run {
        return Ok(());
    }
    console.note(&format!("\n{}", console.err.bold("Next")));
    if !unset.is_empty() {
        console.note(&console.fitted_err(&format!("  set {} where Dragoman starts", unset.join(", ")), 2));
    }
    if !unseen.is_empty() {
        let told = format!(
            "  no client sees these servers yet: add {} to `servers` of a profile (next time, use --profile)",
            unseen.join(", ")
        );
        console.note(&console.fitted_err(&told, 2));
    }
    console.note("  dragoman doctor            checks that every server can be reached");
    console.note("  dragoman connect CLIENT    lets a client use Dragoman; --only removes its own servers");
    Ok(())
}

/// Returns the files to read.
fn sources(named: &[String]) -> Result<Vec<ClientFile>, Failure> {
    if named.is_empty() {
        return Ok(CLIENTS.iter().flat_map(client_files::existing).collect());
    }
    let mut all = Vec::new();
    for name in named {
        if name.contains(['/', '.']) {
            all.push(client_files::named(&PathBuf::from(name))?);
            continue;
        }
        let client = client_files::client(name)?;
        let files = client_files::existing(client);
        if files.is_empty() {
            let places =
                [client_files::of_client(client, false), client_files::of_client(client, true)].concat();
            let places: Vec<String> = places.iter().map(|file| file.path.display().to_string()).collect();
            let message = format!("{} has no settings file here", client.title);
            return Err(Failure::usage(message)
                .help(format!("looked for {}; name the file instead", places.join(" and "))));
        }
        all.extend(files);
    }
    Ok(all)
}

/// The configuration with the new servers.
struct Edited {
    text: String,
    /// The variables that the text uses and that are not set here.
    unset: Vec<String>,
    /// The new servers that no profile contains.
    unseen: Vec<String>,
}

/// Returns the configuration with the new servers.
fn edited(file: &ConfigFile, old: &str, plan: &ImportPlan, profile: Option<&str>) -> Result<Edited, Failure> {
    let failed = |fault: config::EditFault| {
        Failure::usage(format!("{}: {}", file.shown.display(), fault.message)).help(fault.help)
    };
    let mut text = old.to_owned();
    for (server, entry) in plan.taken() {
        text = add_server(&text, &server.name, entry).map_err(failed)?;
        if let Some(profile) = profile {
            text = add_to_profile(&text, profile, &server.name).map_err(failed)?;
        }
    }
    if text == old {
        return Ok(Edited { text, unset: Vec::new(), unseen: Vec::new() });
    }
    let CheckedConfig { unset, loaded } = file.check(&text)?;
    let is_seen = |name: &String| {
        loaded
            .as_ref()
            .is_none_or(|loaded| loaded.config.profiles.values().any(|one| one.servers.contains(name)))
    };
    let unseen = plan.taken().map(|(server, _)| server.name.clone()).filter(|name| !is_seen(name)).collect();
    Ok(Edited { text, unset, unseen })
}

fn servers(count: usize) -> String {
    if count == 1 { "1 server".to_owned() } else { format!("{count} servers") }
}

fn show_plan(plan: &ImportPlan, console: &Console) -> Result<(), Failure> {
    for source in &plan.sources {
        let (title, path) = (source.file.client.title, source.file.path.display());
        console.print(&console.fitted(&format!("{} ({path})", console.out.bold(title))))?;
        match &source.unread {
            Some(why) => console.print(&console.fitted(&format!("  not read: {}", one_line(why))))?,
            None if source.servers.is_empty() => console.print("  no servers")?,
            None => {}
        }
        for server in &source.servers {
            console.print(&console.fitted(&format!("  {}", described(server))))?;
            if !matches!(server.decision, ImportDecision::Taken(_)) {
                continue;
            }
            for note in &server.notes {
                console.print(&console.fitted(&format!("      {}", one_line(note))))?;
            }
            for secret in &server.secrets {
                console
                    .print(&console.fitted(&format!("      a secret moves to {}", one_line(&secret.path))))?;
            }
        }
    }
    if plan.sources.is_empty() {
        let told = "No settings of clients were found. `dragoman import FILE` reads a file, `dragoman add` adds one server.";
        console.print(&console.fitted(told))?;
    }
    Ok(())
}

fn described(server: &PlannedServer) -> String {
    let original = one_line(&server.original);
    match &server.decision {
        ImportDecision::Taken(_) if server.name == server.original => format!("+ {original}"),
        ImportDecision::Taken(_) => format!("+ {original}, as {}", server.name),
        ImportDecision::Present(name) => format!("= {original}: the configuration has it already, as {name}"),
        ImportDecision::Own => format!("- {original}: this is Dragoman"),
        ImportDecision::Refused(why) => format!("- {original}: {}", one_line(why)),
    }
}

fn print_json(
    plan: &ImportPlan,
    file: &ConfigFile,
    unset: &[String],
    backup: Option<PathBuf>,
    written: bool,
    console: &Console,
) -> Result<(), Failure> {
    let all: Vec<Value> = plan
        .sources
        .iter()
        .flat_map(|source| source.servers.iter().map(move |server| (source, server)))
        .map(|(source, server)| {
            let (state, reason) = match &server.decision {
                ImportDecision::Taken(_) => ("taken", None),
                ImportDecision::Present(name) => ("present", Some(name.clone())),
                ImportDecision::Own => ("dragoman", None),
                ImportDecision::Refused(why) => ("refused", Some(why.clone())),
            };
            json!({
                "client": source.file.client.name,
                "file": source.file.path.display().to_string(),
                "original": server.original,
                "name": server.name,
                "state": state,
                "reason": reason,
                "notes": server.notes,
                "secrets": server.secrets.iter().map(|secret| &secret.path).collect::<Vec<_>>(),
            })
        })
        .collect();
    let unread: Vec<Value> = plan
        .sources
        .iter()
        .filter_map(|source| {
            Some(json!({ "file": source.file.path.display().to_string(), "reason": source.unread.as_ref()? }))
        })
        .collect();
    console.print(
        &json!({
            "file": file.shown.display().to_string(),
            "backup": backup.map(|backup| backup.display().to_string()),
            "written": written,
            "servers": all,
            "unread": unread,
            "unset": unset,
        })
        .to_string(),
    )
}
