//! What a request that stands for itself comes to, whatever the transport that brought it.

use std::sync::Arc;

use bytes::Bytes;
use engine::Fault;
use engine::exchange::{Dispatch, Headers, dispatch, no_longer_open, parked};
use engine::tasks::TaskIds;
use proto::era::{Envelope, Era};
use proto::rpc::{Frame, result_pieces, result_response};

use super::call::Call;
use super::caller::{Caller, Request as CallRequest};
use super::identity::Identity;
use super::in_session::LONG;
use super::upstream::Kind;
use super::views::ViewCell;
use super::{Shard, tasks};

/// What a stateless request comes to, before anything is sent.
pub(crate) enum Decision {
    /// The answer is at hand: status and message.
    Done(u16, Bytes),
    /// The answer is at hand, and long: its pieces.
    Long([Bytes; 3]),
    /// A stream of notices is to be opened.
    Listen(Arc<ViewCell>, Box<Frame>),
    /// An upstream has to be asked.
    Call(Box<Call>),
}

/// Decides what a stateless request comes to.
pub(crate) async fn decide(
    shard: &Shard,
    profile: usize,
    identity: &Identity,
    envelope: Envelope,
    frame: Frame,
    headers: Option<&(dyn Headers + Sync)>,
) -> Decision {
    let kind = Kind { era: envelope.era, capabilities: Bytes::from_static(b"{}") };
    let era = kind.era;
    let views = &shard.gateway.views;
    let cell = views.get(shard, profile, &kind, |upstream| upstream.shared_link(&kind)).await;
    let view = cell.view();
    let info = &shard.gateway.snapshot.profiles[profile].server_info;
    let id = frame.id().cloned();
    let refuse = |fault: &Fault| Decision::Done(fault.http_status(era), fault.response(id.as_ref()));
    let ids = TaskIds::new(&*shard.gateway, identity.id(), era);
    match dispatch(&frame, &view, info, ids) {
        Err(fault) => refuse(&fault),
        Ok(Dispatch::Local(result)) => match &id {
            Some(id) if result.len() > LONG => Decision::Long(result_pieces(id, result)),
            Some(id) => Decision::Done(200, result_response(id, &result)),
            None => refuse(&Fault::gateway("a request without an id")),
        },
        Ok(Dispatch::Listen) => Decision::Listen(cell, Box::new(frame)),
        Ok(Dispatch::SetLevel(_)) => refuse(&Fault::unknown_method(&frame.method(), "needs a session")),
        Ok(Dispatch::Kept(method, route)) => {
            let asked = tasks::Asked { frame: &frame, method, route, era, server_info: info, identity };
            match Box::pin(tasks::serve(shard, asked)).await {
                Ok((status, text)) => Decision::Done(status, text),
                Err(fault) => refuse(&fault),
            }
        }
        Ok(Dispatch::Forward(mut route)) => {
            route.keeps_tasks = shard.gateway.homes.has_room();
            let server = view.upstream_era(route.upstream).unwrap_or(era);
            if server.asks != era.asks {
                let name = shard.gateway.upstream(route.upstream).name();
                match resumed(shard, identity, &frame, era, name).await {
                    Ok(None) => {}
                    Ok(Some(parked)) => return Decision::Call(parked),
                    Err(fault) => return refuse(&fault),
                }
            }
            let headers = headers.map(|h| h as &dyn Headers);
            let request = CallRequest { frame, route, server, headers, server_info: info };
            match Call::begin(shard, Caller::Stateless(cell, identity.clone()), request) {
                Ok(begun) => Decision::Call(Box::new(begun)),
                Err(fault) => refuse(&fault),
            }
        }
    }
}

/// The call that a retry belongs to, which goes on with what the retry brings; `None` for any other request.
async fn resumed(
    shard: &Shard,
    identity: &Identity,
    frame: &Frame,
    era: &'static Era,
    server: &str,
) -> Result<Option<Box<Call>>, Fault> {
    let gateway = &shard.gateway;
    let binding = gateway.binding(identity.id(), server, era);
    let Some(ticket) = parked(frame, era, &**gateway, binding)? else { return Ok(None) };
    let mut call = gateway.parked.take(ticket).await.ok_or_else(no_longer_open)?;
    match call.resume(frame.clone()) {
        Ok(()) => Ok(Some(call)),
        Err(fault) => {
            // It waits as before; there was room for it a moment ago.
            let _ = gateway.parked.keep(ticket, call);
            Err(fault)
        }
    }
}
