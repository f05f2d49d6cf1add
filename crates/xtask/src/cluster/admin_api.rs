//! Requests to a replica's management API.

use crate::chaos::client::http::{Sent, exchange};
use crate::chaos::stage::SOON;
use serde_json::Value;
use std::net::SocketAddr;
use std::time::Instant;

/// Sends a request; returns the status and the body of the answer.
pub(super) fn api(at: SocketAddr, method: &str, path: &str, body: &Value) -> Result<(u16, Value), String> {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let headers = [("Content-Type", "application/json")];
    let headers = if body.is_empty() { &headers[..0] } else { &headers[..] };
    let sent = Sent { method, path, headers, body: &body };
    let answered = exchange(at, &sent, Instant::now() + SOON).and_then(|mut reply| {
        let text = reply.text()?;
        Ok((reply.status, serde_json::from_str(&text).unwrap_or(Value::String(text))))
    });
    answered.map_err(|error| format!("{method} {path} at {at}: {error}"))
}

/// The status of a GET; `None` if there is no answer.
pub(super) fn status(at: SocketAddr, path: &str) -> Option<u16> {
    api(at, "GET", path, &Value::Null).ok().map(|(status, _)| status)
}
