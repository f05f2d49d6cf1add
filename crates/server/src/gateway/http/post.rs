//! POST: one message, or a batch of them in the one era that has batches.

use std::sync::Arc;

use bytes::Bytes;
use engine::Fault;
use engine::rate::Verdict;
use http::header::HeaderValue;
use http::{HeaderMap, Response, StatusCode};
use proto::codec::headers as names;
use proto::era::{Lifecycle, Spoken, by_version, detect, initialize_result, negotiate};
use proto::mcp::Notice;
use proto::rpc::{Frame, Kind as FrameKind, Message, code};
use tokio::time::{Instant, sleep_until};
use transport::net::Body;

use super::body::read;
use super::drive::drive;
use super::entry::{Arrived, Entry};
use super::{answer, batch, get, limited, media, spare, stateless};
use crate::gateway::Shard;
use crate::gateway::call::call::{Call, Progress, Running};
use crate::gateway::call::in_session::{Outcome, decide, notification, response};
use crate::gateway::session::ending;
use crate::gateway::session::newborn::introduction;
use crate::gateway::session::seal;
use crate::gateway::session::session::{Birth, Face, Session};
use crate::gateway::session::streams::{SILENCE, Streams};
use crate::gateway::session::subscriptions::Change;

/// Takes a message.
pub(super) async fn post(shard: &Shard, entry: &Entry, mut request: Arrived) -> Response<Body> {
    if let Err(refusal) = media::check_post(request.headers()) {
        return *refusal;
    }
    let response = match read(shard, request.body_mut()).await {
        Ok(text) => take(shard, entry, request.headers(), text, Counted::No).await,
        Err(refusal) => *refusal,
    };
    spare::give(std::mem::take(request.headers_mut()));
    response
}

/// Says whether the requests of a message are still to be counted.
pub(super) enum Counted {
    No,
    /// They were, with this verdict of the limits that speak of them.
    Yes(Option<Verdict>),
}

