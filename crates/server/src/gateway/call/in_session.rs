//! What a message in a session comes to, whatever the transport that brought it.

use std::sync::Arc;

use bytes::Bytes;
use engine::Fault;
use engine::catalogue::{UpstreamId, View};
use engine::exchange::{Dispatch, dispatch};
use engine::session::Asked;
use engine::tasks::{TaskIds, inbound_edits};
use proto::bridge::shape;
use proto::era::Era;
use proto::json::Splice;
use proto::mcp::{Method, Notice};
use proto::rpc::{Frame, FrameLimits, Id, Kind, result_pieces, result_response};

use crate::gateway::admission::identity::Identity;
use crate::gateway::call::CallContext;
use crate::gateway::call::call::Call;
use crate::gateway::call::caller::{Caller, Request as CallRequest};
use crate::gateway::call::record::{Record, Refused};
use crate::gateway::call::tasks;
use crate::gateway::session::asker::Asker;
use crate::gateway::session::session::Session;
use crate::gateway::session::subscriptions::{Change, Changing, Subscribing, Subscription};
use crate::gateway::view::view_cell::ViewCell;
use upstream::link::Inbound;

/// Passes a client's answer to whoever asked.
pub(crate) fn response(context: &Arc<CallContext>, session: &Arc<Session>, frame: &Frame) {
    let asked = session.asks.lock().answer(frame);
    let Some(asked) = asked else {
        tracing::debug!("an answer to no open question");
        return;
    };
    match asked.link {
        Asker::Call(_, index, call) => {
            if let Ok(frame) = Frame::parse(asked.text, context.egress.frame_limits()) {
                // A call that has ended wants no reply.
                let _ = call.try_send(Inbound::Reply(index, frame));
            }
        }
        Asker::Link(link) => {
            let ids = TaskIds::new(context.sealer(), session.owner(), session.kind.era);
            let text = named(asked.text, ids, link.server.name());
            let text = answered(session.kind.era, link.era, &asked.method, text);
            link.say(&context.egress, text);
        }
    }
}

/// A client's answer with the server's own id of the task that it says to belong to.
fn named(text: Bytes, ids: TaskIds<'_>, server: &str) -> Bytes {
    let Ok(frame) = Frame::parse(text.clone(), FrameLimits::default()) else { return text };
    let edits = inbound_edits(&frame, ids, server);
    let mut splice = Splice::new(&text);
    for (span, name) in &edits {
        splice.replace(*span, name);
    }
    splice.finish()
}

/// A client's answer in the words of the server that asked.
fn answered(client: &'static Era, server: &'static Era, method: &str, text: Bytes) -> Bytes {
    if client == server {
        return text;
    }
    let Ok(frame) = Frame::parse(text.clone(), FrameLimits::default()) else { return text };
    let Some(span) = frame.payload().filter(|_| frame.kind() == Kind::Response) else { return text };
    let result = shape::answer(method, &span.share(&text), client, server);
    let mut splice = Splice::new(&text);
    splice.replace(span, &result);
    splice.finish()
}

/// Takes a client's notification.
pub(crate) fn notification(context: &Arc<CallContext>, session: &Arc<Session>, frame: Frame) {
    match Notice::from_name(&frame.method()) {
        Some(Notice::Initialized) => {}
        Some(Notice::Cancelled) => session.requests.cancel(frame),
        Some(Notice::Progress) => {
            let asked = session.asks.lock().progress(&frame);
            if let Some(Asked { link: Asker::Link(link), text, .. }) = asked {
                link.say(&context.egress, text);
            }
        }
        known => session.broadcast(&context.egress, &frame, known.is_none()),
    }
}

/// From how many bytes on a ready result is sent in pieces rather than copied.
pub(crate) const LONG: usize = 16 << 10;

/// What a request in a session comes to, before anything is sent.
pub(crate) enum Outcome {
    /// The answer is at hand: status and message.
    Done(u16, Bytes),
    /// The answer is at hand, and long: its pieces.
    Long([Bytes; 3]),
    /// The answer to the request with this id depends on what an upstream says to a subscription.
    Wait(Id, Subscribing),
    /// An upstream has to be asked.
    Call(Box<Call>, Option<Change>),
}

/// Returns true if servers are waited for before it is decided what a request comes to.
pub(crate) fn is_early(session: &Session, frame: &Frame) -> bool {
    session.view().is_some_and(|cell| cell.is_early_for(frame, &cell.view()))
}

