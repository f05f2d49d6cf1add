//! `dragoman add`: writes a server into the configuration file.
//!
//! | file | is for |
//! |---|---|
//! | `from_registry` | a server from an MCP registry |
//! | `bundle` | a server from an MCPB bundle |
//! | `proposal` | what a person must know before such a server is added |

mod bundle;
mod from_registry;
mod proposal;

use config::{Config, Profile, add_server, add_to_profile, changed_lines};
use http::{HeaderName, HeaderValue};
use registry::offer::OfferOrigin;
use registry::server_name::{PUBLIC_REGISTRY, ServerName};
use serde_json::{Map, Value, json};

use self::proposal::Proposal;
use crate::commands::configuration::changed_lines::show_changes;
use crate::commands::configuration::config_file::{CheckedConfig, ConfigFile};
use crate::commands::configuration::confirmation::confirmed;
use crate::output::console::Console;
use crate::output::failure::Failure;
use crate::output::options::Global;

const EXAMPLES: &str = "\
Write a secret as ${NAME}: Dragoman fills in the variable when it reads the file.

Examples:
  dragoman add time -- uvx mcp-server-time
  dragoman add files -- npx -y @modelcontextprotocol/server-filesystem .
  dragoman add github -e GITHUB_TOKEN -- npx -y @modelcontextprotocol/server-github
                                                  the file contains ${GITHUB_TOKEN}, not the token
  dragoman add docs https://docs.example.com/mcp -H 'Authorization: Bearer ${DOCS_TOKEN}'
  dragoman add io.example/weather@1.2.3           the server with this name in the MCP registry
  dragoman add weather ./weather.mcpb             a server in an MCPB bundle";

/// Add a server to the configuration file
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, override_usage = "dragoman add NAME URL [OPTIONS]
       dragoman add NAME [OPTIONS] -- COMMAND...
       dragoman add NAME FILE.mcpb [OPTIONS]
       dragoman add io.example/server[@VERSION] [OPTIONS]")]
pub(crate) struct Args {
    /// The server's name: 1 to 32 characters from A-Z a-z 0-9 _ . -; or its name in an MCP registry
    #[arg(value_name = "NAME")]
    name: String,
    /// The URL of a server on the network, or an MCPB bundle: a file or its URL
    #[arg(value_name = "URL", conflicts_with = "command")]
    url: Option<String>,
    /// The command that starts the server, with its arguments
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
    /// An environment variable for the command; NAME alone stands for NAME=${NAME}; may be repeated
    #[arg(long, short, value_name = "NAME[=VALUE]", requires = "command")]
    env: Vec<String>,
    /// The folder in which the command starts
    #[arg(long, value_name = "FOLDER", requires = "command")]
    cwd: Option<String>,
    /// A header for every request to the URL; may be repeated
    #[arg(long, short = 'H', value_name = "NAME: VALUE", requires = "url", value_parser = header)]
    header: Vec<(String, String)>,
    /// The transport of the URL [default: detected]
    #[arg(long = "type", value_name = "TYPE", requires = "url", value_enum)]
    transport: Option<Transport>,
    /// Also add the server to the list of servers of this profile; may be repeated
    #[arg(long, short, value_name = "PROFILE")]
    profile: Vec<String>,
    /// The name to use in the configuration for a server from a registry [default: the last part of its registry name]
    #[arg(long = "as", value_name = "NAME", conflicts_with_all = ["url", "command"])]
    own_name: Option<String>,
    /// Choose how to run or reach a server from a registry: npm, pypi, nuget, oci, mcpb or remote
    #[arg(long, value_name = "ORIGIN", conflicts_with_all = ["url", "command"], value_parser = origin)]
    from: Option<OfferOrigin>,
    /// The base URL of the MCP registry
    #[arg(long, value_name = "URL", default_value = PUBLIC_REGISTRY, hide_default_value = true)]
    registry: String,
    /// Write the file without asking
    #[arg(long, short)]
    yes: bool,
    /// Show the change without writing it
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
}

fn origin(word: &str) -> Result<OfferOrigin, String> {
    let known = || OfferOrigin::WORDS.map(|(word, _)| word).join(", ");
    OfferOrigin::of_word(word).ok_or_else(|| format!("the choices are {}", known()))
}

/// The transport of a server on the network.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum Transport {
    Http,
    Sse,
}

pub(crate) fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or("write it as 'Name: value'")?;
    let (name, value) = (name.trim(), value.trim());
    name.parse::<HeaderName>().map_err(|e| e.to_string())?;
    HeaderValue::from_str(value).map_err(|e| e.to_string())?;
    Ok((name.to_owned(), value.to_owned()))
}

