//! Incoming and outgoing messages. Data that is passed on keeps its exact bytes.

use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A request, a notification (no ID), or a response (no method). Other fields may have any content. A field with an
/// unexpected value is treated as absent.
#[derive(Deserialize)]
pub(super) struct Message<'a> {
    #[serde(borrow)]
    pub(super) id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) params: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Params<'a> {
    #[serde(borrow)]
    pub(super) name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) arguments: Option<&'a RawValue>,
    #[serde(rename = "protocolVersion", borrow)]
    pub(super) version: Option<&'a RawValue>,
    #[serde(rename = "_meta", borrow)]
    pub(super) meta: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Meta<'a> {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion", borrow)]
    pub(super) version: Option<&'a RawValue>,
}

/// The arguments of the tool `raw`.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Verbatim<'a> {
    #[serde(borrow)]
    pub(super) reply: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) notify: Option<&'a RawValue>,
}

/// The arguments of all tools except `raw`; each has a default that makes the tool misbehave.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of one tool")]
#[derive(Deserialize)]
#[serde(default)]
pub(super) struct Arguments {
    pub(super) text: String,
    pub(super) ms: u64,
    pub(super) bytes: Option<u64>,
    pub(super) code: u8,
    pub(super) half: bool,
    pub(super) later: Option<u64>,
    pub(super) balanced: bool,
    pub(super) then_answer: bool,
    pub(super) process: bool,
}

impl Default for Arguments {
    fn default() -> Self {
        Self {
            text: "ok".into(),
            ms: 1000,
            bytes: None,
            code: 3,
            half: false,
            later: None,
            balanced: false,
            then_answer: false,
            process: false,
        }
    }
}

/// The content of `value`, if it is a `T`.
pub(super) fn read<'a, T: Deserialize<'a> + Default>(value: Option<&'a RawValue>) -> T {
    value.and_then(|value| serde_json::from_str(value.get()).ok()).unwrap_or_default()
}

/// A response with this result; both are unchanged.
pub(super) fn result(id: &RawValue, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

/// A response with this error object.
pub(super) fn error(id: &str, code: i32, message: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":{}}}}}"#, string(message))
}

/// A JSON string.
pub(super) fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
