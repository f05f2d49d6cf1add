//! The entries of the record, passed on to readers as they arrive. Readers never delay a call. If more entries
//! arrive than a person can read, only some are passed on, and the rest are counted. This module must not know what
//! is done with an entry.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use store::audit::{AuditEntry, CallOutcome};
use tokio::sync::broadcast::{Receiver, Sender, channel};

use super::sink::AuditSink;

/// The maximum number of entries by which a reader may lag.
const LAG: usize = 1024;

/// The length of a time window of [`Pace`], in milliseconds.
const WINDOW: u64 = 250;

/// The maximum number of successful calls that are passed on within a window, and also the maximum number of other
/// entries.
const PER_WINDOW: u64 = 5;

/// The entries that a reader receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchedShare {
    /// All entries, for a program that counts them.
    All,
    /// Only as many entries as a person can read.
    Readable,
}

/// The readers of entries.
#[derive(Default)]
pub(super) struct Watchers {
    of_all: ReaderGroup,
    of_readable: ReaderGroup,
    calls: AtomicU64,
    errors: AtomicU64,
    left_out: AtomicU64,
    pace: Pace,
    pace_of_failures: Pace,
}

/// The readers that get the same entries.
#[derive(Default)]
struct ReaderGroup {
    /// The channel to the readers; it is created for the first one.
    sender: OnceLock<Sender<Arc<AuditEntry>>>,
    readers: AtomicUsize,
}

impl ReaderGroup {
    /// Returns the channel, if there are any readers.
    fn channel(&self) -> Option<&Sender<Arc<AuditEntry>>> {
        self.sender.get().filter(|_| self.readers.load(Ordering::Relaxed) > 0)
    }
}

/// The numbers of calls since the start, counted only while somebody watched.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WatchedCounts {
    /// The number of calls.
    pub calls: u64,
    /// The number of calls that failed.
    pub errors: u64,
    /// The number of calls that were not passed on to readers.
    pub left_out: u64,
}

/// The number of entries that were passed on in the present window.
#[derive(Default)]
struct Pace {
    start: OnceLock<Instant>,
    /// The number of the window, times 2³², plus the number of entries.
    used: AtomicU64,
}

impl Pace {
    /// Counts an entry in the present window. Returns false, and counts nothing, if the window is full.
    fn admits(&self, now: Instant) -> bool {
        let start = *self.start.get_or_init(|| now);
        let since = u64::try_from(now.saturating_duration_since(start).as_millis()).unwrap_or(u64::MAX);
        let window = (since / WINDOW) << 32;
        let one_more = |used: u64| {
            let used = used.max(window);
            (used & u64::from(u32::MAX) < PER_WINDOW).then_some(used + 1)
        };
        self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).is_ok()
    }
}

impl Watchers {
    /// Counts an entry, and passes it to readers without its arguments, because these may contain secrets.
    pub(super) fn tell(&self, entry: &AuditEntry, now: Instant) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        if entry.outcome == CallOutcome::Error {
            self.errors.fetch_add(1, Ordering::Relaxed);
        }
        let pace = if entry.outcome == CallOutcome::Ok { &self.pace } else { &self.pace_of_failures };
        let is_readable = pace.admits(now);
        if !is_readable {
            self.left_out.fetch_add(1, Ordering::Relaxed);
        }
        let channels = [self.of_all.channel(), self.of_readable.channel().filter(|_| is_readable)];
        if channels.iter().all(Option::is_none) {
            return;
        }
        let entry = Arc::new(AuditEntry { arguments: None, ..entry.clone() });
        for channel in channels.into_iter().flatten() {
            // If the last reader has just left, nobody misses the entry.
            let _ = channel.send(entry.clone());
        }
    }

    /// Returns the numbers of entries.
    pub(super) fn counts(&self) -> WatchedCounts {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        WatchedCounts { calls: read(&self.calls), errors: read(&self.errors), left_out: read(&self.left_out) }
    }

    fn group(&self, share: WatchedShare) -> &ReaderGroup {
        match share {
            WatchedShare::All => &self.of_all,
            WatchedShare::Readable => &self.of_readable,
        }
    }

    /// Adds a reader; returns `None` if there are `most` readers of this kind already.
    pub(super) fn enter(&self, most: usize, share: WatchedShare) -> Option<Receiver<Arc<AuditEntry>>> {
        let group = self.group(share);
        let one_more = |now: usize| (now < most).then_some(now + 1);
        group.readers.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_more).ok()?;
        Some(group.sender.get_or_init(|| channel(LAG).0).subscribe())
    }

    /// Removes a reader; returns true if it was the last one.
    pub(super) fn leave(&self, share: WatchedShare) -> bool {
        self.group(share).readers.fetch_sub(1, Ordering::SeqCst);
        [&self.of_all, &self.of_readable].iter().all(|group| group.readers.load(Ordering::SeqCst) == 0)
    }
}

/// A registered reader; dropping it removes the reader.
pub struct WatchedCalls(pub(super) AuditSink, pub(super) WatchedShare);

impl Drop for WatchedCalls {
    fn drop(&mut self) {
        self.0.unwatch(self.1);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::tests::entry;
    use super::*;

    #[test]
    fn readers_get_entries_without_arguments_even_if_nothing_is_recorded() {
        let sink = AuditSink::off();
        let (watched, mut entries) = sink.watch(2, WatchedShare::Readable).unwrap();
        assert!(sink.is_on() && !sink.takes_arguments());
        sink.record(AuditEntry { arguments: Some("{\"password\":1}".to_owned()), ..entry(7) });
        let got = entries.try_recv().unwrap();
        assert_eq!((got.tool.as_deref(), &got.arguments), (Some("tool-7"), &None));
        drop(watched);
        assert!(!sink.is_on());
    }

    #[test]
    fn readers_are_few() {
        let sink = AuditSink::off();
        let (first, _entries) = sink.watch(2, WatchedShare::Readable).unwrap();
        let second = sink.watch(2, WatchedShare::Readable).unwrap();
        assert!(sink.watch(2, WatchedShare::Readable).is_none());
        drop(second);
        assert!(sink.is_on(), "the first one still watches");
        drop(first);
    }

    #[test]
    fn a_flood_of_calls_reaches_readers_in_part_and_hides_no_failure() {
        let watchers = Watchers::default();
        let mut entries = watchers.enter(1, WatchedShare::Readable).unwrap();
        let start = Instant::now();
        for number in 0..1000 {
            watchers.tell(&entry(number), start);
        }
        watchers.tell(&AuditEntry { outcome: CallOutcome::Error, ..entry(1000) }, start);
        watchers.tell(&entry(1001), start + Duration::from_millis(WINDOW));
        let mut got = Vec::new();
        while let Ok(entry) = entries.try_recv() {
            got.push(entry.tool.as_deref().unwrap_or_default().to_owned());
        }
        let shown = usize::try_from(PER_WINDOW).unwrap();
        assert_eq!(got.len(), shown + 2, "{got:?}");
        assert_eq!(got[shown..], ["tool-1000", "tool-1001"]);
        let mut all = watchers.enter(1, WatchedShare::All).unwrap();
        for number in 0..100 {
            watchers.tell(&entry(number), start);
        }
        let count = std::iter::from_fn(|| all.try_recv().ok()).count();
        assert_eq!(count, 100, "a program gets all of them");
        let wanted = WatchedCounts { calls: 1102, errors: 1, left_out: 1100 - 2 * PER_WINDOW + 1 };
        assert_eq!(watchers.counts(), wanted);
    }
}
