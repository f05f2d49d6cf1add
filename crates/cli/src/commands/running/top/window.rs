//! The calls of the last minute by server: their rate, their errors, and how long they took. Pure: the caller
//! passes the time.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// The time for which calls are counted.
const WINDOW: Duration = Duration::from_mins(1);

/// The maximum number of calls that are kept for one server; beyond it, the oldest are forgotten first.
const MOST_CALLS: usize = 20_000;

/// The maximum number of servers.
const MOST_SERVERS: usize = 1_000;

/// The calls of the last minute.
#[derive(Debug, Default)]
pub(super) struct CallWindow {
    servers: BTreeMap<String, VecDeque<SeenCall>>,
}

#[derive(Debug, Clone, Copy)]
struct SeenCall {
    at: Duration,
    duration_us: u64,
    failed: bool,
}

/// The figures of some calls.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct CallFigures {
    /// The number of calls.
    pub(super) calls: usize,
    /// The calls per second.
    pub(super) rate: f64,
    /// The number of calls that failed.
    pub(super) errors: usize,
    /// The duration that half of the calls did not exceed, in microseconds.
    pub(super) p50_us: u64,
    /// The duration that 95 % of the calls did not exceed, in microseconds.
    pub(super) p95_us: u64,
}

impl CallWindow {
    /// Adds a call that has ended; `now` is the time since the start.
    pub(super) fn add(&mut self, now: Duration, server: &str, duration_us: u64, failed: bool) {
        if !self.servers.contains_key(server) && self.servers.len() >= MOST_SERVERS {
            return;
        }
        let calls = self.servers.entry(server.to_owned()).or_default();
        if calls.len() >= MOST_CALLS {
            calls.pop_front();
        }
        calls.push_back(SeenCall { at: now, duration_us, failed });
    }

    /// Forgets the calls that ended more than a minute ago.
    pub(super) fn forget(&mut self, now: Duration) {
        for calls in self.servers.values_mut() {
            while calls.front().is_some_and(|call| call.at + WINDOW < now) {
                calls.pop_front();
            }
        }
        self.servers.retain(|_, calls| !calls.is_empty());
    }

    /// Returns the figures of one server.
    pub(super) fn of(&self, now: Duration, server: &str) -> CallFigures {
        self.servers.get(server).map(|calls| figures(now, calls.iter())).unwrap_or_default()
    }

    /// Returns the figures of all servers together.
    pub(super) fn all(&self, now: Duration) -> CallFigures {
        figures(now, self.servers.values().flatten())
    }

    /// Returns the names of servers with calls.
    pub(super) fn servers(&self) -> impl Iterator<Item = &str> {
        self.servers.keys().map(String::as_str)
    }
}

fn figures<'c>(now: Duration, calls: impl Iterator<Item = &'c SeenCall>) -> CallFigures {
    let (mut durations, mut errors) = (Vec::new(), 0);
    for call in calls {
        durations.push(call.duration_us);
        errors += usize::from(call.failed);
    }
    durations.sort_unstable();
    let part = |percent: usize| {
        let rank = (durations.len() * percent).div_ceil(100).max(1);
        durations.get(rank - 1).copied().unwrap_or(0)
    };
    let seconds = now.min(WINDOW).as_secs_f64().max(1.0);
    #[expect(clippy::cast_precision_loss, reason = "there are far fewer calls than 2^52")]
    let rate = durations.len() as f64 / seconds;
    CallFigures { calls: durations.len(), rate, errors, p50_us: part(50), p95_us: part(95) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn figures_are_those_of_the_last_minute() {
        let mut window = CallWindow::default();
        for number in 1..=100 {
            window.add(10 * SECOND, "files", number, number % 10 == 0);
        }
        window.add(40 * SECOND, "docs", 7, false);
        let files = window.of(20 * SECOND, "files");
        assert_eq!(files, CallFigures { calls: 100, rate: 5.0, errors: 10, p50_us: 50, p95_us: 95 });
        assert_eq!(window.of(50 * SECOND, "docs").p95_us, 7);
        assert_eq!(window.all(50 * SECOND).calls, 101);
        window.forget(71 * SECOND);
        assert_eq!(window.servers().collect::<Vec<_>>(), ["docs"]);
        assert_eq!(window.of(71 * SECOND, "files"), CallFigures::default());
    }

    #[test]
    fn memory_is_bounded() {
        let mut window = CallWindow::default();
        for number in 0..30_000 {
            window.add(SECOND, "busy", number, false);
            window.add(SECOND, &format!("s{number}"), 1, false);
        }
        assert_eq!(window.of(SECOND, "busy").calls, MOST_CALLS);
        assert_eq!(window.servers().count(), MOST_SERVERS);
    }
}
