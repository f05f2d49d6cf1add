//! The context for making views: a thread's access to servers, and the state that all threads share. This module must
//! not know clients.

use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use arc_swap::ArcSwap;
use engine::Snapshot;
use engine::access::Scheme;
use engine::catalogue::UpstreamId;
use proto::era::Era;
use proto::mcp::Notice;
use upstream::oauth::CallerId;
use upstream::{Egress, Server, Upstream, Upstreams};

use super::basis::ViewInput;
use super::names::NameBooks;
use super::view_cell::ViewCell;
use super::views::Views;
use super::whole_views::WholeView;
use crate::admission::Identity;

/// The receiver of changes to views.
pub(crate) trait ViewObserver: Send + Sync {
    /// Notifies the clients of a view that these lists have changed. Streams of notifications watch the view
    /// themselves.
    fn changed(&self, view: &ViewCell, lists: &[Notice]);

    /// Notifies clients of a view that these lists may have changed, because the server announced a change on a
    /// shared link. Clients without shared links to this server are not notified.
    fn announced(&self, view: &ViewCell, server: UpstreamId, lists: &[Notice]);

    /// Returns true if a client with a session sees this view.
    fn sees(&self, view: &ViewCell) -> bool;
}

/// The error for a caller who sees tools in none of the known views.
pub(crate) struct NoKnownView;

/// The state that all threads share.
pub struct ViewState {
    /// The snapshot in force, for requests that started under an earlier one.
    pub(crate) current: ArcSwap<Snapshot>,
    /// All servers.
    pub upstreams: Upstreams,
    /// All views.
    pub(crate) views: Views,
    /// The names that profiles have given to tools and prompts.
    pub(crate) names: NameBooks,
    /// True if callers are not authenticated, regardless of the configuration, because the only client is the one
    /// that started this process.
    pub(crate) lets_all_in: bool,
    child_wait: Option<Duration>,
    observer: OnceLock<Weak<dyn ViewObserver>>,
}

impl ViewState {
    /// Creates the state with no views.
    pub(crate) fn new(
        snapshot: &Arc<Snapshot>,
        upstreams: Upstreams,
        lets_all_in: bool,
        child_wait: Option<Duration>,
    ) -> Self {
        let (current, views) = (ArcSwap::new(snapshot.clone()), Views::default());
        let (names, observer) = (NameBooks::default(), OnceLock::new());
        Self { current, upstreams, views, names, lets_all_in, child_wait, observer }
    }

    /// Returns the time that a request for a list waits for a server whose lists are not known yet.
    pub(super) fn list_wait(&self, snapshot: &Snapshot, server: &Server) -> Duration {
        self.child_wait.filter(|_| server.is_child()).unwrap_or(snapshot.limits.list_wait)
    }

    /// Adds the sizes of ready pages and catalogues, in bytes, to the total size of all kept data.
    pub(crate) fn count_kept(&self) {
        let families = self.upstreams.families();
        self.views.count_kept(families.iter().map(|upstream| upstream.catalogue.bytes()).sum());
    }

    /// Sets the receiver of changes; works only once.
    pub(crate) fn set_observer(&self, observer: Weak<dyn ViewObserver>) {
        let _ = self.observer.set(observer);
    }

    /// Returns the receiver of changes, if it still exists.
    pub(crate) fn observer(&self) -> Option<Arc<dyn ViewObserver>> {
        self.observer.get().and_then(Weak::upgrade)
    }

    /// Returns the owner of the consents that this caller uses. A client that started this process as its only client
    /// uses the shared consents. If callers are authenticated, an anonymous caller uses no consents.
    pub(crate) fn caller_id(&self, identity: &Identity) -> Option<CallerId> {
        let passed = || identity.passed.clone();
        if identity.principal.scheme != Scheme::Anyone || self.lets_all_in {
            return Some(CallerId::of(&identity.principal).passing(passed()));
        }
        (!identity.passed.is_empty()).then(|| CallerId::stranger(passed()))
    }

    /// Returns the owner of a view that is not shared with other callers; `None` unless a server of the profile is
    /// per-caller.
    pub(crate) fn sees_alone(&self, profile: usize, identity: &Identity) -> Option<CallerId> {
        let current = self.current.load();
        let profile = &current.profiles[profile];
        let is_per_caller =
            || profile.upstreams.iter().any(|id| self.upstreams.get(*id).server.is_per_caller());
        if profile.per_caller && is_per_caller() { self.caller_id(identity) } else { None }
    }

    /// Returns the servers of a profile in their current state.
    pub(super) fn basis(&self, profile: usize, caller: Option<&CallerId>) -> ViewInput {
        let snapshot = self.current.load();
        let profile = snapshot.profiles[profile].clone();
        let upstreams = profile.upstreams.iter().map(|id| self.upstream_by(*id, caller)).collect();
        let names = (self.names.of(&profile.slug), snapshot.limits.former_names);
        ViewInput::new(profile, upstreams, snapshot.asks, names)
    }

    /// The inputs of a view that operators see: the count of changes to catalogues, the length of the longest schema that is
    /// compiled, and the profile with its servers.
    fn inputs_of_whole(&self, profile: usize) -> ((u64, usize), ViewInput) {
        let schema_bytes = self.current.load().limits.schema_bytes;
        ((self.views.changes.load(Ordering::SeqCst), schema_bytes), self.basis(profile, None))
    }

    /// Returns the view of a profile over the lists that all callers share, without access rules, if it is already known.
    pub fn known_whole(&self, profile: usize, era: &'static Era) -> Option<Arc<WholeView>> {
        let (inputs, basis) = self.inputs_of_whole(profile);
        self.views.whole.find((profile, era), inputs, &basis)
    }

    /// Returns the view of a profile over the lists that all callers share, without access rules. Building the view takes a
    /// while if there are many items, so call this on the blocking pool.
    pub fn build_whole(&self, profile: usize, era: &'static Era) -> Arc<WholeView> {
        self.views.note_large();
        let inputs = || self.inputs_of_whole(profile);
        let whole = self.views.whole.build((profile, era), inputs, || self.views.any_of(profile));
        self.count_kept();
        whole
    }

    /// Returns a server as seen by this caller.
    pub fn upstream_of(&self, id: UpstreamId, identity: &Identity) -> Arc<Upstream> {
        let upstream = self.upstreams.get(id);
        if !upstream.server.is_per_caller() {
            return upstream;
        }
        self.upstream_by(id, self.caller_id(identity).as_ref())
    }

    /// Returns a server as seen by this owner of consents.
    pub(crate) fn upstream_by(&self, id: UpstreamId, caller: Option<&CallerId>) -> Arc<Upstream> {
        caller.map_or_else(|| self.upstreams.get(id), |caller| self.upstreams.of(id, caller))
    }
}

/// A thread's context for making views.
pub struct ViewContext {
    /// The thread's access to servers.
    pub(crate) egress: Egress,
    /// The state that all threads share.
    pub state: Arc<ViewState>,
}
