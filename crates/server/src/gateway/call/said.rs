//! What a client says of itself to servers of another era. It must not know how a call goes on.

use bytes::Bytes;
use proto::bridge::handshake::client_capabilities;
use proto::mcp::meta;

use crate::gateway::call::caller::{Caller, Request};

/// What the client can do, and what it wants to hear: what matters only between different eras.
#[derive(Default)]
pub(crate) struct Said {
    pub(crate) capabilities: Bytes,
    pub(crate) upstream: Bytes,
    pub(crate) level: Option<Bytes>,
    /// Who it is; the gateway speaks for one that does not say so.
    pub(crate) info: Option<Bytes>,
}

/// What a client says of itself to an upstream of another era.
pub(crate) fn said(caller: &Caller, request: &Request<'_>) -> Said {
    let frame = &request.frame;
    match caller {
        Caller::Session(session) => {
            let capabilities = session.capabilities.clone();
            let upstream = client_capabilities(&capabilities, session.kind.era, request.server);
            Said { capabilities, upstream, level: session.level(), info: session.client_info.clone() }
        }
        Caller::Stateless(..) => {
            let own = |key| frame.meta(key).ok().flatten().map(|span| span.share(frame.text()));
            let capabilities = own(meta::CLIENT_CAPABILITIES).unwrap_or(Bytes::from_static(b"{}"));
            Said {
                capabilities,
                upstream: Bytes::from_static(b"{}"),
                level: own(meta::LOG_LEVEL),
                info: None,
            }
        }
    }
}
