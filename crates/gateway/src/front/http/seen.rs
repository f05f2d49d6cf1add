//! Requests and messages in the form that operators see while they connect a client. This module must not know who
//! watches.

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use http::Response;
use http::header::{AUTHORIZATION, USER_AGENT};
use proto::json::{Elements, MAX_DEPTH, Members, unquote};
use proto::mcp::meta;
use proto::rpc::{Frame, Message, RpcError};

use crate::admission::arrivals::{AnswerContent, ArrivalEvent};
use crate::admission::client_label;
use crate::admission::refused_requests::RefusedRequest;
use crate::process::Shard;
use transport::net::{Arrived, Body};

/// The maximum length of a text from a client, in characters.
const LONGEST: usize = 120;

/// The maximum size of a list whose tools are counted, in bytes.
const LONGEST_LIST: usize = 16 << 20;

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
        answer: None,
    })
}

/// Notifies the watchers of a request and of its response.
pub(super) fn answered(shard: &Shard, event: Option<ArrivalEvent>, response: &Response<Body>) {
    if let Some(ArrivalEvent::Answered { address, request, has_credentials, agent, .. }) = event {
        let (status, answer) = (response.status().as_u16(), content(response.body()));
        let event = ArrivalEvent::Answered { address, request, status, has_credentials, agent, answer };
        shard.gateway.process.arrivals.tell(event);
    }
}

/// Keeps a request that is turned away, and returns the response to it.
pub(super) fn refused(
    shard: &Shard,
    (request, peer): (&Arrived, SocketAddr),
    principal: Option<&Arc<str>>,
    response: Response<Body>,
) -> Response<Body> {
    let headers = request.headers();
    let agent = headers.get(USER_AGENT).and_then(|agent| agent.to_str().ok());
    let reason = match content(response.body()) {
        Some(AnswerContent::Error(message)) => message,
        _ => String::new(),
    };
    shard.gateway.process.refused.note(RefusedRequest {
        address: shard.gateway.client_of(peer.ip(), headers).address,
        request: clipped(&format!("{} {}", request.method(), request.uri().path())),
        status: response.status().as_u16(),
        reason,
        agent: agent.map(clipped),
        principal: principal.cloned(),
    });
    response
}

/// Returns the content of a body, if it is an error or a list of tools.
fn content(body: &Body) -> Option<AnswerContent> {
    let text = match body {
        Body::Full(text) => text.clone(),
        Body::Rope(pieces) if pieces.iter().map(Bytes::len).sum::<usize>() <= LONGEST_LIST => {
            let mut text = BytesMut::new();
            for piece in pieces {
                text.extend_from_slice(piece);
            }
            text.freeze()
        }
        _ => return None,
    };
    let members = Members::of_document(&text, MAX_DEPTH).ok()?;
    if let Some(error) = members.get(&text, "error") {
        let message = RpcError::of_value(&text, error)?.message?;
        let message = unquote(message.of(&text).strip_prefix(b"\"")?.strip_suffix(b"\"")?)?.into_owned();
        return Some(AnswerContent::Error(message));
    }
    let result = Members::of_value(&text, members.get(&text, "result")?)?;
    let tools = Elements::of_value(&text, result.get(&text, "tools")?)?;
    let is_more = result.get(&text, "nextCursor").is_some();
    Some(AnswerContent::Tools { count: tools.iter().count(), is_more })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_content_of_an_answer_is_an_error_or_a_number_of_tools() {
        let of = |text: &'static str| content(&Body::from(text));
        assert_eq!(
            of(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no \"tools\""}}"#),
            Some(AnswerContent::Error("no \"tools\"".to_owned()))
        );
        assert_eq!(
            of(r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a"},{"name":"b"}]}}"#),
            Some(AnswerContent::Tools { count: 2, is_more: false })
        );
        let pieces = [r#"{"id":1,"result":{"tools":["#, r#"{}],"nextCursor":"x"}}"#]
            .map(|piece| Bytes::from_static(piece.as_bytes()));
        assert_eq!(content(&Body::rope(pieces)), Some(AnswerContent::Tools { count: 1, is_more: true }));
        assert_eq!((of("ok"), of("{}"), content(&Body::Empty)), (None, None, None));
    }
}
