//! Tests of chunks, and of the events that a client gets again.

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
    let entry = |chunk: &Vec<u8>| {
        StoreReply::List(vec![text("1-0"), StoreReply::List(vec![text(FIELD), text(chunk)])])
    };
    StreamCopy::read((&KEY, NAME), &cluster().1, &StoreReply::List(chunks.iter().map(entry).collect()))
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
    let [add, expire] = append(NAME, b"sealed", 9);
    assert_eq!(parts(&add), ["XADD", NAME, "MAXLEN", "9", "*", "chunk", "sealed"]);
    assert_eq!(parts(&expire), ["PEXPIRE", NAME, "300000"]);
    assert_eq!(parts(&read(NAME)), ["XRANGE", NAME, "-", "+", "COUNT", "512"]);
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
    assert_eq!(copy(&[odd(b"{\"events\":\"many\"}\nx"), odd(b"no line"), odd(b"")]), StreamCopy::default());
    let short = odd(b"{\"events\":[[0,1],[1,9]],\"requests\":[],\"end\":2}\nxyz");
    assert_eq!(copy(&[short]), StreamCopy::default());
    let reply = StoreReply::List(vec![StoreReply::Nil, StoreReply::List(vec![text("1-0")])]);
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
