//! The requirements S4-01 to S4-22 for messages.

use super::*;
use crate::fault::Condition;

fn endpoint() -> Endpoint {
    Endpoint::of("kulturarv")
}

#[test]
fn s4_01_and_12_initialize_says_what_the_server_is() {
    let expected = json!({"protocolVersion":"2024-11-05","capabilities":{"tools":{}},
        "serverInfo":{"name":"kulturarv-mcp-server","version":"1.0.0"}});
    for version in ["2024-11-05", "2025-11-25"] {
        assert_eq!(endpoint().says(&initialize(version))["result"], expected);
    }
    assert!(endpoint().fresh().says(LIST)["result"]["tools"].is_array());
}

#[test]
fn s4_03_the_first_event() {
    let said = endpoint_event(&endpoint().row, "/message", "abc-1", "");
    assert_eq!(said.as_ref(), b"event: endpoint\ndata: /message?session_id=abc-1\n\n");
    assert_eq!(endpoint().row.events.message_path, "/message");
    assert_eq!(endpoint().row.events.session_parameter, "session_id");
}

#[test]
fn s4_05_pings() {
    assert_eq!(ping_event(&endpoint().row).as_ref(), b"event: ping\ndata: \n\n");
    assert_eq!(endpoint().row.events.ping_seconds.get(), 30);
}

#[test]
fn s4_06_error_events() {
    let said = error_event(&endpoint().row, Condition::Internal);
    assert_eq!(said.as_ref(), b"event: error\ndata: {\"code\":-32603,\"message\":\"Internal error\"}\n\n");
}

#[test]
fn s4_07_and_08_the_body_has_the_answer_always() {
    let events = endpoint().row.events;
    assert!(events.answer_in_body);
    assert_eq!((events.streams, events.unknown_session), (Streams::Beside, UnknownSession::Answer));
}

