//! One open transport to a server after the handshake, over HTTP or a child's pipe. This module must not know who asks,
//! or what the connection is for.

use std::sync::Arc;
use std::time::Duration;

use engine::exchange::Mirror;
use proto::era::{Era, Lifecycle, ServerHello, Web};
use proto::mcp::Method;
use tokio::time::timeout;
use tracing::Instrument as _;
use transport::net::client::Client;
use transport::up::{HttpLink, HttpTarget, LinkError, MuxRoom, SseLink, UnaskedMessages};

use super::greeting::{ChildStarter, greet};
use super::guest::Guest;
use super::negotiator::{Candidate, Candidates, PROBE};
use super::wire::Wire;

/// Opens transports for one guest, and performs the handshake for it.
pub struct Connector<'a, G> {
    /// The side that connects.
    pub guest: &'a G,
    /// The HTTP client.
    pub client: &'a Client,
    /// The capacity of a stream that many exchanges share.
    pub room: MuxRoom,
    /// The tracing span under which the readers of shared streams log.
    pub span: tracing::Span,
}

/// A transport after the handshake.
pub struct Connected {
    /// The transport.
    pub wire: Wire,
    /// The messages that the server sends by itself, on a stream that many exchanges share.
    pub unasked: Option<UnaskedMessages>,
    /// The server's introduction.
    pub hello: ServerHello,
    /// The candidate that works.
    pub candidate: Candidate,
}

impl<G: Guest> Connector<'_, G> {
    /// Tries `candidates` at an address until one works. Returns `None` if none works; the reasons are then in
    /// `candidates`.
    pub async fn over_http(
        &self,
        target: &Arc<HttpTarget>,
        candidates: &mut Candidates,
    ) -> Option<Connected> {
        while let Some((candidate, is_again)) = candidates.next_candidate() {
            let opened = match timeout(self.patience(candidate, is_again), self.open(target, candidate)).await
            {
                Ok(opened) => opened,
                Err(_) => Err(LinkError::Late(self.patience(candidate, is_again).as_secs())),
            };
            let why = match opened {
                Ok(connected) => match self.guest.accepts(&connected.hello) {
                    Ok(()) => return Some(connected),
                    Err(why) => {
                        connected.wire.close(self.client).await;
                        why
                    }
                },
                Err(why) => why,
            };
            self.guest.hears(candidate, &why);
            candidates.failed(candidate, why);
        }
        None
    }

    /// Tries `candidates` at a child until one works.
    pub async fn over_pipe(&self, child: ChildStarter<'_>, candidates: &mut Candidates) -> Option<Connected> {
        let greeted = greet(self.guest, &child, candidates).await?;
        let (link, unasked) = greeted.piped;
        let (hello, candidate) = (greeted.hello, greeted.candidate);
        Some(Connected { wire: Wire::Pipe(link), unasked: Some(unasked), hello, candidate })
    }

    /// Returns the time limit for opening the transport and for the handshake. The limit is short for a request
    /// that the server may not know: some servers never answer such a request.
    fn patience(&self, candidate: Candidate, is_again: bool) -> Duration {
        let all = self.guest.patience(candidate);
        match candidate.era.lifecycle {
            Lifecycle::Stateless if !is_again && !self.guest.is_sure_of(candidate) => PROBE.min(all),
            _ => all,
        }
    }

    async fn open(&self, target: &Arc<HttpTarget>, candidate: Candidate) -> Result<Connected, LinkError> {
        let (wire, unasked, hello) = match candidate.web {
            Web::Streamable => {
                let (link, hello) = self.streamable(target, candidate.era).await?;
                (Wire::Http(link), None, hello)
            }
            Web::EventStream => {
                let (link, unasked, hello) = self.event_stream(target, candidate.era).await?;
                (Wire::Sse(link), Some(unasked), hello)
            }
        };
        Ok(Connected { wire, unasked, hello, candidate })
    }

    async fn streamable(
        &self,
        target: &Arc<HttpTarget>,
        era: &'static Era,
    ) -> Result<(HttpLink, ServerHello), LinkError> {
        let mut link = HttpLink::new(target.clone(), era);
        let mirror = era.mirrored_headers.then(|| Mirror::of_method(Method::Discover));
        let (key, request) = self.guest.introduction(era);
        let hello = link.introduce(self.client, request, key, mirror.as_ref()).await?;
        Ok((link, hello))
    }

    async fn event_stream(
        &self,
        target: &Arc<HttpTarget>,
        era: &'static Era,
    ) -> Result<(SseLink, UnaskedMessages, ServerHello), LinkError> {
        let (link, reader, unasked) = SseLink::open(self.client, target.clone(), self.room).await?;
        transport::task::spawn(reader.instrument(self.span.clone()));
        let (key, request) = self.guest.introduction(era);
        let hello = link.introduce(self.client, request, key, era).await?;
        Ok((link, unasked, hello))
    }
}
