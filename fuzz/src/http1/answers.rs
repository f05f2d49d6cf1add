//! Answers: the result does not depend on how an answer is cut into reads, and equals that of a simple parser of the whole
//! answer. The reader never holds more than a head of the permitted length and one read.

use bytes::Bytes;
use http::Method;
use transport::net::client::http1::{AnswerContext, AnswerReader, HeadLimits, NextPiece, READ};

use super::reference;

/// The request that is answered, the limits, and the sizes of reads.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The method of the request.
    pub method: Method,
    /// True if the request itself asks the server to close the connection.
    pub closes: bool,
    /// True if the connection may be used again only after an answer that promises to keep it open, as behind a proxy.
    pub is_wary: bool,
    /// The limits of a head.
    pub limits: HeadLimits,
    /// The sizes of reads, which are used in turn.
    pub sizes: Vec<u8>,
}

/// An answer, as the reader returned it.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    /// Its status.
    pub status: u16,
    /// Headers, sorted by name, without those that concern only the connection.
    pub headers: Vec<(String, Vec<u8>)>,
    /// Its body, or the part of it before the fault.
    pub body: Vec<u8>,
    /// The number of bytes that follow the end in the stream, and true if the connection may be used again; `None` if
    /// the body is faulty.
    pub end: Option<(usize, bool)>,
}

/// The fuzzer's entry.
pub fn fuzz(input: &[u8]) {
    let [flags, lines, bytes, count, rest @ ..] = input else { return };
    let (sizes, stream) = rest.split_at(rest.len().min(usize::from(count % 8)));
    let method = [Method::GET, Method::POST, Method::HEAD, Method::DELETE][usize::from(flags % 4)].clone();
    let limits = HeadLimits { lines: usize::from(lines % 128), bytes: (usize::from(*bytes) + 1) * 16 };
    let (closes, is_wary) = (flags & 64 > 0, flags & 128 > 0);
    check(stream, &Setting { method, closes, is_wary, limits, sizes: sizes.to_vec() });
    // Most inputs are not heads, so bytes after a valid head find more.
    let head: &[u8] = match flags >> 3 & 7 {
        0 => b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
        1 => b"HTTP/1.1 200 OK\r\n",
        2 => b"HTTP/1.1 204 No Content\r\ncontent-length:",
        3 => b"HTTP/1.0 200 OK\r\nconnection: keep-alive\r\n",
        _ => return,
    };
    let limits = HeadLimits { lines: 20, bytes: 2048 };
    let setting = Setting { method: Method::GET, closes: false, is_wary, limits, sizes: sizes.to_vec() };
    check(&[head, stream].concat(), &setting);
}

/// Checks that the answer does not depend on how the stream is cut, and that a simple parser of the whole stream finds
/// the same answer. Returns the answer.
pub fn check(stream: &[u8], setting: &Setting) -> Option<Answer> {
    let whole = read(stream, &Setting { sizes: Vec::new(), ..setting.clone() });
    for sizes in [&[1][..], &setting.sizes] {
        let cut = Setting { sizes: sizes.to_vec(), ..setting.clone() };
        assert_eq!(read(stream, &cut), whole, "{cut:?}");
    }
    if let Some(answer) = &whole {
        let naive = reference::read(stream, setting);
        assert_eq!(naive.as_ref(), Some(answer), "a naive reading finds something else");
    }
    whole
}

/// Reads an answer from a connection that is closed at the end of the stream; returns `None` if there is no head.
pub fn read(stream: &[u8], setting: &Setting) -> Option<Answer> {
    let mut reader = AnswerReader::new(setting.limits);
    reader.begin(setting.closes, setting.is_wary);
    let asked = AnswerContext { method: &setting.method, hears: None };
    let mut reads = Reads { rest: stream, sizes: setting.sizes.iter().cycle() };
    let head = loop {
        let bytes = reads.next();
        let head = reader.head(bytes, asked).ok()?;
        assert!(reader.held() <= setting.limits.bytes + bytes.len());
        if let Some(head) = head {
            break head;
        }
    };
    let mut headers: Vec<_> = (head.response.headers().iter())
        .map(|(name, value)| (name.as_str().to_owned(), value.as_bytes().to_vec()))
        .collect();
    headers.sort_by(|(one, _), (other, _)| one.cmp(other));
    let mut answer = Answer { status: head.response.status().as_u16(), headers, body: Vec::new(), end: None };
    loop {
        let held = reader.held();
        match reader.piece() {
            Ok(NextPiece::Piece(piece)) => {
                assert!(!piece.is_empty() && piece.len() <= held);
                answer.body.extend_from_slice(&piece);
            }
            Ok(NextPiece::End) => break,
            Ok(NextPiece::Nothing) => {
                assert_eq!(reader.held(), 0, "bytes would be lost");
                assert!(reader.room().is_none_or(|room| (READ..=128 * 1024).contains(&room)));
                if reader.feed(Bytes::copy_from_slice(reads.next())).is_err() {
                    return Some(answer);
                }
            }
            Err(_) => return Some(answer),
        }
    }
    assert!(reader.is_over() && reader.left() == Some(0));
    let left = reader.held() + reads.rest.len();
    // Bytes that arrive later are detected while the connection is idle.
    answer.end = Some((left, reader.may_serve_again() && left == 0));
    Some(answer)
}

struct Reads<'a, S> {
    rest: &'a [u8],
    sizes: S,
}

impl<'a, 's, S: Iterator<Item = &'s u8>> Reads<'a, S> {
    fn next(&mut self) -> &'a [u8] {
        let size = self.sizes.next().map_or(self.rest.len(), |size| usize::from(*size).max(1));
        let (now, later) = self.rest.split_at(size.min(self.rest.len()));
        self.rest = later;
        now
    }
}
