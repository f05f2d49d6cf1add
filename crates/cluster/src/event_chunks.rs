//! Events of clients' event streams in the store, in chunks: a chunk contains the events that were sent on one stream within a short
//! time. Pure; this module must not know what an event contains.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use store::sessions::SessionKey;

use crate::families::{EVENT_LIFE, MOST_EVENTS, StoreKeys};
use crate::resp::{StoreCommand, StoreReply};
use crate::sealed::SealedValues;
use crate::sessions;

/// An event stream of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StreamKey {
    /// The session.
    pub session: SessionKey,
    /// The number that all ids of the session's events contain for as long as the session is in the memory of one process.
    pub epoch: u32,
    /// The number of the stream in its session.
    pub stream: u64,
}

impl StreamKey {
    /// Returns the name of the stream in the store.
    pub(crate) fn name(&self, keys: &StoreKeys) -> String {
        keys.events(&format!("{}:{:08x}-{}", sessions::id(&self.session), self.epoch, self.stream))
    }
}

/// Events of one stream that have not been copied to the store yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvents {
    /// The epoch of the stream's session.
    pub epoch: u32,
    /// The number of the stream in its session.
    pub stream: u64,
    /// The events with their numbers, in order.
    pub events: Vec<(u64, Bytes)>,
    /// The ids of the requests that are answered on the stream, as JSON.
    pub requests: Vec<Bytes>,
    /// The number of events that the stream had in all, if it has ended.
    pub end: Option<u64>,
}

/// The part of a chunk that describes its events. The events follow it.
#[derive(Debug, Default, Serialize, Deserialize)]
struct ChunkHead {
    /// The number and the size of each event.
    events: Vec<(u64, usize)>,
    requests: Vec<String>,
    end: Option<u64>,
}

impl NewEvents {
    /// Returns the chunk as bytes. A line with its description comes first.
    fn chunk(&self) -> Option<Vec<u8>> {
        let head = ChunkHead {
            events: self.events.iter().map(|(number, data)| (*number, data.len())).collect(),
            requests: self.requests.iter().map(|id| String::from_utf8_lossy(id).into_owned()).collect(),
            end: self.end,
        };
        let mut chunk = serde_json::to_vec(&head).ok()?;
        chunk.reserve_exact(1 + self.size());
        chunk.push(b'\n');
        self.events.iter().for_each(|(_, data)| chunk.extend_from_slice(data));
        Some(chunk)
    }

    /// Reads a chunk of a stream; `None` if it has a form that this version does not know.
    fn parse(key: &StreamKey, chunk: &Bytes) -> Option<Self> {
        let line = memchr::memchr(b'\n', chunk)?;
        let head: ChunkHead = serde_json::from_slice(&chunk[..line]).ok()?;
        let mut rest = chunk.slice(line + 1..);
        let mut event =
            |(number, size): (u64, usize)| (size <= rest.len()).then(|| (number, rest.split_to(size)));
        Some(Self {
            epoch: key.epoch,
            stream: key.stream,
            events: head.events.into_iter().map(&mut event).collect::<Option<_>>()?,
            requests: head.requests.into_iter().map(Bytes::from).collect(),
            end: head.end,
        })
    }

    /// Returns the sealed chunk; `None` if it cannot be sealed.
    pub(crate) fn sealed(&self, name: &str, values: &SealedValues) -> Option<Vec<u8>> {
        values.write_bytes(name, &self.chunk()?)
    }

    /// Returns the size of the events in bytes.
    pub(crate) fn size(&self) -> usize {
        self.events.iter().map(|(_, data)| data.len()).sum()
    }
}

/// Returns the commands that append a sealed chunk to a stream. If `keep` is set, the newest chunks of this number stay. A stream is a list
/// in the store, because a stream there takes 4 KiB even if it is short.
pub(crate) fn append(name: &str, sealed: &[u8], keep: Option<usize>) -> impl Iterator<Item = StoreCommand> {
    let add = StoreCommand::new("RPUSH").arg(name).arg(sealed);
    let trim = keep.map(|keep| StoreCommand::new("LTRIM").arg(name).arg(format!("-{keep}")).arg("-1"));
    let expire = StoreCommand::new("PEXPIRE").arg(name).number(EVENT_LIFE.as_millis());
    [Some(add), trim, Some(expire)].into_iter().flatten()
}

/// Returns the command that deletes streams.
pub(crate) fn delete(keys: &StoreKeys, streams: &[StreamKey]) -> StoreCommand {
    streams.iter().fold(StoreCommand::new("UNLINK"), |command, stream| command.arg(stream.name(keys)))
}

/// Returns the command that reads a stream.
pub(crate) fn read(name: &str) -> StoreCommand {
    // A chunk that was written twice counts twice here, but not among the events.
    StoreCommand::new("LRANGE").arg(name).arg(format!("-{}", 2 * MOST_EVENTS)).arg("-1")
}

