//! The replicas of a cluster: what each says about itself every few seconds. This module must not know what a replica
//! shares.

use serde::{Deserialize, Serialize};

use crate::families::{REPLICA_LIFE, StoreKeys};
use crate::resp::{Command, Reply};
use crate::sealed::SealedValues;

/// The time after which the id of a replica that is gone is deleted, in milliseconds. It is longer than the clocks of
/// two machines may differ.
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
}

/// Returns the commands of a beat; the third reply contains the ids of all replicas.
pub(crate) fn beat(
    keys: &StoreKeys,
    values: &SealedValues,
    me: &Replica,
    now_ms: u64,
) -> Option<[Command; 4]> {
    let own = keys.replica(&me.id);
    let sealed = values.write(&own, me)?;
    Some([
        Command::new("SET").arg(&own).arg(sealed).arg("PX").number(REPLICA_LIFE.as_millis()),
        Command::new("ZADD").arg(keys.replicas()).number(now_ms).arg(&me.id),
        Command::new("ZRANGE").arg(keys.replicas()).arg("0").arg("999"),
        Command::new("ZREMRANGEBYSCORE")
            .arg(keys.replicas())
            .arg("-inf")
            .number(now_ms.saturating_sub(FORGOTTEN_MS)),
    ])
}

/// Returns the ids of replicas in a reply, without those that cannot be ids.
pub(crate) fn ids(reply: &Reply) -> Vec<String> {
    let is_id = |id: &&str| id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    reply.list().iter().filter_map(Reply::text).filter(is_id).map(str::to_owned).collect()
}

/// Returns the command that reads these replicas.
pub(crate) fn read(keys: &StoreKeys, ids: &[String]) -> Command {
    ids.iter().fold(Command::new("MGET"), |command, id| command.arg(keys.replica(id)))
}

/// Reads the replicas that are alive, in the order of their names.
pub(crate) fn alive(keys: &StoreKeys, values: &SealedValues, ids: &[String], reply: &Reply) -> Vec<Replica> {
    let read = ids.iter().zip(reply.list()).filter_map(|(id, sealed)| {
        let replica: Replica = values.read(&keys.replica(id), sealed.bytes()?)?;
        (replica.id == *id).then_some(replica)
    });
    let mut replicas: Vec<_> = read.collect();
    replicas.sort_by(|one, other| (&one.name, &one.id).cmp(&(&other.name, &other.id)));
    replicas
}
