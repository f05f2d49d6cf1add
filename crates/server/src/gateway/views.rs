//! The views that clients see, kept up to date as offers change.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::{ArcSwap, ArcSwapOption};
use engine::access::{Class, Guard};
use engine::catalogue::{ListKind, UpstreamId, View, ViewSpec};
use engine::snapshot::ProfileSpec;
use parking_lot::Mutex;
use proto::mcp::Notice;
use tokio::sync::watch;
use tokio::time::Instant;
use transport::net::Stop;

use super::Shard;
use super::link_cell::LinkCell;
use super::offers::OfferCell;
use super::pump::tell_changed;
use super::upstream::{Kind, Upstream};

/// How many views are kept, beyond those in use.
const MAX_VIEWS: usize = 256;

/// How long a client waits for servers that are still starting; they join when they are ready.
const PATIENCE: Duration = Duration::from_secs(8);

/// How often each list of a view has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Revision {
    pub(crate) tools: u64,
    pub(crate) prompts: u64,
    pub(crate) resources: u64,
}

impl Revision {
    /// The notices for what differs from an older revision.
    pub(crate) fn since(self, old: Self) -> impl Iterator<Item = Notice> {
        [
            (self.tools != old.tools, Notice::ToolsChanged),
            (self.prompts != old.prompts, Notice::PromptsChanged),
            (self.resources != old.resources, Notice::ResourcesChanged),
        ]
        .into_iter()
        .filter_map(|(changed, notice)| changed.then_some(notice))
    }

    /// Counts a change of the list that a notice is about.
    pub(crate) fn count(&mut self, notice: Notice) {
        match notice {
            Notice::ToolsChanged => self.tools += 1,
            Notice::PromptsChanged => self.prompts += 1,
            Notice::ResourcesChanged => self.resources += 1,
            _ => {}
        }
    }
}

/// One view and its changes.
pub(crate) struct ViewCell {
    pub(crate) profile: usize,
    pub(crate) kind: Kind,
    /// Askers for whom the same rules count.
    class: Class,
    /// Under which rules.
    pub(crate) regime: u64,
    /// What they may use, where there are rules.
    guard: Option<Guard>,
    basis: ArcSwap<Basis>,
    /// Held while it is built: what is built last is what is there last.
    building: Mutex<()>,
    view: ArcSwap<View>,
    revision: watch::Sender<Revision>,
    /// Raised when nobody is to see it any more.
    pub(crate) retired: Stop,
}

/// What a view is made of.
struct Basis {
    profile: ProfileSpec,
    upstreams: Vec<Arc<Upstream>>,
    offers: Vec<Arc<OfferCell>>,
    /// Whether callers say who they are, anywhere.
    asks: bool,
}

impl Basis {
    /// What a profile has now.
    fn now(shard: &Shard, profile: usize, kind: &Kind) -> Self {
        let snapshot = shard.gateway.current.load();
        let profile = snapshot.profiles[profile].clone();
        let upstreams: Vec<_> = profile.upstreams.iter().map(|id| shard.gateway.upstream(*id)).collect();
        let offers = upstreams.iter().map(|upstream| upstream.offer(kind)).collect();
        Self { profile, upstreams, offers, asks: snapshot.asks }
    }

    fn is_like(&self, other: &Self) -> bool {
        let (own, others) = (&self.profile, &other.profile);
        own.rules == others.rules
            && own.upstreams == others.upstreams
            && own.server_info == others.server_info
            && self.asks == other.asks
    }

    /// Begins to fetch what is due.
    fn fetch_due(&self, shard: &Shard, link: impl Fn(&Arc<Upstream>) -> Arc<LinkCell>) {
        for (offer, upstream) in self.offers.iter().zip(&self.upstreams) {
            if offer.is_due() {
                offer.fetch(shard, link(upstream));
            }
        }
    }

