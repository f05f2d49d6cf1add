//! The requests that wait for a server to become available again: they are woken when the server is back, and let
//! through in waves. This module must not know what is waiting.

use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::Notify;

/// The number of requests in the first wave; each further wave is twice as large as the previous one.
const FIRST_WAVE: u32 = 8;

/// The time between two waves.
const STEP: Duration = Duration::from_millis(50);

/// The requests that wait for one server.
#[derive(Debug, Default)]
pub(super) struct Returning {
    woken: Notify,
    since: Mutex<ReturnProgress>,
}

/// The requests that were let through since the server became available again.
#[derive(Debug, Default)]
struct ReturnProgress {
    /// The time when the server became available again; `None` if it was never away.
    at: Option<Instant>,
    /// The number of requests that were let through since the server became available again.
    number: u32,
}

impl Returning {
    /// Wakes all waiting requests, because the server is back.
    pub(super) fn is_back(&self) {
        *self.since.lock() = ReturnProgress { at: Some(Instant::now()), number: 0 };
        self.woken.notify_waiters();
    }

    /// Waits until the server is back, but at most for the time `longest`.
    pub(super) async fn pause(&self, longest: Duration) {
        tokio::select! {
            () = self.woken.notified() => {}
            () = tokio::time::sleep(longest) => {}
        }
    }

    /// Waits until the wave of this request is let through.
    pub(super) async fn turn(&self) {
        let due = self.since.lock().next();
        if let Some(due) = due.filter(|due| *due > Instant::now()) {
            tokio::time::sleep_until(due.into()).await;
        }
    }
}

impl ReturnProgress {
    /// Returns the time at which the next request is let through; `None` if it is let through now.
    fn next(&mut self) -> Option<Instant> {
        let at = self.at?;
        let wave = (self.number / FIRST_WAVE + 1).ilog2();
        self.number = self.number.saturating_add(1);
        Some(at + STEP * wave)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waves_are_of_8_16_and_32() {
        let at = Instant::now();
        let mut since = ReturnProgress { at: Some(at), number: 0 };
        let waves: Vec<u128> = (0..60)
            .filter_map(|_| since.next())
            .map(|due| (due - at).as_millis() / STEP.as_millis())
            .collect();
        let size = |wave| waves.iter().filter(|one| **one == wave).count();
        assert_eq!([size(0), size(1), size(2), size(3)], [8, 16, 32, 4]);
        assert!(waves.is_sorted(), "first come, first served");
        assert_eq!(ReturnProgress::default().next(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_return_ends_all_pauses() {
        let returning = Returning::default();
        let pauses = async {
            tokio::join!(returning.pause(Duration::from_secs(9)), returning.pause(Duration::from_secs(8)));
        };
        let began = tokio::time::Instant::now();
        tokio::join!(pauses, async { returning.is_back() });
        assert_eq!(began.elapsed(), Duration::ZERO);
        returning.pause(Duration::from_secs(1)).await;
        assert_eq!(began.elapsed(), Duration::from_secs(1), "a return in the past wakes nobody");
    }
}
