//! The part of the budget for data that is kept because it may be useful later: events for clients that reconnect,
//! ready pages, catalogues. No operation waits for these bytes. All kept bytes are counted; when there are too
//! many, a task is woken that drops the oldest data. This module must not know what is kept.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use tokio::sync::Notify;

/// The part of the budget for kept data.
#[derive(Debug)]
pub struct KeptPart {
    total: AtomicUsize,
    used: AtomicUsize,
    next: AtomicU64,
    excess: Notify,
}

impl KeptPart {
    /// Creates a part without a limit.
    pub const fn unlimited() -> Self {
        Self {
            total: AtomicUsize::new(usize::MAX),
            used: AtomicUsize::new(0),
            next: AtomicU64::new(0),
            excess: Notify::const_new(),
        }
    }

    /// Sets the number of bytes that may be kept.
    pub fn set_total(&self, total: usize) {
        self.total.store(total, Ordering::Relaxed);
        self.look();
    }

    /// Returns the number of bytes that are kept.
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// Returns the number of bytes that may be kept.
    pub fn total(&self) -> usize {
        self.total.load(Ordering::Relaxed)
    }

    /// Returns true if at least a tenth of the total is free. Data is dropped until this is true, so that drops are
    /// rare.
    pub fn has_room(&self) -> bool {
        self.used() <= self.total.load(Ordering::Relaxed) / 10 * 9
    }

    /// Returns a sequence number for data that is kept now: data with smaller numbers is older.
    pub fn next_order(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Waits until more bytes are kept than allowed. Only one task may wait.
    pub async fn exceeded(&self) {
        while !self.is_exceeded() {
            self.excess.notified().await;
        }
    }

    /// Creates a count that starts at zero.
    pub fn count(&'static self) -> KeptCount {
        KeptCount { part: self, bytes: 0 }
    }

    fn is_exceeded(&self) -> bool {
        self.used() > self.total.load(Ordering::Relaxed)
    }

    fn look(&self) {
        if self.is_exceeded() {
            self.excess.notify_one();
        }
    }
}

/// The number of bytes that one owner keeps. When this value is dropped, the bytes are no longer counted.
#[derive(Debug)]
pub struct KeptCount {
    part: &'static KeptPart,
    bytes: usize,
}

impl KeptCount {
    /// Changes the number of bytes that the owner keeps.
    pub fn set(&mut self, bytes: usize) {
        let before = std::mem::replace(&mut self.bytes, bytes);
        if bytes > before {
            self.part.used.fetch_add(bytes - before, Ordering::Relaxed);
            self.part.look();
        } else if bytes < before {
            self.part.used.fetch_sub(before - bytes, Ordering::Relaxed);
        }
    }

    /// Returns the part that the count belongs to.
    pub fn part(&self) -> &'static KeptPart {
        self.part
    }
}

/// A count in the process's own budget.
impl Default for KeptCount {
    fn default() -> Self {
        super::of_process().kept().count()
    }
}

impl Drop for KeptCount {
    fn drop(&mut self) {
        self.set(0);
    }
}

#[cfg(test)]
mod tests {
    use std::task::Poll;

    use super::*;

    #[tokio::test]
    async fn what_is_kept_counts_until_its_owner_goes_and_too_much_wakes_somebody() {
        let kept: &KeptPart = Box::leak(Box::new(KeptPart::unlimited()));
        kept.set_total(100);
        let (mut one, mut other) = (kept.count(), kept.count());
        let mut exceeded = Box::pin(kept.exceeded());
        assert_eq!(polled(&mut exceeded).await, Poll::Pending);
        one.set(90);
        assert!(kept.has_room());
        assert_eq!(polled(&mut exceeded).await, Poll::Pending);
        other.set(11);
        assert!(!kept.has_room());
        exceeded.await;
        one.set(80);
        assert!(!kept.has_room() && kept.used() == 91, "a tenth is to be free");
        drop(one);
        assert!(kept.has_room() && kept.used() == 11);
        kept.set_total(10);
        kept.exceeded().await;
        assert!(kept.next_order() < kept.next_order());
    }

    async fn polled(future: &mut std::pin::Pin<Box<impl Future<Output = ()>>>) -> Poll<()> {
        std::future::poll_fn(|context| Poll::Ready(future.as_mut().poll(context))).await
    }
}
