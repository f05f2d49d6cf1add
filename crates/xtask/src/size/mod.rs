//! `cargo xtask size`: the size of the released binary, by crate, compared with the table in docs/performance.md. This
//! module must not know the product's code.
//!
//! | file | is for |
//! |---|---|
//! | `ledger` | the bytes of each crate, from the symbols of the binary |
//! | `table` | the sizes that docs/performance.md explains |

mod ledger;
mod table;

use crate::root;
use crate::run::Log;
use crate::tally::Tally;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const DEADLINE: Duration = Duration::from_mins(20);

/// The build command. The profile `bench` is the profile `release` with the names of symbols.
const BUILD: [&str; 8] =
    ["build", "--quiet", "--package", "dragoman", "--bin", "dragoman", "--profile", "bench"];

/// The page with the table of sizes.
const PAGE: &str = "docs/performance.md";

/// Builds the binary and compares its size; prints the ledger; true if the size is explained.
pub(crate) fn run(args: &[String]) -> Result<bool, String> {
    if !args.is_empty() {
        return Err("`cargo xtask size` takes no arguments".to_owned());
    }
    explained(&Log::create("size", DEADLINE)?).map(Tally::good)
}

/// Builds the binary at the same time as other work, using only processor time that no other program needs.
pub(crate) fn build_ahead() -> Result<(), String> {
    let log = Log::create("size-ahead", Duration::from_hours(1))?;
    log.run(Command::new("nice").args(["-n", "19", "cargo"]).args(BUILD).current_dir(root::checkout()))
        .map(drop)
}

/// Builds the binary, prints its ledger, and compares its size with the table.
pub(crate) fn explained(log: &Log) -> Result<Tally, String> {
    log.run(Command::new("cargo").args(BUILD).current_dir(root::checkout()))?;
    // The profile `bench` is the profile `release` with names, so the stripped file is the one that is released.
    let named = root::Programs::of_profile("release").dragoman();
    let stripped = named.with_extension("stripped");
    log.run(Command::new("strip").arg("-o").args([&stripped, &named]))?;
    let said = |file: &Path, error: std::io::Error| format!("{}: {error}", file.display());
    let bytes = fs::metadata(&stripped).map_err(|error| said(&stripped, error))?.len();
    let symbols = output(Command::new("nm").args(["--print-size", "--demangle"]).arg(&named))?;
    let sections = output(Command::new("size").arg("-A").arg(&stripped))?;
    for line in ledger::lines(bytes, &symbols, &sections) {
        println!("{line}");
        log.note(&line);
    }
    let page = root::checkout().join(PAGE);
    let text = fs::read_to_string(&page).map_err(|error| said(&page, error))?;
    let fault = table::fault(bytes, &text);
    if let Some(fault) = &fault {
        println!("{fault}");
        log.note(fault);
    }
    Ok(Tally::one(fault.is_none()))
}

/// Runs a command and returns its output. This does not go through the log, because a list of symbols is longer than all other logs.
fn output(command: &mut Command) -> Result<String, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let done = command.output().map_err(|error| format!("`{program}` did not start: {error}"))?;
    if done.status.success() {
        Ok(String::from_utf8_lossy(&done.stdout).into_owned())
    } else {
        Err(format!("`{program}` failed: {}", String::from_utf8_lossy(&done.stderr)))
    }
}
