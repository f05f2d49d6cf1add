//! A client's introduction to servers of another era. This module must not know how a call is performed.

use bytes::Bytes;
use proto::bridge::handshake::client_capabilities;
use proto::mcp::meta;

use crate::call::caller::{Caller, Request};

/// A client's capabilities, introduction and log level, for a server of another era. Empty if both use the same
/// era.
#[derive(Default)]
pub(crate) struct ClientIntroduction {
    pub(crate) capabilities: Bytes,
    pub(crate) upstream: Bytes,
    pub(crate) level: Option<Bytes>,
    /// The client's introduction, or the gateway's own if the client sent none.
    pub(crate) info: Option<Bytes>,
}

/// Returns a client's introduction to an upstream of another era.
pub(crate) fn introduction(caller: &Caller, request: &Request<'_>) -> ClientIntroduction {
    let frame = &request.frame;
    match caller {
        Caller::Session(session) => {
            let capabilities = session.client.capabilities.clone();
            let upstream = client_capabilities(&capabilities, session.era(), request.server);
            ClientIntroduction {
                capabilities,
                upstream,
                level: session.level(),
                info: session.client.info.clone(),
            }
        }
        Caller::Stateless(..) => {
            let own = |key| frame.meta(key).ok().flatten().map(|span| span.share(frame.text()));
            let capabilities = own(meta::CLIENT_CAPABILITIES).unwrap_or(Bytes::from_static(b"{}"));
            ClientIntroduction {
                capabilities,
                upstream: Bytes::from_static(b"{}"),
                level: own(meta::LOG_LEVEL),
                info: None,
            }
        }
    }
}
