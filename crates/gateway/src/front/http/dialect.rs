//! Endpoints that imitate another system (a dialect) over HTTP: converts bodies and headers to messages and back.
//! `front::dialect` processes the messages.

use std::sync::Arc;

use bytes::Bytes;
use engine::Condition;
use engine::dialect::{
    CrossOriginRequest, Dialect, DialectFault, DialectReply, GetAnswer, Sessions as Issued, Streams,
    UnknownSession, cross_origin, not_served, shown_info,
};
use engine::places::ServedPath;
use http::header::{ACCEPT, ORIGIN};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use proto::codec::headers as names;
use proto::era::by_version;
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::JoinHandle;
use transport::net::{Body, Incoming};

use super::body;
use super::entry::AdmittedRequest;
use super::reply::{self, set_headers};
use super::{answer, get, limited, media, post};
use crate::admission::client_label;
use crate::admission::identity::Identity;
use crate::dialect_session::sessions::Session;
use crate::front::dialect::{
    Front, MessageOutcome, open, refuse, refuse_message, refuse_text, take, too_soon,
};
use crate::process::Shard;
use crate::session::seal;
use crate::session::streams::event;
use transport::net::Arrived;
use upstream::NO_RANDOM;

/// One request at an endpoint with a dialect, with its caller.
pub(super) struct Visit<'a> {
    pub(super) shard: &'a Arc<Shard>,
    pub(super) place: &'a ServedPath,
    pub(super) front: Front,
    pub(super) entry: AdmittedRequest,
}

