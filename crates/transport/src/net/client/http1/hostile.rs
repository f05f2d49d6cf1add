//! Tests with answers by which an upstream may try to have its bytes misinterpreted. Each answer is either rejected
//! or read in the only way that the standard allows; in the second case, its connection is not used again.

use std::time::Instant;

use bytes::Bytes;
use http::Method;

use super::answer::{AnswerReader, READ};
use super::error::Http1Error;
use super::framing::NextPiece;
use super::head::{AnswerContext, HeadLimits};

const LIMITS: HeadLimits = HeadLimits { lines: 20, bytes: 8192 };

/// The status of an answer, its body, and true if the connection may be used again.
type Read = (u16, String, bool);

fn read_as(stream: &[u8], size: usize, method: &Method) -> Result<Read, Http1Error> {
    let mut reader = AnswerReader::new(LIMITS);
    let asked = AnswerContext { method, hears: None };
    let mut pieces = stream.chunks(size.max(1));
    let head = loop {
        let head = reader.head(pieces.next().unwrap_or_default(), asked)?;
        assert!(reader.held() <= LIMITS.bytes + READ);
        if let Some(head) = head {
            break head;
        }
    };
    let mut body = Vec::new();
    loop {
        match reader.piece()? {
            NextPiece::Piece(piece) => body.extend_from_slice(&piece),
            NextPiece::End => break,
            NextPiece::Nothing => reader.feed(Bytes::copy_from_slice(pieces.next().unwrap_or_default()))?,
        }
    }
    // Bytes that arrive later are noticed on the idle connection.
    let again = reader.may_serve_again() && pieces.next().is_none();
    Ok((head.response.status().as_u16(), String::from_utf8_lossy(&body).into_owned(), again))
}

fn read(stream: &str) -> Result<Read, Http1Error> {
    let whole = read_as(stream.as_bytes(), stream.len(), &Method::GET);
    for size in 1..stream.len().min(200) {
        let cut = read_as(stream.as_bytes(), size, &Method::GET);
        assert_eq!(cut.as_ref().ok(), whole.as_ref().ok(), "{stream:?} in pieces of {size}");
    }
    whole
}

#[test]
fn an_answer_whose_end_two_parties_may_see_differently_is_the_last_of_its_connection() {
    let own = |status: u16, body: &str| (status, body.to_owned(), false);
    for (stream, wanted) in [
        // A length and chunks.
        (
            "200 OK\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
            own(200, "a"),
        ),
        (
            "200 OK\r\ntransfer-encoding: chunked\r\ncontent-length: 3\r\n\r\n1\r\na\r\n0\r\n\r\n",
            own(200, "a"),
        ),
        ("200 OK\r\ntransfer-encoding: xchunked\r\ncontent-length: 1\r\n\r\nabc", own(200, "abc")),
        // Chunks that are not the last coding, or that are listed twice.
        ("200 OK\r\ntransfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n", own(200, "0\r\n\r\n")),
        (
            "200 OK\r\ntransfer-encoding: chunked\r\ntransfer-encoding: gzip\r\n\r\n0\r\n\r\n",
            own(200, "0\r\n\r\n"),
        ),
        (
            "200 OK\r\ntransfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
            own(200, "a"),
        ),
        ("200 OK\r\ntransfer-encoding: chunked, chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", own(200, "a")),
        ("200 OK\r\ntransfer-encoding: \x0bchunked\r\n\r\n0\r\n\r\n", own(0, "")),
        // Statuses that allow no body, sent with a body.
        ("204 No Content\r\ncontent-length: 3\r\n\r\n", own(204, "")),
        ("204 No Content\r\ncontent-length: 3\r\n\r\nabc", own(204, "")),
        ("204 No Content\r\ntransfer-encoding: chunked\r\n\r\n", own(204, "")),
        ("304 Not Modified\r\ncontent-length: 3\r\n\r\nabc", own(304, "")),
        // More bytes than announced.
        ("200 OK\r\ncontent-length: 1\r\n\r\nabc", own(200, "a")),
        ("200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", own(200, "")),
    ] {
        match read(&format!("HTTP/1.1 {stream}")) {
            Ok(found) => assert_eq!(found, wanted, "{stream:?}"),
            Err(_) => assert_eq!(wanted.0, 0, "{stream:?}"),
        }
    }
    let sure = read("HTTP/1.1 204 No Content\r\ncontent-length: 0\r\n\r\n").unwrap();
    assert_eq!(sure, (204, String::new(), true));
    let sure = read("HTTP/1.1 304 Not Modified\r\ncontent-length: 3\r\n\r\n").unwrap();
    assert_eq!(sure, (304, String::new(), true));
}

