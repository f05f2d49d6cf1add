//! Decides the outcome of a request before anything is sent: one decision for all clients, over any transport.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use engine::Fault;
use engine::catalogue::{UpstreamId, View};
use engine::exchange::{Dispatch, Route, dispatch, inner_request};
use engine::tasks::{TaskIds, TaskRoute};
use proto::bridge::tasks::TaskMethod;
use proto::json::unquote;
use proto::mcp::Method;
use proto::rpc::{Frame, Id, result_response};

use super::CallContext;
use super::adopted;
use super::cache_slot::CacheSlot;
use super::cached;
use super::call::Call;
use super::caller::Caller;
use super::elsewhere::{self, MovedRequest};
use super::for_gateways::{is_gateway, listed_for_gateway};
use super::forwarded::{Forwarded, request, stateless};
use super::in_session::set_level;
use super::own_answers::{listed, own};
use super::parked::{Parked, Resumed};
use super::record::{Record, Refused};
use super::remainders;
use super::requester::Requester;
use super::tasks;
use crate::session::open_requests::HeldRequest;
use crate::session::session::Session;
use crate::session::subscriptions::{Change, ChangeOutcome, PendingSubscription, Subscription};
use crate::view::view_cell::ViewCell;

/// The decision about a request before anything is sent.
pub enum Decision {
    /// A complete answer: its HTTP status, and the message.
    Done(u16, Bytes),
    /// A complete long answer, in pieces.
    Long(Vec<Bytes>),
    /// A stream of notifications, which the receiver of the decision has to open.
    Listen(Arc<ViewCell>, Frame),
    /// A subscription that has already been requested from the server.
    Wait(Id, PendingSubscription),
    /// No answer: the client cancelled the request while it waited for lists.
    Cancelled,
    /// A call to an upstream, and the change to the session's subscriptions that depends on its answer.
    Call(Box<Call>, Option<Change>),
    /// A request that another gateway of the cluster has to perform. Only front ends that can pass it on get this decision.
    Elsewhere(Box<MovedRequest>),
}

/// Returns true if the request has to wait for servers before it can be decided.
pub(crate) fn is_early(session: &Session, frame: &Frame) -> bool {
    let is_early = |cell: Arc<ViewCell>| {
        let view = cell.view();
        let inner = inner_request(frame, &view);
        cell.is_early_for(inner.as_ref().unwrap_or(frame), &view)
    };
    session.view().is_some_and(is_early)
}

/// Decides the outcome of a request; a refusal is returned as an answer.
pub async fn decide(
    context: &Arc<CallContext>,
    parked: &Parked,
    requester: Requester<'_>,
    frame: Frame,
) -> Decision {
    let (era, id) = (requester.caller.era(), frame.id().cloned());
    let decided = decide_or_refuse(context, parked, requester, frame).await;
    decided.unwrap_or_else(|refused| {
        let (status, answer) = refused.answer(era, id.as_ref());
        Decision::Done(status, answer)
    })
}

/// Decides the outcome of a request.
///
/// # Errors
/// Returns the fault to answer with, and the record to complete.
pub(crate) async fn decide_or_refuse(
    context: &Arc<CallContext>,
    waiting: &Parked,
    mut requester: Requester<'_>,
    mut frame: Frame,
) -> Result<Decision, Refused> {
    let era = requester.caller.era();
    let Some((cell, view, inner)) = what_it_sees(context, &requester.caller, &frame).await? else {
        return Ok(Decision::Cancelled);
    };
    let outer = inner.as_ref().filter(|_| requester.moves()).map(|_| frame.clone());
    if let Some(inner) = inner {
        // The headers repeat parts of the call of `call_tool`, and have been checked against that call.
        (frame, requester.headers) = (inner, None);
    }
    let (caller, identity) = (&requester.caller, requester.identity);
    if !requester.whole
        && let Some(rest) = remainders::read(context, (identity, caller.identity()), (&cell, &view), &frame)?
    {
        return Ok(Decision::Done(200, rest));
    }
    let info = &context.egress.snapshot().profiles[cell.profile].server_info;
    let ids = TaskIds::new(context.sealer(), caller.owner(), era);
    let dispatched = dispatch(&frame, &view, info, ids).map_err(|fault| {
        let fault = context.pointing(fault, caller, identity);
        let record = Record::refusal(context, caller.identity(), cell.profile, &frame, &fault);
        Refused { fault, record }
    });
    match dispatched? {
        Dispatch::Local(result) => Ok(Decision::Done(200, result_response(request_id(&frame)?, &result))),
        Dispatch::Listed(_) if is_gateway(caller, &frame) => {
            Ok(Box::pin(listed_for_gateway(context, (&cell, &view), caller, &frame)).await?)
        }
        Dispatch::Listed(result) => Ok(listed(context, (&cell, &view), &frame, result)?),
        Dispatch::Own(result) => Ok(own(context, &cell, caller, &frame, &result)?),
        Dispatch::SetLevel(level) => {
            Box::pin(set_level(context, caller, level, &frame)).await?;
            Ok(Decision::Done(200, result_response(request_id(&frame)?, b"{}")))
        }
        Dispatch::Listen => match caller {
            Caller::Session(_) => Err(Fault::unknown_method(&frame.method(), "needs no session").into()),
            Caller::Stateless(..) => Ok(Decision::Listen(cell, frame)),
        },
        Dispatch::Kept(method, route) => kept(context, caller, (&cell, info), (method, route), &frame).await,
        Dispatch::Forward(route) => {
            let server = view.upstream_era(route.upstream).unwrap_or(era);
            let slot = CacheSlot::of(context, requester.slot_owner(), (&cell, server), (&route, &frame));
            let forwarded = Forwarded { route, frame, server, slot };
            if let Some(kept) = from_cache(context, &requester, (&cell, info), &forwarded)? {
                return Ok(Decision::Done(200, kept));
            }
            if requester.moves() || forwarded.may_be_retry(&requester.caller) {
                return begun_before(context, waiting, requester, (&view, info), (forwarded, outer)).await;
            }
            forward(context, requester, (&view, info), forwarded)
        }
    }
}

