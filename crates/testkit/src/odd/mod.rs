//! An upstream that misbehaves on request, to prove that no other client or upstream is affected.
//!
//! It initializes correctly and lists one tool per misbehavior ([`tools`]); calling the tool triggers it. One more
//! tool, `raw`, tests whether bytes pass through unchanged: it returns the exact bytes that arrived, and sends the
//! exact bytes that its arguments contain. The upstream uses stdio or HTTP, on plain threads. It must not use any
//! of the product's code, because it tests that code.
//!
//! ```text
//! odd --stdio | --http 127.0.0.1:0 [--modern] [--init silent|garbage|die|error] [--loop-pages [same|fresh]] [--banner]
//! ```
//!
//! Over HTTP it prints `listening URL` first.

mod act;
pub mod fickle;
mod http;
mod message;
mod request;
mod server;
mod stdio;
pub mod tools;

use std::{
    io::{self, Write},
    net::{SocketAddr, TcpListener},
    path::PathBuf,
    sync::{Arc, OnceLock},
};

pub use server::{Init, Pages, Server};

/// The path of the program `odd`, which is this server; it is built when a test process first asks for it.
///
/// # Panics
/// Panics if the program cannot be built, because no test that needs it can run then.
pub fn program() -> PathBuf {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| crate::program::program("odd")).clone()
}

/// The options of the odd upstream.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    #[command(flatten)]
    place: Place,
    /// Also support the stateless era: answer `server/discover` and requests that carry their version.
    #[arg(long)]
    modern: bool,
    /// The answer to the handshake (`initialize` or `server/discover`).
    #[arg(long, value_enum, default_value_t = Init::Proper)]
    init: Init,
    /// Never end a list: send the same cursor, or a fresh one, with every page.
    #[arg(long, value_enum, num_args = 0..=1, default_missing_value = "same")]
    loop_pages: Option<Pages>,
    /// First print lines on stdout that are not messages, as many launchers do.
    #[arg(long, requires = "stdio")]
    banner: bool,
}

#[derive(Clone, Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct Place {
    /// Speak over stdin and stdout.
    #[arg(long)]
    stdio: bool,
    /// Listen on this address; port 0 takes a free one.
    #[arg(long)]
    http: Option<SocketAddr>,
}

/// Serves until stdin ends, or forever. Returns the requested exit code.
pub fn run(options: &Options) -> io::Result<u8> {
    let server = Server::new(options.modern, options.init, options.loop_pages);
    let Some(address) = options.place.http else {
        if options.banner {
            io::stdout().write_all(
                b"\n> odd@1.0.0 start\n> node server.js\n\n[info] ready {\"not\":\"json-rpc\"}\n",
            )?;
        }
        return stdio::run(&server, io::stdin().lock(), io::stdout());
    };
    let listener = TcpListener::bind(address)?;
    writeln!(io::stdout(), "listening http://{}/mcp", listener.local_addr()?)?;
    io::stdout().flush()?;
    http::serve(&listener, &Arc::new(server))?;
    Ok(0)
}

#[cfg(test)]
mod tests;
