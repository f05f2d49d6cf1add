//! One view, rebuilt as catalogues change. It must not know how views are found.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use engine::access::{Class, Guard};
use engine::catalogue::{ListKind, UpstreamId, View, ViewSpec};
use engine::config::{Affinity, QuestionPolicy};
use engine::exchange::{may_gain, may_own, wants_list};
use engine::snapshot::ProfileSpec;
use parking_lot::Mutex;
use proto::bridge::input::Askable;
use proto::era::Era;
use proto::mcp::Notice;
use proto::rpc::Frame;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};
use transport::net::Stop;

use super::ClientClass;
use super::context::{ViewContext, ViewObserver};
use super::views::Key;
use crate::view::revision::Revision;
use upstream::catalogue::Learner;
use upstream::oauth::CallerId;
use upstream::{Server, Upstream};

/// The time for which a call waits for servers that are still starting, because one of them may have the tool. A list
/// waits less (`limits.listWait`): servers join it when they are ready.
const PATIENCE: Duration = Duration::from_secs(8);

/// One view and its changes.
pub(crate) struct ViewCell {
    pub(crate) profile: usize,
    /// The class of clients that it is for.
    pub(crate) clients: ClientClass,
    /// Askers for whom the same rules count.
    pub(crate) class: Class,
    /// The only owner that may see it; `None` if the whole class may.
    pub(crate) caller: Option<CallerId>,
    /// The number of the rules in force when it was made.
    pub(crate) regime: u64,
    /// The rules for its callers, if there are any.
    pub(crate) guard: Option<Guard>,
    pub(crate) basis: ArcSwap<Basis>,
    /// Held while views are built: what is built last is what is there last.
    pub(crate) building: Arc<Mutex<()>>,
    pub(crate) view: ArcSwap<View>,
    pub(crate) revision: watch::Sender<Revision>,
    /// Raised when it must not be used any more.
    pub(crate) retired: Stop,
}

/// The input of a view.
pub(crate) struct Basis {
    pub(crate) profile: ProfileSpec,
    pub(crate) upstreams: Vec<Arc<Upstream>>,
    /// True if callers say who they are, anywhere.
    asks: bool,
}

impl Basis {
    /// The servers of a profile as it is now.
    pub(crate) fn now(context: &Arc<ViewContext>, profile: usize, caller: Option<&CallerId>) -> Self {
        let snapshot = context.state.current.load();
        let profile = snapshot.profiles[profile].clone();
        let own = |id: &UpstreamId| context.state.upstream_by(*id, caller);
        let upstreams: Vec<_> = profile.upstreams.iter().map(own).collect();
        Self { profile, upstreams, asks: snapshot.asks }
    }

    pub(super) fn is_like(&self, other: &Self) -> bool {
        let (own, others) = (&self.profile, &other.profile);
        own.rules == others.rules
            && own.upstreams == others.upstreams
            && self.upstreams.iter().zip(&other.upstreams).all(|(own, other)| Arc::ptr_eq(own, other))
            && own.server_info == others.server_info
            && self.asks == other.asks
    }

    /// A class of clients, reduced to what decides what they are shown.
    pub(super) fn deciding(&self, clients: ClientClass) -> ClientClass {
        if clients.askable.is_nothing() {
            return clients;
        }
        let own = |upstream: &Arc<Upstream>| upstream.catalogue.deciding(clients.askable);
        ClientClass {
            askable: self.upstreams.iter().map(own).fold(Askable::NOTHING, Askable::and),
            ..clients
        }
    }

    /// Begins to fetch those of its lists, and waits for them for so long, counted from when they are first asked for; not
    /// for servers that kept a call waiting in vain a moment ago.
    pub(crate) async fn wait_for(
        &self,
        context: &Arc<ViewContext>,
        era: &'static Era,
        which: impl Fn(&Upstream) -> bool,
        patience: impl Fn(&Upstream) -> Duration,
    ) {
        let now = Instant::now();
        let due: Vec<_> = self
            .upstreams
            .iter()
            .filter(|upstream| which(upstream))
            .map(|upstream| {
                let until = now + patience(upstream).saturating_sub(upstream.catalogue.under_way());
                (upstream, until, upstream.catalogue.fetch(&context.egress, era))
            })
            .collect();
        for (upstream, until, mut done) in due {
            if upstream.server.hung_lately() {
                continue;
            }
            let known = async {
                let _ = done.changed().await;
                // What was fetched may have been the lists of the other lifecycle.
                if upstream.catalogue.is_unknown(era) {
                    let _ = upstream.catalogue.fetch(&context.egress, era).changed().await;
                }
            };
            if timeout_at(until, known).await.is_err() && patience(upstream) >= PATIENCE {
                upstream.server.note_hang(true);
                upstream.catalogue.note_silence();
            }
        }
    }

