//! `dragoman check`: reads the configuration and names every fault in it, without serving anything.

use std::fmt::Write as _;
use std::path::PathBuf;

use engine::config::Config;
use serde_json::{Value, json};

use super::address;
use super::args::Global;
use super::console::Console;
use super::failure::{Failure, fault_json};
use super::settings::Settings;

const EXAMPLES: &str = "\
Examples:
  dragoman check                                  the configuration that would be served
  dragoman check team.yaml --json                 a file, for scripts; the exit code is 2 when it has faults";

/// Read the configuration and name every fault in it
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The file to check, instead of the one that would be served
    #[arg(value_name = "FILE", conflicts_with = "config")]
    file: Option<PathBuf>,
}

/// Checks, and says what would be served.
pub(super) fn run(args: &Args, global: &Global, console: &Console) -> Result<(), Failure> {
    let explicit = args.file.as_deref().or(global.config.as_deref());
    if console.json {
        let settings = Settings::load(explicit)?;
        return console.print(&report(&settings).to_string());
    }
    let settings = Settings::read(explicit, console)?;
    console.print(&summary(&settings, console))?;
    if address::refuse_open(&settings.config.listen, false).is_err() {
        console
            .note("note: it listens beyond this machine, which `dragoman serve` does only with --insecure");
    }
    Ok(())
}

fn summary(settings: &Settings, console: &Console) -> String {
    let Config { listen, mcp_servers, profiles, endpoints, .. } = &settings.config;
    let head = match &settings.file {
        Some(file) => format!("{} is fine.", file.display()),
        None => "There is no configuration file; the embedded demo would be served.".to_owned(),
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
    let notes: Vec<Value> = settings.notes.iter().map(fault_json).collect();
    json!({
        "ok": true,
        "file": settings.file.as_ref().map(|file| file.display().to_string()),
        "listen": listen.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "servers": mcp_servers.keys().collect::<Vec<_>>(),
        "profiles": profiles.keys().collect::<Vec<_>>(),
        "faults": notes,
    })
}
