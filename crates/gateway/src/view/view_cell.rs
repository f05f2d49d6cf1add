//! One view, rebuilt as catalogues change. This module must not know how views are found.

use std::sync::Arc;

use arc_swap::ArcSwap;
use engine::access::{Class, Guard};
use engine::catalogue::{FormerNames, ListKind, UpstreamId, View};
use engine::exchange::{may_gain, may_own, wants_list};
use parking_lot::Mutex;
use proto::mcp::Notice;
use proto::rpc::Frame;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};
use transport::net::Stop;

use super::ClientClass;
use super::basis::{PATIENCE, ViewInput};
use super::context::{ViewContext, ViewObserver};
use super::page_use::PageUse;
use super::views::Key;
use crate::view::revision::Revision;
use upstream::catalogue::Learner;
use upstream::oauth::CallerId;
use upstream::{Server, Upstream};

/// One view and its changes.
pub struct ViewCell {
    pub(crate) profile: usize,
    /// The class of clients that the view is for.
    pub(crate) clients: ClientClass,
    /// The class of callers that the view is for: the same access rules apply to all callers of a class.
    pub(crate) class: Class,
    /// The only owner of consents who may see the view; `None` if all callers of the class may see it.
    pub(crate) caller: Option<CallerId>,
    /// The generation of the access rules (`regime`) that were in force when the view was made.
    pub(crate) regime: u64,
    /// The access rules for the view's callers, if there are any.
    pub(crate) guard: Option<Guard>,
    pub(crate) basis: ArcSwap<ViewInput>,
    /// Held while views are built, so the view that was built last is also published last.
    pub(crate) building: Arc<Mutex<()>>,
    pub(crate) view: ArcSwap<View>,
    pub(crate) revision: watch::Sender<Revision>,
    /// The use of the view's ready pages.
    pub(crate) page_use: PageUse,
    /// Raised when the view must no longer be used.
    pub(crate) retired: Stop,
}

impl ViewCell {
    /// Returns the current view.
    pub(crate) fn view(&self) -> Arc<View> {
        self.view.load_full()
    }

