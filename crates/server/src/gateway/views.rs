//! The views that clients see, kept up to date as offers change.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::{ArcSwap, ArcSwapOption};
use engine::access::{Class, Guard};
use engine::catalogue::{ListKind, UpstreamId, View, ViewSpec};
use parking_lot::Mutex;
use proto::mcp::Notice;
use tokio::sync::watch;
use tokio::time::Instant;

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
    /// What they may use, where there are rules.
    guard: Option<Guard>,
    view: ArcSwap<View>,
    revision: watch::Sender<Revision>,
    offers: Vec<Arc<OfferCell>>,
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

    fn build(
        shard: &Shard,
        profile: usize,
        kind: &Kind,
        guard: Option<&Guard>,
        offers: &[Arc<OfferCell>],
    ) -> View {
        let snapshot = &shard.gateway.snapshot;
        let mut upstreams = snapshot.profiles[profile].upstreams.iter();
        let is_shared = upstreams.any(|id| shard.gateway.upstream(*id).is_shared_by(kind));
        let spec = ViewSpec {
            era: kind.era,
            profile: &snapshot.profiles[profile].rules,
            server_info: &snapshot.profiles[profile].server_info,
            schema_bytes: snapshot.limits.schema_bytes,
            guard,
            separate: snapshot.asks || is_shared,
        };
        View::build(spec, offers.iter().map(|offer| offer.part()).collect())
    }

    fn rebuild(&self, shard: &Shard) {
        let new = Self::build(shard, self.profile, &self.kind, self.guard.as_ref(), &self.offers);
        for note in new.notes() {
            tracing::warn!(profile = %shard.gateway.snapshot.profiles[self.profile].slug, "{note}");
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
        let spec = &shard.gateway.snapshot.profiles[self.profile];
        for (offer, id) in self.offers.iter().zip(&spec.upstreams) {
            if offer.is_due() {
                offer.fetch(shard, link(shard.gateway.upstream(*id)));
            }
        }
    }
}

/// By what views are told apart: profile, kind of client, and the rules that count for it.
type Key = (usize, Kind, Class);

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
        if let Some(cell) = self.known(profile, kind, class) {
            if !cell.offers.iter().any(|offer| offer.is_due()) {
                return cell;
            }
            if cell.view().is_served() {
                cell.retry_absent(shard, link);
                return cell;
            }
        }
        let upstreams = &shard.gateway.snapshot.profiles[profile].upstreams;
        let upstreams: Vec<&Arc<Upstream>> = upstreams.iter().map(|id| shard.gateway.upstream(*id)).collect();
        let offers: Vec<Arc<OfferCell>> = upstreams.iter().map(|upstream| upstream.offer(kind)).collect();
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
        self.insert(shard, (profile, kind.clone(), class.clone()), offers)
    }

    fn known(&self, profile: usize, kind: &Kind, class: &Class) -> Option<Arc<ViewCell>> {
        let recent = self.recent.load();
        let is_it =
            |cell: &&Arc<ViewCell>| cell.profile == profile && cell.kind == *kind && cell.class == *class;
        if let Some(cell) = recent.as_ref().filter(is_it) {
            return Some(cell.clone());
        }
        let cell = self.cells.lock().get(&(profile, kind.clone(), class.clone())).cloned()?;
        self.recent.store(Some(cell.clone()));
        Some(cell)
    }

    fn insert(&self, shard: &Shard, key: Key, offers: Vec<Arc<OfferCell>>) -> Arc<ViewCell> {
        let mut cells = self.cells.lock();
        if let Some(cell) = cells.get(&key) {
            return cell.clone();
        }
        if cells.len() >= MAX_VIEWS {
            self.recent.store(None);
            cells.retain(|_, cell| Arc::strong_count(cell) > 1);
        }
        let (profile, kind, class) = key.clone();
        let guard = shard.gateway.snapshot.guard(profile, &class);
        let view = ArcSwap::from_pointee(ViewCell::build(shard, profile, &kind, guard.as_ref(), &offers));
        let revision = watch::Sender::new(Revision::default());
        let cell = Arc::new(ViewCell { profile, kind, class, guard, view, revision, offers });
        cells.insert(key, cell.clone());
        cell
    }

    /// The views that an upstream is part of, for this kind of client.
    pub(crate) fn with(&self, shard: &Shard, upstream: UpstreamId, kind: &Kind) -> Vec<Arc<ViewCell>> {
        let cells = self.cells.lock();
        let profiles = &shard.gateway.snapshot.profiles;
        let has = |cell: &&Arc<ViewCell>| profiles[cell.profile].upstreams.contains(&upstream);
        cells.values().filter(|cell| cell.kind == *kind).filter(has).cloned().collect()
    }

    /// Builds the views anew that an upstream's offer is part of.
    pub(crate) fn rebuild(&self, shard: &Shard, upstream: UpstreamId, kind: &Kind) {
        for cell in self.with(shard, upstream, kind) {
            cell.rebuild(shard);
        }
    }
}
