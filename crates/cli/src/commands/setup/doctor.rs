//! `dragoman doctor`: checks everything that a gateway with this configuration needs, and suggests a fix for each
//! problem.
//!
//! | file | is for |
//! |---|---|
//! | `finding` | one finding, and its form for people and scripts |
//! | `cluster` | the store that several gateways share |
//! | `machine` | addresses, certificates, the clock, the state folder |
//! | `servers` | a connection to each configured server |
//!
//! Nothing is changed: no file is created, and no tool is called.

mod cluster;
mod finding;
mod machine;
mod servers;

use serde_json::json;

use self::finding::{Finding, Level};
use super::check;
use crate::commands::configuration::settings::{ConfigSource, Settings};
use crate::output::console::Console;
use crate::output::failure::Failure;
use crate::output::options::Global;
use crate::preset::{self, Preset};

const EXAMPLES: &str = "\
The exit code is 1 if anything is wrong; warnings alone do not count.

Examples:
  dragoman doctor                                 check the configuration, this machine and all servers
  dragoman doctor files docs                      connect to these servers only
  dragoman doctor --offline                       do not connect to servers
  dragoman doctor --json | jq '.findings[] | select(.level == \"error\")'";

/// Check the configuration, this machine and the connection to every server
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The servers to connect to [default: all that are not disabled]
    #[arg(value_name = "SERVER")]
    servers: Vec<String>,
    /// Do not connect to servers
    #[arg(long, conflicts_with = "servers")]
    offline: bool,
    /// Wait at most this long for each server [default: as configured]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: Option<u64>,
    /// The preset that the configuration file extends, as with dragoman serve --preset
    #[arg(long, value_name = "NAME", value_parser = preset::parse)]
    preset: Option<Preset>,
}

/// Checks everything, and shows the findings.
pub(crate) fn run(args: &Args, global: &Global, console: &Console) -> Result<(), Failure> {
    let mut findings = Vec::new();
    let mut tell = |finding: Finding| {
        if !console.json {
            finding.show(console)?;
        }
        findings.push(finding);
        Ok::<(), Failure>(())
    };
    match ConfigSource::of(args.preset, global.config.as_deref()).load() {
        Err(Failure::Config(faults)) => {
            for fault in &faults.faults {
                tell(Finding::of_fault(fault, Level::Error))?;
            }
        }
        Err(Failure::Explained { message, help, .. }) => {
            tell(Finding::new(Level::Error, "configuration", message, help))?;
        }
        Err(other) => return Err(other),
        Ok(settings) => {
            for finding in configuration(&settings).into_iter().chain(machine::findings(&settings)) {
                tell(finding)?;
            }
            if !args.offline {
                if let Some(finding) = cluster::finding(&settings)? {
                    tell(finding)?;
                }
                servers::check(&settings, &args.servers, args.timeout, console, &mut tell)?;
            }
        }
    }
    conclude(&findings, console)
}

fn configuration(settings: &Settings) -> Vec<Finding> {
    let name = settings.file.as_ref().map_or_else(
        || "there is no configuration file, so the embedded demo would be served".to_owned(),
        |file| format!("{} is valid", file.display()),
    );
    let sound = Finding::new(Level::Ok, "configuration", name, None);
    let notes = settings.notes.iter().map(|note| Finding::of_fault(note, Level::Warning));
    let refused = check::refused(&settings.config).into_iter();
    let refused = refused.map(|why| Finding::told(Level::Error, "configuration", why));
    let exposed = check::exposures(settings).into_iter();
    let exposed = exposed.map(|why| Finding::told(Level::Warning, "configuration", &why));
    std::iter::once(sound).chain(notes).chain(refused).chain(exposed).collect()
}

fn conclude(findings: &[Finding], console: &Console) -> Result<(), Failure> {
    let count = |level: Level| findings.iter().filter(|one| one.level == level).count();
    let (errors, warnings) = (count(Level::Error), count(Level::Warning));
    if console.json {
        let all: Vec<_> = findings.iter().map(Finding::to_json).collect();
        let told = json!({"ok": errors == 0, "errors": errors, "warnings": warnings, "findings": all});
        console.print(&told.to_string())?;
    } else {
        let plural =
            |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        let sum = match (errors, warnings) {
            (0, 0) => "Everything is fine.".to_owned(),
            (0, _) => format!("Nothing is broken; {}.", plural(warnings, "warning")),
            _ => format!("{}, {}.", plural(errors, "error"), plural(warnings, "warning")),
        };
        console.print(&format!("\n{}", console.out.bold(&sum)))?;
    }
    if errors > 0 { Err(Failure::silent(1)) } else { Ok(()) }
}
