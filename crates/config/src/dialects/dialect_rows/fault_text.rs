//! The text of a row for a fault: code, message, status, and JSON with placeholders.
//!
//! | placeholder | stands for |
//! |---|---|
//! | `{name}` | the subject of the fault: a tool, a method, a URI or a profile |
//! | `{message}`, `{detail}` | the message of the party that detected the fault |
//! | `{hint}` | a hint from a server behind the gateway |
//! | `{text}` | the row's message with its placeholders filled in |
//! | `{tool}`, `{method}` | the tool and the method of the request |
//! | `{server}` | the server that Dragoman forwarded the request to |
//! | `{original}`, `{originalData}` | that server's error object, and the `data` in it |
//! | `{body}` | the answer from a site or service behind that server |
//! | `{stack}` | the program location of the failure, if the row includes it |
//! | `{url}` | the page where a user can give consent |
//! | `{code}`, `{status}`, `{seconds}` | numbers: the code, the HTTP status, the seconds to wait |
//! | `{serverName}`, `{serverVersion}`, `{profile}`, `{path}`, `{session}` | the values of the endpoint |
//!
//! A member whose placeholder has no value is removed. This module must not know which conditions exist.

use std::borrow::Cow;

use proto::json::{quote, quote_into};
use serde_json::Value;

use super::cell::{Cell, CellKind, Text, unfit};
use super::words::Channel;

/// The maximum length of a placeholder's value, in bytes. The length is limited because names and messages come from
/// untrusted parties.
const MAX_WORD: usize = 4096;

/// JSON with placeholders in its texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template(pub Text);

/// The text of a row for one condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultText {
    /// The JSON-RPC code of the error.
    pub code: i32,
    /// The message, with placeholders.
    pub message: Text,
    /// The HTTP status of the answer.
    pub status: u16,
    /// The way in which a failed call is reported: as an error or as a result. Other faults are always reported as
    /// errors.
    pub channel: Channel,
    /// The `data` of the error, with placeholders.
    pub data: Option<Template>,
    /// The whole body, for answers that are not JSON-RPC.
    pub body: Option<Template>,
}

impl FaultText {
    /// Creates the text of an error with HTTP status 200.
    pub const fn new(code: i32, message: &'static str) -> Self {
        Self {
            code,
            message: Cow::Borrowed(message),
            status: 200,
            channel: Channel::Error,
            data: None,
            body: None,
        }
    }

    pub(crate) fn status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    pub(crate) fn data(self, json: &'static str) -> Self {
        Self { data: Some(Template(Cow::Borrowed(json))), ..self }
    }

    pub(crate) fn body(self, json: &'static str) -> Self {
        Self { body: Some(Template(Cow::Borrowed(json))), ..self }
    }

    pub(crate) fn by_result(self) -> Self {
        Self { channel: Channel::Result, ..self }
    }
}

impl Cell for FaultText {
    const KIND: CellKind = CellKind::FaultText;

    /// Sets the given members; the others keep their values.
    fn set(&mut self, value: &Value) -> Result<(), String> {
        let members = value.as_object().ok_or_else(|| unfit(Self::KIND))?;
        for (key, value) in members {
            let done = match key.as_str() {
                "code" => self.code.set(value),
                "message" => self.message.set(value),
                "status" => self.status.set(value),
                "channel" => self.channel.set(value),
                "data" => self.data.set(value),
                "body" => self.body.set(value),
                _ => return Err(format!("has no member {key}; it {}", unfit(Self::KIND))),
            };
            done.map_err(|what| format!("{key} {what}"))?;
        }
        Ok(())
    }

    fn show(&self) -> Value {
        serde_json::json!({
            "code": self.code,
            "message": self.message,
            "status": self.status,
            "channel": self.channel.word(),
            "data": self.data.show(),
            "body": self.body.show(),
        })
    }
}

impl Cell for Option<Template> {
    const KIND: CellKind = CellKind::Template;

    fn set(&mut self, value: &Value) -> Result<(), String> {
        *self = match value {
            Value::Bool(false) => None,
            value => Some(Template(Cow::Owned(value.to_string()))),
        };
        Ok(())
    }

    fn show(&self) -> Value {
        let shown = |Template(json): &Template| serde_json::from_str(json).ok();
        self.as_ref().map_or(Value::Bool(false), |template| shown(template).unwrap_or_default())
    }
}

