//! The services that a host provides to native servers: HTTP requests and a clock.
//!
//! This module must not know what is requested, or from whom.

use std::borrow::Cow;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use secrecy::SecretString;

use crate::passing::HttpBody;

/// A boxed future, which any thread may await.
pub type Pending<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Sends HTTP requests, and provides a clock.
pub trait HttpClient: Send + Sync {
    /// Sends one request once, and reads the whole answer, whatever its status. Redirects are treated like any
    /// other answer. If the body is a file that ends early, the request is aborted; otherwise, the server could
    /// mistake it for a complete request.
    fn send(&self, request: HttpRequest) -> Pending<Result<HttpResponse, HttpFault>>;

    /// Sends one request once, and returns the answer when its head has arrived, whatever its status. The body is read piece
    /// by piece, and [`HttpRequest::most`] does not limit it. `stall` limits the time until the head arrives, and the time
    /// that each awaited piece takes.
    fn open(&self, request: HttpRequest, stall: Duration) -> Pending<Result<OpenedResponse, HttpFault>>;

    /// The time since some fixed moment; it never decreases.
    fn now(&self) -> Duration;

    /// A digest of `secret` under a key of this process: it reveals nothing about the secret, and nobody outside the
    /// process can produce a collision.
    fn digest(&self, secret: &[u8]) -> [u8; 32];

    /// Waits for this long.
    fn pause(&self, time: Duration) -> Pending<()>;
}

/// The method of an HTTP request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verb {
    /// Reads something.
    Get,
    /// Creates something, or performs an action.
    Post,
    /// Replaces something.
    Put,
    /// Changes something.
    Patch,
    /// Removes something.
    Delete,
}

impl Verb {
    /// The method's name in a request line (RFC 9110, 9.1).
    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

/// An HTTP request to a site or service.
#[derive(Debug, Clone)]
pub struct HttpRequest {
    /// The method.
    pub method: Verb,
    /// The absolute URL: ASCII, escaped, without a fragment.
    pub url: String,
    /// Header fields, except those derived from the URL, the body and `authorization`. Values contain no line breaks.
    pub headers: Vec<(&'static str, Cow<'static, str>)>,
    /// The value of `Authorization`.
    pub authorization: Option<SecretString>,
    /// The body; may be empty.
    pub body: HttpBody,
    /// Requires every address of the host to be public. The name is looked up first, and the connection goes to an
    /// address that was checked. Loopback, link-local, private, shared, reserved and multicast addresses are refused,
    /// and so are IPv6 forms that contain such an IPv4 address.
    pub public_only: bool,
    /// True if the configuration, not a caller, chose the host. Only such a host may see the server's client
    /// certificate.
    pub is_fixed_host: bool,
    /// The deadline for the last byte of the answer.
    pub patience: Duration,
    /// The largest body of an answer, in bytes.
    pub most: usize,
}

/// An HTTP answer, read completely.
#[derive(Debug, Clone, Default)]
pub struct HttpResponse {
    /// The HTTP status.
    pub status: u16,
    /// The header fields, as names and values.
    pub headers: Vec<(String, String)>,
    /// The whole body.
    pub body: Bytes,
}

impl HttpResponse {
    /// The first header field with this name.
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }

    /// Returns true if the status is a success (2xx).
    pub fn is_success(&self) -> bool {
        is_success(self.status)
    }
}

/// An HTTP answer whose body has not been read yet.
pub struct OpenedResponse {
    /// The HTTP status.
    pub status: u16,
    /// The header fields, as names and values.
    pub headers: Vec<(String, String)>,
    /// The length of the body in bytes, if the other side states it.
    pub length: Option<u64>,
    /// The body. Dropping it closes the connection.
    pub body: Box<dyn ArrivingBody>,
}

impl OpenedResponse {
    /// The first header field with this name.
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }

    /// Returns true if the status is a success (2xx).
    pub fn is_success(&self) -> bool {
        is_success(self.status)
    }
}

impl fmt::Debug for OpenedResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenedResponse").field("status", &self.status).finish_non_exhaustive()
    }
}

/// A body that is read piece by piece.
pub trait ArrivingBody: Send {
    /// Returns the next piece; `None` at the end. The body is not polled again after its end or a fault.
    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, HttpFault>>>;
}

fn header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

fn is_success(status: u16) -> bool {
    (200..300).contains(&status)
}

/// The reason why a request got no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpFault {
    /// The kind of fault, which decides whether another attempt is made.
    pub kind: HttpFaultKind,
    /// A message that may be shown: it contains no credentials and no addresses of the internal network.
    pub message: String,
}

/// The reasons why a request gets no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpFaultKind {
    /// No connection was established: the server certainly did not see the request, so it may be sent again.
    Unconnected,
    /// The deadline passed before the whole answer had arrived.
    Late,
    /// The answer is larger than allowed.
    TooLarge,
    /// Too many requests were made to this site, so this request was not sent.
    TooOften,
    /// Requests to this address are not allowed.
    Refused,
    /// A caller may not name this address; the reason is not revealed.
    NotAllowed,
    /// The connection broke, or the answer is not HTTP.
    Broken,
    /// The file that the request passes on could not be read to its end, so the request was aborted.
    Source,
}

impl fmt::Display for HttpFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for HttpFault {}
