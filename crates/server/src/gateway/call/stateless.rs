//! What a request that stands for itself comes to, whatever the transport that brought it.

use std::sync::Arc;

use bytes::Bytes;
use engine::Fault;
use engine::catalogue::View;
use engine::exchange::{Dispatch, Headers, dispatch, no_longer_open, parked};
use engine::tasks::TaskIds;
use proto::era::{Envelope, Era};
use proto::rpc::{Frame, result_pieces, result_response};

use super::parked::Parked;
use crate::gateway::admission::Identity;
use crate::gateway::admission::rates::{Counted, Rates};
use crate::gateway::call::CallContext;
use crate::gateway::call::call::Call;
use crate::gateway::call::caller::{Caller, Request as CallRequest};
use crate::gateway::call::in_session::LONG;
use crate::gateway::call::record::{Record, Refused};
use crate::gateway::call::tasks;
use crate::gateway::view::view_cell::ViewCell;
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
    context: &Arc<CallContext>,
    parked: &Parked,
    profile: usize,
    identity: &Identity,
    envelope: Envelope,
    frame: Frame,
    headers: Option<&(dyn Headers + Sync)>,
) -> Decision {
    let (era, id) = (envelope.era, frame.id().cloned());
    let cell = view(context, profile, era, identity).await;
    let asking = Asking { cell, identity, headers, unchecked: false, counted: true };
    match decide_for(context, parked, asking, frame).await {
        Ok(decision) => decision,
        Err(Refused { fault, .. }) => Decision::Done(fault.http_status(era), fault.response(id.as_ref())),
    }
}

/// What clients without a session see that speak this era and cannot be asked.
pub(crate) async fn view(
    context: &Arc<CallContext>,
    profile: usize,
    era: &'static Era,
    identity: &Identity,
) -> Arc<ViewCell> {
    let kind = Kind { era, capabilities: Bytes::from_static(b"{}") };
    let views = &context.view.state.views;
    views.get(&context.view, profile, &kind, identity, |upstream| upstream.shared_link(&kind)).await
}

/// A message as limits see it at a profile. Where tools are told apart and nobody knows yet what is there, it is looked up as
/// clients of this era see it.
pub(crate) async fn counted<'f>(
    context: &Arc<CallContext>,
    rates: &Rates,
    (profile, era): (usize, &'static Era),
    identity: &Identity,
    frame: &'f Frame,
) -> Counted<'f> {
    let mut counted = rates.nowhere(frame);
    let Some(tool) = rates.asks_about(&counted) else { return counted };
    let is_shown = match context.view.state.views.show(&context.view, profile, identity, tool) {
        Some(is_shown) => is_shown,
        None => Box::pin(view(context, profile, era, identity)).await.view().tool(tool).is_some(),
    };
    counted.set_shown(is_shown);
    counted
}

/// What such a client sees, for a request of it: together with the servers that it may be about.
pub(crate) async fn view_for(context: &Arc<CallContext>, cell: &ViewCell, frame: &Frame) -> Arc<View> {
    let view = cell.view();
    if !cell.is_early_for(frame, &view) {
        return view;
    }
    Box::pin(cell.complete(&context.view, frame, |upstream| upstream.shared_link(&cell.kind))).await;
    cell.view()
}

/// Who asks without a session, and what that client sees.
pub(crate) struct Asking<'a> {
    pub(crate) cell: Arc<ViewCell>,
    pub(crate) identity: &'a Identity,
    pub(crate) headers: Option<&'a (dyn Headers + Sync)>,
    /// True if arguments are its server's matter alone.
    pub(crate) unchecked: bool,
    /// True if a call counts among its caller's.
    pub(crate) counted: bool,
}

/// Decides what a request without a session comes to.
///
/// # Errors
/// The fault to answer with.
pub(crate) async fn decide_for(
    context: &Arc<CallContext>,
    parked: &Parked,
    asking: Asking<'_>,
    frame: Frame,
) -> Result<Decision, Refused> {
    let Asking { cell, identity, headers, unchecked, counted } = asking;
    let era = cell.kind.era;
    let view = view_for(context, &cell, &frame).await;
    let info = &context.egress.snapshot.profiles[cell.profile].server_info;
    let ids = TaskIds::new(context.sealer(), identity.id(), era);
    let dispatched = dispatch(&frame, &view, info, ids).map_err(|fault| {
        let fault = context.pointing(fault, &cell.kind, identity);
        let record = Record::refusal(context, identity, cell.profile, &frame, &fault);
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
            let (status, text) = Box::pin(tasks::serve(context, asked)).await?;
            Ok(Decision::Done(status, text))
        }
        Dispatch::Forward(mut route) => {
            route.unchecked = unchecked;
            route.keeps_tasks = context.state.homes.has_room();
            let server = view.upstream_era(route.upstream).unwrap_or(era);
            if server.asks != era.asks {
                let upstream = context.view.state.upstreams.get(route.upstream);
                if let Some(call) = resumed((context, parked), identity, &frame, era, upstream.name()).await?
                {
                    return Ok(Decision::Call(call));
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
            let call = Call::begin(context, Caller::Stateless(cell.clone(), identity.clone()), request)?;
            Ok(Decision::Call(call))
        }
    }
}

/// The call that a retry belongs to, which goes on with what the retry brings; `None` for any other request.
async fn resumed(
    (context, waiting): (&CallContext, &Parked),
    identity: &Identity,
    frame: &Frame,
    era: &'static Era,
    server: &str,
) -> Result<Option<Box<Call>>, Refused> {
    let binding = context.binding(identity.id(), server, era);
    let Some(ticket) = parked(frame, era, context.sealer(), binding)? else { return Ok(None) };
    let mut call = waiting.take(ticket).await.ok_or_else(no_longer_open)?;
    match call.resume(frame.clone()) {
        Ok(()) => Ok(Some(call)),
        Err(refused) => {
            // It waits as before; there was room for it a moment ago.
            let _ = waiting.keep(ticket, call);
            Err(refused)
        }
    }
}
