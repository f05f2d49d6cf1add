//! A client of MCP servers for tests: it sends what a test says, to the byte, and shows what came, as it came.
//!
//! | file | is for |
//! |---|---|
//! | `http` | requests over HTTP/1.1, each on a connection of its own |
//! | `reply` | an answer over any stream, TLS included: head, bytes, events as they come |
//! | `http2` | requests over HTTP/2, on any stream |
//! | `lines` | messages over pipes, a line each |
//! | `message` | the parts of messages |
//! | `session` | the newest version with a handshake, and the one without, request by request |
//! | `wire` | texts of messages in any version over any transport: pipes, HTTP, HTTP+SSE |
//! | `peer` | a client of any version on top of that, with the record of what it said and heard |
//!
//! It must not know the product that it is used on, nor how that is started. Every wait has a deadline, and panics with the
//! name of what was awaited; only what starts with `try` or ends in `within` leaves that to the test.

mod http;
mod http2;
mod lines;
mod message;
mod peer;
mod reply;
mod session;
mod wire;

use std::time::Duration;

pub use http::{Headers, Http};
pub use http2::Http2;
pub use lines::Lines;
pub use message::{LEGACY, MODERN, error_code, error_message, meta, request, text, tool_names};
pub use peer::{Answer, Line, Peer, Turn};
pub use reply::Reply;
pub use session::{Legacy, Modern};
pub use wire::{Sse, Stream, Wire};

/// No step of a test takes longer on a machine that works, however busy it is.
pub const DEADLINE: Duration = Duration::from_mins(1);

/// Awaits `step`, but not for ever.
pub async fn within<T>(what: &str, step: impl Future<Output = T>) -> Result<T, String> {
    tokio::time::timeout(DEADLINE, step).await.map_err(|_| format!("{what}: not within {DEADLINE:?}"))
}

/// Awaits `step`, but not for ever; panics if it takes too long.
pub async fn soon<T>(what: &str, step: impl Future<Output = T>) -> T {
    // A future inside of another one would double the size of each step.
    let done = tokio::time::timeout(DEADLINE, step).await;
    done.unwrap_or_else(|_| panic!("{what}: not within {DEADLINE:?}"))
}
