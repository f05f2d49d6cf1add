//! The answers of the management API. This module must not know any operation.

use http::header::{ALLOW, HeaderValue};
use http::{Response, StatusCode};
use serde::Serialize;
use serde_json::json;
use transport::net::Body;

use gateway::changes::Refusal;
use gateway::front::http::answer as http_answer;

/// Returns an answer with a JSON body.
pub(super) fn answer(status: StatusCode, body: &impl Serialize) -> Response<Body> {
    match serde_json::to_vec(body) {
        Ok(text) => http_answer::message(status.as_u16(), text.into()),
        Err(e) => refused(&Refusal::internal(format!("the answer cannot be written: {e}"))),
    }
}

pub(super) fn ok(body: &impl Serialize) -> Response<Body> {
    answer(StatusCode::OK, body)
}

/// Returns an answer without a body.
pub(super) fn empty() -> Response<Body> {
    http_answer::empty(StatusCode::NO_CONTENT)
}

pub(super) fn error(status: u16, code: &str, message: &str) -> Response<Body> {
    http_answer::message(status, json!({ "error": { "code": code, "message": message } }).to_string().into())
}

pub(super) fn refused(refusal: &Refusal) -> Response<Body> {
    error(refusal.status, refusal.code, &refusal.message)
}

/// Returns the answer for an unsupported method; `methods` lists the supported ones.
pub(super) fn only(methods: &str) -> Response<Body> {
    let mut response = error(405, "METHOD_NOT_ALLOWED", &format!("the supported methods are {methods}"));
    if let Ok(methods) = HeaderValue::from_str(methods) {
        response.headers_mut().insert(ALLOW, methods);
    }
    response
}
