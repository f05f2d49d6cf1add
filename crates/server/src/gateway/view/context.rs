//! What views are made with: a thread's way to servers, and what all threads share. It must not know clients.

use std::sync::{Arc, OnceLock, Weak};

use arc_swap::ArcSwap;
use engine::Snapshot;
use engine::access::Scheme;
use engine::catalogue::UpstreamId;
use proto::mcp::Notice;
use upstream::oauth::Whose;
use upstream::pool::LinkCell;
use upstream::{Egress, Upstream, Upstreams};

use super::view_cell::ViewCell;
use super::views::Views;
use crate::gateway::admission::Identity;

/// Those who are told when a view changes.
pub(crate) trait ViewObserver: Send + Sync {
    /// Tells the clients of a view that these lists have changed. Streams of notices watch by themselves.
    fn changed(&self, view: &ViewCell, lists: &[Notice]);

    /// Returns true if a client with a session sees this view.
    fn sees(&self, view: &ViewCell) -> bool;

    /// The link over which one of its clients reaches a server; none where no client with a session sees it.
    fn list_link(
        &self,
        snapshot: &Snapshot,
        view: &ViewCell,
        upstream: &Arc<Upstream>,
    ) -> Option<Arc<LinkCell>>;
}

/// What all threads share.
pub(crate) struct ViewState {
    /// The snapshot in force, for what has begun under another one.
    pub(crate) current: ArcSwap<Snapshot>,
    /// All servers.
    pub(crate) upstreams: Upstreams,
    /// All views.
    pub(crate) views: Views,
    /// True if nobody is asked who they are, whatever is configured: there is one client, which started this.
    pub(crate) lets_all_in: bool,
    observer: OnceLock<Weak<dyn ViewObserver>>,
}

impl ViewState {
    /// No view yet.
    pub(crate) fn new(snapshot: &Arc<Snapshot>, upstreams: Upstreams, lets_all_in: bool) -> Self {
        let (current, views) = (ArcSwap::new(snapshot.clone()), Views::default());
        Self { current, upstreams, views, lets_all_in, observer: OnceLock::new() }
    }

    /// Sets who is told of changes; once.
    pub(crate) fn set_observer(&self, observer: Weak<dyn ViewObserver>) {
        let _ = self.observer.set(observer);
    }

    /// Who is told of changes, while there is anybody.
    pub(crate) fn observer(&self) -> Option<Arc<dyn ViewObserver>> {
        self.observer.get().and_then(Weak::upgrade)
    }

    /// Whose consents somebody uses: those of nobody in particular, where there is one client alone, which started this; no
    /// consent at all, where callers say who they are and this one does not.
    pub(crate) fn whose(&self, identity: &Identity) -> Option<Whose> {
        let is_known = identity.principal.scheme != Scheme::Anyone;
        (is_known || self.lets_all_in).then(|| Whose::of(&identity.principal))
    }

    /// Who is to see a view of a profile alone: who asks, where a server of it keeps callers apart.
    pub(crate) fn sees_alone(&self, profile: usize, identity: &Identity) -> Option<Whose> {
        let current = self.current.load();
        let profile = &current.profiles[profile];
        let is_parted = || profile.upstreams.iter().any(|id| self.upstreams.get(*id).server.is_parted());
        if profile.apart && is_parted() { self.whose(identity) } else { None }
    }

    /// A server as somebody has it.
    pub(crate) fn upstream_of(&self, id: UpstreamId, identity: &Identity) -> Arc<Upstream> {
        let upstream = self.upstreams.get(id);
        if !upstream.server.is_parted() {
            return upstream;
        }
        self.upstream_by(id, self.whose(identity).as_ref())
    }

    /// A server as this caller has it.
    pub(crate) fn upstream_by(&self, id: UpstreamId, whose: Option<&Whose>) -> Arc<Upstream> {
        whose.map_or_else(|| self.upstreams.get(id), |whose| self.upstreams.of(id, whose))
    }
}

/// What a thread makes views with.
pub(crate) struct ViewContext {
    /// The thread's way to servers.
    pub(crate) egress: Egress,
    /// What all threads share.
    pub(crate) state: Arc<ViewState>,
}
