//! Sends messages over an open link: requests, repeated requests after refusals, and messages that need no answer. This
//! module must not know their content.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use engine::exchange::Outbound;
use native::NativeCall;
use proto::era::{Mismatch, discover_request, mismatch, mismatch_of_status};
use proto::mcp::Method;
use proto::rpc::{Frame, FrameKind, FrameLimits, Id, code, error_response};
use transport::net::client::Client;
use transport::up::{AmbiguousRefusal, HttpLink, HttpReply, LinkError, MessageHeaders, OpenCall, Owner};

use super::mismatched::RefusalMeaning;
use super::native_reply::answered;
use super::open_link::OpenLink;
use super::probe::Rejection;
use super::reply::{Incoming, Reply, ReplySource, parse};
use crate::egress::Egress;
use crate::embedded::{Carried, mapped};
use crate::negotiation::wire::Wire;
use crate::server::Server;

/// The maximum number of times that a refused request is repeated with other credentials: once with the stored
/// ones, and once with new ones that were obtained in exchange for the stored ones.
const CREDENTIALS: usize = 2;

/// The time limit for the server's answer to the request that follows a cancellation. If the server is slower, the
/// cancelled call is kept, because log messages about it may still arrive.
const HEARD_WITHIN: Duration = Duration::from_secs(10);

/// The origin of a request that is sent over a link.
#[derive(Debug, Clone, Copy)]
pub struct RequestOrigin<'a> {
    /// The owner of the messages that the server sends until it answers.
    pub owner: Owner,
    /// The credentials that the request carries for the site behind an embedded server.
    pub carried: Option<&'a Carried>,
    /// True if the client's endpoint uses a dialect with a documented form of failures.
    pub documented: bool,
}

impl RequestOrigin<'_> {
    /// Returns the origin of a request that Dragoman itself sends.
    pub fn of(owner: Owner) -> Self {
        Self { owner, carried: None, documented: false }
    }
}

/// Runs an operation that needs a server's credentials. If the server refuses for lack of credentials, repeats the
/// operation as long as better ones are available.
pub async fn with_credentials<T, F: Future<Output = Result<T, LinkError>>>(
    server: &Server,
    attempt: impl Fn() -> F,
) -> Result<T, LinkError> {
    let mut result = attempt().await;
    for _ in 0..CREDENTIALS {
        match &result {
            Err(LinkError::Unauthorized(refusal)) if Box::pin(server.is_let_in(refusal)).await => {
                result = Box::pin(attempt()).await;
            }
            _ => break,
        }
    }
    result
}

impl OpenLink {
    /// Sends a request for its owner, with the server's credentials. If the server refuses for lack of credentials,
    /// repeats the request if better ones are available.
    pub async fn send(
        &self,
        client: &Client,
        outbound: Outbound,
        limits: FrameLimits,
        of: RequestOrigin<'_>,
    ) -> Result<Reply, LinkError> {
        let sent = with_credentials(&self.server, || self.send_once(client, &outbound, limits, of)).await;
        match &sent {
            Ok(_) => self.server.note_up(),
            Err(LinkError::Ambiguous(_)) => {}
            Err(e) if e.passing().is_some() => self.server.note_failed(e),
            Err(_) => {}
        }
        sent
    }

    async fn send_once(
        &self,
        client: &Client,
        outbound: &Outbound,
        limits: FrameLimits,
        RequestOrigin { owner, carried, documented }: RequestOrigin<'_>,
    ) -> Result<Reply, LinkError> {
        self.activity.touch();
        let open = self.counts_calls().then(|| self.calls.begin(outbound.key, owner));
        match &self.wire {
            Wire::Http(link) => match self.posted(client, link, outbound, open.as_ref()).await? {
                HttpReply::Whole { status, text } => {
                    let reply = Reply::of(text, Some(status), self.era, limits, &self.calls)?;
                    if let Reply::Whole(frame, _) = &reply
                        && frame.kind() == FrameKind::Error
                    {
                        match Box::pin(self.judged(client, link, frame, status)).await {
                            RefusalMeaning::Answer => {}
                            RefusalMeaning::Lost(other) => return Err(other),
                            RefusalMeaning::Ambiguous => return Err(ambiguous(status, frame)),
                        }
                    }
                    Ok(reply)
                }
                HttpReply::Stream(stream) => {
                    let open = open.map(|open| (outbound.key, open));
                    Ok(Reply::Source(ReplySource::Web(Incoming::new(stream, self.era, open, &self.calls))))
                }
                HttpReply::Long(long) => Ok(Reply::Long(long)),
                HttpReply::Accepted => Err(LinkError::NotAMessage("an empty answer to a request".to_owned())),
            },
            Wire::Pipe(link) => Ok(Reply::Source(ReplySource::Pipe(
                link.call(outbound.key, outbound.body.clone(), owner).await?,
            ))),
            Wire::Sse(link) => {
                let call = link.call(client, outbound.key, outbound.body.clone(), owner).await?;
                Ok(Reply::Source(ReplySource::Pipe(call)))
            }
            Wire::Native(server) => {
                let mapped = carried.and_then(|carried| mapped(carried, &self.server.spec));
                let request = parse(outbound.body.clone(), limits)?;
                let call =
                    NativeCall { mapped: mapped.as_ref(), documented, ..NativeCall::new(&request, self.era) };
                answered(&**server, call, limits).await
            }
        }
    }