/// Adds the server.
pub(crate) fn run(args: &Args, global: &Global, console: &Console) -> Result<(), Failure> {
    let file = ConfigFile::open(global.config.as_deref())?;
    let old = file.text.as_deref().unwrap_or_default();
    if file.text.is_some() {
        file.check(old)?;
    }
    let (name, proposal) = args.found(&file)?;
    let written = add_found(args, &name, proposal.as_ref(), &file, old, console);
    // A downloaded file must not stay if no server uses it.
    if !matches!(written, Ok(true))
        && let Some(proposal) = &proposal
    {
        proposal.discard();
    }
    written.map(drop)
}

/// Adds the server; returns true if the file was written.
fn add_found(
    args: &Args,
    name: &str,
    proposal: Option<&Proposal>,
    file: &ConfigFile,
    old: &str,
    console: &Console,
) -> Result<bool, Failure> {
    let entry = proposal.map_or_else(|| args.entry(), |proposal| Ok(proposal.entry.clone()))?;
    let new = args.edited(name, &entry, file, old)?;
    let CheckedConfig { loaded, unset } = file.check(&new)?;
    if let Some(proposal) = proposal
        && !args.is_agreed(name, proposal, file, console)?
    {
        console.note("Nothing was changed.");
        return Ok(false);
    }
    let literal = loaded.as_ref().and_then(|loaded| loaded.literal_secret);
    let secret = literal.filter(|_| args.adds_literals());
    let may_have_secret = secret.is_some() || (loaded.is_none() && args.adds_literals());
    let backup = if args.dry_run { None } else { file.replace(&new, may_have_secret)? };
    let next = args.next(name, file, loaded.as_ref().map(|loaded| &loaded.config), &unset);
    let changed = changed_lines(old, &new);
    if console.json {
        let added: Vec<String> =
            changed.into_iter().filter(|line| line.is_added).map(|line| line.text).collect();
        console.print(
            &json!({
                "file": file.shown.display().to_string(),
                "backup": backup.map(|backup| backup.display().to_string()),
                "written": !args.dry_run,
                "server": name,
                "lines": added,
                "unset": unset,
                "next": next,
            })
            .to_string(),
        )?;
        return Ok(!args.dry_run);
    }
    let did = match (args.dry_run, file.text.is_some()) {
        (true, _) => "Would add",
        (false, true) => "Added",
        (false, false) => "Created the file and added",
    };
    show_changes(did, name, file, backup.as_deref(), &changed, console)?;
    if let Some(line) = secret {
        note_secret(line, console);
    }
    console.note(&format!("\n{}", console.err.bold("Next")));
    for step in next {
        console.note(&console.fitted_err(&format!("  {step}"), 2));
    }
    Ok(!args.dry_run)
}

fn note_secret(line: usize, console: &Console) {
    let text = format!(
        "note: line {line} of the file contains a secret; write it as ${{NAME}} (`--env NAME`, \
         `--header 'Authorization: Bearer ${{NAME}}'`) to keep it out of the file"
    );
    console.note(&console.fitted_err(&text, 2));
}

impl Args {
    /// Returns the text of the file to which the server has been added.
    fn edited(&self, name: &str, entry: &Value, file: &ConfigFile, old: &str) -> Result<String, Failure> {
        let failed = |fault: config::EditFault| {
            Failure::usage(format!("{}: {}", file.shown.display(), fault.message)).help(fault.help)
        };
        let mut new = add_server(old, name, entry).map_err(failed)?;
        for profile in &self.profile {
            new = add_to_profile(&new, profile, name).map_err(failed)?;
        }
        Ok(new)
    }

    /// Shows the proposal, and asks for confirmation; returns true if the server is to be added.
    fn is_agreed(
        &self,
        name: &str,
        proposal: &Proposal,
        file: &ConfigFile,
        console: &Console,
    ) -> Result<bool, Failure> {
        if !console.json {
            proposal.show(console)?;
        }
        let question = format!("Add {name} to {}?", file.shown.display());
        Ok(self.yes || self.dry_run || confirmed(&question, console)?)
    }

