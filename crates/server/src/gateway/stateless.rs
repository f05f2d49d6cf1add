//! What a request that stands for itself comes to, whatever the transport that brought it.

use std::sync::Arc;

use bytes::Bytes;
use engine::Fault;
use engine::catalogue::View;
use engine::exchange::{Dispatch, Headers, dispatch, no_longer_open, parked};
use engine::tasks::TaskIds;
use proto::era::{Envelope, Era};
use proto::rpc::{Frame, result_pieces, result_response};

use super::call::Call;
use super::caller::{Caller, Request as CallRequest};
use super::identity::Identity;
use super::in_session::LONG;
use super::record::{Record, Refused};
use super::view_cell::ViewCell;
use super::{Shard, tasks};
use upstream::Kind;

/// What a stateless request comes to, before anything is sent.
pub(crate) enum Decision {
    /// The answer is at hand: status and message.
    Done(u16, Bytes),
    /// The answer is at hand, and long: its pieces.
    Long([Bytes; 3]),
    /// A stream of notices is to be opened.
    Listen(Arc<ViewCell>, Frame),
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
    let (era, id) = (envelope.era, frame.id().cloned());
    let cell = view(shard, profile, era, identity).await;
    let asking = Asking { cell, identity, headers, unchecked: false, counted: true };
    match decide_for(shard, asking, frame).await {
        Ok(decision) => decision,
        Err(Refused { fault, .. }) => Decision::Done(fault.http_status(era), fault.response(id.as_ref())),
    }
}

/// What clients without a session see that speak this era and cannot be asked.
pub(crate) async fn view(
    shard: &Shard,
    profile: usize,
    era: &'static Era,
    identity: &Identity,
) -> Arc<ViewCell> {
    let kind = Kind { era, capabilities: Bytes::from_static(b"{}") };
    let views = &shard.gateway.views;
    views.get(shard, profile, &kind, identity, |upstream| upstream.shared_link(&kind)).await
}

/// What such a client sees, for a request of it: together with the servers that it may be about.
pub(crate) async fn view_for(shard: &Shard, cell: &ViewCell, frame: &Frame) -> Arc<View> {
    let view = cell.view();
    if !cell.is_early_for(frame, &view) {
        return view;
    }
    Box::pin(cell.complete(shard, frame, |upstream| upstream.shared_link(&cell.kind))).await;
    cell.view()
}

/// Who asks without a session, and what that client sees.
pub(crate) struct Asking<'a> {
    pub(crate) cell: Arc<ViewCell>,
    pub(crate) identity: &'a Identity,
    pub(crate) headers: Option<&'a (dyn Headers + Sync)>,
    /// Whether arguments are its server's matter alone.
    pub(crate) unchecked: bool,
    /// Whether a call counts among its caller's.
    pub(crate) counted: bool,
}

/// Decides what a request without a session comes to.
///
/// # Errors
/// The fault to answer with.
pub(crate) async fn decide_for(shard: &Shard, asking: Asking<'_>, frame: Frame) -> Result<Decision, Refused> {
    let Asking { cell, identity, headers, unchecked, counted } = asking;
    let era = cell.kind.era;
    let view = view_for(shard, &cell, &frame).await;
    let info = &shard.gateway.snapshot.profiles[cell.profile].server_info;
    let ids = TaskIds::new(&*shard.gateway, identity.id(), era);
    let dispatched = dispatch(&frame, &view, info, ids).map_err(|fault| {
        let fault = shard.gateway.pointing(fault, &cell.kind, identity);
        let record = Record::refusal(shard, identity, cell.profile, &frame, &fault);
        Refused { fault, record }
    });
    match dispatched? {
        Dispatch::Local(result) => match frame.id() {
            Some(id) if result.len() > LONG => Ok(Decision::Long(result_pieces(id, result))),
            Some(id) => Ok(Decision::Done(200, result_response(id, &result))),
            None => Err(Fault::gateway("a request without an id").into()),
        },
        Dispatch::Listen => Ok(Decision::Listen(cell, frame)),
        Dispatch::SetLevel(_) => Err(Fault::unknown_method(&frame.method(), "needs a session").into()),
        Dispatch::Kept(method, route) => {
            let asked = tasks::Asked { frame: &frame, method, route, era, server_info: info, identity };
            let (status, text) = Box::pin(tasks::serve(shard, asked)).await?;
            Ok(Decision::Done(status, text))
        }
        Dispatch::Forward(mut route) => {
            route.unchecked = unchecked;
            route.keeps_tasks = shard.gateway.homes.has_room();
            let server = view.upstream_era(route.upstream).unwrap_or(era);
            if server.asks != era.asks {
                let upstream = shard.gateway.upstream(route.upstream);
                if let Some(parked) = resumed(shard, identity, &frame, era, upstream.name()).await? {
                    return Ok(Decision::Call(parked));
                }
            }
            let headers = headers.map(|h| h as &dyn Headers);
            let request = CallRequest {
                frame,
                route,
                server,
                headers,
                server_info: info,
                carried: identity.carried.clone(),
                counted,
            };
            let call = Call::begin(shard, Caller::Stateless(cell.clone(), identity.clone()), request)?;
            Ok(Decision::Call(call))
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
) -> Result<Option<Box<Call>>, Refused> {
    let gateway = &shard.gateway;
    let binding = gateway.binding(identity.id(), server, era);
    let Some(ticket) = parked(frame, era, &**gateway, binding)? else { return Ok(None) };
    let mut call = gateway.parked.take(ticket).await.ok_or_else(no_longer_open)?;
    match call.resume(frame.clone()) {
        Ok(()) => Ok(Some(call)),
        Err(refused) => {
            // It waits as before; there was room for it a moment ago.
            let _ = gateway.parked.keep(ticket, call);
            Err(refused)
        }
    }
}
