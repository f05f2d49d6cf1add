//! Sessions whose event streams have events that wait to be copied to the store. The events themselves stay with the sessions, which keep
//! a limited number of them. This module must not know how events are copied.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use store::sessions::SessionKey;

use crate::event_chunks::NewEvents;
use crate::families::MOST_EVENT_BYTES;

/// The maximum number of sessions that wait. The events of further sessions are copied together with their next events.
const MOST_WAITING: usize = 100_000;

/// The maximum number of sessions, and about the maximum size of their events in bytes, that are copied together. All commands share one
/// connection, so a large batch would delay others.
const AT_ONCE: (usize, usize) = (256, 256 << 10);

/// A session that keeps the events of its streams.
pub trait EventSource: Send + Sync {
    /// Returns events that were not returned before, about `most` bytes of them. The session waits no longer in the outbox, unless there
    /// are more events.
    fn take_new(&self, most: usize) -> TakenEvents;

    /// Records that events could not be copied, so that they are returned again. Returns true if the session must wait in the outbox
    /// again.
    fn put_back(&self, taken: &TakenEvents) -> bool;
}

/// Events that a session has returned.
#[derive(Debug, Default)]
pub struct TakenEvents {
    /// The events.
    pub streams: Vec<NewEvents>,
    /// The number of events that the session no longer keeps, although they were not copied.
    pub lost: u64,
    /// True if there are more events.
    pub has_more: bool,
    /// The position of the first event.
    pub from: u64,
}

impl TakenEvents {
    /// Removes events that are larger than all events of a stream may be. The stream then has a gap.
    fn leave_out_large_events(&mut self) {
        for new in &mut self.streams {
            let before = new.events.len();
            new.events.retain(|(_, data)| data.len() <= MOST_EVENT_BYTES);
            self.lost += (before - new.events.len()) as u64;
        }
        self.streams.retain(|new| !new.events.is_empty() || new.end.is_some());
    }
}

/// The events of one session that are being copied.
pub(crate) struct SessionEvents {
    pub(crate) key: SessionKey,
    pub(crate) source: Arc<dyn EventSource>,
    pub(crate) taken: TakenEvents,
}

/// The sessions that wait.
#[derive(Default)]
pub(crate) struct EventOutbox(Mutex<VecDeque<(SessionKey, Weak<dyn EventSource>)>>);

impl EventOutbox {
    /// Adds a session that does not wait yet; returns false if too many others wait.
    pub(crate) fn add(&self, key: SessionKey, source: Weak<dyn EventSource>) -> bool {
        let mut waiting = self.0.lock();
        let has_room = waiting.len() < MOST_WAITING;
        if has_room {
            waiting.push_back((key, source));
        }
        has_room
    }

    /// Returns true if no session waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().is_empty()
    }

    /// Takes the next events. Sessions with more events wait again.
    pub(crate) fn take(&self) -> Vec<SessionEvents> {
        let (mut batch, mut room) = (Vec::new(), AT_ONCE.1);
        while batch.len() < AT_ONCE.0 && room > 0 {
            // The session locks itself, and must not wait for the outbox meanwhile.
            let Some((key, source)) = self.0.lock().pop_front() else { break };
            let Some(source) = source.upgrade() else { continue };
            let mut taken = source.take_new(room);
            if taken.has_more {
                self.0.lock().push_back((key, Arc::downgrade(&source)));
            }
            taken.leave_out_large_events();
            room = room.saturating_sub(taken.streams.iter().map(NewEvents::size).sum());
            batch.push(SessionEvents { key, source, taken });
        }
        batch
    }

    /// Puts back events that could not be copied.
    pub(crate) fn put_back(&self, batch: Vec<SessionEvents>) {
        for SessionEvents { key, source, taken } in batch {
            if source.put_back(&taken) {
                self.0.lock().push_back((key, Arc::downgrade(&source)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    /// A session with this many events of 100 KiB on one stream.
    struct Busy(Mutex<(u64, u64)>);

    const SIZE: usize = 100 << 10;

    impl EventSource for Busy {
        fn take_new(&self, most: usize) -> TakenEvents {
            let mut next = self.0.lock();
            let (from, mut events) = (next.0, Vec::new());
            while next.0 < next.1 && events.len() * SIZE < most {
                events.push((next.0, Bytes::from(vec![b'x'; SIZE])));
                next.0 += 1;
            }
            let streams = vec![NewEvents { epoch: 1, stream: 0, events, requests: vec![], end: None }];
            TakenEvents { streams, lost: 0, has_more: next.0 < next.1, from }
        }

        fn put_back(&self, taken: &TakenEvents) -> bool {
            self.0.lock().0 = taken.from;
            !taken.has_more
        }
    }

    fn busy(events: u64) -> Arc<dyn EventSource> {
        Arc::new(Busy(Mutex::new((0, events))))
    }

    fn numbers(batch: &[SessionEvents]) -> Vec<(u8, Vec<u64>)> {
        let of = |events: &SessionEvents| {
            events.taken.streams[0].events.iter().map(|(number, _)| *number).collect()
        };
        batch.iter().map(|events| (events.key[0], of(events))).collect()
    }

    #[test]
    fn sessions_take_turns_and_a_batch_is_small() {
        let (outbox, one, two) = (EventOutbox::default(), busy(5), busy(1));
        assert!(outbox.add([1; 16], Arc::downgrade(&one)) && outbox.add([2; 16], Arc::downgrade(&two)));
        assert_eq!(numbers(&outbox.take()), [(1, vec![0, 1, 2])]);
        assert_eq!(numbers(&outbox.take()), [(2, vec![0]), (1, vec![3, 4])]);
        assert!(outbox.is_empty() && outbox.take().is_empty());
    }

    #[test]
    fn events_that_could_not_be_copied_are_taken_again() {
        let (outbox, one) = (EventOutbox::default(), busy(5));
        outbox.add([1; 16], Arc::downgrade(&one));
        let batch = outbox.take();
        outbox.put_back(batch);
        assert_eq!(numbers(&outbox.take()), [(1, vec![0, 1, 2])]);
        let last = outbox.take();
        assert_eq!(numbers(&last), [(1, vec![3, 4])]);
        outbox.put_back(last);
        assert_eq!(numbers(&outbox.take()), [(1, vec![3, 4])]);
    }

    #[test]
    fn an_event_that_is_too_large_is_left_out() {
        let event = |size: usize| Bytes::from(vec![b'x'; size]);
        let new = |events, end| NewEvents { epoch: 1, stream: 0, events, requests: vec![], end };
        let large = || event(MOST_EVENT_BYTES + 1);
        let streams = vec![
            new(vec![(0, event(1)), (1, large()), (2, event(MOST_EVENT_BYTES))], None),
            new(vec![(0, large())], None),
            new(vec![(0, large())], Some(1)),
        ];
        let mut taken = TakenEvents { streams, ..TakenEvents::default() };
        taken.leave_out_large_events();
        let left: Vec<_> = taken.streams.iter().map(|new| (new.events.len(), new.end)).collect();
        assert_eq!((left, taken.lost), (vec![(2, None), (0, Some(1))], 3));
    }

    #[test]
    fn sessions_that_are_gone_wait_for_nothing_and_too_many_are_refused() {
        let (outbox, one) = (EventOutbox::default(), busy(1));
        outbox.add([1; 16], Arc::downgrade(&busy(1)));
        assert!(outbox.take().is_empty());
        for _ in 0..MOST_WAITING {
            assert!(outbox.add([1; 16], Arc::downgrade(&one)));
        }
        assert!(!outbox.add([1; 16], Arc::downgrade(&one)));
    }
}