    pub(crate) fn build(&self, clients: ClientClass, guard: Option<&Guard>, schema_bytes: usize) -> View {
        let shares = |upstream: &Arc<Upstream>| match upstream.server.spec.affinity {
            Affinity::Session => false,
            Affinity::Shared | Affinity::Caller => {
                upstream.server.spec.asks == QuestionPolicy::Never || !clients.keeps_ids
            }
        };
        let is_shared = self.upstreams.iter().any(shares);
        // Some are shown more than others.
        let is_per_caller = |upstream: &Arc<Upstream>| upstream.server.is_per_caller();
        let by_class = !self.deciding(clients).askable.is_nothing();
        let spec = ViewSpec {
            era: clients.era,
            profile: &self.profile.rules,
            server_info: &self.profile.server_info,
            schema_bytes,
            guard,
            separate: self.asks || is_shared,
            personal: self.asks || by_class || self.upstreams.iter().any(is_per_caller),
        };
        let part = |upstream: &Arc<Upstream>| upstream.catalogue.part(clients.era, clients.askable);
        View::build(spec, self.upstreams.iter().map(part).collect())
    }
}

impl ViewCell {
    /// The current view.
    pub(crate) fn view(&self) -> Arc<View> {
        self.view.load_full()
    }

    /// The time for which a view's lists hold from now on, in milliseconds: as long as the shortest of its servers' do.
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

    /// Returns true if a stream of notices watches it.
    pub(crate) fn is_watched(&self) -> bool {
        self.revision.receiver_count() > 0
    }

    /// Notifies clients that a list changed, because its server announced it.
    pub(crate) fn announce(&self, observer: Option<&dyn ViewObserver>, server: UpstreamId, notice: Notice) {
        if self.view.load().denies_server(server) {
            return;
        }
        self.revision.send_modify(|revision| revision.count(notice));
        if let Some(observer) = observer {
            observer.announced(self, server, &[notice]);
        }
    }

    /// Notifies the sessions that see this view of the changes since `before`; streams of notices watch by themselves.
    fn publish(&self, observer: Option<&dyn ViewObserver>, before: Revision) {
        let now = *self.revision.borrow();
        if now == before {
            return;
        }
        if let Some(observer) = observer {
            let lists: Vec<Notice> = now.since(before).collect();
            observer.changed(self, &lists);
        }
    }

    /// Rebuilds it from its servers' current catalogues, and notifies its clients of the differences.
    pub(crate) fn rebuild(&self, observer: Option<&dyn ViewObserver>, schema_bytes: usize) {
        let _one = self.building.lock();
        self.show(observer, Arc::new(self.built(schema_bytes)));
    }

    /// The view of what its servers offer now.
    pub(crate) fn built(&self, schema_bytes: usize) -> View {
        self.basis.load().build(self.clients, self.guard.as_ref(), schema_bytes)
    }

    /// The key under which it is found.
    pub(super) fn key(&self) -> Key {
        let caller = self.caller.as_ref().map(|caller| caller.id.clone());
        (self.regime, self.profile, self.clients, self.class.clone(), caller)
    }

    /// The same key, reduced to what decides what its clients are shown.
    pub(super) fn deciding_key(&self) -> Key {
        let clients = self.basis.load().deciding(self.clients);
        let (regime, profile, _, class, caller) = self.key();
        (regime, profile, clients, class, caller)
    }

