//! Detects that this process was suspended for seconds (SIGSTOP, a suspended container) while the other replicas continued without it.
//! Until the replica has compared its data with the store, requests wait for a moment, so that none is answered with what was valid
//! before: a revoked key, an ended session. This module must not know what is compared.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio::time::{MissedTickBehavior, interval, sleep};

/// The interval of the process's heartbeats.
const PULSE: Duration = Duration::from_millis(250);

/// The time without a heartbeat after which the process counts as having been suspended. A busy machine delays a heartbeat by less.
const STOOD: Duration = Duration::from_secs(2);

/// The maximum time for which requests wait after a standstill. After that, the replica continues with its own data, as it does
/// whenever the store is unavailable.
const PATIENCE: Duration = Duration::from_secs(2);

/// The heartbeats of this process.
pub(crate) struct Standstill {
    start: Instant,
    /// The time of the last heartbeat, in milliseconds after `start`.
    alive_ms: AtomicU64,
    /// The time at which the last standstill was noticed, in milliseconds after `start`.
    noticed_ms: AtomicU64,
    /// The number of standstills so far. Several threads may count the same one.
    count: AtomicU64,
    /// The number of standstills after which the data was compared.
    compared: AtomicU64,
    /// Notified of each standstill.
    pub(crate) happened: Notify,
    caught_up: Notify,
}

impl Standstill {
    pub(crate) fn new(start: Instant) -> Self {
        Self {
            start,
            alive_ms: AtomicU64::new(0),
            noticed_ms: AtomicU64::new(0),
            count: AtomicU64::new(0),
            compared: AtomicU64::new(0),
            happened: Notify::new(),
            caught_up: Notify::new(),
        }
    }

    /// Returns true if the replica's data can be relied on. Each request asks, so that the first one after a standstill waits, too,
    /// even if it comes before the next heartbeat.
    pub(crate) fn is_current(&self, now: Instant) -> bool {
        let now = self.ms(now);
        if now.saturating_sub(self.alive_ms.load(Ordering::Acquire)) >= millis(STOOD) {
            self.noticed_ms.store(now, Ordering::Relaxed);
            self.count.fetch_add(1, Ordering::AcqRel);
            self.alive_ms.fetch_max(now, Ordering::Release);
            self.happened.notify_one();
            return false;
        }
        self.is_compared(self.count())
            || now.saturating_sub(self.noticed_ms.load(Ordering::Relaxed)) >= millis(PATIENCE)
    }

    /// Waits until the data was compared, but not for long.
    pub(crate) async fn catch_up(&self) {
        let caught_up = async {
            loop {
                let next = self.caught_up.notified();
                tokio::pin!(next);
                next.as_mut().enable();
                if self.is_current(Instant::now()) {
                    return;
                }
                next.await;
            }
        };
        tokio::select! {
            () = caught_up => {}
            () = sleep(PATIENCE) => {}
        }
    }

    /// Returns the number of standstills so far, for [`Standstill::compared`].
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Acquire)
    }

    /// Returns true if all data has been compared since this many standstills.
    pub(crate) fn is_compared(&self, count: u64) -> bool {
        self.compared.load(Ordering::Acquire) == count
    }

    /// Records that all data has been compared since this many standstills.
    pub(crate) fn compared(&self, count: u64) {
        if self.compared.swap(count, Ordering::AcqRel) != count {
            self.caught_up.notify_waiters();
        }
    }

    /// Records heartbeats until the `Cluster` is dropped.
    pub(crate) async fn live(&self) {
        let mut ticks = interval(PULSE);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let now = Instant::now();
            self.is_current(now);
            self.alive_ms.fetch_max(self.ms(now), Ordering::Release);
        }
    }

    fn ms(&self, now: Instant) -> u64 {
        millis(now.saturating_duration_since(self.start))
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_stood_still_is_current_once_its_data_was_compared() {
        let start = Instant::now();
        let standstill = Standstill::new(start);
        let at = |ms| start + Duration::from_millis(ms);
        assert!(standstill.is_current(at(1999)));
        assert!(!standstill.is_current(at(2000)), "the first request notices it");
        assert!(!standstill.is_current(at(2100)), "nothing was compared yet");
        let count = standstill.count();
        standstill.compared(count);
        assert!(standstill.is_current(at(2200)));
        assert!(!standstill.is_current(at(9000)));
        standstill.compared(count);
        assert!(!standstill.is_current(at(9100)), "the comparison began before the second standstill");
        standstill.compared(standstill.count());
        assert!(standstill.is_current(at(9200)));
    }

    #[test]
    fn without_the_store_requests_wait_only_for_a_moment() {
        let start = Instant::now();
        let standstill = Standstill::new(start);
        let at = |ms| start + Duration::from_millis(ms);
        assert!(!standstill.is_current(at(5000)));
        standstill.alive_ms.store(6900, Ordering::Relaxed);
        assert!(!standstill.is_current(at(6999)));
        assert!(standstill.is_current(at(7000)));
    }

    #[tokio::test]
    async fn waiting_requests_go_on_once_the_data_was_compared() {
        let standstill = Standstill::new(Instant::now().checked_sub(STOOD).unwrap());
        let waited = async {
            let begun = Instant::now();
            standstill.catch_up().await;
            begun.elapsed()
        };
        let compared = async {
            standstill.happened.notified().await;
            sleep(Duration::from_millis(100)).await;
            standstill.compared(standstill.count());
        };
        let (waited, ()) = tokio::join!(waited, compared);
        assert!((Duration::from_millis(100)..PATIENCE).contains(&waited), "{waited:?}");
    }
}
