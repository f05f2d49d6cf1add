//! Requests and answers, whatever the transport. What a server says before its answer goes to the [`Desk`].

use std::borrow::Cow;
use std::fmt::Write as _;
use std::time::Duration;

use bytes::Bytes;
use engine::exchange::Mirror;
use native::{NativeCall, NativeServer};
use proto::bridge::shape::{self, Own};
use proto::era::{Era, ServerHello, newest_stateless, notice, own_meta};
use proto::json::quote;
use proto::mcp::{Method, Notice, meta as names};
use proto::rpc::{Frame, FrameLimits, Id, Kind};
use tokio::time::{Instant, timeout_at};
use transport::child::Supervisor;
use transport::net::Client;
use transport::up::{
    EventStream, HttpLink, HttpReply, LinkError, MuxCall, Owner, PipeLink, SseLink, StreamItem, Unasked,
};

use super::connect::told;
use super::desk::Desk;
use super::{CAPABILITIES, CLIENT_INFO};
use crate::output::failure::Failure;
use upstream::mask::Mask;

/// The time that a request may take in all, whatever progress it reports.
const OVERALL: Duration = Duration::from_hours(1);

/// The time that the end of a conversation may take.
const FAREWELL: Duration = Duration::from_secs(5);

/// The transport of a conversation.
pub(super) enum Wire {
    Http { client: Client, link: Box<HttpLink> },
    Sse { client: Client, link: SseLink, unasked: Unasked },
    Pipe { link: PipeLink, unasked: Unasked, supervisor: Supervisor },
    Native(Box<dyn NativeServer>),
}

impl Wire {
    /// Ends what stands behind it in an orderly way.
    pub(super) async fn close(self) {
        match self {
            Self::Native(_) => {}
            Self::Http { client, link } => link.close(&client).await,
            Self::Sse { link, .. } => link.stop(),
            Self::Pipe { link, supervisor, .. } => {
                drop(link);
                supervisor.shutdown(FAREWELL).await;
            }
        }
    }
}

/// A conversation with one server.
pub(crate) struct Connection {
    wire: Wire,
    mask: Mask,
    /// What the server said of itself.
    pub(crate) hello: ServerHello,
    patience: Duration,
    last: u64,
    open: Option<u64>,
    /// There is nobody else.
    owner: Owner,
}

/// A request as it is put together.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    /// What is asked.
    pub(crate) method: Method,
    /// The members of `params`: keys that need no escapes, and JSON texts.
    pub(crate) params: Vec<(&'static str, String)>,
    /// What HTTP headers repeat of it, where they do.
    pub(crate) mirror: Mirror,
}

impl Ask {
    /// A request without params.
    pub(crate) fn new(method: Method) -> Self {
        Self { method, params: Vec::new(), mirror: Mirror::of_method(method) }
    }

    /// The same with one more member of `params`.
    #[must_use]
    pub(crate) fn with(mut self, key: &'static str, json: impl Into<String>) -> Self {
        self.params.push((key, json.into()));
        self
    }

    /// The same with the member that says what it is about, which headers repeat.
    #[must_use]
    pub(crate) fn about(mut self, key: &'static str, value: &str) -> Self {
        self.mirror.name = Some(proto::codec::headers::encode_value(value).into_owned());
        self.with(key, quote(value))
    }
}

/// Where the messages of an exchange come from.
enum Source {
    Whole(Option<Frame>),
    Events(Box<EventStream>),
    Pipe(MuxCall),
}

impl Connection {
    /// One whose introductions had ids below `last`.
    pub(super) fn new(wire: Wire, mask: Mask, hello: ServerHello, patience: Duration, last: u64) -> Self {
        Self { wire, mask, hello, patience, last, open: None, owner: Owner::unique() }
    }