    /// Returns true if calls have to be counted here, because an unsolicited message may belong to any running
    /// call. A stream that many calls share counts its calls itself.
    fn counts_calls(&self) -> bool {
        matches!(self.wire, Wire::Http(_)) && !self.own && self.era.has_sessions()
    }

    /// Posts a request; ends the open call if the request was answered immediately, or was not accepted.
    async fn posted(
        &self,
        client: &Client,
        link: &HttpLink,
        outbound: &Outbound,
        open: Option<&OpenCall>,
    ) -> Result<HttpReply, LinkError> {
        let (mirror, traceparent) = (outbound.mirror.as_ref(), outbound.traceparent.as_ref());
        let posted = link.post(client, outbound.body.clone(), MessageHeaders { mirror, traceparent }).await;
        if let Some(open) = open {
            let is_over = match &posted {
                Ok(HttpReply::Stream(_)) => false,
                Ok(_) | Err(LinkError::Status { .. }) => true,
                Err(e) => e.not_executed(),
            };
            if is_over {
                open.over();
            }
        }
        self.known(client, link, posted).await
    }

    /// Forgets a call once the server can no longer send messages about it. A server without sessions must be silent
    /// about a call after it has read the cancellation (2026-07-28, cancellation over stdio). Its answer to a later
    /// request proves that it has read the cancellation.
    pub async fn forget_cancelled(&self, egress: &Egress, key: u64) {
        if self.era.has_sessions() || !matches!(self.wire, Wire::Pipe(_)) {
            return;
        }
        let id = egress.next_key();
        let body = discover_request(&Id::number(id), self.era, crate::CLIENT_INFO);
        let request = self.server.own_request(self.era, id, body, Method::Discover);
        let asked = self.ask(egress.client(), request, egress.frame_limits());
        if let Ok(Ok(_)) = tokio::time::timeout(HEARD_WITHIN, asked).await {
            self.calls.answered(key);
        }
    }

    /// Opens a stream for the gateway itself. Returns `None` if the server answered the request immediately, which
    /// means that it refused to open a stream.
    pub async fn open_stream(
        &self,
        client: &Client,
        outbound: Outbound,
        limits: FrameLimits,
    ) -> Result<Option<ReplySource>, LinkError> {
        if matches!(self.wire, Wire::Pipe(_) | Wire::Sse(_)) {
            let call = self.wire.own_call(client, outbound.key, outbound.body).await?;
            return Ok(Some(ReplySource::Pipe(call)));
        }
        match self.send(client, outbound, limits, RequestOrigin::of(Owner::unique())).await? {
            Reply::Source(source) => Ok(Some(source)),
            Reply::Whole(..) | Reply::Long(_) => Ok(None),
        }
    }

    /// Sends a request that the gateway itself makes, and waits for the answer; repeats the request as
    /// [`Self::send`] does. The caller sets the deadline.
    pub async fn ask(
        &self,
        client: &Client,
        outbound: Outbound,
        limits: FrameLimits,
    ) -> Result<Frame, LinkError> {
        with_credentials(&self.server, || self.ask_once(client, outbound.clone(), limits)).await
    }

    async fn ask_once(
        &self,
        client: &Client,
        outbound: Outbound,
        limits: FrameLimits,
    ) -> Result<Frame, LinkError> {
        match &self.wire {
            Wire::Http(link) => {
                let answer =
                    link.asked(client, outbound.body, outbound.key, outbound.mirror.as_ref(), limits).await;
                let answer = self.known(client, link, answer).await?;
                match self.judged(client, link, &answer.frame, answer.status).await {
                    RefusalMeaning::Lost(other) => Err(other),
                    RefusalMeaning::Answer | RefusalMeaning::Ambiguous => Ok(answer.frame),
                }
            }
            Wire::Pipe(_) | Wire::Sse(_) => {
                let mut call = self.wire.own_call(client, outbound.key, outbound.body).await?;
                loop {
                    let frame = call.next().await?;
                    if matches!(frame.kind(), FrameKind::Response | FrameKind::Error) {
                        return Ok(frame);
                    }
                }
            }
            Wire::Native(server) => {
                let request = parse(outbound.body, limits)?;
                parse(server.answer(NativeCall::new(&request, self.era)).bytes().await, limits)
            }
        }
    }

