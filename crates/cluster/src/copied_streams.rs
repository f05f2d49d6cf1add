//! The streams whose events this replica has copied to the store, with their sizes: they decide what the store keeps. Pure; this module
//! must not know commands.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::Instant;

use crate::event_chunks::StreamKey;
use crate::families::{EVENT_LIFE, MOST_EVENT_BYTES, MOST_EVENTS};

/// The maximum size of all events that the store keeps for one replica, in bytes, with what the store needs for them.
const MOST_BYTES: usize = 64 << 20;

/// The maximum number of streams that the store keeps for one replica.
const MOST_STREAMS: usize = 50_000;

/// The memory that the store needs for a stream, and for a chunk in it, in bytes.
const OVERHEAD: (usize, usize) = (512, 64);

/// A chunk in the store.
#[derive(Debug, Clone, Copy)]
struct CopiedChunk {
    events: usize,
    bytes: usize,
}

/// A stream in the store.
#[derive(Debug)]
struct CopiedStream {
    chunks: VecDeque<CopiedChunk>,
    events: usize,
    bytes: usize,
    /// The stream's position by the time of its last chunk.
    order: u64,
    /// True if the store may have more chunks than those that are counted.
    is_uncertain: bool,
}

/// The streams in the store.
#[derive(Debug, Default)]
pub(crate) struct CopiedStreams {
    streams: HashMap<StreamKey, CopiedStream>,
    /// The streams by the times of their last chunks.
    by_age: BTreeMap<u64, (Instant, StreamKey)>,
    next_order: u64,
    bytes: usize,
}

impl CopiedStreams {
    /// Counts a chunk that is about to be appended to a stream. If older chunks must leave the store, returns the number of those that stay,
    /// with this one.
    pub(crate) fn add(&mut self, key: StreamKey, events: usize, bytes: usize, now: Instant) -> Option<usize> {
        let order = self.next_order;
        self.next_order += 1;
        let before = self.streams.get(&key).map_or(0, |stream| stream.bytes);
        let stream = self.streams.entry(key).or_insert_with(|| CopiedStream {
            chunks: VecDeque::new(),
            events: 0,
            bytes: OVERHEAD.0,
            order,
            is_uncertain: false,
        });
        self.by_age.remove(&stream.order);
        self.by_age.insert(order, (now, key));
        stream.order = order;
        let chunk = CopiedChunk { events, bytes: bytes + OVERHEAD.1 };
        stream.chunks.push_back(chunk);
        stream.events += chunk.events;
        stream.bytes += chunk.bytes;
        let mut is_trimmed = std::mem::take(&mut stream.is_uncertain);
        while stream.chunks.len() > 1
            && (stream.events > MOST_EVENTS
                || stream.bytes > MOST_EVENT_BYTES
                || stream.chunks.len() > MOST_EVENTS)
            && let Some(oldest) = stream.chunks.pop_front()
        {
            stream.events -= oldest.events;
            stream.bytes -= oldest.bytes;
            is_trimmed = true;
        }
        self.bytes = self.bytes - before + stream.bytes;
        is_trimmed.then_some(stream.chunks.len())
    }

    /// Forgets the last chunk of a stream, because it may not have been written. If it was, older ones leave the store with the next chunk.
    pub(crate) fn take_back(&mut self, key: &StreamKey) {
        let Some(stream) = self.streams.get_mut(key) else { return };
        if let Some(chunk) = stream.chunks.pop_back() {
            stream.events -= chunk.events;
            stream.bytes -= chunk.bytes;
            self.bytes -= chunk.bytes;
        }
        stream.is_uncertain = true;
    }

    /// Forgets a stream that is no longer in the store.
    pub(crate) fn forget(&mut self, key: &StreamKey) {
        if let Some(stream) = self.streams.remove(key) {
            self.by_age.remove(&stream.order);
            self.bytes -= stream.bytes;
        }
    }

    /// Forgets all streams, and returns them.
    pub(crate) fn forget_all(&mut self) -> Vec<StreamKey> {
        let all = self.streams.keys().copied().collect();
        *self = Self::default();
        all
    }