/// Takes a message that was read.
pub(super) async fn take(
    shard: &Shard,
    entry: &Entry,
    headers: &HeaderMap,
    text: Bytes,
    counted: Counted,
) -> Response<Body> {
    let message = match Message::parse(text, shard.gateway.frame_limits()) {
        Ok(message) => message,
        Err(e) => return answer::message(400, Fault::from(&e).response(e.id.as_ref())),
    };
    let version = match headers.get(names::PROTOCOL_VERSION).map(HeaderValue::to_str) {
        None => None,
        Some(Ok(version)) => Some(version.trim()),
        Some(Err(_)) => {
            let id = if let Message::Single(frame) = &message { frame.id() } else { None };
            let message = "MCP-Protocol-Version is not readable text";
            return answer::refusal_of(StatusCode::BAD_REQUEST, message, id);
        }
    };
    let verdict = match counted {
        Counted::Yes(verdict) => verdict,
        Counted::No => match limited::count_all(shard, entry, headers, Some(&message)).await {
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
        limited::tell(response.headers_mut(), &verdict);
    }
    response
}

async fn single(
    shard: &Shard,
    entry: &Entry,
    headers: &HeaderMap,
    version: Option<&str>,
    frame: Frame,
) -> Response<Body> {
    match detect(&frame, version) {
        Err(fault) => {
            let fault = Fault::from(fault);
            answer::message(fault.status.unwrap_or(400), fault.response(frame.id()))
        }
        Ok(Spoken::Stateless) => stateless::answer(shard, entry, headers, frame).await,
        // Boxed as every rare way is: the room for it would else be moved about with every call.
        Ok(Spoken::Handshake) => Box::pin(handshake(shard, entry, frame)).await,
        Ok(Spoken::Session) => {
            let id = frame.id();
            let found = get::check_version(version, id).and_then(|()| get::find(shard, entry, headers, id));
            match found {
                Ok(session) => in_session(shard, entry, &session, frame).await,
                Err(refusal) => *refusal,
            }
        }
    }
}

async fn handshake(shard: &Shard, entry: &Entry, frame: Frame) -> Response<Body> {
    let refuse = |fault: &Fault| answer::message(fault.status.unwrap_or(400), fault.response(frame.id()));
    let Some(id) = frame.id() else {
        return refuse(&Fault::client(code::INVALID_REQUEST, "initialize must be a request, with an id"));
    };
    let hello = match introduction(&frame) {
        Ok(hello) => hello,
        Err(fault) => return refuse(&fault),
    };
    let gateway = &shard.gateway;
    let permit = match ending::permit(&shard.session, &entry.identity) {
        Ok(permit) => permit,
        Err(full) => {
            let message = full.describe("sessions", "limits.sessions");
            return refuse(&Fault::gateway(message).with_status(503));
        }
    };
    let Ok(session_id) = seal::random_id() else {
        return refuse(&Fault::gateway("the operating system gives no random numbers").with_status(500));
    };
    let (era, asked) = (negotiate(&hello.version), hello.version_json.clone());
    let face = Face::Http(Streams::new(&gateway.snapshot.limits));
    let Entry { profile, identity } = entry.clone();
    let birth = Birth { id: session_id.clone().into(), profile, identity, era, hello, face };
    let (newborn, view) = Session::introduce(&shard.session, birth).await;
    let info = &gateway.snapshot.profiles[profile].server_info;
    let text =
        initialize_result(id, newborn.kind.era, &asked, view.capabilities(), info, view.instructions());
    gateway.session.sessions.add(&newborn, Some(permit));
    newborn.keep();
    let mut response = answer::message(200, text);
    if let Ok(mut value) = HeaderValue::from_str(&session_id) {
        value.set_sensitive(true);
        response.headers_mut().insert(names::SESSION_ID, value);
    }
    response
}

async fn in_session(shard: &Shard, entry: &Entry, session: &Arc<Session>, frame: Frame) -> Response<Body> {
    // The last word of the introduction is no use of the session.
    if frame.kind() != FrameKind::Notification || frame.method() != Notice::Initialized.name() {
        session.touch();
    }
    match frame.kind() {
        FrameKind::Request => request(shard, entry, session, frame).await,
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

async fn request(shard: &Shard, entry: &Entry, session: &Arc<Session>, frame: Frame) -> Response<Body> {
    let id = frame.id().cloned();
    let (mut call, change) = match decide(&shard.call, session, &entry.identity, frame).await {
        Outcome::Done(status, text) => return answer::message(status, text),
        Outcome::Long(pieces) => return answer::passing(Body::rope(pieces)),
        Outcome::Wait(id, subscribing) => {
            let (status, text) = Box::pin(subscribing.answer(&id)).await;
            return answer::message(status, text);
        }
        Outcome::Call(call, change) => (call, change),
    };
    let silent = Instant::now() + SILENCE;
    call.attend_until(silent.into_std());
    let mut attended = Attended { shard, session, running: Some(call.run()), change };
    let first = tokio::select! {
        first = attended.next() => Some(first),
        () = sleep_until(silent) => None,
    };
    match first {
        None => {}
        Some((_, Progress::Answer(answered))) => {
            session.settle(&shard.session, attended.change.as_ref(), answered.ok);
            return answer::message(answered.status, answered.body);
        }
        Some((_, Progress::Pass(body))) => return answer::passing(body),
        Some((call, Progress::Park(ticket, asked))) => {
            let asked = call.park(&shard.gateway.parked, ticket, asked);
            return answer::message(asked.status, asked.body);
        }
        Some((_, Progress::End)) => return answer::empty(StatusCode::ACCEPTED),
        Some((call, progress)) => attended.running = Some(Box::pin(std::future::ready((call, progress)))),
    }
    let Some((running, change)) = attended.leave() else { return answer::empty(StatusCode::ACCEPTED) };
    let Face::Http(streams) = &session.face else { return answer::not_allowed() };
    let (stream, body) = match streams.open(session.kind.era.primes_streams) {
        Ok(opened) => opened,
        Err(fault) => {
            return answer::refusal_of(StatusCode::TOO_MANY_REQUESTS, &fault.to_string(), id.as_ref());
        }
    };
    // A client that loses its connection has not cancelled: the call goes on, and its answer waits to be asked for.
    let task = drive(shard.clone(), session.clone(), running, stream, change);
    let session = session.clone();
    tokio::spawn(async move {
        task.await;
        if let Face::Http(streams) = &session.face {
            streams.finish(stream);
        }
    });
    answer::events(body)
}

/// A call whose client waits for its first word. A client that hangs up meanwhile has not cancelled, so the call then goes
/// on alone.
struct Attended<'a> {
    shard: &'a Shard,
    session: &'a Arc<Session>,
    running: Option<Running>,
    change: Option<Change>,
}

impl Attended<'_> {
    async fn next(&mut self) -> (Box<Call>, Progress) {
        let first = match &mut self.running {
            Some(running) => running.await,
            None => std::future::pending().await,
        };
        self.running = None;
        first
    }

    /// The call, which somebody else attends to.
    fn leave(mut self) -> Option<(Running, Option<Change>)> {
        Some((self.running.take()?, self.change.take()))
    }
}

impl Drop for Attended<'_> {
    fn drop(&mut self) {
        let Some(running) = self.running.take() else { return };
        let (shard, session, change) = (self.shard.clone(), self.session.clone(), self.change.take());
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(drive(shard, session, running, NOBODY, change));
        }
    }
}

/// A stream that nobody has: what is sent on it is lost.
const NOBODY: u64 = u64::MAX;
