//! The properties that all clients of one link share: version and capabilities. It must not know the client.

use bytes::Bytes;
use proto::era::Era;

/// The properties that all clients of one link share.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LinkKey {
    /// The clients' protocol version.
    pub era: &'static Era,
    /// The client's capabilities exactly as it sent them, if they are fixed for a session; otherwise `{}`.
    pub capabilities: Bytes,
}

impl LinkKey {
    /// Returns the key for clients of this version that cannot be asked anything.
    pub fn plain(era: &'static Era) -> Self {
        Self { era, capabilities: Bytes::from_static(b"{}") }
    }

    /// Returns the gateway's own params of `initialize`, for a link that several clients share.
    pub fn own_hello(&self) -> Bytes {
        let capabilities = String::from_utf8_lossy(&self.capabilities);
        let version = proto::json::quote(self.era.version);
        let client = crate::CLIENT_INFO;
        Bytes::from(format!(
            "{{\"protocolVersion\":{version},\"capabilities\":{capabilities},\"clientInfo\":{client}}}"
        ))
    }
}
