//! GET and DELETE of Streamable HTTP: the standing stream, resumption, the end of a session.

use std::sync::Arc;

use engine::session::EventId;
use http::{HeaderMap, Request, Response, StatusCode};
use proto::codec::headers as names;
use proto::era::{Lifecycle, by_version};
use transport::net::{Body, Incoming};

use super::{Entry, answer, media, sse};
use crate::gateway::Shard;
use crate::gateway::session::{Face, Session};
use crate::gateway::streams::StreamFault;

/// Opens or resumes a stream.
pub(super) fn get(shard: &Shard, entry: &Entry, request: &Request<Incoming>) -> Response<Body> {
    let headers = request.headers();
    if let Err(refusal) = media::check_get(headers) {
        return *refusal;
    }
    if sse::is_opening(headers) {
        return sse::open(shard, entry, request.uri().path());
    }
    let session = match find(shard, entry, headers) {
        Ok(session) => session,
        Err(refusal) => return *refusal,
    };
    let Face::Http(streams) = &session.face else { return answer::not_allowed() };
    session.touch();
    let last = headers.get(names::LAST_EVENT_ID).and_then(|v| v.to_str().ok());
    let opened = match last.map(EventId::parse) {
        None => streams.open_standing(session.kind.era.primes_streams),
        Some(Some(last)) => streams.resume(last),
        Some(None) => Err(StreamFault::Gap),
    };
    match opened {
        Ok(body) => answer::events(body),
        Err(fault @ StreamFault::TooMany(_)) => {
            answer::refusal(StatusCode::TOO_MANY_REQUESTS, &fault.to_string())
        }
        Err(fault @ StreamFault::Gap) => answer::refusal(StatusCode::BAD_REQUEST, &fault.to_string()),
    }
}

/// Ends a session.
pub(super) fn delete(shard: &Shard, entry: &Entry, request: &Request<Incoming>) -> Response<Body> {
    let session = match find(shard, entry, request.headers()) {
        Ok(session) => session,
        Err(refusal) => return *refusal,
    };
    if let Some(session) = shard.gateway.sessions.remove(&session.id) {
        let shard = shard.clone();
        // The client need not wait for what its servers have to be told; the task ends when they are.
        tokio::spawn(async move { session.end(&shard).await });
    }
    answer::empty(StatusCode::NO_CONTENT)
}

/// The session that a request names.
pub(super) fn find(
    shard: &Shard,
    entry: &Entry,
    headers: &HeaderMap,
) -> Result<Arc<Session>, Box<Response<Body>>> {
    let Some(id) = headers.get(names::SESSION_ID) else {
        return Err(Box::new(without_session(headers)));
    };
    let session = id.to_str().ok().and_then(|id| shard.gateway.sessions.get(id));
    // Somebody else's session is as unknown as none.
    let is_here = |session: &Arc<Session>| {
        let is_own = session.identity.id() == entry.identity.id();
        is_own && session.profile == entry.profile && matches!(session.face, Face::Http(_))
    };
    session.filter(is_here).ok_or_else(|| {
        let message =
            "this session is unknown or has ended; send an initialize request without Mcp-Session-Id";
        Box::new(answer::refusal(StatusCode::NOT_FOUND, message))
    })
}

fn without_session(headers: &HeaderMap) -> Response<Body> {
    let version = headers.get(names::PROTOCOL_VERSION).and_then(|v| v.to_str().ok());
    let stateless = version.and_then(by_version).is_some_and(|era| era.lifecycle == Lifecycle::Stateless);
    if stateless {
        return answer::not_allowed();
    }
    let message =
        "Mcp-Session-Id is missing; send an initialize request first and repeat the id that its response has";
    answer::refusal(StatusCode::BAD_REQUEST, message)
}
