//! Opening a link: the ways in which an upstream may be spoken to, one after the other, until one works.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use proto::bridge::handshake::client_capabilities;
use proto::era::{Era, Lifecycle, ServerHello, Web, discover_request, initialize_request};
use proto::json::{Members, Splice};
use proto::mcp::Method;
use proto::rpc::{Id, Kind as FrameKind};
use tracing::Instrument as _;
use transport::child::{Limits as ChildLimits, Spec};
use transport::up::{HttpLink, HttpTarget, LinkError, MuxRoom, PipeLink, SseLink, Unasked};

use engine::config::Limits;
use native::NativeServer;

use crate::destination::Destination;
use crate::egress::Egress;
use crate::link::{OpenLink, Wire};
use crate::negotiation::greeting::{Guest, Piped, greet};
use crate::negotiation::ladder::{Climb, PROBE, Rung};
use crate::server::{Kind, Server, mirror};

/// The number of messages that answer nothing that may wait.
const UNASKED: usize = 256;

/// What is opened, and for whom.
pub(super) struct Opening<'a> {
    pub(super) egress: &'a Egress,
    pub(super) server: &'a Arc<Server>,
    pub(super) kind: &'a Kind,
    /// The params of `initialize`, in the words of the clients' era.
    pub(super) params: &'a Bytes,
    /// True if it serves one client or one call at a time.
    pub(super) own: bool,
}

