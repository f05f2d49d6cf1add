//! The catalogue of one server: the lists for each lifecycle (with or without a handshake), the server's introductions
//! by protocol version, and the items that are shown only to some clients. This module must not know views.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use engine::catalogue::{ListKind, UpstreamAbsence, UpstreamCatalogue, ViewSource};
use parking_lot::Mutex;
use proto::bridge::handshake::server_capabilities;
use proto::bridge::input::Askable;
use proto::era::{Era, Lifecycle, ServerHello};
use tokio::sync::watch;

use super::fetching::FetchState;
use super::freshness::{Freshness, StaleReason};
use super::gated::Gated;
use super::kept::KeptIn;
use super::lifecycle_lists::LifecycleLists;
use crate::destination::Destination;
use crate::egress::{Egress, Updating};
use crate::pool::Links;
use crate::server::Server;

/// The catalogue of one server.
pub struct Catalogue {
    /// The number that identifies this catalogue's lists in the record of definitions.
    pub(super) number: u64,
    pub(super) server: Arc<Server>,
    pub(super) links: Weak<Links>,
    /// The lists that were fetched with a handshake, and those that were fetched without one.
    pub(super) lifecycles: [LifecycleLists; 2],
    /// The server's introductions, by the version of the clients for which the link was opened.
    pub(super) introductions: Mutex<HashMap<&'static Era, ServerHello>>,
    pub(super) gated: Gated,
    /// Locked while lists are judged and stored, so that the record of definitions agrees with the lists that are
    /// served.
    pub(super) judging: Mutex<()>,
    pub(super) kept_in: KeptIn,
    /// The number of fetches that have ended; callers that wait for a fetch watch this counter.
    pub(super) done: watch::Sender<u64>,
    pub(super) busy: Mutex<FetchState>,
    /// True while newer lists are expected: a fetch is running, a change was announced, or the first lists are
    /// awaited.
    pub(super) unsettled: AtomicBool,
    /// True from startup until the first fetch has ended, if lists were kept from an earlier run.
    pub(super) first_awaited: AtomicBool,
    /// True while the lists are those of the common catalogue, because the caller's own lists are not known.
    pub(super) is_borrowed: AtomicBool,
}

impl Catalogue {
    /// Creates an empty catalogue: nothing is known about the server's items yet.
    pub fn new(server: Arc<Server>, links: Weak<Links>) -> Arc<Self> {
        Arc::new(Self {
            number: server.definitions.next_catalogue(),
            server,
            links,
            lifecycles: [
                LifecycleLists::new(Lifecycle::Handshake),
                LifecycleLists::new(Lifecycle::Stateless),
            ],
            introductions: Mutex::default(),
            gated: Gated::default(),
            judging: Mutex::default(),
            kept_in: KeptIn::default(),
            done: watch::Sender::new(0),
            busy: Mutex::default(),
            unsettled: AtomicBool::new(false),
            first_awaited: AtomicBool::new(false),
            is_borrowed: AtomicBool::new(false),
        })
    }

    /// Returns the lists that clients of a version are shown.
    pub(super) fn lifecycle(&self, client: &'static Era) -> &LifecycleLists {
        match self.server.link_era(client).lifecycle {
            _ if self.server.is_native() => &self.lifecycles[0],
            Lifecycle::Handshake => &self.lifecycles[0],
            Lifecycle::Stateless => &self.lifecycles[1],
        }
    }

    /// Returns the lists for the lifecycle of the version `client`; if these are unknown, the lists for the other
    /// lifecycle.
    fn known(&self, client: &'static Era) -> Option<Arc<UpstreamCatalogue>> {
        let own = self.lifecycle(client);
        own.known().or_else(|| self.lifecycles.iter().find_map(LifecycleLists::known))
    }

    /// Returns the lists as they are served to clients, without the tools that await approval.
    fn served(&self, client: &'static Era) -> Option<Arc<UpstreamCatalogue>> {
        let own = self.lifecycle(client);
        own.served().or_else(|| self.lifecycles.iter().find_map(LifecycleLists::served))
    }

    /// Returns the server's part of a view for clients with this version and these capabilities.
    pub fn part(&self, client: &'static Era, askable: Askable) -> ViewSource {
        let more = self.gated.shown_to(askable);
        let (base, more) = match (self.served(client), more.split_first()) {
            (Some(base), _) => (Ok(base), &more[..]),
            // Some servers start only for clients that can be asked something.
            (None, Some((first, others))) => (Ok(first.clone()), others),
            (None, None) => (Err(self.absence(client)), &[][..]),
        };
        let catalogue = base.map(|base| self.seen(&base, client, more));
        let (id, name) = (self.server.spec.id, self.server.name().clone());
        ViewSource { id, name, over_http: self.server.over_http(), catalogue }
    }

    fn absence(&self, client: &'static Era) -> UpstreamAbsence {
        let starting = || UpstreamAbsence { reason: "is still starting".to_owned(), retry: true };
        self.lifecycle(client).absence().unwrap_or_else(starting)
    }

