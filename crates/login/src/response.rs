//! The forms of responses. This module must not know why a response is sent.

use std::time::Duration;

use bytes::Bytes;
use http::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderValue, LOCATION, PRAGMA,
    REFERRER_POLICY, RETRY_AFTER, SET_COOKIE,
};
use http::{Response, StatusCode};
use serde_json::{Value, json};

/// A whole response.
pub(crate) type Reply = Response<Bytes>;

/// Returns a JSON response that must not be cached (RFC 6749, 5.1).
pub(crate) fn json(status: StatusCode, body: &Value) -> Reply {
    let mut reply = Response::new(Bytes::from(body.to_string()));
    *reply.status_mut() = status;
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(PRAGMA, HeaderValue::from_static("no-cache"));
    reply
}

/// Returns a document that any web page may read.
pub(crate) fn document(body: &Value) -> Reply {
    let mut reply = json(StatusCode::OK, body);
    reply.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("max-age=300"));
    reply.headers_mut().insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    reply
}

/// Returns an error in the form of OAuth (RFC 6749, 5.2).
pub(crate) fn error(status: StatusCode, code: &str, description: &str) -> Reply {
    json(status, &json!({ "error": code, "error_description": description }))
}

/// Returns the answer to a method that a path does not support.
pub(crate) fn only(method: &'static str) -> Reply {
    let mut reply =
        error(StatusCode::METHOD_NOT_ALLOWED, "invalid_request", &format!("use {method} at this address"));
    reply.headers_mut().insert(ALLOW, HeaderValue::from_static(method));
    reply
}

/// Adds a redirect. The current address may contain a password or a code, so browsers must not store the answer or
/// send the address as the referrer.
pub(crate) fn redirecting(mut reply: Reply, to: &str) -> Option<Reply> {
    let mut to = HeaderValue::from_str(to).ok()?;
    to.set_sensitive(true);
    *reply.status_mut() = StatusCode::SEE_OTHER;
    let headers = reply.headers_mut();
    headers.insert(LOCATION, to);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    Some(reply)
}

/// Adds a cookie.
pub(crate) fn with_cookie(mut reply: Reply, cookie: &str) -> Reply {
    if let Ok(mut cookie) = HeaderValue::from_str(cookie) {
        cookie.set_sensitive(true);
        reply.headers_mut().append(SET_COOKIE, cookie);
    }
    reply
}

/// Returns the answer if the file of grants or the random number generator is unavailable.
pub(crate) fn unavailable() -> Reply {
    error(StatusCode::SERVICE_UNAVAILABLE, "temporarily_unavailable", "try again in a minute")
}

/// Returns the answer to too many requests.
pub(crate) fn too_many(wait: Duration) -> Reply {
    let seconds = wait.as_secs() + 1;
    let why = format!("too many requests from this address: try again in {seconds} s");
    let mut reply = error(StatusCode::TOO_MANY_REQUESTS, "temporarily_unavailable", &why);
    reply.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    reply
}
