//! A link over Streamable HTTP (2025-03-26 to 2026-07-28): one POST for each message.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use arc_swap::ArcSwap;
use bytes::Bytes;
use engine::exchange::{Mirror, TraceParent};
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{Method, Response, StatusCode};
use http_body::Body as _;
use proto::codec::headers as names;
use proto::era::Era;
use proto::rpc::{Frame, FrameKind, FrameLimits, Id};

use super::long::{LONG, LongReply};
use super::media::{Media, excerpt, media_type};
use super::mirrored::MessageHeaders;
use super::resume::Resume;
use super::target::HttpTarget;
use super::{CredentialRefusal, EventStream, LinkError, StreamItem, TooManyRequests, messages};
use crate::budget::Part;
use crate::net::client::{Client, Origin, OwnHeaders, ResponseBody, TRACEPARENT, Template};
use crate::net::collect_within;

mod introduction;

const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// The headers that are read in an answer.
static HEARD: [HeaderName; 4] =
    [CONTENT_TYPE, WWW_AUTHENTICATE, HeaderName::from_static(names::SESSION_ID), RETRY_AFTER];

/// The longest wait that a server may demand with "too many requests".
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// One session with an upstream; in eras without sessions, only the upstream's address and headers.
#[derive(Debug)]
pub struct HttpLink {
    target: Arc<HttpTarget>,
    era: &'static Era,
    session: OnceLock<HeaderValue>,
    /// The headers of every POST, including the session id once there is one.
    head: ArcSwap<Template>,
    /// True if another process continues the session, so that this one must not end it.
    is_left: AtomicBool,
    /// The origin in each thread's client, so that the origin is not looked up for each message.
    origins: ArcSwap<Vec<(usize, Origin)>>,
}

/// The answer to a POST.
#[derive(Debug)]
pub enum HttpReply {
    /// The message was accepted and has no answer.
    Accepted,
    /// The complete answer.
    Whole {
        /// The HTTP status.
        status: u16,
        /// The message.
        text: Bytes,
    },
    /// The answer arrives on a stream.
    Stream(Box<EventStream>),
    /// A long answer of which only the beginning has been read.
    Long(Box<LongReply>),
}

/// The answer to a request that the gateway itself sent.
#[derive(Debug)]
pub struct HttpAnswer {
    /// The answer.
    pub frame: Frame,
    /// The HTTP status.
    pub status: u16,
}

impl HttpLink {
    /// Creates a link that has not been introduced.
    pub fn new(target: Arc<HttpTarget>, era: &'static Era) -> Self {
        let mut head = target.headers.clone();
        head.insert(CONTENT_TYPE, JSON);
        head.insert(ACCEPT, BOTH);
        if era.version_header {
            head.insert(names::PROTOCOL_VERSION, HeaderValue::from_static(era.version));
        }
        let head = Template::new(Method::POST, &target.uri, head).hearing(&HEARD);
        Self {
            target,
            era,
            session: OnceLock::new(),
            head: ArcSwap::from_pointee(head),
            is_left: AtomicBool::new(false),
            origins: ArcSwap::default(),
        }
    }

    /// Creates a link in a session that another process has opened; `None` if the id of the session cannot be sent.
    pub fn in_session(target: Arc<HttpTarget>, era: &'static Era, session: Option<&[u8]>) -> Option<Self> {
        let link = Self::new(target, era);
        if let Some(session) = session {
            let mut session = HeaderValue::from_bytes(session).ok()?;
            session.set_sensitive(true);
            link.enter(session);
        }
        Some(link)
    }

    /// Returns the id of the session, if the upstream has opened one.
    pub fn session(&self) -> Option<&[u8]> {
        self.session.get().map(HeaderValue::as_bytes)
    }

