//! Replies of dialects as HTTP responses. It must not know what they say.

use engine::dialect::Reply;
use http::header::{HeaderName, HeaderValue};
use http::{HeaderMap, Response, StatusCode};
use transport::net::Body;

use super::answer;

/// A reply as a response.
pub(super) fn said(reply: Reply) -> Response<Body> {
    let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response =
        if reply.body.is_empty() { answer::empty(status) } else { answer::message(reply.status, reply.body) };
    tell(response.headers_mut(), reply.headers);
    response
}

/// Adds header lines; what cannot stand in one is left out.
pub(super) fn tell(headers: &mut HeaderMap, lines: Vec<(&'static str, String)>) {
    for (name, value) in lines {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
}
