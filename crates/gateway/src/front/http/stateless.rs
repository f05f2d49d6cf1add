//! Requests without a session. Each request describes its client.

use std::sync::Arc;

use std::time::Duration;

use bytes::Bytes;
use engine::Fault;
use engine::exchange::Headers;
use http::header::{AsHeaderName, HeaderName, HeaderValue};
use http::{HeaderMap, Response, StatusCode};
use proto::codec::sse::KEEP_ALIVE;
use proto::era::{EraFault, Mirrored, check_notification, read_envelope};
use proto::rpc::{Frame, FrameKind, code};
use tokio::time::{Instant, timeout, timeout_at};
use transport::budget::Part;
use transport::net::{Body, BodySender, collect};

use super::entry::AdmittedRequest;
use super::first_word::{FirstWord, first_word};
use super::post::move_to;
use super::{answer, header_names};
use crate::call::call::Call;
use crate::call::decide::{Decision, decide};
use crate::call::drive::{CallEnd, ClientSink, drive};
use crate::call::listen;
use crate::call::parked::Parked;
use crate::call::requester::Requester;
use crate::call::stateless::view_of;
use crate::process::Shard;
use crate::session::streams::{SILENCE, event};

/// The number of events that may wait for a client that reads slowly.
const BEHIND: usize = 64;

/// The time limit for reading a long answer completely, and for the client to read the last event of the answer.
const LONG_TIME: Duration = Duration::from_mins(1);

/// The interval of keep-alive events on an idle stream.
const KEEP_ALIVE_EVERY: Duration = Duration::from_secs(15);

/// Answers a stateless message.
pub(super) async fn answer(
    shard: &Arc<Shard>,
    entry: &AdmittedRequest,
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
        // The core protocol defines no client notifications over HTTP, and those of extensions have no receiver.
        FrameKind::Notification => {
            return match check_notification(&frame, mirrored) {
                Ok(()) => answer::empty(StatusCode::ACCEPTED),
                Err(fault) => refuse(fault),
            };
        }
        FrameKind::Response | FrameKind::Error => {
            let fault = Fault::client(
                code::INVALID_REQUEST,
                "clients of this protocol version must not send responses",
            );
            return answer::message(400, fault.response(frame.id()));
        }
    }
    let envelope = match read_envelope(&frame, Some(mirrored)) {
        Ok(envelope) => envelope,
        Err(fault) => return refuse(fault),
    };
    let era = envelope.era;
    let parked = &shard.gateway.process.parked;
    let cell = view_of(&shard.call, entry.profile, era, (&entry.identity, &frame)).await;
    let requester = Requester::stateless(cell, &entry.identity, Some(&headers)).arrived(entry.arrival);
    let requester = requester.passing_on(entry.passing_on());
    match decide(&shard.call, parked, requester, frame).await {
        Decision::Done(status, text) => answer::message(status, text),
        Decision::Long(pieces) => answer::passing(Body::rope(pieces)),
        Decision::Wait(id, subscribing) => {
            let (status, text) = Box::pin(subscribing.answer(&id)).await;
            answer::message(status, text)
        }
        Decision::Cancelled => answer::empty(StatusCode::ACCEPTED),
        Decision::Listen(cell, frame) => match listen::open(&shard.call, cell, &frame, &entry.identity) {
            Ok(body) => answer::events(body),
            Err(fault) => answer::fault(&fault, frame.id(), era),
        },
        Decision::Elsewhere(moved) => match &entry.movable {
            Some(movable) => Box::pin(move_to(shard, movable, headers.0, &moved.frame, &moved.to)).await,
            None => answer::not_allowed(),
        },
        Decision::Call(begun, _) => run(begun, parked).await,
    }
}

/// The headers of an HTTP request, with the interface through which the engine reads headers.
struct RequestHeaders<'a>(&'a HeaderMap);

impl Headers for RequestHeaders<'_> {
    fn get(&self, name: &str) -> Option<&[u8]> {
        // If a header has two different values, it is ignored.
        header_value(self.0, name).unwrap_or_default()
    }
}

/// Returns the headers that repeat parts of the body.
fn mirrored(headers: &HeaderMap) -> Result<Mirrored<'_>, EraFault> {
    let once = |name: &HeaderName, written: &str| {
        header_value(headers, name).map_err(|Differ| {
            EraFault::Header(written.to_owned(), "occurs twice with different values".to_owned())
        })
    };
    Ok(Mirrored {
        version: once(&header_names::PROTOCOL_VERSION, "MCP-Protocol-Version")?,
        method: once(&header_names::METHOD, "Mcp-Method")?,
        name: once(&header_names::NAME, "Mcp-Name")?,
    })
}

/// The error if a header occurs several times with different values.
struct Differ;

/// Returns the value of a header. A header may occur several times if all its values are equal.
fn header_value(headers: &HeaderMap, name: impl AsHeaderName) -> Result<Option<&[u8]>, Differ> {
    let mut lines = headers.get_all(name).iter();
    let first = lines.next();
    if lines.all(|line| Some(line) == first) { Ok(first.map(HeaderValue::as_bytes)) } else { Err(Differ) }
}

async fn run(mut call: Box<Call>, parked: &Arc<Parked>) -> Response<Body> {
    let silent = Instant::now() + SILENCE;
    call.attend_until(silent.into_std());
    let mut running = call.run();
    let running = match first_word(&mut running, silent, parked).await {
        FirstWord::Whole(response, _) => return *response,
        FirstWord::Stream(None) => running,
        FirstWord::Stream(Some(first)) => Box::pin(std::future::ready(first)),
    };
    let (sender, body) = Body::channel(BEHIND);
    let parked = parked.clone();
    transport::task::spawn(async move { drive(running, &parked, &mut EventStream(sender)).await });
    answer::events(body)
}

/// The event stream that answers one request. A client that closes the stream cancels the request.
struct EventStream(BodySender);

impl ClientSink for EventStream {
    async fn relay(&mut self, call: &Call, text: Bytes) -> bool {
        // While the client does not read, nothing else checks the call's deadline.
        let deadline = call.deadline().into();
        matches!(timeout_at(deadline, self.0.send(event(&text))).await, Ok(Ok(())))
    }

    async fn gone(&mut self) {
        loop {
            tokio::select! {
                () = self.0.gone() => return,
                () = tokio::time::sleep(KEEP_ALIVE_EVERY) => {
                    // If there is no room, other events are already in transit, so no keep-alive is needed.
                    let _ = self.0.try_send(Bytes::from_static(KEEP_ALIVE));
                }
            }
        }
    }

    async fn end(&mut self, end: CallEnd) {
        let text = match end {
            CallEnd::Answer(answer, _) => answer.body,
            // The stream has begun, so the answer has to be one of its events.
            CallEnd::Long(body, call) => {
                let read = collect(body, Part::Answers, usize::MAX, Instant::now() + LONG_TIME).await;
                read.unwrap_or_else(|_| call.broken().body)
            }
            CallEnd::Unheard(_) | CallEnd::Silent => return,
        };
        let _ = timeout(LONG_TIME, self.0.send(event(&text))).await;
    }
}
