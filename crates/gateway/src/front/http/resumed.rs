//! Resumes an event stream that another gateway of the cluster has sent: passes the request on to this gateway or, if it has ended, sends
//! the events that it has copied to the cluster's store. This module must not know why a client resumes a stream.

use std::sync::Arc;

use bytes::Bytes;
use cluster::peers::Peer;
use cluster::{MissedEvents, StoreError, StreamCopy, StreamKey};
use engine::Fault;
use engine::session::EventId;
use http::{HeaderMap, Method, Response};
use proto::codec::sse::encode_event;
use proto::rpc::{Frame, FrameKind, FrameLimits, Id};
use transport::budget::{self, Part};
use transport::net::Body;

use super::answer;
use super::entry::AdmittedRequest;
use super::opened::{opened_stream, standing};
use super::replicas::passing_on::{self, OutgoingRequest};
use crate::process::Shard;
use crate::session::Session;
use crate::session::streams::{LOST, STANDING, StreamFault, Streams, event, sending_process};

/// The gateway that has sent the events.
enum Sender {
    /// It has ended.
    Gone,
    /// It cannot be reached, so nobody knows whether it still executes the call. The fault says this to the client.
    Unreachable(Peer, Box<Fault>),
    /// Gateways of this cluster do not know each other's state.
    Unknown,
}

/// The data that a client gets if it resumes the stream of a call.
#[derive(Debug, PartialEq, Eq)]
enum CallReplay {
    /// These events; the stream ends with them.
    Events(Vec<(u64, Bytes)>),
    /// These events. The answers to these requests are lost.
    Unfinished(Vec<(u64, Bytes)>, Vec<Id>),
    /// Nothing, because too little is kept.
    Lost,
}

/// Resumes a stream after the event `last`, which this process has not sent.
pub(super) async fn elsewhere(
    shard: &Arc<Shard>,
    (entry, headers): (&AdmittedRequest, &HeaderMap),
    (session, streams): (&Arc<Session>, &Streams),
    last: EventId,
) -> Response<Body> {
    let sender = match &entry.movable {
        None => Sender::Unknown,
        Some(movable) => match passing_on::numbered(shard, sending_process(last)).await {
            None => Sender::Gone,
            Some(peer) => {
                let moved = OutgoingRequest { method: Method::GET, headers, body: Bytes::new(), id: None };
                match passing_on::attempt(shard, movable, moved, &peer).await {
                    Ok(response) => return response,
                    Err(fault) => Sender::Unreachable(peer, fault),
                }
            }
        },
    };
    let copy = copied(shard, session, last).await;
    if last.stream == STANDING {
        return opened_stream(continued(shard, (session, streams), copy, last));
    }
    let replay = copy.map(|copy| call_replay(&copy, last.event, shard.gateway.frame_limits()));
    if let Ok(CallReplay::Events(events)) = replay {
        return sent_again(shard, last, &events, &[]);
    }
    if let Sender::Unreachable(peer, fault) = &sender
        && !has_ended(shard, peer).await
    {
        return answer::message(fault.status.unwrap_or(503), fault.response(None));
    }
    match replay {
        Err(error) => {
            tracing::info!("cannot read the events of a stream from the cluster's store: {error}");
            opened_stream(Err(StreamFault::Unreadable))
        }
        Ok(CallReplay::Unfinished(events, open)) if !matches!(sender, Sender::Unknown) => {
            sent_again(shard, last, &events, &open)
        }
        Ok(_) => opened_stream(Err(StreamFault::Lost)),
    }
}

/// Reads the events of a stream from the cluster's store. A gateway that does not copy events finds none.
async fn copied(shard: &Shard, session: &Session, last: EventId) -> Result<StreamCopy, StoreError> {
    let (Some(cluster), Some(session)) = (shard.session.state.cluster.get(), session.stored_key()) else {
        return Ok(StreamCopy::default());
    };
    let key = StreamKey { session, epoch: last.epoch, stream: last.stream };
    Ok(cluster.copied_events(&key).await?.unwrap_or_default())
}

