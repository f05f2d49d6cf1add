//! The delay before a child is started again after it has ended by itself. This is a pure state machine: the time is
//! an argument.

use std::time::{Duration, Instant};

/// The delay after the first end; it doubles with each further end, or with every second end if calls reached the child.
const FIRST: Duration = Duration::from_millis(500);

/// The maximum delay.
const LONGEST: Duration = Duration::from_secs(30);

/// The maximum delay after a run in which calls reached the child. Such a child can start, so the next caller should
/// not have to wait long for it.
const LONGEST_AFTER_CALLS: Duration = Duration::from_secs(4);

/// The running time after which a child is considered healthy: if the child ends later than this, the delay starts
/// again at its minimum.
const HEALTHY: Duration = Duration::from_mins(1);

/// Counts how often one upstream's child has ended. The delay between an end and the next start is 0.5 s, 1 s, 2 s …
/// 30 s, but at most 4 s if calls reached the child.
///
/// ```
/// # use std::time::{Duration, Instant};
/// # use dragoman_transport::child::backoff::Backoff;
/// let now = Instant::now();
/// let mut backoff = Backoff::new();
/// assert_eq!(backoff.next_start(now), None);
/// backoff.started(now);
/// backoff.ended(now, "npx exited with code 1");
/// assert_eq!(backoff.next_start(now), Some(now + Duration::from_millis(500)));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Backoff {
    started: Option<Instant>,
    /// The number of consecutive ends without a healthy run between them.
    ends: u32,
    /// True if calls reached the child in the current run.
    served: bool,
    /// The earliest time of the next start, and the reason why the last run ended.
    waiting: Option<(Instant, String)>,
}

impl Backoff {
    /// Creates the state before the first start, which need not wait.
    pub fn new() -> Self {
        Self::default()
    }

    /// Records that the child was started.
    pub fn started(&mut self, now: Instant) {
        self.started = Some(now);
        self.served = false;
    }

    /// Records that calls reached the child in this run. If a child ends because of a call, it is able to start, so the
    /// next delays are shorter.
    pub fn served(&mut self) {
        self.served = true;
    }

    /// Records that the child ended by itself or could not be started; `why` is a human-readable sentence. An end that the
    /// gateway requested is not a failure and is not reported here.
    pub fn ended(&mut self, now: Instant, why: impl Into<String>) {
        let ran =
            self.started.take().map_or(Duration::ZERO, |started| now.saturating_duration_since(started));
        self.ends = if ran >= HEALTHY { 1 } else { self.ends.saturating_add(1) };
        let (every, longest) =
            if std::mem::take(&mut self.served) { (2, LONGEST_AFTER_CALLS) } else { (1, LONGEST) };
        let doublings = ((self.ends - 1) / every).min(16);
        let wait = FIRST.saturating_mul(1 << doublings).min(longest);
        self.waiting = Some((now + wait, why.into()));
    }

    /// Returns the earliest time of the next start; `None` if the child may be started immediately.
    pub fn next_start(&self, now: Instant) -> Option<Instant> {
        self.waiting.as_ref().map(|(at, _)| *at).filter(|at| *at > now)
    }

    /// Returns the number of consecutive ends without a healthy run between them.
    pub fn ends(&self) -> u32 {
        self.ends
    }

    /// Returns the reason why a caller has to wait, as a sentence; `None` if the caller need not wait.
    pub fn reason(&self, now: Instant) -> Option<String> {
        let at = self.next_start(now)?;
        let (_, why) = self.waiting.as_ref()?;
        let wait = at.saturating_duration_since(now).as_millis().div_ceil(100);
        let times = if self.ends == 1 { "once".into() } else { format!("{} times in a row", self.ends) };
        Some(format!("{why} (failed {times}; the next start is in {}.{} s)", wait / 10, wait % 10))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_after_calls_grow_slowly_and_stay_short() {
        let waits = |serves: bool| {
            let mut now = Instant::now();
            let mut backoff = Backoff::new();
            let wait = |_| {
                backoff.started(now);
                if serves {
                    backoff.served();
                }
                backoff.ended(now, "x");
                let at = backoff.next_start(now).unwrap();
                let wait = (at - now).as_millis();
                now = at;
                wait
            };
            (0..9).map(wait).collect::<Vec<_>>()
        };
        assert_eq!(waits(true), [500, 500, 1000, 1000, 2000, 2000, 4000, 4000, 4000]);
        assert_eq!(waits(false), [500, 1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000]);
    }

    #[test]
    fn a_healthy_run_forgives() {
        let now = Instant::now();
        let mut backoff = Backoff::new();
        for _ in 0..5 {
            backoff.started(now);
            backoff.ended(now, "x");
        }
        backoff.started(now);
        backoff.ended(now + HEALTHY, "x");
        assert_eq!(backoff.ends(), 1);
        backoff.started(now + HEALTHY);
        backoff.ended(now + HEALTHY + HEALTHY / 2, "x");
        assert_eq!(backoff.ends(), 2, "half a healthy run is none");
    }

    #[test]
    fn a_failed_start_counts() {
        let now = Instant::now();
        let mut backoff = Backoff::new();
        backoff.ended(now, "npx was not found");
        backoff.ended(now, "npx was not found");
        assert_eq!(backoff.ends(), 2);
    }

    #[test]
    fn the_reason_counts_down() {
        let now = Instant::now();
        let mut backoff = Backoff::new();
        assert_eq!(backoff.reason(now), None);
        backoff.ended(now, "npx exited with code 1");
        let reason = backoff.reason(now).unwrap();
        assert_eq!(reason, "npx exited with code 1 (failed once; the next start is in 0.5 s)");
        backoff.ended(now, "npx exited with code 1");
        let reason = backoff.reason(now + Duration::from_millis(1)).unwrap();
        assert_eq!(reason, "npx exited with code 1 (failed 2 times in a row; the next start is in 1.0 s)");
        assert_eq!(backoff.reason(now + Duration::from_secs(1)), None);
    }
}
