//! Error objects whose codes mean something else, or nothing, in the other era. The server's message and data are
//! kept.

use std::ops::RangeInclusive;

use bytes::Bytes;

use super::edit::{Draft, inner, is_object, string};
use crate::era::Era;
use crate::json::quote;
use crate::mcp::Method;
use crate::rpc::{Frame, code};

/// Codes to which only the specification may assign a meaning (MCP 2026-07-28, errors).
const RESERVED: RangeInclusive<i32> = -32099..=-32020;

/// The user must visit URLs first (MCP 2025-11-25 only).
const URL_ELICITATION_REQUIRED: i32 = -32042;

/// Translates the error object that answers `method` for `to`; `request` is the request, if available.
pub fn error(method: &str, error: &Bytes, request: Option<&Frame>, from: &Era, to: &Era) -> Bytes {
    if from == to {
        return error.clone();
    }
    let Some(mut draft) = Draft::of(error) else {
        let said = String::from_utf8_lossy(error);
        let message = quote(&format!("the server answered with a malformed error: {said}"));
        return Bytes::from(format!("{{\"code\":{},\"message\":{message}}}", code::INTERNAL_ERROR));
    };
    let Some(code) = draft.get("code").and_then(|code| std::str::from_utf8(code).ok()?.parse().ok()) else {
        return error.clone();
    };
    if let Some(why) = unspeakable(code, draft.get("data"), from, to) {
        broken(&mut draft, why);
    } else if code == code::RESOURCE_NOT_FOUND && to.resource_not_found != code {
        draft.set("code", to.resource_not_found.to_string());
        name_resource(&mut draft, request);
    } else if is_resource_not_found(method, code, draft.get("data"), from) && to.resource_not_found != code {
        draft.set("code", to.resource_not_found.to_string());
    }
    draft.finish_or(error)
}

/// The reason why this code cannot be sent to a peer of `to`.
fn unspeakable(code: i32, data: Option<&[u8]>, from: &Era, to: &Era) -> Option<&'static str> {
    let data = data.and_then(Draft::of);
    let needs = || data.as_ref().and_then(|data| data.get("requiredCapabilities")).is_some_and(is_object);
    match code {
        URL_ELICITATION_REQUIRED if to.shapes.url_error => None,
        URL_ELICITATION_REQUIRED => Some(
            "the server requires the user to visit URLs first, which this protocol version cannot express",
        ),
        // The error names the missing capability, so its meaning is the same.
        code::MISSING_CAPABILITY if needs() => None,
        // In eras without sessions, these codes say that the request was not processed, and clients may send
        // it again.
        code if RESERVED.contains(&code) && !to.has_sessions() && from.has_sessions() => {
            Some("the server answered with an error code that this protocol version does not define")
        }
        // In eras with sessions, these codes add nothing to the server's message.
        _ => None,
    }
}

/// Turns the error into an internal error: first the reason, then the server's message.
fn broken(error: &mut Draft<'_>, why: &str) {
    let mut message = quote(why);
    message.pop();
    let mut message = message.into_bytes();
    if let Some(said) = error.get("message").and_then(inner).filter(|said| !said.is_empty()) {
        message.extend_from_slice(b": ");
        message.extend_from_slice(said);
    }
    message.push(b'"');
    error.set("code", code::INTERNAL_ERROR.to_string());
    error.set("message", message);
}

/// Returns true if an error reports that a resource does not exist, in an era without a code for that.
fn is_resource_not_found(method: &str, code: i32, data: Option<&[u8]>, from: &Era) -> bool {
    method == Method::ResourcesRead.name()
        && code == from.resource_not_found
        && data.and_then(Draft::of).is_some_and(|data| data.get("uri").and_then(string).is_some())
}

/// Adds the requested URI to the error's data, unless it already names one.
fn name_resource(error: &mut Draft<'_>, request: Option<&Frame>) {
    let asked = request.and_then(|request| {
        let uri = request.params()?.members.get(request.text(), "uri")?;
        inner(uri.of(request.text()))?;
        Some(uri.share(request.text()))
    });
    let Some(uri) = asked else { return };
    match error.get("data").map(|data| (data, Draft::of(data))) {
        Some((_, Some(data))) if data.get("uri").and_then(string).is_some() => {}
        Some((_, Some(mut data))) => {
            data.set("uri", uri);
            if let Some(data) = data.finish() {
                error.set("data", data);
            }
        }
        Some((data, None)) if data != b"null" => {
            error.set("data", [b"{\"uri\":", &*uri, b",\"said\":", data, b"}"].concat());
        }
        _ => error.set("data", [b"{\"uri\":", &*uri, b"}"].concat()),
    }
}
