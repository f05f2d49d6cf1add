//! The demo server as a client sees it, in every era.

use bytes::Bytes;
use proto::era::{ERAS, Era, InvalidArguments, newest_handshake, newest_stateless};
use proto::rpc::{Frame, FrameKind, FrameLimits, code};
use serde_json::{Value, json};

use super::Demo;
use crate::server::{Answering, NativeCall, NativeServer};

fn ask(era: &'static Era, method: &str, params: &Value) -> Value {
    let text = json!({"jsonrpc": "2.0", "id": "q", "method": method, "params": params}).to_string();
    ask_text(era, &text)
}

fn ask_text(era: &'static Era, text: &str) -> Value {
    let request = Frame::parse(Bytes::copy_from_slice(text.as_bytes()), FrameLimits::default()).unwrap();
    let Answering::Ready(answer) = Demo.answer(NativeCall::new(&request, era)) else {
        panic!("the demo server waits for nobody")
    };
    let frame = Frame::parse(answer.clone(), FrameLimits::default()).unwrap();
    assert!(matches!(frame.kind(), FrameKind::Response | FrameKind::Error));
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    assert_eq!(answer["id"], "q");
    answer
}

fn call(tool: &str, arguments: &Value) -> (String, bool) {
    text_of(&ask(newest_handshake(), "tools/call", &json!({"name": tool, "arguments": arguments})))
}

fn text_of(answer: &Value) -> (String, bool) {
    let result = &answer["result"];
    (result["content"][0]["text"].as_str().unwrap().to_owned(), result["isError"].as_bool().unwrap())
}

fn sum(a: &str, b: &str) -> (String, bool) {
    let text = format!(
        r#"{{"jsonrpc":"2.0","id":"q","method":"tools/call","params":{{"name":"add","arguments":{{"a":{a},"b":{b}}}}}}}"#
    );
    text_of(&ask_text(newest_handshake(), &text))
}

fn fine(text: &str) -> (String, bool) {
    (text.to_owned(), false)
}

#[test]
fn tools_answer() {
    assert_eq!(call("hello", &json!({})), fine("Hello, world!"));
    assert_eq!(call("hello", &json!({"name": "Ada"})), fine("Hello, Ada!"));
    assert_eq!(call("hello", &json!({"name": "  "})), fine("Hello, world!"));
    assert_eq!(call("echo", &json!({"text": "a\n\"b\" \u{1F600}"})), fine("a\n\"b\" \u{1F600}"));
    assert_eq!(call("concat", &json!({"a": "drago", "b": "man"})), fine("dragoman"));
    assert_eq!(call("example-ping", &json!({})), fine("pong"));
    assert_eq!(call("example-echo", &json!({"message": ""})), fine(""));
    let absent = ask(newest_handshake(), "tools/call", &json!({"name": "example-ping"}));
    assert_eq!(text_of(&absent), fine("pong"));
}

#[test]
fn integers_are_added_exactly() {
    for (a, b, want) in [
        ("2", "3", "5"),
        ("-2", "2", "0"),
        ("9007199254740993", "9007199254740993", "18014398509481986"),
        ("9999999999999999999999999999999999999", "1", "10000000000000000000000000000000000000"),
        ("1.5", "2", "3.5"),
        ("1e2", "1", "101"),
        ("0.1", "0.2", "0.30000000000000004"),
    ] {
        assert_eq!(sum(a, b), fine(want), "{a} + {b}");
    }
}

#[test]
fn sums_that_do_not_fit_are_refused_in_words() {
    let (most, large) = (i128::MAX.to_string(), "9".repeat(60));
    for (a, b, says) in [
        (most.as_str(), "1", "37 digits"),
        (&large, "1", "37 digits"),
        ("1e308", "1e308", "double-precision"),
        ("1e999", "1", "double-precision"),
    ] {
        let (text, is_error) = sum(a, b);
        assert!(is_error && text.contains(says), "{a} + {b}: {text}");
    }
    assert_eq!(sum(&most, "0"), fine(&most));
}

