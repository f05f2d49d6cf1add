//! What talking to one origin may cost, in which HTTP it is spoken to, and what may be sent again. It must not know how.

use std::time::Duration;

use super::public::Reach;

/// What talking to one origin may cost, per client (so per shard).
#[derive(Clone, Copy, Debug)]
pub struct ClientLimits {
    /// For name look-up, TCP and TLS together; also for waiting until one of `max_in_use` comes free.
    pub connect_timeout: Duration,
    /// The time for which an unused connection is kept. A peer's `Keep-Alive: timeout=` can only shorten it.
    pub idle_timeout: Duration,
    /// Unused connections kept.
    pub max_idle: usize,
    /// Requests at the same time, until the last byte of their answers (so event streams count).
    pub max_in_use: usize,
    /// Header lines of an answer (HTTP/1.1).
    pub max_headers: usize,
    /// Bytes of an answer's head; at least 8 KiB are granted.
    pub max_header_bytes: usize,
    /// Which addresses are connected to. A name is looked up first, and refused when any address of it is another one; the
    /// connection then goes to an address that was looked at.
    pub reach: Reach,
}

impl Default for ClientLimits {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_mins(1),
            max_idle: 128,
            max_in_use: 4096,
            max_headers: 100,
            max_header_bytes: 64 * 1024,
            reach: Reach::All,
        }
    }
}

/// Which HTTP an origin is spoken to in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// HTTP/1.1 in plain text; whichever TLS agrees on (ALPN), HTTP/2 preferred.
    #[default]
    Auto,
    /// HTTP/1.1 only.
    Http1,
    /// HTTP/2 only; in plain text by prior knowledge (RFC 9113, 3.3).
    Http2,
}

/// Says whether a request may be sent a second time when a kept connection turns out to be dead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replay {
    /// Only if surely no byte of it went out: for everything that must not happen twice.
    Unsent,
    /// Whenever no answer came.
    Always,
}
