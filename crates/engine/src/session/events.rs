//! Events of a session's streams, kept for clients that lost their connection (Streamable HTTP: resumability).

use std::collections::VecDeque;

use bytes::Bytes;

/// An event's place: which stream of the session, and which event of it. Written as `stream-event`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventId {
    /// The stream.
    pub stream: u64,
    /// The event.
    pub event: u64,
}

impl EventId {
    /// Reads the value of `Last-Event-ID`; `None` when it is not one of ours.
    pub fn parse(text: &str) -> Option<Self> {
        let (stream, event) = text.split_once('-')?;
        Some(Self { stream: stream.parse().ok()?, event: event.parse().ok()? })
    }
}

impl std::fmt::Display for EventId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", self.stream, self.event)
    }
}

/// Below how many bytes an event is copied to be kept.
const SHORT: usize = 16 << 10;

/// The last events of a session, over all its streams, within two caps.
#[derive(Debug)]
pub struct EventLog {
    max_events: usize,
    max_bytes: usize,
    bytes: usize,
    kept: VecDeque<(EventId, Bytes)>,
}

impl EventLog {
    /// An empty log that keeps at most `max_events` events and `max_bytes` bytes of data.
    pub fn new(max_events: usize, max_bytes: usize) -> Self {
        Self { max_events, max_bytes, bytes: 0, kept: VecDeque::new() }
    }

    /// Keeps an event, at the cost of the oldest ones.
    pub fn push(&mut self, id: EventId, data: Bytes) {
        self.bytes += data.len();
        // A short event that is a slice would keep the whole buffer that it came in.
        let data = if data.len() < SHORT { Bytes::copy_from_slice(&data) } else { data };
        self.kept.push_back((id, data));
        while self.kept.len() > self.max_events || self.bytes > self.max_bytes {
            let Some((_, old)) = self.kept.pop_front() else { break };
            self.bytes -= old.len();
        }
    }

    /// The kept events of the same stream behind `last`.
    pub fn after(&self, last: EventId) -> impl Iterator<Item = (EventId, Bytes)> + '_ {
        let behind = move |id: &EventId| id.stream == last.stream && id.event > last.event;
        self.kept.iter().filter(move |(id, _)| behind(id)).cloned()
    }

    /// Returns true if events of the stream behind `last` have been dropped, so that a replay would have a gap, or
    /// there never was such an event. `next` is the number of the stream's next event.
    pub fn has_gap(&self, last: EventId, next: u64) -> bool {
        if last.event >= next {
            return true;
        }
        // There is a number behind it, which is `next` at most.
        let behind = last.event + 1;
        let first = self.kept.iter().find(|(id, _)| id.stream == last.stream && id.event >= behind);
        first.map_or(next, |(id, _)| id.event) > behind
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(stream: u64, event: u64) -> EventId {
        EventId { stream, event }
    }

    #[test]
    fn ids_are_read_back_and_nothing_else_is() {
        assert_eq!(EventId::parse(&id(3, 14).to_string()), Some(id(3, 14)));
        for text in ["", "3", "3-", "-1", "a-b", "3-4-5"] {
            assert_eq!(EventId::parse(text), None, "{text}");
        }
    }

    #[test]
    fn replays_one_stream_in_order() {
        let mut log = EventLog::new(10, 1000);
        for (n, stream) in [1, 2, 1, 2, 1].into_iter().enumerate() {
            log.push(id(stream, n as u64), Bytes::from(vec![b'x'; n]));
        }
        let replay: Vec<_> = log.after(id(1, 0)).map(|(id, _)| id.event).collect();
        assert_eq!(replay, [2, 4]);
    }

    #[test]
    fn caps_hold_and_gaps_are_known() {
        let mut log = EventLog::new(3, 100);
        for n in 0..5 {
            log.push(id(1, n), Bytes::from_static(b"12345"));
        }
        assert_eq!(log.after(id(1, 0)).count(), 3);
        assert!(log.has_gap(id(1, 0), 5));
        assert!(!log.has_gap(id(1, 1), 5));
        assert!(!log.has_gap(id(1, 4), 5));
        // Nobody was ever given these.
        assert!(log.has_gap(id(1, 5), 5));
        assert!(log.has_gap(id(1, u64::MAX), 5));
        let mut none = EventLog::new(0, 0);
        none.push(id(1, 1), Bytes::from_static(b"x"));
        assert!(none.has_gap(id(1, 0), 2));
        log.push(id(1, 5), Bytes::from(vec![0; 200]));
        assert_eq!(log.after(id(1, 0)).count(), 0);
    }
}