    fn build(&self, kind: &Kind, guard: Option<&Guard>, schema_bytes: usize) -> View {
        let is_shared = self.upstreams.iter().any(|upstream| upstream.is_shared_by(kind));
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

    /// Whether a stream of notices is open on it.
    pub(crate) fn is_watched(&self) -> bool {
        self.revision.receiver_count() > 0
    }

    /// Tells clients that a list changed, because its server said so.
    pub(crate) fn announce(&self, shard: &Shard, notice: Notice) {
        let before = *self.revision.borrow();
        self.revision.send_modify(|revision| revision.count(notice));
        self.publish(shard, before);
    }

    /// Tells the sessions that see this view what has changed since `before`; streams of notices watch by themselves.
    fn publish(&self, shard: &Shard, before: Revision) {
        let now = *self.revision.borrow();
        if now == before {
            return;
        }
        for session in shard.gateway.sessions.with_view(self) {
            for notice in now.since(before) {
                tell_changed(&session, notice);
            }
        }
    }

    fn rebuild(&self, shard: &Shard) {
        let _one = self.building.lock();
        let basis = self.basis.load();
        let new = basis.build(&self.kind, self.guard.as_ref(), shard.gateway.snapshot.limits.schema_bytes);
        for note in new.notes() {
            tracing::warn!(profile = %basis.profile.slug, "{note}");
        }
        let old = self.view.swap(Arc::new(new));
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
        self.publish(shard, before);
    }

    /// Tries absent upstreams again, in the background.
    pub(crate) fn retry_absent(&self, shard: &Shard, link: impl Fn(&Arc<Upstream>) -> Arc<LinkCell>) {
        self.basis.load().fetch_due(shard, link);
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

    /// Is made anew of what its profile has now, and tells its clients what has changed by that.
    fn follow(&self, shard: &Shard) {
        let basis = Basis::now(shard, self.profile, &self.kind);
        let is_there = basis.profile.is_there;
        if !basis.is_like(&self.basis.load()) {
            self.basis.store(Arc::new(basis));
            self.rebuild(shard);
            let session = shard.gateway.sessions.with_view(self).into_iter().next();
            self.retry_absent(shard, |upstream| match &session {
                Some(session) => session.cell(upstream),
                None => upstream.shared_link(&self.kind),
            });
        }
        if !is_there {
            self.retired.stop();
        }
    }
}

/// By what views are told apart: the rules in force, profile, kind of client, and which of the rules count for it.
type Key = (u64, usize, Kind, Class);

/// All views in use.
#[derive(Default)]
pub(crate) struct Views {
    /// The one that was asked for last: nearly all requests ask for the same.
    recent: ArcSwapOption<ViewCell>,
    cells: Mutex<HashMap<Key, Arc<ViewCell>>>,
}

impl Views {
    /// The view of a profile for a kind of client. Offers that are not known yet are fetched over `link`. They are waited
    /// for, as long as a client can be kept waiting, when the view is new or has nothing to offer; but not for servers that
    /// kept a client waiting in vain a moment ago. In a view that is in use, servers that are missing hold up nobody and
    /// join when they are ready.
    pub(crate) async fn get(
        &self,
        shard: &Shard,
        profile: usize,
        kind: &Kind,
        class: &Class,
        link: impl Fn(&Arc<Upstream>) -> Arc<LinkCell>,
    ) -> Arc<ViewCell> {
        if let Some(cell) = self.known(shard, profile, kind, class) {
            if !cell.basis.load().offers.iter().any(|offer| offer.is_due()) {
                return cell;
            }
            if cell.view().is_served() {
                cell.retry_absent(shard, link);
                return cell;
            }
        }
        let Basis { upstreams, offers, .. } = Basis::now(shard, profile, kind);
        let now = Instant::now();
        let due: Vec<_> = offers
            .iter()
            .zip(&upstreams)
            .filter(|(offer, _)| offer.is_due())
            .map(|(offer, upstream)| {
                let until = now + PATIENCE.saturating_sub(offer.under_way());
                (offer, upstream, until, offer.fetch(shard, link(upstream)))
            })
            .collect();
        for (offer, upstream, until, mut done) in due {
            if upstream.hung_lately() {
                continue;
            }
            let known = async {
                let _ = done.changed().await;
                // It was fetched for another client, which has left.
                if offer.is_unknown() {
                    let _ = offer.fetch(shard, link(upstream)).changed().await;
                }
            };
            if tokio::time::timeout_at(until, known).await.is_err() {
                upstream.note_hang(true);
            }
        }
        self.insert(shard, profile, kind, class)
    }

    /// The same without waiting for servers: what is not known yet is fetched in the background.
    pub(crate) fn get_now(
        &self,
        shard: &Shard,
        profile: usize,
        kind: &Kind,
        class: &Class,
        link: impl Fn(&Arc<Upstream>) -> Arc<LinkCell>,
    ) -> Arc<ViewCell> {
        let known = self.known(shard, profile, kind, class);
        let cell = known.unwrap_or_else(|| self.insert(shard, profile, kind, class));
        cell.retry_absent(shard, link);
        cell
    }

    fn known(&self, shard: &Shard, profile: usize, kind: &Kind, class: &Class) -> Option<Arc<ViewCell>> {
        let regime = shard.gateway.snapshot.regime;
        let recent = self.recent.load();
        let is_it = |cell: &&Arc<ViewCell>| {
            cell.profile == profile && cell.regime == regime && cell.kind == *kind && cell.class == *class
        };
        if let Some(cell) = recent.as_ref().filter(is_it) {
            return Some(cell.clone());
        }
        let cell = self.cells.lock().get(&(regime, profile, kind.clone(), class.clone())).cloned()?;
        self.recent.store(Some(cell.clone()));
        Some(cell)
    }

    fn insert(&self, shard: &Shard, profile: usize, kind: &Kind, class: &Class) -> Arc<ViewCell> {
        let snapshot = &shard.gateway.snapshot;
        let key = (snapshot.regime, profile, kind.clone(), class.clone());
        let mut cells = self.cells.lock();
        if let Some(cell) = cells.get(&key) {
            return cell.clone();
        }
        // A request whose body came slowly may ask under rules of before: those who followed the change do not meet this
        // view, so nobody may go on seeing it.
        let is_over = snapshot.regime < shard.gateway.current.load().regime;
        if cells.len() >= MAX_VIEWS {
            self.recent.store(None);
            cells.retain(|_, cell| Arc::strong_count(cell) > 1);
        }
        // Looked up under the lock: who follows a change of the configuration meets this one, or came before.
        let basis = Basis::now(shard, profile, kind);
        let guard = snapshot.guard(profile, class);
        let view = basis.build(kind, guard.as_ref(), snapshot.limits.schema_bytes);
        let cell = Arc::new(ViewCell {
            profile,
            kind: kind.clone(),
            class: class.clone(),
            regime: snapshot.regime,
            guard,
            basis: ArcSwap::from_pointee(basis),
            building: Mutex::default(),
            view: ArcSwap::from_pointee(view),
            revision: watch::Sender::new(Revision::default()),
            retired: Stop::new(),
        });
        if is_over {
            cell.retired.stop();
        } else {
            cells.insert(key, cell.clone());
        }
        cell
    }

    /// Makes all views of what is configured now. Those that were made under other rules are seen by nobody any more.
    pub(crate) fn follow(&self, shard: &Shard) {
        let regime = shard.gateway.snapshot.regime;
        let (cells, old): (Vec<_>, Vec<_>) = {
            let mut cells = self.cells.lock();
            self.recent.store(None);
            let old = cells.extract_if(|key, _| key.0 != regime).map(|(_, cell)| cell).collect();
            (cells.values().cloned().collect(), old)
        };
        for cell in cells {
            cell.follow(shard);
            if cell.retired.is_stopped() {
                self.cells.lock().retain(|_, other| !Arc::ptr_eq(other, &cell));
            }
        }
        for cell in old {
            cell.retired.stop();
        }
    }

    /// The views that an upstream is part of, for this kind of client.
    pub(crate) fn with(&self, upstream: UpstreamId, kind: &Kind) -> Vec<Arc<ViewCell>> {
        let cells = self.cells.lock();
        let has = |cell: &&Arc<ViewCell>| cell.basis.load().profile.upstreams.contains(&upstream);
        cells.values().filter(|cell| cell.kind == *kind).filter(has).cloned().collect()
    }

    /// Builds the views anew that an upstream's offer is part of.
    pub(crate) fn rebuild(&self, shard: &Shard, upstream: UpstreamId, kind: &Kind) {
        for cell in self.with(upstream, kind) {
            cell.rebuild(shard);
        }
    }
}
