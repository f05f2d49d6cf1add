//! The result of a call, in the row's form. This module must not know how faults are rendered.

use std::borrow::Cow;

use bytes::Bytes;
use config::dialect_rows::row::Dialect;
use config::dialect_rows::words::{Channel, Output, SuccessFlag};
use proto::json::{Elements, Members, Scanner, Span, Splice, quote, unquote};

use super::dialect_fault::string_at;
use super::finish::members;
use super::output::laid_out;

/// A call whose tool failed, in a row that reports this as an error.
#[derive(Debug)]
pub(super) struct FailedCall {
    /// The message with which the tool reported its failure.
    pub(super) message: String,
    /// The tool's data, as the `data` of an error object.
    pub(super) original: Option<Bytes>,
    /// The stack trace that the tool reported.
    pub(super) stack: Option<String>,
}

/// Converts a result to the row's form; the second value is true if it reports a failure.
///
/// # Errors
/// Returns [`FailedCall`] if the row reports failures as errors.
pub(super) fn call_result(row: &Dialect, result: &Bytes) -> Result<(Bytes, bool), FailedCall> {
    let Some(found) = members(result) else { return Ok((result.clone(), false)) };
    let shape = Shape { row, text: result, members: &found };
    let failed = found.get(result, "isError").is_some_and(|flag| flag.of(result) == b"true");
    if failed && row.errors.tool_failed.channel == Channel::Error {
        return Err(shape.failed());
    }
    Ok((shape.shaped(failed), failed))
}

struct Shape<'r> {
    row: &'r Dialect,
    text: &'r Bytes,
    members: &'r Members,
}

impl Shape<'_> {
    fn failed(&self) -> FailedCall {
        let texts: Vec<Cow<'_, str>> =
            self.texts().into_iter().filter_map(|span| string_at(span.of(self.text))).collect();
        let data = self.members.get(self.text, "structuredContent").map(|span| span.of(self.text));
        let message = texts.join("\n");
        let original = data.map(|data| {
            let mut object = format!("{{\"message\":{},\"data\":", quote(&message)).into_bytes();
            object.extend_from_slice(data);
            object.push(b'}');
            Bytes::from(object)
        });
        let stack = self
            .members
            .get(self.text, "_meta")
            .and_then(|span| Members::of_value(self.text, span))
            .and_then(|meta| meta.get(self.text, "stacktrace"))
            .and_then(|span| string_at(span.of(self.text)))
            .map(Cow::into_owned);
        FailedCall { message, original, stack }
    }

    fn shaped(&self, failed: bool) -> Bytes {
        let calls = &self.row.calls;
        let replaced = self.replaced_texts(failed);
        let said;
        let mut splice = Splice::new(self.text);
        for (span, text) in &replaced {
            splice.replace(*span, text.as_bytes());
        }
        let other: Vec<Cow<'_, str>> = self
            .members
            .iter()
            .filter_map(|member| unquote(member.key.of(self.text)))
            .filter(|key| calls.result_members.as_ref().is_some_and(|kept| !kept.iter().any(|k| k == key)))
            .filter(|key| key != "isError" && key != "content")
            .collect();
        for key in &other {
            splice.remove(self.members, key.as_bytes());
        }
        match (failed, calls.success_flag) {
            (true, _) if calls.failure_flag => {
                splice.set(self.members, b"isError", b"true");
            }
            (true, _) | (false, SuccessFlag::Absent) => {
                splice.remove(self.members, b"isError");
            }
            (false, SuccessFlag::False) => {
                splice.set(self.members, b"isError", b"false");
            }
            (false, SuccessFlag::Keep) => {}
        }
        let empty = self.members.get(self.text, "content").is_none_or(|span| {
            Elements::of_value(self.text, span).is_none_or(|list| failed && list.is_empty())
        });
        if empty {
            said = self.empty_text(failed);
            splice.set(self.members, b"content", said.as_bytes());
        }
        if splice.is_empty() { self.text.clone() } else { splice.finish() }
    }

    /// The replacement for missing content.
    fn empty_text(&self, failed: bool) -> String {
        if !failed {
            return "[]".to_owned();
        }
        let text = format!("{}the tool failed and did not say why", self.row.calls.failure_prefix);
        format!("[{{\"type\":\"text\",\"text\":{}}}]", quote(&text))
    }

    /// The texts to replace: JSON in another layout, and the first text of a failure, which gets its prefix.
    fn replaced_texts(&self, failed: bool) -> Vec<(Span, String)> {
        let calls = &self.row.calls;
        let untouched = if failed { calls.failure_prefix.is_empty() } else { calls.output == Output::Raw };
        if untouched {
            return Vec::new();
        }
        let mut replaced = Vec::new();
        for (at, span) in self.texts().into_iter().enumerate() {
            let written = span.of(self.text);
            let Some(text) = string_at(written) else { continue };
            if failed {
                let begins = text.starts_with(calls.failure_prefix.trim_end());
                if at == 0
                    && !begins
                    && let Ok(rest) = std::str::from_utf8(&written[1..])
                {
                    let prefix = quote(&calls.failure_prefix);
                    // The prefix loses its closing quote; the text has already lost its opening one.
                    replaced.push((span, format!("{}{rest}", &prefix[..prefix.len() - 1])));
                }
            } else if is_json(&text)
                && let Some(anew) = laid_out(&text, calls.output)
            {
                replaced.push((span, quote(&anew)));
            }
        }
        replaced
    }

    /// The spans of the texts in text blocks.
    fn texts(&self) -> Vec<Span> {
        let blocks = self.members.get(self.text, "content").and_then(|at| Elements::of_value(self.text, at));
        let Some(blocks) = blocks else { return Vec::new() };
        let text = |block: Span| {
            let block = Members::of_value(self.text, block)?;
            let kind = block.get(self.text, "type")?;
            let is_text = string_at(kind.of(self.text)).is_some_and(|kind| kind == "text");
            block.get(self.text, "text").filter(|_| is_text)
        };
        blocks.iter().filter_map(text).collect()
    }
}

/// Returns true if a text is a JSON object or array. Any other text stays unchanged, even if it is valid JSON.
fn is_json(text: &str) -> bool {
    text.trim_ascii_start().starts_with(['{', '['])
        && Scanner::new(text.as_bytes(), proto::json::MAX_DEPTH)
            .is_ok_and(|scanner| scanner.document().is_ok())
}
