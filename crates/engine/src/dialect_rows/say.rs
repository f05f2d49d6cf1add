//! How a row says that something went wrong: code, message, status, and JSON with placeholders filled in.
//!
//! | placeholder | stands for |
//! |---|---|
//! | `{name}` | what the trouble is about: a tool, a method, a URI, a profile |
//! | `{message}`, `{detail}` | what happened, in the words of who found out |
//! | `{hint}` | what a server behind the gateway says that is wanting |
//! | `{text}` | the message of the row, filled in |
//! | `{tool}`, `{method}` | those of the request |
//! | `{server}` | the server behind the gateway |
//! | `{original}`, `{originalData}` | that server's error object, and the `data` in it |
//! | `{body}` | what a site or service behind that server answered |
//! | `{stack}` | where it happened, where the row tells it |
//! | `{url}` | where a user can give consent |
//! | `{code}`, `{status}`, `{seconds}` | numbers: the code, the HTTP status, how long to wait |
//! | `{serverName}`, `{serverVersion}`, `{profile}`, `{path}`, `{session}` | the endpoint's own |
//!
//! A placeholder that stands for nothing takes its member with it. It must not know which conditions there are.

use std::borrow::Cow;

use proto::json::{quote, quote_into};
use serde_json::Value;

use super::cell::{Cell, Kind, Text, unfit};
use super::words::Channel;

/// The longest text that is put in the place of a placeholder, in bytes: names and messages come from others.
const MAX_WORD: usize = 4096;

/// JSON with placeholders in its texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template(pub Text);

/// How one condition is said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Say {
    /// The JSON-RPC code.
    pub code: i32,
    /// The message, with placeholders.
    pub message: Text,
    /// The HTTP status.
    pub status: u16,
    /// Says whether a call gets it as an error or as a result; everything else gets an error.
    pub channel: Channel,
    /// The error's `data`.
    pub data: Option<Template>,
    /// The whole body, for what is not said in JSON-RPC at all.
    pub body: Option<Template>,
}

impl Say {
    /// An error under HTTP status 200.
    pub(crate) const fn new(code: i32, message: &'static str) -> Self {
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

impl Cell for Say {
    const KIND: Kind = Kind::Say;

    /// Takes the members that are given; the others stay.
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
                _ => return Err(format!("has no {key}; {}", unfit(Self::KIND))),
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
    const KIND: Kind = Kind::Template;

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

/// What a placeholder stands for.
#[derive(Debug, Clone)]
pub(crate) enum Word<'a> {
    /// A text.
    Text(Cow<'a, str>),
    /// JSON as it is.
    Json(Cow<'a, [u8]>),
}

/// What the placeholders stand for, by their names.
#[derive(Debug, Clone, Default)]
pub(crate) struct Words<'a>(Vec<(&'static str, Word<'a>)>);

impl<'a> Words<'a> {
    /// `key` stands for this text, cut where it is too long; for nothing when it is empty.
    pub(crate) fn text(&mut self, key: &'static str, text: impl Into<Cow<'a, str>>) -> &mut Self {
        let text = cut(text.into());
        if !text.is_empty() {
            self.0.push((key, Word::Text(text)));
        }
        self
    }

    /// `key` stands for this JSON.
    pub(crate) fn json(&mut self, key: &'static str, json: impl Into<Cow<'a, [u8]>>) -> &mut Self {
        self.0.push((key, Word::Json(json.into())));
        self
    }

    fn get(&self, key: &str) -> Option<&Word<'a>> {
        self.0.iter().rev().find(|(name, _)| *name == key).map(|(_, word)| word)
    }

    /// A text with its placeholders filled in. What leads up to one that stands for nothing goes with it.
    pub(crate) fn fill(&self, text: &str) -> String {
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

    /// JSON with its placeholders filled in; `None` when nothing is left of it.
    pub(crate) fn render(&self, Template(json): &Template) -> Option<Vec<u8>> {
        let value: Value = serde_json::from_str(json).ok()?;
        let mut out = Vec::with_capacity(json.len() + 64);
        self.write(&value, &mut out).then_some(out)
    }

    /// Writes a value; `false` where it is a placeholder that stands for nothing.
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
pub(crate) fn placeholders(text: &str) -> impl Iterator<Item = &str> {
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
