//! GET and DELETE of Streamable HTTP: the standing stream (for messages that belong to no request), resumption, and the
//! end of a session.

use std::sync::Arc;

use engine::session::EventId;
use http::{HeaderMap, Request, Response, StatusCode};
use proto::era::{Lifecycle, by_version};
use proto::rpc::Id;
use transport::net::fields::{field, has_field, text};
use transport::net::{Body, Incoming};

use super::entry::AdmittedRequest;
use super::opened::{opened_stream, standing};
use super::{answer, header_names, media, resumed, sse};
use crate::process::Shard;
use crate::session::restore::restore;
use crate::session::session::{ClientChannel, Session};
use crate::session::streams::StreamFault;

/// Opens or resumes a stream.
pub(super) async fn get(
    shard: &Arc<Shard>,
    entry: &AdmittedRequest,
    request: &Request<Incoming>,
) -> Response<Body> {
    let headers = request.headers();
    if let Err(refusal) = media::check_get(headers) {
        return *refusal;
    }
    if sse::is_opening(headers) {
        return sse::open(shard, entry, request.uri().path());
    }
    let session = match named(shard, entry, headers).await {
        Ok(session) => session,
        Err(refusal) => return *refusal,
    };
    let ClientChannel::Http(streams) = &session.channel else { return answer::not_allowed() };
    session.touch();
    let last = field(headers, &header_names::LAST_EVENT_ID).and_then(text);
    let opened = match last.map(EventId::parse) {
        None => standing(&session, streams),
        Some(Some(last)) if streams.has_sent(last) => streams.resume(last),
        Some(Some(last)) => {
            return Box::pin(resumed::elsewhere(shard, (entry, headers), (&session, streams), last)).await;
        }
        Some(None) => Err(StreamFault::Gap),
    };
    opened_stream(opened)
}

/// Ends a session.
pub(super) async fn delete(
    shard: &Arc<Shard>,
    entry: &AdmittedRequest,
    request: &Request<Incoming>,
) -> Response<Body> {
    let session = match named(shard, entry, request.headers()).await {
        Ok(session) => session,
        Err(refusal) => return *refusal,
    };
    if let Some(session) = shard.session.state.sessions.remove(&session.id) {
        shard.session.state.end_for_good(&session);
        let shard = shard.clone();
        // The client need not wait until its servers have been notified; the task ends once they have been notified.
        transport::task::spawn(async move { session.end(&shard.session).await });
    }
    answer::empty(StatusCode::NO_CONTENT)
}

/// Returns the session that a request without a message names.
async fn named(
    shard: &Arc<Shard>,
    entry: &AdmittedRequest,
    headers: &HeaderMap,
) -> Result<Arc<Session>, Box<Response<Body>>> {
    let version =
        field(headers, &header_names::PROTOCOL_VERSION).map(|version| version.to_str().map(str::trim));
    let is_stateless =
        |version: &str| by_version(version).is_some_and(|era| era.lifecycle == Lifecycle::Stateless);
    if !has_field(headers, &header_names::SESSION_ID)
        && matches!(version, Some(Ok(version)) if is_stateless(version))
    {
        return Err(Box::new(answer::not_allowed()));
    }
    let session = find(shard, entry, headers, None).await?;
    check_version(version.map(|version| version.unwrap_or("(not readable text)")), None)?;
    Ok(session)
}

/// Returns the session that a request names; `id` is the id of the request's message. Restores a session that is
/// not in this process's memory.
pub(super) async fn find(
    shard: &Arc<Shard>,
    entry: &AdmittedRequest,
    headers: &HeaderMap,
    id: Option<&Id>,
) -> Result<Arc<Session>, Box<Response<Body>>> {
    match known(shard, entry, headers, id)? {
        Some(session) => Ok(session),
        None => restored(shard, entry, headers, id).await,
    }
}

/// Returns the session that a request names, without waiting; `None` if the session is not in this process's
/// memory.
pub(super) fn known(
    shard: &Shard,
    entry: &AdmittedRequest,
    headers: &HeaderMap,
    id: Option<&Id>,
) -> Result<Option<Arc<Session>>, Box<Response<Body>>> {
    let Some(name) = field(headers, &header_names::SESSION_ID) else {
        let message = "the Mcp-Session-Id header is missing; send an initialize request first, and then the id in \
                       its response";
        return Err(Box::new(answer::refusal_of(StatusCode::BAD_REQUEST, message, id)));
    };
    let Some(session) = shard.session.state.sessions.get(text(name).unwrap_or_default()) else {
        return Ok(None);
    };
    checked(shard, entry, session, id).map(Some)
}

/// Restores the session that a request names, if the session was opened in an earlier process or has been forgotten.
pub(super) async fn restored(
    shard: &Shard,
    entry: &AdmittedRequest,
    headers: &HeaderMap,
    id: Option<&Id>,
) -> Result<Arc<Session>, Box<Response<Body>>> {
    let name = field(headers, &header_names::SESSION_ID).and_then(text).unwrap_or_default();
    match restore(&shard.session, name, (&entry.identity, entry.profile)).await {
        Ok(Some(session)) => checked(shard, entry, session, id),
        Ok(None) => Err(unknown(id)),
        Err(full) => {
            let message = full.describe("sessions", "limits.sessions");
            Err(Box::new(answer::refusal_of(StatusCode::SERVICE_UNAVAILABLE, &message, id)))
        }
    }
}

/// Checks that a session belongs to this caller. Another caller's session is treated as unknown. So is a session
/// that was started with other rights, from another address or with another token, because these determine what the
/// session can see.
fn checked(
    shard: &Shard,
    entry: &AdmittedRequest,
    session: Arc<Session>,
    id: Option<&Id>,
) -> Result<Arc<Session>, Box<Response<Body>>> {
    session.keep_up(&shard.session);
    let is_here = session.identity.is_alike(&entry.identity, &shard.gateway.snapshot)
        && session.profile == entry.profile
        && matches!(session.channel, ClientChannel::Http(_));
    if !is_here {
        return Err(unknown(id));
    }
    session.until.renew(&entry.identity.principal);
    Ok(session)
}

fn unknown(id: Option<&Id>) -> Box<Response<Body>> {
    let message =
        "this session is unknown or has ended; send an initialize request without the Mcp-Session-Id header";
    Box::new(answer::refusal_of(StatusCode::NOT_FOUND, message, id))
}

/// Checks that the version in the header of a request in a session has sessions (2025-06-18, protocol version
/// header).
pub(super) fn check_version(version: Option<&str>, id: Option<&Id>) -> Result<(), Box<Response<Body>>> {
    let Some(version) = version else { return Ok(()) };
    if by_version(version).is_some_and(|era| era.lifecycle == Lifecycle::Handshake) {
        return Ok(());
    }
    let message = format!("the version {version:?} in the MCP-Protocol-Version header is not supported here");
    Err(Box::new(answer::refusal_of(StatusCode::BAD_REQUEST, &message, id)))
}