    /// Finds out what a refusal means; if the server was replaced or has forgotten the session, the next request reopens the link.
    async fn judged(&self, client: &Client, link: &HttpLink, answer: &Frame, status: u16) -> RefusalMeaning {
        let Some(mismatch) = mismatch(self.era, answer, status) else { return RefusalMeaning::Answer };
        // If the server has given out no session, an accepted request reveals nothing about a session.
        if mismatch == Mismatch::Session && status < 400 && !link.has_session() {
            return RefusalMeaning::Answer;
        }
        self.settle_mismatch(client, link, &Rejection::of(answer, status), mismatch).await
    }

    /// Returns the outcome of a request. If the server refused the request without a message, the refusal is
    /// examined as in [`Self::judged`]; if the server was replaced or has forgotten the session, the result is the
    /// error for that case instead of the refusal.
    async fn known<T>(
        &self,
        client: &Client,
        link: &HttpLink,
        outcome: Result<T, LinkError>,
    ) -> Result<T, LinkError> {
        let status = match &outcome {
            // This is the protocol's own status for a forgotten session (2025-11-25, session management).
            Err(LinkError::Status { status: 404 | 410, .. })
                if self.era.has_sessions() && link.has_session() =>
            {
                self.bury();
                return Err(LinkError::SessionGone);
            }
            Err(LinkError::Status { status, .. }) => *status,
            // A refusal with a challenge is certainly about credentials.
            Err(LinkError::Unauthorized(refusal)) if refusal.challenge.is_empty() => refusal.status,
            _ => return outcome,
        };
        let Some(mismatch) = mismatch_of_status(self.era, status) else { return outcome };
        if mismatch == Mismatch::Session && !link.has_session() {
            return outcome;
        }
        match Box::pin(self.settle_mismatch(client, link, &Rejection::bare(status), mismatch)).await {
            RefusalMeaning::Lost(other) => Err(other),
            RefusalMeaning::Ambiguous if let Err(LinkError::Status { status, body }) = outcome => {
                Err(LinkError::Ambiguous(Box::new(AmbiguousRefusal { status, body, message: None })))
            }
            RefusalMeaning::Answer | RefusalMeaning::Ambiguous => outcome,
        }
    }
}

/// Returns the failure of a request that a server refused with a message and a status.
fn ambiguous(status: u16, message: &Frame) -> LinkError {
    let message = Some(message.text().clone());
    LinkError::Ambiguous(Box::new(AmbiguousRefusal { status, body: String::new(), message }))
}

impl OpenLink {
    /// Adds a notification, or an answer to a question, to the end of the queue. Returns immediately.
    pub fn enqueue(self: &Arc<Self>, egress: &Egress, text: Bytes) {
        match self.outbox.put(text) {
            None => {
                tracing::warn!(server = %self.server.name(), "dropped a message: too many are waiting to \
                    be sent");
            }
            Some(false) => {}
            Some(true) => {
                let (link, egress) = (self.clone(), egress.clone());
                transport::task::spawn(async move {
                    while let Some(text) = link.outbox.next() {
                        if link.is_alive()
                            && let Err(e) = link.notify(egress.client(), text).await
                        {
                            let why = link.server.describe(&e);
                            tracing::warn!(server = %link.server.name(), "a message was not delivered: the server {why}");
                        }
                    }
                });
            }
        }
    }

    /// Refuses a server's question on behalf of a client that cannot be asked.
    pub fn refuse(self: &Arc<Self>, egress: &Egress, question: &Frame, why: &str) {
        self.enqueue(egress, error_response(question.id(), code::METHOD_NOT_FOUND, why, None));
        if question.method() == Method::RootsList.name() {
            self.roots.answered();
        }
    }

    /// Returns true if messages are waiting to be sent.
    pub fn is_sending(&self) -> bool {
        self.outbox.is_sending()
    }

    /// Waits until all messages have been sent, but only for a short time.
    pub async fn flushed(&self) {
        self.outbox.flushed().await;
    }
}
