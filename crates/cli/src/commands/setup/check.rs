//! `dragoman check`: reads the configuration and reports every error, without serving it.

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use config::{Config, Glob, Link, Server};
use serde_json::{Value, json};
use store::keys::{ApiKey, KeyState, Keys, check_name};

use crate::commands::configuration::settings::{ConfigSource, Settings};
use crate::commands::configuration::state;
use crate::commands::serving::address;
use crate::output::console::{Console, one_line};
use crate::output::failure::{Failure, fault_json};
use crate::output::moment;
use crate::output::options::Global;
use crate::preset::{self, Preset};
use gateway::tls;
use upstream::route;

const EXAMPLES: &str = "\
Examples:
  dragoman check                                  check the configuration that would be served
  dragoman check team.yaml --json                 check a file in a script; the exit code is 2 if it has errors
  dragoman check --preset bb more.yaml            check a file that extends a preset";

/// Check the configuration and report every error
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The file to check, instead of the one that would be served
    #[arg(value_name = "FILE", conflicts_with = "config")]
    file: Option<PathBuf>,
    /// The preset that the file extends, as with dragoman serve --preset
    #[arg(long, value_name = "NAME", value_parser = preset::parse)]
    preset: Option<Preset>,
}

/// Checks the configuration, and shows a summary.
pub(crate) fn run(args: &Args, global: &Global, console: &Console) -> Result<(), Failure> {
    let explicit = args.file.as_deref().or(global.config.as_deref());
    let settings = ConfigSource::of(args.preset, explicit).load()?;
    if console.json {
        return console.print(&report(&settings).to_string());
    }
    settings.note(console);
    console.print(&summary(&settings, args.preset, console))?;
    for note in notes(&settings) {
        console.note(&format!("note: {note}"));
    }
    Ok(())
}

/// Returns notes that depend on more than the configuration's text: on files, keys and addresses.
fn notes(settings: &Settings) -> Vec<String> {
    let refused = refused(&settings.config).into_iter().map(ToOwned::to_owned);
    let tls = settings.config.tls.iter().flat_map(tls::check);
    refused.chain(tls).chain(exposures(settings)).chain(missing_keys(settings).yet).collect()
}

/// Returns notes about secrets that others could see, about files of servers, and about rules for keys that cannot exist.
pub(crate) fn exposures(settings: &Settings) -> Vec<String> {
    let config = &settings.config;
    let exposed = secrets_that_others_can_read(settings).into_iter().chain(in_the_clear(config));
    let routes = listens_in_the_clear(config).into_iter().chain(route::warnings(config));
    exposed.chain(routes).chain(missing_keys(settings).ever).collect()
}

/// Returns a warning about a secret in a file that other users can read.
fn secrets_that_others_can_read(settings: &Settings) -> Option<String> {
    let (file, line) = (settings.file.as_ref()?, settings.literal_secret?);
    let mode = std::fs::metadata(file).ok()?.permissions().mode() & 0o777;
    (mode & 0o044 != 0).then(|| {
        let file = file.display();
        format!(
            "{file} contains a secret (line {line}) and other users can read the file (mode {mode:03o}); run `chmod 600 {file}`, or write \
             the secret as ${{NAME}} or ${{file:PATH}}"
        )
    })
}

/// Returns warnings about servers on the network that are reached without TLS.
fn in_the_clear(config: &Config) -> impl Iterator<Item = String> + '_ {
    let open = |server: &Server| matches!(&server.link, Link::Http(link) if link.is_in_the_clear());
    config.mcp_servers.iter().filter(move |(_, server)| !server.disabled && open(server)).map(|(name, _)| {
        format!(
            "traffic with the server `{name}` crosses the network unencrypted; use https://, unless the \
             network is trusted"
        )
    })
}

/// Returns a warning about addresses that other machines can reach without TLS.
fn listens_in_the_clear(config: &Config) -> Option<String> {
    let is_secured = |url: &str| url.starts_with("https:");
    let behind_tls = config.public_url.as_deref().is_some_and(is_secured)
        || config.auth.oauth.as_ref().is_some_and(|oauth| is_secured(oauth.resource.expose()));
    let open = config.listen.iter().find(|address| !address::is_loopback(address.ip()))?;
    (config.tls.is_none() && !behind_tls).then(|| {
        format!(
            "what clients send to {open}, including credentials, crosses the network unencrypted; write \
             `tls: {{ cert: FILE, key: FILE }}`, or put a proxy with TLS in front and set `publicUrl` to \
             its address"
        )
    })
}

/// Names of keys in rules, of keys that do not exist.
#[derive(Default)]
struct MissingKeys {
    /// Notes about keys that somebody may create later.
    yet: Vec<String>,
    /// Warnings about names that no new key can have: the first characters of a key, or an invalid name.
    ever: Vec<String>,
}

