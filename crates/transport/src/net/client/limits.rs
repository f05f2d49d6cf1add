//! Limits on the resources that one origin may use, the HTTP version, and the conditions for sending a request again.
//! This module must not know how the limits are applied.

use std::time::Duration;

use super::public::Reach;

/// The maximum number of origins that a client caches by URL; above it, origins without connections are removed.
pub(super) const MOST_ORIGINS: usize = 256;

/// Limits on the resources that one origin may use; each client (and therefore each shard) applies them separately.
#[derive(Clone, Copy, Debug)]
pub struct ClientLimits {
    /// The time for name lookup, TCP and TLS together; also the maximum wait if `max_in_use` requests are running.
    pub connect_timeout: Duration,
    /// The time for which an unused connection is kept. The peer's `Keep-Alive: timeout=` can only shorten this time.
    pub idle_timeout: Duration,
    /// The maximum number of unused connections that are kept.
    pub max_idle: usize,
    /// The maximum number of concurrent requests. A request counts until the last byte of its answer, so event streams
    /// count as well.
    pub max_in_use: usize,
    /// The maximum number of header lines in an answer (HTTP/1.1).
    pub max_headers: usize,
    /// The maximum size of an answer's head in bytes; at least 8 KiB.
    pub max_header_bytes: usize,
    /// The addresses to which connections may lead. A name is resolved first, and rejected if any of its addresses is
    /// not allowed; the connection then uses an address that was checked.
    pub reach: Reach,
    /// The settings of HTTP/2 connections.
    pub http2: Http2Limits,
}

/// The settings of HTTP/2 connections.
#[derive(Clone, Copy, Debug)]
pub struct Http2Limits {
    /// The interval between pings while requests are running, and the time within which each ping must be answered.
    pub ping: (Duration, Duration),
    /// The receive windows of a stream and of a connection, in bytes. They limit the bytes that one stream or one connection can make
    /// Dragoman buffer.
    pub windows: (u32, u32),
}

impl Default for Http2Limits {
    fn default() -> Self {
        let ping = (Duration::from_secs(30), Duration::from_secs(20));
        Self { ping, windows: (256 * 1024, 1024 * 1024) }
    }
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
            http2: Http2Limits::default(),
        }
    }
}

/// The HTTP version that is used for an origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// In plain text, HTTP/1.1; with TLS, the version that ALPN selects, preferably HTTP/2.
    #[default]
    Auto,
    /// HTTP/1.1 only.
    Http1,
    /// HTTP/2 only; in plain text, with prior knowledge (RFC 9113, 3.3).
    Http2,
}

/// The condition under which a request may be sent a second time when a kept connection turns out to be dead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replay {
    /// Only if it is certain that no byte of the request was sent: for requests that must not be executed twice.
    Unsent,
    /// Whenever no answer has arrived.
    Always,
}