    /// Returns the link's era.
    pub fn era(&self) -> &'static Era {
        self.era
    }

    fn change_head(&self, change: impl FnOnce(&mut HeaderMap)) {
        let mut headers = self.head.load().headers().clone();
        change(&mut headers);
        let head = Template::new(Method::POST, &self.target.uri, headers).hearing(&HEARD);
        self.head.store(Arc::new(head));
    }

    /// Sends a request, and returns the answer with its HTTP status.
    ///
    /// # Errors
    /// Returns the reason why there is no answer.
    pub async fn asked(
        &self,
        client: &Client,
        request: Bytes,
        key: u64,
        mirror: Option<&Mirror>,
        limits: FrameLimits,
    ) -> Result<HttpAnswer, LinkError> {
        self.asked_in(client, request, key, mirror, (self.era.batches, limits)).await
    }

    async fn asked_in(
        &self,
        client: &Client,
        request: Bytes,
        key: u64,
        mirror: Option<&Mirror>,
        (batches, limits): (bool, FrameLimits),
    ) -> Result<HttpAnswer, LinkError> {
        let read = |text| messages(text, batches, limits);
        let among = |frames: VecDeque<Frame>| {
            let answers = |frame: &Frame| {
                matches!(frame.kind(), FrameKind::Response | FrameKind::Error)
                    && frame.id().is_none_or(|id| *id == Id::number(key))
            };
            frames.into_iter().find(answers)
        };
        // If the body contains one message, that message is the answer, whatever its id: some servers do not repeat
        // the request's id in an error.
        let whole = |text| {
            let mut frames = read(text)?;
            let only = if frames.len() == 1 { frames.pop_front() } else { among(frames) };
            only.ok_or_else(|| LinkError::NotAMessage("an array without the answer".to_owned()))
        };
        let taken = |frame| HttpAnswer { frame, status: 200 };
        match self.post(client, request, mirror.into()).await? {
            HttpReply::Accepted => Err(LinkError::NotAMessage("an empty answer".to_owned())),
            HttpReply::Whole { status, text } => Ok(HttpAnswer { frame: whole(text)?, status }),
            HttpReply::Long(long) => Ok(taken(whole(Box::pin(long.read()).await?)?)),
            HttpReply::Stream(mut stream) => loop {
                if let StreamItem::Message(text) = stream.next(client).await?
                    && let Some(frame) = among(read(text)?)
                {
                    return Ok(taken(frame));
                }
            },
        }
    }

    /// Creates another link, which has not been introduced, to the same address.
    #[must_use]
    pub fn sibling(&self) -> Self {
        Self::new(self.target.clone(), self.era)
    }

    /// Sends a notification, or an answer to a question from the upstream.
    pub async fn notify(&self, client: &Client, text: Bytes) -> Result<(), LinkError> {
        self.post(client, text, MessageHeaders::default()).await.map(|_| ())
    }

    /// Sends a message.
    ///
    /// # Errors
    /// Returns the reason why there is no reply; a rejection without a message is [`LinkError::Status`].
    pub async fn post(
        &self,
        client: &Client,
        text: Bytes,
        of_message: MessageHeaders<'_>,
    ) -> Result<HttpReply, LinkError> {
        let origin = self.origin(client)?;
        let head = self.head.load_full();
        let mut lines = of_message.lines();
        let shown = self.target.credential.line();
        lines.extend(shown.clone());
        let traceparent = of_message.traceparent.map(TraceParent::as_bytes);
        let own = OwnHeaders { lines: &lines, traceparent };
        // A comparison with the few names costs less than a look-up.
        let is_fixed = |name: &HeaderName| head.headers().keys().any(|fixed| fixed == name);
        let response = if lines.iter().any(|(name, _)| is_fixed(name))
            || traceparent.is_some() && is_fixed(&TRACEPARENT)
        {
            let mut headers = head.headers().clone();
            for (name, value) in own.lines.iter().cloned().chain(own.trace_line()) {
                headers.insert(name, value);
            }
            let once = Template::new(Method::POST, &self.target.uri, headers).hearing(&HEARD);
            Box::pin(origin.send(&once, &OwnHeaders::NONE, text)).await?
        } else {
            origin.send(&head, &own, text).await?
        };
        self.reply(response, shown.map(|(_, value)| value)).await
    }

    fn origin(&self, client: &Client) -> Result<Origin, LinkError> {
        let known = self.origins.load();
        if let Some((_, origin)) = known.iter().find(|(id, _)| *id == client.id()) {
            return Ok(origin.clone());
        }
        let origin = self.target.origin(client)?;
        let mut more = known.to_vec();
        more.push((client.id(), origin.clone()));
        // If two threads do this at the same time, one entry may be lost; the origin is then looked up again.
        self.origins.store(Arc::new(more));
        Ok(origin)
    }

    /// Records the session that the upstream has opened, so that its id is sent with every later request.
    fn note_session(&self, headers: &HeaderMap) {
        if self.era.has_sessions()
            && self.session.get().is_none()
            && let Some(session) = headers.get(names::SESSION_ID)
        {
            let mut session = session.clone();
            session.set_sensitive(true);
            self.enter(session);
        }
    }

    /// Sends this session's id with every later request. If two answers contain a session, the first one counts.
    fn enter(&self, session: HeaderValue) {
        if self.session.set(session.clone()).is_ok() {
            self.change_head(|head| {
                head.insert(names::SESSION_ID, session);
            });
        }
    }

    async fn reply(
        &self,
        response: Response<ResponseBody>,
        shown: Option<HeaderValue>,
    ) -> Result<HttpReply, LinkError> {
        let status = response.status();
        let refusal =
            CredentialRefusal::of(status, response.headers(), shown, response.body().is_from_near());
        let kind = media_type(response.headers());
        let too_many = too_many(status, response.headers());
        if status.is_success() {
            self.note_session(response.headers());
            if kind == Some(Media::Events) {
                let resume = self.era.resumable.then(|| self.resume_request());
                let stream = EventStream::new(response.into_body(), resume, self.target.limits.get());
                return Ok(HttpReply::Stream(Box::new(stream)));
            }
        }
        let limits = self.target.limits.get();
        let length = response
            .body()
            .size_hint()
            .exact()
            .filter(|length| (LONG..=limits.result as u64).contains(length));
        if let Some(length) = length.filter(|_| status.is_success() && kind == Some(Media::Json)) {
            let begun = Box::pin(LongReply::begin(response.into_body(), length, limits)).await?;
            return Ok(HttpReply::Long(Box::new(begun)));
        }
        let mut body = response.into_body();
        let text = collect_within(&mut body, Part::Answers, limits.result, limits.body).await?;
        if status.is_success() && text.iter().all(u8::is_ascii_whitespace) {
            return Ok(HttpReply::Accepted);
        }
        // If a server sends a challenge, it requires a credential, whatever else it says.
        if let Some(refusal) = refusal
            && (!refusal.challenge.is_empty() || !is_answer(&text, limits.frame))
        {
            return Err(LinkError::Unauthorized(Box::new(refusal.saying(excerpt(&text)))));
        }
        if let Some(after) = too_many {
            let message = is_answer(&text, limits.frame).then(|| text.clone());
            let refusal = TooManyRequests { after, body: excerpt(&text), message };
            return Err(LinkError::TooMany(Box::new(refusal)));
        }
        if kind == Some(Media::Json) && (status.is_success() || is_answer(&text, limits.frame)) {
            return Ok(HttpReply::Whole { status: status.as_u16(), text });
        }
        Err(LinkError::Status { status: status.as_u16(), body: excerpt(&text) })
    }

    /// Returns true if the upstream keeps a session for the link.
    pub fn has_session(&self) -> bool {
        self.session.get().is_some()
    }

    /// Opens the stream (GET) on which the upstream sends its own messages; `None` if it has no such stream.
    ///
    /// # Errors
    /// Returns a [`LinkError`] if the upstream cannot be reached or has lost the session.
    pub async fn listen(&self, client: &Client) -> Result<Option<EventStream>, LinkError> {
        let resume = self.resume_request();
        let response = self.target.request(client, resume.build(None)).await?;
        if response.status() == StatusCode::METHOD_NOT_ALLOWED {
            return Ok(None);
        }
        if response.status().is_success() && media_type(response.headers()) == Some(Media::Events) {
            return Ok(Some(EventStream::new(response.into_body(), Some(resume), self.target.limits.get())));
        }
        if response.status() == StatusCode::NOT_FOUND && self.session.get().is_some() {
            return Err(LinkError::SessionGone);
        }
        Ok(None)
    }

    /// Continues the stream of a request after this event. The request may have been sent by another process.
    ///
    /// # Errors
    /// Returns a [`LinkError`] if the upstream cannot be reached, has lost the session, or does not continue the stream.
    pub async fn resume(&self, client: &Client, event: Bytes) -> Result<EventStream, LinkError> {
        let resume = self.resume_request();
        let response = self.target.request(client, resume.build(Some(&event))).await?;
        let status = response.status();
        if status.is_success() && media_type(response.headers()) == Some(Media::Events) {
            let limits = self.target.limits.get();
            return Ok(EventStream::resumed(response.into_body(), resume, limits, event));
        }
        if status == StatusCode::NOT_FOUND && self.session.get().is_some() {
            return Err(LinkError::SessionGone);
        }
        Err(LinkError::Status { status: status.as_u16(), body: String::new() })
    }

    /// Leaves the session to another process: closing this link does not end it.
    pub fn leave(&self) {
        self.is_left.store(true, Ordering::Relaxed);
    }

    /// Ends the session (DELETE). The result is ignored, because a server may refuse to end its sessions.
    pub async fn close(&self, client: &Client) {
        if self.session.get().is_none() || self.is_left.load(Ordering::Relaxed) {
            return;
        }
        let mut request = self.resume_request().build(None);
        *request.method_mut() = Method::DELETE;
        let _ = tokio::time::timeout(Duration::from_secs(2), self.target.request(client, request)).await;
    }

    fn resume_request(&self) -> Resume {
        Resume { target: self.target.clone(), post: self.head.load_full() }
    }
}

/// Returns the wait that a server demands with "too many requests"; `None` if it is too long.
fn too_many(status: StatusCode, headers: &HeaderMap) -> Option<Duration> {
    if status != StatusCode::TOO_MANY_REQUESTS {
        return None;
    }
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds)).filter(|wait| *wait <= LONGEST_WAIT)
}

fn is_answer(text: &Bytes, limits: FrameLimits) -> bool {
    Frame::parse(text.clone(), limits)
        .is_ok_and(|f| matches!(f.kind(), FrameKind::Response | FrameKind::Error))
}