impl Visit<'_> {
    /// Answers a request.
    pub(super) async fn respond(self, request: Arrived) -> Response<Body> {
        let row = &self.front.row;
        if *request.method() == Method::OPTIONS {
            return preflight(row, request.headers());
        }
        let origin = origin(request.headers());
        let mut response = match *request.method() {
            Method::POST if self.place.posts => self.post(request).await,
            Method::GET => match self.too_soon(request.headers()).await {
                Some(refusal) => refusal,
                None if self.is_standard(request.headers()) => {
                    get::get(self.shard, &self.entry, &request).await
                }
                None => self.get(&request),
            },
            Method::DELETE if self.is_standard(request.headers()) => {
                get::delete(self.shard, &self.entry, &request).await
            }
            _ => reply::response(not_served(row)),
        };
        cross(row, origin.as_deref(), false, &mut response);
        response
    }

    /// Returns the refusal if a rate limit rejects a request without a message.
    async fn too_soon(&self, headers: &HeaderMap) -> Option<Response<Body>> {
        let verdict =
            limited::count(self.shard, &self.entry, headers).await.filter(|verdict| !verdict.allowed)?;
        Some(reply::response(refuse(&self.front.row, &too_soon(&verdict))))
    }

    fn get(&self, request: &Request<Incoming>) -> Response<Body> {
        let row = &self.front.row;
        let streams = match row.events.streams {
            Streams::None => false,
            Streams::Beside => self.place.streams,
            // The same path may serve something else to clients that do not ask for events.
            Streams::Same if row.web.get == GetAnswer::Info => media::names_events(request.headers()),
            Streams::Same => {
                media::check_get(request.headers()).is_ok() || !request.headers().contains_key(ACCEPT)
            }
        };
        if streams {
            let path = self.place.messages.as_deref().unwrap_or(request.uri().path());
            return match open(self.shard, &self.front, &self.entry.identity, path) {
                Ok(body) => answer::events(body),
                Err(message) => self.full(&message),
            };
        }
        let profile = &self.shard.gateway.snapshot.profiles[self.front.profile].slug;
        let info = (row.web.get == GetAnswer::Info).then(|| shown_info(row, profile)).flatten();
        reply::response(info.unwrap_or_else(|| not_served(row)))
    }

    async fn post(&self, request: Arrived) -> Response<Body> {
        if self.is_standard(request.headers()) {
            return post::post(self.shard, &mut self.entry.clone(), request).await;
        }
        let (head, mut body) = request.into_parts();
        let session = match self.session(&head.headers, head.uri.query()) {
            Ok(session) => session,
            Err(refusal) => return *refusal,
        };
        let text = match body::collected(self.shard, &mut body).await {
            Ok(text) => text,
            Err(unread) => return self.unread(&unread),
        };
        let identity = &self.entry.identity;
        let taken = match session.as_ref().and_then(|session| Some((session, session.stream()?))) {
            None => {
                let session = session.as_ref();
                take(self.shard, &self.front, identity, session, Some(&head.headers), &text).await
            }
            Some((session, stream)) => {
                // A client with too many running requests waits here. The semaphore is never closed.
                let place = stream.room.clone().acquire_owned().await.ok();
                let taking = self.take_beside(session.clone(), head.headers.clone(), text.clone(), place);
                let row = &self.front.row;
                if !row.events.answer_in_body && !row.hello.standard_clients {
                    return answer::text(StatusCode::ACCEPTED, "Accepted");
                }
                match taking.await {
                    Ok(taken) => taken,
                    Err(_) => return self.refuse_text(&text, "the request was incomplete"),
                }
            }
        };
        match taken {
            MessageOutcome::Standard(verdict) => {
                let counted = post::RateCounted::Yes(verdict);
                post::take(self.shard, &self.entry, &head.headers, text, counted).await
            }
            MessageOutcome::Reply(reply, begins) => self.reply(reply, begins, session.as_deref(), &text),
        }
    }

    /// Processes a message from a client with an event stream. The reply is sent on the stream, even if the client
    /// disconnects before its POST is answered.
    fn take_beside(
        &self,
        session: Arc<Session>,
        headers: HeaderMap,
        text: Bytes,
        place: Option<OwnedSemaphorePermit>,
    ) -> JoinHandle<MessageOutcome> {
        let (shard, front, identity) = (self.shard.clone(), self.front.clone(), self.entry.identity.clone());
        transport::task::spawn(async move {
            let taken = take(&shard, &front, &identity, Some(&session), Some(&headers), &text).await;
            if let MessageOutcome::Reply(reply, _) = &taken
                && !reply.body.is_empty()
            {
                session.send(event(&reply.body));
            }
            drop(place);
            taken
        })
    }

    /// Returns the reply as the response body; a client with a stream has already received the reply on the stream.
    fn reply(
        &self,
        mut reply: DialectReply,
        begins: bool,
        session: Option<&Session>,
        text: &Bytes,
    ) -> Response<Body> {
        let row = &self.front.row;
        let streamed = session.is_some_and(Session::has_stream);
        if streamed && !row.events.answer_in_body {
            return answer::text(StatusCode::ACCEPTED, "Accepted");
        }
        if begins && session.is_none() && row.hello.sessions == Issued::Issued {
            match self.issue(text) {
                Ok(id) => reply.headers.push((names::SESSION_ID, id)),
                Err(message) => return self.no_room(text, &message),
            }
        }
        reply::response(reply)
    }

    /// Returns the refusal of a valid message.
    fn refuse_text(&self, text: &Bytes, message: &str) -> Response<Body> {
        let fault = DialectFault::new(Condition::Internal, message);
        reply::response(refuse_text(self.shard, &self.front.row, text, &fault))
    }

    /// Returns the dialect's refusal, with the dialect's own status, if there are too many sessions.
    fn no_room(&self, text: &Bytes, message: &str) -> Response<Body> {
        let fault = DialectFault::new(Condition::Internal, message);
        let mut reply = refuse_text(self.shard, &self.front.row, text, &fault);
        reply.headers.push(("retry-after", answer::RETRY_LATER.to_string()));
        reply::response(reply)
    }

    /// Opens a session for a client that has just sent its introduction.
    ///
    /// # Errors
    /// Returns the message of a refusal if there are too many sessions.
    fn issue(&self, text: &Bytes) -> Result<String, String> {
        let id = seal::random_id().map_err(|_| NO_RANDOM.to_owned())?;
        let gateway = &self.shard.gateway;
        let idle = Some(gateway.snapshot.limits.session_idle);
        let session = Session::new(self.entry.identity.clone(), self.front.profile, None, idle);
        session.initialize(client_label::program_in(text));
        let added = gateway.process.dialect_sessions.add(&id, session, &self.entry.identity);
        added.map_err(|full| full.describe("sessions", "limits.sessions")).map(|_| id)
    }

    /// Returns the session that a request names, if that session exists.
    fn session(
        &self,
        headers: &HeaderMap,
        query: Option<&str>,
    ) -> Result<Option<Arc<Session>>, Box<Response<Body>>> {
        let row = &self.front.row;
        let has_streams = row.events.streams != Streams::None;
        let parameter = &*row.events.session_parameter;
        let pairs = query.filter(|_| has_streams).unwrap_or_default().split('&');
        let mut pairs = pairs.filter_map(|pair| pair.split_once('='));
        let in_query = pairs.find(|(key, _)| *key == parameter).map(|(_, id)| id);
        // If `initialize` also returns a session id, clients without a stream continue in that session.
        let in_header = || {
            let id = headers.get(names::SESSION_ID).and_then(|id| id.to_str().ok());
            id.filter(|_| !has_streams || row.hello.sessions == Issued::Issued)
        };
        let Some(id) = in_query.or_else(in_header) else { return Ok(None) };
        let who = (&self.entry.identity, self.front.profile);
        let gateway = &self.shard.gateway;
        let found = gateway.process.dialect_sessions.get(id, who, &gateway.snapshot);
        if found.is_none() && in_query.is_some() && row.events.unknown_session == UnknownSession::Refuse {
            let message = "this session is unknown or has ended with its event stream; open another session";
            return Err(Box::new(answer::refusal(StatusCode::NOT_FOUND, message)));
        }
        Ok(found)
    }

    /// Returns true if the request continues a session of the standard protocol.
    fn is_standard(&self, headers: &HeaderMap) -> bool {
        if !self.front.row.hello.standard_clients {
            return false;
        }
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        text(names::SESSION_ID).is_some_and(|id| self.shard.session.state.sessions.get(id).is_some())
            || text(names::PROTOCOL_VERSION).is_some_and(|version| by_version(version.trim()).is_some())
    }

    /// Returns the refusal if there are too many event streams. Clients read only the status, so the refusal does
    /// not depend on the dialect's messages.
    fn full(&self, message: &str) -> Response<Body> {
        let mut reply = refuse(&self.front.row, &DialectFault::new(Condition::Internal, message));
        reply.status = StatusCode::SERVICE_UNAVAILABLE.as_u16();
        reply.headers.push(("retry-after", answer::RETRY_LATER.to_string()));
        reply::response(reply)
    }

    /// Returns the refusal with the matching status if a body could not be read.
    fn unread(&self, unread: &body::UnreadableBody) -> Response<Body> {
        let fault = DialectFault::new(Condition::InvalidRequest, unread.message.clone());
        let mut reply = refuse(&self.front.row, &fault);
        reply.status = unread.status.as_u16();
        reply::response(reply)
    }
}

