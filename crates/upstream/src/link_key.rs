//! The common part of the clients of one link: version and capabilities. It must not know the client.

use bytes::Bytes;
use proto::era::Era;

/// The common part of the clients of one link.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LinkKey {
    /// The era.
    pub era: &'static Era,
    /// The client's capabilities as it wrote them, where they are fixed for a session; else `{}`.
    pub capabilities: Bytes,
}

impl LinkKey {
    /// Clients of this era of whom nothing can be asked.
    pub fn plain(era: &'static Era) -> Self {
        Self { era, capabilities: Bytes::from_static(b"{}") }
    }

    /// The gateway's own params of `initialize` on a link that several clients share.
    pub fn own_hello(&self) -> Bytes {
        let capabilities = String::from_utf8_lossy(&self.capabilities);
        let version = proto::json::quote(self.era.version);
        let client = crate::CLIENT_INFO;
        Bytes::from(format!(
            "{{\"protocolVersion\":{version},\"capabilities\":{capabilities},\"clientInfo\":{client}}}"
        ))
    }
}
