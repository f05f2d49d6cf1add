//! Events of a session's streams, kept for clients that lose their connection (Streamable HTTP: resumability).

use std::collections::VecDeque;

use bytes::Bytes;

/// The position of an event: a stream of the session, and the event's number in it. Written as `stream-event-epoch`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventId {
    /// The epoch of the session in which the event was sent. Each restart of the gateway starts a new epoch, in which the
    /// streams of the previous epoch are lost.
    pub epoch: u32,
    /// The number of the stream in its session.
    pub stream: u64,
    /// The number of the event in its stream.
    pub event: u64,
}

impl EventId {
    /// Reads the value of `Last-Event-ID`; `None` if it is not one of ours.
    pub fn parse(text: &str) -> Option<Self> {
        let (stream, rest) = text.split_once('-')?;
        let (event, epoch) = rest.split_once('-')?;
        let is_epoch = epoch.len() == 8 && epoch.bytes().all(|b| b.is_ascii_hexdigit());
        let epoch = u32::from_str_radix(Some(epoch).filter(|_| is_epoch)?, 16).ok()?;
        Some(Self { epoch, stream: stream.parse().ok()?, event: event.parse().ok()? })
    }
}

impl std::fmt::Display for EventId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}-{:08x}", self.stream, self.event, self.epoch)
    }
}

/// The size in bytes below which an event is copied before it is kept.
const SHORT: usize = 16 << 10;

/// The maximum number of answers that are kept separately from other events.
const MAX_ANSWERS: usize = 32;

/// An event that is kept.
#[derive(Debug)]
struct KeptEvent {
    id: EventId,
    data: Bytes,
    /// The event's position among the events of all sessions; smaller numbers are older.
    order: u64,
    /// True if the client has fetched the event after a lost connection.
    is_fetched: bool,
}

/// The latest events of a session, across all its streams, within two caps. Answers are kept separately, so that no
/// number of notifications can displace them.
#[derive(Debug)]
pub struct EventLog {
    max_events: usize,
    max_bytes: usize,
    bytes: usize,
    kept: VecDeque<KeptEvent>,
    answers: VecDeque<KeptEvent>,
    answer_bytes: usize,
}

impl EventLog {
    /// An empty log that keeps at most `max_events` events and `max_bytes` bytes of data.
    pub fn new(max_events: usize, max_bytes: usize) -> Self {
        let (kept, answers) = (VecDeque::new(), VecDeque::new());
        Self { max_events, max_bytes, bytes: 0, kept, answers, answer_bytes: 0 }
    }

    /// Keeps an answer and, if needed, drops the oldest answers, beginning with those that were fetched. At least the newest
    /// answer is kept, unless nothing may be kept at all. `order` is the answer's position among the events of all sessions:
    /// smaller is older.
    pub fn push_answer(&mut self, id: EventId, data: Bytes, order: u64) {
        if self.max_events == 0 || self.max_bytes == 0 {
            return;
        }
        self.answer_bytes += data.len();
        self.answers.push_back(KeptEvent { id, data: own(data), order, is_fetched: false });
        while self.answers.len() > 1
            && (self.answers.len() > MAX_ANSWERS || self.answer_bytes > self.max_bytes)
        {
            self.drop_answer(self.answers.iter().position(|answer| answer.is_fetched).unwrap_or(0));
        }
    }

    fn drop_answer(&mut self, at: usize) {
        if let Some(answer) = self.answers.remove(at) {
            self.answer_bytes -= answer.data.len();
        }
    }

    /// Keeps an event, and drops the oldest ones if needed.
    pub fn push(&mut self, id: EventId, data: Bytes, order: u64) {
        self.bytes += data.len();
        self.kept.push_back(KeptEvent { id, data: own(data), order, is_fetched: false });
        while self.kept.len() > self.max_events || self.bytes > self.max_bytes {
            self.drop_event();
        }
    }

    fn drop_event(&mut self) {
        if let Some(event) = self.kept.pop_front() {
            self.bytes -= event.data.len();
        }
    }