#[test]
fn ill_fitting_arguments_are_refused_as_the_era_wants() {
    let cases = [
        ("echo", json!({}), "\"text\" is missing"),
        ("echo", json!({"text": 1}), "must be a string"),
        ("add", json!({"a": "1", "b": 2}), "must be a number"),
        (
            "hello",
            json!({"nam": "x"}),
            "unknown argument \"nam\": did you mean \"name\"? The tool takes name",
        ),
        ("example-ping", json!({"x": 1}), "unknown argument \"x\"; the tool takes no arguments"),
        ("echo", json!([]), "must be an object"),
        ("concat", json!({}), "\"a\" is missing; the argument \"b\" is missing"),
    ];
    for era in ERAS {
        for (tool, arguments, says) in &cases {
            let answer = ask(era, "tools/call", &json!({"name": tool, "arguments": arguments}));
            let text = match era.invalid_arguments {
                InvalidArguments::Error => {
                    assert_eq!(answer["error"]["code"], code::INVALID_PARAMS);
                    answer["error"]["message"].as_str().unwrap().to_owned()
                }
                InvalidArguments::ToolResult => {
                    let (text, is_error) = text_of(&answer);
                    assert!(is_error);
                    text
                }
            };
            assert!(text.contains(says), "{era} {tool}: {text}");
        }
    }
}

