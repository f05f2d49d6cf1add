//! Log lines about rate-limited requests: the first refusal is logged immediately; after that, each limit logs at most
//! one line per minute, with the number of refusals since the last line. A flood of requests therefore does not flood
//! the log. This module must not know how a limit counts.

use std::mem;
use std::time::Duration;

use parking_lot::Mutex;

/// The minimum time between two lines about the same limit.
const BETWEEN: Duration = Duration::from_mins(1);

/// The refusals by several limits.
pub(crate) struct Refusals(Box<[(String, Mutex<Row>)]>);

/// The refusals by one limit.
#[derive(Default)]
struct Row {
    /// The number of refusals since the last line.
    count: u64,
    /// The number of all refusals.
    all: u64,
    /// The earliest time of the next line.
    next: Duration,
}

impl Row {
    fn due(&mut self, now: Duration) -> Option<u64> {
        if self.count == 0 || now < self.next {
            return None;
        }
        self.next = now + BETWEEN;
        Some(mem::take(&mut self.count))
    }
}

impl Refusals {
    /// Creates empty counts for the limits with these names.
    pub(crate) fn new(names: impl Iterator<Item = String>) -> Self {
        Self(names.map(|name| (name, Mutex::default())).collect())
    }

    /// Counts a refusal by the limit with the index `place`. If a log line is due, returns the limit's name and the
    /// number of refusals since the last line.
    pub(crate) fn count(&self, place: usize, now: Duration) -> Option<(&str, u64)> {
        let (name, row) = self.0.get(place)?;
        let mut row = row.lock();
        row.count += 1;
        row.all += 1;
        row.due(now).map(|count| (name.as_str(), count))
    }

    /// Returns each limit's name with the number of all its refusals.
    pub(crate) fn totals(&self) -> Vec<(String, u64)> {
        self.0.iter().map(|(name, row)| (name.clone(), row.lock().all)).collect()
    }

    /// Returns the limits that have unlogged refusals and whose next line is due, each with its name and the number
    /// of these refusals.
    pub(crate) fn rest(&self, now: Duration) -> impl Iterator<Item = (&str, u64)> {
        self.0.iter().filter_map(move |(name, row)| row.lock().due(now).map(|count| (name.as_str(), count)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_told_at_once_and_then_how_many_once_a_minute_and_limit() {
        let refusals = Refusals::new(["a", "b"].map(str::to_owned).into_iter());
        let at = Duration::from_secs;
        assert_eq!(refusals.rest(at(1)).count(), 0);
        assert_eq!(refusals.count(0, at(1)), Some(("a", 1)));
        for second in 1..61 {
            assert_eq!(refusals.count(0, at(second)), None);
            assert_eq!(refusals.rest(at(second)).count(), 0);
        }
        assert_eq!(refusals.count(1, at(2)), Some(("b", 1)), "each by itself");
        assert_eq!(refusals.count(0, at(61)), Some(("a", 61)));
        assert_eq!(refusals.count(0, at(62)), None);
        assert_eq!(refusals.rest(at(121)).collect::<Vec<_>>(), [("a", 1)]);
        assert_eq!(refusals.rest(at(200)).count(), 0, "nothing has come since");
        assert_eq!(refusals.count(0, at(200)), Some(("a", 1)));
        assert_eq!(refusals.count(2, at(200)), None, "no such limit");
        assert_eq!(refusals.totals(), [("a".to_owned(), 64), ("b".to_owned(), 1)]);
    }
}
