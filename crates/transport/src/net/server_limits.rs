//! What clients may cost. It must not know how that is held.

use std::time::Duration;

use super::tls::ServerTls;

/// What clients may cost. All of it holds per listener, except the connection cap, which is shared.
#[derive(Clone, Debug)]
pub struct ServerLimits {
    /// From a request's first byte (or, for the first one, from the accept) to the end of its head. Measured in
    /// ticks of a quarter of it, so it may last up to 1.25 times as long. Also the cap of a TLS handshake.
    pub header_timeout: Duration,
    /// Between two requests of a connection.
    pub idle_timeout: Duration,
    /// Between two requests of an HTTP/1.1 connection, before it gives up its buffers until the next one.
    pub rest_after: Duration,
    /// With an answer to write of which the peer takes nothing.
    pub write_timeout: Duration,
    /// After the stop signal, for requests that have begun.
    pub drain_timeout: Duration,
    /// Header lines per request.
    pub max_headers: usize,
    /// Bytes of a request's head; at least 8 KiB are granted. More is answered with 431.
    pub max_header_bytes: usize,
    /// Requests at the same time on one HTTP/2 connection.
    pub max_streams: u32,
    /// Speak TLS.
    pub tls: Option<ServerTls>,
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
            tls: None,
        }
    }
}
