//! The requirements S0-01 to S0-35 for messages.

use super::*;
use crate::fault::Condition;

fn endpoint() -> Endpoint {
    Endpoint::of("buddyboss")
}

#[test]
fn s0_02_every_body_is_json() {
    let e = endpoint();
    for text in ["", "{", "[]", "5", LIST, r#"{"jsonrpc":"2.0","id":1,"method":"nope"}"#] {
        json(&e.reply(text));
    }
}

#[test]
fn s0_03_there_are_no_sessions() {
    let e = endpoint();
    assert_eq!(e.row.hello.sessions, Sessions::None);
    assert_eq!(e.reply(&initialize("2025-11-25")).headers, []);
}

#[test]
fn s0_04_nothing_waits_for_initialize() {
    let e = endpoint().fresh();
    assert!(e.says(LIST)["result"]["tools"].is_array());
    assert_eq!(e.forwarded(CALL)["params"]["name"], "hello");
}

#[test]
fn s0_05_initialize_says_what_the_server_is() {
    let expected = json!({"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},
        "serverInfo":{"name":"buddyboss-mcp-server","version":"1.0.0"}}});
    let e = endpoint();
    assert_eq!(e.says(&initialize("2025-11-25")), expected);
    assert!(matches!(e.begin(&initialize("2025-11-25")), DialectStep::Introduced(_)));
    let later = endpoint().set("variant", &json!("code"));
    assert_eq!(later.says(&initialize("2025-11-25"))["result"]["serverInfo"]["version"], "1.0.1");
}

#[test]
fn s0_06_any_version_is_answered_with_the_own_one() {
    for version in ["2024-11-05", "2030-01-01", "x"] {
        assert_eq!(endpoint().says(&initialize(version))["result"]["protocolVersion"], "2025-11-25");
    }
    let none = r#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#;
    assert_eq!(endpoint().says(none)["result"]["protocolVersion"], "2025-11-25");
}

#[test]
fn s0_07_only_tools_are_declared() {
    let said = endpoint().says(&initialize("2025-11-25"));
    assert_eq!(said["result"]["capabilities"].as_object().unwrap().len(), 1);
}

#[test]
fn s0_08_without_an_id_202_and_no_body() {
    let reply = endpoint().reply(r#"{"jsonrpc":"2.0","method":"tools/list"}"#);
    assert_eq!((reply.status, reply.body.len()), (202, 0));
}

#[test]
fn s0_09_a_null_id_is_none() {
    let reply = endpoint().reply(r#"{"jsonrpc":"2.0","id":null,"method":"tools/list"}"#);
    assert_eq!((reply.status, reply.body.len()), (202, 0));
}

#[test]
fn s0_10_what_has_no_id_is_not_executed() {
    for method in ["tools/call", "no/such"] {
        let text =
            json!({"jsonrpc":"2.0","method":method,"params":{"name":"hello","arguments":{"name":"x"}}});
        assert!(matches!(endpoint().read(&text.to_string()), DialectMessage::Notified(_, None)));
    }
}

#[test]
fn s0_11_initialized_is_acknowledged() {
    let reply = endpoint().reply(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    assert_eq!((reply.status, reply.body.len()), (202, 0));
}

#[test]
fn s0_12_and_13_tools_are_listed_without_params() {
    let said = endpoint().says(LIST);
    for tool in said["result"]["tools"].as_array().unwrap() {
        let keys: Vec<&String> = tool.as_object().unwrap().keys().collect();
        assert_eq!(keys.len(), 3, "{tool}");
        assert!(tool["name"].is_string() && tool["description"].is_string());
        assert_eq!(tool["inputSchema"]["type"], "object");
        assert!(tool["inputSchema"]["properties"].is_object(), "{tool}");
    }
    for params in ["null", "[]", "{}"] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{params}}}"#);
        assert_eq!(endpoint().says(&text), said);
    }
}

