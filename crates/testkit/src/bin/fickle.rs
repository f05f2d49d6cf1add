//! `fickle`: an MCP server that behaves until it is told to fail; see `dragoman_testkit::odd::fickle`.

use clap::Parser;
use dragoman_testkit::odd::fickle;
use std::process::ExitCode;

/// An MCP server that behaves until a file tells it to fail.
#[derive(Parser)]
struct Flags {
    #[command(flatten)]
    options: fickle::Options,
}

fn main() -> ExitCode {
    match fickle::run(&Flags::parse().options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            // A broken stderr leaves nothing to tell it to.
            let _ = std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("fickle: {why}\n"));
            ExitCode::FAILURE
        }
    }
}