/// Decides what a request in a session comes to.
pub(crate) async fn decide(
    context: &Arc<CallContext>,
    session: &Arc<Session>,
    identity: &Identity,
    frame: Frame,
) -> Outcome {
    let era = session.kind.era;
    let refuse =
        |fault: Fault, frame: &Frame| Outcome::Done(fault.http_status(era), fault.response(frame.id()));
    if is_early(session, &frame) {
        Box::pin(session.complete_view(&context.view, &frame)).await;
    }
    let (Some(id), Some(cell)) = (frame.id().cloned(), session.view()) else {
        return refuse(Fault::gateway("the session has no view"), &frame);
    };
    let view = cell.view();
    let info = &context.egress.snapshot.profiles[session.profile].server_info;
    ask_again(context, session, &cell, &view);
    let ids = TaskIds::new(context.sealer(), session.owner(), era);
    let pointed = |fault| context.pointing(fault, &session.kind, identity);
    match dispatch(&frame, &view, info, ids).map_err(pointed) {
        Err(fault) => {
            drop(Record::refusal(context, &session.identity, session.profile, &frame, &fault));
            refuse(fault, &frame)
        }
        Ok(Dispatch::Local(result)) if result.len() > LONG => Outcome::Long(result_pieces(&id, result)),
        Ok(Dispatch::Local(result)) => Outcome::Done(200, result_response(&id, &result)),
        Ok(Dispatch::SetLevel(level)) => {
            Box::pin(session.set_level(&context.egress, level)).await;
            Outcome::Done(200, result_response(&id, b"{}"))
        }
        Ok(Dispatch::Listen) => refuse(Fault::unknown_method(&frame.method(), "needs no session"), &frame),
        Ok(Dispatch::Kept(method, route)) => {
            match tasks::held(context, method, &route, &frame.string(route.rename.0).unwrap_or_default()) {
                Ok(result) => Outcome::Done(200, result_response(&id, &result)),
                Err(fault) => refuse(fault, &frame),
            }
        }
        Ok(Dispatch::Forward(route)) => {
            let server = view.upstream_era(route.upstream).unwrap_or(era);
            let subscribes = |asked| changing(context, session, &view, route.upstream, asked);
            let change = match subscription(&frame).map(subscribes) {
                None => None,
                Some(Ok(Changing::Ask(change))) => Some(change),
                Some(Ok(Changing::Done)) => return Outcome::Done(200, result_response(&id, b"{}")),
                Some(Ok(Changing::Wait(subscribing))) => return Outcome::Wait(id, subscribing),
                Some(Err(fault)) => return refuse(fault, &frame),
            };
            let carried = identity.carried.clone();
            let request = CallRequest::in_session(frame, (route, server), info, carried);
            match Call::begin(context, Caller::Session(session.clone()), request) {
                Ok(begun) => Outcome::Call(begun, change),
                Err(Refused { fault, .. }) => {
                    session.settle(&context.session, change.as_ref(), false);
                    Outcome::Done(fault.http_status(era), fault.response(Some(&id)))
                }
            }
        }
    }
}

/// What becomes of a change of what a session listens to, at this server.
fn changing(
    context: &Arc<CallContext>,
    session: &Arc<Session>,
    view: &View,
    server: UpstreamId,
    asked: Subscription,
) -> Result<Changing, Fault> {
    let era = view.upstream_era(server).unwrap_or(session.kind.era);
    let declares = view.upstream_declares(server, "resources", Some("subscribe"));
    let upstream = context.view.state.upstream_of(server, &session.identity);
    session.change(&context.session, asked, (&upstream, era, declares))
}

/// Servers that were not there may have come back.
fn ask_again(context: &Arc<CallContext>, session: &Arc<Session>, cell: &ViewCell, view: &View) {
    if !view.is_served() || view.upstreams().iter().any(|u| u.offer.is_err()) {
        cell.retry_absent(&context.view, |upstream| session.list_link(&context.egress.snapshot, upstream));
    }
}

fn subscription(frame: &Frame) -> Option<Subscription> {
    let on = match Method::from_name(&frame.method()) {
        Some(Method::Subscribe) => true,
        Some(Method::Unsubscribe) => false,
        _ => return None,
    };
    let uri = frame.param("uri").ok().flatten().and_then(|span| frame.string(span))?.into_owned();
    Some(Subscription { uri, on })
}