    /// The total size of all kept events, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes + self.answer_bytes
    }

    /// Records that the client has fetched the kept events of a stream.
    pub fn note_fetched(&mut self, stream: u64) {
        for answer in self.answers.iter_mut().filter(|answer| answer.id.stream == stream) {
            answer.is_fetched = true;
        }
    }

    /// The sequence number of the oldest event that may be evicted. Answers that were not fetched are pinned if their
    /// order is at least `pinned_from`.
    pub fn oldest(&self, pinned_from: u64) -> Option<u64> {
        let event = self.kept.front().map(|event| event.order);
        let answer = self.oldest_answer(pinned_from).map(|at| self.answers[at].order);
        event.into_iter().chain(answer).min()
    }

    /// Evicts the event that [`EventLog::oldest`] refers to.
    pub fn drop_oldest(&mut self, pinned_from: u64) {
        let Some(oldest) = self.oldest(pinned_from) else { return };
        if self.kept.front().is_some_and(|event| event.order == oldest) {
            self.drop_event();
        } else if let Some(at) = self.oldest_answer(pinned_from) {
            self.drop_answer(at);
        }
    }

    fn oldest_answer(&self, pinned_from: u64) -> Option<usize> {
        self.answers.iter().position(|answer| answer.is_fetched || answer.order < pinned_from)
    }

    /// The kept events of the same stream after `last`.
    pub fn after(&self, last: EventId) -> impl Iterator<Item = (EventId, Bytes)> + '_ {
        let behind = move |id: &EventId| id.stream == last.stream && id.event > last.event;
        // An answer is the last event of its request. In a batch, other events may follow it, which does no harm.
        let kept = self.kept.iter().chain(&self.answers).filter(move |event| behind(&event.id));
        kept.map(|event| (event.id, event.data.clone()))
    }

    /// The kept events whose order is at least `from`, each with its order: the oldest first. The data is shared with the log.
    pub fn since(&self, from: u64) -> Vec<(EventId, Bytes, u64)> {
        let newest = |events: &VecDeque<KeptEvent>| {
            let new = events.iter().rev().take_while(|event| event.order >= from);
            new.map(|event| (event.id, event.data.clone(), event.order)).collect::<Vec<_>>()
        };
        let mut events = newest(&self.kept);
        events.extend(newest(&self.answers));
        events.sort_unstable_by_key(|(_, _, order)| *order);
        events
    }

    /// Returns true if a replay after `last` would have a gap, because later events of the stream were dropped or
    /// because `last` never existed. `next` is the number of the stream's next event.
    pub fn has_gap(&self, last: EventId, next: u64) -> bool {
        if last.event >= next {
            return true;
        }
        // Later numbers have been used, so `last.event` is below `next`.
        let behind = last.event + 1;
        let mut found: Vec<u64> = self.after(last).map(|(id, _)| id.event).collect();
        found.sort_unstable();
        !found.into_iter().eq(behind..next)
    }
}