    fn seen(
        &self,
        base: &Arc<UpstreamCatalogue>,
        client: &'static Era,
        more: &[Arc<UpstreamCatalogue>],
    ) -> Arc<UpstreamCatalogue> {
        let hello = self.introduction(base, client);
        let is_own = same(&hello, &base.hello);
        if is_own && more.is_empty() {
            return base.clone();
        }
        let mut seen = base.introduced(hello);
        if self.server.is_native() {
            // The server lists the same items in every version.
            seen.listed_in = seen.hello.era;
        }
        Arc::new(if more.is_empty() { seen } else { seen.joined(more.iter().map(|more| &**more)) })
    }

    /// Returns the introduction that is served to clients of a version: the introduction from the link that was
    /// opened for them or, without such a link, the introduction that is expected. If a link turns out to use
    /// another version than expected, the requests that were built for the expected version are built again.
    fn introduction(&self, base: &UpstreamCatalogue, client: &'static Era) -> ServerHello {
        if let Destination::Native(native) = &self.server.destination {
            return ServerHello {
                instructions: base.hello.instructions.clone(),
                ..native.hello(native::spoken(client))
            };
        }
        let asked = self.server.link_era(client);
        if let Some(known) = self.introductions.lock().get(asked) {
            return ServerHello { instructions: base.hello.instructions.clone(), ..known.clone() };
        }
        let own = &base.hello;
        // Nearly all servers with a handshake accept every version older than their newest.
        let accepts = self.server.over_http()
            && asked.lifecycle == Lifecycle::Handshake
            && own.era.lifecycle == Lifecycle::Handshake
            && asked.is_older_than(own.era);
        if accepts {
            let capabilities = server_capabilities(&own.capabilities, own.era, asked);
            ServerHello { era: asked, capabilities, ..own.clone() }
        } else {
            own.clone()
        }
    }

    /// Records the server's introduction on a link that was opened for clients of a version. If clients that see the
    /// server were given a different introduction before, they are notified.
    pub fn introduced(&self, egress: &Egress, asked: &'static Era, hello: &ServerHello) -> Updating {
        let before = self.known(asked).map(|base| self.introduction(&base, asked));
        let known = self.introductions.lock().insert(asked, hello.clone());
        if known.is_none_or(|known| !same(&known, hello)) {
            self.save();
        }
        if before.is_some_and(|before| !same(&before, hello)) { self.tell(egress) } else { Updating::done() }
    }

    /// Returns the tools in the server's most recent list, including those that await approval.
    pub fn tools(&self, client: &'static Era) -> Result<Arc<UpstreamCatalogue>, UpstreamAbsence> {
        self.known(client).ok_or_else(|| self.absence(client))
    }

    /// Returns the names of all tools that the server lists for any client; `None` if nothing is known about its lists.
    pub fn tool_names(&self) -> Option<HashSet<String>> {
        let gated = self.gated.all().into_iter().map(|(_, lists)| lists);
        let known: Vec<_> = self.lifecycles.iter().filter_map(LifecycleLists::known).chain(gated).collect();
        let names = known.iter().flat_map(|lists| lists.list(ListKind::Tools)).map(|tool| tool.key.clone());
        (!known.is_empty()).then(|| names.collect())
    }

    /// Returns the size in bytes of everything in the catalogue. If both lifecycles share all items, the items are
    /// counted once.
    pub fn bytes(&self) -> usize {
        let [own, other] = self.lifecycles.each_ref().map(LifecycleLists::known);
        let other = other.filter(|other| own.as_ref().is_none_or(|own| !own.shares_lists(other)));
        let gated = self.gated.all().into_iter().map(|(_, offer)| offer);
        own.into_iter().chain(other).chain(gated).map(|offer| offer.text_bytes()).sum()
    }

    /// Returns the number of this server's items that clients of this version are shown.
    pub fn item_count(&self, client: &'static Era) -> usize {
        self.served(client).map_or(0, |offer| ListKind::ALL.iter().map(|kind| offer.list(*kind).len()).sum())
    }

    /// Returns true if no fetch for clients of this version has ever ended.
    pub fn is_unknown(&self, client: &'static Era) -> bool {
        self.lifecycle(client).is_unknown()
    }

    /// Returns true if clients of this version can be shown lists.
    pub fn is_known(&self, client: &'static Era) -> bool {
        self.known(client).is_some()
    }

    /// Returns true if it is time to fetch the lists for clients of this version.
    pub fn is_due(&self, client: &'static Era) -> bool {
        self.lifecycle(client).is_due() || self.is_lifecycle_unlearned(client)
    }

    /// Returns true if the lists are too old to be trusted.
    pub fn is_old(&self) -> bool {
        let over_http = self.server.over_http();
        !self.server.is_native() && self.lifecycles.iter().any(|lifecycle| lifecycle.is_old(over_http))
    }

