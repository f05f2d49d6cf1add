//! Hand-written cases of the line codec; properties over arbitrary chunkings are in `tests/codec.rs`.

use super::*;

const LIMIT: usize = 8;

/// Feeds the chunks one by one and returns all lines and errors, including those at the end of the stream.
fn decode(chunks: &[&'static str]) -> Vec<Result<String, LineError>> {
    let mut decoder = LineDecoder::new(LIMIT);
    let mut found = Vec::new();
    for chunk in chunks {
        decoder.push(Bytes::from_static(chunk.as_bytes()));
        found.extend(std::iter::from_fn(|| decoder.next_line()));
        assert!(decoder.buffered() <= LIMIT + 1);
    }
    found.extend(std::iter::from_fn(|| decoder.finish()));
    assert_eq!(decoder.buffered(), 0);
    found.into_iter().map(|line| line.map(|bytes| String::from_utf8(bytes.to_vec()).unwrap())).collect()
}

fn ok(lines: &[&str]) -> Vec<Result<String, LineError>> {
    lines.iter().map(|line| Ok((*line).to_owned())).collect()
}

#[test]
fn splits_at_lf_and_strips_one_cr() {
    assert_eq!(decode(&["a\nb\r\nc\r\r\n"]), ok(&["a", "b", "c\r"]));
    assert_eq!(decode(&["a\rb\n"]), ok(&["a\rb"]));
}

#[test]
fn skips_empty_lines() {
    assert_eq!(decode(&["\n\r\n\n", "\r", "\n", "a\n\n"]), ok(&["a"]));
}

#[test]
fn joins_lines_across_chunks() {
    assert_eq!(decode(&["ab", "c", "", "d\ne", "\r", "\nf\n"]), ok(&["abcd", "e", "f"]));
}

#[test]
fn last_line_needs_no_newline() {
    assert_eq!(decode(&["a\nb"]), ok(&["a", "b"]));
    assert_eq!(decode(&["a\nb\r"]), ok(&["a", "b"]));
    assert_eq!(decode(&["a\n\r"]), ok(&["a"]));
}

#[test]
fn line_endings_do_not_count_towards_the_limit() {
    assert_eq!(decode(&["12345678\r\n"]), ok(&["12345678"]));
    assert_eq!(decode(&["12345678", "\r", "\n"]), ok(&["12345678"]));
    assert_eq!(decode(&["12345678\r"]), ok(&["12345678"]));
}

fn too_long(beginning: &'static str) -> LineError {
    LineError::TooLong { limit: LIMIT, beginning: Bytes::from_static(beginning.as_bytes()) }
}

#[test]
fn reports_an_over_long_line_once_and_goes_on() {
    let expected = [vec![Err(too_long("12345678"))], ok(&["ok"])].concat();
    assert_eq!(decode(&["123456789\nok\n"]), expected);
    assert_eq!(decode(&["1234", "56789", "more", "and more\nok\n"]), expected);
    assert_eq!(decode(&["12345678\r", "9\nok"]), expected);
    assert_eq!(decode(&["12345678", "\r\r\nok"]), expected);
}

#[test]
fn reports_an_over_long_line_before_its_end() {
    let mut decoder = LineDecoder::new(LIMIT);
    decoder.push(Bytes::from_static(b"123456789"));
    assert_eq!(decoder.next_line(), Some(Err(too_long("12345678"))));
    assert_eq!(decoder.buffered(), 0);
    assert_eq!(decoder.finish(), None, "an over-long last line is not reported again");
}

#[test]
fn a_line_in_one_chunk_is_not_copied() {
    let chunk = Bytes::from_static(b"one\ntwo\nthr");
    let mut decoder = LineDecoder::new(LIMIT);
    decoder.push(chunk.clone());
    for start in [0, 4] {
        let line = decoder.next_line().unwrap().unwrap();
        assert_eq!(line.as_ptr(), chunk[start..].as_ptr());
    }
    assert_eq!(decoder.next_line(), None);
}

#[test]
fn several_chunks_may_wait() {
    let mut decoder = LineDecoder::new(LIMIT);
    decoder.push(Bytes::from_static(b"a\nb"));
    decoder.push(Bytes::from_static(b"c\nd"));
    let lines: Vec<_> = std::iter::from_fn(|| decoder.finish()).map(Result::unwrap).collect();
    assert_eq!(lines, ["a", "bc", "d"]);
}

#[test]
fn a_line_that_has_begun_can_be_skipped() {
    let mut decoder = LineDecoder::new(LIMIT);
    assert_eq!(decoder.skip(), "", "none has begun");
    decoder.push(Bytes::from_static(b"a\nbegun"));
    assert_eq!(decoder.next_line(), Some(Ok("a".into())));
    assert_eq!(decoder.next_line(), None);
    assert_eq!(decoder.skip(), "begun");
    assert_eq!(decoder.buffered(), 0);
    decoder.push(Bytes::from_static(b" more"));
    assert_eq!(decoder.next_line(), None);
    decoder.push(Bytes::from_static(b" and more\nok\n"));
    assert_eq!(decoder.next_line(), Some(Ok("ok".into())));
}
