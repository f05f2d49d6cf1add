//! POST: one message, or a batch of messages in the one version that has batches.

use std::sync::Arc;

use bytes::Bytes;
use cluster::peers::Peer;
use engine::Fault;
use engine::rate::Verdict;
use engine::session::asking_process;
use http::header::HeaderValue;
use http::{HeaderMap, Method, Response, StatusCode};
use proto::era::{EraEvidence, Lifecycle, by_version, detect};
use proto::mcp::Notice;
use proto::rpc::{Frame, FrameKind, Message};
use tokio::time::Instant;
use transport::net::Body;

use super::body::read;
use super::drive::drive;
use super::entry::AdmittedRequest;
use super::first_word::{CallStep, FirstWord, first_word};
use super::replicas::movable::MovableRequest;
use super::replicas::passing_on::{self, OutgoingRequest};
use super::{answer, batch, get, header_names, limited, media, seen, spare, stateless};
use crate::call::call::Running;
use crate::call::decide::{Decision, decide};
use crate::call::in_session::{notification, response};
use crate::call::requester::Requester;
use crate::process::Shard;
use crate::session::ending;
use crate::session::handshake::{self, AdmittedSession, SessionOpening};
use crate::session::id::SessionClaims;
use crate::session::kept::now_ms;
use crate::session::seal;
use crate::session::session::{ClientChannel, Session};
use crate::session::streams::{SILENCE, Streams};
use crate::session::subscriptions::Change;
use crate::telemetry::RequestArrival;
use crate::telemetry::trace::TraceContext;
use transport::net::Arrived;
use transport::net::fields::{field, value};
use upstream::NO_RANDOM;

/// Handles a POST.
pub(super) async fn post(
    shard: &Arc<Shard>,
    entry: &mut AdmittedRequest,
    mut request: Arrived,
) -> Response<Body> {
    if let Err(refusal) = media::check_post(request.headers()) {
        return *refusal;
    }
    let response = match read(shard, request.body_mut()).await {
        Ok(text) => {
            entry.arrival = shard.call.state.observes().then(|| arrival(shard, request.headers()));
            take(shard, entry, request.headers(), text, RateCounted::No).await
        }
        Err(refusal) => *refusal,
    };
    spare::give(std::mem::take(request.headers_mut()));
    response
}

/// Records the arrival of a request, with the span that its headers name if requests are traced.
fn arrival(shard: &Shard, headers: &HeaderMap) -> RequestArrival {
    let outer = shard.call.state.tracer.as_ref().and_then(|_| field(headers, &header_names::TRACEPARENT));
    let outer = outer.and_then(|value| TraceContext::parse(value.as_bytes()));
    RequestArrival { at: std::time::Instant::now(), outer }
}

/// The state of counting a message's requests against the rate limits.
pub(super) enum RateCounted {
    No,
    /// The requests have been counted, with the verdict of the limits that apply.
    Yes(Option<Verdict>),
}

/// Processes a message that has been read.
pub(super) async fn take(
    shard: &Arc<Shard>,
    entry: &AdmittedRequest,
    headers: &HeaderMap,
    text: Bytes,
    counted: RateCounted,
) -> Response<Body> {
    let message = match Message::parse(text, shard.gateway.frame_limits()) {
        Ok(message) => message,
        Err(e) => return answer::message(400, Fault::from(&e).response(e.id.as_ref())),
    };
    let version = match field(headers, &header_names::PROTOCOL_VERSION).map(HeaderValue::to_str) {
        None => None,
        Some(Ok(version)) => Some(version.trim()),
        Some(Err(_)) => {
            let id = if let Message::Single(frame) = &message { frame.id() } else { None };
            let message = "the MCP-Protocol-Version header is not readable text";
            return answer::refusal_of(StatusCode::BAD_REQUEST, message, id);
        }
    };
    seen::message(shard, entry.profile, &message, version);
    let verdict = match counted {
        RateCounted::Yes(verdict) => verdict,
        RateCounted::No => match limited::count_all(shard, entry, headers, Some(&message)).await {
            Ok(verdict) => verdict,
            Err(refusal) => return *refusal,
        },
    };
    let mut response = match message {
        Message::Single(frame) => single(shard, entry, headers, version, frame).await,
        Message::Batch(batch) => match version.and_then(by_version) {
            Some(era) if era.lifecycle == Lifecycle::Stateless => batch::no_batches(era),
            _ => Box::pin(batch::batch(shard, entry, headers, version, batch)).await,
        },
    };
    if let Some(verdict) = verdict {
        limited::set_rate_headers(response.headers_mut(), &verdict);
    }
    response
}