    /// Looks up the server in a registry or a bundle, and returns its name in the configuration with its proposal.
    /// For a URL or a command, nothing is looked up, and there is no proposal.
    fn found(&self, file: &ConfigFile) -> Result<(String, Option<Proposal>), Failure> {
        let folder = crate::commands::configuration::text_file::folder_of(&file.path);
        match (&self.url, self.command.is_empty(), ServerName::parse(&self.name)) {
            (None, true, Some(wanted)) => {
                let name = self.own_name.clone().unwrap_or_else(|| wanted.short());
                let proposal = from_registry::proposal(&wanted, &name, self.from, &self.registry, folder)?;
                Ok((name, Some(proposal)))
            }
            (None, true, None) => {
                let message = format!("{:?} needs a URL, a bundle or a command", self.name);
                let help = "write dragoman add NAME URL, or dragoman add NAME -- COMMAND; a server of the MCP registry has a name such as \
                            io.example/weather";
                Err(Failure::usage(message).help(help))
            }
            (Some(url), ..) if bundle::is_bundle(url) => {
                let proposal = if url.contains("://") {
                    bundle::of_url(&self.name, url, None, folder)?
                } else {
                    bundle::of_file(&self.name, url, folder)?
                };
                Ok((self.name.clone(), Some(proposal)))
            }
            _ => Ok((self.name.clone(), None)),
        }
    }

    /// Returns the server's mapping in the file.
    fn entry(&self) -> Result<Value, Failure> {
        let mut entry = Map::new();
        if let Some(url) = &self.url {
            if !url.contains("://") && !url.contains("${") {
                let help = format!("write the scheme: http://{url}; or write `--` before a command");
                return Err(Failure::usage(format!("{url:?} is not a URL")).help(help));
            }
            if let Some(transport) = self.transport {
                let word = match transport {
                    Transport::Http => "http",
                    Transport::Sse => "sse",
                };
                entry.insert("type".to_owned(), word.into());
            }
            entry.insert("url".to_owned(), url.as_str().into());
            let headers: Map<String, Value> =
                self.header.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect();
            if !headers.is_empty() {
                entry.insert("headers".to_owned(), headers.into());
            }
            return Ok(entry.into());
        }
        let (program, args) = self.command.split_first().map_or(("", &[][..]), |(first, rest)| (first, rest));
        entry.insert("command".to_owned(), program.into());
        if !args.is_empty() {
            entry.insert("args".to_owned(), args.into());
        }
        if let Some(cwd) = &self.cwd {
            entry.insert("cwd".to_owned(), cwd.as_str().into());
        }
        let env: Map<String, Value> = self.variables().map(|(name, value)| (name, value.into())).collect();
        if !env.is_empty() {
            entry.insert("env".to_owned(), env.into());
        }
        Ok(entry.into())
    }

    fn variables(&self) -> impl Iterator<Item = (String, String)> + '_ {
        self.env.iter().map(|text| match text.split_once('=') {
            Some((name, value)) => (name.to_owned(), value.to_owned()),
            None => (text.clone(), format!("${{{text}}}")),
        })
    }

    /// Returns true if the entry contains a literal value, which may be a secret.
    fn adds_literals(&self) -> bool {
        let values = self.variables().map(|(_, value)| value);
        let headers = self.header.iter().map(|(_, value)| value.clone());
        values.chain(headers).chain(self.url.clone()).any(|value| !value.contains("${"))
    }

    /// Returns the next steps for the user. `config` is the new configuration; `None` if it depends on unset
    /// variables.
    fn next(&self, name: &str, file: &ConfigFile, config: Option<&Config>, unset: &[String]) -> Vec<String> {
        let mut steps = Vec::new();
        if self.dry_run {
            steps.push("run the command without --dry-run to write the file".to_owned());
            return steps;
        }
        if !unset.is_empty() {
            steps.push(format!("set {} where Dragoman starts", unset.join(", ")));
        }
        let has_it = |profile: &Profile| profile.servers.iter().any(|server| server == name);
        if let Some(config) = config.filter(|config| !config.profiles.values().any(has_it)) {
            let profile = config.profiles.keys().next().map_or("default", String::as_str);
            steps.push(format!(
                "no profile contains {name}, so no client sees it: add it to `servers` of a profile, such as {profile}"
            ));
        }
        let option = config_option(file);
        steps.push(format!("dragoman list {name}{option}    shows what the server offers"));
        steps
            .push(format!("dragoman{option}    serves it; a running gateway reads the file within a second"));
        steps
    }
}

/// Returns the option that names the file, unless commands find it by themselves.
fn config_option(file: &ConfigFile) -> String {
    let is_found = crate::commands::configuration::settings::found().is_some_and(|found| found == file.shown);
    if is_found { String::new() } else { format!(" --config {}", file.shown.display()) }
}
