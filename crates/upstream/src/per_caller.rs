//! Per-caller upstreams, for servers to which each caller gives its own consent, or whose configuration separates
//! callers. The links, the catalogue and the subscriptions of one caller are in a separate [`Upstream`], which other
//! callers cannot see. Until a server requires consent, its callers share everything. This module must not know how
//! consent is given.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::passed_headers::PassedHeaders;
use parking_lot::Mutex;

use crate::oauth::{CallerId, Consents};
use crate::pool::LinkCell;
use crate::upstream::Upstream;

/// The maximum number of callers of one server that have their own upstream.
const MOST: usize = 256;

/// The number of per-caller upstreams at which unused ones begin to be closed sooner. Without this rule, a client
/// that sends many different headers could occupy the upstreams of all other callers for a long time.
const CROWDED: usize = MOST * 3 / 4;

/// The time after which an unused upstream is closed if there are many upstreams.
const SHORT_IDLE: Duration = Duration::from_secs(10);

/// One server, and the callers that have their own upstream for it.
pub struct PerCaller {
    /// The upstream of all callers that have none of their own.
    pub common: Arc<Upstream>,
    own: Mutex<HashMap<OwnKey, CallerUpstream>>,
}

/// The properties that decide which callers of one server share an upstream.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OwnKey {
    /// The caller's id, if callers themselves are separated.
    id: Option<Arc<str>>,
    /// The headers of the caller's requests that are passed on to the server.
    passed: PassedHeaders,
}

/// One caller's own upstream.
struct CallerUpstream {
    upstream: Arc<Upstream>,
    used: Instant,
}

impl PerCaller {
    /// Creates a server without per-caller upstreams.
    pub fn new(common: Arc<Upstream>) -> Arc<Self> {
        Arc::new(Self { common, own: Mutex::default() })
    }

    /// Returns the upstream of this caller. Above the limit, callers share the common upstream, which sends no
    /// credential. A caller that must not share a connection gets an upstream for this request alone.
    pub fn of(&self, caller: &CallerId, consents: &Consents) -> Arc<Upstream> {
        if !self.common.server.is_per_caller() {
            return self.common.clone();
        }
        let spec = &self.common.server.spec;
        let is_separate = (spec.own_consent || spec.own_links) && !caller.is_stranger();
        let key = OwnKey {
            id: is_separate.then(|| caller.id.clone()),
            passed: caller.passed.mapped(spec.passed_headers()),
        };
        if key.id.is_none() && key.passed.is_empty() {
            return self.common.clone();
        }
        let mut all = self.own.lock();
        if let Some(own) = all.get_mut(&key) {
            own.used = Instant::now();
            return own.upstream.clone();
        }
        // The code that ends a server raises `begun` before it collects the server's per-caller upstreams.
        let is_full = all.len() >= MOST;
        let needs_own = spec.own_links || !key.passed.is_empty();
        if self.common.server.shutdown.begun.is_stopped() || (is_full && !needs_own) {
            return self.common.clone();
        }
        let owned = self.common.server.owned(caller, &key.passed, consents);
        let upstream = Upstream::of_caller(owned, &self.common);
        upstream.catalogue.begin_as(&self.common.catalogue);
        if is_full {
            // Above the limit, a caller that must not share a connection gets an upstream for this request alone.
            return upstream;
        }
        all.insert(key, CallerUpstream { upstream: upstream.clone(), used: Instant::now() });
        upstream
    }

    /// Returns the common upstream, and all per-caller upstreams of the server.
    pub fn family(&self) -> Vec<Arc<Upstream>> {
        let own: Vec<_> = self.own.lock().values().map(|own| own.upstream.clone()).collect();
        std::iter::once(self.common.clone()).chain(own).collect()
    }

    /// Returns the per-caller upstreams that have not been used for the time `after`, or for a shorter time if there are many of
    /// them, with their keys.
    pub fn idle(&self, after: Duration) -> Vec<(OwnKey, Arc<Upstream>)> {
        let is_busy =
            |cell: &Arc<LinkCell>| cell.is_needed() || cell.current().is_some_and(|link| link.is_used());
        let all = self.own.lock();
        let after = if all.len() >= CROWDED { after.min(SHORT_IDLE) } else { after };
        let is_left = |own: &CallerUpstream| {
            own.used.elapsed() > after
                && !own.upstream.topics.is_followed()
                && !own.upstream.cells().iter().any(is_busy)
        };
        let idle = all.iter().filter(|(_, own)| is_left(own));
        idle.map(|(key, own)| (key.clone(), own.upstream.clone())).collect()
    }

    /// Removes a caller's own upstream, and returns it.
    pub fn remove(&self, key: &OwnKey) -> Option<Arc<Upstream>> {
        self.own.lock().remove(key).map(|own| own.upstream)
    }
}
