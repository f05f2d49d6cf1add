//! A link that is opened when it is first needed, and again when it is gone.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use bytes::Bytes;
use proto::era::{Lifecycle, ServerHello, discover_request, initialize_request};
use proto::mcp::Method;
use proto::rpc::{Id, Kind as FrameKind};
use tracing::Instrument as _;
use transport::child::Limits as ChildLimits;
use transport::child::backoff::Backoff;
use transport::up::{HttpLink, LinkError, PipeLink};

use super::link::{OpenLink, Wire};
use super::session::Session;
use super::upstream::{Kind, Place, Upstream, mirror};
use super::{Shard, pump};

/// How many messages of a child that answer nothing may wait.
const UNASKED: usize = 256;

/// A link that is opened when it is first needed, and again when it is gone; one opening at a time.
pub(crate) struct LinkCell {
    upstream: Arc<Upstream>,
    kind: Kind,
    params: Bytes,
    session: Option<Weak<Session>>,
    open: ArcSwapOption<OpenLink>,
    opening: tokio::sync::Mutex<Backoff>,
    openings: AtomicU64,
    /// Whether nobody will use it any more.
    retired: AtomicBool,
}

impl LinkCell {
    pub(super) fn new(
        upstream: Arc<Upstream>,
        kind: Kind,
        params: Bytes,
        session: Option<Weak<Session>>,
    ) -> Self {
        let opening = tokio::sync::Mutex::new(Backoff::default());
        Self {
            upstream,
            kind,
            params,
            session,
            open: ArcSwapOption::empty(),
            opening,
            openings: AtomicU64::new(0),
            retired: AtomicBool::new(false),
        }
    }

    /// The open link, if there is one.
    pub(crate) fn current(&self) -> Option<Arc<OpenLink>> {
        self.open.load_full().filter(|link| link.is_alive())
    }

    /// The open link; opens it when there is none.
    ///
    /// # Errors
    /// Why it cannot be opened; while an upstream keeps failing, at once and with the same reason.
    pub(crate) async fn get(self: &Arc<Self>, shard: &Shard) -> Result<Arc<OpenLink>, LinkError> {
        if let Some(link) = self.current() {
            return Ok(link);
        }
        let mut backoff = self.opening.lock().await;
        if let Some(link) = self.current() {
            return Ok(link);
        }
        if self.is_retired() {
            return Err(LinkError::Closed);
        }
        let is_child = matches!(self.upstream.place, Place::Child(_));
        let old = self.open.swap(None);
        let users = old.as_ref().map(|old| old.users()).unwrap_or_default();
        if let Some(old) = old.filter(|_| is_child) {
            let why = old.why_gone().unwrap_or_else(|| "it ended on its own".to_owned());
            backoff.ended(Instant::now(), why);
        }
        self.rest(&backoff).await?;
        match self.connect(shard).await {
            Ok(link) => {
                backoff.started(Instant::now());
                let link = Arc::new(link);
                let before = self.openings.fetch_add(1, Ordering::Relaxed);
                self.open.store(Some(link.clone()));
                // Whoever wanted it has gone meanwhile.
                if self.is_retired() {
                    self.close(shard).await;
                    return Err(LinkError::Closed);
                }
                if let Some(session) = self.session.as_ref().and_then(Weak::upgrade) {
                    link.add_user(&session);
                }
                pump::start(shard, &link, &self.kind, self);
                rejoin(users, shard, &self.upstream);
                // A server that was gone may have come back with other lists.
                if before > 0 {
                    let (offer, shard, link) = (self.upstream.offer(&self.kind), shard.clone(), link.clone());
                    tokio::spawn(async move { offer.refresh(&shard, &link).await });
                }
                Ok(link)
            }
            Err(e) => {
                if is_child {
                    backoff.ended(Instant::now(), e.to_string());
                }
                Err(e)
            }
        }
    }

    /// Waits out a short rest of a child that keeps ending; refuses during a long one.
    async fn rest(&self, backoff: &Backoff) -> Result<(), LinkError> {
        let now = Instant::now();
        let Some(at) = backoff.next_start(now) else { return Ok(()) };
        let wait = at - now;
        if wait > SHORT_REST {
            return Err(LinkError::Resting(backoff.reason(now).unwrap_or_default()));
        }
        tokio::time::sleep(wait).await;
        Ok(())
    }

