//! The number of dedicated links that one server may have in the pools of all its callers, and the number of times
//! that an owner was moved to another link. A link whose process is still ending counts, so that the number of
//! processes never exceeds the maximum. This module must not know pools.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use tokio::sync::Notify;
use tokio::sync::futures::Notified;
use transport::child::Companion;

/// The budget of dedicated links of one server: the maximum number, and the current number.
#[derive(Debug)]
pub struct LinkBudget {
    max: usize,
    used: AtomicUsize,
    /// The number of links that have left their pool and whose process has not ended yet; they are part of `used`.
    leaving: AtomicUsize,
    freed: Notify,
    /// The number of moves in all pools, including those that no longer exist.
    moves: AtomicU64,
}

/// A link that counts against the budget: as long as its pool has the link, and as long as a process of the link
/// exists.
#[derive(Debug)]
struct CountedLink {
    budget: Arc<LinkBudget>,
    has_left: AtomicBool,
}

/// A pool's permit for one link.
#[derive(Debug)]
pub(super) struct LinkPermit(Arc<CountedLink>);

impl LinkBudget {
    /// Creates a budget of `max` links.
    pub fn new(max: usize) -> Arc<Self> {
        let (used, leaving, freed) = (AtomicUsize::new(0), AtomicUsize::new(0), Notify::new());
        Arc::new(Self { max, used, leaving, freed, moves: AtomicU64::new(0) })
    }

    /// Returns true if another link may be opened.
    pub fn has_room(&self) -> bool {
        self.used.load(Ordering::SeqCst) < self.max
    }

    /// Takes a permit for one link out of the budget, if any is left.
    pub(super) fn take(self: &Arc<Self>) -> Option<LinkPermit> {
        let more = |used: usize| (used < self.max).then_some(used + 1);
        self.used.fetch_update(Ordering::SeqCst, Ordering::SeqCst, more).ok()?;
        Some(LinkPermit(Arc::new(CountedLink { budget: self.clone(), has_left: AtomicBool::new(false) })))
    }

    /// Returns the number of links that still count only because their process has not ended yet.
    pub(super) fn leaving(&self) -> usize {
        self.leaving.load(Ordering::SeqCst)
    }

    /// Counts an owner that was moved to another link.
    pub(super) fn note_move(&self) {
        self.moves.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of moves in all pools that have ever used the budget.
    pub fn moves(&self) -> u64 {
        self.moves.load(Ordering::Relaxed)
    }

    /// Returns a future that completes once a link no longer counts.
    pub(super) fn freed(&self) -> Notified<'_> {
        self.freed.notified()
    }
}

impl LinkPermit {
    /// Returns the part of the permit that is kept as long as a process of the link exists.
    pub(super) fn companion(&self) -> Companion {
        self.0.clone()
    }

    /// Returns the permit for use by another link, unless a process of this link still exists.
    pub(super) fn into_free(self) -> Option<Self> {
        (Arc::strong_count(&self.0) == 1).then_some(self)
    }
}

impl Drop for LinkPermit {
    fn drop(&mut self) {
        self.0.has_left.store(true, Ordering::SeqCst);
        self.0.budget.leaving.fetch_add(1, Ordering::SeqCst);
    }
}

impl Drop for CountedLink {
    fn drop(&mut self) {
        self.budget.used.fetch_sub(1, Ordering::SeqCst);
        if *self.has_left.get_mut() {
            self.budget.leaving.fetch_sub(1, Ordering::SeqCst);
        }
        self.budget.freed.notify_waiters();
    }
}
