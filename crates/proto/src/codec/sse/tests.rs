//! Hand-written cases of the event-stream codec; properties over arbitrary chunkings are in `tests/codec.rs`.

use super::*;

const LIMIT: usize = 40;

/// Feeds the chunks one by one and returns all events.
fn decode(chunks: &[&'static str]) -> Vec<Result<SseEvent, SseError>> {
    let mut decoder = SseDecoder::new(LIMIT);
    let mut found = Vec::new();
    for chunk in chunks {
        decoder.push(Bytes::from_static(chunk.as_bytes()));
        found.extend(std::iter::from_fn(|| decoder.next_event()));
        assert!(decoder.buffered() <= LIMIT);
    }
    found
}

fn data(text: &'static str) -> SseEvent {
    SseEvent { data: Some(Bytes::from_static(text.as_bytes())), ..SseEvent::default() }
}

fn all(events: &[SseEvent]) -> Vec<Result<SseEvent, SseError>> {
    events.iter().cloned().map(Ok).collect()
}

#[test]
fn reads_all_fields() {
    let found = decode(&["event: message\nid: 7\nretry: 1500\ndata: {}\n\n"]);
    let expected = SseEvent {
        event: Some("message".into()),
        data: Some("{}".into()),
        id: Some("7".into()),
        retry: Some(1500),
    };
    assert_eq!(found, all(&[expected]));
}

#[test]
fn takes_every_line_ending() {
    let expected = all(&[data("a\nb"), data("c")]);
    assert_eq!(decode(&["data:a\ndata:b\n\ndata:c\n\n"]), expected);
    assert_eq!(decode(&["data:a\rdata:b\r\rdata:c\r\r"]), expected);
    assert_eq!(decode(&["data:a\r\ndata:b\r\n\r\ndata:c\r\n\r\n"]), expected);
    assert_eq!(decode(&["data:a\r", "\ndata:b\r", "\n\r", "\ndata:c\n\r"]), expected);
}

#[test]
fn an_event_that_ends_with_cr_is_reported_at_once() {
    assert_eq!(decode(&["data:a\r\r"]), all(&[data("a")]));
}

#[test]
fn drops_one_byte_order_mark_at_the_beginning() {
    assert_eq!(decode(&["\u{feff}data:a\n\n\u{feff}data:b\n\n"]), all(&[data("a")]));
    let mut decoder = SseDecoder::new(LIMIT);
    for byte in b"\xEF\xBB\xBFdata:a\n\n" {
        decoder.push(Bytes::copy_from_slice(&[*byte]));
    }
    assert_eq!(decoder.next_event(), Some(Ok(data("a"))));
    let mut decoder = SseDecoder::new(LIMIT);
    decoder.push(Bytes::from_static(b"\xEF\xBBdata:no mark\ndata:a\n\n"));
    assert_eq!(decoder.next_event(), Some(Ok(data("a"))));
}

#[test]
fn follows_the_field_grammar() {
    assert_eq!(decode(&["data:  two\n\n"]), all(&[data(" two")]));
    assert_eq!(decode(&["data\n\n"]), all(&[data("")]));
    assert_eq!(decode(&["data\ndata\n\n"]), all(&[data("\n")]));
    assert_eq!(decode(&["data:a:b\nother: x\nDATA: y\n data: z\n\n"]), all(&[data("a:b")]));
    assert_eq!(decode(&["event: x\nevent:\ndata:a\n\n"]), all(&[data("a")]));
    assert_eq!(decode(&[": comment\n:\n\n\ndata:a\n:between\n\n"]), all(&[data("a")]));
}

#[test]
fn ids_with_nul_and_odd_retries_are_ignored() {
    let event = SseEvent { id: Some("1".into()), retry: Some(5), ..data("a") };
    assert_eq!(decode(&["id:1\nid:2\0\nretry:5\nretry:6s\nretry\ndata:a\n\n"]), all(&[event]));
    let event = SseEvent { retry: Some(u64::MAX), ..SseEvent::default() };
    assert_eq!(decode(&["retry:99999999999999999999999\n\n"]), all(&[event]));
}

#[test]
fn blocks_without_data_count_only_with_an_id_or_retry() {
    assert_eq!(decode(&["event: ping\n\n"]), []);
    let prime = SseEvent { id: Some("1".into()), data: Some(Bytes::new()), ..SseEvent::default() };
    assert_eq!(decode(&["id: 1\ndata:\n\n"]), all(&[prime]));
    let only_id = SseEvent { id: Some("1".into()), ..SseEvent::default() };
    assert_eq!(decode(&["id: 1\n\n"]), all(&[only_id]));
    let forget = SseEvent { id: Some(Bytes::new()), ..SseEvent::default() };
    assert_eq!(decode(&["id\n\n"]), all(&[forget]));
}

#[test]
fn an_event_that_is_cut_off_is_not_reported() {
    assert_eq!(decode(&["data:a\n\ndata:b\n"]), all(&[data("a")]));
}

#[test]
fn reports_an_over_long_event_once_and_goes_on() {
    let expected = [vec![Err(SseError::TooLong { limit: LIMIT })], all(&[data("ok")])].concat();
    let long = "data: 0123456789012345678901234567890123456789";
    assert_eq!(decode(&[long, "0123", "4567\ndata:more\n\ndata:ok\n\n"]), expected);
    assert_eq!(
        decode(&["data:01234567890123456789\n", "data:01234567890123456789\n\ndata:ok\n\n"]),
        expected
    );
    assert_eq!(decode(&["x: 01234567890123456789\n", "y:01234567890123456789\n\ndata:ok\n\n"]), expected);
}

#[test]
fn comments_never_count() {
    let mut decoder = SseDecoder::new(LIMIT);
    decoder.push(Bytes::from_static(b"data:a\n:"));
    for _ in 0..1000 {
        decoder.push(Bytes::from_static(b"keep-alive\n:\r\n:long"));
        assert_eq!(decoder.next_event(), None);
        assert!(decoder.buffered() <= LIMIT);
    }
    decoder.push(Bytes::from_static(b"\n\n"));
    assert_eq!(decoder.next_event(), Some(Ok(data("a"))));
}

#[test]
fn data_in_one_chunk_is_not_copied() {
    let chunk = Bytes::from_static(b"data: {\"id\":1}\r\n\r\n");
    let mut decoder = SseDecoder::new(LIMIT);
    decoder.push(chunk.clone());
    let event = decoder.next_event().unwrap().unwrap();
    assert_eq!(event.data.unwrap().as_ptr(), chunk[6..].as_ptr());
}

#[test]
fn encoded_events_cannot_be_broken_out_of() {
    let mut out = Vec::new();
    encode_event(&mut out, Some("a\ndata: evil"), Some("1\rid: 2"), Some(3), b"x\n\nevent: evil\r\ry");
    assert_eq!(out, b"retry: 3\ndata: x\ndata: \ndata: event: evil\ndata: \ndata: y\n\n");
    out.clear();
    encode_event(&mut out, Some("endpoint"), Some("1"), None, b"/message");
    assert_eq!(out, b"event: endpoint\nid: 1\ndata: /message\n\n");
    out.clear();
    encode_event(&mut out, None, Some("nul\0"), None, b"");
    assert_eq!(out, b"data: \n\n");
    out.clear();
    encode_comment(&mut out, b"still here\ndata: evil");
    assert_eq!(out, b": still here\n: data: evil\n\n");
}

#[test]
fn message_events_share_the_text() {
    let json = Bytes::from_static(b"{\"id\":1}");
    let parts = message_event(None, &json);
    assert_eq!(parts.concat(), b"event: message\ndata: {\"id\":1}\n\n");
    assert_eq!(parts[1].as_ptr(), json.as_ptr());
    let parts = message_event(Some("s-1"), &Bytes::from_static(b"{\n\"id\":1\r\n}"));
    assert_eq!(parts.concat(), b"event: message\nid: s-1\ndata: {\ndata: \"id\":1\ndata: }\n\n");
}

#[test]
fn an_event_that_has_begun_can_be_skipped() {
    for begun in ["data: one", "data: one\n", "id: 1\ndata", "data: one\ndata: two\n"] {
        for rest in [" and more\nid: 7\n\ndata: ok\n\n", "\n\ndata: ok\n\n"] {
            let mut decoder = SseDecoder::new(1 << 10);
            decoder.skip();
            decoder.push(Bytes::from(format!("data: first\n\n{begun}")));
            assert_eq!(decoder.next_event().unwrap().unwrap().data.unwrap(), "first");
            assert!(decoder.next_event().is_none());
            decoder.skip();
            assert_eq!(decoder.buffered(), 0);
            decoder.push(Bytes::from_static(rest.as_bytes()));
            let event = decoder.next_event().unwrap().unwrap();
            assert_eq!((event.data.unwrap(), event.id), ("ok".into(), None), "{begun:?} {rest:?}");
            assert!(decoder.next_event().is_none());
        }
    }
}