/// Handles a request whose call, or whose server's process, may exist already: its call may be parked here or at another gateway of
/// the cluster, and another gateway may have the process. `outer` is the request as the client sent it, if it differs.
async fn begun_before(
    context: &Arc<CallContext>,
    waiting: &Parked,
    requester: Requester<'_>,
    (view, info): (&View, &str),
    (forwarded, outer): (Forwarded<'_>, Option<Frame>),
) -> Result<Decision, Refused> {
    let (caller, frame) = (&requester.caller, &forwarded.frame);
    let upstream = context.view.state.upstreams.get(forwarded.route.upstream);
    let moved = |to| {
        let frame = outer.unwrap_or_else(|| frame.clone());
        Ok(Decision::Elsewhere(Box::new(MovedRequest { frame, to })))
    };
    if forwarded.may_be_retry(caller) {
        let retry = (frame, caller.era(), requester.moves());
        match Box::pin(waiting.resumed(context, requester.identity, retry, upstream.name())).await? {
            Resumed::No => {}
            Resumed::Call(call) => return Ok(Decision::Call(call, None)),
            Resumed::Elsewhere(to) => return moved(to),
            Resumed::Orphan(call) => {
                let continued = adopted::continued(context, requester, (info, forwarded), *call);
                return Ok(Decision::Call(Box::pin(continued).await?, None));
            }
        }
    }
    if requester.moves()
        && let Some((cluster, owner)) = elsewhere::owned(context, caller, &upstream)
        && let Some(to) = Box::pin(cluster.home(owner)).await
    {
        return moved(to);
    }
    forward(context, requester, (view, info), forwarded)
}

/// Returns the answer to a request from the cache, if there is one.
fn from_cache(
    context: &Arc<CallContext>,
    requester: &Requester<'_>,
    (cell, info): (&ViewCell, &str),
    forwarded: &Forwarded<'_>,
) -> Result<Option<Bytes>, Refused> {
    let Forwarded { route, frame, slot, .. } = forwarded;
    let (Some(slot), Some(tool)) = (slot, route.tool) else { return Ok(None) };
    cached::answer(context, requester.cached_call(), (cell, info), (slot, tool), (route, frame))
}

/// Begins the call that forwards a request to its server. This function is not `async`, because the route would be copied
/// into its future as well.
fn forward(
    context: &Arc<CallContext>,
    requester: Requester<'_>,
    (view, info): (&View, &str),
    forwarded: Forwarded<'_>,
) -> Result<Decision, Refused> {
    match &requester.caller {
        Caller::Session(_) => in_session(context, requester, view, info, forwarded),
        Caller::Stateless(..) => Ok(Decision::Call(stateless(context, requester, info, forwarded)?, None)),
    }
}

pub(super) fn request_id(frame: &Frame) -> Result<&Id, Fault> {
    frame.id().ok_or_else(|| Fault::gateway("the request has no id"))
}

/// Returns the caller's view, extended by the servers that the request may concern. If the request calls
/// `call_tool`, also returns the inner call.
async fn what_it_sees(
    context: &Arc<CallContext>,
    caller: &Caller,
    frame: &Frame,
) -> Result<Option<(Arc<ViewCell>, Arc<View>, Option<Frame>)>, Fault> {
    let (mut cell, mut view) = match caller {
        Caller::Stateless(cell, _) => (cell.clone(), cell.view()),
        Caller::Session(session) => current_view(session)?,
    };
    let inner = inner_request(frame, &view);
    let frame = inner.as_ref().unwrap_or(frame);
    let is_early = cell.is_early_for(frame, &view);
    match caller {
        Caller::Stateless(..) if is_early => {
            Box::pin(cell.complete(&context.view, frame)).await;
            view = cell.view();
        }
        Caller::Stateless(..) => {}
        Caller::Session(session) => {
            if is_early {
                if Box::pin(completed_or_cancelled(context, session, frame)).await.is_none() {
                    return Ok(None);
                }
                (cell, view) = current_view(session)?;
            }
            ask_again(context, &cell, &view);
        }
    }
    Ok(Some((cell, view, inner)))
}

/// Waits until a session's view contains the servers that a request may concern; returns `None` if the client
/// cancels the request. Until the server of the request is known, the client has no call to cancel, so this
/// function itself waits for the cancellation.
async fn completed_or_cancelled(context: &CallContext, session: &Arc<Session>, frame: &Frame) -> Option<()> {
    let mut held = frame.id().and_then(|id| session.requests.hold(id.clone()));
    let cancelled = held.as_mut().and_then(HeldRequest::cancelled);
    let completed = session.complete_view(&context.view, frame);
    let Some(cancelled) = cancelled else {
        completed.await;
        return Some(());
    };
    tokio::select! {
        () = completed => Some(()),
        _ = cancelled => None,
    }
}

/// Returns a session's current view.
fn current_view(session: &Session) -> Result<(Arc<ViewCell>, Arc<View>), Fault> {
    let cell = session.view().ok_or_else(|| Fault::gateway("the session has no view"))?;
    let view = cell.view();
    Ok((cell, view))
}

/// Fetches the lists of unavailable servers again, because the servers may be available again.
fn ask_again(context: &Arc<CallContext>, cell: &ViewCell, view: &View) {
    if !view.is_served() || view.upstreams().iter().any(|u| u.catalogue.is_err()) {
        cell.fetch_due(&context.view);
    }
}

/// Handles a request about a task whose outcome or link the gateway keeps.
async fn kept(
    context: &Arc<CallContext>,
    caller: &Caller,
    (cell, server_info): (&ViewCell, &str),
    (method, route): (TaskMethod, TaskRoute),
    frame: &Frame,
) -> Result<Decision, Refused> {
    let (status, text) = match caller {
        Caller::Session(_) => {
            let shown = frame.string(route.rename.0).unwrap_or_default();
            let result = tasks::held(context, method, &route, &shown)?;
            (200, result_response(request_id(frame)?, &result))
        }
        Caller::Stateless(_, identity) => {
            let (era, profile) = (caller.era(), cell.profile);
            let asked = tasks::TaskRequest { frame, method, route, era, server_info, identity, profile };
            Box::pin(tasks::serve(context, asked)).await?
        }
    };
    Ok(Decision::Done(status, text))
}

/// Handles a request in a session, if the request has to be sent to a server.
fn in_session(
    context: &Arc<CallContext>,
    requester: Requester<'_>,
    view: &View,
    info: &str,
    forwarded: Forwarded<'_>,
) -> Result<Decision, Refused> {
    let Caller::Session(session) = &requester.caller else {
        return Err(Fault::gateway("the request has no session").into());
    };
    let session = session.clone();
    let Forwarded { route, frame, .. } = &forwarded;
    let change = match subscription(frame, route) {
        None => None,
        Some(asked) => match changing(context, &session, view, route.upstream, asked)? {
            ChangeOutcome::Ask(change) => Some(change),
            ChangeOutcome::Done => {
                return Ok(Decision::Done(200, result_response(request_id(frame)?, b"{}")));
            }
            ChangeOutcome::Wait(subscribing) => {
                return Ok(Decision::Wait(request_id(frame)?.clone(), subscribing));
            }
        },
    };
    let request = request(&requester, forwarded, info);
    match Call::begin(context, requester.caller, request) {
        Ok(call) => Ok(Decision::Call(call, change)),
        Err(refused) => {
            session.settle(&context.session, change.as_ref(), false);
            Err(refused)
        }
    }
}

/// Returns the change that a request makes to a session's subscriptions at this server.
fn changing(
    context: &Arc<CallContext>,
    session: &Arc<Session>,
    view: &View,
    server: UpstreamId,
    asked: Subscription,
) -> Result<ChangeOutcome, Fault> {
    let era = view.upstream_era(server).unwrap_or(session.era());
    let declares = view.upstream_declares(server, "resources", Some("subscribe"));
    let upstream = context.view.state.upstream_of(server, &session.identity);
    session.change(&context.session, asked, (&upstream, era, declares))
}

fn subscription(frame: &Frame, route: &Route<'_>) -> Option<Subscription> {
    let on = match Method::from_name(&route.method) {
        Some(Method::Subscribe) => true,
        Some(Method::Unsubscribe) => false,
        _ => return None,
    };
    let uri = frame.param("uri").ok().flatten().and_then(|span| frame.string(span))?.into_owned();
    let own = route.rename.as_ref().and_then(|(_, own)| unquote(&own[1..own.len() - 1]));
    let own = own.map_or_else(|| uri.clone(), Cow::into_owned);
    Some(Subscription { uri, own, on })
}