/// Finds rules for keys that do not exist. If the keys cannot be read, nothing is found, because `dragoman serve` reports this at
/// startup.
fn missing_keys(settings: &Settings) -> MissingKeys {
    let config = &settings.config;
    let of_management = config.management.as_ref().and_then(|management| management.who.as_ref());
    let rules = config.access.iter().flat_map(|rule| rule.who.iter().chain(&rule.unless));
    let named: Vec<&Glob> = rules.chain(of_management).flat_map(|who| &who.key).collect();
    let mut missing = MissingKeys::default();
    if named.is_empty() || !config.auth.keys {
        return missing;
    }
    let Ok(folder) = state::folder(settings) else { return missing };
    let Ok(keys) =
        Keys::open_existing(&folder).and_then(|keys| keys.map_or(Ok(Vec::new()), |keys| keys.list()))
    else {
        return missing;
    };
    let now = moment::now();
    let active: Vec<ApiKey> = keys.into_iter().filter(|key| key.state(now) == KeyState::Active).collect();
    let is_nobodys =
        |glob: &&Glob| !active.iter().any(|key| glob.matches(&key.name) || glob.matches(&key.prefix));
    for glob in named.into_iter().filter(is_nobodys) {
        let (name, place) = (glob.as_str(), folder.display());
        let can_come = name.contains(['*', '?']) || check_name(name).is_ok();
        let (list, what) = if can_come {
            (&mut missing.yet, "has this name or prefix yet; `dragoman key new NAME` creates one")
        } else {
            (&mut missing.ever, "has it, and no new key can have it; `dragoman key list` lists the keys")
        };
        let note = format!(
            "the configuration names the key `{}`, but no key in use in {place} {what}",
            one_line(name)
        );
        if !list.contains(&note) {
            list.push(note);
        }
    }
    missing
}

/// Returns the reasons why `dragoman serve` would refuse a valid configuration.
pub(crate) fn refused(config: &Config) -> Vec<&'static str> {
    let mut notes = Vec::new();
    if address::refuse_open(&config.listen, config.asks_everybody()).is_err() {
        notes.push(if config.auth.asks() {
            "other machines can reach the `listen` address, and an endpoint has `auth: none`, so `dragoman serve` requires \
             --insecure"
        } else {
            "other machines can reach the `listen` address without `auth`, so `dragoman serve` requires --insecure"
        });
    }
    if config.management.is_some()
        && address::refuse_open_management(&config.listen, config.auth.asks()).is_err()
    {
        notes.push(
            "other machines can reach the `listen` address without `auth`, and `management` would let anybody start \
                    programs, so `dragoman serve` refuses to start: configure `auth`, remove `management`, or listen on 127.0.0.1",
        );
    }
    notes
}

fn summary(settings: &Settings, preset: Option<Preset>, console: &Console) -> String {
    let Config { listen, mcp_servers, profiles, endpoints, .. } = &settings.config;
    let head = match (&settings.file, preset) {
        (Some(file), None) => format!("{} is valid.", file.display()),
        (Some(file), Some(preset)) => format!("{} with the preset {} is valid.", file.display(), preset.name),
        (None, Some(preset)) => format!("The preset {} is valid.", preset.name),
        (None, None) => "There is no configuration file; the embedded demo would be served.".to_owned(),
    };
    let mut text = format!("{}\n", console.out.bold(&head));
    let mut row = |what: &str, values: Vec<String>| {
        if !values.is_empty() {
            let _ = writeln!(text, "  {what:<10} {}", values.join(", "));
        }
    };
    row("listens on", listen.iter().map(ToString::to_string).collect());
    let off = |disabled| if disabled { " (disabled)" } else { "" };
    row(
        "servers",
        mcp_servers.iter().map(|(name, server)| format!("{name}{}", off(server.disabled))).collect(),
    );
    row(
        "profiles",
        profiles.iter().map(|(name, one)| format!("{name} ({})", one.servers.join(", "))).collect(),
    );
    row("endpoints", endpoints.iter().map(|one| format!("{} ({})", one.path, one.profile)).collect());
    text
}

fn report(settings: &Settings) -> Value {
    let Config { listen, mcp_servers, profiles, .. } = &settings.config;
    let faults: Vec<Value> = settings.notes.iter().map(fault_json).collect();
    json!({
        "ok": true,
        "file": settings.file.as_ref().map(|file| file.display().to_string()),
        "listen": listen.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "servers": mcp_servers.keys().collect::<Vec<_>>(),
        "profiles": profiles.keys().collect::<Vec<_>>(),
        "faults": faults,
        "notes": notes(settings),
    })
}
