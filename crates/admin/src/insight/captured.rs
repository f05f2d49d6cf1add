//! Captured messages, without secrets. This module must not know how messages are captured.

use std::time::Duration;

use serde_json::Value;

use gateway::call::capture::{CapturedMessage, Lane};
use gateway::process::Shard;

/// A message formatted for people.
pub(crate) struct ReadableMessage {
    pub(crate) after: Duration,
    pub(crate) lane: Lane,
    pub(crate) era: &'static str,
    /// The method of a request or notification; otherwise `result`, `error` or `message`.
    pub(crate) title: String,
    /// The message with a line for each value, without secrets.
    pub(crate) text: String,
    pub(crate) bytes: usize,
    /// True if the text is only the beginning of the message.
    pub(crate) is_cut: bool,
}

/// Returns messages without the values whose names are to be redacted (`audit.redact`).
pub(crate) fn readable(shard: &Shard, messages: &[CapturedMessage]) -> Vec<ReadableMessage> {
    let names = redacted_names(shard);
    messages.iter().map(|message| one(message, &names)).collect()
}

fn redacted_names(shard: &Shard) -> Vec<String> {
    let audit = shard.gateway.standing.config().audit.as_ref();
    let words: Vec<String> = match audit {
        Some(audit) => audit.redact.clone(),
        None => config::Audit::REDACT.iter().map(|word| (*word).to_owned()).collect(),
    };
    words.iter().map(|word| plain(word)).filter(|word| !word.is_empty()).collect()
}

fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric() || "*?".contains(*c)).flat_map(char::to_lowercase).collect()
}

fn one(message: &CapturedMessage, names: &[String]) -> ReadableMessage {
    let is_cut = message.text.len() < message.bytes;
    let parsed: Option<Value> = serde_json::from_slice(&message.text).ok();
    let title = parsed.as_ref().map_or("message", title).to_owned();
    let text = match parsed {
        Some(mut value) => {
            redact(&mut value, names);
            serde_json::to_string_pretty(&value).unwrap_or_default()
        }
        // Without its end, a message cannot be searched for secrets.
        None => format!("a message of {} bytes, which is too long to be shown", message.bytes),
    };
    ReadableMessage {
        after: message.after,
        lane: message.lane,
        era: message.era,
        title,
        text,
        bytes: message.bytes,
        is_cut,
    }
}

fn title(value: &Value) -> &str {
    match value["method"].as_str() {
        Some(method) => method,
        None if value.get("error").is_some() => "error",
        None if value.get("result").is_some() => "result",
        None => "message",
    }
}

fn redact(value: &mut Value, names: &[String]) {
    match value {
        Value::Array(all) => all.iter_mut().for_each(|one| redact(one, names)),
        Value::Object(all) => {
            for (name, value) in all {
                // Progress tokens are no secrets, and people look for them.
                if name != "progressToken" && is_secret(name, names) {
                    *value = "[redacted]".into();
                } else {
                    redact(value, names);
                }
            }
        }
        Value::String(text) => {
            // Results of tools often repeat their data as JSON text.
            if text.starts_with(['{', '['])
                && let Ok(mut inner) = serde_json::from_str::<Value>(text)
            {
                redact(&mut inner, names);
                *text = inner.to_string();
            }
        }
        _ => {}
    }
}

fn is_secret(name: &str, names: &[String]) -> bool {
    let name = plain(name);
    names.iter().any(|word| {
        if word.contains(['*', '?']) {
            config::Glob::parse(word).is_ok_and(|glob| glob.matches(&name))
        } else {
            name.contains(word.as_str())
        }
    })
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    #[test]
    fn secrets_are_not_readable() {
        let text = br#"{"method":"tools/call","params":{"arguments":{"apiKey":"s1","deep":[{"PASSWORD":"s2"}],"n":"{\"token\":\"s3\"}"},"_meta":{"progressToken":7}}}"#;
        let message = CapturedMessage {
            after: Duration::ZERO,
            lane: Lane::FromClient,
            era: "x",
            text: Bytes::from_static(text),
            bytes: text.len(),
        };
        let names: Vec<String> = config::Audit::REDACT.iter().map(|word| plain(word)).collect();
        let shown = one(&message, &names);
        assert_eq!(shown.title, "tools/call");
        assert!(
            !shown.text.contains("s1") && !shown.text.contains("s2") && !shown.text.contains("s3"),
            "{}",
            shown.text
        );
        assert!(shown.text.contains("\"progressToken\": 7"));
        let cut =
            one(&CapturedMessage { bytes: 1_000_000, text: message.text.slice(..30), ..message }, &names);
        assert!(cut.is_cut && !cut.text.contains("tools"));
    }
}
