//! A link over HTTP+SSE (MCP 2024-11-05, transports: HTTP with SSE): one event stream carries all messages of the
//! server, and each message to the server is a POST to the address that the stream announces.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Method, Request, Response};
use proto::era::{Era, ServerHello};
use proto::rpc::{Frame, FrameKind, FrameLimits, Id};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};
use tracing::Instrument as _;

use super::endpoint::Endpoint;
use super::media::{Media, excerpt, media_type};
use super::mux::{Intake, Mux};
use super::sse_events::{Events, message};
use super::{
    CredentialRefusal, HttpTarget, LinkError, MuxCall, MuxFault, MuxRoom, OpenCalls, Owner, UnaskedMessages,
    read_hello,
};
use crate::budget::Part;
use crate::net::client::{Client, ResponseBody};
use crate::net::{Stop, collect};

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// The time for which an exchange waits for the answer to its POST before it continues. The answer shows whether the
/// message was accepted, but some servers send the answer only after they have processed the message.
const HOLD: Duration = Duration::from_secs(1);

/// The time for which a POST may continue once nobody needs its answer. If the POST ends in time, its connection can be used again.
const LINGER: Duration = Duration::from_secs(1);

/// The maximum number of bytes that are read from an answer whose content is not needed.
const IDLE_TALK: usize = 64 << 10;

/// The id of the ping that checks whether a server knows the session. The id is larger than all ids of calls, and exact in every
/// JSON parser. Nobody waits for the ping's answer on the stream.
const PING_ID: u64 = (1 << 52) - 1;

/// The time that the server may take to accept the ping.
const PING_TIME: Duration = Duration::from_secs(2);

/// One session over HTTP+SSE. The session ends when the last clone is dropped.
#[derive(Debug, Clone)]
pub struct SseLink(Arc<SseState>);

#[derive(Debug)]
struct SseState {
    target: Arc<HttpTarget>,
    endpoint: Endpoint,
    mux: Mux,
    stop: Stop,
}

impl Drop for SseState {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

impl SseLink {
    /// Opens the event stream at the target's address, and waits, within the target's patience, for the address for
    /// POSTs. The returned future reads the stream until it ends; the caller must spawn it. Messages that belong to no
    /// exchange go to the returned receiver.
    ///
    /// # Errors
    /// Returns [`LinkError::Status`] or [`LinkError::EventStream`] if there is no such stream, or if the address for
    /// POSTs is not on the stream's own origin.
    pub async fn open(
        client: &Client,
        target: Arc<HttpTarget>,
        room: MuxRoom,
    ) -> Result<(Self, impl Future<Output = MuxFault> + Send + 'static, UnaskedMessages), LinkError> {
        let patience = target.limits.get().patience;
        let opening = async {
            let mut events = Events::open(client, &target).await?;
            let endpoint = events.endpoint(&target).await?;
            Ok::<_, LinkError>((events, endpoint))
        };
        let (events, endpoint) =
            timeout(patience, opening).await.map_err(|_| LinkError::Late(patience.as_secs()))??;
        let (mux, intake, unasked) = Mux::new(target.limits.get().frame, room);
        let stop = Stop::new();
        let reader = read(events, intake, stop.clone());
        Ok((Self(Arc::new(SseState { target, endpoint, mux, stop })), reader, unasked))
    }

    /// Introduces the client with `request`, an `initialize` request with the id `key`. The caller sets the deadline.
    ///
    /// # Errors
    /// Returns a [`LinkError`] if the server does not accept the introduction.
    pub async fn introduce(
        &self,
        client: &Client,
        request: Bytes,
        key: u64,
        era: &'static Era,
    ) -> Result<ServerHello, LinkError> {
        let hello = read_hello(&self.answered(client, key, request).await?, era)?;
        self.notify(client, proto::era::initialized()).await?;
        Ok(hello)
    }

    /// Sends a request of the gateway itself, and waits for its answer. The caller sets the deadline.
    ///
    /// # Errors
    /// The same as for [`SseLink::call`] and [`MuxCall::next`].
    pub async fn answered(&self, client: &Client, key: u64, text: Bytes) -> Result<Frame, LinkError> {
        let mut call = self.own_call(client, key, text).await?;
        loop {
            let frame = call.next().await?;
            if matches!(frame.kind(), FrameKind::Response | FrameKind::Error) {
                return Ok(frame);
            }
        }
    }

    /// Returns the calls of clients over the link.
    pub fn calls(&self) -> &Arc<OpenCalls> {
        self.0.mux.calls()
    }

    /// Sends a client's request under the gateway's own id `key`; its messages go to the returned call. Messages that
    /// name no exchange are assigned as in [`PipeLink::call`](super::PipeLink::call).
    ///
    /// # Errors
    /// Fails if the link is gone, or if the request is rejected; a rejection that becomes known later is reported by
    /// [`MuxCall::next`].
    pub async fn call(
        &self,
        client: &Client,
        key: u64,
        text: Bytes,
        owner: Owner,
    ) -> Result<MuxCall, LinkError> {
        self.send(client, key, text, Some(owner)).await
    }

