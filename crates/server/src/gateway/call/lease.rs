//! Which call has a link for itself while it runs: one of a client without a session that can be asked, or wants log messages,
//! at a server with a handshake. What the server asks there belongs to that call.

use std::sync::Arc;

use bytes::Bytes;
use proto::bridge::input::questions_of;
use proto::era::Asks;
use proto::mcp::Method;
use upstream::pool::Lease;
use upstream::{Egress, Kind, Upstream};

use crate::gateway::call::caller::{Caller, Request};
use crate::gateway::call::said::Said;

/// A link of the call's own: for clients without a session that can be asked, or want log messages, at servers that ask by
/// requests and keep a level for a session; and for sessions whose log level cannot be told on the link that they share.
pub(crate) fn lease(
    egress: &Egress,
    caller: &Caller,
    upstream: &Arc<Upstream>,
    request: &Request<'_>,
    said: &Said,
) -> Option<(Lease, Option<Bytes>)> {
    let (view, identity) = match caller {
        Caller::Session(session) => return session.lease_for_level(egress, upstream),
        Caller::Stateless(view, identity) => (view, identity),
    };
    if view.kind.era == request.server || request.server.asks != Asks::Requests || upstream.server.is_native()
    {
        return None;
    }
    let may_ask = matches!(
        Method::from_name(&request.frame.method()),
        Some(Method::ToolsCall | Method::PromptsGet | Method::ResourcesRead)
    );
    let asks = if may_ask { questions_of(&said.capabilities) } else { "{}".to_owned() };
    if asks == "{}" && said.level.is_none() {
        return None;
    }
    let kind = Kind { era: view.kind.era, capabilities: Bytes::from(asks) };
    match Lease::take(egress, &upstream.links, kind, identity.holder()) {
        Ok(lease) => Some((lease, said.level.clone())),
        Err(full) => {
            let server = upstream.name();
            tracing::info!(%server, "a call cannot ask its client: {full} calls have a connection of their own");
            None
        }
    }
}
