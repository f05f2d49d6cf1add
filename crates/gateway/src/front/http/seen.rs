//! Requests and messages in the form that operators see while they connect a client. This module must not know who
//! watches.

use std::net::SocketAddr;

use http::header::{AUTHORIZATION, USER_AGENT};
use proto::mcp::meta;
use proto::rpc::{Frame, Message};

use crate::admission::arrivals::ArrivalEvent;
use crate::admission::client_label;
use crate::process::Shard;
use transport::net::Arrived;

/// The maximum length of a text from a client, in characters.
const LONGEST: usize = 120;

fn clipped(text: &str) -> String {
    text.chars().take(LONGEST).collect()
}

/// Returns the event for a request that is about to be answered, if somebody watches. The path is shown without the query,
/// which may contain secrets.
pub(super) fn request(shard: &Shard, request: &Arrived, peer: SocketAddr) -> Option<ArrivalEvent> {
    if !shard.gateway.process.arrivals.is_watched() {
        return None;
    }
    let headers = request.headers();
    let agent = headers.get(USER_AGENT).and_then(|agent| agent.to_str().ok());
    Some(ArrivalEvent::Answered {
        address: shard.gateway.client_of(peer.ip(), headers).address,
        request: clipped(&format!("{} {}", request.method(), request.uri().path())),
        status: 0,
        has_credentials: headers.contains_key(AUTHORIZATION),
        agent: agent.map(clipped),
    })
}

/// Notifies the watchers of a request and of the status of its response.
pub(super) fn answered(shard: &Shard, event: Option<ArrivalEvent>, answer: u16) {
    if let Some(ArrivalEvent::Answered { address, request, has_credentials, agent, .. }) = event {
        let event = ArrivalEvent::Answered { address, request, status: answer, has_credentials, agent };
        shard.gateway.process.arrivals.tell(event);
    }
}

/// Notifies the watchers of a message.
pub(super) fn message(shard: &Shard, profile: usize, message: &Message, version: Option<&str>) {
    if let (true, Message::Single(frame)) = (shard.gateway.process.arrivals.is_watched(), message) {
        let profile = shard.gateway.snapshot.profiles[profile].slug.to_string();
        shard.gateway.process.arrivals.tell(of_frame(frame, (profile, version)));
    }
}

fn of_frame(frame: &Frame, (profile, version): (String, Option<&str>)) -> ArrivalEvent {
    let info =
        frame.param("clientInfo").ok().flatten().or_else(|| frame.meta(meta::CLIENT_INFO).ok().flatten());
    let wanted = frame.param("protocolVersion").ok().flatten().and_then(|span| frame.string(span));
    ArrivalEvent::Message {
        profile,
        method: clipped(&frame.method()),
        client: info
            .and_then(|info| client_label::program(info.of(frame.text())))
            .map(|program| program.to_string()),
        version: wanted.map(|wanted| clipped(&wanted)).or_else(|| version.map(clipped)),
    }
}
