//! Media types of requests and responses (RFC 9110, section 12.5.1). Quality values are ignored: each kind of answer
//! has only one form.

use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, Response, StatusCode};
use transport::net::Body;
use transport::net::fields::{field, fields, has_field, without_parameters};

use super::answer;

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// Checks the headers of a request with a message. A client that accepts only one of the two forms of an answer is
/// served, because many clients list only one form.
pub(super) fn check_post(headers: &HeaderMap) -> Result<(), Box<Response<Body>>> {
    check_json(headers)?;
    if !takes(headers, &[JSON, EVENTS, "application/*", "text/*"]) && has_field(headers, &ACCEPT) {
        let message = format!("the Accept header must list {JSON} and {EVENTS}");
        return Err(Box::new(answer::refusal(StatusCode::NOT_ACCEPTABLE, &message)));
    }
    Ok(())
}

/// Checks that a message is JSON.
pub fn check_json(headers: &HeaderMap) -> Result<(), Box<Response<Body>>> {
    let Some(media) = field(headers, &CONTENT_TYPE).map(|value| without_parameters(value.as_bytes())) else {
        let message = format!("the Content-Type header is missing; it must be {JSON}");
        return Err(Box::new(answer::refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, &message)));
    };
    if !media.eq_ignore_ascii_case(JSON.as_bytes()) {
        let message =
            format!("the Content-Type header must be {JSON}, not {:?}", String::from_utf8_lossy(media));
        return Err(Box::new(answer::refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, &message)));
    }
    Ok(())
}

/// Checks the headers of a request that opens a stream.
pub(super) fn check_get(headers: &HeaderMap) -> Result<(), Box<Response<Body>>> {
    if takes(headers, &[EVENTS, "text/*"]) {
        return Ok(());
    }
    let message = format!("a GET here opens an event stream: send `Accept: {EVENTS}`");
    Err(Box::new(answer::refusal(StatusCode::NOT_ACCEPTABLE, &message)))
}

/// Returns true if the client asks for an event stream by name.
pub(super) fn names_events(headers: &HeaderMap) -> bool {
    named(headers).any(|media| media.eq_ignore_ascii_case(EVENTS.as_bytes()))
}

/// Returns true if one of these media types is accepted. The header may occur on several lines.
fn takes(headers: &HeaderMap, kinds: &[&str]) -> bool {
    let is_one = |media: &[u8]| {
        media == b"*/*" || kinds.iter().any(|kind| media.eq_ignore_ascii_case(kind.as_bytes()))
    };
    named(headers).any(is_one)
}

fn named(headers: &HeaderMap) -> impl Iterator<Item = &[u8]> {
    let lines = fields(headers, &ACCEPT).iter();
    lines.flat_map(|line| line.as_bytes().split(|b| *b == b',')).map(without_parameters)
}
