//! Evicts the oldest events that are kept for clients, if their total size is too large. This module must not know
//! the content of events.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use transport::budget::KeptPart;

use super::streams::Streams;

/// The time for which an unfetched answer is kept, regardless of memory use.
const PINNED: Duration = Duration::from_mins(5);

/// The sequence numbers of events with their times, recorded every few seconds, so that adding an event needs no
/// clock.
#[derive(Debug, Default)]
pub(crate) struct EventAges(Mutex<VecDeque<(Instant, u64)>>);

impl EventAges {
    /// Records the sequence number of the next event; called every few seconds.
    pub(crate) fn note(&self, now: Instant, next: u64) {
        let mut ages = self.0.lock();
        // Among the entries that are old enough, only the newest is needed.
        while ages.get(1).is_some_and(|(at, _)| now.saturating_duration_since(*at) >= PINNED) {
            ages.pop_front();
        }
        ages.push_back((now, next));
    }

    /// Returns the first sequence number whose answer is pinned.
    pub(crate) fn pinned_from(&self, now: Instant) -> u64 {
        let ages = self.0.lock();
        let old = ages.iter().rev().find(|(at, _)| now.saturating_duration_since(*at) >= PINNED);
        old.map_or(0, |(_, next)| *next)
    }
}

/// Evicts the oldest events of all sessions until the events fit into their share of the memory budget. Pinned answers
/// are kept.
pub(super) fn evict<'s>(
    all: impl IntoIterator<Item = &'s Streams>,
    kept: &KeptPart,
    pinned_from: u64,
) -> usize {
    if kept.has_room() {
        return 0;
    }
    let all: Vec<&Streams> = all.into_iter().collect();
    let oldest = |at: usize| all[at].oldest(pinned_from).map(|order| Reverse((order, at)));
    let mut heap: BinaryHeap<_> = (0..all.len()).filter_map(oldest).collect();
    let mut gone = 0;
    while !kept.has_room()
        && let Some(Reverse((_, at))) = heap.pop()
    {
        all[at].drop_oldest(pinned_from);
        gone += 1;
        heap.extend(oldest(at));
    }
    gone
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use config::Limits;
    use tokio::time::Instant as Deadline;

    use super::*;
    use crate::session::streams::STANDING;

    fn kept(total: usize) -> &'static KeptPart {
        let kept: &'static KeptPart = Box::leak(Box::new(KeptPart::unlimited()));
        kept.set_total(total);
        kept
    }

    fn message(bytes: usize) -> Bytes {
        Bytes::from(vec![b'1'; bytes])
    }

    #[tokio::test]
    async fn the_oldest_events_of_all_sessions_go_and_no_pinned_answer() {
        let kept = kept(1000);
        let streams = [(); 2].map(|()| Streams::counted(&Limits::default(), 0, kept));
        let bodies = streams.each_ref().map(|streams| streams.open_standing(false).unwrap());
        let calls = streams.each_ref().map(|streams| streams.open(false, &[]).unwrap());
        let deadline = Deadline::now() + Duration::from_secs(10);
        streams[0].push_answer(calls[0].0, message(100), deadline).await;
        for _ in 0..4 {
            streams[0].push(STANDING, message(100));
            streams[1].push(STANDING, message(100));
        }
        assert_eq!((kept.used(), evict(&streams, kept, 0)), (900, 0), "there is room");
        streams[1].push_answer(calls[1].0, message(200), deadline).await;
        assert_eq!(kept.used(), 1100);
        assert_eq!(evict(&streams, kept, 0), 2);
        assert_eq!(kept.used(), 900);
        // One event of each session is gone: they were the oldest.
        let left = |at: usize| streams[at].oldest(0);
        assert_eq!((left(0), left(1)), (Some(3), Some(4)));
        kept.set_total(100);
        assert_eq!(evict(&streams, kept, 0), 6, "all notices");
        assert_eq!(kept.used(), 300, "pinned answers stay, whatever the budget");
        assert_eq!(evict(&streams, kept, 1), 1, "one of them is older than five minutes");
        assert_eq!(kept.used(), 200);
        drop((bodies, calls));
        drop(streams);
        assert_eq!(kept.used(), 0);
    }

    #[test]
    fn answers_are_pinned_for_five_minutes() {
        let (ages, start) = (EventAges::default(), Instant::now());
        assert_eq!(ages.pinned_from(start), 0);
        for minute in 0..20 {
            ages.note(start + Duration::from_mins(1) * minute, u64::from(minute) * 10);
        }
        assert_eq!(ages.pinned_from(start + Duration::from_mins(4)), 0);
        let now = start + Duration::from_mins(20);
        assert_eq!(ages.pinned_from(now), 150);
        assert!(ages.0.lock().len() <= 7);
    }
}
