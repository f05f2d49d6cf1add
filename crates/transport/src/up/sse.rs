//! A link over HTTP+SSE (MCP 2024-11-05, transports: HTTP with SSE): one event stream brings all that the server says,
//! and each message to it is a POST to the address that the stream opens with.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use http_body_util::BodyExt;
use proto::codec::sse::{SseDecoder, SseError, SseEvent};
use proto::era::{Era, ServerHello};
use proto::rpc::{Frame, FrameLimits, Id, Kind};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};
use tracing::Instrument as _;

use super::endpoint::Endpoint;
use super::media::{Media, excerpt, media_type};
use super::mux::{Intake, Mux};
use super::session_gone::says_session_gone;
use super::{
    HttpTarget, LinkError, MuxCall, MuxFault, MuxRoom, OpenCalls, Owner, Refusal, Unasked, read_hello,
};
use crate::net::client::{Client, ResponseBody};
use crate::net::{Stop, collect};

const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// The time for which the answer to a POST is waited for before its exchange goes on: it says whether the message was
/// taken, but some servers say that only once they have worked on it.
const HOLD: Duration = Duration::from_secs(1);

/// The time for which a POST may go on when nobody needs its answer any more. Its connection serves again if it ends
/// in time.
const LINGER: Duration = Duration::from_secs(1);

/// How much of an unfinished event is kept before it is known where messages go.
const LONGEST_OPENING: usize = 64 << 10;

/// How much of an answer that says nothing is read.
const IDLE_TALK: usize = 64 << 10;

