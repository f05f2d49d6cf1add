//! Chooses the calls that get a dedicated link. These are calls to servers with a handshake, if the client has no
//! session, and can answer servers' questions or requests log messages. A question on such a link belongs to its
//! call.

use std::sync::Arc;

use bytes::Bytes;
use engine::{Condition, Fault};
use proto::bridge::input::{Askable, questions_of};
use proto::era::Asks;
use proto::mcp::Method;
use proto::rpc::code;
use upstream::pool::DedicatedLink;
use upstream::quota::QuotaError;
use upstream::{Egress, LinkKey, Upstream};

use crate::call::caller::{Caller, Request};
use crate::call::client_introduction::ClientIntroduction;

/// Returns the dedicated link of a call, if it needs one. Two kinds of clients get such links. First, clients
/// without a session that can answer questions or request log messages, if the server sends its questions as
/// requests and keeps a log level per session. Second, clients with a session whose log level cannot be set on the
/// shared link.
///
/// # Errors
/// Returns the fault to answer with if too many calls are waiting for dedicated links and the client of this call can answer
/// questions: on a shared link, the server would proceed without asking. A call whose client only wants log messages proceeds
/// without these messages.
pub(crate) fn dedicated_link(
    egress: &Egress,
    caller: &Caller,
    upstream: &Arc<Upstream>,
    request: &Request<'_>,
    said: &ClientIntroduction,
) -> Result<Option<(DedicatedLink, Option<Bytes>)>, Fault> {
    let (view, identity) = match caller {
        Caller::Session(session) => return Ok(session.link_for_level(egress, upstream)),
        Caller::Stateless(view, identity) => (view, identity),
    };
    // A call that another gateway has begun uses a link of its own in any case.
    if request.orphan.is_some()
        || view.clients.era == request.server
        || request.server.asks != Asks::Requests
        || upstream.server.is_native()
    {
        return Ok(None);
    }
    let may_ask = matches!(
        Method::from_name(&request.frame.method()),
        Some(Method::ToolsCall | Method::PromptsGet | Method::ResourcesRead)
    );
    let asks =
        if may_ask && upstream.server.may_ask() { questions_of(&said.capabilities) } else { "{}".to_owned() };
    if asks == "{}" && said.level.is_none() {
        return Ok(None);
    }
    let is_askable = asks != "{}";
    let kind = LinkKey { era: view.clients.era, capabilities: Bytes::from(asks) };
    // On a server's only link, nobody is asked for roots, and no client sets the log level for other clients.
    if upstream.server.spec.is_single()
        && Askable::of(kind.era, &kind.capabilities).without_roots().is_nothing()
    {
        return Ok(None);
    }
    match DedicatedLink::take(egress, &upstream.links, &kind, identity.holder()) {
        Ok(dedicated) => Ok(Some((dedicated, said.level.clone()))),
        Err(full) if is_askable => Err(refusal(upstream.name(), &full)),
        Err(full) => {
            let server = upstream.name();
            tracing::info!(
                %server,
                "a client gets no log messages from the server during its call, because no dedicated connection is \
                 available: {full} calls already use one or wait for one"
            );
            Ok(None)
        }
    }
}

/// Returns the fault for a call that needs a dedicated link while too many calls already wait for one.
fn refusal(server: &str, full: &QuotaError) -> Fault {
    let (whose, count) = match full {
        QuotaError::Whole(count) => ("", count),
        QuotaError::Own(_, count) => (" from this caller", count),
    };
    let message = format!(
        "too many calls need a dedicated connection to server {server:?}: {count}{whose} are running or waiting; call \
         again when one of them has been answered, or raise the server's `dedicatedConnections`"
    );
    let fault = Fault::client(code::REFUSED, message).about(Condition::RateLimited, "").with_status(429);
    Fault { retry: true, ..fault }
}
