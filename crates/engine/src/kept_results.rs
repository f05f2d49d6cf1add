//! Results that are kept for later requests, in bounded memory. The number and the total size of the results are limited, one
//! owner may use at most a quarter of both, and each result expires. If there is no room, the oldest results are dropped. This
//! module must not know what a result is for, or read a clock.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::Hash;
use std::time::Instant;

/// The divisor for one owner's share: a quarter of the whole.
const SHARE: usize = 4;

/// The memory that an entry needs besides its value, in bytes. It is counted, so that many tiny values also reach the limit.
const OVERHEAD: usize = 256;

/// The limits of all kept results together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeptResultLimits {
    /// The maximum number of results.
    pub count: usize,
    /// The maximum size of all results, in bytes.
    pub bytes: usize,
}

/// A kept result.
#[derive(Debug)]
struct KeptResult<K, O, V> {
    key: K,
    /// The owner; `None` if the result counts against no owner's share.
    owner: Option<O>,
    bytes: usize,
    until: Instant,
    value: V,
}

/// The results of one owner.
#[derive(Debug, Default)]
struct OwnedResults {
    bytes: usize,
    numbers: BTreeSet<u64>,
}

/// Results by their keys.
#[derive(Debug)]
pub struct KeptResults<K, O, V> {
    limits: KeptResultLimits,
    bytes: usize,
    next: u64,
    /// The results in the order in which they were kept.
    results: BTreeMap<u64, KeptResult<K, O, V>>,
    by_key: HashMap<K, u64>,
    by_owner: HashMap<O, OwnedResults>,
    by_end: BTreeSet<(Instant, u64)>,
}

impl<K: Clone + Eq + Hash, O: Clone + Eq + Hash, V> KeptResults<K, O, V> {
    /// Creates an empty collection.
    pub fn new(limits: KeptResultLimits) -> Self {
        Self {
            limits,
            bytes: 0,
            next: 0,
            results: BTreeMap::new(),
            by_key: HashMap::new(),
            by_owner: HashMap::new(),
            by_end: BTreeSet::new(),
        }
    }

    /// Changes the limits, and drops the oldest results until the rest is within them.
    pub fn set_limits(&mut self, limits: KeptResultLimits) {
        self.limits = limits;
        while self.results.len() > limits.count || self.bytes > limits.bytes {
            self.drop_oldest();
        }
    }

    /// The total size of the kept results, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Keeps a result of `size` bytes until the time `until`, and replaces a result with the same key. If the owner's share is
    /// used up, the owner's oldest results are dropped; if there is still no room, the oldest of all results are dropped.
    /// Returns `false` if the result alone is too large.
    pub fn keep(&mut self, key: K, owner: Option<O>, (size, until): (usize, Instant), value: V) -> bool {
        let bytes = size.saturating_add(OVERHEAD);
        let limits = self.limits;
        let share = KeptResultLimits { count: (limits.count / SHARE).max(1), bytes: limits.bytes / SHARE };
        let most = if owner.is_some() { share.bytes } else { limits.bytes };
        self.remove(&key);
        if bytes > most || limits.count == 0 {
            return false;
        }
        while let Some(own) = owner.as_ref().and_then(|owner| self.by_owner.get(owner))
            && (own.numbers.len() >= share.count || own.bytes + bytes > share.bytes)
            && let Some(oldest) = own.numbers.first().copied()
        {
            self.take(oldest);
        }
        while self.results.len() >= limits.count || self.bytes + bytes > limits.bytes {
            self.drop_oldest();
        }
        let number = self.next;
        self.next += 1;
        self.bytes += bytes;
        self.by_key.insert(key.clone(), number);
        self.by_end.insert((until, number));
        if let Some(owner) = &owner {
            let own = self.by_owner.entry(owner.clone()).or_default();
            own.bytes += bytes;
            own.numbers.insert(number);
        }
        self.results.insert(number, KeptResult { key, owner, bytes, until, value });
        true
    }

