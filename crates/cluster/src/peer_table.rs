//! The other replicas that a replica knows, with rules for those that a list of the store does not contain. This module must not know
//! the store.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use parking_lot::Mutex;

use crate::families::REPLICA_LIFE;
use crate::peers::Peer;
use crate::replicas::Replica;

/// The time for which a replica stays known after it was last seen, even if the list that was read then does not contain it: the list
/// may be older.
const OLDER_LIST: Duration = Duration::from_secs(2);

/// The time after the store became usable in which replicas may be missing from its lists because they have not reported yet.
const UNREPORTED: Duration = Duration::from_secs(REPLICA_LIFE.as_secs() + 3);

/// A replica, and the time at which a list contained it last.
#[derive(Debug, Clone)]
struct KnownPeer {
    peer: Peer,
    seen: Instant,
}

/// The other replicas that this replica knows.
#[derive(Default)]
pub(crate) struct PeerTable {
    known: ArcSwap<Vec<KnownPeer>>,
    /// The time at which the store became usable.
    joined: Mutex<Option<Instant>>,
}

impl PeerTable {
    /// Records that the store has become usable: after an outage, or with other data.
    pub(crate) fn joined(&self, now: Instant) {
        *self.joined.lock() = Some(now);
    }

    /// Takes the replicas of a list. Those that are known already keep their connections. A known replica that is not in the list stays
    /// known for a while if the list may be incomplete.
    pub(crate) fn take(&self, alive: &[Replica], me: &Replica, now: Instant) {
        let known = self.known.load();
        let peers: Vec<Peer> = known.iter().map(|known| known.peer.clone()).collect();
        let mut next: Vec<KnownPeer> =
            Peer::among(alive, me, &peers).into_iter().map(|peer| KnownPeer { peer, seen: now }).collect();
        let is_young = self.is_young(now);
        let stays = |missing: &&KnownPeer| {
            let is_listed = next.iter().any(|listed| listed.peer.id == missing.peer.id);
            !is_listed && (is_young || now.saturating_duration_since(missing.seen) < OLDER_LIST)
        };
        let stayed: Vec<KnownPeer> = known.iter().filter(stays).cloned().collect();
        next.extend(stayed);
        self.known.store(Arc::new(next));
    }

    /// Adds a replica that no list has contained yet.
    pub(crate) fn add(&self, peer: Peer, now: Instant) {
        let new = KnownPeer { peer, seen: now };
        self.known.rcu(|known| {
            let others = known.iter().filter(|known| known.peer.id != new.peer.id);
            others.chain([&new]).cloned().collect::<Vec<_>>()
        });
    }

    /// Forgets a replica that the store does not contain and that cannot be reached, unless the store's list may be incomplete.
    pub(crate) fn forget(&self, id: u64, now: Instant) {
        if !self.is_young(now) {
            self.left(id);
        }
    }

    /// Forgets a replica that has said that it ends.
    pub(crate) fn left(&self, id: u64) {
        let rest = |known: &Arc<Vec<KnownPeer>>| -> Vec<KnownPeer> {
            known.iter().filter(|known| known.peer.id != id).cloned().collect()
        };
        self.known.rcu(rest);
    }

    /// Returns the first known replica with a property.
    pub(crate) fn find(&self, is_wanted: impl Fn(&Peer) -> bool) -> Option<Peer> {
        self.known.load().iter().map(|known| &known.peer).find(|peer| is_wanted(peer)).cloned()
    }

    fn is_young(&self, now: Instant) -> bool {
        self.joined.lock().is_none_or(|joined| now.saturating_duration_since(joined) < UNREPORTED)
    }
}

#[cfg(test)]
mod tests {
    use transport::net::PeerPublicKey;

    use super::*;
    use crate::peer_door::PeerDoor;

    fn replica(id: u64) -> Replica {
        let door = PeerDoor::new("192.0.2.7:8810".parse().unwrap(), &PeerPublicKey::from_der(vec![1]));
        Replica {
            id: format!("{id:016x}"),
            name: "one".to_owned(),
            version: "1".to_owned(),
            started_ms: 1,
            sessions: 0,
            door: Some(door),
            format: 1,
        }
    }

    fn has(table: &PeerTable, id: u64) -> bool {
        table.find(|peer| peer.id == id).is_some()
    }

    #[test]
    fn a_replica_that_is_missing_from_a_complete_list_is_forgotten() {
        let (table, start) = (PeerTable::default(), Instant::now());
        table.joined(start);
        let later = start + UNREPORTED;
        table.take(&[replica(1), replica(2), replica(3)], &replica(1), later);
        assert!(has(&table, 2) && has(&table, 3) && !has(&table, 1), "the replica itself is no peer");
        table.take(&[replica(1), replica(3)], &replica(1), later + Duration::from_secs(1));
        assert!(has(&table, 2), "the list may be older than the one with the replica");
        table.take(&[replica(1), replica(3)], &replica(1), later + Duration::from_secs(3));
        assert!(!has(&table, 2) && has(&table, 3));
        table.forget(3, later + Duration::from_secs(3));
        assert!(!has(&table, 3));
        table.add(Peer::of(&replica(4)).unwrap(), later + Duration::from_secs(3));
        table.take(&[replica(1)], &replica(1), later + Duration::from_secs(4));
        assert!(has(&table, 4), "the list was read before the replica reported");
    }

    #[test]
    fn replicas_stay_known_until_they_had_time_to_report_to_a_store_that_came_back() {
        let (table, start) = (PeerTable::default(), Instant::now());
        table.joined(start);
        table.take(&[replica(1), replica(2)], &replica(1), start);
        // The store was away for a minute, and comes back empty.
        let back = start + Duration::from_mins(1);
        table.joined(back);
        table.take(&[replica(1)], &replica(1), back + Duration::from_secs(5));
        table.forget(2, back + Duration::from_secs(6));
        assert!(has(&table, 2));
        table.left(3);
        assert!(has(&table, 2));
        table.take(&[replica(1), replica(2)], &replica(1), back + Duration::from_secs(7));
        table.left(2);
        assert!(!has(&table, 2), "it has said so");
        table.take(&[replica(1), replica(2)], &replica(1), back + Duration::from_secs(7));
        table.take(&[replica(1)], &replica(1), back + UNREPORTED);
        assert!(!has(&table, 2));
    }
}
