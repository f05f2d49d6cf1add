//! All servers by their ids: those that are configured, and those that are not any more but still have calls to finish. It
//! must not know why they come and go.

use std::sync::Arc;

use arc_swap::ArcSwap;
use engine::Snapshot;
use engine::catalogue::UpstreamId;
use engine::snapshot::UpstreamSpec;
use parking_lot::Mutex;

use super::upstream::Upstream;
use crate::consent::Consents;

/// All servers.
pub(crate) struct Upstreams {
    /// In the order of their ids.
    all: ArcSwap<Vec<Arc<Upstream>>>,
    changing: Mutex<()>,
    /// Where they enter that may want the consent of their users.
    consents: Arc<Consents>,
    /// What stands for one that is gone.
    gone: Arc<Upstream>,
}

impl Upstreams {
    /// Those of a snapshot.
    ///
    /// # Errors
    /// Which of them cannot be, and why.
    pub(crate) fn new(snapshot: &Snapshot, consents: Arc<Consents>) -> Result<Self, String> {
        let gone = Arc::new(Upstream::new(UpstreamSpec::nobody(), snapshot, &consents)?);
        gone.end();
        let upstreams = Self { all: ArcSwap::default(), changing: Mutex::default(), consents, gone };
        upstreams.add(upstreams.missing(snapshot)?);
        Ok(upstreams)
    }

    /// Those of a snapshot that are not here yet; nothing is begun with them.
    ///
    /// # Errors
    /// Which of them cannot be, and why.
    pub(crate) fn missing(&self, snapshot: &Snapshot) -> Result<Vec<Arc<Upstream>>, String> {
        let all = self.all.load();
        let is_new = |spec: &&UpstreamSpec| all.binary_search_by_key(&spec.id, |one| one.spec.id).is_err();
        let new = snapshot.upstreams.iter().filter(is_new);
        new.map(|spec| Upstream::new(spec.clone(), snapshot, &self.consents).map(Arc::new)).collect()
    }

    /// Adds servers.
    pub(crate) fn add(&self, new: Vec<Arc<Upstream>>) {
        self.change(|all| {
            all.extend(new);
            all.sort_by_key(|one| one.spec.id);
        });
    }

    /// Forgets a server.
    pub(crate) fn remove(&self, id: UpstreamId) {
        self.change(|all| all.retain(|one| one.spec.id != id));
    }

    fn change(&self, how: impl FnOnce(&mut Vec<Arc<Upstream>>)) {
        let _one = self.changing.lock();
        let mut all = Vec::clone(&self.all.load());
        how(&mut all);
        self.all.store(Arc::new(all));
    }

    /// The server with this id, or one that can only be told to be gone.
    pub(crate) fn get(&self, id: UpstreamId) -> Arc<Upstream> {
        let all = self.all.load();
        all.binary_search_by_key(&id, |one| one.spec.id).map_or(&self.gone, |at| &all[at]).clone()
    }

    /// All of them, and all that callers have of them for themselves.
    pub(crate) fn families(&self) -> Vec<Arc<Upstream>> {
        self.all.load().iter().flat_map(Upstream::family).collect()
    }

    /// All of them.
    pub(crate) fn all(&self) -> Arc<Vec<Arc<Upstream>>> {
        self.all.load_full()
    }
}
