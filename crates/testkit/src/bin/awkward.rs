//! `awkward`: a server that does not want to end; see `dragoman_testkit::awkward`.

use clap::Parser;
use dragoman_testkit::awkward::{self, Options};
use std::process::ExitCode;

fn main() -> ExitCode {
    match awkward::run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            // A broken stderr leaves nothing to tell it to.
            let _ = std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("awkward: {why}\n"));
            ExitCode::FAILURE
        }
    }
}
