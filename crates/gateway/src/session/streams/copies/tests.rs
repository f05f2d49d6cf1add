//! Tests which events are copied, and how a stream of another process continues.

use config::Limits;
use parking_lot::Mutex;

use super::super::tests::until;
use super::*;
use crate::session::streams::STANDING;
use engine::session::EventId;

/// A queue that counts the sessions that are added; it is full if it has no room.
struct Counting {
    added: Mutex<usize>,
    has_room: bool,
}

impl CopyQueue for Counting {
    fn add(&self, _: SessionKey, _: Weak<dyn EventSource>) -> bool {
        *self.added.lock() += 1;
        self.has_room
    }
}

struct Nobody;

impl EventSource for Nobody {
    fn take_new(&self, _: usize) -> TakenEvents {
        TakenEvents::default()
    }

    fn put_back(&self, _: &TakenEvents) -> bool {
        false
    }
}

fn streams(limits: &Limits, has_room: bool) -> (Streams, Arc<Counting>) {
    let (streams, queue) = (Streams::new(limits, 5), Arc::new(Counting { added: Mutex::new(0), has_room }));
    streams.copy_by(queue.clone(), [1; 16], Weak::<Nobody>::new());
    (streams, queue)
}

fn id(text: &'static str) -> Id {
    Id::from_json(Bytes::from_static(text.as_bytes())).unwrap()
}

fn message(text: &'static str) -> Bytes {
    Bytes::from_static(text.as_bytes())
}

/// The stream, the texts of the events and the end of each part.
fn parts(taken: &TakenEvents) -> Vec<(u64, Vec<String>, Option<u64>)> {
    let text = |data: &Bytes| String::from_utf8_lossy(data).into_owned();
    let part = |new: &NewEvents| {
        let numbers: Vec<_> = new.events.iter().map(|(number, _)| *number).collect();
        assert!(numbers.is_sorted(), "{numbers:?}");
        (new.stream, new.events.iter().map(|(_, data)| text(data)).collect(), new.end)
    };
    taken.streams.iter().map(part).collect()
}

const ALL: usize = usize::MAX;

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[tokio::test]
async fn each_event_is_taken_once_and_the_end_of_a_stream_too() {
    let (streams, queue) = streams(&Limits::default(), true);
    assert_eq!((*queue.added.lock(), parts(&streams.take_new(ALL))), (0, vec![]));
    let (call, _body) = streams.open(true, &[id("7")]).unwrap();
    streams.push(call, message("one"));
    streams.push_answer(call, message("two"), tokio::time::Instant::now()).await;
    assert_eq!(*queue.added.lock(), 1, "once until its events are taken");
    let taken = streams.take_new(ALL);
    assert_eq!(parts(&taken), [(call, texts(&["", "one", "two"]), None)]);
    assert_eq!(
        (taken.streams[0].requests.clone(), taken.has_more, taken.lost),
        (vec![message("7")], false, 0)
    );
    streams.finish(call);
    assert_eq!(*queue.added.lock(), 2);
    let end = streams.take_new(ALL);
    assert_eq!((parts(&end), &end.streams[0].requests), (vec![(call, vec![], Some(3))], &vec![message("7")]));
    assert_eq!(parts(&streams.take_new(ALL)), []);
    // They were not written.
    assert!(streams.put_back(&end) && !streams.put_back(&taken), "it waits already");
    assert_eq!(parts(&streams.take_new(ALL)), [(call, texts(&["", "one", "two"]), Some(3))]);
    streams.copy_again();
    let again = streams.take_new(ALL);
    assert_eq!((parts(&again), again.lost), (vec![(call, texts(&["", "one", "two"]), Some(3))], 0));
}

#[test]
fn a_batch_has_a_size_and_a_full_queue_is_asked_again() {
    let (streams, queue) = streams(&Limits::default(), false);
    let _body = streams.open_standing(false).unwrap();
    for text in ["aaa", "bbb", "ccc"] {
        streams.push(STANDING, message(text));
    }
    assert_eq!(*queue.added.lock(), 3);
    let first = streams.take_new(4);
    assert_eq!((parts(&first), first.has_more), (vec![(STANDING, texts(&["aaa", "bbb"]), None)], true));
    let second = streams.take_new(4);
    assert_eq!((parts(&second), second.has_more), (vec![(STANDING, texts(&["ccc"]), None)], false));
}

#[test]
fn events_that_are_dropped_before_they_are_taken_are_counted() {
    let limits = Limits { replay_events: 2, ..Limits::default() };
    let (streams, _) = streams(&limits, true);
    let _body = streams.open_standing(false).unwrap();
    for text in ["a", "b", "c", "d", "e"] {
        streams.push(STANDING, message(text));
    }
    let taken = streams.take_new(ALL);
    assert_eq!((parts(&taken), taken.lost), (vec![(STANDING, texts(&["d", "e"]), None)], 3));
    assert_eq!(taken.streams[0].events[0].0, 3);
}

/// Returns the texts of events, in the order in which they arrived.
fn data(events: &str) -> Vec<&str> {
    events.lines().filter_map(|line| line.strip_prefix("data: ")).collect()
}

#[tokio::test]
async fn a_standing_stream_of_another_process_continues_and_nothing_is_sent_twice() {
    let (streams, _) = streams(&Limits::default(), true);
    let last = EventId { epoch: 0xabc, stream: STANDING, event: 4 };
    let missed = || vec![(5, message("")), (6, message("six")), (7, message("seven"))];
    let (mut body, is_new) = streams.continue_standing(last, missed(), false).unwrap();
    assert!(is_new);
    streams.push(STANDING, message("own"));
    let events = until(&mut body, "own").await;
    assert_eq!(data(&events), ["six", "seven", "own"]);
    assert!(events.contains("id: 0-6-00000abc") && events.contains("id: 0-7-00000abc"), "{events}");
    // The connection breaks, and the client has only got the events of the other process.
    drop(body);
    streams.push(STANDING, message("later"));
    let got_one = EventId { event: 6, ..last };
    let (mut body, is_new) = streams.continue_standing(got_one, vec![(7, message("seven"))], false).unwrap();
    assert!(!is_new);
    assert_eq!(data(&until(&mut body, "later").await), ["seven", "own", "later"]);
    // It names an event of this process.
    let own = EventId { epoch: streams.table.lock().epoch, stream: STANDING, event: 0 };
    assert_eq!(data(&until(&mut streams.resume(own).unwrap(), "later").await), ["later"]);
    // Another process had the stream in between, so nobody knows what the client has got.
    let between = EventId { epoch: 0xdef, ..last };
    let (mut body, is_new) = streams.continue_standing(between, missed(), true).unwrap();
    assert!(is_new);
    streams.push(STANDING, message("end"));
    assert_eq!(data(&until(&mut body, "end").await), ["six", "seven", "", "end"]);
}

#[tokio::test]
async fn own_events_that_are_no_longer_kept_are_a_gap() {
    let limits = Limits { replay_events: 2, ..Limits::default() };
    let (streams, _) = streams(&limits, true);
    let last = EventId { epoch: 0xabc, stream: STANDING, event: 4 };
    let (body, _) = streams.continue_standing(last, vec![], false).unwrap();
    drop(body);
    for text in ["a", "b", "c"] {
        streams.push(STANDING, message(text));
    }
    let (_, is_new) = streams.continue_standing(last, vec![], false).unwrap();
    assert!(is_new);
}
