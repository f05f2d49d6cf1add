//! Arrays of messages, which one older version has (MCP 2025-03-26, transports: sending messages to the server).

use std::sync::Arc;

use bytes::Bytes;
use engine::Fault;
use http::{HeaderMap, Response, StatusCode};
use proto::codec::headers as names;
use proto::era::Era;
use proto::mcp::Method;
use proto::rpc::{Batch, Kind as FrameKind, array, code};
use transport::net::Body;

use super::drive::drive;
use super::entry::Entry;
use super::{answer, get};
use crate::gateway::Shard;
use crate::gateway::call::in_session::{Outcome, decide, notification, response};
use crate::gateway::session::session::{Face, Session};

/// The session to which a batch belongs, when it may be taken.
fn batch_session(
    shard: &Shard,
    entry: &Entry,
    headers: &HeaderMap,
    version: Option<&str>,
) -> Result<Arc<Session>, Box<Response<Body>>> {
    if !headers.contains_key(names::SESSION_ID) {
        let message = "send one message a request; only sessions of one older version have batches";
        let fault = Fault::client(code::INVALID_REQUEST, message);
        return Err(Box::new(answer::message(400, fault.response(None))));
    }
    get::check_version(version, None)?;
    let session = get::find(shard, entry, headers, None)?;
    if !session.kind.era.batches {
        return Err(Box::new(no_batches(session.kind.era)));
    }
    Ok(session)
}

/// Runs the messages of a batch at the same time; their answers share one stream.
pub(super) async fn batch(
    shard: &Shard,
    entry: &Entry,
    headers: &HeaderMap,
    version: Option<&str>,
    batch: Batch,
) -> Response<Body> {
    let session = match batch_session(shard, entry, headers, version) {
        Ok(session) => session,
        Err(refusal) => return *refusal,
    };
    session.touch();
    let Face::Http(streams) = &session.face else { return answer::not_allowed() };
    let mut answers: Vec<Bytes> = Vec::new();
    let mut calls = Vec::new();
    for message in batch.messages {
        match message {
            Err(e) => answers.push(Fault::from(&e).response(e.id.as_ref())),
            Ok(frame) if frame.method() == Method::Initialize.name() => {
                let fault = Fault::client(code::INVALID_REQUEST, "initialize must not stand in a batch");
                answers.push(fault.response(frame.id()));
            }
            Ok(frame) => match frame.kind() {
                FrameKind::Notification => notification(&shard.call, &session, frame),
                FrameKind::Response | FrameKind::Error => response(&shard.call, &session, &frame),
                FrameKind::Request => match decide(&shard.call, &session, &entry.identity, frame).await {
                    Outcome::Done(_, text) => answers.push(text),
                    Outcome::Long(pieces) => answers.push(Bytes::from(pieces.concat())),
                    Outcome::Wait(id, subscribing) => answers.push(subscribing.answer(&id).await.1),
                    Outcome::Call(call, change) => calls.push((call, change)),
                },
            },
        }
    }
    if calls.is_empty() && answers.is_empty() {
        return answer::empty(StatusCode::ACCEPTED);
    }
    if calls.is_empty() {
        return answer::message(200, array(&answers));
    }
    let (stream, body) = match streams.open(false) {
        Ok(opened) => opened,
        Err(fault) => return answer::refusal(StatusCode::TOO_MANY_REQUESTS, &fault.to_string()),
    };
    for text in answers {
        streams.push(stream, text);
    }
    let mut running = tokio::task::JoinSet::new();
    for (call, change) in calls {
        running.spawn(drive(shard.clone(), session.clone(), call.run(), stream, change));
    }
    tokio::spawn(async move {
        while running.join_next().await.is_some() {}
        if let Face::Http(streams) = &session.face {
            streams.finish(stream);
        }
    });
    answer::events(body)
}

/// The refusal of an array in a version that has none.
pub(super) fn no_batches(era: &Era) -> Response<Body> {
    let message = format!("protocol version {era} has no batches; send one message a request");
    answer::message(400, Fault::client(code::INVALID_REQUEST, message).response(None))
}
