//! The entries of the record as they arrive, for readers that watch. Readers never delay a call: a reader that is too slow
//! loses entries. This module must not know what is done with an entry.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use store::audit::AuditEntry;
use tokio::sync::broadcast::{Receiver, Sender, channel};

use super::sink::AuditSink;

/// The number of entries that a reader may lag behind.
const LAG: usize = 1024;

/// The readers of entries.
#[derive(Default)]
pub(super) struct Watchers {
    /// The channel to the readers; it is created for the first one.
    sender: OnceLock<Sender<Arc<AuditEntry>>>,
    readers: AtomicUsize,
}

impl Watchers {
    /// Passes an entry to all readers, without the arguments, because these may contain secrets.
    pub(super) fn tell(&self, entry: &AuditEntry) {
        let Some(sender) = self.sender.get() else { return };
        let entry = AuditEntry { arguments: None, ..entry.clone() };
        // If the last reader has just left, nobody misses the entry.
        let _ = sender.send(Arc::new(entry));
    }

    /// Adds a reader; returns `None` if there are `most` readers already.
    pub(super) fn enter(&self, most: usize) -> Option<Receiver<Arc<AuditEntry>>> {
        let one_more = |now: usize| (now < most).then_some(now + 1);
        self.readers.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_more).ok()?;
        Some(self.sender.get_or_init(|| channel(LAG).0).subscribe())
    }

    /// Removes a reader; returns true if it was the last one.
    pub(super) fn leave(&self) -> bool {
        self.readers.fetch_sub(1, Ordering::SeqCst) == 1
    }
}

/// A reader's place among the readers; dropping it removes the reader.
pub(crate) struct WatchedCalls(pub(super) AuditSink);

impl Drop for WatchedCalls {
    fn drop(&mut self) {
        self.0.unwatch();
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::entry;
    use super::*;

    #[test]
    fn readers_get_entries_without_arguments_even_if_nothing_is_recorded() {
        let sink = AuditSink::off();
        let (watched, mut entries) = sink.watch(2).unwrap();
        assert!(sink.is_on() && !sink.takes_arguments());
        sink.record(AuditEntry { arguments: Some("{\"password\":1}".to_owned()), ..entry(7) });
        let got = entries.try_recv().unwrap();
        assert_eq!((got.tool.as_deref(), &got.arguments), (Some("tool-7"), &None));
        drop(watched);
        assert!(!sink.is_on());
    }

    #[test]
    fn readers_are_few_and_a_slow_one_learns_what_it_lost() {
        let sink = AuditSink::off();
        let (first, mut entries) = sink.watch(2).unwrap();
        let second = sink.watch(2).unwrap();
        assert!(sink.watch(2).is_none());
        drop(second);
        assert!(sink.is_on(), "the first one still watches");
        for number in 0..LAG + 10 {
            sink.record(entry(number));
        }
        let lost = entries.try_recv().unwrap_err();
        assert!(matches!(lost, tokio::sync::broadcast::error::TryRecvError::Lagged(10)), "{lost}");
        drop(first);
    }
}
