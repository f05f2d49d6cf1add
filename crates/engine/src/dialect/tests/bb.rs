//! The requirements S1-01 to S1-30 for messages.

use super::*;
use crate::fault::Condition;

fn endpoint() -> Endpoint {
    Endpoint::of("bb")
}

fn invalid(text: &str, id: Value) {
    let (code, message, echoed, status) = endpoint().error(text);
    assert_eq!((code, message.as_str(), echoed, status), (-32600, "Invalid Request", id, 400), "{text}");
}

#[test]
fn s1_01_what_a_request_is() {
    for id in ["1", "\"a\"", "1.5", "-7"] {
        let text = format!(r#"{{"jsonrpc":"2.0","method":"tools/list","id":{id}}}"#);
        assert!(matches!(endpoint().begin(&text), DialectStep::Done(_)), "{id}");
    }
    invalid(r#"{"jsonrpc":"2.1","method":"tools/list","id":1}"#, json!(1));
    invalid(r#"{"jsonrpc":"2.0","method":5,"id":1}"#, json!(1));
    invalid(r#"{"jsonrpc":"2.0","method":"tools/list","params":[],"id":1}"#, json!(1));
    invalid(r#"{"jsonrpc":"2.0","method":"tools/list","params":null,"id":1}"#, json!(1));
    invalid(r#"{"jsonrpc":"2.0","method":"tools/list","id":null}"#, Value::Null);
    invalid(r#"{"jsonrpc":"2.0","method":"tools/list","id":[]}"#, Value::Null);
    invalid(r#"{"jsonrpc":"2.0","method":"tools/list","id":true}"#, Value::Null);
}

#[test]
fn s1_02_success_has_the_id_and_any_result() {
    let say = |result: &str| {
        let text = r#"{"jsonrpc":"2.0","method":"tools/list","id":"x"}"#;
        let e = endpoint();
        json(&finish(&e.row, &e.ask(text), DialectOutcome::Result(Bytes::copy_from_slice(result.as_bytes()))))
    };
    for result in ["null", "5", "[1]", "{}"] {
        let said = say(result);
        assert_eq!(said["result"].to_string(), result);
        assert_eq!((&said["jsonrpc"], &said["id"]), (&json!("2.0"), &json!("x")));
    }
}

#[test]
fn s1_03_an_error_has_the_id_where_it_can_be_read() {
    invalid(r#"{"jsonrpc":"2.0","id":7}"#, json!(7));
    assert_eq!(endpoint().error("{").2, Value::Null);
    let said = endpoint().says(r#"{"jsonrpc":"2.0","id":"q","method":"nope"}"#);
    assert_eq!((&said["id"], &said["error"]["data"]), (&json!("q"), &json!({"method":"nope"})));
}

#[test]
fn s1_04_parse_error() {
    assert_eq!(endpoint().error("{oops"), (-32700, "Parse error".to_owned(), Value::Null, 400));
}

#[test]
fn s1_05_invalid_request() {
    invalid(r#"{"method":"tools/list","id":1}"#, json!(1));
    invalid(r#"{"jsonrpc":"1.0","method":"tools/list","id":1}"#, json!(1));
    invalid(r#"{"jsonrpc":"2.0","id":1}"#, json!(1));
    invalid(r#"{"jsonrpc":"2.0","method":"tools/list"}"#, Value::Null);
    let said = endpoint().says(r#"{"jsonrpc":"2.0","id":1}"#);
    assert_eq!(said["error"]["data"], "method is missing");
}

#[test]
fn s1_06_to_12_codes_and_messages() {
    let e = endpoint();
    for (condition, code, message, status) in [
        (Condition::UnknownMethod, -32601, "Method not found", 404),
        (Condition::InvalidParams, -32602, "Invalid params", 400),
        (Condition::Internal, -32603, "Internal error", 500),
        (Condition::UnknownTool, -32000, "Tool not found", 404),
        (Condition::UpstreamError, -32001, "Tool execution failed", 500),
        (Condition::InvalidArguments, -32002, "Invalid tool params", 400),
        (Condition::NotInitialized, -32003, "Server not initialized", 400),
    ] {
        let reply = finish(&e.row, &e.ask(CALL), DialectOutcome::Fault(DialectFault::new(condition, "why")));
        let error = &json(&reply)["error"];
        assert_eq!((error["code"].as_i64(), error["message"].as_str()), (Some(code), Some(message)));
        assert_eq!(reply.status, status, "{condition:?}");
    }
}

#[test]
fn s1_13_what_initialize_needs() {
    let e = endpoint().fresh();
    let params =
        |params: Value| json!({"jsonrpc":"2.0","id":1,"method":"initialize","params":params}).to_string();
    for bad in [
        json!({}),
        json!({"protocolVersion":"1.0"}),
        json!({"clientInfo":{"name":"x"}}),
        json!({"protocolVersion":1.0,"clientInfo":{"name":"x"}}),
        json!({"protocolVersion":"1.0","clientInfo":{}}),
        json!({"protocolVersion":"1.0","clientInfo":"x"}),
        json!({"protocolVersion":"1.0","clientInfo":{"name":"x","version":1}}),
        json!({"protocolVersion":"1.0","clientInfo":{"name":"x","version":null}}),
        json!({"protocolVersion":"9.9","clientInfo":{"name":"x"}}),
    ] {
        let (code, message, id, status) = e.error(&params(bad.clone()));
        assert_eq!((code, message.as_str(), id, status), (-32602, "Invalid params", json!(1), 400), "{bad}");
    }
    let good = params(json!({"protocolVersion":"1.0","clientInfo":{"name":"x"}}));
    assert!(matches!(e.begin(&good), DialectStep::Introduced(_)));
    assert_eq!(e.error(r#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#).0, -32602);
}

#[test]
fn s1_14_what_initialize_answers() {
    let expected = json!({"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"1.0",
        "serverInfo":{"name":"bb-mcp-server","version":"0.1.0"},
        "capabilities":{"tools":true,"dynamicToolRegistration":false}}});
    assert_eq!(endpoint().fresh().says(&initialize("1.0")), expected);
}

#[test]
fn s1_15_a_failed_initialize_begins_nothing() {
    let text = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#;
    assert!(matches!(endpoint().fresh().begin(text), DialectStep::Done(_)));
}

#[test]
fn s1_16_and_17_everything_else_waits_for_initialize() {
    let e = endpoint().fresh();
    for text in [LIST, CALL] {
        let reply = e.reply(text);
        assert_eq!(json(&reply)["error"]["code"], -32003);
        assert_eq!(json(&reply)["error"]["message"], "Server not initialized");
    }
    let bare = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call"}"#;
    assert_eq!(e.error(bare).0, -32003);
}

#[test]
fn s1_18_tools_are_listed_by_name_and_in_full() {
    for text in [LIST, r#"{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}"#] {
        let said = endpoint().says(text);
        let tools = said["result"]["tools"].as_array().unwrap();
        let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["add", "bare", "hello"]);
        assert!(tools.iter().all(|t| t["description"].is_string() && t["inputSchema"].is_object()));
    }
}

#[test]
fn s1_19_a_call_needs_name_and_arguments() {
    for params in [
        "{}",
        r#"{"arguments":{}}"#,
        r#"{"name":"hello"}"#,
        r#"{"name":"hello","arguments":null}"#,
        r#"{"name":"hello","arguments":[]}"#,
        r#"{"name":5,"arguments":{}}"#,
    ] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{params}}}"#);
        assert_eq!(endpoint().error(&text), (-32602, "Invalid params".to_owned(), json!(3), 400), "{params}");
    }
}

#[test]
fn s1_20_and_21_success_is_content_alone() {
    let said = endpoint().result(CALL, HELLO);
    assert_eq!(said["result"], json!({"content":[{"type":"text","text":"Hello, World!"}]}));
}

#[test]
fn s1_22_unknown_tool() {
    let text = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"nope","arguments":{}}}"#;
    assert_eq!(endpoint().error(text), (-32000, "Tool not found".to_owned(), json!(3), 404));
    assert_eq!(endpoint().says(text)["error"]["data"]["tool"], "nope");
}

#[test]
fn s1_23_arguments_are_checked_before_execution() {
    let text =
        r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"hello","arguments":{"name":5}}}"#;
    assert_eq!(endpoint().error(text), (-32002, "Invalid tool params".to_owned(), json!(3), 400));
    let missing = text.replace(r#""name":5"#, "");
    let data = &endpoint().says(&missing)["error"]["data"];
    assert_eq!(
        (&data["tool"], &data["error"]),
        (&json!("hello"), &json!("Missing required parameter: name"))
    );
}

#[test]
fn s1_24_a_failed_tool_is_an_error() {
    let failed = r#"{"content":[{"type":"text","text":"name cannot be null"}],"_meta":{"stacktrace":"at f"},"isError":true}"#;
    let error = &endpoint().result(CALL, failed)["error"];
    assert_eq!(
        *error,
        json!({"code":-32001,"message":"Tool execution failed","data":{"tool":"hello","error":"name cannot be null"}})
    );
    let debug = &endpoint().set("debug", &json!(true)).result(CALL, failed)["error"]["data"];
    assert_eq!(debug["stacktrace"], "at f");
    let place = &endpoint().set("debug", &json!(true)).result(CALL, FAILED)["error"]["data"]["stacktrace"];
    assert!(place.as_str().unwrap().contains("in tool hello"));
    let said = endpoint().fault(CALL, upstream_error("u"));
    assert_eq!(said["error"]["data"], json!({"tool":"hello","error":"no rights"}));
}

#[test]
fn s1_25_an_unknown_method_comes_before_the_gate() {
    let text = r#"{"jsonrpc":"2.0","id":3,"method":"nope"}"#;
    assert_eq!(endpoint().fresh().error(text).0, -32601);
    let gate_first = endpoint()
        .fresh()
        .set("checks", &json!(["version", "method", "params", "id", "initialized", "known"]));
    assert_eq!(gate_first.error(text).0, -32003);
}

#[test]
fn s1_26_nothing_is_registered_while_it_runs() {
    let said = endpoint().fresh().says(&initialize("1.0"));
    assert_eq!(said["result"]["capabilities"]["dynamicToolRegistration"], false);
}

#[test]
fn s1_27_without_an_id_it_is_no_request_or_by_a_switch_ignored() {
    let text = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    invalid(text, Value::Null);
    let code = endpoint().set("variant", &json!("code"));
    let reply = code.reply(text);
    assert_eq!((reply.status, reply.body.len()), (204, 0));
    assert!(matches!(
        code.read(&text.replace("notifications/initialized", "tools/call")),
        DialectMessage::Notified(_, None)
    ));
}

#[test]
fn s1_28_a_batch_is_no_request() {
    invalid(&format!("[{LIST}]"), Value::Null);
    invalid("[]", Value::Null);
}

#[test]
fn s1_30_a_whole_session() {
    let e = endpoint().fresh();
    assert!(matches!(e.begin(&initialize("1.0")), DialectStep::Introduced(_)));
    let e = Endpoint { initialized: true, ..e };
    assert_eq!(e.says(LIST)["id"], 2);
    for id in 3..6 {
        let call = CALL.replace("\"id\":3", &format!("\"id\":{id}"));
        assert_eq!(e.result(&call, HELLO)["id"], id);
    }
}

#[test]
fn a_client_of_a_published_version_is_served_as_the_protocol_says() {
    let e = endpoint().fresh();
    for version in ["2024-11-05", "2025-11-25", "2030-01-01"] {
        assert!(matches!(e.begin(&initialize(version)), DialectStep::Standard), "{version}");
    }
    let stateless = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
    assert!(matches!(e.begin(stateless), DialectStep::Standard));
    assert!(matches!(e.begin(LIST), DialectStep::Done(_)));
    let lenient = endpoint().set("variant", &json!("lenient"));
    assert_eq!(lenient.says(&initialize("2025-11-25"))["result"]["protocolVersion"], "1.0");
}

#[test]
fn its_successor_speaks_a_published_version() {
    let e = Endpoint::of("bb-2025-03-26").fresh();
    let said = e.says(&initialize("1.0"));
    assert_eq!(said["result"]["protocolVersion"], "2025-03-26");
    assert_eq!(said["result"]["capabilities"], json!({"tools":{}}));
    assert_eq!(e.reply(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).status, 204);
    assert_eq!(e.error(LIST).0, -32003);
    assert_eq!(Dialect::base("bb-later").map(|row| row.name), Some(e.row.name));
}
