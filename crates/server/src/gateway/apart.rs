//! Servers that keep their callers apart, because each gives a consent of its own: a caller's links there, what it is offered
//! over them and what it listens to are in an [`Upstream`] of its own, of which others see nothing. Until such a server wants
//! consent its callers share what needs none. It must not know how consent is given.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use engine::access::Scheme;
use engine::catalogue::UpstreamId;
use parking_lot::Mutex;

use super::call::Call;
use super::identity::Identity;
use super::link_cell::LinkCell;
use super::upstream::Upstream;
use super::{Gateway, Shard, partings};
use crate::consent::{Consents, Whose};

/// How many callers of one server have links of their own.
const MOST: usize = 256;

/// The callers of one server, apart from each other.
pub(crate) struct Apart {
    consents: Arc<Consents>,
    /// Whether the server has wanted consent.
    wants: AtomicBool,
    /// Whether that is not known yet to those who have begun before.
    is_news: AtomicBool,
    own: Mutex<HashMap<Arc<str>, Own>>,
}

/// What one caller has.
struct Own {
    upstream: Arc<Upstream>,
    used: Instant,
}

impl Apart {
    /// Nobody's yet; `wants` where the configuration says that the server will want consent.
    pub(super) fn new(consents: &Arc<Consents>, wants: bool) -> Self {
        let (consents, wants) = (consents.clone(), AtomicBool::new(wants));
        Self { consents, wants, is_news: AtomicBool::new(false), own: Mutex::default() }
    }

    /// The server wants consent: from now on callers are apart.
    pub(super) fn part(&self) {
        if !self.wants.swap(true, Ordering::SeqCst) {
            self.is_news.store(true, Ordering::SeqCst);
        }
    }

    /// Whether they are.
    pub(super) fn is_parted(&self) -> bool {
        self.wants.load(Ordering::Relaxed)
    }

    fn take_news(&self) -> bool {
        self.is_news.swap(false, Ordering::SeqCst)
    }

    fn all(&self) -> Vec<Arc<Upstream>> {
        self.own.lock().values().map(|own| own.upstream.clone()).collect()
    }
}

impl Upstream {
    /// Whether callers are apart there.
    pub(crate) fn is_parted(&self) -> bool {
        self.apart.as_ref().is_some_and(Apart::is_parted)
    }

    /// The same as this caller has it. What nobody has for itself is also for those for whom there is no room: it shows no
    /// credential.
    fn of(self: &Arc<Self>, whose: &Whose) -> Arc<Self> {
        let Some(apart) = self.apart.as_ref().filter(|apart| apart.is_parted()) else { return self.clone() };
        let mut all = apart.own.lock();
        if let Some(own) = all.get_mut(&whose.id) {
            own.used = Instant::now();
            return own.upstream.clone();
        }
        // Whoever ends a server raises this before it looks whose it is.
        if self.leaving.is_stopped() || all.len() >= MOST {
            return self.clone();
        }
        let upstream = Arc::new(self.owned(whose, &apart.consents));
        all.insert(whose.id.clone(), Own { upstream: upstream.clone(), used: Instant::now() });
        upstream
    }

    /// It and all that callers have of it for themselves.
    pub(crate) fn family(self: &Arc<Self>) -> Vec<Arc<Self>> {
        let own = self.apart.as_ref().map(Apart::all).unwrap_or_default();
        std::iter::once(self.clone()).chain(own).collect()
    }
}

impl Gateway {
    /// Whose consents somebody uses: those of nobody in particular, where there is one client alone, which started this; no
    /// consent at all, where callers say who they are and this one does not.
    pub(super) fn whose(&self, identity: &Identity) -> Option<Whose> {
        let is_known = identity.principal.scheme != Scheme::Anyone;
        (is_known || self.lets_all_in).then(|| Whose::of(&identity.principal))
    }

    /// Who is to see a view of a profile alone: who asks, where a server of it keeps callers apart.
    pub(super) fn sees_alone(&self, profile: usize, identity: &Identity) -> Option<Whose> {
        let current = self.current.load();
        let profile = &current.profiles[profile];
        let is_parted = || profile.upstreams.iter().any(|id| self.upstream(*id).is_parted());
        if profile.apart && is_parted() { self.whose(identity) } else { None }
    }

    /// A server as somebody has it.
    pub(super) fn upstream_of(&self, id: UpstreamId, identity: &Identity) -> Arc<Upstream> {
        let upstream = self.upstream(id);
        if !upstream.is_parted() {
            return upstream;
        }
        self.upstream_by(id, self.whose(identity).as_ref())
    }

    /// A server as this caller has it.
    pub(super) fn upstream_by(&self, id: UpstreamId, whose: Option<&Whose>) -> Arc<Upstream> {
        let upstream = self.upstream(id);
        whose.map_or_else(|| upstream.clone(), |whose| upstream.of(whose))
    }
}

impl Call {
    /// Goes over to its caller's own server, when it was refused by what callers share; `false` where it cannot.
    pub(super) fn part(&mut self) -> bool {
        let own = self.shard.gateway.upstream_of(self.upstream.spec.id, self.caller.identity());
        if Arc::ptr_eq(&own, &self.upstream) || self.lease.is_some() {
            return false;
        }
        self.upstream = own;
        true
    }
}

/// Tells views and sessions that have begun before a server wanted consent that callers are apart there.
pub(super) fn tell_news(shard: &Shard) {
    let all = shard.gateway.upstreams.all();
    let news = all.iter().filter(|upstream| upstream.apart.as_ref().is_some_and(Apart::take_news));
    let news: Vec<UpstreamId> = news.map(|upstream| upstream.spec.id).collect();
    if news.is_empty() {
        return;
    }
    for id in news {
        shard.gateway.views.part(shard, id);
    }
    for session in shard.gateway.sessions.all() {
        session.follow(shard);
    }
}

/// Lets go of what callers have had for themselves and not used for so long: what they allowed is kept.
pub(super) fn shed(shard: &Shard, after: Duration) {
    for upstream in shard.gateway.upstreams.all().iter() {
        let Some(apart) = &upstream.apart else { continue };
        let is_busy =
            |cell: &Arc<LinkCell>| cell.is_needed() || cell.current().is_some_and(|link| link.is_used());
        let is_left = |own: &Own| {
            own.used.elapsed() > after
                && !own.upstream.topics.is_followed()
                && !own.upstream.cells().iter().any(is_busy)
        };
        let idle: Vec<(Arc<str>, Arc<Upstream>)> = {
            let all = apart.own.lock();
            let idle = all.iter().filter(|(_, own)| is_left(own));
            idle.map(|(id, own)| (id.clone(), own.upstream.clone())).collect()
        };
        let views = &shard.gateway.views;
        let gone = |(id, upstream): &(Arc<str>, Arc<Upstream>)| {
            views.let_go(upstream, || apart.own.lock().remove(id)).flatten()
        };
        let left: Vec<Own> = idle.iter().filter_map(gone).collect();
        for Own { upstream, .. } in left {
            let shard = shard.clone();
            partings::beside(async move {
                upstream.end();
                for cell in upstream.cells() {
                    cell.retire();
                    cell.close(&shard).await;
                }
                upstream.forget_all();
            });
        }
    }
}