    /// The result with this key, if it has not expired.
    pub fn find<Q>(&self, key: &Q, now: Instant) -> Option<&V>
    where
        K: std::borrow::Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let found = self.results.get(self.by_key.get(key)?)?;
        (found.until > now).then_some(&found.value)
    }

    /// Drops expired results.
    pub fn sweep(&mut self, now: Instant) {
        while let Some((until, number)) = self.by_end.first().copied()
            && until <= now
        {
            self.take(number);
        }
    }

    /// Drops the result that has been kept longest; returns `false` if there is none.
    pub fn drop_oldest(&mut self) -> bool {
        let oldest = self.results.keys().next().copied();
        oldest.is_some_and(|number| {
            self.take(number);
            true
        })
    }

    fn remove(&mut self, key: &K) {
        if let Some(number) = self.by_key.get(key).copied() {
            self.take(number);
        }
    }

    fn take(&mut self, number: u64) {
        let Some(gone) = self.results.remove(&number) else { return };
        self.bytes -= gone.bytes;
        self.by_key.remove(&gone.key);
        self.by_end.remove(&(gone.until, number));
        let Some(owner) = gone.owner else { return };
        if let Some(own) = self.by_owner.get_mut(&owner) {
            own.bytes -= gone.bytes;
            own.numbers.remove(&number);
            if own.numbers.is_empty() {
                self.by_owner.remove(&owner);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    type Results = KeptResults<u32, u8, u32>;

    #[expect(clippy::disallowed_methods, reason = "a test has to begin at some time")]
    fn start() -> Instant {
        Instant::now()
    }

    fn results(count: usize, bytes: usize) -> Results {
        KeptResults::new(KeptResultLimits { count, bytes: bytes * (OVERHEAD + 100) })
    }

    #[test]
    fn a_result_ends_with_its_time() {
        let (mut kept, now) = (results(8, 8), start());
        assert!(kept.keep(1, None, (100, now + Duration::from_secs(2)), 11));
        assert!(kept.keep(2, None, (100, now + Duration::from_secs(1)), 12));
        assert_eq!((kept.find(&1, now), kept.find(&3, now)), (Some(&11), None));
        let later = now + Duration::from_secs(1);
        assert_eq!((kept.find(&1, later), kept.find(&2, later)), (Some(&11), None), "even before a sweep");
        kept.sweep(later);
        assert_eq!(kept.bytes(), OVERHEAD + 100);
    }

    #[test]
    fn an_owner_displaces_its_own_results_first() {
        let (mut kept, now) = (results(8, 8), start());
        let until = now + Duration::from_secs(9);
        assert!(kept.keep(1, Some(7), (100, until), 1));
        for number in 2..6 {
            assert!(kept.keep(number, Some(8), (100, until), number));
        }
        let left: Vec<u32> = (1..6).filter(|key| kept.find(key, now).is_some()).collect();
        assert_eq!(left, [1, 4, 5], "a quarter of eight");
        assert!(!kept.keep(9, Some(8), (1000, until), 9), "larger than the share");
        assert!(kept.keep(9, None, (1000, until), 9), "not larger than the whole");
    }

    #[test]
    fn the_oldest_make_way_and_a_key_has_one_result() {
        let (mut kept, now) = (results(3, 100), start());
        let until = now + Duration::from_secs(9);
        for number in 1..5 {
            kept.keep(number, None, (100, until), number);
        }
        assert_eq!(kept.find(&1, now), None);
        kept.keep(4, None, (200, until), 44);
        assert_eq!((kept.find(&4, now), kept.bytes()), (Some(&44), 3 * OVERHEAD + 400));
        kept.set_limits(KeptResultLimits { count: 1, bytes: 100_000 });
        assert_eq!((kept.find(&3, now), kept.find(&4, now)), (None, Some(&44)));
        kept.set_limits(KeptResultLimits { count: 0, bytes: 100_000 });
        assert!(!kept.keep(5, None, (1, until), 5) && kept.bytes() == 0 && !kept.drop_oldest());
    }

    proptest! {
        #[test]
        fn counts_are_exact_and_within_limits(
            steps in prop::collection::vec((0_u32..12, prop::option::of(0_u8..3), 0_usize..900, 1_u64..20), 0..80)
        ) {
            let (mut kept, now) = (results(6, 6), start());
            for (step, (key, owner, size, seconds)) in steps.into_iter().enumerate() {
                let now = now + Duration::from_secs(step as u64);
                kept.keep(key, owner, (size, now + Duration::from_secs(seconds)), key);
                if step % 3 == 0 {
                    kept.sweep(now);
                }
                let sum: usize = kept.results.values().map(|one| one.bytes).sum();
                prop_assert!(sum == kept.bytes && sum <= kept.limits.bytes && kept.results.len() <= 6);
                prop_assert!(kept.by_key.len() == kept.results.len() && kept.by_end.len() == kept.results.len());
                for own in kept.by_owner.values() {
                    let sum: usize = own.numbers.iter().map(|number| kept.results[number].bytes).sum();
                    prop_assert!(sum == own.bytes && sum <= kept.limits.bytes / SHARE && !own.numbers.is_empty());
                }
            }
        }
    }
}
