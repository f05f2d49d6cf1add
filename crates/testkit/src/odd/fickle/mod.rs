//! An upstream that behaves correctly until it is told to fail: it crashes, hangs, forgets its sessions, changes its
//! lists, cuts streams. A file of words (`switches`) controls it, at any time and over any transport.
//!
//! Every call carries a nonce. The server writes the nonce into a ledger when it executes the call, and into each
//! answer, question, log message and progress notification. So a run can prove which client received which
//! messages, and how often. The server uses plain threads and no runtime. It must not use any of the product's
//! code, because it tests that code.
//!
//! ```text
//! fickle --stdio | --http 127.0.0.1:0 [--era handshake|both|stateless] [--switch FILE] [--ledger FILE] [--start-ms N] [--stay] [--more-tools N]
//! ```
//!
//! | file | concern |
//! |---|---|
//! | `switches` | the words that change its behavior |
//! | `server` | the core: answers messages, keeps the sessions, announces changes |
//! | `session` | a client with a handshake: its capabilities, its stream of notifications, its open questions |
//! | `tools` | the tools: listing and calling them |
//! | `wording` | the error messages for an unknown session |
//! | `resumable`, `call_stream` | event streams with ids, which can be resumed |
//! | `http`, `stdio` | bytes |

mod call_stream;
mod http;
mod lifecycle;
mod resumable;
mod server;
mod session;
mod stdio;
mod switches;
mod tools;
mod wording;

use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub use lifecycle::Lifecycle;
pub use wording::WORDINGS;

/// The time for which a server stays when its stdin has ended; longer than any run.
const STAYING: Duration = Duration::from_hours(1);

/// The options of the fickle upstream.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Speak over stdin and stdout.
    #[arg(long, conflicts_with = "http", required_unless_present = "http")]
    stdio: bool,
    /// Listen on this address; port 0 takes a free one.
    #[arg(long)]
    http: Option<SocketAddr>,
    /// The lifecycles to support.
    #[arg(long, value_enum, default_value_t)]
    era: Lifecycle,
    /// The file of words that change the server's behavior; it is read again whenever it changes.
    #[arg(long)]
    switch: Option<PathBuf>,
    /// The file that gets a line for each executed call, each refused session, and each wave of a flood.
    #[arg(long)]
    ledger: Option<PathBuf>,
    /// The time that the start takes, in milliseconds.
    #[arg(long, default_value_t = 0)]
    start_ms: u64,
    /// Stay when stdin ends, like a server that only a signal ends.
    #[arg(long)]
    stay: bool,
    /// The number of further tools to list, with descriptions and schemas like those of current servers.
    #[arg(long, default_value_t = 0)]
    more_tools: usize,
}

/// Serves until stdin ends, or forever.
///
/// # Errors
/// Fails if the address is in use, or the switches forbid the start.
pub fn run(options: &Options) -> io::Result<()> {
    let server = server::Fickle::new(options.era, options.switch.clone(), options.ledger.clone());
    let server = Arc::new(server.with_more(options.more_tools));
    super::act::pause(Duration::from_millis(options.start_ms));
    if server.switches().has("down") {
        return Err(io::Error::other("cannot start: told to stay down"));
    }
    server::watch(&server);
    let Some(address) = options.http else {
        stdio::run(&server)?;
        if options.stay {
            super::act::pause(STAYING);
        }
        return Ok(());
    };
    let listener = TcpListener::bind(address)?;
    writeln!(io::stdout(), "listening http://{}/mcp", listener.local_addr()?)?;
    io::stdout().flush()?;
    http::serve(&listener, &server)
}

#[cfg(test)]
mod tests;