/// Copies a short event: a slice would keep the whole buffer in which it arrived.
fn own(data: Bytes) -> Bytes {
    if data.len() < SHORT { Bytes::copy_from_slice(&data) } else { data }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(stream: u64, event: u64) -> EventId {
        EventId { epoch: 5, stream, event }
    }

    #[test]
    fn ids_are_read_back_and_nothing_else_is() {
        assert_eq!(EventId::parse(&id(3, 14).to_string()), Some(id(3, 14)));
        for text in ["", "3", "3-", "-1", "a-b", "3-4", "3-4-5", "3-4-+0000005", "3-4-00000005-6"] {
            assert_eq!(EventId::parse(text), None, "{text}");
        }
    }

    #[test]
    fn replays_one_stream_in_order() {
        let mut log = EventLog::new(10, 1000);
        for (n, stream) in [1, 2, 1, 2, 1].into_iter().enumerate() {
            log.push(id(stream, n as u64), Bytes::from(vec![b'x'; n]), 0);
        }
        let replay: Vec<_> = log.after(id(1, 0)).map(|(id, _)| id.event).collect();
        assert_eq!(replay, [2, 4]);
    }

    #[test]
    fn an_answer_outlives_any_number_of_notices() {
        let mut log = EventLog::new(3, 100);
        log.push_answer(id(1, 0), Bytes::from_static(b"answer"), 0);
        for n in 1..50 {
            log.push(id(2, n), Bytes::from_static(b"notice"), 0);
        }
        let replay: Vec<_> = log.after(id(1, 0)).collect();
        assert!(replay.is_empty());
        log.push_answer(id(2, 50), Bytes::from(vec![b'x'; 300]), 0);
        let replay: Vec<_> = log.after(id(2, 47)).map(|(id, _)| id.event).collect();
        assert_eq!(replay, [48, 49, 50]);
        assert!(!log.has_gap(id(2, 47), 51) && log.has_gap(id(2, 40), 51));
        // The long answer has displaced the older one.
        assert!(log.has_gap(id(1, u64::MAX), 1));
        let mut none = EventLog::new(0, 0);
        none.push_answer(id(1, 1), Bytes::from_static(b"x"), 0);
        assert_eq!(none.after(id(1, 0)).count(), 0);
    }

    #[test]
    fn new_events_of_all_streams_are_listed_in_their_order() {
        let mut log = EventLog::new(3, 100);
        for order in 0..4 {
            log.push(id(1, order), Bytes::from_static(b"notice"), order);
        }
        log.push_answer(id(1, 4), Bytes::from_static(b"answer"), 4);
        log.push(id(2, 0), Bytes::from_static(b"notice"), 5);
        let since =
            |from| log.since(from).into_iter().map(|(id, _, order)| (id.stream, order)).collect::<Vec<_>>();
        assert_eq!(since(0), [(1, 2), (1, 3), (1, 4), (2, 5)], "the first two are no longer kept");
        assert_eq!(since(4), [(1, 4), (2, 5)]);
        assert_eq!(since(6), []);
    }

    #[test]
    fn caps_hold_and_gaps_are_known() {
        let mut log = EventLog::new(3, 100);
        for n in 0..5 {
            log.push(id(1, n), Bytes::from_static(b"12345"), 0);
        }
        assert_eq!(log.after(id(1, 0)).count(), 3);
        assert!(log.has_gap(id(1, 0), 5));
        assert!(!log.has_gap(id(1, 1), 5));
        assert!(!log.has_gap(id(1, 4), 5));
        // These ids were never assigned.
        assert!(log.has_gap(id(1, 5), 5));
        assert!(log.has_gap(id(1, u64::MAX), 5));
        let mut none = EventLog::new(0, 0);
        none.push(id(1, 1), Bytes::from_static(b"x"), 0);
        assert!(none.has_gap(id(1, 0), 2));
        log.push(id(1, 5), Bytes::from(vec![0; 200]), 0);
        assert_eq!(log.after(id(1, 0)).count(), 0);
    }

    #[test]
    fn the_oldest_goes_first_and_no_answer_that_is_pinned() {
        let mut log = EventLog::new(10, 1000);
        log.push_answer(id(1, 0), Bytes::from_static(b"first"), 3);
        log.push(id(2, 0), Bytes::from_static(b"notice"), 4);
        log.push_answer(id(2, 1), Bytes::from_static(b"second"), 5);
        assert_eq!((log.bytes(), log.oldest(0)), (17, Some(4)), "answers are pinned");
        assert_eq!(log.oldest(4), Some(3), "not for ever");
        log.drop_oldest(0);
        assert_eq!((log.bytes(), log.oldest(0)), (11, None));
        log.drop_oldest(0);
        assert_eq!(log.bytes(), 11);
        log.note_fetched(2);
        assert_eq!(log.oldest(0), Some(5), "the client has it");
        log.drop_oldest(0);
        assert_eq!((log.bytes(), log.after(id(2, 0)).count()), (5, 0));
        log.drop_oldest(4);
        assert_eq!((log.bytes(), log.oldest(9)), (0, None));
    }

    #[test]
    fn a_fetched_answer_makes_room_before_one_that_was_not_fetched() {
        let mut log = EventLog::new(10, 100);
        log.push_answer(id(1, 1), Bytes::from(vec![b'x'; 40]), 0);
        log.push_answer(id(2, 1), Bytes::from(vec![b'x'; 40]), 1);
        log.note_fetched(2);
        log.push_answer(id(3, 1), Bytes::from(vec![b'x'; 40]), 2);
        let has = |stream| log.after(id(stream, 0)).count();
        assert_eq!((log.bytes(), has(1), has(2), has(3)), (80, 1, 0, 1));
    }
}
