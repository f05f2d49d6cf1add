//! The parts of messages. This module must not know how messages are transported.

use serde_json::{Value, json};

/// The newest version with a handshake.
pub const LEGACY: &str = "2025-11-25";

/// The stateless version.
pub const MODERN: &str = "2026-07-28";

/// A request.
pub fn request(id: impl Into<Value>, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params})
}

/// A notification; null `params` are omitted.
pub(super) fn notification(method: &str, params: &Value) -> Value {
    let mut message = json!({"jsonrpc": "2.0", "method": method});
    if !params.is_null() {
        message["params"] = params.clone();
    }
    message
}

/// The params of `initialize`.
pub(super) fn hello(version: &Value, capabilities: &Value) -> Value {
    let info = json!({"name": "test", "version": "1"});
    json!({"protocolVersion": version, "capabilities": capabilities, "clientInfo": info})
}

/// The metadata of a stateless request.
pub fn meta(capabilities: &Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": capabilities,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    })
}

/// The params of a stateless request: `params`, with the metadata from `own` added where `params` has none.
pub(super) fn with_meta(params: &Value, mut own: Value) -> Value {
    let mut params = params.clone();
    for (key, value) in params["_meta"].as_object().into_iter().flatten() {
        own[key] = value.clone();
    }
    params["_meta"] = own;
    params
}

/// The text of a tool's result.
pub fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {answer}"))
}

/// The code of an error.
pub fn error_code(answer: &Value) -> i64 {
    answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error in {answer}"))
}

/// The message of an error.
pub fn error_message(answer: &Value) -> &str {
    answer["error"]["message"].as_str().unwrap_or_else(|| panic!("no error in {answer}"))
}

/// The names in an answer to `tools/list`.
pub fn tool_names(answer: &Value) -> Vec<String> {
    let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("no tools in {answer}"));
    tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
}
