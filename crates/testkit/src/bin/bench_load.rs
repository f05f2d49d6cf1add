//! `bench_load`: sends MCP requests and checks every answer; see `dragoman_testkit::bench::load`.

use clap::Parser;
use dragoman_testkit::bench::{load, raise_open_files};
use std::process::ExitCode;

/// Sends MCP requests as fast as they are answered, checks every answer, prints one line of JSON.
#[derive(Parser)]
struct Flags {
    #[command(flatten)]
    options: load::Options,
}

fn main() -> ExitCode {
    raise_open_files();
    match load::run(&Flags::parse().options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            // If stderr is broken, the error cannot be reported anywhere.
            let _ = std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("bench_load: {why}\n"));
            ExitCode::FAILURE
        }
    }
}