#[test]
fn s0_14_all_tools_are_listed_at_once() {
    let many: Vec<String> = (0..90).map(|n| format!(r#"{{"name":"t{n}","inputSchema":{{}}}}"#)).collect();
    let own = vec![upstream(1, "own", Ok(catalogue([&many.join(","), "", "", ""])))];
    let e = Endpoint { view: view(Naming::Plain, own), ..endpoint() };
    let said = e.says(r#"{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":"whatever"}}"#);
    assert_eq!(said["result"]["tools"].as_array().unwrap().len(), 90);
    assert_eq!(said["result"].as_object().unwrap().len(), 1);
}

#[test]
fn s0_15_required_is_a_list_or_by_a_switch_a_mark() {
    let schema = |e: &Endpoint| e.says(LIST)["result"]["tools"][0]["inputSchema"].clone();
    assert_eq!(schema(&endpoint())["required"], json!(["name"]));
    let marked = schema(&endpoint().set("variant", &json!("boolean-required")));
    assert_eq!(marked.get("required"), None);
    assert_eq!(marked["properties"]["name"]["required"], json!(true));
    assert_eq!(marked["properties"]["times"].get("required"), None);
}

#[test]
fn s0_16_descriptions_of_properties_stay_as_they_are() {
    let said = endpoint().says(LIST);
    let name = &said["result"]["tools"][0]["inputSchema"]["properties"]["name"];
    assert_eq!(name["description"], "Who (default: all)");
}

#[test]
fn s0_17_success_is_content_alone() {
    let said = endpoint().result(CALL, HELLO);
    assert_eq!(
        said,
        json!({"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"Hello, World!"}]}})
    );
}

#[test]
fn s0_18_a_failed_tool_is_a_result() {
    let said = endpoint().result(CALL, FAILED);
    assert_eq!(said["result"], json!({"content":[{"type":"text","text":"Error: it broke"}],"isError":true}));
    let already = endpoint().result(CALL, &FAILED.replace("it broke", "Error: Member \\\"x\\\" not found"));
    assert_eq!(already["result"]["content"][0]["text"], "Error: Member \"x\" not found");
    let silent = endpoint().result(CALL, r#"{"content":[],"isError":true}"#);
    assert!(silent["result"]["content"][0]["text"].as_str().unwrap().starts_with("Error: "));
    let own = endpoint().fault(CALL, own_error("toolFailed"));
    assert_eq!(own["result"]["content"][0]["text"], "Error: in words");
    let upstream = endpoint().fault(CALL, upstream_error("site"));
    assert_eq!(upstream["result"]["content"][0]["text"], "Error: no rights");
    assert_eq!(upstream["result"]["isError"], true);
}

#[test]
fn s0_19_an_unknown_tool_is_named() {
    let text = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"nope"}}"#;
    let expected = (-32602, "Tool not found: nope".to_owned(), json!(3), 200);
    assert_eq!(endpoint().error(text), expected);
}

#[test]
fn s0_20_a_call_needs_a_tool() {
    for params in ["{}", r#"{"name":""}"#, r#"{"name":5}"#, r#""text""#, "[1]"] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{params}}}"#);
        assert_eq!(endpoint().error(&text).0, -32602, "{params}");
    }
    assert_eq!(endpoint().error(r#"{"jsonrpc":"2.0","id":3,"method":"tools/call"}"#).0, -32602);
}

#[test]
fn s0_21_broken_json() {
    for text in ["{", "", "nonsense", "{\"a\":1}}", "\u{1}"] {
        assert_eq!(endpoint().error(text), (-32700, "Parse error".to_owned(), Value::Null, 200));
    }
}

#[test]
fn s0_22_a_wrong_version_has_no_id() {
    for text in
        [r#"{"id":5,"method":"tools/list"}"#, r#"{"jsonrpc":"1.0","id":5,"method":"tools/list"}"#, "5"]
    {
        assert_eq!(endpoint().error(text), (-32600, "Invalid Request".to_owned(), Value::Null, 200));
    }
}

#[test]
fn s0_23_an_unknown_method_keeps_the_id() {
    let text = r#"{"jsonrpc":"2.0","id":"a","method":"resources/list"}"#;
    assert_eq!(endpoint().error(text), (-32601, "Method not found".to_owned(), json!("a"), 200));
    let missing = r#"{"jsonrpc":"2.0","id":"a"}"#;
    assert_eq!(endpoint().error(missing), (-32600, "Invalid Request".to_owned(), json!("a"), 200));
}

#[test]
fn s0_24_a_fault_of_ours() {
    let said = endpoint().fault(CALL, DialectFault::new(Condition::Internal, "secret detail"));
    assert_eq!(said["error"], json!({"code":-32603,"message":"Internal error"}));
}

#[test]
fn s0_25_by_a_switch_a_failed_tool_is_an_error() {
    let said = endpoint().set("variant", &json!("throwing")).result(CALL, FAILED);
    assert_eq!(said["error"], json!({"code":-32000,"message":"Tool execution failed"}));
}

#[test]
fn s0_26_the_platform_is_missing() {
    let said = endpoint().fault(CALL, own_error("platformMissing"));
    assert_eq!(said["error"], json!({"code":-32002,"message":"BuddyBoss not available"}));
}

#[test]
fn s0_27_version_then_id_then_method() {
    assert_eq!(endpoint().error(r#"{"method":"tools/list"}"#).0, -32600);
    assert_eq!(endpoint().reply(r#"{"jsonrpc":"2.0"}"#).status, 202);
    assert_eq!(endpoint().error(r#"{"jsonrpc":"2""#).0, -32700);
}

#[test]
fn s0_28_a_batch_is_no_request() {
    let text = format!("[{LIST}]");
    assert_eq!(endpoint().error(&text), (-32600, "Invalid Request".to_owned(), Value::Null, 200));
}

#[test]
fn s0_29_errors_have_status_200() {
    let e = endpoint();
    let conditions =
        [Condition::UnknownMethod, Condition::UnknownTool, Condition::Internal, Condition::ParseError];
    for condition in conditions {
        assert_eq!(refuse(&e.row, None, &DialectFault::new(condition, "x")).status, 200);
    }
}

#[test]
fn s0_30_and_31_refusals_are_the_sites_own() {
    let e = endpoint();
    let said = |condition| {
        let reply = refuse(&e.row, None, &DialectFault::new(condition, "x"));
        (reply.status, json(&reply))
    };
    let body = |code: &str, message: &str, status: u16| {
        (status, json!({"code":code,"message":message,"data":{"status":status}}))
    };
    assert_eq!(said(Condition::NoCredentials), body("rest_forbidden", "Authentication required.", 401));
    assert_eq!(said(Condition::BadCredentials), body("rest_forbidden", "Authentication required.", 401));
    assert_eq!(said(Condition::Forbidden), body("rest_forbidden", "Insufficient permissions.", 403));
    let later = endpoint().set("variant", &json!("code"));
    let reply = refuse(&later.row, None, &DialectFault::new(Condition::NoCredentials, "x"));
    assert_eq!(json(&reply)["code"], "bbmcp_unauthorized");
}

#[test]
fn s0_33_other_methods_are_refused_in_either_way() {
    let reply = not_served(&endpoint().row);
    assert_eq!((reply.status, reply.body.len()), (405, 0));
    assert_eq!(reply.headers, [("allow", "POST".to_owned())]);
    let site = not_served(&endpoint().set("variant", &json!("site")).row);
    assert_eq!((site.status, json(&site)["code"].as_str()), (404, Some("rest_no_route")));
    let info = shown_info(&endpoint().set("variant", &json!("code")).row, "").unwrap();
    assert_eq!(json(&info), json!({"name":"buddyboss-mcp-server","version":"1.0.1","status":"active"}));
    assert_eq!(shown_info(&endpoint().row, ""), None);
}

#[test]
fn s0_34_blocks_of_other_types_stay() {
    let image =
        r#"{"content":[{"type":"image","data":"AA==","mimeType":"image/png"},{"type":"text","text":"t"}]}"#;
    assert_eq!(endpoint().result(CALL, image)["result"], serde_json::from_str::<Value>(image).unwrap());
}

#[test]
fn arguments_are_mended_as_its_program_does() {
    let call = |arguments: Value| {
        json!({"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"hello","arguments":arguments}})
            .to_string()
    };
    let sent = |arguments: Value| endpoint().forwarded(&call(arguments))["params"]["arguments"].clone();
    assert_eq!(
        sent(json!({"name":7,"times":"3","per_page":"500","loud":"yes","tone":"shrill","other":1})),
        json!({"per_page":100,"loud":true,"times":3,"name":"7"})
    );
    assert_eq!(sent(json!({"name":"x","times":-4})), json!({"per_page":20,"name":"x","times":1}));
    let said = endpoint().says(&call(json!({"name":""})));
    let text = said["result"]["content"][0]["text"].as_str().unwrap();
    assert_eq!(text, "Validation error: Missing required parameter: name");
    assert_eq!(said["result"]["isError"], true);
    assert_eq!(endpoint().says(&call(json!([])))["result"]["isError"], true);
}

#[test]
fn ping_is_answered() {
    let said = endpoint().says(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    assert_eq!(said, json!({"jsonrpc":"2.0","id":1,"result":{}}));
}
