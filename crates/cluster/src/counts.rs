//! Counts of requests that all replicas share: one number for each counter, changed by a script with the store's clock. The store counts
//! requests for a replica in advance, so the replica rarely has to ask. This module must not know who is counted, or why.
//!
//! A number cannot be sealed, because the store computes with it. An attacker who can write to the store can change counts, but cannot
//! find out whose they are: the keys are digests under the key ring.

use std::fmt::Write as _;

use crate::families::StoreKeys;
use crate::resp::{StoreCommand, StoreReply};
use crate::sealed::SealedValues;

/// Counts requests of several counters: all or none. For each key, the arguments are: the time in which one request is paid back, the
/// number of requests at once, the minimum and the maximum number of requests to count, and the time until the requests that the
/// replica knows about are paid back. Times are in nanoseconds. A value consists of the time until all counted requests are paid back,
/// and the time of the last change in microseconds. The reply has two numbers for each key: the number of counted requests, and the
/// time until all are paid back. A value that no replica can have written counts as a full burst at most.
const COUNT: &str = "\
local t=redis.call('TIME') local now=t[1]*1000000+t[2] local rows,fits={},true
for i,key in ipairs(KEYS) do
 local a=(i-1)*5
 local interval,burst,least=tonumber(ARGV[a+1]),tonumber(ARGV[a+2]),tonumber(ARGV[a+3])
 local owed,at=string.match(redis.call('GET',key) or '','^(%d+):(%d+)$')
 owed=owed and math.max(tonumber(owed)-math.max(now-at,0)*1000,0) or 0
 owed=math.min(math.max(owed,tonumber(ARGV[a+5])),interval*burst)
 local room=math.floor((interval*burst-owed)/interval+1e-9)
 if room<least then fits=false end
 rows[i]={owed,math.min(room,tonumber(ARGV[a+4])),interval}
end
local reply={}
for i,row in ipairs(rows) do
 local granted=fits and row[2] or 0
 local owed=row[1]+granted*row[3]
 if granted>0 then redis.call('SET',KEYS[i],string.format('%.0f:%.0f',owed,now),'PX',string.format('%.0f',math.ceil(owed/1000000)+1)) end
 reply[2*i-1]=granted reply[2*i]=math.min(owed,9e18)
end
return reply";

/// Takes back one request. The argument is the time in which it would have been paid back.
const RETURN: &str = "\
local owed,at=string.match(redis.call('GET',KEYS[1]) or '','^(%d+):(%d+)$') if not owed then return 0 end
local t=redis.call('TIME') local now=t[1]*1000000+t[2]
owed=tonumber(owed)-math.max(now-at,0)*1000-tonumber(ARGV[1])
if owed<=0 then return redis.call('DEL',KEYS[1]) end
redis.call('SET',KEYS[1],string.format('%.0f:%.0f',owed,now),'PX',string.format('%.0f',math.ceil(owed/1000000)+1)) return 1";

/// The context of the digests in the counters' keys.
const CONTEXT: &[u8] = b"shared count";

/// Requests of one counter, for the store to count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountTake {
    /// The counter's name, the same at all replicas. The store gets a digest of it.
    pub name: Vec<u8>,
    /// The time in which one request is paid back, in nanoseconds.
    pub interval: u64,
    /// The number of requests that may arrive at once.
    pub burst: u32,
    /// The minimum number of requests to count.
    pub least: u32,
    /// The maximum number of requests to count.
    pub most: u32,
    /// The time until all requests that this replica knows about are paid back, in nanoseconds.
    pub owed: u64,
}

/// The requests of one counter that the store has counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// Their number.
    pub granted: u32,
    /// The time until all counted requests are paid back, in nanoseconds.
    pub owed: u64,
}

/// Returns the command that counts requests of several counters: all or none.
pub(crate) fn count(keys: &StoreKeys, values: &SealedValues, takes: &[CountTake]) -> Option<StoreCommand> {
    let mut command = StoreCommand::new("EVAL").arg(COUNT).number(takes.len());
    for take in takes {
        command = command.arg(key(keys, values, &take.name)?);
    }
    for CountTake { interval, burst, least, most, owed, .. } in takes {
        command = command.number(interval).number(burst).number(least).number(most).number(owed);
    }
    Some(command)
}

/// Reads the reply to [`count`]; `None` for anything else.
pub(crate) fn counted(takes: &[CountTake], reply: &StoreReply) -> Option<Vec<Counted>> {
    let numbers = reply.list();
    if numbers.len() != 2 * takes.len() {
        return None;
    }
    let each = takes.iter().zip(numbers.chunks_exact(2)).map(|(take, pair)| {
        let granted = u32::try_from(pair[0].integer()?).ok()?;
        let owed = u64::try_from(pair[1].integer()?).ok()?;
        // Whoever can answer in the place of the store cannot allow more than the configuration does.
        Some(Counted { granted: granted.min(take.most), owed })
    });
    each.collect()
}

/// Returns the command that takes back one request.
pub(crate) fn give_back(
    keys: &StoreKeys,
    values: &SealedValues,
    name: &[u8],
    interval: u64,
) -> Option<StoreCommand> {
    let key = key(keys, values, name)?;
    Some(StoreCommand::new("EVAL").arg(RETURN).arg("1").arg(key).number(interval))
}

/// The store's key for a counter.
fn key(keys: &StoreKeys, values: &SealedValues, name: &[u8]) -> Option<String> {
    let mut text = String::with_capacity(24);
    for byte in values.digest(name, CONTEXT)? {
        let _ = write!(text, "{byte:02x}");
    }
    Some(keys.count(&text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cluster, parts, text};

    fn take(name: &str) -> CountTake {
        CountTake { name: name.into(), interval: 7, burst: 60, least: 1, most: 3, owed: 9 }
    }

    #[test]
    fn a_command_contains_digests_and_no_names() {
        let (keys, values) = cluster();
        let command = parts(&count(&keys, &values, &[take("ann"), take("bob")]).unwrap());
        assert_eq!((command[0].as_str(), command[2].as_str()), ("EVAL", "2"));
        assert!(command[3].starts_with("test:count:") && command[3].len() == "test:count:".len() + 24);
        assert_ne!(command[3], command[4]);
        assert_eq!(command[5..], ["7", "60", "1", "3", "9", "7", "60", "1", "3", "9"]);
        assert!(!command.iter().any(|part| part.contains("ann") || part.contains("616e6e")));
        let back = parts(&give_back(&keys, &values, b"ann", 7).unwrap());
        assert_eq!((back[3].as_str(), back[4].as_str()), (command[3].as_str(), "7"));
    }

    #[test]
    fn a_reply_is_read_only_if_it_fits_the_command() {
        let (one, two) = ([take("a")], [take("a"), take("b")]);
        let reply =
            |numbers: &[i64]| StoreReply::List(numbers.iter().map(|n| StoreReply::Integer(*n)).collect());
        assert_eq!(counted(&one, &reply(&[2, 14])), Some(vec![Counted { granted: 2, owed: 14 }]));
        assert_eq!(counted(&one, &reply(&[99, 14])).unwrap()[0].granted, 3, "more than was asked for");
        for wrong in [&[][..], &[1], &[1, 2, 3], &[-1, 2], &[1, -2]] {
            assert_eq!(counted(&one, &reply(wrong)), None, "{wrong:?}");
        }
        assert_eq!(counted(&two, &reply(&[0, 1])), None);
        assert_eq!(counted(&one, &text("1")), None);
        assert_eq!(counted(&one, &StoreReply::Nil), None);
    }
}
