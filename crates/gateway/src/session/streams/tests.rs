//! Tests which messages reach a stream's reader, and when.

use http_body_util::BodyExt as _;

use super::*;

fn notice() -> Bytes {
    Bytes::from_static(br#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#)
}

/// Returns the events of a stream, up to the event that contains this text.
async fn until(body: &mut Body, last: &str) -> String {
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
