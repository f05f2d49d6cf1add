//! Writes a request's head (RFC 9112, section 3). This module must not know sockets.

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, HOST, PROXY_AUTHORIZATION, TRANSFER_ENCODING};
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};

use super::super::request_body::RequestBody;
use super::head::{AnswerContext, has_option};

/// The name of the header with the span of a traced request.
pub static TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// The common parts of all requests to one endpoint, serialized once for HTTP/1.1.
#[derive(Clone, Debug)]
pub struct Template {
    pub(in super::super) method: Method,
    pub(in super::super) path: PathAndQuery,
    pub(in super::super) headers: HeaderMap,
    /// The head up to the headers that differ between requests.
    start: Bytes,
    /// True if the request itself asks for the connection to be closed.
    pub(in super::super) closes: bool,
    /// The headers of the answer to keep; `None` keeps all.
    hears: Option<&'static [HeaderName]>,
}

impl Template {
    /// Creates a template for requests with `method` to `uri`. The template uses the path and query of `uri`, and also the host of
    /// `uri` if `headers` contains no host. Only the client sets the length of a body; a length in `headers` is dropped.
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
        let closes = headers.get_all(CONNECTION).iter().any(|value| has_option(value.as_bytes(), "close"));
        Self { method, path, headers, start: start.into(), closes, hears: None }
    }

    /// Returns the same template for callers that read only these headers of the answers. Over HTTP/2, other headers
    /// may be included.
    #[must_use]
    pub fn hearing(self, names: &'static [HeaderName]) -> Self {
        Self { hears: Some(names), ..self }
    }

    /// Returns the parts of a request that affect how its answer is read.
    pub fn asked(&self) -> AnswerContext<'_> {
        AnswerContext { method: &self.method, hears: self.hears }
    }

    /// Returns the common headers of the requests.
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }
}

/// The data for requests in absolute form, which are sent to a proxy that forwards them (RFC 9112, 3.2.2).
#[derive(Debug)]
pub struct AbsoluteForm {
    /// Scheme and authority of the request's target.
    pub origin: Box<str>,
    /// The value of `Proxy-Authorization`.
    pub authorization: Option<HeaderValue>,
}

/// The headers of one request alone; none of them may be in its template.
#[derive(Debug, Clone, Copy)]
pub struct OwnHeaders<'a> {
    /// The header lines.
    pub lines: &'a [(HeaderName, HeaderValue)],
    /// The `traceparent` of a traced request: hexadecimal digits and hyphens. HTTP/1.1 sends these bytes, because making a
    /// header value of them would validate and copy them.
    pub traceparent: Option<&'a [u8; 55]>,
}

impl OwnHeaders<'_> {
    /// No headers.
    pub const NONE: Self = Self { lines: &[], traceparent: None };

    /// Returns the `traceparent` as a header line.
    pub fn trace_line(&self) -> Option<(HeaderName, HeaderValue)> {
        let value = HeaderValue::from_bytes(self.traceparent?).ok()?;
        Some((TRACEPARENT.clone(), value))
    }
}

/// One request.
#[derive(Debug)]
pub struct TemplatedRequest<'a> {
    /// The parts that all requests made from the template have in common.
    pub template: &'a Template,
    /// The headers of this request alone.
    pub own: &'a OwnHeaders<'a>,
    /// The body.
    pub body: RequestBody,
}

impl TemplatedRequest<'_> {
    /// Writes the head for HTTP/1.1.
    pub fn write(&self, out: &mut Vec<u8>) {
        self.write_for(None, out);
    }

    /// Writes the head for HTTP/1.1, for an origin or for a proxy.
    pub fn write_for(&self, proxy: Option<&AbsoluteForm>, out: &mut Vec<u8>) {
        match proxy {
            None => out.extend_from_slice(&self.template.start),
            Some(form) => {
                let (method, rest) = self.template.start.split_at(self.template.method.as_str().len() + 1);
                for part in [method, form.origin.as_bytes(), rest] {
                    out.extend_from_slice(part);
                }
                if let Some(authorization) = &form.authorization {
                    put(out, &PROXY_AUTHORIZATION, authorization.as_bytes());
                }
            }
        }
        for (name, value) in self.own.lines {
            put(out, name, value.as_bytes());
        }
        if let Some(traceparent) = self.own.traceparent {
            put(out, &TRACEPARENT, traceparent);
        }
        // RFC 9110, 8.6: the length of an empty body is also sent if the method gives a body a meaning.
        let has_meaning = matches!(self.template.method, Method::POST | Method::PUT | Method::PATCH);
        match self.body.length() {
            None => put(out, &TRANSFER_ENCODING, b"chunked"),
            Some(0) if !has_meaning => {}
            Some(length) => put(out, &CONTENT_LENGTH, decimal(length, &mut [0; 20])),
        }
        out.extend_from_slice(b"\r\n");
    }
}

fn put(out: &mut Vec<u8>, name: &HeaderName, value: &[u8]) {
    for part in [name.as_str().as_bytes(), b": ", value, b"\r\n"] {
        out.extend_from_slice(part);
    }
}

fn decimal(mut number: u64, digits: &mut [u8; 20]) -> &[u8] {
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return &digits[at..];
        }
    }
}
