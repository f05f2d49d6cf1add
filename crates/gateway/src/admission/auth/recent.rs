//! Recent results for credentials, limited in number and age; a look-up holds one lock briefly. This module must not
//! know what is remembered.

use std::collections::HashMap;
use std::time::Duration;

use parking_lot::Mutex;

use super::digest::{ByDigest, Digest};

/// The number of parts. Each part has its own lock, so threads seldom contend for one.
const PARTS: usize = 16;

/// A map from digests to values, each with its own expiry.
pub(super) struct Recent<V> {
    parts: [Mutex<Generations<V>>; PARTS],
    /// The maximum number of entries in one generation of one part.
    room: usize,
}

/// Two generations of entries. An old entry is dropped unless it is read before the young generation is full.
struct Generations<V> {
    young: HashMap<Digest, RecentEntry<V>, ByDigest>,
    old: HashMap<Digest, RecentEntry<V>, ByDigest>,
}

struct RecentEntry<V> {
    value: V,
    until: Duration,
}

impl<V: Clone> Recent<V> {
    /// Creates an empty map for at most `most` entries (rounded up to a multiple of 32).
    pub(super) fn new(most: usize) -> Self {
        let part = |_| Mutex::new(Generations { young: HashMap::default(), old: HashMap::default() });
        Self { parts: std::array::from_fn(part), room: most.div_ceil(2 * PARTS).max(1) }
    }

    /// Returns the entry of `digest`, if it is valid at `now`.
    pub(super) fn get(&self, digest: &Digest, now: Duration) -> Option<V> {
        self.get_with_end(digest, now).map(|(value, _)| value)
    }

    /// Returns the entry of `digest`, if it is valid at `now`, with the time at which it expires.
    pub(super) fn get_with_end(&self, digest: &Digest, now: Duration) -> Option<(V, Duration)> {
        let mut part = self.part(digest).lock();
        if let Some(entry) = part.young.get(digest) {
            return (now < entry.until).then(|| (entry.value.clone(), entry.until));
        }
        let entry = part.old.remove(digest).filter(|entry| now < entry.until)?;
        let found = (entry.value.clone(), entry.until);
        part.put(*digest, entry, self.room);
        Some(found)
    }

    /// Returns the latest entry of `digest`, even if it has expired, unless it was already dropped.
    pub(super) fn last(&self, digest: &Digest) -> Option<V> {
        let part = self.part(digest).lock();
        part.young.get(digest).or_else(|| part.old.get(digest)).map(|entry| entry.value.clone())
    }

    /// Remembers `value` for `digest` until `until`.
    pub(super) fn put(&self, digest: Digest, value: V, until: Duration) {
        self.part(&digest).lock().put(digest, RecentEntry { value, until }, self.room);
    }

    /// Forgets everything.
    pub(super) fn clear(&self) {
        for part in &self.parts {
            let mut part = part.lock();
            part.young.clear();
            part.old.clear();
        }
    }

    fn part(&self, digest: &Digest) -> &Mutex<Generations<V>> {
        &self.parts[digest.part() % PARTS]
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.parts.iter().map(|part| part.lock()).map(|part| part.young.len() + part.old.len()).sum()
    }
}

impl<V> Generations<V> {
    fn put(&mut self, digest: Digest, entry: RecentEntry<V>, room: usize) {
        if self.young.len() >= room && !self.young.contains_key(&digest) {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(digest, entry);
    }
}

impl<V> std::fmt::Debug for Recent<V> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Recent")
    }
}

#[cfg(test)]
mod tests {
    use super::super::digest::Digests;
    use super::*;

    const fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn an_entry_lives_until_its_time_and_not_at_it() {
        let (digests, recent) = (Digests::new().unwrap(), Recent::new(8));
        let digest = digests.of(b"a");
        recent.put(digest, 1, at(10));
        assert_eq!(recent.get(&digest, at(9)), Some(1));
        assert_eq!(recent.get(&digest, at(10)), None);
        assert_eq!(recent.get(&digests.of(b"b"), at(0)), None);
        assert_eq!(recent.last(&digest), Some(1));
        recent.put(digest, 2, at(20));
        assert_eq!(recent.get_with_end(&digest, at(10)), Some((2, at(20))));
    }

    #[test]
    fn a_flood_of_others_is_bounded_and_what_is_used_stays() {
        let (digests, recent) = (Digests::new().unwrap(), Recent::new(256));
        let used = digests.of(b"used");
        recent.put(used, 0, at(10));
        for other in 0..100_000_u32 {
            recent.put(digests.of(&other.to_be_bytes()), other, at(10));
            assert_eq!(recent.get(&used, at(1)), Some(0), "after {other} others");
        }
        assert!(recent.len() <= 256, "{}", recent.len());
    }
}