    async fn connect(&self, shard: &Shard) -> Result<OpenLink, LinkError> {
        let Kind { era, .. } = self.kind;
        let key = shard.gateway.next_key();
        let request = self.introduction(key);
        let upstream = self.upstream.clone();
        let own = self.session.is_some();
        match &self.upstream.place {
            Place::EventStreams => Err(LinkError::OtherTransport),
            Place::Native(native) => {
                let server = native_server(*native);
                let hello = server.hello(era);
                Ok(OpenLink::new(upstream, era, Wire::Native(server), hello, own))
            }
            Place::Http(target) => {
                let link = HttpLink::new(target.clone(), era);
                let mirror = mirror(era, Method::Discover);
                let hello = link.introduce(&shard.client, request, key, mirror.as_ref()).await?;
                let link = OpenLink::new(upstream, era, Wire::Http(link), hello, own);
                self.same_era(shard, link).await
            }
            Place::Child(spec) => {
                let limits = &shard.gateway.snapshot.limits;
                let child_limits = ChildLimits {
                    line_bytes: limits.result.max(limits.line),
                    stderr_bytes: limits.stderr_ring,
                    stdin_grace: limits.child_stop_timeout,
                    term_grace: limits.child_stop_timeout,
                    ..ChildLimits::default()
                };
                let child = shard.gateway.supervisor.spawn(spec, child_limits).await?;
                let (handle, lines) = child.split();
                let frames = super::frame_limits(limits);
                let (pipe, reader, unasked) =
                    PipeLink::new(handle, lines, frames, limits.calls_per_session * 64, UNASKED);
                let named = tracing::error_span!("child", server = %self.upstream.name());
                tokio::spawn(reader.instrument(named));
                let hello = self.introduce_child(shard, &pipe, request, key).await;
                let hello = match hello {
                    Ok(hello) => hello,
                    Err(e) => {
                        pipe.stop().await;
                        return Err(e);
                    }
                };
                let link = OpenLink::new(upstream, era, Wire::Pipe(pipe), hello, own);
                let link = self.same_era(shard, link).await?;
                link.keep_unasked(unasked);
                Ok(link)
            }
        }
    }

    async fn introduce_child(
        &self,
        shard: &Shard,
        pipe: &PipeLink,
        request: Bytes,
        key: u64,
    ) -> Result<ServerHello, LinkError> {
        let patience = match self.kind.era.lifecycle {
            Lifecycle::Handshake => shard.gateway.snapshot.opening_time(),
            // Servers without this method may keep silent on it; those that have it need no time.
            Lifecycle::Stateless => PROBE.min(shard.gateway.snapshot.opening_time()),
        };
        let answer = async {
            let mut call = pipe.own_call(key, request).await?;
            loop {
                let frame = call.next().await?;
                if matches!(frame.kind(), FrameKind::Response | FrameKind::Error) {
                    return transport::up::read_hello(&frame, self.kind.era);
                }
            }
        };
        let hello = tokio::time::timeout(patience, answer)
            .await
            .map_err(|_| LinkError::Late(patience.as_secs()))??;
        if self.kind.era.lifecycle == Lifecycle::Handshake {
            pipe.notify(proto::era::initialized()).await?;
        }
        Ok(hello)
    }

    /// Refuses a link whose upstream answered in another era.
    async fn same_era(&self, shard: &Shard, link: OpenLink) -> Result<OpenLink, LinkError> {
        if link.hello.era == self.kind.era {
            return Ok(link);
        }
        let spoken = link.hello.era;
        link.close(&shard.client).await;
        Err(LinkError::OtherEra { asked: self.kind.era.version, speaks: spoken.version })
    }

    fn introduction(&self, key: u64) -> Bytes {
        let id = Id::number(key);
        match self.kind.era.lifecycle {
            Lifecycle::Handshake => initialize_request(&id, self.kind.era, &self.params),
            Lifecycle::Stateless => discover_request(&id, self.kind.era, super::CLIENT_INFO),
        }
    }

    /// Whether it should be open although nobody asks for it now.
    pub(crate) fn is_wanted(&self) -> bool {
        self.upstream.over_http()
            && !self.is_retired()
            && self.session.as_ref().is_none_or(|session| session.strong_count() > 0)
    }

    /// Whether it serves one session alone.
    pub(crate) fn is_own(&self) -> bool {
        self.session.is_some()
    }

    /// Lets the link go, if there is one.
    pub(crate) async fn close(&self, shard: &Shard) {
        if let Some(link) = self.open.swap(None) {
            link.close(&shard.client).await;
        }
    }

    /// From now on no link is opened, and one that is being opened is let go as soon as it is open.
    pub(crate) fn retire(&self) {
        self.retired.store(true, Ordering::SeqCst);
    }

    /// Whether nobody will use it any more.
    pub(crate) fn is_retired(&self) -> bool {
        self.retired.load(Ordering::SeqCst)
    }
}

impl Drop for LinkCell {
    fn drop(&mut self) {
        // What listens to the link ends with it.
        if let Some(link) = self.open.swap(None) {
            link.bury();
        }
    }
}

/// Tells a link that took another's place what the other's users had asked for.
fn rejoin(users: Vec<Arc<Session>>, shard: &Shard, upstream: &Arc<Upstream>) {
    for user in users {
        let (shard, upstream) = (shard.clone(), upstream.clone());
        tokio::spawn(async move {
            if let Err(e) = user.link(&shard, &upstream).await {
                tracing::debug!(server = %upstream.name(), "a session could not join again: {}", upstream.told(&e));
            }
        });
    }
}

/// A rest that a caller waits out rather than being refused.
const SHORT_REST: Duration = Duration::from_secs(1);

/// How long a child may keep silent on a question that it may not know.
const PROBE: Duration = Duration::from_secs(5);

fn native_server(native: engine::config::Native) -> Box<dyn native::NativeServer> {
    match native {
        engine::config::Native::Demo => Box::new(native::Demo),
    }
}
