//! Requests that stand for themselves: no session, each says who speaks.

use std::time::Duration;

use bytes::Bytes;
use engine::Fault;
use engine::exchange::{Dispatch, Headers, dispatch};
use http::{HeaderMap, Response, StatusCode};
use proto::codec::headers as names;
use proto::codec::sse::KEEP_ALIVE;
use proto::codec::sse::encode_event;
use proto::era::{Envelope, Mirrored, read_envelope};
use proto::rpc::{Frame, Kind as FrameKind, code, result_response};
use transport::net::{Body, BodySender};

use super::answer;
use super::post::SILENCE;
use crate::gateway::call::{Call, Caller, Progress, Request as CallRequest, Running};
use crate::gateway::upstream::Kind;
use crate::gateway::views::ViewCell;
use crate::gateway::{Shard, listen};

/// How many events may wait for a client that reads slowly.
const BEHIND: usize = 64;

/// How often a stream without messages shows a sign of life.
const KEEP_ALIVE_EVERY: Duration = Duration::from_secs(15);

/// Answers a stateless message.
pub(super) async fn answer(shard: &Shard, profile: usize, headers: &HeaderMap, frame: Frame) -> Response<Body> {
    match frame.kind() {
        FrameKind::Request => {}
        // The core defines none over HTTP; what an extension sends has nobody to go to.
        FrameKind::Notification => return answer::empty(StatusCode::ACCEPTED),
        FrameKind::Response | FrameKind::Error => {
            let fault = Fault::client(code::INVALID_REQUEST, "clients of this protocol version send no responses");
            return answer::message(400, fault.response(frame.id()));
        }
    }
    let headers = RequestHeaders(headers);
    let mirrored = Mirrored {
        version: headers.get(names::PROTOCOL_VERSION),
        method: headers.get(names::METHOD),
        name: headers.get(names::NAME),
    };
    let envelope = match read_envelope(&frame, Some(mirrored)) {
        Ok(envelope) => envelope,
        Err(fault) => {
            let fault = Fault::from(fault);
            return answer::message(fault.status.unwrap_or(400), fault.response(frame.id()));
        }
    };
    let era = envelope.era;
    match decide(shard, profile, envelope, frame, Some(&headers)).await {
        Decision::Done(status, text) => answer::message(status, text),
        Decision::Listen(cell, frame) => match listen::open(shard, cell, &frame) {
            Ok(body) => answer::events(body),
            Err(fault) => answer::fault(&fault, frame.id(), era),
        },
        Decision::Call(call) => run(call).await,
    }
}

/// The headers of an HTTP request, as the engine looks at them.
struct RequestHeaders<'a>(&'a HeaderMap);

impl Headers for RequestHeaders<'_> {
    fn get(&self, name: &str) -> Option<&[u8]> {
        self.0.get(name).map(http::HeaderValue::as_bytes)
    }
}

/// What a stateless request comes to, before anything is sent.
pub(crate) enum Decision {
    /// The answer is at hand: status and message.
    Done(u16, Bytes),
    /// A stream of notices is to be opened.
    Listen(std::sync::Arc<ViewCell>, Frame),
    /// An upstream has to be asked.
    Call(Box<Call>),
}

/// Decides what a stateless request comes to.
pub(crate) async fn decide(
    shard: &Shard,
    profile: usize,
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
    if let Some(fault) = not_spoken(&view, &frame) {
        return refuse(&fault);
    }
    match dispatch(&frame, &view, info) {
        Err(fault) => refuse(&fault),
        Ok(Dispatch::Local(result)) => match &id {
            Some(id) => Decision::Done(200, result_response(id, &result)),
            None => refuse(&Fault::gateway("a request without an id")),
        },
        Ok(Dispatch::Listen) => Decision::Listen(cell, frame),
        Ok(Dispatch::SetLevel(_)) => refuse(&Fault::unknown_method(&frame.method(), "needs a session")),
        Ok(Dispatch::Forward(route)) => {
            let request = CallRequest { frame, route, headers: headers.map(|h| h as &dyn Headers), server_info: info };
            match Call::begin(shard, Caller::Stateless(kind), request) {
                Ok(call) => Decision::Call(Box::new(call)),
                Err(fault) => refuse(&fault),
            }
        }
    }
}

/// A profile of which no server speaks this era says so at once: a client that can speak another then does.
fn not_spoken(view: &engine::catalogue::View, frame: &Frame) -> Option<Fault> {
    if view.is_served() || view.upstreams().is_empty() || view.upstreams().iter().any(|u| {
        u.offer.as_ref().is_err_and(|absence| absence.retry)
    }) {
        return None;
    }
    let servers: Vec<String> = view
        .upstreams()
        .iter()
        .filter_map(|u| {
            let absence = u.offer.as_ref().err()?;
            let speaks = absence.speaks.map_or("a protocol version with a handshake", |era| era.version);
            Some(format!("{} speaks {speaks}", u.name))
        })
        .collect();
    let why = format!(
        "cannot be served in protocol version {}: {}; connect with an initialize request instead",
        view.era(),
        servers.join(", ")
    );
    Some(Fault::unknown_method(&frame.method(), &why))
}

async fn run(call: Box<Call>) -> Response<Body> {
    let mut running = call.run();
    let first = tokio::select! {
        first = &mut running => Some(first),
        () = tokio::time::sleep(SILENCE) => None,
    };
    let running = match first {
        None => running,
        Some((_, Progress::Answer(answered))) => return answer::message(answered.status, answered.body),
        Some((_, Progress::End)) => return answer::empty(StatusCode::ACCEPTED),
        Some((call, progress)) => Box::pin(std::future::ready((call, progress))),
    };
    let (sender, body) = Body::channel(BEHIND);
    tokio::spawn(drive(running, sender));
    answer::events(body)
}

/// Runs a call to its end on a stream of its own. A client that closes the stream has cancelled.
async fn drive(mut running: Running, sender: BodySender) {
    loop {
        let (call, progress) = tokio::select! {
            done = &mut running => done,
            () = sender.gone() => return,
            () = tokio::time::sleep(KEEP_ALIVE_EVERY) => {
                let _ = sender.send(Bytes::from_static(KEEP_ALIVE)).await;
                continue;
            }
        };
        let text = match progress {
            Progress::Paused(_) => None,
            Progress::End => return,
            Progress::Relay(text) => Some(event(&text)),
            Progress::Answer(answered) => {
                let _ = sender.send(event(&answered.body)).await;
                return;
            }
        };
        if let Some(text) = text
            && sender.send(text).await.is_err()
        {
            return;
        }
        running = call.run();
    }
}

/// A message as an event without an id: streams of this era cannot be resumed.
pub(crate) fn event(message: &[u8]) -> Bytes {
    let mut text = Vec::with_capacity(message.len() + 24);
    encode_event(&mut text, Some("message"), None, None, message);
    Bytes::from(text)
}
