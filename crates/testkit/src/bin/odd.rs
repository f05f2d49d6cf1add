//! `odd`: an MCP server that misbehaves on request; see `dragoman_testkit::odd`.

use clap::Parser;
use dragoman_testkit::odd;
use std::process::ExitCode;

/// An MCP server that misbehaves on request: each of its tools does something that no server should.
#[derive(Parser)]
struct Flags {
    #[command(flatten)]
    options: odd::Options,
}

fn main() -> ExitCode {
    match odd::run(&Flags::parse().options) {
        Ok(code) => code.into(),
        Err(why) => {
            // If stderr is broken, the error cannot be reported anywhere.
            let _ = std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("odd: {why}\n"));
            ExitCode::FAILURE
        }
    }
}