/// The value of a placeholder.
#[derive(Debug, Clone)]
pub enum Word<'a> {
    /// A text.
    Text(Cow<'a, str>),
    /// JSON, inserted unchanged.
    Json(Cow<'a, [u8]>),
}

/// The values of the placeholders, by name.
#[derive(Debug, Clone, Default)]
pub struct Words<'a>(Vec<(&'static str, Word<'a>)>);

impl<'a> Words<'a> {
    /// Sets `key` to this text, truncated if it is too long; an empty text is treated as no value.
    pub fn text(&mut self, key: &'static str, text: impl Into<Cow<'a, str>>) -> &mut Self {
        let text = cut(text.into());
        if !text.is_empty() {
            self.0.push((key, Word::Text(text)));
        }
        self
    }

    /// Sets `key` to this JSON.
    pub fn json(&mut self, key: &'static str, json: impl Into<Cow<'a, [u8]>>) -> &mut Self {
        self.0.push((key, Word::Json(json.into())));
        self
    }

    fn get(&self, key: &str) -> Option<&Word<'a>> {
        self.0.iter().rev().find(|(name, _)| *name == key).map(|(_, word)| word)
    }

    /// Fills in the placeholders of a text. A placeholder without a value is removed together with the words that
    /// introduce it.
    pub fn fill(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len() + 32);
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            let Some(length) = rest[open..].find('}') else { break };
            let key = &rest[open + 1..open + length];
            if !key.bytes().all(|b| b.is_ascii_alphabetic()) || key.is_empty() {
                out.push_str(&rest[..=open]);
                rest = &rest[open + 1..];
                continue;
            }
            out.push_str(&rest[..open]);
            match self.get(key) {
                Some(Word::Text(text)) => out.push_str(text),
                Some(Word::Json(json)) => out.push_str(&String::from_utf8_lossy(json)),
                None => out.truncate(out.trim_end_matches([':', ' ']).len()),
            }
            rest = &rest[open + length + 1..];
        }
        out.push_str(rest);
        out
    }

    /// Fills in the placeholders of JSON; `None` if nothing is left of it.
    pub fn render(&self, Template(json): &Template) -> Option<Vec<u8>> {
        let value: Value = serde_json::from_str(json).ok()?;
        let mut out = Vec::with_capacity(json.len() + 64);
        self.write(&value, &mut out).then_some(out)
    }

    /// Writes a value; returns `false` for a placeholder without a value.
    fn write(&self, value: &Value, out: &mut Vec<u8>) -> bool {
        match value {
            Value::String(text) => return self.write_text(text, out),
            Value::Array(items) => {
                out.push(b'[');
                self.write_all(items.iter().map(|item| (None, item)), out);
                out.push(b']');
            }
            Value::Object(members) => {
                out.push(b'{');
                self.write_all(members.iter().map(|(key, value)| (Some(key.as_str()), value)), out);
                out.push(b'}');
            }
            plain => out.extend_from_slice(plain.to_string().as_bytes()),
        }
        true
    }

    fn write_all<'v>(&self, items: impl Iterator<Item = (Option<&'v str>, &'v Value)>, out: &mut Vec<u8>) {
        let mut first = true;
        for (key, value) in items {
            let before = out.len();
            if !first {
                out.push(b',');
            }
            if let Some(key) = key {
                quote_into(out, key);
                out.push(b':');
            }
            if self.write(value, out) {
                first = false;
            } else {
                out.truncate(before);
            }
        }
    }

    fn write_text(&self, text: &str, out: &mut Vec<u8>) -> bool {
        let alone = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        let Some(key) = alone.filter(|key| key.bytes().all(|b| b.is_ascii_alphabetic())) else {
            quote_into(out, &self.fill(text));
            return true;
        };
        match self.get(key) {
            Some(Word::Text(text)) => out.extend_from_slice(quote(text).as_bytes()),
            Some(Word::Json(json)) => out.extend_from_slice(json),
            None => return false,
        }
        true
    }
}

/// The names of the placeholders in a text.
pub fn placeholders(text: &str) -> impl Iterator<Item = &str> {
    let names = text.split('{').skip(1).filter_map(|rest| rest.split_once('}').map(|(name, _)| name));
    names.filter(|name| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphabetic()))
}

fn cut(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.len() <= MAX_WORD {
        return text;
    }
    let end = text.floor_char_boundary(MAX_WORD);
    Cow::Owned(format!("{}…", &text[..end]))
}
