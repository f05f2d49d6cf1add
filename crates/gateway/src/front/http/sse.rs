//! HTTP+SSE (MCP 2024-11-05, transports: HTTP with SSE): a GET opens the event stream of a session, and the first event
//! contains the address for the client's POSTs. All messages to the client are sent on the stream.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use config::DEFAULT_PROFILE;
use engine::Snapshot;
use http::header::ACCEPT;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use proto::codec::sse::{KEEP_ALIVE, encode_event};
use proto::era::{Web, by_version};
use proto::rpc::{FrameError, Message};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;
use transport::net::{Body, BodySender, Incoming, Stop};

use super::body;
use super::entry::AdmittedRequest;
use super::replicas::movable::replica_at;
use super::replicas::passing_on::{self, OutgoingRequest};
use super::{answer, denied, guard, header_names, limited, media};
use crate::admission::identity::Identity;
use crate::front::lines::client::{Client, LINES, LineTransport};
use crate::process::Shard;
use crate::session::ending;
use crate::session::seal;
use crate::session::sessions::Door;
use crate::session::streams::event;
use crate::session::until::OpenStreamEntry;
use engine::Fault;
use transport::net::Arrived;

/// The path at which streams of the default profile are opened.
pub(super) const STREAM: &str = "/sse";

/// The path to which clients of these streams send their messages.
pub(super) const MESSAGES: &str = "/message";

/// The query parameter that names a session.
const SESSION: &str = "sessionId";

/// The query parameter that names the gateway of a cluster at which the stream is open.
const REPLICA: &str = "replica";

/// The maximum number of messages from a client that wait until earlier messages have been processed.
const AHEAD: usize = 16;

/// The maximum time that a client's next message waits for room in the queue.
const ROOM_TIME: Duration = Duration::from_secs(30);

/// The number of events that may be in transit to a client's connection, in addition to the queued events.
const EVENTS: usize = 16;

/// The interval of keep-alive events on an idle stream.
const KEEP_ALIVE_EVERY: Duration = Duration::from_secs(15);

/// The time for cancelling the calls of a disconnected client, and for writing a last event.
const FAREWELL: Duration = Duration::from_secs(2);

/// The content of one POST, parsed.
type ParsedPost = Result<Message, FrameError>;

/// Returns true if [`STREAM`] is served. It is not served if the default profile has a dialect, because then only
/// the paths of the imitated system exist.
pub(super) fn is_served(snapshot: &Snapshot) -> bool {
    let default = snapshot.profile_named(DEFAULT_PROFILE);
    default.is_some_and(|profile| snapshot.profiles[profile].dialect.is_none())
}

/// Handles a request to [`STREAM`].
pub(super) async fn stream(
    shard: &Arc<Shard>,
    identity: Identity,
    request: &Request<Incoming>,
) -> Response<Body> {
    match *request.method() {
        Method::GET => {
            if request.headers().contains_key(ACCEPT)
                && let Err(refusal) = media::check_get(request.headers())
            {
                return *refusal;
            }
            match shard.gateway.snapshot.profile_named(DEFAULT_PROFILE) {
                Some(profile) => {
                    enter(shard, &AdmittedRequest::new(profile, identity), request.headers()).await
                }
                None => answer::refusal(StatusCode::NOT_FOUND, "there is no default profile"),
            }
        }
        Method::OPTIONS => guard::preflight(),
        _ => answer::only(
            "GET",
            "a GET opens an event stream here, and its first event contains the address for messages",
        ),
    }
}

/// Opens a stream at the default profile for a caller that may use it.
async fn enter(shard: &Arc<Shard>, entry: &AdmittedRequest, headers: &HeaderMap) -> Response<Body> {
    if let Some(refused) = denied::elsewhere(shard, entry, STREAM) {
        return denied::refuse_entry(None, &refused);
    }
    match limited::count(shard, entry, headers).await.filter(|verdict| !verdict.allowed) {
        Some(refused) => limited::refused(&refused, None),
        None => open(shard, entry, STREAM),
    }
}

/// Handles a request to [`MESSAGES`].
pub(super) async fn messages(shard: &Arc<Shard>, entry: AdmittedRequest, request: Arrived) -> Response<Body> {
    match *request.method() {
        Method::POST => post(shard, None, entry, request).await,
        Method::OPTIONS => guard::preflight(),
        _ => answer::only("POST", "send the messages of a session here with POST; GET /sse opens a session"),
    }
}

/// Returns true if a GET at a Streamable HTTP endpoint opens a stream of HTTP+SSE: the request names neither a session
/// nor a version that uses another transport.
pub(super) fn is_opening(headers: &HeaderMap) -> bool {
    let version = headers.get(&header_names::PROTOCOL_VERSION);
    let is_older = |version: &str| by_version(version.trim()).is_some_and(|era| era.web == Web::EventStream);
    !headers.contains_key(&header_names::SESSION_ID)
        && !headers.contains_key(&header_names::LAST_EVENT_ID)
        && version.is_none_or(|version| version.to_str().is_ok_and(is_older))
        && media::names_events(headers)
}

