//! The client of a session, as it introduced itself. This module must not know what the client requests.

use bytes::Bytes;
use proto::bridge::input::Askable;
use proto::era::{ClientHello, Era};
use upstream::LinkKey;

use crate::view::ClientClass;

/// A client's introduction.
pub struct SessionClient {
    /// The client's version, and the capabilities that its dedicated links declare.
    pub(crate) key: LinkKey,
    /// The params of the client's `initialize`.
    pub(super) params: Bytes,
    /// All of the client's capabilities, exactly as written.
    pub capabilities: Bytes,
    /// The client's name and version, exactly as written.
    pub(crate) info: Option<Bytes>,
    pub(super) can_be_asked: bool,
    /// The class of clients that the client belongs to, read from its capabilities once.
    class: ClientClass,
}

impl SessionClient {
    pub(super) fn new(era: &'static Era, hello: ClientHello) -> Self {
        let ClientHello { can_be_asked, capabilities, info, params, .. } = hello;
        let declared = if can_be_asked { capabilities.clone() } else { Bytes::from_static(b"{}") };
        let class = ClientClass::new(era, Askable::of(era, &declared));
        Self { key: LinkKey { era, capabilities: declared }, params, capabilities, info, can_be_asked, class }
    }

    /// Returns the class of clients that the client belongs to.
    pub(crate) fn class(&self) -> ClientClass {
        self.class
    }
}
