//! All servers by their ids: those that are configured, and those that were removed but still have calls to finish.
//! This module must not know why servers are added and removed.

use std::sync::Arc;

use arc_swap::ArcSwap;
use engine::Snapshot;
use engine::catalogue::UpstreamId;
use engine::snapshot::UpstreamSpec;
use parking_lot::Mutex;

use crate::catalogue::CatalogueStore;
use crate::definitions::DefinitionStore;
use crate::oauth::{CallerId, Consents};
use crate::per_caller::PerCaller;
use crate::server::Server;
use crate::upstream::Upstream;

/// All servers, by their ids.
pub struct Upstreams {
    /// The servers in the order of their ids.
    all: ArcSwap<Vec<Arc<PerCaller>>>,
    changing: Mutex<()>,
    /// The registry of upstreams that may need their users' consent.
    consents: Arc<Consents>,
    /// The placeholder that replaces a removed server.
    gone: Arc<PerCaller>,
}

fn id(one: &Arc<PerCaller>) -> UpstreamId {
    one.common.server.spec.id
}

impl Upstreams {
    /// Creates the servers of a snapshot.
    ///
    /// # Errors
    /// Returns the name of the invalid server, and the reason.
    pub fn new(snapshot: &Snapshot, consents: Arc<Consents>) -> Result<Self, String> {
        let gone = Upstream::new(Server::new(UpstreamSpec::nobody(), snapshot, &consents)?);
        gone.server.shut();
        let (all, gone) = (ArcSwap::default(), PerCaller::new(gone));
        let upstreams = Self { all, changing: Mutex::default(), consents, gone };
        upstreams.add(upstreams.missing(snapshot)?);
        Ok(upstreams)
    }

    /// Creates those servers of a snapshot that do not exist yet. Nothing is started.
    ///
    /// # Errors
    /// Returns the name of the invalid server, and the reason.
    pub fn missing(&self, snapshot: &Snapshot) -> Result<Vec<Arc<Upstream>>, String> {
        let all = self.all.load();
        let is_new = |spec: &&UpstreamSpec| all.binary_search_by_key(&spec.id, id).is_err();
        let new = snapshot.upstreams.iter().filter(is_new);
        new.map(|spec| {
            let mut server = Server::new(spec.clone(), snapshot, &self.consents)?;
            // A server whose configuration has changed keeps the counters of its predecessor.
            if let Some(known) = all.iter().rfind(|one| *one.common.name() == spec.name) {
                server.meters = known.common.server.meters.clone();
            }
            Ok(Upstream::new(server))
        })
        .collect()
    }

    /// Reads the stored records of all servers' definitions, and stores every change from now on.
    ///
    /// # Errors
    /// Returns the reason why a record cannot be read.
    pub fn record_definitions(&self, store: &Arc<dyn DefinitionStore>) -> Result<(), String> {
        self.all.load().iter().try_for_each(|one| one.common.record_definitions(store))
    }

    /// Shows the stored catalogues of all servers, and stores every fetched catalogue from now on.
    pub fn restore(&self, store: &Arc<dyn CatalogueStore>) {
        for one in self.all.load().iter() {
            one.common.catalogue.restore(store);
        }
    }

    /// Adds servers.
    pub fn add(&self, new: Vec<Arc<Upstream>>) {
        self.change(|all| {
            all.extend(new.into_iter().map(PerCaller::new));
            all.sort_by_key(id);
        });
    }

    /// Applies the limits of another snapshot to all calls and links that begin from now on. Open links and
    /// children are kept.
    pub fn follow(&self, snapshot: &Snapshot) {
        for one in self.all.load().iter() {
            let server = &one.common.server;
            if let Some(spec) = snapshot.upstream(server.spec.id) {
                server.destination.follow(spec, snapshot);
                server.concurrency.resize(spec.calls.concurrent, spec.calls.waiting);
            }
        }
    }

    /// Forgets a server.
    pub fn remove(&self, server: UpstreamId) {
        self.change(|all| all.retain(|one| id(one) != server));
    }

    fn change(&self, how: impl FnOnce(&mut Vec<Arc<PerCaller>>)) {
        let _one = self.changing.lock();
        let mut all = Vec::clone(&self.all.load());
        how(&mut all);
        self.all.store(Arc::new(all));
    }

    /// Returns the server with this id and its callers, or the placeholder for a removed server.
    pub fn entry(&self, server: UpstreamId) -> Arc<PerCaller> {
        let all = self.all.load();
        all.binary_search_by_key(&server, id).map_or(&self.gone, |at| &all[at]).clone()
    }

    /// Returns the server with this id, or the placeholder for a removed server.
    pub fn get(&self, server: UpstreamId) -> Arc<Upstream> {
        let all = self.all.load();
        all.binary_search_by_key(&server, id).map_or(&self.gone, |at| &all[at]).common.clone()
    }

    /// Returns the upstream of this caller for the server with this id.
    pub fn of(&self, server: UpstreamId, caller: &CallerId) -> Arc<Upstream> {
        self.entry(server).of(caller, &self.consents)
    }

    /// Returns all servers, including their per-caller upstreams.
    pub fn families(&self) -> Vec<Arc<Upstream>> {
        self.all.load().iter().flat_map(|one| one.family()).collect()
    }

    /// Returns all servers, each with its callers.
    pub fn all(&self) -> Arc<Vec<Arc<PerCaller>>> {
        self.all.load_full()
    }
}
