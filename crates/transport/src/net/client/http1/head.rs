//! Parses an answer's head (RFC 9112, sections 4 to 6). This module must not know sockets.

use std::mem::MaybeUninit;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, Version};

use super::error::Http1Error;
use super::framing::{Chunked, Framing};

/// The caps on an answer's head.
#[derive(Clone, Copy, Debug)]
pub struct HeadLimits {
    /// The maximum number of header lines.
    pub lines: usize,
    /// The maximum size in bytes, including the interim answers (1xx) before the head.
    pub bytes: usize,
}

/// An answer's head.
#[derive(Debug)]
pub struct AnswerHead {
    /// Version, status and headers, without those that concern only the connection.
    pub response: Response<()>,
    pub(super) framing: Framing,
    /// True if the connection can be reused after the body has been read.
    pub keep_alive: bool,
    /// True if the answer promises that the connection can be reused.
    pub promised: bool,
    /// The time for which the upstream keeps the connection, if it states one (`Keep-Alive: timeout=5`, as Node and
    /// Apache send).
    pub keep: Option<Duration>,
}

/// The parts of a request that affect how its answer is read.
#[derive(Clone, Copy, Debug)]
pub struct AnswerContext<'a> {
    /// The request's method.
    pub method: &'a Method,
    /// The headers to keep; `None` keeps all.
    pub hears: Option<&'static [HeaderName]>,
}

/// Parses the head of the answer to a request, and skips the interim answers before it. Returns the number of consumed
/// bytes, and the head if it is complete. `before` is the number of bytes of earlier interim answers, which count
/// towards the same limit.
///
/// # Errors
/// Returns [`Http1Error`] if the bytes are not a head, or if the head is too long.
pub(super) fn read(
    bytes: &[u8],
    before: usize,
    asked: AnswerContext<'_>,
    limits: HeadLimits,
) -> Result<(usize, Option<AnswerHead>), Http1Error> {
    let mut from = 0;
    loop {
        from += empty_lines(&bytes[from..]);
        match one(&bytes[from..], asked, limits)? {
            Some((_, length)) if before + from + length > limits.bytes => return Err(Http1Error::LongHead),
            Some((None, length)) => from += length,
            Some((Some(head), length)) => return Ok((from + length, Some(head))),
            None if before + bytes.len() >= limits.bytes => return Err(Http1Error::LongHead),
            None => return Ok((from, None)),
        }
    }
}

/// Returns the number of bytes of empty lines before a head, where these are allowed (RFC 9112, section 2.2).
fn empty_lines(bytes: &[u8]) -> usize {
    let mut rest = bytes;
    while let [b'\n', after @ ..] | [b'\r', b'\n', after @ ..] = rest {
        rest = after;
    }
    bytes.len() - rest.len()
}

/// Returns true if a head may end in these bytes.
pub(super) fn may_end(bytes: &[u8]) -> bool {
    memchr::memchr_iter(b'\n', bytes).any(|at| matches!(bytes[at + 1..], [b'\n', ..] | [b'\r', b'\n', ..]))
}

/// The usual maximum number of lines in a head; a head with more lines needs an extra allocation.
const USUAL_LINES: usize = 100;

fn one(
    bytes: &[u8],
    asked: AnswerContext<'_>,
    limits: HeadLimits,
) -> Result<Option<(Option<AnswerHead>, usize)>, Http1Error> {
    let mut room = [const { MaybeUninit::uninit() }; USUAL_LINES];
    let mut more_room = Vec::new();
    let lines = if limits.lines <= USUAL_LINES {
        &mut room[..limits.lines]
    } else {
        more_room.resize_with(limits.lines, MaybeUninit::uninit);
        &mut more_room[..]
    };
    let mut parsed = httparse::Response::new(&mut []);
    let reading = httparse::ParserConfig::default();
    let httparse::Status::Complete(length) =
        reading.parse_response_with_uninit_headers(&mut parsed, bytes, lines)?
    else {
        return Ok(None);
    };
    let status = parsed.code.and_then(|code| StatusCode::from_u16(code).ok());
    let status = status.ok_or(Http1Error::Malformed("the status is invalid"))?;
    if status == StatusCode::SWITCHING_PROTOCOLS {
        return Err(Http1Error::Malformed(
            "the answer switches to another protocol, which was not requested",
        ));
    }
    if status.is_informational() {
        return Ok(Some((None, length)));
    }
    let mut said = ConnectionHeaders::default();
    let mut headers = HeaderMap::with_capacity(asked.hears.map_or(parsed.headers.len(), <[_]>::len));
    for line in &*parsed.headers {
        if said.note(line.name, line.value)? && asked.keeps(line.name) {
            let bad = Http1Error::Malformed("a header is not valid");
            let Ok(name) = HeaderName::from_bytes(line.name.as_bytes()) else { return Err(bad) };
            let Ok(value) = HeaderValue::from_bytes(line.value) else { return Err(bad) };
            headers.append(name, value);
        }
    }
    let newer = parsed.version == Some(1);
    let framing = said.framing(asked.method, status, newer)?;
    let mut response = Response::new(());
    *response.status_mut() = status;
    *response.version_mut() = if newer { Version::HTTP_11 } else { Version::HTTP_10 };
    *response.headers_mut() = headers;
    let is_unsure = matches!(framing, Framing::UntilClose) || said.is_contradictory(status);
    let keep_alive = !is_unsure && !said.close && (newer || said.keep_alive);
    let promised = said.keep_alive || said.keep.is_some();
    Ok(Some((Some(AnswerHead { response, framing, keep_alive, promised, keep: said.keep }), length)))
}

