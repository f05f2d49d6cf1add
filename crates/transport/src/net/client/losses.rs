//! The connections that upstreams have closed in the middle of a request, counted for all threads together. When a process
//! ends, the system closes its connections one after another, often its listening socket last. So for a moment the other
//! connections still look open, and new ones are even accepted: a request on one of them would be lost as well. This module
//! must not know how connections are kept.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::time::sleep;

use super::limits::{MOST_ORIGINS, Replay};
use super::route::OriginKey;

/// The time after a loss within which a process that ends has closed its listening socket, too.
const SETTLING: Duration = Duration::from_millis(100);

/// The counts of all origins of a client and its siblings.
#[derive(Default)]
pub(super) struct Losses(Mutex<HashMap<OriginKey, LossCount>>);

/// The connections to one origin that were lost in the middle of a request. Clones share the count.
#[derive(Clone, Default)]
pub(super) struct LossCount(Arc<LossState>);

#[derive(Default)]
struct LossState {
    count: AtomicU64,
    last: Mutex<Option<Instant>>,
}

impl Losses {
    /// Returns the count of this origin. Counts that no other origin uses are removed above [`MOST_ORIGINS`].
    pub(super) fn of(&self, origin: &OriginKey) -> LossCount {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.len() >= MOST_ORIGINS {
            counts.retain(|_, count| Arc::strong_count(&count.0) > 1);
        }
        counts.entry(origin.clone()).or_default().clone()
    }
}

impl LossCount {
    /// Counts a lost connection.
    pub(super) fn add(&self) {
        *self.0.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        self.0.count.fetch_add(1, Ordering::AcqRel);
    }

    /// Returns the number of lost connections.
    pub(super) fn get(&self) -> u64 {
        self.0.count.load(Ordering::Acquire)
    }

    /// After a loss, waits until a process that ends is gone, so that a new connection leads to one that stays. A request that
    /// may be sent twice does not wait.
    pub(super) async fn settled(&self, replay: Replay) {
        if replay == Replay::Always {
            return;
        }
        let last = *self.0.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pause) = last.and_then(|last| SETTLING.checked_sub(last.elapsed())) {
            sleep(pause).await;
        }
    }
}