/// The events of a stream that the store has kept.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct StreamCopy {
    events: BTreeMap<u64, Bytes>,
    requests: Vec<Bytes>,
    end: Option<u64>,
}

/// The events that a client has missed.
#[derive(Debug, PartialEq, Eq)]
pub struct MissedEvents {
    /// The events that are kept, with their numbers.
    pub events: Vec<(u64, Bytes)>,
    /// True if some of the missed events are not kept, or if the client's last event never existed.
    pub has_gap: bool,
}

impl StreamCopy {
    /// Reads the reply to [`read`]. Chunks that no replica has written for this stream are skipped.
    pub(crate) fn read((key, name): (&StreamKey, &str), values: &SealedValues, reply: &StoreReply) -> Self {
        let chunk =
            |sealed: &StoreReply| NewEvents::parse(key, &values.read_bytes(name, sealed.bytes()?)?.into());
        reply.list().iter().filter_map(chunk).collect()
    }

    /// Returns true if the stream has ended, so no events were sent after those that are known.
    pub fn has_ended(&self) -> bool {
        self.end.is_some()
    }

    /// Returns true if the last event of a stream that has ended is kept.
    pub fn has_last(&self) -> bool {
        self.end.and_then(|end| self.events.get(&end.checked_sub(1)?)).is_some()
    }

    /// Returns true if no event before the kept ones is missing.
    pub fn has_beginning(&self) -> bool {
        self.events.keys().copied().eq(0..self.events.len() as u64)
    }

    /// Returns the ids of the requests that are answered on the stream, as JSON.
    pub fn requests(&self) -> &[Bytes] {
        &self.requests
    }

    /// Returns the kept events.
    pub fn events(&self) -> impl Iterator<Item = &Bytes> {
        self.events.values()
    }

    /// Returns the events after the last one that the client has received.
    pub fn after(&self, last: u64) -> MissedEvents {
        let from = last.checked_add(1);
        let events: Vec<_> = from
            .into_iter()
            .flat_map(|from| self.events.range(from..))
            .map(|(number, data)| (*number, data.clone()))
            .collect();
        let end = self.end.or_else(|| events.last().map(|(number, _)| number + 1));
        let has_gap = match (from, end) {
            (Some(from), Some(end)) => from > end || !events.iter().map(|(number, _)| *number).eq(from..end),
            (Some(_), None) => false,
            (None, _) => true,
        };
        MissedEvents { events, has_gap }
    }
}

