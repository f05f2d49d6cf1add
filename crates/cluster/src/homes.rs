//! Homes: for an owner whose data lives in one process, the replica that has this process. The replica that needs the process first
//! writes itself into the store; the others read it there. A home ends with its replica, or some time after its last use. This module
//! must not know what an owner is.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::families::StoreKeys;
use crate::resp::{StoreCommand, StoreReply};
use crate::sealed::{SealedValues, StoredValue};

/// A digest that names an owner.
pub type HomeOwner = [u8; 16];

/// The time for which the store remembers a home after its last use. It is longer than unused sessions and processes are kept.
const LIFE: Duration = Duration::from_hours(2);

/// The time for which a replica relies on an answer of the store: that it is the home itself, and that another replica is the home.
const OWN: Duration = Duration::from_mins(1);
const OTHERS: Duration = Duration::from_secs(5);

/// The maximum number of homes that a replica remembers. Above it, the replica forgets all of them, and asks the store again.
const MOST: usize = 100_000;

/// Replaces a value only if it has not changed. The arguments are the old value, the new value and its life in milliseconds.
const REPLACE: &str = "if redis.call('GET',KEYS[1])==ARGV[1] then redis.call('SET',KEYS[1],ARGV[2],'PX',ARGV[3]) return 1 end return 0";

/// A home, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct StoredHome {
    /// The id of the replica.
    replica: String,
}

/// The store's answer about an owner's home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FoundHome {
    /// This replica, which had written itself before or has done so now.
    Here,
    /// The replica with this id. The sealed value is needed to replace it.
    At(String, Vec<u8>),
    /// A home that a newer version has written.
    Newer,
}

/// The home of an owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Home {
    /// This replica.
    Here,
    /// The replica whose process has this number.
    At(u64),
}

/// The homes that a replica knows, with the times at which it asked the store.
#[derive(Default)]
pub(crate) struct KnownHomes(Mutex<HashMap<HomeOwner, (Home, Instant)>>);

impl KnownHomes {
    /// Returns the home of an owner, if the store has named it a short time ago.
    pub(crate) fn recent(&self, owner: &HomeOwner, now: Instant) -> Option<Home> {
        let homes = self.0.lock();
        homes.get(owner).filter(|known| is_recent(known, now)).map(|(home, _)| *home)
    }

    /// Returns the home that the store named last, however long ago that was.
    pub(crate) fn last(&self, owner: &HomeOwner) -> Option<Home> {
        self.0.lock().get(owner).map(|(home, _)| *home)
    }

    /// Returns the owners whose home is this replica.
    pub(crate) fn here(&self) -> Vec<HomeOwner> {
        let homes = self.0.lock();
        homes.iter().filter(|(_, (home, _))| *home == Home::Here).map(|(owner, _)| *owner).collect()
    }

    /// Lets the store be asked again before this replica relies on being the home of an owner.
    pub(crate) fn ask_again(&self) {
        let mut homes = self.0.lock();
        homes.values_mut().for_each(|(home, asked)| {
            if *home == Home::Here {
                *asked = asked.checked_sub(OWN).unwrap_or(*asked);
            }
        });
    }

    /// Remembers the home of an owner.
    pub(crate) fn learn(&self, owner: HomeOwner, home: Home, now: Instant) {
        let mut homes = self.0.lock();
        // The store knows what is forgotten here.
        if homes.len() >= MOST {
            homes.clear();
        }
        homes.insert(owner, (home, now));
    }
}

fn is_recent((home, asked): &(Home, Instant), now: Instant) -> bool {
    let life = if *home == Home::Here { OWN } else { OTHERS };
    now.saturating_duration_since(*asked) < life
}

/// Returns the command by which the replica `me` writes itself as the home of an owner, unless there is one. The reply is the value
/// that was stored before.
pub(crate) fn claim(
    keys: &StoreKeys,
    values: &SealedValues,
    owner: &HomeOwner,
    me: &str,
) -> Option<StoreCommand> {
    let key = keys.home(&name(owner));
    let sealed = values.write(&key, &StoredHome { replica: me.to_owned() })?;
    Some(
        StoreCommand::new("SET").arg(key).arg(sealed).arg("NX").arg("GET").arg("PX").number(LIFE.as_millis()),
    )
}

/// Returns the commands by which the replica `me` writes itself as the home of its owners into a store that has lost its data.
pub(crate) fn claims(
    keys: &StoreKeys,
    values: &SealedValues,
    owners: &[HomeOwner],
    me: &str,
) -> Vec<StoreCommand> {
    owners.iter().filter_map(|owner| claim(keys, values, owner, me)).collect()
}