/// Returns the session that a URL names.
pub(super) fn session_named(request: &Request<Incoming>) -> Option<&str> {
    parameter(request, SESSION)
}

fn parameter<'r>(request: &'r Request<Incoming>, name: &str) -> Option<&'r str> {
    let query = request.uri().query()?;
    query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
}

/// Opens a session with its stream. The session ends when the client stops reading the stream.
pub(super) fn open(shard: &Arc<Shard>, entry: &AdmittedRequest, path: &str) -> Response<Body> {
    let sessions = &shard.session.state.sessions;
    if shard.gateway.process.stop.is_stopped() {
        return answer::refusal(StatusCode::SERVICE_UNAVAILABLE, "this server is stopping");
    }
    let permit = match ending::permit(&shard.session, &entry.identity) {
        Ok(permit) => permit,
        Err(full) => {
            let message = full.describe("sessions", "limits.sessions");
            return answer::refusal(StatusCode::SERVICE_UNAVAILABLE, &message);
        }
    };
    let Ok(id) = seal::random_id() else {
        let message = "the operating system's random number generator failed";
        return answer::refusal(StatusCode::INTERNAL_SERVER_ERROR, message);
    };
    let (messages, inbox) = mpsc::channel(AHEAD);
    let class = entry.identity.access_class(&shard.gateway.snapshot);
    let ends = Stop::new();
    let holding = OpenStreamEntry::new(&shard.session.state.holders, &entry.identity, "GET (HTTP+SSE)");
    let door = Door {
        profile: entry.profile,
        principal: entry.identity.principal.clone(),
        passed: entry.identity.passed.clone(),
        class,
        regime: shard.gateway.snapshot.regime,
        ends: ends.clone(),
        held: holding.held.clone(),
        messages,
    };
    sessions.open_door(id.as_str().into(), door, permit);
    // If another configuration took effect in the meantime, this stream was not checked against it.
    let now = shard.view.state.current.load();
    if shard.gateway.snapshot.regime != now.regime || !now.profiles[entry.profile].is_there {
        ends.stop();
    }
    let place = if path == STREAM { MESSAGES } else { path };
    let mut first = Vec::new();
    let at = replica_at(shard).map_or_else(String::new, |replica| format!("&{REPLICA}={replica:016x}"));
    encode_event(&mut first, Some("endpoint"), None, None, format!("{place}?{SESSION}={id}{at}").as_bytes());
    let (events, body) = Body::channel(EVENTS);
    // This is the first event, so there is room for it.
    let _ = events.try_send(Bytes::from(first));
    let opened = Opened { shard: shard.clone(), id: id.into(), ends, holding };
    transport::task::spawn(serve(opened, entry.clone(), inbox, events));
    answer::events(body)
}

/// An open stream with its session; dropping it closes the receiver of the session's messages.
struct Opened {
    shard: Arc<Shard>,
    id: Box<str>,
    ends: Stop,
    holding: OpenStreamEntry,
}

impl Drop for Opened {
    fn drop(&mut self) {
        self.shard.session.state.sessions.close_door(&self.id);
    }
}

/// Processes a client's messages until its stream ends or the gateway stops.
async fn serve(
    opened: Opened,
    entry: AdmittedRequest,
    mut inbox: mpsc::Receiver<ParsedPost>,
    events: BodySender,
) {
    let gateway = &opened.shard.gateway;
    let (out, queue) = mpsc::channel(LINES);
    let writer = transport::task::spawn(write(queue, events.clone()));
    let behind = Stop::new();
    let way = LineTransport {
        id: opened.id.clone(),
        profile: entry.profile,
        identity: entry.identity,
        out,
        behind: Some(behind.clone()),
        stateless: false,
        stranger: "send an initialize request first",
    };
    let client = Client::new(&opened.shard, way);
    let mut tasks = JoinSet::new();
    let has_gone = async {
        tokio::select! {
            () = events.gone() => {}
            () = behind.stopped() => {}
        }
    };
    tokio::pin!(has_gone);
    let stopping = tokio::select! {
        () = read(&client, &mut inbox, &mut tasks) => false,
        () = &mut has_gone => false,
        () = opened.holding.held.revoked() => false,
        () = gateway.process.stop.stopped() => true,
        () = opened.ends.stopped() => true,
    };
    if stopping {
        // Earlier requests are still answered, as long as the client reads the answers.
        let drain = async { while tasks.join_next().await.is_some() {} };
        tokio::select! {
            _ = timeout(gateway.snapshot.limits.drain_timeout, drain) => {}
            () = &mut has_gone => {}
        }
    }
    drop(inbox);
    client.end().await;
    let _ = timeout(FAREWELL, async { while tasks.join_next().await.is_some() {} }).await;
    tasks.shutdown().await;
    drop(client);
    let mut writer = writer;
    if behind.is_stopped() || timeout(FAREWELL, &mut writer).await.is_err() {
        writer.abort();
    }
}

