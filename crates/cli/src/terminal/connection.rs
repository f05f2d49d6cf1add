//! Requests and answers over any transport. A server's messages before its answer go to the [`ClientHandler`].

use std::borrow::Cow;
use std::fmt::Write as _;
use std::time::Duration;

use bytes::Bytes;
use engine::exchange::Mirror;
use native::NativeCall;
use proto::bridge::shape::{self, GatewayIdentity};
use proto::era::{Era, ServerHello, newest_stateless, notice, own_meta};
use proto::json::quote;
use proto::mcp::{Method, Notice, meta as names};
use proto::rpc::{Frame, FrameKind, FrameLimits, Id};
use tokio::time::{Instant, timeout_at};
use transport::child::Supervisor;
use transport::net::Client;
use transport::up::{EventStream, HttpReply, LinkError, MuxCall, Owner, StreamItem, UnaskedMessages};

use super::client_handler::ClientHandler;
use super::unmet::link_failure;
use super::{CAPABILITIES, CLIENT_INFO};
use crate::output::failure::Failure;
use upstream::mask::Mask;
use upstream::negotiation::connector::Connected;
use upstream::negotiation::wire::Wire;

/// The maximum total time of one request, no matter how much progress it reports.
const OVERALL: Duration = Duration::from_hours(1);

/// The time limit for closing a connection.
const FAREWELL: Duration = Duration::from_secs(5);

/// A connection to one server.
pub(crate) struct Connection {
    wire: Wire,
    /// The messages that a server sends by itself, if the transport has one stream for all messages.
    unasked: Option<UnaskedMessages>,
    client: Client,
    /// The supervisor of the child process, if the server is a child process.
    supervisor: Option<Supervisor>,
    mask: Mask,
    /// The server's introduction.
    pub(crate) hello: ServerHello,
    patience: Duration,
    last: u64,
    open: Option<u64>,
    /// The owner of all messages on the link; the link has no other owner.
    owner: Owner,
}

/// A request that is being built.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    /// The method of the request.
    pub(crate) method: Method,
    /// The members of `params`: keys that need no escapes, each with its value as JSON text.
    pub(crate) params: Vec<(&'static str, String)>,
    /// The parts of the request that HTTP headers repeat.
    pub(crate) mirror: Mirror,
}

impl Ask {
    /// Creates a request without params.
    pub(crate) fn new(method: Method) -> Self {
        Self { method, params: Vec::new(), mirror: Mirror::of_method(method) }
    }

    /// Adds one member to `params`.
    #[must_use]
    pub(crate) fn with(mut self, key: &'static str, json: impl Into<String>) -> Self {
        self.params.push((key, json.into()));
        self
    }

    /// Adds the param that names the request's target, which headers repeat.
    #[must_use]
    pub(crate) fn about(mut self, key: &'static str, value: &str) -> Self {
        self.mirror.name = Some(proto::codec::headers::encode_value(value).into_owned());
        self.with(key, quote(value))
    }
}

/// The source of an exchange's messages.
enum AnswerSource {
    Whole(Option<Frame>),
    Events(Box<EventStream>),
    Pipe(MuxCall),
}

impl Connection {
    /// Creates a connection whose handshake used only ids below `last`.
    pub(super) fn new(
        connected: Connected,
        client: Client,
        supervisor: Option<Supervisor>,
        mask: Mask,
        patience: Duration,
        last: u64,
    ) -> Self {
        let Connected { wire, unasked, hello, .. } = connected;
        let owner = Owner::unique();
        Self { wire, unasked, client, supervisor, mask, hello, patience, last, open: None, owner }
    }

