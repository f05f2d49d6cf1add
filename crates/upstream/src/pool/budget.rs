//! The number of dedicated links that one server may have, over the pools of all its callers. It must not know pools.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

/// The dedicated links of one server: how many there may be, and how many there are.
#[derive(Debug)]
pub struct LinkBudget {
    max: usize,
    used: AtomicUsize,
    freed: Notify,
}

/// One link of a budget, until this value is dropped.
#[derive(Debug)]
pub(super) struct LinkPermit(Arc<LinkBudget>);

impl LinkBudget {
    /// Creates a budget of `max` links.
    pub fn new(max: usize) -> Arc<Self> {
        Arc::new(Self { max, used: AtomicUsize::new(0), freed: Notify::new() })
    }

    /// Returns true if another link may be opened.
    pub fn has_room(&self) -> bool {
        self.used.load(Ordering::SeqCst) < self.max
    }

    /// Takes a link out of the budget, if it has one left.
    pub(super) fn take(self: &Arc<Self>) -> Option<LinkPermit> {
        let more = |used: usize| (used < self.max).then_some(used + 1);
        self.used.fetch_update(Ordering::SeqCst, Ordering::SeqCst, more).ok()?;
        Some(LinkPermit(self.clone()))
    }

    /// Returns once a link was closed.
    pub(super) fn freed(&self) -> Notified<'_> {
        self.freed.notified()
    }
}

impl Drop for LinkPermit {
    fn drop(&mut self) {
        self.0.used.fetch_sub(1, Ordering::SeqCst);
        self.0.freed.notify_waiters();
    }
}