    /// The era that is spoken.
    pub(crate) fn era(&self) -> &'static Era {
        self.hello.era
    }

    /// Returns true if requests carry headers that repeat something of them.
    pub(super) fn over_http(&self) -> bool {
        matches!(self.wire, Wire::Http { .. })
    }

    /// A result of this era in the words of the newest, so that all are shown alike.
    pub(crate) fn modern<'r>(&self, method: Method, result: &'r str) -> Cow<'r, str> {
        if !self.era().shapes.tool_result {
            return Cow::Borrowed(result);
        }
        let text = Bytes::copy_from_slice(result.as_bytes());
        let own = Own { server_info: CLIENT_INFO };
        match shape::result(method.name(), &text, self.era(), newest_stateless(), &own) {
            Ok(text) => Cow::Owned(String::from_utf8_lossy(&text).into_owned()),
            Err(_) => Cow::Borrowed(result),
        }
    }

    /// How the server is reached, in a word.
    pub(crate) fn transport(&self) -> &'static str {
        match self.wire {
            Wire::Http { .. } => "HTTP",
            Wire::Sse { .. } => "HTTP+SSE",
            Wire::Pipe { .. } => "stdio",
            Wire::Native(_) => "embedded",
        }
    }

    /// Returns true if introductions go to the server itself; embedded ones are introduced by their host.
    pub(crate) fn answers_introductions(&self) -> bool {
        !matches!(self.wire, Wire::Native(_))
    }

    /// The next id.
    pub(super) fn next_id(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// Asks once, and waits for the answer: a result or an error.
    ///
    /// # Errors
    /// When no answer can be had.
    pub(crate) async fn ask(&mut self, ask: &Ask, desk: &mut Desk<'_>) -> Result<Frame, Failure> {
        let key = self.next_id();
        let text = self.request(key, ask, desk);
        self.exchange(key, text, &ask.mirror, desk).await
    }

    /// Sends a request that is written out already, under `key`, and waits for its answer.
    ///
    /// # Errors
    /// When no answer can be had.
    pub(super) async fn exchange(
        &mut self,
        key: u64,
        text: Bytes,
        mirror: &Mirror,
        desk: &mut Desk<'_>,
    ) -> Result<Frame, Failure> {
        self.open = Some(key);
        let answer = self.converse(key, text, mirror, desk).await;
        self.open = None;
        desk.settle();
        answer.map_err(|e| told("the server", &e, &self.mask))
    }

    async fn converse(
        &mut self,
        key: u64,
        text: Bytes,
        mirror: &Mirror,
        desk: &mut Desk<'_>,
    ) -> Result<Frame, LinkError> {
        let mirror = self.era().mirrored_headers.then_some(mirror);
        let overall = Instant::now() + OVERALL.max(self.patience);
        let idle = || (Instant::now() + self.patience).min(overall);
        let late = |_| LinkError::Late(self.patience.as_secs());
        let mut source = timeout_at(idle(), self.send(key, text, mirror)).await.map_err(late)??;
        loop {
            let next = timeout_at(idle(), next(&mut self.wire, &mut source)).await;
            let frame = next.map_err(|_| LinkError::Late(self.patience.as_secs()))??;
            match frame.kind() {
                Kind::Response | Kind::Error if frame.id().is_none_or(|id| *id == Id::number(key)) => {
                    return Ok(frame);
                }
                Kind::Response | Kind::Error => tracing::debug!("an answer to another request"),
                Kind::Notification => desk.hear(&frame),
                Kind::Request => {
                    let answer = desk.answer(&frame).await;
                    self.notify(answer).await?;
                }
            }
        }
    }

    async fn send(&self, key: u64, text: Bytes, mirror: Option<&Mirror>) -> Result<Source, LinkError> {
        match &self.wire {
            Wire::Native(server) => {
                let request = parsed(text)?;
                let answer = server.answer(NativeCall::new(&request, self.hello.era)).bytes().await;
                Ok(Source::Whole(Some(parsed(answer)?)))
            }
            Wire::Pipe { link, .. } => Ok(Source::Pipe(link.call(key, text, self.owner).await?)),
            Wire::Sse { client, link, .. } => {
                Ok(Source::Pipe(link.call(client, key, text, self.owner).await?))
            }
            Wire::Http { client, link } => match link.post(client, text, mirror).await? {
                HttpReply::Whole { text, .. } => Ok(Source::Whole(Some(parsed(text)?))),
                HttpReply::Long(long) => Ok(Source::Whole(Some(parsed(long.read().await?)?))),
                HttpReply::Stream(stream) => Ok(Source::Events(stream)),
                HttpReply::Accepted => Err(LinkError::NotAMessage("an empty answer to a request".to_owned())),
            },
        }
    }

    /// Sends a notification, or an answer to a question.
    pub(super) async fn notify(&self, text: Bytes) -> Result<(), LinkError> {
        let sent = async {
            match &self.wire {
                Wire::Native(_) => Ok(()),
                Wire::Pipe { link, .. } => link.notify(text).await,
                Wire::Http { client, link } => link.notify(client, text).await,
                Wire::Sse { client, link, .. } => link.notify(client, text).await,
            }
        };
        let deadline = Instant::now() + self.patience;
        timeout_at(deadline, sent).await.map_err(|_| LinkError::Late(self.patience.as_secs()))?
    }

    /// Tells the server that the open request is no longer wanted, if there is one and the era has words for that. Over
    /// HTTP, where the era says that closing the stream means the same, that has happened already.
    pub(crate) async fn cancel(&mut self) {
        let Some(key) = self.open.take() else { return };
        if (self.over_http() && self.era().disconnect_cancels) || !self.era().shapes.cancellation {
            return;
        }
        let params = format!("\"requestId\":{key},\"reason\":\"the user pressed Ctrl-C\"");
        let sent = self.notify(notice(Notice::Cancelled.name(), params.as_bytes()));
        if !matches!(tokio::time::timeout(FAREWELL, sent).await, Ok(Ok(()))) {
            tracing::info!("the server could not be told that the request is no longer wanted");
        }
    }

    /// Ends the conversation in an orderly way.
    pub(crate) async fn close(self) {
        self.wire.close().await;
    }

    /// The text of a request.
    fn request(&self, key: u64, ask: &Ask, desk: &Desk<'_>) -> Bytes {
        self.request_with(key, ask, &[], desk)
    }

    /// The text of a request with further members of `params`.
    pub(super) fn request_with(
        &self,
        key: u64,
        ask: &Ask,
        further: &[(&'static str, String)],
        desk: &Desk<'_>,
    ) -> Bytes {
        let era = self.era();
        let own = own_meta(era, CAPABILITIES, CLIENT_INFO);
        // The envelope of a stateless request is an object already; the token becomes its last member.
        let mut meta = match own.strip_suffix('}') {
            Some(open) => format!("{open},"),
            None => "\"_meta\":{".to_owned(),
        };
        let _ = write!(meta, "\"{}\":{key}", names::PROGRESS_TOKEN);
        if let (false, Some(level)) = (own.is_empty(), desk.log_level()) {
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

/// The next message of an exchange, or one that a child sent unasked.
async fn next(wire: &mut Wire, source: &mut Source) -> Result<Frame, LinkError> {
    match (source, wire) {
        (Source::Whole(frame), _) => frame.take().ok_or(LinkError::Closed),
        (Source::Events(stream), Wire::Http { client, .. }) => loop {
            match stream.next(client).await? {
                StreamItem::Message(text) => return parsed(text),
                StreamItem::Paused { .. } => tracing::debug!("the stream broke off and is resumed"),
            }
        },
        (Source::Pipe(call), Wire::Pipe { unasked, .. } | Wire::Sse { unasked, .. }) => {
            // In this order, so that what was said before the answer is heard before it.
            tokio::select! {
                biased;
                Some(message) = unasked.recv() => Ok(message.frame),
                frame = call.next() => frame,
            }
        }
        _ => Err(LinkError::Closed),
    }
}

fn parsed(text: Bytes) -> Result<Frame, LinkError> {
    Frame::parse(text, FrameLimits::default()).map_err(|e| LinkError::NotAMessage(e.to_string()))
}
