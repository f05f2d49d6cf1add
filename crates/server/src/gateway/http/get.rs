//! GET and DELETE of Streamable HTTP: the standing stream, resumption, the end of a session.

use std::sync::Arc;

use engine::session::EventId;
use http::{HeaderMap, Request, Response, StatusCode};
use proto::codec::headers as names;
use proto::era::{Lifecycle, by_version};
use proto::rpc::Id;
use transport::net::{Body, Incoming};

use super::entry::Entry;
use super::{answer, media, sse};
use crate::gateway::Shard;
use crate::gateway::session::session::{Face, Session};
use crate::gateway::session::streams::StreamFault;

/// Opens or resumes a stream.
pub(super) fn get(shard: &Shard, entry: &Entry, request: &Request<Incoming>) -> Response<Body> {
    let headers = request.headers();
    if let Err(refusal) = media::check_get(headers) {
        return *refusal;
    }
    if sse::is_opening(headers) {
        return sse::open(shard, entry, request.uri().path());
    }
    let session = match named(shard, entry, headers) {
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
    let session = match named(shard, entry, request.headers()) {
        Ok(session) => session,
        Err(refusal) => return *refusal,
    };
    if let Some(session) = shard.session.state.sessions.remove(&session.id) {
        let shard = shard.clone();
        // The client need not wait for what its servers have to be told; the task ends when they are.
        tokio::spawn(async move { session.end(&shard.session).await });
    }
    answer::empty(StatusCode::NO_CONTENT)
}

/// The session that a request without a message names.
fn named(shard: &Shard, entry: &Entry, headers: &HeaderMap) -> Result<Arc<Session>, Box<Response<Body>>> {
    let version = headers.get(names::PROTOCOL_VERSION).map(|version| version.to_str().map(str::trim));
    let is_stateless =
        |version: &str| by_version(version).is_some_and(|era| era.lifecycle == Lifecycle::Stateless);
    if !headers.contains_key(names::SESSION_ID)
        && matches!(version, Some(Ok(version)) if is_stateless(version))
    {
        return Err(Box::new(answer::not_allowed()));
    }
    let session = find(shard, entry, headers, None)?;
    check_version(version.map(|version| version.unwrap_or("that is not readable text")), None)?;
    Ok(session)
}

/// The session that a request names; `id` is that of its message.
pub(super) fn find(
    shard: &Shard,
    entry: &Entry,
    headers: &HeaderMap,
    id: Option<&Id>,
) -> Result<Arc<Session>, Box<Response<Body>>> {
    let refuse = |status, message| Box::new(answer::refusal_of(status, message, id));
    let Some(name) = headers.get(names::SESSION_ID) else {
        let message = "Mcp-Session-Id is missing; send an initialize request first and repeat the id that its response has";
        return Err(refuse(StatusCode::BAD_REQUEST, message));
    };
    let session = name.to_str().ok().and_then(|name| shard.session.state.sessions.get(name));
    // Somebody else's session is as unknown as none. So is one that was begun with other rights, from elsewhere or with
    // another token: what it sees was decided then.
    let snapshot = &shard.gateway.snapshot;
    if let Some(session) = &session {
        session.keep_up(&shard.session);
    }
    let is_here = |session: &Arc<Session>| {
        session.identity.is_alike(&entry.identity, snapshot)
            && session.profile == entry.profile
            && matches!(session.face, Face::Http(_))
    };
    let session = session.filter(is_here).ok_or_else(|| {
        let message =
            "this session is unknown or has ended; send an initialize request without Mcp-Session-Id";
        refuse(StatusCode::NOT_FOUND, message)
    })?;
    session.until.renew(&entry.identity.principal);
    Ok(session)
}

/// A version header in a session names a version that sessions can have (2025-06-18, protocol version header).
pub(super) fn check_version(version: Option<&str>, id: Option<&Id>) -> Result<(), Box<Response<Body>>> {
    let Some(version) = version else { return Ok(()) };
    if by_version(version).is_some_and(|era| era.lifecycle == Lifecycle::Handshake) {
        return Ok(());
    }
    let message = format!("MCP-Protocol-Version {version:?} is not served here");
    Err(Box::new(answer::refusal_of(StatusCode::BAD_REQUEST, &message, id)))
}
