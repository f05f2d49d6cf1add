//! Values that expire: answers of sites, each kept for a limited time. Their number is limited, too. This module
//! must not know their meaning.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The maximum number of entries. Dropping an entry early does no harm: a site is asked once more.
const MOST: usize = 4096;

/// Values that expire.
pub(super) struct ExpiringMap<K, V>(Mutex<HashMap<K, (V, Duration)>>);

impl<K, V> Default for ExpiringMap<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Hash + Eq, V: Clone> ExpiringMap<K, V> {
    /// The value of a key, unless it has expired.
    pub(super) fn get<Q: Hash + Eq + ?Sized>(&self, key: &Q, now: Duration) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(key).filter(|(_, until)| *until > now).map(|(value, _)| value.clone())
    }

    /// Sets the value of a key until a time. If the map is full, expired entries are removed; if there are none, all
    /// entries are removed.
    pub(super) fn put(&self, key: K, value: V, now: Duration, until: Duration) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MOST && !all.contains_key(&key) {
            all.retain(|_, (_, until)| *until > now);
            if all.len() >= MOST {
                all.clear();
            }
        }
        all.insert(key, (value, until));
    }

    /// Removes a key.
    pub(super) fn remove(&self, key: &K) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_kept_for_a_time_and_so_many() {
        let map = ExpiringMap::default();
        let (now, later) = (Duration::from_secs(7), Duration::from_secs(9));
        map.put("one".to_owned(), 1, now, later);
        assert_eq!((map.get("one", now), map.get("one", later), map.get("two", now)), (Some(1), None, None));
        map.remove(&"one".to_owned());
        assert_eq!(map.get("one", now), None);
        for number in 0..MOST {
            map.put(number.to_string(), 2, now, if number == 5 { later * 2 } else { later });
        }
        map.put("new".to_owned(), 3, later, later * 2);
        assert_eq!(
            (map.get("new", later), map.get("5", later), map.0.lock().unwrap().len()),
            (Some(3), Some(2), 2)
        );
        for number in 0..3 * MOST {
            map.put(number.to_string(), 4, now, later);
            assert!(map.0.lock().unwrap().len() <= MOST);
        }
    }
}