/// Returns the answer to a CORS preflight request.
pub(super) fn preflight(row: &Dialect, headers: &HeaderMap) -> Response<Body> {
    let mut response = answer::empty(StatusCode::NO_CONTENT);
    cross(row, origin(headers).as_deref(), true, &mut response);
    response
}

fn origin(headers: &HeaderMap) -> Option<String> {
    headers.get(ORIGIN).and_then(|origin| origin.to_str().ok()).map(str::to_owned)
}

/// Adds CORS headers for a browser. Foreign origins were refused earlier.
fn cross(row: &Dialect, origin: Option<&str>, preflight: bool, response: &mut Response<Body>) {
    if let Some(origin) = origin {
        let cross = CrossOriginRequest { origin, allowed: true, preflight };
        set_headers(response.headers_mut(), cross_origin(row, cross));
    }
}

/// Answers a request for a profile that does not exist.
pub(super) async fn stranger(
    shard: &Arc<Shard>,
    row: &Dialect,
    identity: &Identity,
    profile: String,
    request: Arrived,
) -> Response<Body> {
    let fault = DialectFault::new(Condition::UnknownProfile, format!("there is no profile {profile:?}"));
    let fault = fault.about(profile);
    let (head, mut body) = request.into_parts();
    let text = if head.method == Method::POST {
        match body::read(shard, &mut body).await {
            Ok(text) => Some(text),
            Err(refusal) => return *refusal,
        }
    } else {
        None
    };
    reply::response(refuse_message(shard, row, (identity, &head.headers), text.as_ref(), &fault).await)
}
