//! The plain tools as a client sees them.

use bytes::Bytes;
use proto::era::newest_handshake;
use proto::rpc::{Frame, FrameLimits};
use serde_json::{Value, json};

use crate::UnknownArguments;
use crate::rest::tests::{asked, content};
use crate::server::{Answering, NativeCall, NativeServer as _};

fn call(tool: &str, arguments: &Value) -> (String, bool) {
    content(&asked(&super::server(None, UnknownArguments::Reject), tool, arguments))
}

fn fine(text: &str) -> (String, bool) {
    (text.to_owned(), false)
}

#[test]
fn tools_answer() {
    assert_eq!(call("hello", &json!({"name": "World"})), fine("Hello, World!"));
    assert_eq!(call("echo", &json!({"message": "a\n\"b\" \u{1F600}"})), fine("a\n\"b\" \u{1F600}"));
    assert_eq!(call("add", &json!({"a": 2, "b": 3})), fine("5"));
    assert_eq!(
        call("add", &json!({"a": 9_223_372_036_854_775_807_i64, "b": 1})),
        fine("9223372036854775808")
    );
    assert_eq!(call("add", &json!({"a": 1.5, "b": 2})), fine("3.5"));
    assert_eq!(call("concat", &json!({"strings": ["a", "b", "c"]})), fine("abc"));
    assert_eq!(call("concat", &json!({"strings": ["a", "b"], "separator": ", "})), fine("a, b"));
    assert_eq!(call("calculate", &json!({"expr": "(+ 1 2)"})), fine(r#"{"value":3,"type":"integer"}"#));
    let coded = json!({"expr": "KCsgMSAyKQ==", "input-base64": true, "output-base64": true});
    assert_eq!(call("calculate", &coded), fine("eyJ2YWx1ZSI6MywidHlwZSI6ImludGVnZXIifQ=="));
}

#[test]
fn the_greeting_is_configurable() {
    let server = super::server(Some(" Moin "), UnknownArguments::Reject);
    assert_eq!(content(&asked(&server, "hello", &json!({"name": "Ada"}))), fine("Moin, Ada!"));
}

#[test]
fn arguments_that_nobody_can_read_are_refused() {
    for (tool, arguments, says) in [
        ("add", r#"{"a":1e400,"b":1}"#, "number out of range"),
        ("hello", r#"{"name":"\ud800"}"#, "hex escape"),
    ] {
        let call = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
        );
        let frame = Frame::parse(Bytes::from(call), FrameLimits::default()).unwrap();
        let answer =
            super::server(None, UnknownArguments::Reject).answer(NativeCall::new(&frame, newest_handshake()));
        let Answering::Ready(answer) = answer else { panic!("it waits for nothing") };
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        assert_eq!(answer["error"]["data"]["condition"], "invalidArguments", "{answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.starts_with("the arguments cannot be read: ") && message.contains(says), "{answer}");
    }
}

#[test]
fn failures_are_said() {
    for (tool, arguments, says) in [
        ("hello", json!({}), "\"name\" is missing"),
        ("add", json!({"a": "x", "b": 1}), "must be a number"),
        ("add", json!({"a": 1e308, "b": 1e308}), "too large"),
        ("concat", json!({"strings": "a"}), "array of strings"),
        ("calculate", json!({"expr": "(/ 1 0)"}), "division by zero"),
        ("concat", json!({"strings": vec![""; 5000], "separator": "x".repeat(1000)}), "longer than"),
    ] {
        let (text, is_error) = call(tool, &arguments);
        assert!(is_error && text.contains(says), "{tool}: {text}");
    }
}
