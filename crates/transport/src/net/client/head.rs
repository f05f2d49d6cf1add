//! Heads of HTTP/1.1 messages: a request's written, an answer's read (RFC 9112). It must not know sockets.

use std::mem::MaybeUninit;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING};
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, Uri, Version};

use super::error::WireError;
use super::framing::{Chunked, Framing};

/// What requests to one endpoint have in common, written out once for HTTP/1.1.
#[derive(Clone, Debug)]
pub struct Template {
    pub(super) method: Method,
    pub(super) path: PathAndQuery,
    pub(super) headers: HeaderMap,
    /// The head up to the headers that differ.
    start: Bytes,
    /// The request itself asks for the end of the connection.
    pub(super) closes: bool,
    /// What of an answer's head is of interest; all of it where this says nothing.
    pub(super) hears: Option<&'static [HeaderName]>,
}

impl Template {
    /// Requests with `method` for `uri`, of which path and query are sent, and its host where `headers` has none. How
    /// long a body is, is said by the client alone: `headers` need not say it, and what they say of it is left out.
    pub fn new(method: Method, uri: &Uri, mut headers: HeaderMap) -> Self {
        headers.remove(CONTENT_LENGTH);
        headers.remove(TRANSFER_ENCODING);
        let path = uri.path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/"));
        let mut start = Vec::with_capacity(256);
        for part in [method.as_str(), " ", path.as_str(), " HTTP/1.1\r\n"] {
            start.extend_from_slice(part.as_bytes());
        }
        if let Some(authority) = uri.authority()
            && !headers.contains_key(HOST)
        {
            put(&mut start, &HOST, authority.as_str().as_bytes());
        }
        for (name, value) in &headers {
            put(&mut start, name, value.as_bytes());
        }
        let closes = headers.get_all(CONNECTION).iter().any(|value| says(value.as_bytes(), "close"));
        Self { method, path, headers, start: start.into(), closes, hears: None }
    }

    /// The same requests, of whose answers no headers but these are looked at. Over HTTP/2 there may be others.
    #[must_use]
    pub fn hearing(self, names: &'static [HeaderName]) -> Self {
        Self { hears: Some(names), ..self }
    }

    pub(super) fn asked(&self) -> Asked<'_> {
        Asked { method: &self.method, hears: self.hears }
    }

    /// What the requests have in common.
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }
}

/// One request.
pub(super) struct Ask<'a> {
    pub(super) template: &'a Template,
    /// Headers of this request alone; none of them is in the template.
    pub(super) more: &'a [(HeaderName, HeaderValue)],
    pub(super) body: Bytes,
}

impl Ask<'_> {
    /// Writes the head for HTTP/1.1.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.template.start);
        for (name, value) in self.more {
            put(out, name, value.as_bytes());
        }
        // RFC 9110, 8.6: said of an empty body, too, where the method gives one a meaning.
        if !self.body.is_empty() || matches!(self.template.method, Method::POST | Method::PUT | Method::PATCH)
        {
            let mut digits = [0; 20];
            put(out, &CONTENT_LENGTH, decimal(self.body.len(), &mut digits));
        }
        out.extend_from_slice(b"\r\n");
    }
}

fn put(out: &mut Vec<u8>, name: &HeaderName, value: &[u8]) {
    for part in [name.as_str().as_bytes(), b": ", value, b"\r\n"] {
        out.extend_from_slice(part);
    }
}

fn decimal(mut number: usize, digits: &mut [u8; 20]) -> &[u8] {
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b"0123456789"[number % 10];
        number /= 10;
        if number == 0 {
            return &digits[at..];
        }
    }
}

/// Caps on an answer's head.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeadLimits {
    pub(super) lines: usize,
    /// With that of interim answers (1xx) before it.
    pub(super) bytes: usize,
}

/// An answer's head.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) response: Response<()>,
    pub(super) framing: Framing,
    /// Whether the connection may serve again when the body has been read.
    pub(super) keep_alive: bool,
    /// For how long, if the upstream says so (`Keep-Alive: timeout=5`, as Node and Apache do).
    pub(super) keep: Option<Duration>,
}

/// What was asked, as far as the answer's head depends on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    pub(super) method: &'a Method,
    /// The headers to keep; all where this says nothing.
    pub(super) hears: Option<&'static [HeaderName]>,
}

/// Reads the head of the answer to a request, and says how many bytes it has. Interim answers before it are left out.
/// `None` when it is not complete.
///
/// # Errors
/// [`WireError`] for what is no such head, or too long.
pub(super) fn read(
    bytes: &[u8],
    asked: Asked<'_>,
    limits: HeadLimits,
) -> Result<Option<(Head, usize)>, WireError> {
    let mut from = 0;
    loop {
        match one(&bytes[from..], asked, limits)? {
            Some((_, length)) if from + length > limits.bytes => return Err(WireError::LongHead),
            Some((None, length)) => from += length,
            Some((Some(head), length)) => return Ok(Some((head, from + length))),
            None if bytes.len() >= limits.bytes => return Err(WireError::LongHead),
            None => return Ok(None),
        }
    }
}