impl FromIterator<NewEvents> for StreamCopy {
    fn from_iter<C: IntoIterator<Item = NewEvents>>(chunks: C) -> Self {
        let mut copy = Self::default();
        for chunk in chunks {
            copy.events.extend(chunk.events);
            copy.end = copy.end.or(chunk.end);
            if copy.requests.is_empty() {
                copy.requests = chunk.requests;
            }
        }
        copy
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{cluster, parts, stays_readable, text};

    const KEY: StreamKey = StreamKey { session: [0xab; 16], epoch: 0x1f, stream: 3 };

    const NAME: &str = "test:events:abababababababababababababababab:0000001f-3";

    fn new(numbers: impl IntoIterator<Item = u64>, end: Option<u64>) -> NewEvents {
        let event = |number: u64| (number, Bytes::from(format!("\"event {number}\"")));
        let requests = vec![Bytes::from_static(b"\"a\""), Bytes::from_static(b"7")];
        NewEvents {
            epoch: KEY.epoch,
            stream: KEY.stream,
            events: numbers.into_iter().map(event).collect(),
            requests,
            end,
        }
    }

    fn sealed(new: &NewEvents, name: &str) -> Vec<u8> {
        new.sealed(name, &cluster().1).unwrap()
    }

    /// Returns the copy that is read from these chunks.
    fn copy(chunks: &[Vec<u8>]) -> StreamCopy {
        StreamCopy::read((&KEY, NAME), &cluster().1, &StoreReply::List(chunks.iter().map(text).collect()))
    }

    fn missed(copy: &StreamCopy, last: u64) -> (Vec<u64>, bool) {
        let MissedEvents { events, has_gap } = copy.after(last);
        for (number, data) in &events {
            assert_eq!(data, format!("\"event {number}\"").as_bytes());
        }
        (events.into_iter().map(|(number, _)| number).collect(), has_gap)
    }

    #[test]
    fn a_stream_is_capped_and_expires() {
        let (keys, _) = cluster();
        assert_eq!(KEY.name(&keys), NAME);
        let commands =
            |keep| append(NAME, b"sealed", keep).map(|command| parts(&command)).collect::<Vec<_>>();
        let (add, expire) = (["RPUSH", NAME, "sealed"], ["PEXPIRE", NAME, "300000"]);
        assert_eq!(commands(None), [&add[..], &expire]);
        assert_eq!(commands(Some(9)), [&add[..], &["LTRIM", NAME, "-9", "-1"], &expire]);
        assert_eq!(parts(&read(NAME)), ["LRANGE", NAME, "-512", "-1"]);
        assert_eq!(parts(&delete(&keys, &[KEY, KEY])), ["UNLINK", NAME, NAME]);
    }

    #[test]
    fn events_are_read_in_order_whatever_the_order_of_their_chunks() {
        let chunks =
            [new([2, 3], Some(4)), new([0, 1], None), new([2, 3], Some(4))].map(|new| sealed(&new, NAME));
        let copy = copy(&chunks);
        assert_eq!(missed(&copy, 0), (vec![1, 2, 3], false));
        assert_eq!(missed(&copy, 3), (vec![], false));
        assert_eq!(missed(&copy, 4), (vec![], true), "this event never existed");
        assert_eq!(missed(&copy, u64::MAX), (vec![], true));
        assert!(copy.has_ended() && copy.has_last() && copy.has_beginning());
        assert_eq!(copy.requests(), [&b"\"a\""[..], b"7"]);
        assert_eq!(copy.events().count(), 4);
    }

    #[test]
    fn what_is_missing_is_a_gap() {
        let chunk = |numbers: &[u64], end| sealed(&new(numbers.iter().copied(), end), NAME);
        // Somebody has deleted a chunk.
        let broken = copy(&[chunk(&[0, 1], None), chunk(&[4], Some(5))]);
        assert_eq!(missed(&broken, 0), (vec![1, 4], true));
        assert_eq!(missed(&broken, 3), (vec![4], false));
        assert!(broken.has_last() && !broken.has_beginning());
        // The last chunk is missing: the client may have got its events.
        let running = copy(&[chunk(&[0, 1], None)]);
        assert_eq!(missed(&running, 1), (vec![], false));
        assert_eq!(missed(&running, 7), (vec![], false));
        assert!(!running.has_ended() && !running.has_last());
        // The end is known, but the events before it were too large.
        let without = copy(&[chunk(&[0], None), chunk(&[], Some(2))]);
        assert_eq!(missed(&without, 0), (vec![], true));
        assert!(without.has_ended() && !without.has_last());
        assert_eq!(missed(&copy(&[]), 0), (vec![], false));
    }

    #[test]
    fn only_chunks_that_a_replica_has_written_for_this_stream_are_read() {
        let own = sealed(&new([0], None), NAME);
        let other_session = NAME.replace("abab", "cdcd");
        let other_stream = NAME.replace("-3", "-4");
        let plain = new([1], None).chunk().unwrap();
        let chunks = [
            sealed(&new([1], None), &other_session),
            sealed(&new([1], None), &other_stream),
            plain,
            own[..own.len() - 1].to_vec(),
            b"garbage".to_vec(),
            own.clone(),
        ];
        assert_eq!(copy(&chunks), copy(&[own]));
        // A chunk of a newer version, and one whose sizes are wrong.
        let (_, values) = cluster();
        let odd = |plain: &[u8]| values.write_bytes(NAME, plain).unwrap();
        assert_eq!(
            copy(&[odd(b"{\"events\":\"many\"}\nx"), odd(b"no line"), odd(b"")]),
            StreamCopy::default()
        );
        let short = odd(b"{\"events\":[[0,1],[1,9]],\"requests\":[],\"end\":2}\nxyz");
        assert_eq!(copy(&[short]), StreamCopy::default());
        let reply = StoreReply::List(vec![StoreReply::Nil, StoreReply::List(vec![text("1")])]);
        assert_eq!(StreamCopy::read((&KEY, NAME), &values, &reply), StreamCopy::default());
        assert_eq!(
            StreamCopy::read((&KEY, NAME), &values, &StoreReply::Error("WRONGTYPE".to_owned())),
            StreamCopy::default()
        );
    }

    #[test]
    fn chunks_of_released_versions_stay_readable() {
        stays_readable::<ChunkHead>(r#"{"events":[[0,0],[1,57]],"requests":["\"a\"","7"],"end":2}"#);
        stays_readable::<ChunkHead>(r#"{"events":[],"requests":[],"end":null}"#);
    }

    proptest! {
        #[test]
        fn events_are_read_as_they_were_written(
            events in prop::collection::btree_map(any::<u64>(), prop::collection::vec(any::<u8>(), 0..60), 0..20),
            end: Option<u64>,
        ) {
            let events: Vec<(u64, Bytes)> = events.into_iter().map(|(number, data)| (number, data.into())).collect();
            let new = NewEvents { epoch: 1, stream: 1, events: events.clone(), requests: vec![], end };
            let copy = copy(&[sealed(&new, NAME)]);
            prop_assert_eq!(copy.events.into_iter().collect::<Vec<_>>(), events);
            prop_assert_eq!(copy.end, end);
        }
    }
}
