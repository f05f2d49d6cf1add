//! The client of a session, as it introduced itself. It must not know what the client requests.

use bytes::Bytes;
use proto::bridge::input::Askable;
use proto::era::{ClientHello, Era};
use upstream::LinkKey;

use crate::view::ClientClass;

/// A client's introduction.
pub(crate) struct SessionClient {
    /// Its version, and the capabilities that its dedicated links declare.
    pub(crate) key: LinkKey,
    /// The params of its `initialize`.
    pub(super) params: Bytes,
    /// All of its capabilities, exactly as written.
    pub(crate) capabilities: Bytes,
    /// Its name and version, exactly as written.
    pub(crate) info: Option<Bytes>,
    pub(super) can_be_asked: bool,
}

impl SessionClient {
    pub(super) fn new(era: &'static Era, hello: ClientHello) -> Self {
        let ClientHello { can_be_asked, capabilities, info, params, .. } = hello;
        let declared = if can_be_asked { capabilities.clone() } else { Bytes::from_static(b"{}") };
        Self { key: LinkKey { era, capabilities: declared }, params, capabilities, info, can_be_asked }
    }

    /// The class of clients that it belongs to.
    pub(crate) fn class(&self) -> ClientClass {
        ClientClass::new(self.key.era, Askable::of(self.key.era, &self.key.capabilities))
    }
}
