//! A complete answer of the site.

use serde_json::{Value, json};

/// A status, header lines and a body.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: String,
}

impl Answer {
    /// JSON with this status.
    pub(super) fn json(status: u16, body: &Value) -> Self {
        let headers = vec![("Content-Type", "application/json; charset=UTF-8".to_owned())];
        Self { status, headers, body: body.to_string() }
    }

    /// JSON with status 200.
    pub(super) fn ok(body: &Value) -> Self {
        Self::json(200, body)
    }

    /// An error in WordPress's format.
    pub(super) fn error(status: u16, code: &str, message: &str) -> Self {
        Self::json(status, &json!({"code": code, "message": message, "data": {"status": status}}))
    }

    /// WordPress's answer to an unknown path or method.
    pub(super) fn no_route() -> Self {
        Self::error(404, "rest_no_route", "No route was found matching the URL and request method.")
    }

    /// The same answer with one more header.
    pub(super) fn with(mut self, name: &'static str, value: &impl ToString) -> Self {
        self.headers.push((name, value.to_string()));
        self
    }
}
