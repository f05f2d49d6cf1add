//! The pools of one server: the common pool, and those of the callers that have an upstream of their own. Together, the
//! pools have at most as many links as one server may have. This module must not know callers.

use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use super::budget::LinkBudget;
use super::dispatch::UnneededLink;
use super::dormant::DormantLinks;
use crate::egress::Egress;

/// A pool that can close a link to make room for another link.
pub(super) trait GivesWay: Send + Sync {
    /// Returns the link that would be closed first if another caller of the server needed a link.
    fn spare_for_others(&self) -> Option<UnneededLink>;

    /// Closes this link, unless it is needed by now; returns true if it was closed.
    fn close_for_others(&self, spare: UnneededLink, egress: &Egress) -> bool;
}

/// The pools of one server.
pub(super) struct PoolFamily {
    /// The links that all pools may have together.
    pub(super) budget: Arc<LinkBudget>,
    /// The links, in any of the pools, whose call or task waits for its client.
    pub(super) dormant: Arc<DormantLinks>,
    pools: Mutex<Vec<Weak<dyn GivesWay>>>,
}

impl PoolFamily {
    /// Creates a family without pools, for `max` links.
    pub(super) fn new(max: usize) -> Arc<Self> {
        Arc::new(Self { budget: LinkBudget::new(max), dormant: Arc::default(), pools: Mutex::default() })
    }

    /// Adds a pool.
    pub(super) fn join(&self, pool: Weak<dyn GivesWay>) {
        let mut pools = self.pools.lock();
        pools.retain(|pool| pool.strong_count() > 0);
        pools.push(pool);
    }

    /// Closes a link of another pool: a link without an owner or, if there is none, a link whose reservation has
    /// ended because its owner has not used it for long enough. Returns false if there is no such link.
    pub(super) fn make_room(&self, needed_by: &dyn GivesWay, egress: &Egress) -> bool {
        let pools: Vec<Arc<dyn GivesWay>> = self.pools.lock().iter().filter_map(Weak::upgrade).collect();
        let others = pools.iter().filter(|pool| !std::ptr::addr_eq(Arc::as_ptr(pool), needed_by));
        let mut spare: Vec<_> = others.filter_map(|pool| Some((pool.spare_for_others()?, pool))).collect();
        spare.sort_by_key(|(spare, _)| *spare);
        spare.into_iter().any(|(spare, pool)| pool.close_for_others(spare, egress))
    }
}
