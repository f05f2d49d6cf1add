//! The replicas of a cluster: each writes a description of itself into the store every few seconds. This module must
//! not know what a replica shares.

use serde::{Deserialize, Serialize};

use crate::families::{REPLICA_LIFE, StoreKeys};
use crate::formats;
use crate::peer_door::PeerDoor;
use crate::resp::{StoreCommand, StoreReply};
use crate::sealed::SealedValues;

/// The time without a heartbeat after which a replica's id is deleted, in milliseconds. It is longer than the
/// maximum difference between the clocks of two machines.
const FORGOTTEN_MS: u64 = 120_000;

/// A replica, as it describes itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replica {
    /// A random number in hexadecimal digits, new with each start of the process.
    pub id: String,
    /// The name from the configuration, or the name of the machine.
    pub name: String,
    /// The version of Dragoman.
    pub version: String,
    /// The time of the start, in milliseconds since 1970.
    pub started_ms: u64,
    /// The number of open sessions in its memory.
    pub sessions: usize,
    /// The address at which it accepts requests of other replicas, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub door: Option<PeerDoor>,
    /// The format of the data that it shares.
    #[serde(default = "formats::first")]
    pub(crate) format: u32,
}

/// Returns the commands of a heartbeat; the third reply contains the ids of all replicas.
pub(crate) fn beat(
    keys: &StoreKeys,
    values: &SealedValues,
    me: &Replica,
    now_ms: u64,
) -> Option<[StoreCommand; 4]> {
    let own = keys.replica(&me.id);
    let sealed = values.write(&own, me)?;
    Some([
        StoreCommand::new("SET").arg(&own).arg(sealed).arg("PX").number(REPLICA_LIFE.as_millis()),
        StoreCommand::new("ZADD").arg(keys.replicas()).number(now_ms).arg(&me.id),
        list(keys),
        StoreCommand::new("ZREMRANGEBYSCORE")
            .arg(keys.replicas())
            .arg("-inf")
            .number(now_ms.saturating_sub(FORGOTTEN_MS)),
    ])
}

/// Returns the command that lists the ids of all replicas.
pub(crate) fn list(keys: &StoreKeys) -> StoreCommand {
    StoreCommand::new("ZRANGE").arg(keys.replicas()).arg("0").arg("999")
}

/// Returns the ids of replicas in a reply. Texts that cannot be ids are left out.
pub(crate) fn ids(reply: &StoreReply) -> Vec<String> {
    let is_id = |id: &&str| id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    reply.list().iter().filter_map(StoreReply::text).filter(is_id).map(str::to_owned).collect()
}

/// Returns the command that reads these replicas.
pub(crate) fn read(keys: &StoreKeys, ids: &[String]) -> StoreCommand {
    ids.iter().fold(StoreCommand::new("MGET"), |command, id| command.arg(keys.replica(id)))
}

/// Reads the replicas that are alive, in the order of their names.
pub(crate) fn alive(
    keys: &StoreKeys,
    values: &SealedValues,
    ids: &[String],
    reply: &StoreReply,
) -> Vec<Replica> {
    let read = ids.iter().zip(reply.list()).filter_map(|(id, sealed)| {
        let replica: Replica = values.read(&keys.replica(id), sealed.bytes()?)?;
        (replica.id == *id).then_some(replica)
    });
    let mut replicas: Vec<_> = read.collect();
    replicas.sort_by(|one, other| (&one.name, &one.id).cmp(&(&other.name, &other.id)));
    replicas
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cluster, parts, text};

    fn replica(id: &str, name: &str) -> Replica {
        let (id, name) = (id.to_owned(), name.to_owned());
        Replica { id, name, version: "1".to_owned(), started_ms: 1, sessions: 2, door: None, format: 1 }
    }

    #[test]
    fn a_beat_is_read_by_others() {
        let (keys, values) = cluster();
        let me = replica("00000000000000aa", "one");
        let beat = beat(&keys, &values, &me, 500_000).unwrap().map(|command| parts(&command));
        assert_eq!(beat[0][..2], ["SET", "test:replica:00000000000000aa"]);
        assert_eq!(beat[0][3..], ["PX", "10000"]);
        assert_eq!(beat[1], ["ZADD", "test:replicas", "500000", "00000000000000aa"]);
        assert_eq!(beat[2], ["ZRANGE", "test:replicas", "0", "999"]);
        assert_eq!(beat[3], ["ZREMRANGEBYSCORE", "test:replicas", "-inf", "380000"]);
        let read = StoreReply::List(vec![text(&beat[0][2])]);
        assert_eq!(alive(&keys, &values, std::slice::from_ref(&me.id), &read), [me]);
    }

    #[test]
    fn texts_that_cannot_be_ids_are_skipped() {
        let ids_of = |texts: &[&str]| ids(&StoreReply::List(texts.iter().map(text).collect()));
        assert_eq!(
            ids_of(&["00000000000000aa", "../../etc/passwd", "", "zz00000000000000", "00000000000000aab"]),
            ["00000000000000aa"]
        );
        assert_eq!(ids(&StoreReply::Nil), [""; 0]);
    }

    #[test]
    fn only_living_members_count_in_the_order_of_their_names() {
        let (keys, values) = cluster();
        let all = ["00000000000000aa", "00000000000000bb", "00000000000000cc", "00000000000000dd"];
        let ids = all.map(str::to_owned);
        let sealed =
            |place: &str, replica: &Replica| text(values.write(&keys.replica(place), replica).unwrap());
        let replies = StoreReply::List(vec![
            sealed(all[0], &replica(all[0], "two")),
            sealed(all[1], &replica(all[1], "one")),
            // A copy of another replica's value, and a value that names another replica.
            sealed(all[0], &replica(all[2], "copy")),
            sealed(all[3], &replica(all[0], "other")),
        ]);
        let names: Vec<_> = alive(&keys, &values, &ids, &replies).into_iter().map(|one| one.name).collect();
        assert_eq!(names, ["one", "two"]);
        assert_eq!(alive(&keys, &values, &ids, &StoreReply::List(vec![StoreReply::Nil, text("x")])), []);
    }
}
