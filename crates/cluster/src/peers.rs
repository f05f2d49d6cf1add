//! Requests that a replica passes on to another replica, because only the other one can answer them: how the other is found, and
//! the note by which it recognizes such a request. This module must not know HTTP, or why a request is passed on.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};
use transport::net::{PeerPublicKey, Trust};

use crate::peer_door::{from_hex, to_hex};
use crate::replicas::Replica;
use crate::sealed::SealedValues;

/// The number of bits in a replica's short number.
pub const NUMBER_BITS: u32 = 20;

/// The maximum age of a note, in milliseconds. It includes the maximum difference between the clocks of two machines.
const NOTE_LIFE_MS: u64 = 60_000;

/// A replica to which requests can be passed on.
#[derive(Debug, Clone)]
pub struct Peer {
    /// The number of its process.
    pub id: u64,
    /// Its name, for messages.
    pub name: String,
    /// The address at which it listens for the other replicas.
    pub address: SocketAddr,
    /// The key that it proves there.
    key: PeerPublicKey,
    /// The settings for connections to it. Requests share connections if they share these settings.
    pub trust: Trust,
}

/// Returns the short number of a process, which ids of questions and events carry.
pub fn short_number(id: u64) -> u32 {
    u32::try_from(id & ((1 << NUMBER_BITS) - 1)).unwrap_or(0)
}

impl Peer {
    /// Returns the address and the key of a replica; `None` if it accepts no requests of other replicas.
    pub(crate) fn of(replica: &Replica) -> Option<Self> {
        let door = replica.door.as_ref()?;
        let key = door.key()?;
        Some(Self {
            id: u64::from_str_radix(&replica.id, 16).ok()?,
            name: replica.name.clone(),
            address: door.address,
            trust: Trust::of_peer(key.clone()),
            key,
        })
    }

    /// Returns the other replicas to which requests can be passed on. Those that are `known` already keep their connections.
    pub(crate) fn among(replicas: &[Replica], me: &Replica, known: &[Self]) -> Vec<Self> {
        let others = replicas.iter().filter(|replica| replica.id != me.id).filter_map(Self::of);
        let kept = |new: Self| known.iter().find(|peer| peer.is_like(&new)).cloned().unwrap_or(new);
        others.map(kept).collect()
    }

    fn is_like(&self, other: &Self) -> bool {
        (self.id, self.address, &self.key) == (other.id, other.address, &other.key)
    }
}

/// The facts about a request that the replica where it arrived passes on along with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassedOn {
    /// The address from which the request came.
    pub client: SocketAddr,
    /// The host to which the request was addressed.
    pub host: Option<String>,
}

/// A note, as it is sealed.
#[derive(Serialize, Deserialize)]
struct SealedNote {
    at_ms: u64,
    request: PassedOn,
}

/// Returns the name to which a note for a replica is bound.
fn bound(to: u64) -> String {
    format!("passed on to {to:016x}")
}

/// Seals the note for a request that is passed on to the process `to`; `None` if the random number generator fails.
pub(crate) fn note(values: &SealedValues, to: u64, request: PassedOn, now_ms: u64) -> Option<String> {
    let sealed = values.write(&bound(to), &SealedNote { at_ms: now_ms, request })?;
    Some(to_hex(&sealed))
}

/// Opens a note for the process `me`; `None` if no replica of the cluster has written it, or not recently.
pub(crate) fn opened(values: &SealedValues, me: u64, note: &str, now_ms: u64) -> Option<PassedOn> {
    let note: SealedNote = values.read(&bound(me), &from_hex(note)?)?;
    (now_ms.abs_diff(note.at_ms) <= NOTE_LIFE_MS).then_some(note.request)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peer_door::PeerDoor;
    use crate::testing::{cluster, stays_readable};

    const NOW: u64 = 1_700_000_000_000;

    fn request() -> PassedOn {
        PassedOn { client: "192.0.2.1:4000".parse().unwrap(), host: Some("gateway.example".to_owned()) }
    }

    #[test]
    fn a_note_is_for_one_replica_and_must_be_recent() {
        let (_, values) = cluster();
        let sealed = note(&values, 7, request(), NOW).unwrap();
        assert_eq!(opened(&values, 7, &sealed, NOW), Some(request()));
        assert_eq!(opened(&values, 8, &sealed, NOW), None, "for another replica");
        assert_eq!(opened(&values, 7, &sealed[2..], NOW), None);
        assert_eq!(opened(&values, 7, "zz", NOW), None);
        for (now, is_read) in
            [(NOW - 50_000, true), (NOW + 60_000, true), (NOW + 61_000, false), (NOW - 61_000, false)]
        {
            assert_eq!(opened(&values, 7, &sealed, now).is_some(), is_read);
        }
    }

    #[test]
    fn notes_of_released_versions_stay_readable() {
        stays_readable::<SealedNote>(
            r#"{"at_ms":1,"request":{"client":"192.0.2.1:4000","host":"gateway.example"}}"#,
        );
    }

    #[test]
    fn a_replica_with_a_door_is_a_peer() {
        let address = "192.0.2.7:8810".parse().unwrap();
        let key = PeerPublicKey::from_der(vec![0, 1, 254, 255]);
        let mut replica = Replica {
            id: "00000000000000aa".to_owned(),
            name: "one".to_owned(),
            version: "1".to_owned(),
            started_ms: 1,
            sessions: 0,
            door: Some(PeerDoor::new(address, &key)),
            format: 1,
        };
        let peer = Peer::of(&replica).unwrap();
        assert_eq!((peer.id, peer.name.as_str(), peer.address, &peer.key), (0xaa, "one", address, &key));
        let me = Replica { id: "00000000000000bb".to_owned(), ..replica.clone() };
        let known = Peer::among(&[replica.clone(), me.clone()], &me, std::slice::from_ref(&peer));
        assert!(known.len() == 1 && known[0].trust == peer.trust, "connections are kept");
        let again = Replica { id: "00000000000000cc".to_owned(), ..replica.clone() };
        let known = Peer::among(&[again], &me, std::slice::from_ref(&peer));
        assert!(known.len() == 1 && known[0].trust != peer.trust, "another process");
        replica.door = None;
        assert!(Peer::of(&replica).is_none());
    }
}
