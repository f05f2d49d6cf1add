//! Servers that keep their callers apart, because each gives a consent of its own, or because the configuration wants it: a
//! caller's links there, what it is offered over them and what it listens to are in an [`Upstream`] of its own, of which others
//! see nothing. Until a server wants consent its callers share what needs none. It must not know how consent is given.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::oauth::{CallerId, Consents};
use crate::pool::LinkCell;
use crate::upstream::Upstream;

/// The number of callers of one server that have links of their own.
const MOST: usize = 256;

/// One server, and its callers that have it for themselves.
pub struct PerCaller {
    /// As all have it who do not have it for themselves.
    pub common: Arc<Upstream>,
    own: Mutex<HashMap<Arc<str>, Own>>,
}

/// One caller's own upstream.
struct Own {
    upstream: Arc<Upstream>,
    used: Instant,
}

impl PerCaller {
    /// A server that nobody has for itself.
    pub fn new(common: Arc<Upstream>) -> Arc<Self> {
        Arc::new(Self { common, own: Mutex::default() })
    }

    /// The server as this caller has it. What nobody has for itself is also for those for whom there is no room: it shows no
    /// credential.
    pub fn of(&self, caller: &CallerId, consents: &Consents) -> Arc<Upstream> {
        if !self.common.server.is_per_caller() {
            return self.common.clone();
        }
        let mut all = self.own.lock();
        if let Some(own) = all.get_mut(&caller.id) {
            own.used = Instant::now();
            return own.upstream.clone();
        }
        // Whoever ends a server raises this before it looks whose it is.
        let is_full = all.len() >= MOST;
        if self.common.server.shutdown.begun.is_stopped() || (is_full && !self.common.server.spec.own_links) {
            return self.common.clone();
        }
        let upstream = Upstream::new(self.common.server.owned(caller, consents));
        if is_full {
            // Callers who share no connection get one for this request alone.
            return upstream;
        }
        all.insert(caller.id.clone(), Own { upstream: upstream.clone(), used: Instant::now() });
        upstream
    }

    /// The server and all that callers have of it for themselves.
    pub fn family(&self) -> Vec<Arc<Upstream>> {
        let own: Vec<_> = self.own.lock().values().map(|own| own.upstream.clone()).collect();
        std::iter::once(self.common.clone()).chain(own).collect()
    }

    /// The upstreams that their callers have not used for `after`, with the callers' names.
    pub fn idle(&self, after: Duration) -> Vec<(Arc<str>, Arc<Upstream>)> {
        let is_busy =
            |cell: &Arc<LinkCell>| cell.is_needed() || cell.current().is_some_and(|link| link.is_used());
        let is_left = |own: &Own| {
            own.used.elapsed() > after
                && !own.upstream.topics.is_followed()
                && !own.upstream.cells().iter().any(is_busy)
        };
        let all = self.own.lock();
        let idle = all.iter().filter(|(_, own)| is_left(own));
        idle.map(|(id, own)| (id.clone(), own.upstream.clone())).collect()
    }

    /// Forgets what a caller had for itself.
    pub fn remove(&self, caller: &Arc<str>) -> Option<Arc<Upstream>> {
        self.own.lock().remove(caller).map(|own| own.upstream)
    }
}
