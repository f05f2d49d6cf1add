//! A site's error as the failure of a call: its kind, the site's message without markup, and a hint. This module must not know
//! which request failed.

use std::borrow::Cow;

use serde_json::Value;

use crate::hints;
use crate::html;
use crate::tools::{CallFailure, Condition};

/// The failure for an error answer with this status, whose body has `length` bytes.
pub(crate) fn answered_failure(status: u16, body: Value, length: usize) -> CallFailure {
    let code = body.get("code").and_then(Value::as_str).unwrap_or_default();
    // These codes mean that the account lacks the permission, whatever the status.
    let may_not = code.starts_with("bp_rest_");
    let unknown = status == 401 && !may_not;
    let condition = if unknown { Condition::BadCredentials } else { Condition::UpstreamError };
    let mut failure = CallFailure::new(condition, words(status, &body)).with("status", status);
    if !code.is_empty() {
        failure = failure.with("code", code);
    }
    if body.is_object() && length <= LONGEST_BODY {
        failure = failure.with("body", body);
    }
    failure
}

/// The maximum number of bytes of an error's body to pass on.
const LONGEST_BODY: usize = 16 * 1024;
/// The maximum number of characters of an error's message to pass on.
const LONGEST_WORDS: usize = 1000;

/// A message: a single text, or one text per field of a form.
fn message(said: &Value) -> Option<Cow<'_, str>> {
    let field = |(name, text): (&String, &Value)| Some(format!("{name}: {}", text.as_str()?));
    match said {
        Value::String(text) => Some(text.into()),
        Value::Object(fields) => Some(fields.iter().filter_map(field).collect::<Vec<_>>().join("; ").into()),
        _ => None,
    }
}

/// The message in an error's body, without markup.
pub(crate) fn said(body: &Value) -> Option<String> {
    let said = ["/message", "/error/message"].iter().find_map(|at| body.pointer(at).and_then(message));
    said.map(|said| html::as_text(&said)).filter(|words| !words.is_empty())
}

pub(crate) fn clipped(words: &str) -> String {
    words.chars().take(LONGEST_WORDS).collect()
}

/// A site's error as text: its own message without markup, the invalid parameters, and a likely cause.
fn words(status: u16, body: &Value) -> String {
    let said = said(body);
    let wordless = said.is_none();
    let mut words = said.unwrap_or_else(|| format!("the site answered HTTP {status} without a message"));
    if let Some(Value::Object(params)) = body.pointer("/data/params") {
        for (name, text) in params {
            let text = text.as_str().map(html::as_text).unwrap_or_default();
            words = format!("{words} [{name}: {text}]");
        }
    }
    let code = body.get("code").and_then(Value::as_str).unwrap_or_default();
    // The hint is not cut off, however long the site's message is.
    let mut words = clipped(&words);
    if let Some(hint) = hints::hint(status, code, wordless) {
        words = format!("{words} ({hint})");
    }
    words
}