    /// Like [`SseLink::call`], for a request of the gateway itself, which serves no client.
    ///
    /// # Errors
    /// The same as for [`SseLink::call`].
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
        // The POST runs concurrently with the exchange, because a server may ask something on the stream before it answers
        // the POST.
        let posting = async move {
            let mut post = pin!(link.post_or_gone(&client, text));
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
        crate::task::spawn(posting.in_current_span());
        call.sent(sending, HOLD).await?;
        Ok(call)
    }

    /// Sends a notification, or an answer to a question from the server.
    ///
    /// # Errors
    /// Fails if the link is gone, or if the message is refused.
    pub async fn notify(&self, client: &Client, text: Bytes) -> Result<(), LinkError> {
        if let Some(why) = self.why_closed() {
            return Err(why.into());
        }
        let sent = self.post_or_gone(client, text).await;
        if matches!(sent, Err(LinkError::SessionGone)) {
            self.stop();
        }
        sent
    }

    /// Returns true if the stream has ended.
    pub fn is_closed(&self) -> bool {
        self.0.mux.is_closed()
    }

    /// Returns the reason why the stream ended, if it has.
    pub fn why_closed(&self) -> Option<MuxFault> {
        self.0.mux.why_closed()
    }

    /// Closes the stream, which ends the session. Open exchanges fail.
    pub fn stop(&self) {
        self.0.stop.stop();
    }

    async fn post(&self, client: &Client, text: Bytes) -> Result<(), LinkError> {
        let limit = self.0.target.limits.get().body;
        let deadline = Instant::now() + limit;
        let mut request = Request::new(text);
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.0.endpoint.uri().clone();
        *request.headers_mut() = self.0.target.headers.clone();
        request.headers_mut().insert(CONTENT_TYPE, JSON);
        let shown = self.0.target.credential.line();
        request.headers_mut().extend(shown.clone());
        let response = tokio::time::timeout_at(deadline, self.0.target.request(client, request)).await;
        let response = response.map_err(|_| LinkError::Late(limit.as_secs()))??;
        let (shown, is_near) = (shown.map(|(_, value)| value), response.body().is_from_near());
        let refusal = CredentialRefusal::of(response.status(), response.headers(), shown, is_near);
        match (self.posted(response, deadline).await, refusal) {
            (Err(LinkError::Status { body, .. }), Some(refusal)) => {
                Err(LinkError::Unauthorized(Box::new(refusal.saying(body))))
            }
            (posted, _) => posted,
        }
    }

    /// Posts a message. If the server rejects the message and then rejects a harmless ping in the same way, the result
    /// is [`LinkError::SessionGone`], because the server must have forgotten the session.
    async fn post_or_gone(&self, client: &Client, text: Bytes) -> Result<(), LinkError> {
        let posted = self.post(client, text).await;
        let Some(status) = posted.as_ref().err().and_then(bare_status) else { return posted };
        if matches!(status, 404 | 410) {
            return Err(LinkError::SessionGone);
        }
        let ping = Bytes::from(format!("{{\"jsonrpc\":\"2.0\",\"id\":{PING_ID},\"method\":\"ping\"}}"));
        let asked = Box::pin(timeout(PING_TIME, self.post(client, ping))).await;
        let is_gone = matches!(&asked, Ok(Err(other)) if bare_status(other) == Some(status));
        if is_gone { Err(LinkError::SessionGone) } else { posted }
    }

    /// Reads the answer to a POST. The answer is usually empty, because the answers to requests arrive on the stream.
    async fn posted(&self, response: Response<ResponseBody>, deadline: Instant) -> Result<(), LinkError> {
        let SseState { target, endpoint, mux, .. } = &*self.0;
        let status = response.status();
        let json = media_type(response.headers()) == Some(Media::Json);
        if status.is_success() && !json {
            let _ = collect(response.into_body(), Part::Answers, IDLE_TALK, Instant::now() + LINGER).await;
            return Ok(());
        }
        let text = collect(response.into_body(), Part::Answers, target.limits.get().result, deadline).await?;
        if status.is_success() || (json && is_answer(&text, target.limits.get().frame)) {
            // Some servers send the message's answer here.
            let _ = mux.take(text);
            return Ok(());
        }
        let body = excerpt(endpoint.without_secrets(&text).as_bytes());
        Err(LinkError::Status { status: status.as_u16(), body })
    }
}

/// Returns the status of a rejection that asks for no credential and may mean that the session is unknown.
fn bare_status(error: &LinkError) -> Option<u16> {
    let status = match error {
        LinkError::Status { status, .. } => *status,
        LinkError::Unauthorized(refusal) if refusal.challenge.is_empty() => refusal.status,
        _ => return None,
    };
    matches!(status, 400 | 401 | 403 | 404 | 410).then_some(status)
}

/// Returns true if the text is an answer whose id is the number of a request.
fn is_answer(text: &Bytes, limits: FrameLimits) -> bool {
    Frame::parse(text.clone(), limits).is_ok_and(|frame| {
        matches!(frame.kind(), FrameKind::Response | FrameKind::Error)
            && frame.id().and_then(Id::as_number).is_some()
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
                    tracing::debug!("an event is not a message: {e}");
                }
            }
            Ok(Err(why)) => intake.left_out(why, &[]),
            Err(why) => return intake.close(why),
        }
    }
}
