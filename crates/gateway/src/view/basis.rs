//! The input of a view: a profile's rules, and its servers in their current state. This module must not know who sees
//! the view.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use config::{Affinity, QuestionPolicy};
use engine::access::Guard;
use engine::catalogue::{NameBook, UpstreamId, View, ViewSpec};
use engine::snapshot::ProfileSpec;
use proto::bridge::input::Askable;
use proto::era::Era;
use tokio::time::{Instant, timeout_at};

use super::ClientClass;
use super::names::ProfileNames;
use upstream::{Egress, Upstream};

/// The time that a call waits for servers that are still starting, because one of them may have the tool. A request
/// for a list waits for a shorter time (`limits.listWait`); servers that become ready later are then added to the
/// view.
pub(super) const PATIENCE: Duration = Duration::from_secs(8);

/// The number of items above which a view is built on the blocking pool. On a thread with connections, building it
/// would delay all of the thread's connections.
const LARGE: usize = 500;

/// The input of a view.
pub(crate) struct ViewInput {
    pub(crate) profile: ProfileSpec,
    pub(crate) upstreams: Vec<Arc<Upstream>>,
    /// True if callers are authenticated at any endpoint.
    asks: bool,
    names: Arc<ProfileNames>,
    /// The time for which clients can still use former names.
    grace: Duration,
}

impl ViewInput {
    /// Combines a profile with these servers; `asks` is true if callers are authenticated at any endpoint.
    pub(super) fn new(
        profile: ProfileSpec,
        upstreams: Vec<Arc<Upstream>>,
        asks: bool,
        (names, grace): (Arc<ProfileNames>, Duration),
    ) -> Self {
        Self { profile, upstreams, asks, names, grace }
    }

    /// Returns the same input without some servers.
    pub(super) fn without(&self, left_out: &[UpstreamId]) -> Self {
        let upstreams = self.upstreams.iter().filter(|upstream| !left_out.contains(&upstream.server.spec.id));
        Self {
            profile: self.profile.clone(),
            upstreams: upstreams.cloned().collect(),
            asks: self.asks,
            names: self.names.clone(),
            grace: self.grace,
        }
    }

    /// Returns true if `names` are the names of this view's profile.
    pub(super) fn has_names(&self, names: &Arc<ProfileNames>) -> bool {
        Arc::ptr_eq(&self.names, names)
    }

    /// Returns true if both are views of a profile with the same names.
    pub(super) fn shares_names(&self, other: &Self) -> bool {
        self.has_names(&other.names)
    }

    pub(super) fn is_like(&self, other: &Self) -> bool {
        let (own, others) = (&self.profile, &other.profile);
        own.rules == others.rules
            && own.upstreams == others.upstreams
            && self.upstreams.iter().zip(&other.upstreams).all(|(own, other)| Arc::ptr_eq(own, other))
            && own.server_info == others.server_info
            && self.asks == other.asks
            && own.name_limit() == others.name_limit()
    }

    /// Returns true if a view that is built from this basis belongs on the blocking pool.
    pub(super) fn is_large(&self, era: &'static Era) -> bool {
        self.upstreams.iter().map(|upstream| upstream.catalogue.item_count(era)).sum::<usize>() > LARGE
    }

    /// Returns a class of clients, reduced to the properties that affect what the clients are shown.
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

    /// Begins to fetch the lists of the servers for which `which` is true, and waits for them. The waiting time
    /// counts from the moment at which the lists were first requested. Does not wait for servers for which a call
    /// recently waited in vain.
    pub(crate) async fn wait_for(
        &self,
        egress: &Egress,
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
                (upstream, until, upstream.catalogue.fetch(egress, era))
            })
            .collect();
        for (upstream, until, mut done) in due {
            // The common lists are shown until the caller's own lists arrive.
            if upstream.server.hung_lately() || upstream.catalogue.is_borrowed(era) {
                continue;
            }
            let known = async {
                let _ = done.changed().await;
                // The fetch that has ended may have been one of the lists for the other lifecycle.
                if upstream.catalogue.is_unknown(era) {
                    let _ = upstream.catalogue.fetch(egress, era).changed().await;
                }
            };
            if timeout_at(until, known).await.is_err() && patience(upstream) >= PATIENCE {
                upstream.server.note_hang(true);
                upstream.catalogue.note_silence();
            }
        }
    }

    /// Builds the view of the servers' current catalogues. The new view shares its unchanged parts with the view
    /// `beside`.
    pub(crate) fn build(
        &self,
        clients: ClientClass,
        guard: Option<&Guard>,
        schema_bytes: usize,
        beside: Option<&View>,
    ) -> View {
        let is_configured = |server: &str| self.profile.rules.servers.iter().any(|own| own == server);
        self.names.during(self.grace, is_configured, |names| {
            self.built_with(names, clients, guard, schema_bytes, beside)
        })
    }

    fn built_with(
        &self,
        names: &Mutex<NameBook>,
        clients: ClientClass,
        guard: Option<&Guard>,
        schema_bytes: usize,
        beside: Option<&View>,
    ) -> View {
        let shares = |upstream: &Arc<Upstream>| match upstream.server.spec.affinity {
            Affinity::Session => false,
            Affinity::Shared | Affinity::Caller => {
                upstream.server.spec.asks == QuestionPolicy::Never || !clients.keeps_ids
            }
        };
        let is_shared = self.upstreams.iter().any(shares);
        // Some callers may be shown more items than others.
        let is_per_caller = |upstream: &Arc<Upstream>| upstream.server.is_per_caller();
        let by_class = !self.deciding(clients).askable.is_nothing();
        let spec = ViewSpec {
            era: clients.era,
            profile: &self.profile.rules,
            limit: self.profile.name_limit(),
            names: Some(names),
            server_info: &self.profile.server_info,
            schema_bytes,
            guard,
            separate: self.asks || is_shared,
            personal: self.asks || by_class || self.upstreams.iter().any(is_per_caller),
        };
        let part = |upstream: &Arc<Upstream>| upstream.catalogue.part(clients.era, clients.askable);
        View::build_beside(spec, self.upstreams.iter().map(part).collect(), beside)
    }
}
