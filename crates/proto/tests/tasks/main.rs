//! Tasks between the experiment and the extension: the translation of each text, and complete tasks in every order
//! of events.

#![allow(clippy::unwrap_used, reason = "tests")]

mod legacy_to_modern;
mod modern_to_legacy;
mod orders;
mod texts;

use bytes::Bytes;
use dragoman_proto::bridge::tasks::{ModernToLegacy, Sides, TaskMethod};
use dragoman_proto::era::{V2025_11_25, V2026_07_28};
use dragoman_proto::json::Members;
use dragoman_proto::rpc::{Frame, FrameLimits};
use serde_json::{Value, json};

fn members(text: &str) -> Members {
    Members::of_document(text.as_bytes(), 64).unwrap()
}

fn text(bytes: &Bytes) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn frame(value: &Value) -> Frame {
    Frame::parse(Bytes::from(value.to_string()), FrameLimits::default()).unwrap()
}

fn result(value: &Value) -> Frame {
    frame(&json!({"jsonrpc": "2.0", "id": 1, "result": value}))
}

fn error(code: i32, message: &str) -> Frame {
    frame(&json!({"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": message}}))
}

fn parsed(bytes: &Bytes) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

fn legacy_client() -> Sides {
    Sides {
        client: &V2025_11_25,
        server: &V2026_07_28,
        capabilities: Bytes::from_static(br#"{"elicitation":{"form":{}},"roots":{}}"#),
        server_info: r#"{"name":"g"}"#.to_owned(),
    }
}

fn modern_client() -> Sides {
    Sides { client: &V2026_07_28, server: &V2025_11_25, ..legacy_client() }
}

fn id() -> Bytes {
    Bytes::from_static(br#""T""#)
}

fn get(method: TaskMethod) -> ModernToLegacy {
    ModernToLegacy::begin(modern_client(), method, id()).unwrap().0
}

fn task(status: &str) -> Value {
    json!({"resultType": "complete", "taskId": "T", "status": status, "ttlMs": 9, "pollIntervalMs": 70})
}

fn legacy_task(status: &str) -> Value {
    json!({"taskId": "T", "status": status, "ttl": 9, "pollInterval": 70})
}

fn question(number: usize) -> Frame {
    frame(&json!({"jsonrpc": "2.0", "id": format!("s{number}"), "method": "elicitation/create", "params": {
        "message": format!("m{number}"), "requestedSchema": {"type": "object", "properties": {}},
        "_meta": {"io.modelcontextprotocol/related-task": {"taskId": "T"}}}}))
}

const CAN: &[u8] = br#"{"elicitation":{}}"#;