impl Opening<'_> {
    /// Opens the link.
    ///
    /// # Errors
    /// Why no way works: what the upstream answered in words, if it did.
    pub(super) async fn run(&self) -> Result<OpenLink, LinkError> {
        if let Destination::Native(native) = &self.server.destination {
            return Ok(self.native(native));
        }
        let ladder = &self.server.ladder;
        let mut climb = Climb::new(ladder.rungs(self.server.reach, self.kind.era));
        if let Destination::Child(spec) = &self.server.destination {
            let guest = ChildGuest { opening: self, spec };
            if let Some(greeted) = greet(&guest, &mut climb, self.server.spec.start_timeout).await {
                ladder.settle(greeted.rung, climb.refused());
                let (link, unasked) = greeted.piped;
                let open = OpenLink::new(self.server.clone(), Wire::Pipe(link), greeted.hello, self.own);
                open.keep_unasked(unasked);
                return Ok(open);
            }
        }
        while let Some((rung, is_again)) = climb.next_rung() {
            match self.climb(rung, self.patience(rung, is_again)).await {
                Ok(link) => {
                    ladder.settle(rung, climb.refused());
                    return Ok(link);
                }
                Err(e) => {
                    tracing::debug!(server = %self.server.name(), "{rung}: {}", self.server.told(&e));
                    climb.failed(rung, e);
                }
            }
        }
        let refused = climb.refused().to_vec();
        let (failure, all) = climb.failure();
        if matches!(failure, LinkError::NotStarted { .. }) {
            ladder.was_silent(&refused);
        } else if all {
            ladder.forget();
        }
        Err(failure)
    }

    /// The time that an introduction may take. Servers may keep silent on a question that they do not know, and those
    /// that know it need no time.
    fn patience(&self, rung: Rung, is_again: bool) -> Duration {
        let all = match rung.web {
            Web::Streamable if self.server.over_http() => self.egress.snapshot.limits.connect_timeout * 3,
            _ => self.egress.snapshot.opening_time(),
        };
        match rung.era.lifecycle {
            Lifecycle::Stateless if !is_again && !self.server.ladder.takes(rung) => PROBE.min(all),
            _ => all,
        }
    }

    async fn climb(&self, rung: Rung, patience: Duration) -> Result<OpenLink, LinkError> {
        match (&self.server.destination, rung.web) {
            (Destination::Native(native), _) => Ok(self.native(native)),
            // Its ways are gone by `greet`.
            (Destination::Child(_), _) => Err(LinkError::Closed),
            (Destination::Http(target), Web::Streamable) => {
                let opened = tokio::time::timeout(patience, self.streamable(target, rung.era)).await;
                opened.map_err(|_| LinkError::Late(patience.as_secs()))?
            }
            (Destination::Http(target), Web::EventStream) => {
                self.event_stream(target, rung.era, patience).await
            }
        }
    }

    fn native(&self, server: &Arc<dyn NativeServer>) -> OpenLink {
        let hello = server.hello(native::spoken(self.kind.era));
        OpenLink::new(self.server.clone(), Wire::Native(server.clone()), hello, self.own)
    }

    async fn streamable(&self, target: &Arc<HttpTarget>, era: &'static Era) -> Result<OpenLink, LinkError> {
        let mut link = HttpLink::new(target.clone(), era);
        let (key, mirror) = (self.egress.next_key(), mirror(era, Method::Discover));
        let request = self.introduction(key, era);
        let hello = link.introduce(&self.egress.client, request, key, mirror.as_ref()).await?;
        Ok(OpenLink::new(self.server.clone(), Wire::Http(link), hello, self.own))
    }

    async fn event_stream(
        &self,
        target: &Arc<HttpTarget>,
        era: &'static Era,
        patience: Duration,
    ) -> Result<OpenLink, LinkError> {
        let limits = &self.egress.snapshot.limits;
        let room = mux_room(limits);
        let (link, reader, unasked) = SseLink::open(&self.egress.client, target.clone(), room).await?;
        let named = tracing::error_span!("event stream", server = %self.server.name());
        tokio::spawn(async move { drop(reader.await) }.instrument(named));
        let wire = Wire::Sse(link);
        self.introduced(wire, unasked, era, patience).await
    }

    async fn spawn(&self, spec: &Spec) -> Result<Piped, LinkError> {
        let limits = &self.egress.snapshot.limits;
        let child_limits = ChildLimits {
            line_bytes: limits.result,
            stderr_bytes: limits.stderr_ring,
            stdin_grace: limits.child_stop_timeout,
            term_grace: limits.child_stop_timeout,
            ..ChildLimits::default()
        };
        let child = self.egress.supervisor().spawn(spec, child_limits).await?;
        let (handle, lines) = child.split();
        let frames = self.egress.frame_limits();
        let server = Arc::clone(self.server);
        let talk = move |line: &str| server.note_talk(line);
        let (pipe, reader, unasked) = PipeLink::new(handle, lines, frames, mux_room(limits), talk);
        let named = tracing::error_span!("child", server = %self.server.name());
        tokio::spawn(reader.instrument(named));
        Ok((pipe, unasked))
    }

    /// Introduces the gateway over a wire that many exchanges share; the wire is let go when that fails.
    async fn introduced(
        &self,
        wire: Wire,
        unasked: Unasked,
        era: &'static Era,
        patience: Duration,
    ) -> Result<OpenLink, LinkError> {
        match self.introduced_by(&wire, era, patience).await {
            Ok(hello) => {
                let link = OpenLink::new(self.server.clone(), wire, hello, self.own);
                link.keep_unasked(unasked);
                Ok(link)
            }
            Err(e) => {
                wire.stop().await;
                Err(e)
            }
        }
    }

    async fn introduced_by(
        &self,
        wire: &Wire,
        era: &'static Era,
        patience: Duration,
    ) -> Result<ServerHello, LinkError> {
        let key = self.egress.next_key();
        let request = self.introduction(key, era);
        let answer = async {
            let mut call = wire.own_call(&self.egress.client, key, request).await?;
            loop {
                let frame = call.next().await?;
                if matches!(frame.kind(), FrameKind::Response | FrameKind::Error) {
                    return transport::up::read_hello(&frame, era);
                }
            }
        };
        let late = |_| LinkError::Late(patience.as_secs());
        let hello = tokio::time::timeout(patience, answer).await.map_err(late)??;
        if era.lifecycle == Lifecycle::Handshake {
            wire.notify(&self.egress.client, proto::era::initialized()).await?;
        }
        Ok(hello)
    }

    fn introduction(&self, key: u64, era: &'static Era) -> Bytes {
        let id = Id::number(key);
        match era.lifecycle {
            Lifecycle::Handshake => initialize_request(&id, era, &self.params_for(era)),
            Lifecycle::Stateless => discover_request(&id, era, crate::CLIENT_INFO),
        }
    }

    /// The params with the capabilities in the words of another era.
    fn params_for(&self, era: &'static Era) -> Bytes {
        let asked = self.kind.era;
        if asked == era {
            return self.params.clone();
        }
        let Ok(members) = Members::of_document(self.params, proto::json::MAX_DEPTH) else {
            return self.params.clone();
        };
        let Some(span) = members.get(self.params, "capabilities") else { return self.params.clone() };
        let said = client_capabilities(span.of(self.params), asked, era);
        let mut splice = Splice::new(self.params);
        splice.replace(span, &said);
        splice.finish()
    }
}

/// How much a stream may hold that many exchanges share.
fn mux_room(limits: &Limits) -> MuxRoom {
    MuxRoom { max_calls: limits.calls_per_session * 64, unasked: UNASKED, forget: limits.call_timeout }
}

/// The gateway, as it introduces itself to a child.
struct ChildGuest<'a> {
    opening: &'a Opening<'a>,
    spec: &'a Spec,
}

impl Guest for ChildGuest<'_> {
    async fn start(&self) -> Result<Piped, LinkError> {
        self.opening.spawn(self.spec).await
    }

    fn introduction(&self, era: &'static Era) -> (u64, Bytes) {
        let key = self.opening.egress.next_key();
        (key, self.opening.introduction(key, era))
    }

    fn is_sure_of(&self, rung: Rung) -> bool {
        self.opening.server.ladder.takes(rung)
    }

    fn accepts(&self, _: &ServerHello) -> Result<(), LinkError> {
        Ok(())
    }

    fn hears(&self, rung: Rung, why: &LinkError) {
        let server = self.opening.server;
        tracing::debug!(server = %server.name(), "{rung}: {}", server.told(why));
    }
}
