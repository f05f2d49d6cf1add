//! The number of dedicated links that one server may have in the pools of all its callers, and the number of times
//! that an owner was moved to another link. This module must not know pools.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

/// The budget of dedicated links of one server: the maximum number, and the current number.
#[derive(Debug)]
pub struct LinkBudget {
    max: usize,
    used: AtomicUsize,
    freed: Notify,
    /// The number of moves in all pools, including those that no longer exist.
    moves: AtomicU64,
}

/// A permit for one link, which counts against the budget as long as this value exists.
#[derive(Debug)]
pub(super) struct LinkPermit(Arc<LinkBudget>);

impl LinkBudget {
    /// Creates a budget of `max` links.
    pub fn new(max: usize) -> Arc<Self> {
        Arc::new(Self { max, used: AtomicUsize::new(0), freed: Notify::new(), moves: AtomicU64::new(0) })
    }

    /// Returns true if another link may be opened.
    pub fn has_room(&self) -> bool {
        self.used.load(Ordering::SeqCst) < self.max
    }

    /// Takes a permit for one link out of the budget, if any is left.
    pub(super) fn take(self: &Arc<Self>) -> Option<LinkPermit> {
        let more = |used: usize| (used < self.max).then_some(used + 1);
        self.used.fetch_update(Ordering::SeqCst, Ordering::SeqCst, more).ok()?;
        Some(LinkPermit(self.clone()))
    }

    /// Counts an owner that was moved to another link.
    pub(super) fn note_move(&self) {
        self.moves.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of moves in all pools that have ever used the budget.
    pub fn moves(&self) -> u64 {
        self.moves.load(Ordering::Relaxed)
    }

    /// Returns a future that completes once a link has been closed.
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
