//! `awkward`: a server that resists being ended; see `dragoman_testkit::awkward`.

use clap::Parser;
use dragoman_testkit::awkward::{self, Options};
use std::process::ExitCode;

fn main() -> ExitCode {
    match awkward::run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            // If stderr is broken, the error cannot be reported anywhere.
            let _ = std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("awkward: {why}\n"));
            ExitCode::FAILURE
        }
    }
}