async fn read(
    client: &std::sync::Arc<Client>,
    inbox: &mut mpsc::Receiver<ParsedPost>,
    tasks: &mut JoinSet<()>,
) {
    while let Some(posted) = inbox.recv().await {
        client.take(posted, tasks).await;
        while tasks.try_join_next().is_some() {}
    }
}

async fn write(mut queue: mpsc::Receiver<Bytes>, events: BodySender) {
    loop {
        let piece = tokio::select! {
            message = queue.recv() => match message {
                Some(message) => event(&message),
                None => return,
            },
            () = tokio::time::sleep(KEEP_ALIVE_EVERY) => Bytes::from_static(KEEP_ALIVE),
        };
        if events.send(piece).await.is_err() {
            return;
        }
    }
}

/// Receives a message for a session. `profile` is the profile of the endpoint, if its path names one.
pub(super) async fn post(
    shard: &Arc<Shard>,
    profile: Option<usize>,
    entry: AdmittedRequest,
    request: Arrived,
) -> Response<Body> {
    let identity = &entry.identity;
    let Some(id) = session_named(&request) else {
        let message = "sessionId is missing from the URL; GET /sse opens a session, and its first event contains the URL";
        return answer::refusal(StatusCode::BAD_REQUEST, message);
    };
    let is_here = |door: &Door| {
        let is_own = door.principal.id == identity.principal.id
            && door.passed == identity.passed
            && door.regime == shard.gateway.snapshot.regime
            && door.class == identity.access_class(&shard.gateway.snapshot);
        is_own && profile.is_none_or(|profile| profile == door.profile)
    };
    let Some(door) = shard.session.state.sessions.door(id).filter(is_here) else {
        return Box::pin(elsewhere(shard, &entry, request)).await;
    };
    door.held.until.renew(&identity.principal);
    if let Err(refusal) = media::check_json(request.headers()) {
        return *refusal;
    }
    let (head, mut body) = request.into_parts();
    let text = match body::read(shard, &mut body).await {
        Ok(text) => text,
        Err(refusal) => return *refusal,
    };
    let posted = match Message::parse(text, shard.gateway.frame_limits()) {
        // An answer without an id could not be matched to its request.
        Err(e) if e.id.is_none() => return answer::message(400, Fault::from(&e).response(None)),
        posted => posted,
    };
    // Only this gateway knows the session's profile, so only this gateway counts the message.
    let entry = AdmittedRequest { profile: door.profile, is_passed_on: false, ..entry };
    let verdict = match limited::count_all(shard, &entry, &head.headers, posted.as_ref().ok()).await {
        Ok(verdict) => verdict,
        Err(refusal) => return *refusal,
    };
    match timeout(ROOM_TIME, door.messages.send(posted)).await {
        Ok(Ok(())) => {
            let mut accepted = answer::text(StatusCode::ACCEPTED, "Accepted");
            if let Some(verdict) = verdict {
                limited::set_rate_headers(accepted.headers_mut(), &verdict);
            }
            accepted
        }
        Ok(Err(_)) => unknown(),
        Err(_) => {
            let message = "too many messages of this session are waiting; send this message again later";
            answer::refusal(StatusCode::SERVICE_UNAVAILABLE, message)
        }
    }
}

/// Passes a message on to the gateway of the cluster that the URL names. Without such a gateway, the session is unknown.
async fn elsewhere(shard: &Arc<Shard>, entry: &AdmittedRequest, request: Arrived) -> Response<Body> {
    let Some(movable) = &entry.movable else { return unknown() };
    let replica = parameter(&request, REPLICA).and_then(|id| u64::from_str_radix(id, 16).ok());
    let Some(replica) = replica else { return unknown() };
    let Some(peer) = passing_on::process(shard, replica).await else { return unknown() };
    let (head, mut body) = request.into_parts();
    let body = match body::read(shard, &mut body).await {
        Ok(text) => text,
        Err(refusal) => return *refusal,
    };
    let moved = OutgoingRequest { method: head.method, headers: &head.headers, body, id: None };
    passing_on::pass_on(shard, movable, moved, &peer).await
}

fn unknown() -> Response<Body> {
    let message = "this session is unknown or has ended with its event stream; open another session";
    answer::refusal(StatusCode::NOT_FOUND, message)
}
