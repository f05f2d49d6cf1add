//! `fickle`: an MCP server that behaves correctly until it is told to fail; see
//! `dragoman_testkit::odd::fickle`.

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
            // If stderr is broken, the error cannot be reported anywhere.
            let _ = std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("fickle: {why}\n"));
            ExitCode::FAILURE
        }
    }
}