    /// Returns the remaining time for which a view's lists are fresh, in milliseconds: the shortest remaining time
    /// of its servers.
    pub(crate) fn remaining_ms(&self, view: &View) -> u64 {
        if view.is_provisional() {
            return 0;
        }
        let (era, now) = (self.clients.era, std::time::Instant::now());
        let basis = self.basis.load();
        let seen = basis.upstreams.iter().filter(|upstream| !view.denies_server(upstream.server.spec.id));
        let shortest = seen.filter_map(|upstream| upstream.catalogue.fresh_for(era, now)).min();
        shortest.map_or(0, |time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
    }

    /// Subscribes to changes from now on.
    pub(crate) fn watch(&self) -> watch::Receiver<Revision> {
        self.revision.subscribe()
    }

    /// Returns true if a stream of notifications watches the view.
    pub(crate) fn is_watched(&self) -> bool {
        self.revision.receiver_count() > 0
    }

    /// Notifies clients that a list may have changed, because a server announced a change.
    pub(crate) fn announce(&self, observer: Option<&dyn ViewObserver>, server: UpstreamId, notice: Notice) {
        if self.view.load().denies_server(server) {
            return;
        }
        self.revision.send_modify(|revision| revision.count(notice));
        if let Some(observer) = observer {
            observer.announced(self, server, &[notice]);
        }
    }

    /// Notifies the sessions that see this view of the changes; streams of notifications watch the view themselves.
    pub(super) fn tell(&self, observer: Option<&dyn ViewObserver>, changed: &[Notice]) {
        if let Some(observer) = observer.filter(|_| !changed.is_empty()) {
            observer.changed(self, changed);
        }
    }

    /// Rebuilds the view from its servers' current catalogues, and notifies its clients of the differences.
    pub(crate) fn rebuild(&self, observer: Option<&dyn ViewObserver>, schema_bytes: usize) {
        let _one = self.building.lock();
        let changed = self.publish(Arc::new(self.built(schema_bytes, &self.view())));
        self.tell(observer, &changed);
    }

    /// Rebuilds the view in the same way as [`Self::rebuild`], but on the blocking pool if the view is large or other
    /// views are being built.
    async fn rebuild_aside(self: &Arc<Self>, context: &Arc<ViewContext>) {
        let (observer, schema_bytes) =
            (context.state.observer(), context.egress.snapshot().limits.schema_bytes);
        if !self.is_large() && !self.building.is_locked() {
            return self.rebuild(observer.as_deref(), schema_bytes);
        }
        context.state.views.note_large();
        let cell = self.clone();
        let rebuilt =
            transport::task::spawn_blocking(move || cell.rebuild(observer.as_deref(), schema_bytes));
        if rebuilt.await.is_err() {
            tracing::error!("a view was not built: its task panicked");
        }
    }

    /// Returns true if the view is so large that it is built on the blocking pool.
    pub(super) fn is_large(&self) -> bool {
        self.basis.load().is_large(self.clients.era)
    }

    /// Builds a view of the servers' current catalogues.
    pub(crate) fn built(&self, schema_bytes: usize, beside: &View) -> View {
        self.basis.load().build(self.clients, self.guard.as_ref(), schema_bytes, Some(beside))
    }

    /// Builds the same view without some servers.
    pub(crate) fn built_without(&self, left_out: &[UpstreamId], schema_bytes: usize) -> View {
        let basis = self.basis.load().without(left_out);
        basis.build(self.clients, self.guard.as_ref(), schema_bytes, Some(&self.view()))
    }

    /// Returns the key under which the view is found.
    pub(super) fn key(&self) -> Key {
        (self.regime, self.profile, self.clients, self.class.clone(), self.caller.clone())
    }

    /// Returns true if this view shows the same items as another view with this key and this basis.
    pub(super) fn shows_the_same(&self, key: &Key, basis: &ViewInput) -> bool {
        let (regime, profile, clients, class, caller) = self.key();
        let (_, _, others, ..) = key;
        (regime, profile, &class, &caller) == (key.0, key.1, &key.3, &key.4)
            && (clients.era, clients.keeps_ids) == (others.era, others.keeps_ids)
            && self.basis.load().is_like(basis)
            && self.deciding_key().2 == basis.deciding(*others)
    }

    /// Returns the view's key, reduced to the properties that affect what its clients are shown.
    pub(super) fn deciding_key(&self) -> Key {
        let clients = self.basis.load().deciding(self.clients);
        let (regime, profile, _, class, caller) = self.key();
        (regime, profile, clients, class, caller)
    }

    /// Publishes a new view to the clients, and returns the lists that have changed. `building` must be held.
    pub(super) fn publish(&self, new: Arc<View>) -> Vec<Notice> {
        let basis = self.basis.load();
        let old = self.view.load_full();
        log_notes(&basis.profile.slug, new.notes().iter().filter(|note| !old.notes().contains(note)));
        let changed: Vec<Notice> = differing(&new, &old).collect();
        self.view.store(new);
        self.revision.send_if_modified(|revision| {
            for list in &changed {
                revision.count(*list);
            }
            !changed.is_empty()
        });
        changed
    }

    /// Returns true if this request needs pages that must be rebuilt first.
    fn lacks_pages(frame: &Frame, view: &View) -> bool {
        !view.has_pages() && wants_list(frame, view)
    }

    /// Drops the ready pages, unless a client has just listed them. Look-ups by name still work.
    pub(super) fn drop_pages(&self) {
        // If this fails, another task is building views, and needs the pages.
        let Some(_one) = self.building.try_lock() else { return };
        let view = self.view.load_full();
        if view.has_pages() && !self.page_use.is_recent() {
            self.view.store(Arc::new(view.without_pages()));
        }
    }

    /// Replaces the former names under which clients can still use the view's items.
    pub(super) fn set_former_names(&self, former: Arc<FormerNames>) {
        let _one = self.building.lock();
        self.view.store(Arc::new(self.view().with_former(former)));
    }

    /// Returns true if it is too early to answer the request from this view. Servers whose lists are unknown (for
    /// example after a change to the configuration), or have only just arrived, may lead to a different answer.
    pub(crate) fn is_early_for(&self, frame: &Frame, view: &View) -> bool {
        if Self::lacks_pages(frame, view) || self.awaits_lists(frame, view) {
            return true;
        }
        let era = self.clients.era;
        let comes = |upstream: &Upstream| {
            // Check this first: lists that arrive in between are then found by the second check.
            let is_unknown = upstream.catalogue.is_unknown(era);
            upstream.catalogue.is_known(era) || (is_unknown && !upstream.server.hung_lately())
        };
        view.upstreams().iter().any(|u| u.catalogue.is_err())
            && may_gain(frame, view)
            && self.lacks(view, |upstream| comes(upstream) && may_own(frame, view, upstream.name()))
    }

    /// Returns true if the lists of any server are missing in this view, and `such` is true for that server.
    fn lacks(&self, view: &View, such: impl Fn(&Upstream) -> bool) -> bool {
        let basis = self.basis.load();
        // The missing servers and the basis are in the same order, unless the view was built from another basis and is
        // outdated.
        let mut all = basis.upstreams.iter();
        view.upstreams().iter().filter(|u| u.catalogue.is_err()).any(|missing| {
            all.find(|upstream| upstream.server.spec.id == missing.id).is_none_or(|upstream| such(upstream))
        })
    }

    /// Waits for servers whose lists are not known yet, up to the limit for this request. After that, the view
    /// includes all lists that have become known. A call waits only for servers that may own the name in the call.
    pub(crate) async fn complete(self: &Arc<Self>, context: &Arc<ViewContext>, frame: &Frame) {
        let (era, view) = (self.clients.era, self.view());
        let is_list = wants_list(frame, &view);
        if is_list {
            self.page_use.note();
        }
        let patience = |upstream: &Upstream| {
            if is_list {
                context.state.list_wait(context.egress.snapshot(), &upstream.server)
            } else {
                PATIENCE
            }
        };
        self.await_lists(context, frame, &view).await;
        let is_awaited = |upstream: &Upstream| {
            upstream.catalogue.is_unknown(era) && may_own(frame, &view, upstream.name())
        };
        self.basis.load_full().wait_for(&context.egress, era, is_awaited, patience).await;
        // The code that fetched the lists may be about to rebuild the view as well.
        let view = self.view();
        if Self::lacks_pages(frame, &view) || self.lacks(&view, |upstream| upstream.catalogue.is_known(era)) {
            self.rebuild_aside(context).await;
        }
    }

    /// Returns true if lists that belong to the view are due for a fetch.
    pub(crate) fn is_due(&self) -> bool {
        self.basis.load().upstreams.iter().any(|upstream| upstream.catalogue.is_due(self.clients.era))
    }

    /// Begins to fetch the lists that are due.
    pub(crate) fn fetch_due(&self, context: &Arc<ViewContext>) {
        for upstream in &self.basis.load().upstreams {
            if upstream.catalogue.is_due(self.clients.era) {
                drop(upstream.catalogue.fetch(&context.egress, self.clients.era));
            }
        }
    }

    /// Begins to fetch the items that servers show only to clients of this class, over links of one such client.
    /// Returns `true` if any such items will become known for the first time. A client is never introduced to a
    /// server that is entirely denied to it.
    pub(crate) fn learn(
        &self,
        context: &Arc<ViewContext>,
        learner: impl Fn(&Arc<Upstream>) -> Option<Learner>,
    ) -> bool {
        let (view, clients) = (self.view.load(), self.clients);
        let mut is_new = false;
        for upstream in &self.basis.load().upstreams {
            let catalogue = &upstream.catalogue;
            let may_be_used = || {
                !view.denies_server(upstream.server.spec.id)
                    && (catalogue.is_known(clients.era)
                        || self.guard.as_ref().is_none_or(|guard| !guard.bounds(upstream.name())))
            };
            if !catalogue.is_unknown(clients.era)
                && catalogue.is_unlearned(clients.askable)
                && may_be_used()
                && let Some(learner) = learner(upstream)
            {
                drop(catalogue.learn(&context.egress, clients.askable, learner));
            }
            is_new |= catalogue.is_being_learned(clients.askable);
        }
        is_new
    }

    /// Waits for the lists that servers show only to clients of this class, for at most `limits.listWait`.
    pub(crate) async fn learned(&self, context: &Arc<ViewContext>) {
        let askable = self.clients.askable;
        let until = Instant::now() + context.egress.snapshot().limits.list_wait;
        for upstream in &self.basis.load_full().upstreams {
            let mut done = upstream.catalogue.watch();
            while upstream.catalogue.is_being_learned(askable) {
                if timeout_at(until, done.changed()).await.is_err() {
                    return;
                }
            }
        }
    }

    /// Returns the notifications for the lists in which this view differs from another view of the same client.
    pub(crate) fn differs(&self, other: &Self) -> impl Iterator<Item = Notice> + use<> {
        differing(&self.view(), &other.view())
    }

    /// Returns true if exactly this server, either the shared one or one caller's own, is part of the view.
    pub(crate) fn has(&self, server: &Server) -> bool {
        self.basis.load().upstreams.iter().any(|own| std::ptr::eq(Arc::as_ptr(&own.server), server))
    }

    /// Rebuilds the view from the profile's current state, and notifies its clients of the differences.
    pub(crate) fn follow(&self, context: &Arc<ViewContext>) {
        let basis = context.state.basis(self.profile, self.caller.as_ref());
        let is_there = basis.profile.is_there;
        if !basis.is_like(&self.basis.load()) {
            self.basis.store(Arc::new(basis));
            self.rebuild(context.state.observer().as_deref(), context.egress.snapshot().limits.schema_bytes);
            self.fetch_due(context);
        }
        if !is_there {
            self.retired.stop();
        }
    }
}

/// Returns the notifications for lists that differ between two views.
fn differing(one: &View, other: &View) -> impl Iterator<Item = Notice> + use<> {
    let differs = |kind: ListKind| one.pages(kind).digest != other.pages(kind).digest;
    [
        (differs(ListKind::Tools), Notice::ToolsChanged),
        (differs(ListKind::Prompts), Notice::PromptsChanged),
        (differs(ListKind::Resources) || differs(ListKind::Templates), Notice::ResourcesChanged),
    ]
    .into_iter()
    .filter_map(|(differs, notice)| differs.then_some(notice))
}

/// Logs irregularities in the view of a profile.
pub(super) fn log_notes<'a>(profile: &str, notes: impl IntoIterator<Item = &'a String>) {
    for note in notes {
        tracing::warn!(%profile, "{note}");
    }
}