async fn single(
    shard: &Arc<Shard>,
    entry: &AdmittedRequest,
    headers: &HeaderMap,
    version: Option<&str>,
    frame: Frame,
) -> Response<Body> {
    match detect(&frame, version) {
        Err(fault) => {
            let fault = Fault::from(fault);
            answer::message(fault.status.unwrap_or(400), fault.response(frame.id()))
        }
        Ok(EraEvidence::Stateless) => stateless::answer(shard, entry, headers, frame).await,
        // Boxed, like every rare branch: otherwise every call would reserve space for this future.
        Ok(EraEvidence::Handshake) => Box::pin(handshake(shard, entry, frame)).await,
        Ok(EraEvidence::Session) => {
            let id = frame.id();
            let known = get::check_version(version, id).and_then(|()| get::known(shard, entry, headers, id));
            let found = match known {
                Ok(Some(session)) => Ok(session),
                // Boxed for the same reason.
                Ok(None) => Box::pin(get::restored(shard, entry, headers, id)).await,
                Err(refusal) => Err(refusal),
            };
            match found {
                Ok(session) => in_session(shard, entry, headers, &session, frame).await,
                Err(refusal) => *refusal,
            }
        }
    }
}

async fn handshake(shard: &Arc<Shard>, entry: &AdmittedRequest, frame: Frame) -> Response<Body> {
    let AdmittedRequest { profile, identity, .. } = entry.clone();
    let channel = ClientChannel::Http(Streams::new(
        &shard.gateway.snapshot.limits,
        shard.session.state.sealer.short_number(),
    ));
    let (own, place) = (&entry.identity, entry.profile);
    let admit = |kind| {
        let permit = ending::permit(&shard.session, &entry.identity).map_err(|full| {
            let message = full.describe("sessions", "limits.sessions");
            Fault::gateway(message).with_status(503)
        })?;
        let no_random = |_| Fault::gateway(NO_RANDOM).with_status(500);
        let mut key = [0; 16];
        seal::fill(&mut key).map_err(no_random)?;
        let issued = u64::try_from(now_ms() / 1000).unwrap_or_default();
        let claims = SessionClaims::new(key, issued, kind, (own, place, &shard.gateway.snapshot));
        let id = shard.session.state.sealer.session_id(&claims).map_err(no_random)?;
        Ok(AdmittedSession { id, key: Some(key), permit: Some(permit) })
    };
    let opening = SessionOpening { profile, identity, channel };
    match handshake::handshake(&shard.session, &frame, opening, admit).await {
        Err(fault) => answer::message(fault.status.unwrap_or(400), fault.response(frame.id())),
        Ok((session, text)) => {
            let mut response = answer::message(200, text);
            if let Some(mut value) = value(&session.id) {
                value.set_sensitive(true);
                response.headers_mut().insert(&header_names::SESSION_ID, value);
            }
            response
        }
    }
}

async fn in_session(
    shard: &Arc<Shard>,
    entry: &AdmittedRequest,
    headers: &HeaderMap,
    session: &Arc<Session>,
    frame: Frame,
) -> Response<Body> {
    // The notification that ends the introduction does not count as a use of the session.
    if frame.kind() != FrameKind::Notification || frame.method() != Notice::Initialized.name() {
        session.touch();
    }
    if frame.kind() != FrameKind::Request
        && let Some((movable, peer)) = asked_elsewhere(shard, entry, &frame).await
    {
        return Box::pin(move_to(shard, movable, headers, &frame, &peer)).await;
    }
    match frame.kind() {
        FrameKind::Request => request(shard, entry, headers, session, frame).await,
        FrameKind::Notification => {
            notification(&shard.call, session, frame);
            answer::empty(StatusCode::ACCEPTED)
        }
        FrameKind::Response | FrameKind::Error => {
            response(&shard.call, session, &frame);
            answer::empty(StatusCode::ACCEPTED)
        }
    }
}

/// Returns the other gateway of the cluster that sent the question to which a message belongs. The number of the gateway is a part of
/// the question's id.
async fn asked_elsewhere<'e>(
    shard: &Shard,
    entry: &'e AdmittedRequest,
    message: &Frame,
) -> Option<(&'e MovableRequest, Peer)> {
    let movable = entry.movable.as_deref()?;
    let number = asking_process(message)?;
    // Boxed, because a call has the same future.
    Some((movable, Box::pin(passing_on::numbered(shard, number)).await?))
}