    /// Shows its clients what their servers offer now, and tells them what has changed by that. `building` is held.
    pub(super) fn show(&self, observer: Option<&dyn ViewObserver>, new: Arc<View>) {
        let basis = self.basis.load();
        let old = self.view.load_full();
        for note in new.notes().iter().filter(|note| !old.notes().contains(note)) {
            tracing::warn!(profile = %basis.profile.slug, "{note}");
        }
        self.view.store(new);
        let new = self.view.load();
        let before = *self.revision.borrow();
        let differs = |kind| new.pages(kind).digest != old.pages(kind).digest;
        self.revision.send_if_modified(|revision| {
            if differs(ListKind::Tools) {
                revision.tools += 1;
            }
            if differs(ListKind::Prompts) {
                revision.prompts += 1;
            }
            if differs(ListKind::Resources) || differs(ListKind::Templates) {
                revision.resources += 1;
            }
            *revision != before
        });
        self.publish(observer, before);
    }

    /// Returns true if this view could answer the request, but too early: servers whose lists are unknown, as after a
    /// change of the configuration, or have just arrived, may lead to a different answer.
    pub(crate) fn is_early_for(&self, frame: &Frame, view: &View) -> bool {
        let era = self.clients.era;
        let comes = |upstream: &Upstream| {
            // Asked first: lists that arrive in between are known by the second question.
            let is_unknown = upstream.catalogue.is_unknown(era);
            upstream.catalogue.is_known(era) || (is_unknown && !upstream.server.hung_lately())
        };
        view.upstreams().iter().any(|u| u.catalogue.is_err())
            && may_gain(frame, view)
            && self.lacks(view, |upstream| comes(upstream) && may_own(frame, view, upstream.name()))
    }

    /// Returns true if one of the servers that are missing in this view is such.
    fn lacks(&self, view: &View, such: impl Fn(&Upstream) -> bool) -> bool {
        let basis = self.basis.load();
        // They stand in the same order, unless the view is of another basis, and behind the times.
        let mut all = basis.upstreams.iter();
        view.upstreams().iter().filter(|u| u.catalogue.is_err()).any(|missing| {
            all.find(|upstream| upstream.server.spec.id == missing.id).is_none_or(|upstream| such(upstream))
        })
    }

    /// Waits for servers of which nothing is known yet, as long as this request can be kept waiting; what is known by then is
    /// in the view. A call waits only for servers that may have what it names.
    pub(crate) async fn complete(&self, context: &Arc<ViewContext>, frame: &Frame) {
        let patience = |upstream: &Upstream| {
            if wants_list(frame) {
                context.state.list_wait(context.egress.snapshot(), &upstream.server)
            } else {
                PATIENCE
            }
        };
        let (era, view) = (self.clients.era, self.view());
        let is_awaited = |upstream: &Upstream| {
            upstream.catalogue.is_unknown(era) && may_own(frame, &view, upstream.name())
        };
        self.basis.load_full().wait_for(context, era, is_awaited, patience).await;
        // Whoever fetched the lists may be about to do this.
        if self.lacks(&self.view(), |upstream| upstream.catalogue.is_known(era)) {
            self.rebuild(context.state.observer().as_deref(), context.egress.snapshot().limits.schema_bytes);
        }
    }

    /// Returns true if lists that belong to it are to be fetched.
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

    /// Begins to learn what its servers show only to such clients, over links of one of them; `true` when something of that is
    /// about to be known for the first time. A client is introduced to no server of which it may use nothing.
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

    /// Waits until it is known what its servers show only to such clients, as long as a list can wait.
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

    /// The notices for lists that differ from another view of the same client.
    pub(crate) fn differs(&self, other: &Self) -> impl Iterator<Item = Notice> + use<> {
        let (own, other) = (self.view(), other.view());
        let differs = |kind: ListKind| own.pages(kind).digest != other.pages(kind).digest;
        [
            (differs(ListKind::Tools), Notice::ToolsChanged),
            (differs(ListKind::Prompts), Notice::PromptsChanged),
            (differs(ListKind::Resources) || differs(ListKind::Templates), Notice::ResourcesChanged),
        ]
        .into_iter()
        .filter_map(|(differs, notice)| differs.then_some(notice))
    }

    /// Returns true if this server, shared or per caller, is part of it.
    pub(crate) fn has(&self, server: &Server) -> bool {
        self.basis.load().upstreams.iter().any(|own| std::ptr::eq(Arc::as_ptr(&own.server), server))
    }

    /// Rebuilds it from the profile's current state, and notifies its clients of the differences.
    pub(crate) fn follow(&self, context: &Arc<ViewContext>) {
        let basis = Basis::now(context, self.profile, self.caller.as_ref());
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