    /// Forgets the streams that the store has deleted by now. Then takes out the oldest streams until the others are few and small enough;
    /// these must be deleted.
    pub(crate) fn take_excess(&mut self, now: Instant) -> Vec<StreamKey> {
        let mut excess = Vec::new();
        while let Some((_, (at, key))) = self.by_age.first_key_value() {
            let (has_expired, key) = (now.saturating_duration_since(*at) >= EVENT_LIFE, *key);
            if !has_expired && self.bytes <= MOST_BYTES && self.streams.len() <= MOST_STREAMS {
                break;
            }
            self.forget(&key);
            if !has_expired {
                excess.push(key);
            }
        }
        excess
    }

    /// Returns the number of streams, and their size in bytes.
    pub(crate) fn size(&self) -> (usize, usize) {
        (self.streams.len(), self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn key(stream: u64) -> StreamKey {
        StreamKey { session: [7; 16], epoch: 1, stream }
    }

    #[test]
    fn a_stream_keeps_its_newest_events_within_both_caps() {
        let (mut streams, now) = (CopiedStreams::default(), Instant::now());
        let keeps: Vec<_> = (0..300).map(|_| streams.add(key(1), 1, 10, now)).collect();
        assert_eq!((keeps[0], keeps[255], keeps[256], keeps[299]), (None, None, Some(256), Some(256)));
        assert_eq!(streams.add(key(1), 200, 10, now), Some(57), "56 single events, and the chunk of 200");
        assert_eq!(streams.add(key(1), 1, MOST_EVENT_BYTES - 2000, now), Some(20), "too many bytes");
        assert_eq!(streams.add(key(1), 1, MOST_EVENT_BYTES, now), Some(1), "at least the newest chunk stays");
        assert_eq!(streams.size().0, 1);
        streams.forget(&key(1));
        assert_eq!(streams.size(), (0, 0));
    }

    #[test]
    fn the_oldest_streams_leave_the_store_first() {
        let (mut streams, now) = (CopiedStreams::default(), Instant::now());
        let half_a_mebibyte = MOST_EVENT_BYTES / 2;
        for stream in 0..200 {
            streams.add(key(stream), 1, half_a_mebibyte, now);
        }
        streams.add(key(0), 1, 10, now);
        let gone = streams.take_excess(now);
        assert!(streams.size().1 <= MOST_BYTES && streams.size().1 > MOST_BYTES - MOST_EVENT_BYTES);
        assert_eq!((gone.len(), gone[0]), (200 - streams.size().0, key(1)), "the first one was used again");
        assert!(streams.take_excess(now).is_empty());
        // What has expired need not be deleted.
        assert!(streams.take_excess(now + EVENT_LIFE).is_empty());
        assert_eq!(streams.size(), (0, 0));
        for stream in 0..MOST_STREAMS as u64 + 3 {
            streams.add(key(stream), 1, 1, now + Duration::from_secs(1));
        }
        assert_eq!(streams.take_excess(now), [key(0), key(1), key(2)]);
        assert_eq!(streams.forget_all().len(), MOST_STREAMS);
        assert_eq!(streams.size(), (0, 0));
    }

    #[test]
    fn a_chunk_that_was_not_written_no_longer_counts() {
        let (mut streams, now) = (CopiedStreams::default(), Instant::now());
        streams.add(key(1), 2, 10, now);
        let before = streams.size();
        assert_eq!(streams.add(key(1), 3, 10, now), None);
        streams.take_back(&key(1));
        assert_eq!(streams.size(), before);
        // The store may have got it. It then has one chunk too many, which leaves with the next one.
        assert_eq!(streams.add(key(1), 3, 10, now), Some(2));
        assert_eq!(streams.add(key(1), 3, 10, now), None);
        for _ in 0..4 {
            streams.take_back(&key(1));
        }
        assert_eq!(streams.size(), (1, OVERHEAD.0));
        assert_eq!(streams.add(key(1), 1, 10, now), Some(1));
        assert!(streams.take_excess(now + EVENT_LIFE).is_empty());
        assert_eq!((streams.size(), streams.by_age.len()), ((0, 0), 0));
    }
}
