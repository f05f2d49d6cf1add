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
use transport::up::{HttpLink, HttpTarget, LinkError, PipeLink, SseLink, Unasked};

use native::NativeServer;

use super::Shard;
use super::ladder::{Climb, PROBE, Rung, Verdict, verdict};
use super::link::OpenLink;
use super::upstream::{Kind, Place, Upstream, mirror};
use super::wire::Wire;

/// How many messages that answer nothing may wait.
const UNASKED: usize = 256;

/// What is opened, and for whom.
pub(super) struct Opening<'a> {
    pub(super) shard: &'a Shard,
    pub(super) upstream: &'a Arc<Upstream>,
    pub(super) kind: &'a Kind,
    /// The params of `initialize`, in the words of the clients' era.
    pub(super) params: &'a Bytes,
    /// Whether it serves one client or one call at a time.
    pub(super) own: bool,
}

impl Opening<'_> {
    /// Opens the link.
    ///
    /// # Errors
    /// Why no way works: what the upstream answered in words, if it did.
    pub(super) async fn run(&self) -> Result<OpenLink, LinkError> {
        if let Place::Native(native) = &self.upstream.place {
            return Ok(self.native(native));
        }
        let ladder = &self.upstream.ladder;
        let mut climb = Climb::new(ladder.rungs(self.upstream.reach, self.kind.era));
        let mut pipe = None;
        while let Some((rung, is_again)) = climb.next() {
            match self.climb(rung, self.patience(rung, is_again), &mut pipe).await {
                Ok(link) => {
                    ladder.settle(rung, climb.refused());
                    return Ok(link);
                }
                Err(e) => {
                    tracing::debug!(server = %self.upstream.name(), "{rung}: {}", self.upstream.told(&e));
                    climb.failed(rung, e);
                }
            }
        }
        stop(pipe).await;
        let (failure, all) = climb.failure();
        if all {
            ladder.forget();
        }
        Err(failure)
    }

    /// How long an introduction may take. Servers may keep silent on a question that they do not know, and those that know
    /// it need no time.
    fn patience(&self, rung: Rung, is_again: bool) -> Duration {
        let all = match rung.web {
            Web::Streamable if self.upstream.over_http() => {
                self.shard.gateway.snapshot.limits.connect_timeout * 3
            }
            _ => self.shard.gateway.snapshot.opening_time(),
        };
        match rung.era.lifecycle {
            Lifecycle::Stateless if !is_again && !self.upstream.ladder.takes(rung) => PROBE.min(all),
            _ => all,
        }
    }

    async fn climb(
        &self,
        rung: Rung,
        patience: Duration,
        pipe: &mut Option<Piped>,
    ) -> Result<OpenLink, LinkError> {
        match (&self.upstream.place, rung.web) {
            (Place::Native(native), _) => Ok(self.native(native)),
            (Place::Http(target), Web::Streamable) => {
                let opened = tokio::time::timeout(patience, self.streamable(target, rung.era)).await;
                opened.map_err(|_| LinkError::Late(patience.as_secs()))?
            }
            (Place::Http(target), Web::EventStream) => self.event_stream(target, rung.era, patience).await,
            (Place::Child(spec), _) => self.child(spec, rung, patience, pipe).await,
        }
    }

    fn native(&self, server: &Arc<dyn NativeServer>) -> OpenLink {
        let hello = server.hello(native::spoken(self.kind.era));
        OpenLink::new(self.upstream.clone(), Wire::Native(server.clone()), hello, self.own)
    }

    async fn streamable(&self, target: &Arc<HttpTarget>, era: &'static Era) -> Result<OpenLink, LinkError> {
        let mut link = HttpLink::new(target.clone(), era);
        let (key, mirror) = (self.shard.gateway.next_key(), mirror(era, Method::Discover));
        let request = self.introduction(key, era);
        let hello = link.introduce(&self.shard.client, request, key, mirror.as_ref()).await?;
        Ok(OpenLink::new(self.upstream.clone(), Wire::Http(link), hello, self.own))
    }

    async fn event_stream(
        &self,
        target: &Arc<HttpTarget>,
        era: &'static Era,
        patience: Duration,
    ) -> Result<OpenLink, LinkError> {
        let limits = &self.shard.gateway.snapshot.limits;
        let calls = limits.calls_per_session * 64;
        let (link, reader, unasked) =
            SseLink::open(&self.shard.client, target.clone(), calls, UNASKED).await?;
        let named = tracing::error_span!("event stream", server = %self.upstream.name());
        tokio::spawn(async move { drop(reader.await) }.instrument(named));
        let wire = Wire::Sse(link);
        self.introduced(wire, unasked, era, patience).await
    }

    /// Speaks to a child that is there from the way that was tried before, unless that ended it.
    async fn child(
        &self,
        spec: &Spec,
        rung: Rung,
        patience: Duration,
        pipe: &mut Option<Piped>,
    ) -> Result<OpenLink, LinkError> {
        let era = rung.era;
        let used = pipe.take().filter(|piped| !piped.0.is_closed());
        let was_used = used.is_some();
        let (link, unasked) = match used {
            Some(piped) => piped,
            None => self.spawn(spec).await?,
        };
        let kept = link.clone();
        match self.introduced_by(&Wire::Pipe(link.clone()), era, patience).await {
            Ok(hello) => {
                let open = OpenLink::new(self.upstream.clone(), Wire::Pipe(link), hello, self.own);
                open.keep_unasked(unasked);
                Ok(open)
            }
            Err(e) if verdict(&e, rung) != Verdict::Final && !was_used => {
                *pipe = Some((kept, unasked));
                Err(e)
            }
            // What was asked before may have confused it.
            Err(_) if was_used => {
                kept.stop().await;
                let (link, unasked) = self.spawn(spec).await?;
                self.introduced(Wire::Pipe(link), unasked, era, patience).await
            }
            Err(e) => {
                kept.stop().await;
                Err(e)
            }
        }
    }

    async fn spawn(&self, spec: &Spec) -> Result<Piped, LinkError> {
        let limits = &self.shard.gateway.snapshot.limits;
        let child_limits = ChildLimits {
            line_bytes: limits.result,
            stderr_bytes: limits.stderr_ring,
            stdin_grace: limits.child_stop_timeout,
            term_grace: limits.child_stop_timeout,
            ..ChildLimits::default()
        };
        let child = self.shard.gateway.supervisor.spawn(spec, child_limits).await?;
        let (handle, lines) = child.split();
        let frames = super::frame_limits(limits);
        let (pipe, reader, unasked) =
            PipeLink::new(handle, lines, frames, limits.calls_per_session * 64, UNASKED);
        let named = tracing::error_span!("child", server = %self.upstream.name());
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
                let link = OpenLink::new(self.upstream.clone(), wire, hello, self.own);
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
        let key = self.shard.gateway.next_key();
        let request = self.introduction(key, era);
        let answer = async {
            let mut call = wire.own_call(&self.shard.client, key, request).await?;
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
            wire.notify(&self.shard.client, proto::era::initialized()).await?;
        }
        Ok(hello)
    }

    fn introduction(&self, key: u64, era: &'static Era) -> Bytes {
        let id = Id::number(key);
        match era.lifecycle {
            Lifecycle::Handshake => initialize_request(&id, era, &self.params_for(era)),
            Lifecycle::Stateless => discover_request(&id, era, super::CLIENT_INFO),
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

/// A child that answered, and what it says unasked.
type Piped = (PipeLink, Unasked);

async fn stop(pipe: Option<Piped>) {
    if let Some((pipe, _)) = pipe {
        pipe.stop().await;
    }
}