impl AnswerContext<'_> {
    fn keeps(&self, name: &str) -> bool {
        self.hears.is_none_or(|names| names.iter().any(|one| one.as_str().eq_ignore_ascii_case(name)))
    }
}

/// An answer's headers that concern its connection and its framing.
#[expect(clippy::struct_excessive_bools, reason = "each is an independent fact about a head")]
#[derive(Debug, Default)]
struct ConnectionHeaders {
    close: bool,
    keep_alive: bool,
    keep: Option<Duration>,
    length: Option<u64>,
    coded: bool,
    /// True if `chunked` is the last coding.
    chunked: bool,
    /// True if `chunked` comes before other codings, or more than once.
    chunked_before: bool,
}

impl ConnectionHeaders {
    /// Records a header; returns false if the header concerns only the connection.
    fn note(&mut self, name: &str, value: &[u8]) -> Result<bool, Http1Error> {
        let is = |other: &str| name.eq_ignore_ascii_case(other);
        if is("connection") {
            self.close |= has_option(value, "close");
            self.keep_alive |= has_option(value, "keep-alive");
        } else if is("keep-alive") {
            self.keep = announced(value).or(self.keep);
        } else if is("transfer-encoding") {
            self.coded = true;
            for one in value.split(|byte| *byte == b',') {
                self.chunked_before |= self.chunked;
                self.chunked = one.trim_ascii().eq_ignore_ascii_case(b"chunked");
            }
        } else if is("content-length") {
            for one in value.split(|byte| *byte == b',') {
                let one = length(one.trim_ascii())?;
                if self.length.replace(one).is_some_and(|before| before != one) {
                    return Err(Http1Error::Malformed("the answer has contradictory lengths"));
                }
            }
            return Ok(true);
        } else {
            return Ok(true);
        }
        Ok(false)
    }

    /// Returns true if two parties may see different ends of the body. Such an answer hints at response smuggling, in which the
    /// bytes after it are treated as the next answer.
    fn is_contradictory(&self, status: StatusCode) -> bool {
        let has_two = self.coded && self.length.is_some();
        let is_empty = status == StatusCode::NO_CONTENT;
        has_two
            || self.chunked_before
            || (is_empty && (self.coded || self.length.is_some_and(|length| length > 0)))
    }

    /// Determines the framing of the body (RFC 9112, section 6.3).
    fn framing(&self, asked: &Method, status: StatusCode, newer: bool) -> Result<Framing, Http1Error> {
        // After a successful CONNECT, the connection is a tunnel.
        let is_tunnel = asked == Method::CONNECT && status.is_success();
        let is_empty = status == StatusCode::NO_CONTENT || status == StatusCode::NOT_MODIFIED;
        if asked == Method::HEAD || is_empty || is_tunnel {
            return Ok(Framing::Length(0));
        }
        match (self.coded, self.length) {
            (true, _) if !newer => Err(Http1Error::Malformed("HTTP/1.0 has no transfer codings")),
            (true, _) if self.chunked => Ok(Framing::Chunked(Chunked::default())),
            (false, Some(length)) => Ok(Framing::Length(length)),
            _ => Ok(Framing::UntilClose),
        }
    }
}

fn length(digits: &[u8]) -> Result<u64, Http1Error> {
    let number = std::str::from_utf8(digits).ok().filter(|text| text.bytes().all(|b| b.is_ascii_digit()));
    number.and_then(|text| text.parse().ok()).ok_or(Http1Error::Malformed("the length is not a number"))
}

/// Returns true if a list of options contains this one.
pub(super) fn has_option(value: &[u8], option: &str) -> bool {
    value.split(|byte| *byte == b',').any(|one| one.trim_ascii().eq_ignore_ascii_case(option.as_bytes()))
}

fn announced(value: &[u8]) -> Option<Duration> {
    let text = std::str::from_utf8(value).ok()?;
    let seconds = text.split(',').find_map(|part| part.trim().strip_prefix("timeout="))?;
    seconds.trim().parse().ok().map(Duration::from_secs)
}
