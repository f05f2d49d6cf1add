//! Limits on the resources that clients may use. This module must not know how they are enforced.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;

use super::tls::ServerTls;

/// Limits on the resources that clients may use. All of them apply per listener, except for the connection cap,
/// which all listeners share.
#[derive(Clone, Debug)]
pub struct ServerLimits {
    /// The maximum time from a request's first byte to the end of its head; for the first request of a connection,
    /// the time begins when the connection is accepted. The limit is checked at intervals of a quarter of its
    /// length, so a request may take up to 1.25 times as long. The limit also applies to a TLS handshake.
    pub header_timeout: Duration,
    /// The maximum time between two requests on a connection.
    pub idle_timeout: Duration,
    /// The idle time after which an HTTP/1.1 connection releases its buffers until the next request.
    pub rest_after: Duration,
    /// The maximum time for which an answer may wait while the peer accepts none of its bytes.
    pub write_timeout: Duration,
    /// The time that requests in progress may take after the stop signal.
    pub drain_timeout: Duration,
    /// The maximum number of header lines per request.
    pub max_headers: usize,
    /// The maximum size of a request's head, in bytes; at least 8 KiB. A larger head is answered with 431.
    pub max_header_bytes: usize,
    /// The maximum number of concurrent requests on one HTTP/2 connection.
    pub max_streams: u32,
    /// The number of HTTP/2 streams that a client may open and reset before the resets are processed ("rapid reset",
    /// CVE-2023-44487); more of them close the connection.
    pub max_resets: usize,
    /// The TLS settings; `None` for plain text.
    pub tls: Option<ServerTls>,
}

/// Limits that may change while connections are open. Clones share them.
#[derive(Clone, Debug)]
pub struct SharedServerLimits(Arc<ArcSwap<ServerLimits>>);

impl From<ServerLimits> for SharedServerLimits {
    fn from(limits: ServerLimits) -> Self {
        Self(Arc::new(ArcSwap::from_pointee(limits)))
    }
}

impl SharedServerLimits {
    /// Returns the current limits.
    pub fn get(&self) -> Arc<ServerLimits> {
        self.0.load_full()
    }

    /// Changes the limits.
    pub fn set(&self, limits: ServerLimits) {
        self.0.store(Arc::new(limits));
    }
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            header_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_mins(5),
            rest_after: Duration::from_secs(1),
            write_timeout: Duration::from_mins(1),
            drain_timeout: Duration::from_secs(10),
            max_headers: 100,
            max_header_bytes: 32 * 1024,
            max_streams: 128,
            max_resets: 20,
            tls: None,
        }
    }
}
