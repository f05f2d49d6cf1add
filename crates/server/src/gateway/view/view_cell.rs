//! One view that clients see, kept up to date as offers change. It must not know who looks for views.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use engine::access::{Class, Guard};
use engine::catalogue::{ListKind, UpstreamId, View, ViewSpec};
use engine::exchange::{may_gain, wants_list};
use engine::snapshot::ProfileSpec;
use parking_lot::Mutex;
use proto::mcp::Notice;
use proto::rpc::Frame;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};
use transport::net::Stop;

use super::context::{ViewContext, ViewObserver};
use crate::gateway::view::revision::Revision;
use upstream::Server;
use upstream::catalogue::OfferCell;
use upstream::oauth::Whose;
use upstream::pool::LinkCell;
use upstream::{Kind, Upstream};

/// The time for which a call waits for servers that are still starting, one of which may have what it names. A list
/// waits shorter (`limits.listWait`): servers join it when they are ready.
const PATIENCE: Duration = Duration::from_secs(8);

/// One view and its changes.
pub(crate) struct ViewCell {
    pub(crate) profile: usize,
    pub(crate) kind: Kind,
    /// Askers for whom the same rules count.
    pub(crate) class: Class,
    /// Who sees it alone; all of the class without.
    pub(crate) whose: Option<Whose>,
    /// Under which rules.
    pub(crate) regime: u64,
    /// What they may use, where there are rules.
    pub(crate) guard: Option<Guard>,
    pub(crate) basis: ArcSwap<Basis>,
    /// Held while it is built: what is built last is what is there last.
    pub(crate) building: Mutex<()>,
    pub(crate) view: ArcSwap<View>,
    pub(crate) revision: watch::Sender<Revision>,
    /// Raised when nobody is to see it any more.
    pub(crate) retired: Stop,
}

/// What a view is made of.
pub(crate) struct Basis {
    pub(crate) profile: ProfileSpec,
    pub(crate) upstreams: Vec<Arc<Upstream>>,
    pub(crate) offers: Vec<Arc<OfferCell>>,
    /// True if callers say who they are, anywhere.
    asks: bool,
}

impl Basis {
    /// What a profile has now.
    pub(crate) fn now(
        context: &Arc<ViewContext>,
        profile: usize,
        kind: &Kind,
        whose: Option<&Whose>,
    ) -> Self {
        let snapshot = context.state.current.load();
        let profile = snapshot.profiles[profile].clone();
        let own = |id: &UpstreamId| context.state.upstream_by(*id, whose);
        let upstreams: Vec<_> = profile.upstreams.iter().map(own).collect();
        let offers = upstreams.iter().map(|upstream| upstream.offer(kind)).collect();
        Self { profile, upstreams, offers, asks: snapshot.asks }
    }

    fn is_like(&self, other: &Self) -> bool {
        let (own, others) = (&self.profile, &other.profile);
        own.rules == others.rules
            && own.upstreams == others.upstreams
            && self.upstreams.iter().zip(&other.upstreams).all(|(own, other)| Arc::ptr_eq(own, other))
            && own.server_info == others.server_info
            && self.asks == other.asks
    }

    /// Begins to fetch what is due.
    fn fetch_due(&self, context: &Arc<ViewContext>, link: impl Fn(&Arc<Upstream>) -> Arc<LinkCell>) {
        for (offer, upstream) in self.offers.iter().zip(&self.upstreams) {
            if offer.is_due() {
                offer.fetch(&context.egress, link(upstream));
            }
        }
    }

    /// Begins to fetch those of its offers, and waits for them for so long, counted from when they are first asked for; not
    /// for servers that kept a call waiting in vain a moment ago.
    pub(crate) async fn wait_for(
        &self,
        context: &Arc<ViewContext>,
        link: &impl Fn(&Arc<Upstream>) -> Arc<LinkCell>,
        which: impl Fn(&OfferCell) -> bool,
        patience: Duration,
    ) {
        let now = Instant::now();
        let due: Vec<_> = self
            .offers
            .iter()
            .zip(&self.upstreams)
            .filter(|(offer, _)| which(offer))
            .map(|(offer, upstream)| {
                let until = now + patience.saturating_sub(offer.under_way());
                (offer, upstream, until, offer.fetch(&context.egress, link(upstream)))
            })
            .collect();
        for (offer, upstream, until, mut done) in due {
            if upstream.server.hung_lately() {
                continue;
            }
            let known = async {
                let _ = done.changed().await;
                // It was fetched for another client, which has left.
                if offer.is_unknown() {
                    let _ = offer.fetch(&context.egress, link(upstream)).changed().await;
                }
            };
            if timeout_at(until, known).await.is_err() && patience >= PATIENCE {
                upstream.server.note_hang(true);
            }
        }
    }

    pub(crate) fn build(&self, kind: &Kind, guard: Option<&Guard>, schema_bytes: usize) -> View {
        let is_shared = self.upstreams.iter().any(|upstream| upstream.server.is_shared_by(kind));
        let spec = ViewSpec {
            era: kind.era,
            profile: &self.profile.rules,
            server_info: &self.profile.server_info,
            schema_bytes,
            guard,
            separate: self.asks || is_shared,
        };
        View::build(spec, self.offers.iter().map(|offer| offer.part()).collect())
    }
}