/// Returns the command that lets the home of the replica `me` live longer.
pub(crate) fn keep(keys: &StoreKeys, owner: &HomeOwner) -> StoreCommand {
    StoreCommand::new("PEXPIRE").arg(keys.home(&name(owner))).number(LIFE.as_millis())
}

/// Returns the command by which the replica `me` takes the place of a replica that is gone. The reply is 1 if nobody was faster.
pub(crate) fn replace(
    keys: &StoreKeys,
    values: &SealedValues,
    (owner, before): (&HomeOwner, &[u8]),
    me: &str,
) -> Option<StoreCommand> {
    let key = keys.home(&name(owner));
    let sealed = values.write(&key, &StoredHome { replica: me.to_owned() })?;
    let command = StoreCommand::new("EVAL").arg(REPLACE).arg("1").arg(key);
    Some(command.arg(before).arg(sealed).number(LIFE.as_millis()))
}

/// Reads the reply to [`claim`]. A value that no replica has written is treated like the home of a replica that is gone.
pub(crate) fn found(
    keys: &StoreKeys,
    values: &SealedValues,
    owner: &HomeOwner,
    (reply, me): (&StoreReply, &str),
) -> FoundHome {
    let Some(sealed) = reply.bytes() else { return FoundHome::Here };
    match values.value::<StoredHome>(&keys.home(&name(owner)), sealed) {
        StoredValue::Known(home) if home.replica == me => FoundHome::Here,
        StoredValue::Known(home) => FoundHome::At(home.replica, sealed.to_vec()),
        StoredValue::Newer => FoundHome::Newer,
        StoredValue::Foreign => FoundHome::At(String::new(), sealed.to_vec()),
    }
}

fn name(owner: &HomeOwner) -> String {
    format!("{:032x}", u128::from_be_bytes(*owner))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cluster, parts, stays_readable, text};

    const OWNER: HomeOwner = [7; 16];

    #[test]
    fn the_first_replica_is_the_home_and_the_others_read_it() {
        let (keys, values) = cluster();
        let command = parts(&claim(&keys, &values, &OWNER, "00000000000000aa").unwrap());
        assert_eq!(command[..2], ["SET", "test:home:07070707070707070707070707070707"]);
        assert_eq!(command[3..], ["NX", "GET", "PX", "7200000"]);
        let found = |reply: &StoreReply, me| found(&keys, &values, &OWNER, (reply, me));
        assert_eq!(found(&StoreReply::Nil, "00000000000000aa"), FoundHome::Here);
        let stored = text(&command[2]);
        assert_eq!(found(&stored, "00000000000000aa"), FoundHome::Here);
        let other = FoundHome::At("00000000000000aa".to_owned(), command[2].clone().into());
        assert_eq!(found(&stored, "00000000000000bb"), other);
        assert_eq!(
            found(&text("x"), "00000000000000bb"),
            FoundHome::At(String::new(), b"x".to_vec()),
            "forged"
        );
        let newer = values.write("test:home:07070707070707070707070707070707", &[1]).unwrap();
        assert_eq!(found(&text(newer), "00000000000000bb"), FoundHome::Newer);
        stays_readable::<StoredHome>(r#"{"replica":"00000000000000aa"}"#);
    }

    #[test]
    fn a_home_is_replaced_only_as_it_was_read() {
        let (keys, values) = cluster();
        let command = parts(&replace(&keys, &values, (&OWNER, b"before"), "00000000000000bb").unwrap());
        assert_eq!((command[0].as_str(), command[2].as_str(), command[4].as_str()), ("EVAL", "1", "before"));
        assert_eq!(command[6], "7200000");
    }

    #[test]
    fn answers_of_the_store_are_used_for_a_while() {
        let (homes, now) = (KnownHomes::default(), Instant::now());
        homes.learn(OWNER, Home::Here, now);
        assert_eq!(homes.recent(&OWNER, now + Duration::from_secs(59)), Some(Home::Here));
        assert_eq!(homes.recent(&OWNER, now + OWN), None);
        homes.learn(OWNER, Home::At(5), now);
        assert_eq!(homes.recent(&OWNER, now + Duration::from_secs(4)), Some(Home::At(5)));
        assert_eq!(homes.recent(&OWNER, now + OTHERS), None);
        assert_eq!(homes.last(&OWNER), Some(Home::At(5)));
        assert_eq!(homes.last(&[8; 16]), None);
        homes.learn([9; 16], Home::Here, now);
        homes.ask_again();
        assert_eq!(homes.recent(&[9; 16], now), None);
        assert_eq!((homes.last(&[9; 16]), homes.here()), (Some(Home::Here), vec![[9; 16]]));
        assert_eq!(homes.recent(&OWNER, now), Some(Home::At(5)));
    }
}