#[test]
fn doubled_and_broken_arguments_are_refused() {
    for (arguments, says) in
        [(r#"{"text":"a","text":"b"}"#, "occurs twice"), (r#"{"text":"\ud800"}"#, "not valid Unicode")]
    {
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":"q","method":"tools/call","params":{{"name":"echo","arguments":{arguments}}}}}"#
        );
        let (text, is_error) = text_of(&ask_text(newest_handshake(), &text));
        assert!(is_error && text.contains(says), "{text}");
    }
}

#[test]
fn tools_describe_themselves() {
    let answer = ask(newest_handshake(), "tools/list", &json!({}));
    let tools = answer["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["hello", "echo", "add", "concat", "example-ping", "example-echo"]);
    for tool in tools {
        assert!(
            !tool["title"].as_str().unwrap().is_empty() && !tool["description"].as_str().unwrap().is_empty()
        );
        assert_eq!(tool["inputSchema"]["type"], "object");
        assert_eq!(tool["inputSchema"]["additionalProperties"], false);
        assert_eq!(tool["annotations"]["readOnlyHint"], true);
        assert_eq!(tool["annotations"]["idempotentHint"], true);
    }
    assert_eq!(tools[2]["inputSchema"]["required"], json!(["a", "b"]));
    assert_eq!(tools[2]["inputSchema"]["properties"]["a"]["type"], "number");
    assert!(tools[0]["inputSchema"].get("required").is_none());
}

#[test]
fn resources_are_listed_and_read() {
    let era = newest_handshake();
    let list = ask(era, "resources/list", &json!({}));
    assert_eq!(list["result"]["resources"][0]["uri"], "demo://welcome");
    let templates = ask(era, "resources/templates/list", &json!({}));
    assert_eq!(
        templates["result"]["resourceTemplates"][0]["uriTemplate"],
        super::resources::GREETING_TEMPLATE
    );
    let welcome = ask(era, "resources/read", &json!({"uri": "demo://welcome"}));
    let contents = &welcome["result"]["contents"][0];
    assert_eq!(contents["mimeType"], "text/markdown");
    assert!(contents["text"].as_str().unwrap().contains("dragoman.yaml"));
    let greeting = ask(era, "resources/read", &json!({"uri": "demo://greeting/Ada%20L%C3%A9"}));
    assert_eq!(greeting["result"]["contents"][0]["text"], "Hello, Ada Lé!");
}

#[test]
fn missing_resources_have_the_era_s_code() {
    for era in ERAS {
        for uri in [
            "demo://",
            "demo://greeting/",
            "demo://greeting/a/b",
            "demo://greeting/%f",
            "demo://greeting/%ff",
        ] {
            let answer = ask(era, "resources/read", &json!({"uri": uri}));
            assert_eq!(answer["error"]["code"], era.resource_not_found, "{era} {uri}");
            assert_eq!(answer["error"]["data"]["uri"], uri);
        }
    }
}

#[test]
fn the_prompt_introduces() {
    let era = newest_handshake();
    let list = ask(era, "prompts/list", &json!({}));
    assert_eq!(list["result"]["prompts"][0]["name"], "introduce");
    let plain = ask(era, "prompts/get", &json!({"name": "introduce"}));
    let message = &plain["result"]["messages"][0];
    assert_eq!((message["role"].as_str(), message["content"]["type"].as_str()), (Some("user"), Some("text")));
    assert!(message["content"]["text"].as_str().unwrap().contains("what Dragoman is"));
    let topic = ask(era, "prompts/get", &json!({"name": "introduce", "arguments": {"topic": "profiles"}}));
    assert!(
        topic["result"]["messages"][0]["content"]["text"].as_str().unwrap().contains("gateway: profiles")
    );
    for params in [
        json!({"name": "nobody"}),
        json!({}),
        json!({"name": "introduce", "arguments": {"topic": 1}}),
        json!({"name": "introduce", "arguments": []}),
    ] {
        assert_eq!(ask(era, "prompts/get", &params)["error"]["code"], code::INVALID_PARAMS, "{params}");
    }
}

#[test]
fn arguments_are_completed() {
    let era = newest_handshake();
    let complete = |kind: &str, key: &str, target: &str, name: &str, value: &str| {
        let params = json!({"ref": {"type": kind, key: target}, "argument": {"name": name, "value": value}});
        ask(era, "completion/complete", &params)
    };
    let topics = complete("ref/prompt", "name", "introduce", "topic", "PRO");
    assert_eq!(topics["result"]["completion"]["values"], json!(["profiles", "prompts", "protocol versions"]));
    assert_eq!(topics["result"]["completion"]["hasMore"], false);
    let people = complete("ref/resource", "uri", "demo://greeting/{name}", "name", "a");
    assert_eq!(people["result"]["completion"]["values"], json!(["Ada", "Alan"]));
    let none = complete("ref/prompt", "name", "introduce", "topic", "zzz");
    assert_eq!(none["result"]["completion"]["total"], 0);
    for answer in [
        complete("ref/prompt", "name", "nobody", "topic", ""),
        complete("ref/prompt", "name", "introduce", "name", ""),
        complete("ref/tool", "name", "introduce", "topic", ""),
        complete("ref/resource", "name", "demo://greeting/{name}", "name", ""),
        ask(era, "completion/complete", &json!({})),
    ] {
        assert_eq!(answer["error"]["code"], code::INVALID_PARAMS, "{answer}");
    }
}

#[test]
fn results_are_dressed_for_their_era() {
    for era in ERAS {
        for (method, params, cached) in [
            ("tools/list", json!({}), true),
            ("resources/read", json!({"uri": "demo://welcome"}), true),
            ("tools/call", json!({"name": "hello"}), false),
            ("prompts/get", json!({"name": "introduce"}), false),
        ] {
            let result = &ask(era, method, &params)["result"];
            assert_eq!(result.get("resultType").is_some(), era.typed_results, "{era} {method}");
            assert_eq!(result.get("ttlMs").is_some(), era.typed_results && cached, "{era} {method}");
        }
    }
}

#[test]
fn methods_exist_as_in_their_era() {
    assert_eq!(ask(newest_handshake(), "ping", &json!({}))["result"], json!({}));
    let refused = ask(newest_stateless(), "ping", &json!({}));
    assert_eq!(refused["error"]["code"], code::METHOD_NOT_FOUND);
    for method in ["tools/Call", "logging/setLevel", "resources/subscribe", "initialize", "server/discover"] {
        assert_eq!(
            ask(newest_handshake(), method, &json!({}))["error"]["code"],
            code::METHOD_NOT_FOUND,
            "{method}"
        );
    }
    for method in ["tools/list", "prompts/list", "resources/list", "resources/templates/list"] {
        let answer = ask(newest_handshake(), method, &json!({"cursor": "x"}));
        assert_eq!(answer["error"]["code"], code::INVALID_PARAMS, "{method}");
    }
    let unknown = ask(newest_handshake(), "tools/call", &json!({"name": "nothing"}));
    assert_eq!(unknown["error"]["code"], code::INVALID_PARAMS);
    assert!(unknown["error"]["message"].as_str().unwrap().contains("hello, echo"));
}

#[test]
fn what_hello_declares_is_json_and_works() {
    for era in ERAS {
        let hello = Demo.hello(era);
        assert_eq!(hello.era, era);
        let capabilities: Value = serde_json::from_slice(&hello.capabilities).unwrap();
        for (capability, method) in
            [("tools", "tools/list"), ("resources", "resources/list"), ("prompts", "prompts/list")]
        {
            assert!(capabilities.get(capability).is_some());
            assert!(ask(era, method, &json!({})).get("result").is_some(), "{era} {method}");
        }
        let info: Value = serde_json::from_slice(&hello.info).unwrap();
        assert_eq!(info["name"], "dragoman-demo");
        assert!(hello.instructions.is_some());
    }
}