    /// Returns the era in use.
    pub(crate) fn era(&self) -> &'static Era {
        self.hello.era
    }

    /// Returns true if the transport is HTTP, where headers repeat parts of the requests.
    pub(super) fn over_http(&self) -> bool {
        matches!(self.wire, Wire::Http(_))
    }

    /// Converts a result of this era to the form of the newest era; all results are then shown alike.
    pub(crate) fn modern<'r>(&self, method: Method, result: &'r str) -> Cow<'r, str> {
        if !self.era().shapes.tool_result {
            return Cow::Borrowed(result);
        }
        let text = Bytes::copy_from_slice(result.as_bytes());
        let own = GatewayIdentity { server_info: CLIENT_INFO };
        match shape::result(method.name(), &text, self.era(), newest_stateless(), &own) {
            Ok(text) => Cow::Owned(String::from_utf8_lossy(&text).into_owned()),
            Err(_) => Cow::Borrowed(result),
        }
    }

    /// Returns the name of the transport, as one word.
    pub(crate) fn transport(&self) -> &'static str {
        match self.wire {
            Wire::Http(_) => "HTTP",
            Wire::Sse(_) => "HTTP+SSE",
            Wire::Pipe(_) => "stdio",
            Wire::Native(_) => "embedded",
        }
    }

    /// Returns true if the server itself answers introductions; for embedded servers, their host answers.
    pub(crate) fn answers_introductions(&self) -> bool {
        !matches!(self.wire, Wire::Native(_))
    }

    /// Returns the next id.
    pub(super) fn next_id(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// Sends a request, and waits for its answer, which is a result or an error.
    ///
    /// # Errors
    /// Fails if there is no answer.
    pub(crate) async fn ask(&mut self, ask: &Ask, handler: &mut ClientHandler<'_>) -> Result<Frame, Failure> {
        let key = self.next_id();
        let text = self.request(key, ask, handler);
        self.exchange(key, text, &ask.mirror, handler).await
    }

    /// Sends a complete request under `key`, and waits for its answer.
    ///
    /// # Errors
    /// Fails if there is no answer.
    pub(super) async fn exchange(
        &mut self,
        key: u64,
        text: Bytes,
        mirror: &Mirror,
        handler: &mut ClientHandler<'_>,
    ) -> Result<Frame, Failure> {
        self.open = Some(key);
        let answer = self.converse(key, text, mirror, handler).await;
        self.open = None;
        handler.settle();
        answer.map_err(|e| link_failure("the server", &e, &self.mask))
    }

    async fn converse(
        &mut self,
        key: u64,
        text: Bytes,
        mirror: &Mirror,
        handler: &mut ClientHandler<'_>,
    ) -> Result<Frame, LinkError> {
        let mirror = self.era().mirrored_headers.then_some(mirror);
        let overall = Instant::now() + OVERALL.max(self.patience);
        let patience = self.patience;
        let idle = || (Instant::now() + patience).min(overall);
        let late = |_| LinkError::Late(patience.as_secs());
        let mut since = Instant::now();
        let sent = handler.watched(since, timeout_at(idle(), self.send(key, text, mirror))).await;
        let mut source = sent.map_err(late)??;
        loop {
            let next = handler.watched(since, timeout_at(idle(), self.next(&mut source))).await;
            let frame = next.map_err(late)??;
            match frame.kind() {
                FrameKind::Response | FrameKind::Error
                    if frame.id().is_none_or(|id| *id == Id::number(key)) =>
                {
                    return Ok(frame);
                }
                FrameKind::Response | FrameKind::Error => {
                    tracing::debug!("ignored an answer to another request");
                }
                FrameKind::Notification => handler.hear(&frame),
                FrameKind::Request => {
                    let answer = handler.answer(&frame).await;
                    self.notify(answer).await?;
                    since = Instant::now();
                }
            }
        }
    }

    /// Returns the next message of an exchange, or an unsolicited one if the server has one stream for all messages.
    async fn next(&mut self, source: &mut AnswerSource) -> Result<Frame, LinkError> {
        match source {
            AnswerSource::Whole(frame) => frame.take().ok_or(LinkError::Closed),
            AnswerSource::Events(stream) => loop {
                match stream.next(&self.client).await? {
                    StreamItem::Message(text) => return parsed(text),
                    StreamItem::Paused { .. } => tracing::debug!("the stream was interrupted; resuming it"),
                }
            },
            AnswerSource::Pipe(call) => {
                let Some(unasked) = &mut self.unasked else { return call.next().await };
                // The order matters: messages sent before the answer are handled before it.
                tokio::select! {
                    biased;
                    Some(message) = unasked.recv() => Ok(message.frame),
                    frame = call.next() => frame,
                }
            }
        }
    }

    async fn send(&self, key: u64, text: Bytes, mirror: Option<&Mirror>) -> Result<AnswerSource, LinkError> {
        match &self.wire {
            Wire::Native(server) => {
                let request = parsed(text)?;
                let answer = server.answer(NativeCall::new(&request, self.hello.era)).bytes().await;
                Ok(AnswerSource::Whole(Some(parsed(answer)?)))
            }
            Wire::Pipe(link) => Ok(AnswerSource::Pipe(link.call(key, text, self.owner).await?)),
            Wire::Sse(link) => Ok(AnswerSource::Pipe(link.call(&self.client, key, text, self.owner).await?)),
            Wire::Http(link) => match link.post(&self.client, text, mirror.into()).await? {
                HttpReply::Whole { text, .. } => Ok(AnswerSource::Whole(Some(parsed(text)?))),
                HttpReply::Long(long) => Ok(AnswerSource::Whole(Some(parsed(long.read().await?)?))),
                HttpReply::Stream(stream) => Ok(AnswerSource::Events(stream)),
                HttpReply::Accepted => Err(LinkError::NotAMessage("an empty answer to a request".to_owned())),
            },
        }
    }

    /// Sends a notification, or an answer to a question.
    pub(super) async fn notify(&self, text: Bytes) -> Result<(), LinkError> {
        let sent = self.wire.notify(&self.client, text);
        let deadline = Instant::now() + self.patience;
        timeout_at(deadline, sent).await.map_err(|_| LinkError::Late(self.patience.as_secs()))?
    }

    /// Cancels the open request, if there is one and the era has a message for this. No message is sent over HTTP
    /// in eras that cancel a request by closing its stream, because the stream is closed already.
    pub(crate) async fn cancel(&mut self) {
        let Some(key) = self.open.take() else { return };
        if (self.over_http() && self.era().disconnect_cancels) || !self.era().shapes.cancellation {
            return;
        }
        let params = format!("\"requestId\":{key},\"reason\":\"the user pressed Ctrl-C\"");
        let sent = self.notify(notice(Notice::Cancelled.name(), params.as_bytes()));
        if !matches!(tokio::time::timeout(FAREWELL, sent).await, Ok(Ok(()))) {
            tracing::info!("could not cancel the request at the server");
        }
    }

    /// Closes the connection in an orderly way.
    pub(crate) async fn close(self) {
        let Some(supervisor) = self.supervisor else { return self.wire.close(&self.client).await };
        drop(self.wire);
        supervisor.shutdown(FAREWELL).await;
    }

    /// Returns the text of a request.
    fn request(&self, key: u64, ask: &Ask, handler: &ClientHandler<'_>) -> Bytes {
        self.request_with(key, ask, &[], handler)
    }

    /// Returns the text of a request with further members of `params`.
    pub(super) fn request_with(
        &self,
        key: u64,
        ask: &Ask,
        further: &[(&'static str, String)],
        handler: &ClientHandler<'_>,
    ) -> Bytes {
        let era = self.era();
        let own = own_meta(era, CAPABILITIES, CLIENT_INFO);
        // The envelope of a stateless request is already an object; the token becomes its last member.
        let mut meta = match own.strip_suffix('}') {
            Some(open) => format!("{open},"),
            None => "\"_meta\":{".to_owned(),
        };
        let _ = write!(meta, "\"{}\":{key}", names::PROGRESS_TOKEN);
        if let (false, Some(level)) = (own.is_empty(), handler.log_level()) {
            let _ = write!(meta, ",\"{}\":\"{level}\"", names::LOG_LEVEL);
        }
        meta.push('}');
        let members: Vec<String> =
            ask.params.iter().chain(further).map(|(member, json)| format!("\"{member}\":{json}")).collect();
        let comma = if members.is_empty() { "" } else { "," };
        Bytes::from(format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{key},\"method\":{},\"params\":{{{}{comma}{meta}}}}}",
            quote(ask.method.name()),
            members.join(","),
        ))
    }
}

fn parsed(text: Bytes) -> Result<Frame, LinkError> {
    Frame::parse(text, FrameLimits::default()).map_err(|e| LinkError::NotAMessage(e.to_string()))
}
