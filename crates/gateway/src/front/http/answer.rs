//! HTTP responses: messages, refusals, event streams.

use bytes::Bytes;
use engine::Fault;
use engine::dialect::RETRY_SOON;
use http::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER,
};
use http::{Response, StatusCode};
use proto::era::Era;
use proto::rpc::{Id, code, error_response};
use transport::net::{Body, fields};

use super::spare;

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Returns a response without a body.
pub fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::Empty);
    *response.status_mut() = status;
    response
}

/// The value of `Retry-After`, in seconds, if there are too many sessions. It is longer than the value for calls,
/// because sessions last longer.
pub(super) const RETRY_LATER: u64 = 5;

/// Returns a response with a message. If a limit on concurrent work was reached, a short `Retry-After` is added,
/// because the time at which capacity becomes free is unknown.
pub fn message(status: u16, text: Bytes) -> Response<Body> {
    let mut response = passing(Body::Full(text));
    let again = match status {
        429 => Some(RETRY_SOON),
        503 => Some(RETRY_LATER),
        _ => None,
    };
    if let Some(seconds) = again {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response
}

/// Returns a response with a message that is still arriving.
pub(super) fn passing(body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.headers_mut() = spare::take();
    fields::set(response.headers_mut(), &CONTENT_TYPE, JSON);
    response
}

/// Returns a response with a document about this server that any web page may read (RFC 9728, section 3; CORS).
pub(super) fn metadata(text: Bytes) -> Response<Body> {
    let mut response = message(200, text);
    response.headers_mut().insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    response
}

/// Returns a response with plain text for people.
pub fn text(status: StatusCode, text: &str) -> Response<Body> {
    let mut response = Response::new(Body::Full(Bytes::copy_from_slice(text.as_bytes())));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}

/// Returns a refusal below the level of MCP, without an id because no message could be read.
pub(super) fn refusal(status: StatusCode, message_text: &str) -> Response<Body> {
    refusal_of(status, message_text, None)
}

/// Returns a refusal below the level of MCP, for a valid message.
pub(super) fn refusal_of(status: StatusCode, message_text: &str, id: Option<&Id>) -> Response<Body> {
    let code = if status == StatusCode::NOT_FOUND { code::SESSION_NOT_FOUND } else { code::REFUSED };
    message(status.as_u16(), error_response(id, code, message_text, None))
}

/// Returns a fault as the answer to a request.
pub(super) fn fault(fault: &Fault, id: Option<&Id>, era: &Era) -> Response<Body> {
    message(fault.http_status(era), fault.response(id))
}

/// Returns the answer to a method that no MCP endpoint supports.
pub(super) fn not_allowed() -> Response<Body> {
    let message = "MCP endpoints do not support this method; send messages with POST";
    let mut response = refusal(StatusCode::METHOD_NOT_ALLOWED, message);
    response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, POST, DELETE"));
    response
}

/// Returns the answer for a path that supports only the method `method`.
pub fn only(method: &'static str, message: &str) -> Response<Body> {
    let mut response = refusal(StatusCode::METHOD_NOT_ALLOWED, message);
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(method));
    response
}

/// Returns a response whose body is an event stream.
pub fn events(body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    // If this header were missing, nginx and similar proxies would buffer the events.
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}