/// Whether a head may end in these bytes.
pub(super) fn may_end(bytes: &[u8]) -> bool {
    memchr::memchr_iter(b'\n', bytes).any(|at| matches!(bytes[at + 1..], [b'\n', ..] | [b'\r', b'\n', ..]))
}

/// More lines than this take room that has to be asked for.
const USUAL_LINES: usize = 100;

fn one(
    bytes: &[u8],
    asked: Asked<'_>,
    limits: HeadLimits,
) -> Result<Option<(Option<Head>, usize)>, WireError> {
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
    let status = status.ok_or(WireError::Malformed("its status is none"))?;
    if status == StatusCode::SWITCHING_PROTOCOLS {
        return Err(WireError::Malformed("it wants another protocol, which was not asked for"));
    }
    if status.is_informational() {
        return Ok(Some((None, length)));
    }
    let mut said = Said::default();
    let mut headers = HeaderMap::with_capacity(asked.hears.map_or(parsed.headers.len(), <[_]>::len));
    for line in &*parsed.headers {
        if said.note(line.name, line.value)? && asked.keeps(line.name) {
            let bad = WireError::Malformed("a header is not valid");
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
    // Two lengths are a sign of an attempt to have two parties see different ends.
    let is_unsure = matches!(framing, Framing::UntilClose) || (said.coded && said.length.is_some());
    let keep_alive = !is_unsure && !said.close && (newer || said.keep_alive);
    Ok(Some((Some(Head { response, framing, keep_alive, keep: said.keep }), length)))
}

impl Asked<'_> {
    fn keeps(&self, name: &str) -> bool {
        self.hears.is_none_or(|names| names.iter().any(|one| one.as_str().eq_ignore_ascii_case(name)))
    }
}

/// What an answer says of its connection and its framing.
#[expect(clippy::struct_excessive_bools, reason = "one for each word that may stand in a head")]
#[derive(Debug, Default)]
struct Said {
    close: bool,
    keep_alive: bool,
    keep: Option<Duration>,
    length: Option<u64>,
    coded: bool,
    /// The last of all codings is `chunked`.
    chunked: bool,
}

impl Said {
    /// Takes note of a header; false when it concerns the connection alone.
    fn note(&mut self, name: &str, value: &[u8]) -> Result<bool, WireError> {
        let is = |other: &str| name.eq_ignore_ascii_case(other);
        if is("connection") {
            self.close |= says(value, "close");
            self.keep_alive |= says(value, "keep-alive");
        } else if is("keep-alive") {
            self.keep = announced(value).or(self.keep);
        } else if is("transfer-encoding") {
            self.coded = true;
            let last = value.rsplit(|byte| *byte == b',').next().unwrap_or_default();
            self.chunked = last.trim_ascii().eq_ignore_ascii_case(b"chunked");
        } else if is("content-length") {
            for one in value.split(|byte| *byte == b',') {
                let one = length(one.trim_ascii())?;
                if self.length.replace(one).is_some_and(|before| before != one) {
                    return Err(WireError::Malformed("it has two lengths"));
                }
            }
            return Ok(true);
        } else {
            return Ok(true);
        }
        Ok(false)
    }

    /// RFC 9112, section 6.3.
    fn framing(&self, asked: &Method, status: StatusCode, newer: bool) -> Result<Framing, WireError> {
        if asked == Method::HEAD || status == StatusCode::NO_CONTENT || status == StatusCode::NOT_MODIFIED {
            return Ok(Framing::Length(0));
        }
        match (self.coded, self.length) {
            (true, _) if !newer => Err(WireError::Malformed("HTTP/1.0 has no transfer codings")),
            (true, _) if self.chunked => Ok(Framing::Chunked(Chunked::default())),
            (false, Some(length)) => Ok(Framing::Length(length)),
            _ => Ok(Framing::UntilClose),
        }
    }
}

fn length(digits: &[u8]) -> Result<u64, WireError> {
    let number = std::str::from_utf8(digits).ok().filter(|text| text.bytes().all(|b| b.is_ascii_digit()));
    number.and_then(|text| text.parse().ok()).ok_or(WireError::Malformed("its length is no number"))
}

/// Whether a list of options has this one.
fn says(value: &[u8], option: &str) -> bool {
    value.split(|byte| *byte == b',').any(|one| one.trim_ascii().eq_ignore_ascii_case(option.as_bytes()))
}

fn announced(value: &[u8]) -> Option<Duration> {
    let text = std::str::from_utf8(value).ok()?;
    let seconds = text.split(',').find_map(|part| part.trim().strip_prefix("timeout="))?;
    seconds.trim().parse().ok().map(Duration::from_secs)
}
