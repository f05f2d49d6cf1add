//! Batches (arrays of messages), which one older version supports (MCP 2025-03-26, transports: sending messages to the
//! server).

use std::sync::Arc;

use bytes::Bytes;
use engine::Fault;
use http::{HeaderMap, Response, StatusCode};
use proto::era::Era;
use proto::mcp::Method;
use proto::rpc::{Batch, Frame, FrameKind, Id, array, code};
use transport::net::Body;

use super::drive::drive;
use super::entry::AdmittedRequest;
use super::{answer, get, header_names};
use crate::call::call::Call;
use crate::call::decide::{Decision, decide};
use crate::call::in_session::{notification, response};
use crate::call::requester::Requester;
use crate::process::Shard;
use crate::session::session::{ClientChannel, Session};
use crate::session::subscriptions::Change;

/// Returns the session to which a batch belongs, if the batch is acceptable.
async fn batch_session(
    shard: &Arc<Shard>,
    entry: &AdmittedRequest,
    headers: &HeaderMap,
    version: Option<&str>,
) -> Result<Arc<Session>, Box<Response<Body>>> {
    if !headers.contains_key(&header_names::SESSION_ID) {
        let message = "send one message per request; only sessions of an older version support batches";
        let fault = Fault::client(code::INVALID_REQUEST, message);
        return Err(Box::new(answer::message(400, fault.response(None))));
    }
    get::check_version(version, None)?;
    let session = get::find(shard, entry, headers, None).await?;
    if !session.era().batches {
        return Err(Box::new(no_batches(session.era())));
    }
    Ok(session)
}

/// Runs the messages of a batch concurrently; their answers share one stream.
pub(super) async fn batch(
    shard: &Arc<Shard>,
    entry: &AdmittedRequest,
    headers: &HeaderMap,
    version: Option<&str>,
    batch: Batch,
) -> Response<Body> {
    let session = match batch_session(shard, entry, headers, version).await {
        Ok(session) => session,
        Err(refusal) => return *refusal,
    };
    session.touch();
    let ClientChannel::Http(streams) = &session.channel else { return answer::not_allowed() };
    let BatchRequests { answers, calls, ids } = begin(shard, entry, &session, batch).await;
    if calls.is_empty() && answers.is_empty() {
        return answer::empty(StatusCode::ACCEPTED);
    }
    if calls.is_empty() {
        return answer::message(200, array(&answers));
    }
    let (stream, body) = match streams.open(false, &ids) {
        Ok(opened) => opened,
        Err(fault) => return answer::refusal(StatusCode::TOO_MANY_REQUESTS, &fault.to_string()),
    };
    for text in answers {
        streams.push(stream, text);
    }
    let mut running = tokio::task::JoinSet::new();
    for (call, change) in calls {
        let driven = drive(shard.clone(), session.clone(), call.run(), stream, change);
        running.spawn(transport::task::boxed(driven));
    }
    transport::task::spawn(async move {
        while running.join_next().await.is_some() {}
        if let ClientChannel::Http(streams) = &session.channel {
            streams.finish(stream);
        }
    });
    answer::events(body)
}

/// The requests of a batch: the answers that are known already, and the calls with the ids of their requests.
#[derive(Default)]
struct BatchRequests {
    answers: Vec<Bytes>,
    calls: Vec<(Box<Call>, Option<Change>)>,
    ids: Vec<Id>,
}

/// Handles each message of a batch, without waiting for calls.
async fn begin(
    shard: &Arc<Shard>,
    entry: &AdmittedRequest,
    session: &Arc<Session>,
    batch: Batch,
) -> BatchRequests {
    let mut requests = BatchRequests::default();
    for message in batch.messages {
        let frame = match message {
            Ok(frame) => frame,
            Err(e) => {
                requests.answers.push(Fault::from(&e).response(e.id.as_ref()));
                continue;
            }
        };
        if frame.method() == Method::Initialize.name() {
            let fault = Fault::client(code::INVALID_REQUEST, "initialize must not be part of a batch");
            requests.answers.push(fault.response(frame.id()));
            continue;
        }
        match frame.kind() {
            FrameKind::Notification => notification(&shard.call, session, frame),
            FrameKind::Response | FrameKind::Error => response(&shard.call, session, &frame),
            FrameKind::Request => {
                let id = frame.id().cloned();
                match request(shard, entry, session, frame).await {
                    Ok(answer) => requests.answers.extend(answer),
                    Err(call) => {
                        requests.calls.push(call);
                        requests.ids.extend(id);
                    }
                }
            }
        }
    }
    requests
}

/// Returns the answer to a request in a batch, or the call that will produce the answer; `None` if the client
/// cancelled the request.
async fn request(
    shard: &Arc<Shard>,
    entry: &AdmittedRequest,
    session: &Arc<Session>,
    frame: Frame,
) -> Result<Option<Bytes>, (Box<Call>, Option<Change>)> {
    let requester = Requester::in_session(session, &entry.identity);
    match decide(&shard.call, &shard.gateway.process.parked, requester, frame).await {
        Decision::Done(_, text) => Ok(Some(text)),
        Decision::Long(pieces) => Ok(Some(Bytes::from(pieces.concat()))),
        Decision::Wait(id, subscribing) => Ok(Some(subscribing.answer(&id).await.1)),
        Decision::Cancelled | Decision::Elsewhere(_) => Ok(None),
        Decision::Call(call, change) => Err((call, change)),
        Decision::Listen(_, frame) => {
            Ok(Some(Fault::unknown_method(&frame.method(), "needs no session").response(frame.id())))
        }
    }
}

/// Returns the refusal of an array in a version without batches.
pub(super) fn no_batches(era: &Era) -> Response<Body> {
    let message = format!("protocol version {era} does not support batches; send one message per request");
    answer::message(400, Fault::client(code::INVALID_REQUEST, message).response(None))
}
