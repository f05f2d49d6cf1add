//! A client of MCP servers for tests: it sends exactly what a test specifies, and shows exactly what arrived.
//!
//! | file | is for |
//! |---|---|
//! | `http` | requests over HTTP/1.1, each on a separate connection |
//! | `reply` | an answer over any stream, including TLS: head, bytes, events as they arrive |
//! | `http2` | requests over HTTP/2, on any stream |
//! | `lines` | messages over pipes, one per line |
//! | `message` | the parts of messages |
//! | `session` | the newest version with a handshake, and the version without one, request by request |
//! | `wire` | texts of messages in any version over any transport: pipes, HTTP, HTTP+SSE |
//! | `peer` | a client of any version on top of that, with a record of the messages that it sent and received |
//!
//! This module must not know the product that it tests, nor how that is started. Every wait has a deadline, and panics
//! with the name of what was awaited. Only functions whose names start with `try` or end in `within` leave that to the test.

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

/// The deadline of a step of a test: on a working machine, no step takes longer, however busy the machine is.
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
