//! A client of MCP servers for tests. It sends exactly the bytes that a test specifies, and returns exactly those
//! that arrived.
//!
//! | file | is for |
//! |---|---|
//! | `http` | requests over HTTP/1.1, each on a separate connection |
//! | `reply` | an answer over any stream, including TLS: head, bytes, events as they arrive |
//! | `http2` | requests over HTTP/2, on any stream |
//! | `lines` | messages over pipes, one per line |
//! | `message` | the parts of messages |
//! | `session` | clients for versions with a handshake and for the stateless version, request by request |
//! | `wire` | messages as text, in any version, over pipes, HTTP or HTTP+SSE |
//! | `peer` | a client of any version on top of `wire`, with a record of the messages that it sent and received |
//!
//! This module must not know the product under test, or how it is started. Every wait has a deadline; when the
//! deadline passes, the function panics with a message that names the awaited step. Functions whose names start
//! with `try` or end in `within` are the exception: there, the test handles the failure.

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

/// The deadline for each step of a test. It is long enough for a very busy machine.
pub const DEADLINE: Duration = Duration::from_mins(1);

/// Awaits `step` with a deadline.
pub async fn within<T>(what: &str, step: impl Future<Output = T>) -> Result<T, String> {
    tokio::time::timeout(DEADLINE, step).await.map_err(|_| format!("{what}: not within {DEADLINE:?}"))
}

/// Awaits `step` with a deadline; panics if it takes too long.
pub async fn soon<T>(what: &str, step: impl Future<Output = T>) -> T {
    // A future nested in another one would double the size of each step.
    let done = tokio::time::timeout(DEADLINE, step).await;
    done.unwrap_or_else(|_| panic!("{what}: not within {DEADLINE:?}"))
}
