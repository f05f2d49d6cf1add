//! Requests over an open link, and what is done when they are refused. It must not know what they ask.

use std::time::Duration;

use engine::exchange::Outbound;
use native::NativeCall;
use proto::era::{Doubt, discover_request, doubt, is_doubtful_status};
use proto::mcp::Method;
use proto::rpc::{Frame, FrameLimits, Id, Kind as FrameKind};
use transport::net::client::Client;
use transport::up::{HttpLink, HttpReply, LinkError, OpenCall, Owner};

use super::open_link::OpenLink;
use super::probe::Rejection;
use super::reply::{Incoming, Reply, Source, parse};
use super::wire::Wire;
use crate::egress::Egress;
use crate::embedded::{Carried, mapped};

/// How many other credentials a refused request is sent with: one that was kept, and one that it is exchanged for.
pub const CREDENTIALS: usize = 2;

/// The time that a server may take for the question behind a cancellation. One that takes longer may still log about
/// the call.
const HEARD_WITHIN: Duration = Duration::from_secs(10);

impl OpenLink {
    /// Sends a request for its owner, with what it carries; again when it was refused for want of a better credential, and
    /// there is one now.
    pub async fn send(
        &self,
        client: &Client,
        outbound: Outbound,
        limits: FrameLimits,
        of: (Owner, Option<&Carried>),
    ) -> Result<Reply, LinkError> {
        let mut sent = self.send_once(client, &outbound, limits, of).await;
        for _ in 0..CREDENTIALS {
            match &sent {
                Err(e) if Box::pin(self.is_let_in(e)).await => {
                    sent = Box::pin(self.send_once(client, &outbound, limits, of)).await;
                }
                _ => break,
            }
        }
        sent
    }

    /// Returns true if a request that failed so may be sent again: it was refused for want of a better credential, and
    /// there is one.
    async fn is_let_in(&self, error: &LinkError) -> bool {
        match error {
            LinkError::Unauthorized(refusal) => self.server.is_let_in(refusal).await,
            _ => false,
        }
    }

    async fn send_once(
        &self,
        client: &Client,
        outbound: &Outbound,
        limits: FrameLimits,
        (owner, carried): (Owner, Option<&Carried>),
    ) -> Result<Reply, LinkError> {
        self.touch();
        let open = self.counts_calls().then(|| self.calls.begin(outbound.key, owner));
        match &self.wire {
            Wire::Http(link) => match self.posted(client, link, outbound, open.as_ref()).await? {
                HttpReply::Whole { status, text, gone } => {
                    let reply = Reply::of(text, Some(status), self.era, limits)?;
                    if status >= 400
                        && let Reply::Whole(frame, _) = &reply
                        && let Some(other) = Box::pin(self.doubted(client, link, frame, status, gone)).await
                    {
                        return Err(other);
                    }
                    Ok(reply)
                }
                HttpReply::Stream(stream) => {
                    let open = open.map(|open| (outbound.key, open));
                    Ok(Reply::Source(Source::Web(Incoming::new(stream, self.era, open))))
                }
                HttpReply::Long(long) => Ok(Reply::Long(long)),
                HttpReply::Accepted => Err(LinkError::NotAMessage("an empty answer to a request".to_owned())),
            },
            Wire::Pipe(link) => {
                Ok(Reply::Source(Source::Pipe(link.call(outbound.key, outbound.body.clone(), owner).await?)))
            }
            Wire::Sse(link) => {
                let call = link.call(client, outbound.key, outbound.body.clone(), owner).await?;
                Ok(Reply::Source(Source::Pipe(call)))
            }
            Wire::Native(server) => {
                let request = parse(outbound.body.clone(), limits)?;
                let mapped = carried.and_then(|carried| mapped(carried, &self.server.spec));
                let call = NativeCall { mapped: mapped.as_ref(), ..NativeCall::new(&request, self.era) };
                let answer = parse(server.answer(call).bytes().await, limits)?;
                Ok(Reply::Whole(answer, None))
            }
        }
    }

    /// Returns true if what is said here beside the calls' own streams may be about any of them; where many share a
    /// stream, that counts them itself.
    fn counts_calls(&self) -> bool {
        matches!(self.wire, Wire::Http(_)) && !self.own && self.era.has_sessions()
    }

