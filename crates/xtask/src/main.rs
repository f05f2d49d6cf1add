//! The repository's own commands: `cargo xtask tidy | test | conformance | peers | bench`.
//!
//! Knows the repository and how to run its tools; knows nothing of the product's code.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command for the terminal speaks on it")]
#![allow(clippy::disallowed_methods, reason = "starting other programs is what this crate is for")]

use std::process::ExitCode;

mod root;
mod tidy;

const USAGE: &str = "\
cargo xtask COMMAND

  tidy                 the repository's rules: sizes, import directions, words, paths
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some((command, _rest)) = args.split_first() else {
        eprint!("{USAGE}");
        return ExitCode::from(2);
    };
    let passed = match command.as_str() {
        "tidy" => tidy::run(),
        "help" | "--help" | "-h" => {
            print!("{USAGE}");
            Ok(true)
        }
        other => Err(format!("no command `{other}`\n\n{USAGE}")),
    };
    match passed {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(why) => {
            eprintln!("xtask: {why}");
            ExitCode::from(2)
        }
    }
}
