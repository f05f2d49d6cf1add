//! Tests which messages reach a stream's reader, and when.

use http_body_util::BodyExt as _;

use super::*;

fn notice() -> Bytes {
    Bytes::from_static(br#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#)
}

/// Returns the events of a stream, up to the event that contains this text.
pub(super) async fn until(body: &mut Body, last: &str) -> String {
    let mut all = String::new();
    while !all.contains(last) {
        let frame = body.frame().await.expect("an event").expect("a whole one");
        all.push_str(&String::from_utf8_lossy(frame.data_ref().expect("data")));
    }
    all
}

#[tokio::test]
async fn a_change_before_the_standing_stream_is_told_once_it_is_open() {
    let streams = Streams::new(&Limits::default(), 0);
    for _ in 0..3 {
        streams.push_standing(notice(), true);
    }
    streams.push_standing(Bytes::from_static(b"{}"), false);
    let mut body = streams.open_standing(false).unwrap();
    streams.push_standing(Bytes::from_static(b"\"last\""), false);
    let told = until(&mut body, "last").await;
    assert_eq!(told.matches("list_changed").count(), 1, "{told}");
    // The next notification is about another change.
    streams.push_standing(notice(), true);
    streams.push_standing(Bytes::from_static(b"\"later\""), false);
    assert_eq!(until(&mut body, "later").await.matches("list_changed").count(), 1);
    // While the client reconnects, a change waits for it, whether or not the client names its last event.
    drop(body);
    streams.push_standing(notice(), true);
    let mut body = streams.open_standing(false).unwrap();
    streams.push_standing(Bytes::from_static(b"\"end\""), false);
    assert_eq!(until(&mut body, "end").await.matches("list_changed").count(), 1);
}

/// However many events a client has missed, the answer comes last, and is kept until it has been written for a reader.
#[tokio::test]
async fn a_resumed_call_gets_its_answer_after_many_missed_events() {
    for missed in [10, BEHIND, 3 * BEHIND] {
        let limits = Limits { replay_events: 2 * BEHIND, ..Limits::default() };
        let streams = Streams::new(&limits, 0);
        let (id, body) = streams.open(true, &[]).unwrap();
        let first = EventId { epoch: streams.table.lock().epoch, stream: id, event: 0 };
        drop(body);
        for number in 0..missed {
            streams.push(id, Bytes::from(format!("\"note {number}\"")));
        }
        streams.push_answer(id, Bytes::from_static(b"\"answer\""), Instant::now()).await;
        streams.finish(id);
        for _ in 0..2 {
            let mut body = streams.resume(first).expect("the call can be resumed");
            let told = until(&mut body, "\"answer\"").await;
            let notes = told.matches("\"note ").count();
            assert!(notes >= missed.min(2 * BEHIND - 1), "{notes} of {missed}");
            assert!(body.frame().await.is_none(), "the stream ends with the answer");
        }
    }
}