    /// Posts a request; notes that it is not open when it was answered at once, or not taken.
    async fn posted(
        &self,
        client: &Client,
        link: &HttpLink,
        outbound: &Outbound,
        open: Option<&OpenCall>,
    ) -> Result<HttpReply, LinkError> {
        let posted = link.post(client, outbound.body.clone(), outbound.mirror.as_ref()).await;
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

    /// Forgets a call once the server can say nothing more about it. A server without sessions may not after it has read the
    /// cancellation (2026-07-28, cancellation over stdio), and its answer to a question behind that shows that it has.
    pub async fn forget_cancelled(&self, egress: &Egress, key: u64) {
        if self.era.has_sessions() || !matches!(self.wire, Wire::Pipe(_)) {
            return;
        }
        let id = egress.next_key();
        let body = discover_request(&Id::number(id), self.era, crate::CLIENT_INFO);
        let request = self.server.own_request(self.era, id, body, Method::Discover);
        let asked = self.ask(&egress.client, request, egress.frame_limits());
        if let Ok(Ok(_)) = tokio::time::timeout(HEARD_WITHIN, asked).await {
            self.calls.answered(key);
        }
    }

    /// Opens a stream for the gateway itself; `None` when it is answered at once, and so refused.
    pub async fn open_stream(
        &self,
        client: &Client,
        outbound: Outbound,
        limits: FrameLimits,
    ) -> Result<Option<Source>, LinkError> {
        if matches!(self.wire, Wire::Pipe(_) | Wire::Sse(_)) {
            let call = self.wire.own_call(client, outbound.key, outbound.body).await?;
            return Ok(Some(Source::Pipe(call)));
        }
        match self.send(client, outbound, limits, (Owner::unique(), None)).await? {
            Reply::Source(source) => Ok(Some(source)),
            Reply::Whole(..) | Reply::Long(_) => Ok(None),
        }
    }

    /// Sends a request of the gateway's own and waits for its answer; once more as [`Self::send`] does. The caller sets the
    /// deadline.
    pub async fn ask(
        &self,
        client: &Client,
        outbound: Outbound,
        limits: FrameLimits,
    ) -> Result<Frame, LinkError> {
        let mut asked = self.ask_once(client, outbound.clone(), limits).await;
        for _ in 0..CREDENTIALS {
            match &asked {
                Err(e) if self.is_let_in(e).await => {
                    asked = self.ask_once(client, outbound.clone(), limits).await;
                }
                _ => break,
            }
        }
        asked
    }

    async fn ask_once(
        &self,
        client: &Client,
        outbound: Outbound,
        limits: FrameLimits,
    ) -> Result<Frame, LinkError> {
        match &self.wire {
            Wire::Http(link) => {
                let answer = link.asked(client, outbound.body, outbound.key, outbound.mirror.as_ref()).await;
                let answer = self.known(client, link, answer).await?;
                match self.doubted(client, link, &answer.frame, answer.status, answer.gone).await {
                    Some(other) => Err(other),
                    None => Ok(answer.frame),
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

    /// The error that takes an answer's place when that refused more than its request: whoever needs the upstream next opens
    /// it anew.
    async fn doubted(
        &self,
        client: &Client,
        link: &HttpLink,
        answer: &Frame,
        status: u16,
        gone: bool,
    ) -> Option<LinkError> {
        let doubt = doubt(self.era, answer, status).or(gone.then_some(Doubt::Session))?;
        self.settle_doubt(client, link, &Rejection::of(answer, status), doubt).await
    }

    /// The same, unless the upstream no longer speaks the era of this link.
    async fn known<T>(
        &self,
        client: &Client,
        link: &HttpLink,
        outcome: Result<T, LinkError>,
    ) -> Result<T, LinkError> {
        let Err(LinkError::Status { status, .. }) = &outcome else { return outcome };
        if !is_doubtful_status(self.era, *status) {
            return outcome;
        }
        let rejection = Rejection::bare(*status);
        let other = Box::pin(self.settle_doubt(client, link, &rejection, Doubt::Era)).await;
        other.map_or(outcome, Err)
    }
}
