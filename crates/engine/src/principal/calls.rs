//! The number of one principal's calls in flight. This module must not know what a call is.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The calls in flight of one principal or one session; exact across threads. Clones share the count.
#[derive(Debug, Clone, Default)]
pub struct Calls(Arc<AtomicUsize>);

/// A call in flight, which is counted until this value is dropped.
#[derive(Debug)]
pub struct CallPlace(Arc<AtomicUsize>);

impl Calls {
    /// Counts one more call if fewer than `most` are in flight.
    pub fn take(&self, most: usize) -> Option<CallPlace> {
        let more = |now: usize| (now < most).then_some(now + 1);
        let taken = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        taken.is_ok().then(|| CallPlace(Arc::clone(&self.0)))
    }

    /// Returns true if no clone exists and nothing is in flight.
    pub fn is_idle(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }
}

/// Two values are always equal: the identity of a principal does not depend on its calls.
impl PartialEq for Calls {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Calls {}

impl Drop for CallPlace {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test, not the engine, has threads")]
    fn places_are_exact_with_many_threads_and_come_back() {
        const MOST: usize = 5;
        let calls = Calls::default();
        let (gate, held) = (std::sync::Barrier::new(16), std::sync::Barrier::new(16));
        let taken: usize = std::thread::scope(|scope| {
            let one = || {
                let calls = calls.clone();
                gate.wait();
                let places: Vec<CallPlace> = (0..3).filter_map(|_| calls.take(MOST)).collect();
                // No permit is returned before all threads have tried.
                held.wait();
                places.len()
            };
            let threads: Vec<_> = (0..16).map(|_| scope.spawn(one)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(taken, MOST);
        assert!(calls.is_idle());
        let place = calls.take(1);
        assert!(place.is_some() && calls.take(1).is_none() && !calls.is_idle());
        drop(place);
        assert!(calls.take(1).is_some());
    }
}
