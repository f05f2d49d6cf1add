//! One open and introduced transport to a server, over HTTP or a child's pipe. It must not know who asks, or what the
//! connection is for.

use std::sync::Arc;
use std::time::Duration;

use engine::exchange::Mirror;
use proto::era::{Era, Lifecycle, ServerHello, Web};
use proto::mcp::Method;
use tokio::time::timeout;
use tracing::Instrument as _;
use transport::net::client::Client;
use transport::up::{HttpLink, HttpTarget, LinkError, MuxRoom, SseLink, Unasked};

use super::greeting::{ChildStarter, greet};
use super::guest::Guest;
use super::ladder::{Climb, PROBE, Rung};
use super::wire::Wire;

/// Opens transports for one guest, and introduces it.
pub struct Connector<'a, G> {
    /// The side that connects.
    pub guest: &'a G,
    /// The HTTP client.
    pub client: &'a Client,
    /// The capacity of a stream that many exchanges share.
    pub room: MuxRoom,
    /// The name under which the readers of such streams log.
    pub span: tracing::Span,
}

/// A transport after the handshake.
pub struct Connected {
    /// The transport.
    pub wire: Wire,
    /// The messages that the server sends on its own, on a stream that many exchanges share.
    pub unasked: Option<Unasked>,
    /// The server's introduction.
    pub hello: ServerHello,
    /// The way that works.
    pub rung: Rung,
}

impl<G: Guest> Connector<'_, G> {
    /// Tries the ways of `climb` at an address until one works. `None` if none does; the reasons are in `climb`.
    pub async fn over_http(&self, target: &Arc<HttpTarget>, climb: &mut Climb) -> Option<Connected> {
        while let Some((rung, is_again)) = climb.next_rung() {
            let opened = match timeout(self.patience(rung, is_again), self.open(target, rung)).await {
                Ok(opened) => opened,
                Err(_) => Err(LinkError::Late(self.patience(rung, is_again).as_secs())),
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
            self.guest.hears(rung, &why);
            climb.failed(rung, why);
        }
        None
    }

    /// Tries the ways of `climb` at a child until one works.
    pub async fn over_pipe(&self, child: ChildStarter<'_>, climb: &mut Climb) -> Option<Connected> {
        let greeted = greet(self.guest, &child, climb).await?;
        let (link, unasked) = greeted.piped;
        let (hello, rung) = (greeted.hello, greeted.rung);
        Some(Connected { wire: Wire::Pipe(link), unasked: Some(unasked), hello, rung })
    }

    /// The time for opening and handshake. Servers may leave a question that they do not know unanswered; those that know
    /// it answer at once.
    fn patience(&self, rung: Rung, is_again: bool) -> Duration {
        let all = self.guest.patience(rung);
        match rung.era.lifecycle {
            Lifecycle::Stateless if !is_again && !self.guest.is_sure_of(rung) => PROBE.min(all),
            _ => all,
        }
    }

    async fn open(&self, target: &Arc<HttpTarget>, rung: Rung) -> Result<Connected, LinkError> {
        let (wire, unasked, hello) = match rung.web {
            Web::Streamable => {
                let (link, hello) = self.streamable(target, rung.era).await?;
                (Wire::Http(link), None, hello)
            }
            Web::EventStream => {
                let (link, unasked, hello) = self.event_stream(target, rung.era).await?;
                (Wire::Sse(link), Some(unasked), hello)
            }
        };
        Ok(Connected { wire, unasked, hello, rung })
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
    ) -> Result<(SseLink, Unasked, ServerHello), LinkError> {
        let (link, reader, unasked) = SseLink::open(self.client, target.clone(), self.room).await?;
        tokio::spawn(reader.instrument(self.span.clone()));
        let (key, request) = self.guest.introduction(era);
        let hello = link.introduce(self.client, request, key, era).await?;
        Ok((link, unasked, hello))
    }
}
