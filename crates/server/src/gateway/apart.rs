//! Servers that callers have for themselves, because each gives a consent of its own: whose they are, and when they are let go.
//! It must not know how consent is given.

use std::sync::Arc;
use std::time::Duration;

use engine::access::Scheme;
use engine::catalogue::UpstreamId;
use upstream::oauth::Whose;
use upstream::{Upstream, parting};

use super::call::Call;
use super::identity::Identity;
use super::{Gateway, Shard};

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
        let is_parted = || profile.upstreams.iter().any(|id| self.upstream(*id).server.is_parted());
        if profile.apart && is_parted() { self.whose(identity) } else { None }
    }

    /// A server as somebody has it.
    pub(super) fn upstream_of(&self, id: UpstreamId, identity: &Identity) -> Arc<Upstream> {
        let upstream = self.upstream(id);
        if !upstream.server.is_parted() {
            return upstream;
        }
        self.upstream_by(id, self.whose(identity).as_ref())
    }

    /// A server as this caller has it.
    pub(super) fn upstream_by(&self, id: UpstreamId, whose: Option<&Whose>) -> Arc<Upstream> {
        whose.map_or_else(|| self.upstream(id), |whose| self.upstreams.of(id, whose))
    }
}

impl Call {
    /// Goes over to its caller's own server, when it was refused by what callers share; `false` where it cannot.
    pub(super) fn part(&mut self) -> bool {
        let own = self.shard.gateway.upstream_of(self.upstream.server.spec.id, self.caller.identity());
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
    let news = all.iter().map(|one| &one.common.server).filter(|server| server.take_news());
    let news: Vec<UpstreamId> = news.map(|server| server.spec.id).collect();
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
    for one in shard.gateway.upstreams.all().iter() {
        for (caller, upstream) in one.idle(after) {
            let gone = shard.gateway.views.let_go(&upstream.server, || one.remove(&caller)).flatten();
            let Some(upstream) = gone else { continue };
            let egress = shard.egress.clone();
            parting::beside(async move {
                upstream.server.end();
                for cell in upstream.cells() {
                    cell.retire();
                    cell.close(&egress).await;
                }
                upstream.forget_all();
            });
        }
    }
}
