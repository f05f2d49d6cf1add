//! `bench_upstream`: a fast MCP server for measurements; see `dragoman_testkit::bench::upstream`.

use clap::Parser;
use dragoman_testkit::bench::{raise_open_files, upstream};

/// A fast MCP server for measurements: the tools `echo` and `payload`, over HTTP or stdio, on one thread.
#[derive(Parser)]
struct Flags {
    #[command(flatten)]
    options: upstream::Options,
}

fn main() -> std::io::Result<()> {
    raise_open_files();
    upstream::run(&Flags::parse().options)
}
