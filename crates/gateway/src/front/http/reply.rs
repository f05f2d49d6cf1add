//! Replies of dialects as HTTP responses. It must not know what the replies mean.

use engine::dialect::DialectReply;
use http::header::{HeaderName, HeaderValue};
use http::{HeaderMap, Response, StatusCode};
use transport::net::Body;

use super::answer;

/// Returns a reply as an HTTP response.
pub(super) fn response(reply: DialectReply) -> Response<Body> {
    let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response =
        if reply.body.is_empty() { answer::empty(status) } else { answer::message(reply.status, reply.body) };
    set_headers(response.headers_mut(), reply.headers);
    response
}

/// Adds headers; invalid values are left out.
pub(super) fn set_headers(headers: &mut HeaderMap, lines: Vec<(&'static str, String)>) {
    for (name, value) in lines {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
}