/// Passes a message on to another gateway of the cluster.
pub(super) async fn move_to(
    shard: &Shard,
    movable: &MovableRequest,
    headers: &HeaderMap,
    frame: &Frame,
    to: &Peer,
) -> Response<Body> {
    let (id, body) = (frame.id(), frame.text().clone());
    let moved = OutgoingRequest { method: Method::POST, headers, body, id };
    passing_on::pass_on(shard, movable, moved, to).await
}

async fn request(
    shard: &Arc<Shard>,
    entry: &AdmittedRequest,
    headers: &HeaderMap,
    session: &Arc<Session>,
    frame: Frame,
) -> Response<Body> {
    let id = frame.id().cloned();
    let requester = Requester::in_session(session, &entry.identity).arrived(entry.arrival);
    let requester = requester.passing_on(entry.passing_on());
    let parked = &shard.gateway.process.parked;
    let (mut call, change) = match decide(&shard.call, parked, requester, frame).await {
        Decision::Done(status, text) => return answer::message(status, text),
        Decision::Long(pieces) => return answer::passing(Body::rope(pieces)),
        Decision::Wait(id, subscribing) => {
            let (status, text) = Box::pin(subscribing.answer(&id)).await;
            return answer::message(status, text);
        }
        Decision::Cancelled => return answer::empty(StatusCode::ACCEPTED),
        Decision::Listen(..) => return answer::not_allowed(),
        Decision::Elsewhere(moved) => {
            let Some(movable) = &entry.movable else { return answer::not_allowed() };
            return Box::pin(move_to(shard, movable, headers, &moved.frame, &moved.to)).await;
        }
        Decision::Call(call, change) => (call, change),
    };
    let silent = Instant::now() + SILENCE;
    call.attend_until(silent.into_std());
    let mut attended = AttendedCall { shard, session, running: Some(call.run()), change };
    match first_word(attended.next(), silent, parked).await {
        FirstWord::Whole(response, ok) => {
            session.settle(&shard.session, attended.change.as_ref(), ok);
            return *response;
        }
        FirstWord::Stream(None) => {}
        FirstWord::Stream(Some(first)) => attended.running = Some(Box::pin(std::future::ready(first))),
    }
    let Some((running, change)) = attended.leave() else { return answer::empty(StatusCode::ACCEPTED) };
    let ClientChannel::Http(streams) = &session.channel else { return answer::not_allowed() };
    let (stream, body) = match streams.open(session.era().primes_streams, id.as_slice()) {
        Ok(opened) => opened,
        Err(fault) => {
            return answer::refusal_of(StatusCode::TOO_MANY_REQUESTS, &fault.to_string(), id.as_ref());
        }
    };
    // A client that loses its connection has not cancelled its request: the call continues, and its answer is kept
    // until the client asks for it.
    let task = drive(shard.clone(), session.clone(), running, stream, change);
    let session = session.clone();
    transport::task::spawn(async move {
        task.await;
        if let ClientChannel::Http(streams) = &session.channel {
            streams.finish(stream);
        }
    });
    answer::events(body)
}

/// A call whose client waits for the first message. Closing the connection in the meantime does not cancel the
/// call; the call continues without the client.
struct AttendedCall<'a> {
    shard: &'a Arc<Shard>,
    session: &'a Arc<Session>,
    running: Option<Running>,
    change: Option<Change>,
}

impl AttendedCall<'_> {
    async fn next(&mut self) -> CallStep {
        let first = match &mut self.running {
            Some(running) => running.await,
            None => std::future::pending().await,
        };
        self.running = None;
        first
    }

    /// Returns the running call, so other code can continue to run it.
    fn leave(mut self) -> Option<(Running, Option<Change>)> {
        Some((self.running.take()?, self.change.take()))
    }
}

impl Drop for AttendedCall<'_> {
    fn drop(&mut self) {
        let Some(running) = self.running.take() else { return };
        let (shard, session, change) = (self.shard.clone(), self.session.clone(), self.change.take());
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(transport::task::boxed(drive(shard, session, running, NOBODY, change)));
        }
    }
}

/// The number of a stream without a reader: everything sent on it is lost.
const NOBODY: u64 = u64::MAX;