/// One session over HTTP+SSE. It ends with the last clone.
#[derive(Debug, Clone)]
pub struct SseLink(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    target: Arc<HttpTarget>,
    endpoint: Endpoint,
    mux: Mux,
    stop: Stop,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

impl SseLink {
    /// Opens the event stream at the target's address and waits for the address to POST to, within the target's
    /// patience. The returned future reads the stream until it ends and must be spawned by the caller; what answers no
    /// exchange goes to the returned receiver.
    ///
    /// # Errors
    /// [`LinkError::Status`] and [`LinkError::EventStream`] when there is no such stream, or its address is not on the
    /// stream's own origin.
    pub async fn open(
        client: &Client,
        target: Arc<HttpTarget>,
        room: MuxRoom,
    ) -> Result<(Self, impl Future<Output = MuxFault> + Send + 'static, Unasked), LinkError> {
        let patience = target.limits.patience;
        let opening = async {
            let mut events = Events::open(client, &target).await?;
            let endpoint = events.endpoint(&target).await?;
            Ok::<_, LinkError>((events, endpoint))
        };
        let (events, endpoint) =
            timeout(patience, opening).await.map_err(|_| LinkError::Late(patience.as_secs()))??;
        let (mux, intake, unasked) = Mux::new(target.limits.frame, room);
        let stop = Stop::new();
        let reader = read(events, intake, stop.clone());
        Ok((Self(Arc::new(Inner { target, endpoint, mux, stop })), reader, unasked))
    }

    /// Introduces the gateway with `request`, an `initialize` request under id `key`, within the target's patience.
    ///
    /// # Errors
    /// [`LinkError`] when the server does not take it.
    pub async fn introduce(
        &self,
        client: &Client,
        request: Bytes,
        key: u64,
        era: &'static Era,
    ) -> Result<ServerHello, LinkError> {
        let patience = self.0.target.limits.patience;
        let introduction = async {
            let hello = read_hello(&self.answered(client, key, request).await?, era)?;
            self.notify(client, proto::era::initialized()).await?;
            Ok(hello)
        };
        timeout(patience, introduction).await.map_err(|_| LinkError::Late(patience.as_secs()))?
    }

    /// Sends a request of the gateway's own and waits for its answer. The caller sets the deadline.
    ///
    /// # Errors
    /// As [`SseLink::call`] and [`MuxCall::next`].
    pub async fn answered(&self, client: &Client, key: u64, text: Bytes) -> Result<Frame, LinkError> {
        let mut call = self.own_call(client, key, text).await?;
        loop {
            let frame = call.next().await?;
            if matches!(frame.kind(), Kind::Response | Kind::Error) {
                return Ok(frame);
            }
        }
    }

    /// The calls of clients over it.
    pub fn calls(&self) -> &Arc<OpenCalls> {
        self.0.mux.calls()
    }

    /// Sends a client's request under our own id `key`; its messages come to the returned call. What is said of messages
    /// that name no exchange at [`PipeLink::call`](super::PipeLink::call) holds here, too.
    ///
    /// # Errors
    /// When the link is gone or the request is refused; [`MuxCall::next`] tells it when that shows later.
    pub async fn call(
        &self,
        client: &Client,
        key: u64,
        text: Bytes,
        owner: Owner,
    ) -> Result<MuxCall, LinkError> {
        self.send(client, key, text, Some(owner)).await
    }

    /// As [`SseLink::call`], for a request of the gateway's own, behind which no client stands.
    ///
    /// # Errors
    /// The same.
    pub async fn own_call(&self, client: &Client, key: u64, text: Bytes) -> Result<MuxCall, LinkError> {
        self.send(client, key, text, None).await
    }

    async fn send(
        &self,
        client: &Client,
        key: u64,
        text: Bytes,
        owner: Option<Owner>,
    ) -> Result<MuxCall, LinkError> {
        let mut call = self.0.mux.open(key, owner)?;
        let (mut failed, sending) = oneshot::channel();
        let (link, client) = (self.clone(), client.clone());
        // Beside the exchange: a server may ask something on the stream before it answers the POST.
        let posting = async move {
            let mut post = pin!(link.post(&client, text));
            tokio::select! {
                outcome = &mut post => if let Err(why) = outcome {
                    let gone = matches!(why, LinkError::SessionGone);
                    let _ = failed.send(why);
                    if gone {
                        link.stop();
                    }
                },
                () = failed.closed() => {
                    let _ = timeout(LINGER, post).await;
                }
            }
        };
        tokio::spawn(posting.in_current_span());
        call.sent(sending, HOLD).await?;
        Ok(call)
    }

    /// Sends a notification, or an answer to a question of the server.
    ///
    /// # Errors
    /// When the link is gone or the message is refused.
    pub async fn notify(&self, client: &Client, text: Bytes) -> Result<(), LinkError> {
        if let Some(why) = self.why_closed() {
            return Err(why.into());
        }
        let sent = self.post(client, text).await;
        if matches!(sent, Err(LinkError::SessionGone)) {
            self.stop();
        }
        sent
    }

    /// Returns true if the stream has ended.
    pub fn is_closed(&self) -> bool {
        self.0.mux.is_closed()
    }

    /// The reason why the stream ended, when it has.
    pub fn why_closed(&self) -> Option<MuxFault> {
        self.0.mux.why_closed()
    }

    /// Closes the stream, and so ends the session. Open exchanges fail.
    pub fn stop(&self) {
        self.0.stop.stop();
    }

    async fn post(&self, client: &Client, text: Bytes) -> Result<(), LinkError> {
        let limit = self.0.target.limits.body;
        let deadline = Instant::now() + limit;
        let mut request = Request::new(text);
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.0.endpoint.uri().clone();
        *request.headers_mut() = self.0.target.headers.clone();
        request.headers_mut().insert(CONTENT_TYPE, JSON);
        let shown = self.0.target.credential.line();
        request.headers_mut().extend(shown.clone());
        let response = tokio::time::timeout_at(deadline, client.request(request)).await;
        let response = response.map_err(|_| LinkError::Late(limit.as_secs()))??;
        let (shown, is_near) = (shown.map(|(_, value)| value), response.body().is_from_near());
        let refusal = Refusal::of(response.status(), response.headers(), shown, is_near);
        match (self.posted(response, deadline).await, refusal) {
            (Err(LinkError::Status { body, .. }), Some(refusal)) => {
                Err(LinkError::Unauthorized(Box::new(refusal.saying(body))))
            }
            (posted, _) => posted,
        }
    }

    /// Reads what a POST was answered with: mostly nothing, for answers come on the stream.
    async fn posted(&self, response: Response<ResponseBody>, deadline: Instant) -> Result<(), LinkError> {
        let Inner { target, endpoint, mux, .. } = &*self.0;
        let status = response.status();
        let json = media_type(response.headers()) == Some(Media::Json);
        if status.is_success() && !json {
            let _ = collect(response.into_body(), IDLE_TALK, Instant::now() + LINGER).await;
            return Ok(());
        }
        let text = collect(response.into_body(), target.limits.result, deadline).await?;
        if status.is_success() || (json && is_answer(&text, target.limits.frame)) {
            // Some servers answer here.
            let _ = mux.take(text);
            return Ok(());
        }
        if says_session_gone(status, &text) {
            return Err(LinkError::SessionGone);
        }
        let body = excerpt(endpoint.without_secrets(&text).as_bytes());
        Err(LinkError::Status { status: status.as_u16(), body })
    }
}

/// Returns true if it is an answer that says which request it answers.
fn is_answer(text: &Bytes, limits: FrameLimits) -> bool {
    Frame::parse(text.clone(), limits).is_ok_and(|frame| {
        matches!(frame.kind(), Kind::Response | Kind::Error) && frame.id().and_then(Id::as_number).is_some()
    })
}

/// Reads the stream until it ends or the link is stopped.
async fn read(mut events: Events, intake: Intake, stop: Stop) -> MuxFault {
    let mut stopped = pin!(stop.stopped());
    loop {
        let event = tokio::select! {
            biased;
            () = &mut stopped => return intake.close(MuxFault::Stopped),
            event = events.next() => event,
        };
        match event {
            Ok(Ok(event)) => {
                if let Some(text) = message(event)
                    && let Err(e) = intake.take(text)
                {
                    tracing::debug!("an event is no message: {e}");
                }
            }
            Ok(Err(SseError::TooLong { limit })) => intake.left_out(MuxFault::TooLong(limit)),
            Err(why) => return intake.close(why),
        }
    }
}

/// The message that an event brings, if it brings one.
fn message(event: SseEvent) -> Option<Bytes> {
    let is_message = event.event.is_none_or(|kind| kind.as_ref() == b"message");
    event.data.filter(|data| is_message && !data.is_empty())
}

/// An event stream that is open.
struct Events {
    body: ResponseBody,
    decoder: SseDecoder,
}

impl Events {
    async fn open(client: &Client, target: &HttpTarget) -> Result<Self, LinkError> {
        let mut request = Request::new(Bytes::new());
        *request.uri_mut() = target.uri.clone();
        *request.headers_mut() = target.headers.clone();
        request.headers_mut().insert(ACCEPT, EVENTS);
        let shown = target.credential.line();
        request.headers_mut().extend(shown.clone());
        let response = client.request(request).await?;
        let status = response.status();
        if !status.is_success() {
            let (shown, is_near) = (shown.map(|(_, value)| value), response.body().is_from_near());
            let refusal = Refusal::of(status, response.headers(), shown, is_near);
            let text = collect(response.into_body(), IDLE_TALK, Instant::now() + LINGER).await;
            let body = excerpt(&text.unwrap_or_default());
            if let Some(refusal) = refusal {
                return Err(LinkError::Unauthorized(Box::new(refusal.saying(body))));
            }
            return Err(LinkError::Status { status: status.as_u16(), body });
        }
        if status == StatusCode::NO_CONTENT || media_type(response.headers()) != Some(Media::Events) {
            return Err(LinkError::EventStream("it answers a GET with no event stream".to_owned()));
        }
        Ok(Self { body: response.into_body(), decoder: SseDecoder::new(target.limits.event) })
    }

    /// The address that the stream opens with. Anything else may stand before it, as long as the patience lasts.
    async fn endpoint(&mut self, target: &HttpTarget) -> Result<Endpoint, LinkError> {
        let silent =
            |why: String| LinkError::EventStream(format!("it does not say where messages go: {why}"));
        loop {
            while let Some(event) = self.decoder.next_event() {
                let event = event.map_err(|e| silent(e.to_string()))?;
                if event.event.is_some_and(|kind| kind.as_ref() == b"endpoint") {
                    return Endpoint::resolve(&target.uri, &event.data.unwrap_or_default());
                }
            }
            if self.decoder.buffered() > LONGEST_OPENING {
                return Err(silent(format!("its first event is longer than {LONGEST_OPENING} bytes")));
            }
            self.fill().await.map_err(|why| silent(why.to_string()))?;
        }
    }

    /// The next event. Safe to drop and call again.
    async fn next(&mut self) -> Result<Result<SseEvent, SseError>, MuxFault> {
        loop {
            if let Some(event) = self.decoder.next_event() {
                return Ok(event);
            }
            self.fill().await?;
        }
    }

    async fn fill(&mut self) -> Result<(), MuxFault> {
        match self.body.frame().await {
            None => Err(MuxFault::Ended),
            Some(Err(e)) => Err(MuxFault::Broken(e.to_string().into())),
            Some(Ok(frame)) => {
                if let Ok(chunk) = frame.into_data() {
                    self.decoder.push(chunk);
                }
                Ok(())
            }
        }
    }
}