/// Returns true if the store says that a gateway has ended.
async fn has_ended(shard: &Shard, peer: &Peer) -> bool {
    match shard.session.state.cluster.get() {
        Some(cluster) => matches!(cluster.has_ended(peer.id).await, Ok(true)),
        None => false,
    }
}

/// Opens the standing stream with the events of another gateway that the client has missed. Nobody listened for the session since that
/// gateway ended, so the client also learns that lists and resources may have changed.
fn continued(
    shard: &Shard,
    (session, streams): (&Arc<Session>, &Streams),
    copy: Result<StreamCopy, StoreError>,
    last: EventId,
) -> Result<Body, StreamFault> {
    let missed = copy
        .inspect_err(|error| tracing::info!("the events of a stream are not sent again: {error}"))
        .map(|copy| copy.after(last.event));
    let Some(MissedEvents { events, .. }) = missed.ok().filter(|missed| !missed.has_gap) else {
        session.note_missed();
        return standing(session, streams);
    };
    if !events.is_empty() {
        note_resumed(shard);
    }
    let (body, is_new) = streams.continue_standing(last, events, session.era().primes_streams)?;
    if is_new {
        session.note_missed();
    }
    session.announce_return();
    Ok(body)
}

/// Decides what a client gets that resumes the stream of a call, or of a batch of calls.
fn call_replay(copy: &StreamCopy, last: u64, limits: FrameLimits) -> CallReplay {
    let MissedEvents { events, has_gap } = copy.after(last);
    let is_one = copy.requests().len() == 1;
    if copy.has_ended() {
        // As at its own gateway, a client may miss notifications of a call, but not its answer.
        let has_answer = !has_gap || (is_one && copy.has_last() && !events.is_empty());
        return if has_answer { CallReplay::Events(events) } else { CallReplay::Lost };
    }
    match unanswered(copy, limits) {
        Some(open) if open.is_empty() && (is_one || !has_gap) => CallReplay::Events(events),
        Some(open) if !has_gap => CallReplay::Unfinished(events, open),
        Some(open) if is_one => CallReplay::Unfinished(Vec::new(), open),
        None if !has_gap && !events.is_empty() => CallReplay::Events(events),
        _ => CallReplay::Lost,
    }
}

/// Returns the requests of a stream without an answer among its events; `None` if this is not known.
fn unanswered(copy: &StreamCopy, limits: FrameLimits) -> Option<Vec<Id>> {
    let mut open: Vec<Id> = copy.requests().iter().filter_map(|id| Id::from_json(id.clone()).ok()).collect();
    // The answer to a single request comes last. In a batch, an answer may be among the events that are no longer kept.
    if open.is_empty() || open.len() > 1 && !copy.has_beginning() {
        return None;
    }
    for data in copy.events().filter(|data| !data.is_empty()) {
        let Ok(frame) = Frame::parse(data.clone(), limits) else { continue };
        if matches!(frame.kind(), FrameKind::Response | FrameKind::Error)
            && let Some(id) = frame.id()
        {
            open.retain(|open| open != id);
        }
    }
    Some(open)
}

/// Returns a response with the events of a stream that has ended, and with an error for each request whose answer is lost.
fn sent_again(shard: &Shard, last: EventId, events: &[(u64, Bytes)], open: &[Id]) -> Response<Body> {
    note_resumed(shard);
    let size = events.iter().map(|(_, data)| data.len() + 64).sum();
    let mut text = Vec::with_capacity(size);
    // An event without data only carries an id.
    for (number, data) in events.iter().filter(|(_, data)| !data.is_empty()) {
        let id = EventId { event: *number, ..last }.to_string();
        encode_event(&mut text, Some("message"), Some(&id), None, data);
    }
    for id in open {
        let fault = Fault::gateway(LOST).with_data("{\"retry\":false,\"executed\":\"maybe\"}".to_owned());
        text.extend_from_slice(&event(&fault.response(Some(id))));
    }
    // Slow clients may hold many such bodies.
    let text = budget::of_process().count(Part::Answers, Bytes::from(text));
    answer::events(Body::Full(text))
}

fn note_resumed(shard: &Shard) {
    if let Some(cluster) = shard.session.state.cluster.get() {
        cluster.stream_resumed();
    }
}

#[cfg(test)]
mod tests;