impl ViewCell {
    /// The view as it is now.
    pub(crate) fn view(&self) -> Arc<View> {
        self.view.load_full()
    }

    /// Watches for changes from now on.
    pub(crate) fn watch(&self) -> watch::Receiver<Revision> {
        self.revision.subscribe()
    }

    /// Returns true if a stream of notices is open on it.
    pub(crate) fn is_watched(&self) -> bool {
        self.revision.receiver_count() > 0
    }

    /// Tells clients that a list changed, because its server said so.
    pub(crate) fn announce(&self, observer: Option<&dyn ViewObserver>, server: UpstreamId, notice: Notice) {
        if self.view.load().shuts(server) {
            return;
        }
        let before = *self.revision.borrow();
        self.revision.send_modify(|revision| revision.count(notice));
        self.publish(observer, before);
    }

    /// Tells the sessions that see this view what has changed since `before`; streams of notices watch by themselves.
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

    /// Builds it anew of what its servers offer now, and tells its clients what has changed by that.
    pub(crate) fn rebuild(&self, observer: Option<&dyn ViewObserver>, schema_bytes: usize) {
        let _one = self.building.lock();
        let basis = self.basis.load();
        let new = basis.build(&self.kind, self.guard.as_ref(), schema_bytes);
        let old = self.view.load_full();
        for note in new.notes().iter().filter(|note| !old.notes().contains(note)) {
            tracing::warn!(profile = %basis.profile.slug, "{note}");
        }
        self.view.store(Arc::new(new));
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

    /// Returns true if this request, which this view of now could answer, comes too early: it may be answered
    /// otherwise by servers of which nothing is known yet, as after a change of the configuration, or whose lists came
    /// just now.
    pub(crate) fn is_early_for(&self, frame: &Frame, view: &View) -> bool {
        let comes = |offer: &OfferCell, upstream: &Upstream| {
            offer.is_known() || (offer.is_unknown() && !upstream.server.hung_lately())
        };
        view.upstreams().iter().any(|u| u.offer.is_err()) && may_gain(frame, view) && self.lacks(view, comes)
    }

    /// Returns true if one of the servers that are missing in this view is such.
    fn lacks(&self, view: &View, such: impl Fn(&OfferCell, &Upstream) -> bool) -> bool {
        let basis = self.basis.load();
        // They stand in the same order, unless the view is of another basis, and behind the times.
        let mut all = basis.offers.iter().zip(&basis.upstreams);
        view.upstreams().iter().filter(|u| u.offer.is_err()).any(|missing| {
            all.find(|(_, upstream)| upstream.server.spec.id == missing.id)
                .is_none_or(|(offer, upstream)| such(offer, upstream))
        })
    }

    /// Waits for servers of which nothing is known yet, as long as this request can be kept waiting; what is known by then is
    /// in the view.
    pub(crate) async fn complete(
        &self,
        context: &Arc<ViewContext>,
        frame: &Frame,
        link: impl Fn(&Arc<Upstream>) -> Arc<LinkCell>,
    ) {
        let patience = if wants_list(frame) { context.egress.snapshot.limits.list_wait } else { PATIENCE };
        self.basis.load_full().wait_for(context, &link, OfferCell::is_unknown, patience).await;
        // Whoever fetched the lists may be about to do this.
        if self.lacks(&self.view(), |offer, _| offer.is_known()) {
            self.rebuild(context.state.observer().as_deref(), context.egress.snapshot.limits.schema_bytes);
        }
    }

    /// Tries absent upstreams again, in the background.
    pub(crate) fn retry_absent(
        &self,
        context: &Arc<ViewContext>,
        link: impl Fn(&Arc<Upstream>) -> Arc<LinkCell>,
    ) {
        self.basis.load().fetch_due(context, link);
    }

    /// The notices for what another view of the same client lists otherwise.
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

    /// Returns true if this server, as this caller or all callers have it, is part of it.
    pub(crate) fn has(&self, server: &Server) -> bool {
        self.basis.load().upstreams.iter().any(|own| std::ptr::eq(Arc::as_ptr(&own.server), server))
    }

    /// Is made anew of what its profile has now, and tells its clients what has changed by that.
    pub(crate) fn follow(&self, context: &Arc<ViewContext>) {
        let basis = Basis::now(context, self.profile, &self.kind, self.whose.as_ref());
        let is_there = basis.profile.is_there;
        if !basis.is_like(&self.basis.load()) {
            self.basis.store(Arc::new(basis));
            self.rebuild(context.state.observer().as_deref(), context.egress.snapshot.limits.schema_bytes);
            let observer = context.state.observer();
            self.retry_absent(context, |upstream| {
                let own = observer.as_ref();
                own.and_then(|own| own.list_link(&context.egress.snapshot, self, upstream))
                    .unwrap_or_else(|| upstream.shared_link(&self.kind))
            });
        }
        if !is_there {
            self.retired.stop();
        }
    }
}