    /// Returns the time for which the lists shown to clients of a version remain valid; `None` if no lists are known.
    pub fn fresh_for(&self, client: &'static Era, now: Instant) -> Option<Duration> {
        let lifecycles = std::iter::once(self.lifecycle(client)).chain(&self.lifecycles);
        let lists = lifecycles.into_iter().find_map(LifecycleLists::fetched)?;
        Some(lists.remaining(now, self.server.over_http(), self.server.is_native()))
    }

    /// Returns the freshness of the lists that clients of a version are shown.
    pub fn freshness(&self, client: &'static Era, now: Instant) -> Freshness {
        let lifecycles = std::iter::once(self.lifecycle(client)).chain(&self.lifecycles);
        let Some(lifecycle) = lifecycles.into_iter().find(|lifecycle| lifecycle.known().is_some()) else {
            return Freshness::Unknown;
        };
        let (Some(offer), Some(fetched)) = (lifecycle.known(), lifecycle.fetched()) else {
            return Freshness::Unknown;
        };
        let (over_http, is_native) = (self.server.over_http(), self.server.is_native());
        let failure = lifecycle.absence().map(|absence| absence.reason);
        let failure = failure.or_else(|| offer.failures().next().map(str::to_owned));
        let reason = match failure {
            _ if !offer.is_confirmed => StaleReason::NotConfirmed,
            _ if self.server.health.is_down() => StaleReason::LinkDown,
            Some(why) => StaleReason::FetchFailed(why),
            None if self.is_change_announced() => StaleReason::ChangeAnnounced,
            None if fetched.has_expired(now, over_http, is_native) => StaleReason::Expired,
            None => return Freshness::Fresh,
        };
        Freshness::Stale(reason)
    }

    /// Records that the server has announced a change; the caller of this function then fetches the lists. Returns the
    /// number of the first fetch that will include the change.
    pub fn note_announced(&self, common: bool) -> u64 {
        let mut busy = self.busy.lock();
        if common {
            busy.announced = Some(busy.begun);
            self.unsettled.store(true, Ordering::Relaxed);
        }
        busy.begun + 1
    }

    /// Returns the lists for both lifecycles, as they are served to clients.
    pub fn lists(&self) -> [Option<Arc<UpstreamCatalogue>>; 2] {
        self.lifecycles.each_ref().map(LifecycleLists::served)
    }

    /// Returns the names of the tools that clients do not see until somebody approves them.
    pub fn held_names(&self) -> HashSet<String> {
        let served = self.lists().into_iter().flatten();
        served
            .flat_map(|lists| lists.held().iter().map(|tool| tool.key.clone()).collect::<Vec<_>>())
            .collect()
    }

    /// Returns true if the lists differ from `before`.
    pub fn differs_from(&self, before: &[Option<Arc<UpstreamCatalogue>>; 2]) -> bool {
        self.lists().iter().zip(before).any(|(now, before)| match (now, before) {
            (Some(now), Some(before)) => !now.same_lists(before),
            (now, before) => now.is_some() != before.is_some(),
        })
    }

    /// Returns true if the server has announced a change, and no fetch that began after the announcement has ended.
    fn is_change_announced(&self) -> bool {
        self.busy.lock().is_change_announced()
    }

    /// Returns true while newer lists are expected.
    pub fn is_unsettled(&self) -> bool {
        self.unsettled.load(Ordering::Relaxed)
    }

    /// Returns true if the known lists were kept from an earlier run, and no fetch has ended since startup.
    pub fn is_first_awaited(&self) -> bool {
        self.first_awaited.load(Ordering::Relaxed)
    }

    /// Returns a receiver that is notified when a fetch has ended.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.done.subscribe()
    }

    /// Returns the time for which a fetch has been running; zero if none is running.
    pub fn under_way(&self) -> Duration {
        let busy = self.busy.lock();
        busy.since.filter(|_| busy.fetching).map(|since| since.elapsed()).unwrap_or_default()
    }

    /// Returns the same lists, but shares items that are already in memory: a server lists nearly the same items in
    /// both lifecycles and in consecutive fetches.
    pub(super) fn shared(&self, catalogue: UpstreamCatalogue) -> UpstreamCatalogue {
        self.lifecycles
            .iter()
            .filter_map(LifecycleLists::known)
            .fold(catalogue, |catalogue, known| catalogue.sharing(&known))
    }

    /// Notifies the clients that see the server that its items have changed.
    pub(super) fn tell(&self, egress: &Egress) -> Updating {
        let told = egress.audience().map(|all| all.catalogue_changed(egress.snapshot(), &self.server));
        told.unwrap_or_else(Updating::done)
    }

    /// Forgets everything that is known.
    pub fn forget_all(&self) {
        for lifecycle in &self.lifecycles {
            lifecycle.forget();
        }
        self.introductions.lock().clear();
        self.gated.forget_all();
        self.server.definitions.forget(self.number);
    }
}

/// Returns true if two introductions look the same to clients.
fn same(one: &ServerHello, other: &ServerHello) -> bool {
    one.era == other.era && one.capabilities == other.capabilities && one.info == other.info
}