#[test]
fn s4_09_params_and_id_may_be_absent() {
    assert!(endpoint().says(LIST)["result"]["tools"].is_array());
    for text in
        [r#"{"jsonrpc":"2.0","method":"tools/call"}"#, r#"{"jsonrpc":"2.0","id":null,"method":"tools/call"}"#]
    {
        assert!(matches!(endpoint().read(text), DialectMessage::Notified(_, Some(_))), "executed");
    }
    assert!(endpoint().says(r#"{"id":1,"method":"tools/list"}"#)["result"].is_object());
}

#[test]
fn s4_10_who_asks_is_not_told() {
    for condition in [Condition::NoCredentials, Condition::BadCredentials] {
        let fault = DialectFault {
            challenge: Some("Bearer".to_owned()),
            ..DialectFault::new(condition, "the token ends in 1234")
        };
        let reply = refuse(&endpoint().row, None, &fault);
        assert_eq!(reply.status, 401);
        assert_eq!(reply.headers, [("www-authenticate", "Bearer".to_owned())]);
        let error = json!({"code":-32001,"message":"Authentication required"});
        assert_eq!(json(&reply), json!({"jsonrpc":"2.0","id":null,"error":error}));
    }
}

#[test]
fn s4_11_too_many_requests() {
    let rate = Rate { limit: 60, remaining: 0, reset: 60, retry_after: 2 };
    let fault = DialectFault { rate: Some(rate), ..DialectFault::new(Condition::RateLimited, "x") };
    let reply = refuse(&endpoint().row, None, &fault);
    assert_eq!((reply.status, json(&reply)["error"]["code"].as_i64()), (429, Some(-32002)));
    assert_eq!(json(&reply)["error"]["message"], "Rate limit exceeded");
    let header = |name: &str| reply.headers.iter().find(|(key, _)| *key == name).map(|(_, v)| v.as_str());
    assert_eq!(header("x-ratelimit-limit"), Some("60"));
    assert_eq!(header("x-ratelimit-remaining"), Some("0"));
    assert_eq!(header("retry-after"), Some("2"));
    let code = endpoint().set("variant", &json!("code"));
    let longer = json(&refuse(&code.row, None, &fault))["error"]["message"].clone();
    assert_eq!(longer, "Rate limit exceeded. Try again in 2 seconds.");
    let let_through = rate_headers(&endpoint().row, Rate { remaining: 3, ..rate });
    assert!(let_through.contains(&("x-ratelimit-remaining", "3".to_owned())));
}

#[test]
fn s4_13_initialized_is_acknowledged() {
    let text = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!((endpoint().reply(text).status, endpoint().reply(text).body.len()), (202, 0));
    let code = endpoint().set("variant", &json!("code")).reply(text);
    assert_eq!((code.status, code.body.as_ref()), (202, br#"{"status":"accepted"}"#.as_slice()));
}

#[test]
fn s4_14_schemas_have_properties_and_required() {
    let said = endpoint().says(LIST);
    for tool in said["result"]["tools"].as_array().unwrap() {
        assert_eq!(tool.as_object().unwrap().len(), 3, "{tool}");
        assert!(tool["inputSchema"]["properties"].is_object() && tool["inputSchema"]["required"].is_array());
    }
}

#[test]
fn s4_15_and_16_success_says_that_it_is_no_error() {
    let said =
        endpoint().result(CALL, r#"{"content":[{"type":"text","text":"Echo: x"}],"structuredContent":{}}"#);
    assert_eq!(said["result"], json!({"isError":false,"content":[{"type":"text","text":"Echo: x"}]}));
}

#[test]
fn s4_17_a_failed_tool_is_a_result_always() {
    let failed = |said: &Value| {
        assert!(said.get("error").is_none() && said["result"]["isError"] == true, "{said}");
        said["result"]["content"][0]["text"].as_str().unwrap().to_owned()
    };
    assert_eq!(failed(&endpoint().result(CALL, FAILED)), "Error: it broke");
    assert_eq!(failed(&endpoint().fault(CALL, upstream_error("u"))), "Error: no rights");
    assert_eq!(failed(&endpoint().fault(CALL, own_error("toolFailed"))), "Error: in words");
    assert_eq!(
        failed(&endpoint().fault(CALL, DialectFault::new(Condition::UpstreamDown, "away"))),
        "Error: away"
    );
    let call =
        |params: &str| format!(r#"{{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{params}}}"#);
    assert_eq!(failed(&endpoint().says(&call(r#"{"name":"nope"}"#))), "Tool not found: nope");
    let missing = failed(&endpoint().says(&call(r#"{"name":"hello"}"#)));
    assert_eq!(missing, "Error: Missing required parameter: name");
}

#[test]
fn s4_18_codes_of_json_rpc() {
    let e = endpoint();
    assert_eq!(e.error("{"), (-32700, "Parse error".to_owned(), Value::Null, 200));
    let wrong = r#"{"jsonrpc":"1.0","id":1,"method":"tools/list"}"#;
    assert_eq!(e.error(wrong), (-32600, "Invalid Request".to_owned(), Value::Null, 200));
    let unknown = r#"{"jsonrpc":"2.0","id":1,"method":"nope"}"#;
    assert_eq!(e.error(unknown), (-32601, "Method not found".to_owned(), json!(1), 200));
    for (condition, code, message) in [
        (Condition::InvalidParams, -32602, "Invalid params"),
        (Condition::MissingToolName, -32602, "Invalid params"),
        (Condition::Internal, -32603, "Internal error"),
    ] {
        let said = e.fault(LIST, DialectFault::new(condition, "x"));
        assert_eq!(said["error"], json!({"code":code,"message":message}));
    }
    let longer = endpoint().set("variant", &json!("code")).says(unknown);
    assert_eq!(longer["error"], json!({"code":-32601,"message":"Method not found: nope","data":null}));
}

#[test]
fn s4_19_the_code_of_failed_tools_is_kept_free() {
    assert_eq!(endpoint().row.errors.tool_failed.code, -32000);
    let error = endpoint().set("toolFailed", &json!({"channel":"error"})).result(CALL, FAILED);
    assert_eq!(error["error"]["message"], "Tool execution error");
}

#[test]
fn s4_20_blocks_stay_as_they_are() {
    let image = r#"{"content":[{"type":"image","data":"AA==","mimeType":"image/png"}],"isError":false}"#;
    assert_eq!(endpoint().result(CALL, image)["result"], serde_json::from_str::<Value>(image).unwrap());
}
