//! `cargo xtask first-contact`: a new user's first minutes, with real servers from their registries, and with empty
//! caches. This module must not know what the clients do; the script determines this.

use crate::conformance::build;
use crate::root;
use crate::run::Log;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

const DEADLINE: Duration = Duration::from_mins(15);
const USAGE: &str = "\
cargo xtask first-contact [--profile CARGO-PROFILE]

  Starts Dragoman with four npx and three uvx servers from an empty home and empty caches, connects the first client of each
  era, and prints what each saw and when, until all have seen all servers. Needs node, npx, python3 and their registries.

  --profile  the cargo profile for building the program (dev)
";

/// Prints the transcript; true if every client saw every server in the end.
pub(crate) fn run(args: &[String]) -> Result<bool, String> {
    let profile = match args {
        [] => "dev",
        [option, profile] if option == "--profile" => profile,
        _ => return Err(USAGE.to_owned()),
    };
    let log = Log::create("first-contact", DEADLINE)?;
    let programs = build(profile, &log)?;
    let uv = uv(&log)?;
    let folder = root::target().join("first-contact");
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut node = Command::new("node");
    node.arg(root::checkout().join("tests/first-contact/run.mjs"));
    node.arg(programs.dragoman()).arg(&folder).arg(uv);
    let (good, said) = log.status(&mut node)?;
    println!("{said}");
    Ok(good)
}

/// The folder of `uvx`, which is installed once below `target/tools`.
fn uv(log: &Log) -> Result<PathBuf, String> {
    let environment = root::tools().join("uv");
    let programs = environment.join("bin");
    if !programs.join("uvx").is_file() {
        log.run(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
        log.run(Command::new(programs.join("pip")).args(["install", "uv"]))?;
    }
    Ok(programs)
}
