//! Requests that stand for themselves: no session, each says who speaks.

use std::sync::Arc;

use std::time::Duration;

use bytes::Bytes;
use engine::Fault;
use engine::exchange::Headers;
use http::header::{AsHeaderName, HeaderName, HeaderValue};
use http::{HeaderMap, Response, StatusCode};
use proto::codec::headers as names;
use proto::codec::sse::KEEP_ALIVE;
use proto::era::{EraFault, Mirrored, check_notification, read_envelope};
use proto::rpc::{Frame, Kind as FrameKind, code};
use tokio::time::{Instant, sleep_until, timeout, timeout_at};
use transport::net::{Body, BodySender, collect};

use super::answer;
use super::entry::Entry;
use crate::gateway::Shard;
use crate::gateway::call::call::{Call, Progress, Running};
use crate::gateway::call::listen;
use crate::gateway::call::parked::Parked;
use crate::gateway::call::stateless::{Decision, decide};
use crate::gateway::session::streams::{SILENCE, event};

/// The number of events that may wait for a client that reads slowly.
const BEHIND: usize = 64;

/// The time that a long answer may take once it has begun, and a client to read its last event.
const LONG_TIME: Duration = Duration::from_mins(1);

/// The interval at which a stream without messages shows a sign of life.
const KEEP_ALIVE_EVERY: Duration = Duration::from_secs(15);

/// Answers a stateless message.
pub(super) async fn answer(
    shard: &Shard,
    entry: &Entry,
    headers: &HeaderMap,
    frame: Frame,
) -> Response<Body> {
    let refuse = |fault| {
        let fault = Fault::from(fault);
        answer::message(fault.status.unwrap_or(400), fault.response(frame.id()))
    };
    let mirrored = match mirrored(headers) {
        Ok(mirrored) => mirrored,
        Err(fault) => return refuse(fault),
    };
    let headers = RequestHeaders(headers);
    match frame.kind() {
        FrameKind::Request => {}
        // The core defines none over HTTP; what an extension sends has nobody to go to.
        FrameKind::Notification => {
            return match check_notification(&frame, mirrored) {
                Ok(()) => answer::empty(StatusCode::ACCEPTED),
                Err(fault) => refuse(fault),
            };
        }
        FrameKind::Response | FrameKind::Error => {
            let fault =
                Fault::client(code::INVALID_REQUEST, "clients of this protocol version send no responses");
            return answer::message(400, fault.response(frame.id()));
        }
    }
    let envelope = match read_envelope(&frame, Some(mirrored)) {
        Ok(envelope) => envelope,
        Err(fault) => return refuse(fault),
    };
    let era = envelope.era;
    match decide(
        &shard.call,
        &shard.gateway.parked,
        entry.profile,
        &entry.identity,
        envelope,
        frame,
        Some(&headers),
    )
    .await
    {
        Decision::Done(status, text) => answer::message(status, text),
        Decision::Long(pieces) => answer::passing(Body::rope(pieces)),
        Decision::Listen(cell, frame) => match listen::open(&shard.call, cell, &frame, &entry.identity) {
            Ok(body) => answer::events(body),
            Err(fault) => answer::fault(&fault, frame.id(), era),
        },
        Decision::Call(call) => run(call, &shard.gateway.parked).await,
    }
}

/// The headers of an HTTP request, as the engine looks at them.
struct RequestHeaders<'a>(&'a HeaderMap);

impl Headers for RequestHeaders<'_> {
    fn get(&self, name: &str) -> Option<&[u8]> {
        // One that says two things says nothing.
        said(self.0, name).unwrap_or_default()
    }
}

static VERSION: HeaderName = HeaderName::from_static(names::PROTOCOL_VERSION);
static METHOD: HeaderName = HeaderName::from_static(names::METHOD);
static NAME: HeaderName = HeaderName::from_static(names::NAME);

/// What the headers repeat of the body.
fn mirrored(headers: &HeaderMap) -> Result<Mirrored<'_>, EraFault> {
    let once = |name: &HeaderName, written: &str| {
        said(headers, name).map_err(|Differ| {
            EraFault::Header(written.to_owned(), "is there twice, with different values".to_owned())
        })
    };
    Ok(Mirrored {
        version: once(&VERSION, "MCP-Protocol-Version")?,
        method: once(&METHOD, "Mcp-Method")?,
        name: once(&NAME, "Mcp-Name")?,
    })
}

/// Lines of one header say different things.
struct Differ;

/// What a header says, if all its lines say the same.
fn said(headers: &HeaderMap, name: impl AsHeaderName) -> Result<Option<&[u8]>, Differ> {
    let mut lines = headers.get_all(name).iter();
    let first = lines.next();
    if lines.all(|line| Some(line) == first) { Ok(first.map(HeaderValue::as_bytes)) } else { Err(Differ) }
}

async fn run(mut call: Box<Call>, parked: &Arc<Parked>) -> Response<Body> {
    let silent = Instant::now() + SILENCE;
    call.attend_until(silent.into_std());
    let mut running = call.run();
    let first = tokio::select! {
        first = &mut running => Some(first),
        () = sleep_until(silent) => None,
    };
    let running = match first {
        None => running,
        Some((_, Progress::Answer(answered))) => return answer::message(answered.status, answered.body),
        Some((_, Progress::Pass(body))) => return answer::passing(body),
        Some((call, Progress::Park(ticket, asked))) => {
            let asked = call.park(parked, ticket, asked);
            return answer::message(asked.status, asked.body);
        }
        Some((_, Progress::End)) => return answer::empty(StatusCode::ACCEPTED),
        Some((call, progress)) => Box::pin(std::future::ready((call, progress))),
    };
    let (sender, body) = Body::channel(BEHIND);
    tokio::spawn(drive(running, parked.clone(), sender));
    answer::events(body)
}

/// Runs a call to its end on a stream of its own. A client that closes the stream has cancelled.
async fn drive(mut running: Running, parked: Arc<Parked>, sender: BodySender) {
    loop {
        let (call, progress) = tokio::select! {
            done = &mut running => done,
            () = sender.gone() => return,
            () = tokio::time::sleep(KEEP_ALIVE_EVERY) => {
                // Where there is no room, more is on its way than a sign of life.
                let _ = sender.try_send(Bytes::from_static(KEEP_ALIVE));
                continue;
            }
        };
        let last = match progress {
            Progress::Paused(_) => None,
            Progress::End => return,
            Progress::Relay(text) => {
                // While it is not read, nothing else looks at the call's deadline.
                let deadline = call.deadline().into();
                if !matches!(timeout_at(deadline, sender.send(event(&text))).await, Ok(Ok(()))) {
                    return;
                }
                None
            }
            // The stream has begun, so the answer has to be one event of it.
            Progress::Pass(body) => {
                let read = collect(body, usize::MAX, Instant::now() + LONG_TIME).await;
                Some(read.unwrap_or_else(|_| call.broken().body))
            }
            Progress::Park(ticket, asked) => {
                let asked = call.park(&parked, ticket, asked);
                let _ = timeout(LONG_TIME, sender.send(event(&asked.body))).await;
                return;
            }
            Progress::Answer(answered) => Some(answered.body),
        };
        if let Some(text) = last {
            let _ = timeout(LONG_TIME, sender.send(event(&text))).await;
            return;
        }
        running = call.run();
    }
}
