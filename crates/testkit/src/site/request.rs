//! One complete request to the site.

use serde_json::Value;

use super::accounts::{Account, identify};
use super::record::Received;

/// A parsed request.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) method: String,
    /// The path without the query.
    pub(super) path: String,
    query: Vec<(String, String)>,
    /// The body; null if there is none, or if it is not JSON.
    pub(super) body: Value,
    text: String,
    /// The caller's account; as in WordPress, `None` if the credentials are wrong.
    pub(super) account: Option<Account>,
}

impl Request {
    pub(super) fn of(received: &Received) -> Self {
        let (path, query) = received.path.split_once('?').unwrap_or((&received.path, ""));
        Self {
            method: received.method.clone(),
            path: path.trim_end_matches('/').to_owned(),
            query: pairs(query),
            body: serde_json::from_str(&received.body).unwrap_or(Value::Null),
            text: received.body.clone(),
            account: identify(received.header("authorization")),
        }
    }

    /// The path segments after `prefix`; `None` if the path does not begin with it.
    pub(super) fn below(&self, prefix: &str) -> Option<Vec<&str>> {
        let rest = self.path.strip_prefix(prefix)?;
        (rest.is_empty() || rest.starts_with('/')).then(|| rest.split('/').skip(1).collect())
    }

    /// A parameter, of the query or of the body.
    pub(super) fn param(&self, name: &str) -> Option<String> {
        let known = self.query.iter().find(|(one, _)| one == name || one.strip_suffix("[]") == Some(name));
        if let Some((_, value)) = known {
            return Some(value.clone());
        }
        match self.body.get(name)? {
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        }
    }

    /// A part of a multipart form (RFC 7578), by its name.
    pub(super) fn part(&self, name: &str) -> Option<&str> {
        let (_, behind) = self.text.split_once(&format!("form-data; name=\"{name}\""))?;
        Some(behind.split_once("\r\n\r\n")?.1.split("\r\n--").next().unwrap_or_default())
    }

    /// Returns true if a parameter has a true value.
    pub(super) fn flag(&self, name: &str) -> bool {
        self.param(name).is_some_and(|value| matches!(value.as_str(), "1" | "true"))
    }
}

/// The names and values of a query.
fn pairs(query: &str) -> Vec<(String, String)> {
    let parts = query.split('&').filter(|part| !part.is_empty());
    parts.map(|part| part.split_once('=').unwrap_or((part, ""))).map(|(k, v)| (plain(k), plain(v))).collect()
}

/// A name or a value with percent signs and pluses decoded.
fn plain(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let code = text.get(at + 1..at + 3).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (byte, code) {
            (b'%', Some(code)) => {
                plain.push(code);
                at += 2;
            }
            (b'+', _) => plain.push(b' '),
            _ => plain.push(*byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&plain).into_owned()
}