#[test]
fn heads_that_parties_read_differently_are_refused() {
    for lines in [
        "content-length: 1\r\ncontent-length: 2",
        "content-length: 1, 2",
        "content-length: 1\r\nContent-Length: 01, 3",
        "content-length: 0x1",
        "content-length: -1",
        "content-length: 1 1",
        "content-length: 18446744073709551616",
        "content-length : 1",
        "content-length\t: 1",
        " content-length: 1",
        "x: y\r\n content-length: 1",
        "x: y\r\n\tz",
        "x: y\rcontent-length: 1",
        "x: y\0",
        "x\0: y",
        ": y",
        "x",
        "transfer-encoding: chunked\r\ncontent-length: a",
    ] {
        let stream = format!("HTTP/1.1 200 OK\r\n{lines}\r\n\r\na");
        assert!(read(&stream).is_err(), "{lines:?}");
    }
    for stream in [
        "",
        "\r\n",
        "HTTP/1.1 200 OK\r\n",
        "HTTP/1.1 200 OK\r\nx: y\r\n",
        "HTTP/1.1  200 OK\r\n\r\n",
        "HTTP/1.1 20 OK\r\n\r\n",
        "HTTP/1.1 2000 OK\r\n\r\n",
        "HTTP/1.2 200 OK\r\n\r\n",
        "HTTP/11 200 OK\r\n\r\n",
        "http/1.1 200 OK\r\n\r\n",
        "ICY 200 OK\r\n\r\n",
        "<html>\r\n\r\n",
        " HTTP/1.1 200 OK\r\n\r\n",
    ] {
        assert!(read(stream).is_err(), "{stream:?}");
    }
}

#[test]
fn lines_that_end_without_a_carriage_return_end_in_heads_alone() {
    // RFC 9112, 2.2 allows a bare LF in the head; within chunks it would move their ends.
    let (status, body, again) = read("HTTP/1.1 200 OK\ncontent-length: 1\n\na").unwrap();
    assert_eq!((status, &*body, again), (200, "a", true));
    for chunks in ["1\na\r\n0\r\n\r\n", "1\r\na\n0\r\n\r\n", "1\r\na\r\n0\n\r\n", "1\r\na\r\n0\r\n\n"] {
        let stream = format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{chunks}");
        assert!(read(&stream).is_err(), "{chunks:?}");
    }
}

#[test]
fn chunk_sizes_beyond_all_numbers_are_refused_and_large_ones_are_waited_for() {
    for chunks in [
        "10000000000000000\r\n",
        "00000000000000001\r\na\r\n0\r\n\r\n",
        "fffffffffffffffff\r\n",
        "+1\r\na\r\n0\r\n\r\n",
        "1_0\r\n",
        " 1\r\na\r\n0\r\n\r\n",
        "\u{661}\r\n",
        "ffffffffffffffff\r\na\r\n0\r\n\r\n",
        "7fffffffffffffff\r\na\r\n0\r\n\r\n",
    ] {
        let stream = format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{chunks}");
        assert!(read(&stream).is_err(), "{chunks:?}");
    }
}

#[test]
fn a_length_beyond_all_files_asks_for_no_more_room_than_any_other() {
    for length in [u64::MAX, u64::MAX - 1, 1 << 63, 1 << 20] {
        let mut reader = AnswerReader::new(LIMITS);
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n");
        let asked = AnswerContext { method: &Method::GET, hears: None };
        assert!(reader.head(head.as_bytes(), asked).unwrap().is_some());
        assert_eq!(reader.left(), Some(length));
        assert_eq!(reader.room(), Some(128 * 1024), "{length}");
        reader.feed(Bytes::from_static(b"abc")).unwrap();
        assert_eq!(reader.piece().unwrap(), NextPiece::Piece("abc".into()));
        assert!(matches!(reader.feed(Bytes::new()), Err(Http1Error::Incomplete)));
    }
}

/// A flood before a head must be parsed only once: parsing it again from its beginning with each piece would keep a core busy
/// for minutes.
#[test]
fn floods_before_a_head_are_read_once() {
    let wide = HeadLimits { lines: 100, bytes: 1 << 20 };
    let asked = AnswerContext { method: &Method::GET, hears: None };
    for (flood, answers) in [("HTTP/1.1 100 x\r\n\r\n", 50_000), ("\r\n", 500_000), ("\n", 1_000_000)] {
        let begun = Instant::now();
        let mut reader = AnswerReader::new(wide);
        for _ in 0..answers {
            assert!(reader.head(flood.as_bytes(), asked).unwrap().is_none());
            assert!(reader.held() <= flood.len());
        }
        // The flooding bytes still count towards the head's length.
        let refused = (0..200_000).find_map(|_| reader.head(flood.as_bytes(), asked).err());
        assert!(matches!(refused, Some(Http1Error::LongHead)), "{flood:?}");
        assert!(begun.elapsed().as_secs() < 20, "{flood:?} took {:?}", begun.elapsed());
    }
}

#[test]
fn another_protocol_is_never_switched_to() {
    assert!(read("HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\n\r\n").is_err());
    let after = "HTTP/1.1 100 x\r\ncontent-length: 9\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
    assert_eq!(read(after).unwrap(), (200, String::new(), true));
}

#[test]
fn an_answer_to_head_has_no_body_whatever_it_says() {
    for head in ["content-length: 3", "transfer-encoding: chunked"] {
        let stream = format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n");
        let found = read_as(stream.as_bytes(), 7, &Method::HEAD).unwrap();
        assert_eq!(found, (200, String::new(), true));
        let behind = format!("{stream}abc");
        assert!(!read_as(behind.as_bytes(), behind.len(), &Method::HEAD).unwrap().2);
    }
}
