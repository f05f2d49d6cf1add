//! The protocol versions of the test clients.

/// A client's protocol version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Era {
    pub(crate) version: &'static str,
    pub(crate) way: Way,
}

/// The transport of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// HTTP+SSE: an event stream, and an address to post to.
    Sse,
    /// Streamable HTTP with a session.
    Session,
    /// Streamable HTTP, in which each request is self-contained.
    Stateless,
}

const fn era(version: &'static str, way: Way) -> Era {
    Era { version, way }
}

impl Era {
    /// The newest version with a handshake.
    pub(crate) const NEWEST_SESSION: Self = era("2025-11-25", Way::Session);
    /// The version without a handshake.
    pub(crate) const STATELESS: Self = era("2026-07-28", Way::Stateless);
    /// One client of each version.
    pub(crate) const ALL: [Self; 7] = [
        era("1", Way::Sse),
        era("2024-10-07", Way::Sse),
        era("2024-11-05", Way::Sse),
        era("2025-03-26", Way::Session),
        era("2025-06-18", Way::Session),
        Self::NEWEST_SESSION,
        Self::STATELESS,
    ];
}
