//! A fast MCP upstream on one thread: `echo`, `payload` and as many further tools as wanted.
//!
//! It answers legacy clients (handshake, sessions) and modern ones (2026-07-28) alike. What an answer says is
//! decided in `answer`, which knows no transport; `http` and `stdio` move bytes.

mod answer;
mod body;
mod http;
mod request;
mod sessions;
mod stdio;
mod tools;

use std::io;

/// The longest message that is read, in bytes.
const LONGEST_MESSAGE: usize = 16 << 20;

/// The protocol versions that the upstream speaks.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// All of them, chosen by each message.
    Both,
    /// Those with a handshake.
    Legacy,
    /// 2026-07-28 only.
    Modern,
}

/// How the upstream behaves.
#[derive(clap::Args, Clone, Debug)]
pub struct Options {
    /// The number of tools in the list, `echo` and `payload` among them.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(2..=100_000))]
    pub tools: u32,
    /// The protocol versions to speak.
    #[arg(long, value_enum, default_value_t = Era::Both)]
    pub era: Era,
    /// Answer requests with event streams instead of JSON.
    #[arg(long)]
    pub sse: bool,
    /// Serve stdin and stdout instead of HTTP.
    #[arg(long, conflicts_with_all = ["sse", "port"])]
    pub stdio: bool,
    /// The port on 127.0.0.1; 0 takes any that is free.
    #[arg(long, default_value_t = 0)]
    pub port: u16,
    /// End when stdin closes, so that it cannot outlive who started it.
    #[arg(long)]
    pub until_stdin_closes: bool,
}

/// Serves until stdin closes (`--stdio`, `--until-stdin-closes`) or the process is ended.
///
/// Over HTTP the first line on stdout is `listening http://127.0.0.1:PORT/mcp`.
///
/// # Errors
/// When the port cannot be had, or stdin or stdout fail.
pub fn run(options: &Options) -> io::Result<()> {
    let answers = answer::Answers::new(options.tools, options.era);
    if options.stdio {
        return stdio::serve(&answers, &mut io::stdin().lock(), &mut io::stdout().lock());
    }
    http::run(answers, options)
}
