//! Requests to a replica's management API.

use crate::chaos::client::http::{Sent, exchange};
use crate::chaos::process::until;
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

/// Waits until each replica reports that the store is in this state.
pub(super) fn store_becomes(addresses: &[SocketAddr], state: &str) -> Result<(), String> {
    each_reports(addresses, state, |report| report["store"]["state"] == state)
}

/// Waits until each replica knows that all of them are alive.
pub(super) fn know_each_other(addresses: &[SocketAddr]) -> Result<(), String> {
    let all = addresses.len();
    each_reports(addresses, "all replicas", |report| {
        report["replicas"].as_array().is_some_and(|list| list.len() == all)
    })
}

fn each_reports(
    addresses: &[SocketAddr],
    what: &str,
    is_there: impl Fn(&Value) -> bool,
) -> Result<(), String> {
    addresses.iter().try_for_each(|at| {
        let mut last = Err("nothing was read".to_owned());
        let found = until(SOON, || {
            last = api(*at, "GET", "/api/replicas", &Value::Null);
            last.as_ref().is_ok_and(|(_, report)| is_there(report)).then_some(())
        });
        found.ok_or_else(|| format!("{at} does not report {what}: {last:?}"))
    })
}
