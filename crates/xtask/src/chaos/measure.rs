//! The times of many concurrent requests, and their summary.

use super::client::Client;
use std::fmt;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

/// The time that is allowed in addition to a guaranteed time. It is needed because several scenarios run at once,
/// builds are not optimized, and a thread that is ready may wait for a processor.
pub(crate) const BUSY: Duration = Duration::from_millis(500);

/// The times of some requests.
#[derive(Clone, Debug, Default)]
pub(crate) struct Times(Vec<Duration>);

impl Times {
    pub(crate) fn extend(&mut self, more: impl IntoIterator<Item = Duration>) {
        self.0.extend(more);
        self.0.sort_unstable();
    }

    pub(crate) fn median(&self) -> Duration {
        self.part(50)
    }

    pub(crate) fn p99(&self) -> Duration {
        self.part(99)
    }

    pub(crate) fn max(&self) -> Duration {
        self.part(100)
    }

    /// The time that this percentage of requests does not exceed.
    fn part(&self, percent: usize) -> Duration {
        let rank = (self.0.len() * percent).div_ceil(100);
        self.0.get(rank.saturating_sub(1)).copied().unwrap_or_default()
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "median {:.1?}, p99 {:.1?} of {}", self.median(), self.p99(), self.0.len())
    }
}

/// Lets all clients act at the same moment; returns the time that each client needed.
pub(crate) fn side_by_side(
    clients: &[Arc<Client>],
    act: impl Fn(&Arc<Client>) -> Result<(), String> + Sync,
) -> Result<Vec<Duration>, String> {
    let start = Barrier::new(clients.len());
    let timed = |client: &Arc<Client>| {
        start.wait();
        let started = Instant::now();
        act(client).map(|()| started.elapsed())
    };
    thread::scope(|scope| {
        let all: Vec<_> = clients.iter().map(|client| scope.spawn(|| timed(client))).collect();
        all.into_iter().map(|one| one.join().map_err(|_| "a client panicked")?).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::Times;
    use std::time::Duration;

    #[test]
    fn percentiles_are_times_that_occurred() {
        let mut times = Times::default();
        times.extend((1..=200).rev().map(Duration::from_millis));
        assert_eq!((times.median(), times.p99()), (Duration::from_millis(100), Duration::from_millis(198)));
        assert_eq!(Times::default().p99(), Duration::ZERO);
    }
}
