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

/// The name of the field, in an entry of the store's stream, that contains the sealed chunk.
const FIELD: &str = "chunk";

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

/// Returns the commands that append a sealed chunk to a stream, of which the newest `keep` chunks stay.
pub(crate) fn append(name: &str, sealed: &[u8], keep: usize) -> [StoreCommand; 2] {
    let add = StoreCommand::new("XADD").arg(name).arg("MAXLEN").number(keep);
    let expire = StoreCommand::new("PEXPIRE").arg(name).number(EVENT_LIFE.as_millis());
    [add.arg("*").arg(FIELD).arg(sealed), expire]
}

/// Returns the command that deletes streams.
pub(crate) fn delete(keys: &StoreKeys, streams: &[StreamKey]) -> StoreCommand {
    streams.iter().fold(StoreCommand::new("UNLINK"), |command, stream| command.arg(stream.name(keys)))
}

/// Returns the command that reads a stream.
pub(crate) fn read(name: &str) -> StoreCommand {
    // A chunk that was written twice counts twice here, but not among the events.
    StoreCommand::new("XRANGE").arg(name).arg("-").arg("+").arg("COUNT").number(2 * MOST_EVENTS)
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
        let chunk = |entry: &StoreReply| {
            let [_, fields] = entry.list() else { return None };
            let [field, sealed] = fields.list() else { return None };
            let sealed = sealed.bytes().filter(|_| field.text() == Some(FIELD))?;
            NewEvents::parse(key, &values.read_bytes(name, sealed)?.into())
        };
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
mod tests;
