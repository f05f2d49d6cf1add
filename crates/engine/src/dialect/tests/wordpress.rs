//! The requirements S2-01 to S2-18 for messages.

use super::*;
use crate::fault::Condition;

fn endpoint() -> Endpoint {
    Endpoint::of("wordpress")
}

#[test]
fn s2_05_and_14_tools_are_listed_first_of_all() {
    let said = endpoint().fresh().says(LIST);
    let first = &said["result"]["tools"][0];
    assert_eq!(first["name"], "hello");
    assert!(first["description"].is_string() && first["inputSchema"].is_object());
}

#[test]
fn s2_06_a_call_gives_one_text_block_with_json() {
    let list = r#"{"content":[{"type":"text","text":"{\"count\":0,\"posts\":[]}"}],"isError":false}"#;
    let said = endpoint().result(CALL, list);
    assert_eq!(said["result"], json!({"content":[{"type":"text","text":"{\"count\":0,\"posts\":[]}"}]}));
    let pretty = endpoint().set("output", &json!("pretty")).result(CALL, list);
    assert_eq!(pretty["result"]["content"][0]["text"], "{\n  \"count\": 0,\n  \"posts\": []\n}");
}

#[test]
fn s2_07_ids_are_echoed() {
    for id in ["1", "\"1\"", "null", "1.50", "{\"a\":[1]}"] {
        let text = format!(r#"{{"jsonrpc":"2.0","method":"tools/list","id":{id}}}"#);
        let body = endpoint().reply(&text).body;
        assert!(body.starts_with(format!(r#"{{"jsonrpc":"2.0","id":{id},"#).as_bytes()), "{body:?}");
    }
}

#[test]
fn s2_08_codes_of_json_rpc() {
    assert_eq!((endpoint().error("{").0, endpoint().error("{").2), (-32700, Value::Null));
    let wrong = r#"{"jsonrpc":"1.0","id":4,"method":"tools/list"}"#;
    assert_eq!((endpoint().error(wrong).0, endpoint().error(wrong).2), (-32600, json!(4)));
    assert_eq!(endpoint().error(r#"{"jsonrpc":"2.0","id":4}"#).0, -32600);
    assert_eq!(endpoint().error(r#"{"jsonrpc":"2.0","id":4,"method":"nope"}"#).0, -32601);
    assert_eq!(endpoint().error(r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{}}"#).0, -32602);
    let said = endpoint().fault(CALL, DialectFault::new(Condition::Internal, "x"));
    assert_eq!(said["error"], json!({"code":-32603,"message":"Internal error"}));
}

#[test]
fn s2_09_and_10_credentials() {
    for (condition, code, message) in [
        (Condition::NoCredentials, -32001, "No credentials provided"),
        (Condition::BadCredentials, -32002, "Invalid credentials"),
    ] {
        let said = endpoint().fault(CALL, DialectFault::new(condition, "x"));
        assert_eq!((&said["error"]["code"], &said["error"]["message"]), (&json!(code), &json!(message)));
        assert_eq!(said["id"], 3);
        let hint = said["error"].get("data");
        assert_eq!(hint, (code == -32002).then(|| json!({"hint": "x"})).as_ref());
    }
    assert_eq!(endpoint().fault(CALL, own_error("noCredentials"))["error"]["code"], -32001);
    assert_eq!(endpoint().fault(CALL, own_error("badCredentials"))["error"]["code"], -32002);
    assert_eq!(endpoint().fault(CALL, own_error("invalidArguments"))["error"]["code"], -32005);
    assert_eq!(endpoint().fault(CALL, own_error("whatever"))["error"]["code"], -32003);
}

#[test]
fn s2_11_the_sites_error_with_its_message_and_body() {
    let failed = r#"{"content":[{"type":"text","text":"Invalid post ID."}],"structuredContent":{"code":"rest_post_invalid_id","n":1.0},"isError":true}"#;
    let said = endpoint().result(CALL, failed);
    assert_eq!(said["error"]["code"], -32003);
    assert_eq!(said["error"]["message"], "WordPress API error: Invalid post ID.");
    assert_eq!(said["error"]["data"]["code"], "rest_post_invalid_id");
    let own = endpoint().fault(CALL, own_error("upstreamError"));
    assert_eq!(own["error"]["message"], "WordPress API error: in words");
    assert_eq!(own["error"]["data"], json!({"code":"rest_x"}));
    let upstream = endpoint().fault(CALL, upstream_error("site"));
    assert_eq!(upstream["error"]["data"], json!({"a":1e2}));
}

#[test]
fn s2_12_unknown_tool() {
    let text = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"nope"}}"#;
    assert_eq!(endpoint().error(text), (-32004, "Tool not found: nope".to_owned(), json!(3), 200));
}

#[test]
fn s2_13_arguments_that_do_not_fit() {
    let text = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"hello"}}"#;
    let (code, message, ..) = endpoint().error(text);
    assert_eq!((code, message.as_str()), (-32005, "Validation error: Missing required parameter: name"));
}

#[test]
fn s2_15_schemas_stay_as_they_are() {
    let said = endpoint().says(LIST);
    let schema = &said["result"]["tools"][0]["inputSchema"];
    assert_eq!(
        (&schema["required"], &schema["properties"]["tone"]["enum"]),
        (&json!(["name"]), &json!(["low", "high"]))
    );
}

#[test]
fn s2_16_blocks_stay_as_they_are() {
    let blocks = r#"{"content":[{"type":"image","data":"AA==","mimeType":"image/png"},{"type":"resource","resource":{"uri":"x://a","text":"t"}}]}"#;
    assert_eq!(endpoint().result(CALL, blocks)["result"], serde_json::from_str::<Value>(blocks).unwrap());
}

#[test]
fn s2_17_failures_are_errors() {
    for said in [
        endpoint().result(CALL, FAILED),
        endpoint().fault(CALL, DialectFault::new(Condition::UpstreamDown, "x")),
    ] {
        assert!(said.get("result").is_none() && said["error"]["code"] == -32003, "{said}");
    }
    assert!(endpoint().result(CALL, HELLO)["result"].get("isError").is_none());
}

#[test]
fn s2_18_lists_and_initialize_need_no_credentials() {
    let said = endpoint().says(&initialize("2025-11-25"));
    assert_eq!(
        said["result"],
        json!({"protocolVersion":"2024-11-05","serverInfo":{"name":"wordpress-nodeflow-mcp","version":"1.0.0"},"capabilities":{"tools":{"listChanged":false}}})
    );
}

#[test]
fn a_notification_is_not_answered_but_by_a_switch() {
    let text = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!((endpoint().reply(text).status, endpoint().reply(text).body.len()), (202, 0));
    let code = endpoint().set("variant", &json!("code"));
    assert_eq!((code.error(text).0, code.error(text).2), (-32601, Value::Null));
}

#[test]
fn the_hosted_successor() {
    let e = Endpoint::of("wordpress-saas");
    let answered = e.says(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    assert_eq!(answered, json!({"jsonrpc":"2.0","id":null,"result":{}}));
    assert_eq!(e.error(r#"{"jsonrpc":"2.0","id":1,"method":"nope"}"#).3, 500);
    assert_eq!(e.error(r#"{"id":1,"method":"nope"}"#).3, 400);
    let failed = e.result(CALL, FAILED);
    assert_eq!(failed["result"], json!({"content":[{"type":"text","text":"Error: it broke"}]}));
    let refused = refuse(&e.row, None, &DialectFault::new(Condition::NoCredentials, "x"));
    assert_eq!((&json(&refused)["error"]["code"], &json(&refused)["id"]), (&json!(-32000), &Value::Null));
}
