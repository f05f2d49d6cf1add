//! A load generator on one thread that checks every answer: its status, its ID, and its content.

mod check;
mod client;
mod connection;
mod histogram;
mod idle;
mod inbox;
mod report;
mod scenario;

use client::Introduction;
pub use connection::Target;
use std::io::{self, BufRead, Write};
use std::time::Duration;

/// The scenarios, which determine the requests that are sent.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scenario {
    /// Calls of `echo`, each with a different text, in legacy sessions.
    Echo,
    /// Calls of `echo` in version 2026-07-28, without sessions.
    ModernEcho,
    /// Calls of `payload` for `--bytes` bytes.
    Payload,
    /// `tools/list`; the list must contain `--expect-tools` tools.
    List,
    /// Whole sessions: initialize, initialized, one echo, DELETE.
    Session,
    /// Echo calls that cycle through the tools named by `--tool`.
    MuxEcho,
    /// Idle sessions: they are opened, stay open until a line arrives on stdin, and are then ended.
    IdleSessions,
}

/// The requests to send, their target, and the duration.
#[derive(clap::Args, Clone, Debug)]
pub struct Options {
    /// The endpoint: `http://HOST:PORT/PATH`.
    pub url: Target,
    /// The scenario, which determines the requests.
    #[arg(long, value_enum, default_value_t = Scenario::Echo)]
    pub scenario: Scenario,
    /// The number of concurrent clients, each with one connection that carries one request at a time.
    #[arg(long, visible_alias = "conns", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=20_000))]
    pub sessions: u32,
    /// The duration of the calls, in seconds, at most 600.
    #[arg(long, default_value_t = 2.0, value_parser = seconds)]
    pub seconds: f64,
    /// The names of the tools, separated by commas; if absent, `echo` or `payload`.
    #[arg(long, value_delimiter = ',')]
    pub tool: Vec<String>,
    /// The size of a payload, in bytes.
    #[arg(long, default_value_t = 100_000)]
    pub bytes: usize,
    /// The number of tools that the list must contain.
    #[arg(long, default_value_t = 2)]
    pub expect_tools: usize,
    /// Open the GET stream of idle sessions, too.
    #[arg(long)]
    pub stream: bool,
    /// A bearer token to send with every request, such as an API key.
    #[arg(long)]
    pub bearer: Option<String>,
    /// The protocol version of sessions with a handshake.
    #[arg(long, default_value = "2025-11-25")]
    pub version: String,
    /// Declare in the handshake that the server may ask for roots, sampling and elicitation.
    #[arg(long)]
    pub askable: bool,
    /// Print `ready` when all sessions are open, then wait for a line on stdin before the calls, and for another one
    /// after them.
    #[arg(long)]
    pub gate: bool,
}

impl Options {
    /// The target of the requests, with the common headers of all requests.
    fn target(&self) -> Target {
        let target = self.url.clone();
        match &self.bearer {
            Some(token) => target.with_bearer(token),
            None => target,
        }
    }

    /// The variable parts of a client's handshake.
    fn introduction(&self) -> Introduction {
        Introduction { version: self.version.clone(), askable: self.askable }
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|seconds| (0.01..=600.0).contains(seconds))
        .ok_or("give 0.01 to 600 seconds".into())
}

/// The deadline for opening all sessions, and for ending them.
const SET_UP: Duration = Duration::from_mins(1);

/// Runs one scenario and prints its outcome as one line of JSON.
///
/// # Errors
/// Fails if the run could not start: the target cannot be reached, or a session cannot be opened. Wrong answers
/// during the run are not errors; they are counted.
pub fn run(options: &Options) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("starting: {error}"))?;
    match options.scenario {
        Scenario::IdleSessions => runtime.block_on(idle::run(options)),
        _ => runtime.block_on(scenario::run(options)),
    }
}

/// Prints a line for the program that started this one.
fn print_line(line: &str) -> Result<(), String> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).map_err(|error| format!("stdout: {error}"))
}

/// Waits until a line comes, or stdin closes.
fn wait_for_line() -> Result<(), String> {
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).map(drop).map_err(|error| format!("stdin: {error}"))
}
