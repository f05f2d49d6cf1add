//! The requirements S3-01 to S3-24 for messages.

use super::*;
use crate::fault::Condition;

fn endpoint() -> Endpoint {
    let servers = vec![
        upstream(1, "github", Ok(catalogue([TOOLS, PROMPTS, RESOURCES, ""]))),
        upstream(
            2,
            "files",
            Ok(catalogue([r#"{"name":"read","inputSchema":{"type":"object"}}"#, "", "", ""])),
        ),
        upstream(3, "down", Err(gone())),
    ];
    Endpoint { view: view(Naming::Prefix, servers), ..Endpoint::of("gateway") }
}

fn call(name: &str) -> String {
    json!({"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":name,"arguments":{"x":1.0}}})
        .to_string()
}

fn request(method: &str, params: &Value) -> String {
    json!({"jsonrpc":"2.0","id":4,"method":method,"params":params}).to_string()
}

#[test]
fn s3_01_notifications_get_no_answer() {
    let reply = endpoint().reply(r#"{"jsonrpc":"2.0","method":"notifications/x"}"#);
    assert_eq!((reply.status, reply.body.len()), (202, 0));
    assert_eq!(endpoint().error(r#"{"id":1,"method":"tools/list"}"#).0, -32600);
}

#[test]
fn s3_02_initialize_says_what_the_server_is() {
    let expected = json!({"protocolVersion":"2024-11-05","serverInfo":{"name":"MCP Server","version":"1.0.0"},
        "capabilities":{"tools":{},"resources":{}}});
    assert_eq!(endpoint().says(&initialize("2024-11-05"))["result"], expected);
    let name = |variant: &str| {
        let said = endpoint().set("variant", &json!(variant)).says(&initialize("2024-11-05"));
        said["result"]["serverInfo"].clone()
    };
    assert_eq!(name("proxy"), json!({"name":"Profile: team","version":"1.0.0"}));
    assert_eq!(name("code"), json!({"name":"Local MCP Gateway","version":"0.1.0"}));
}

#[test]
fn s3_03_known_versions_are_echoed() {
    let version = |asked: &str| endpoint().says(&initialize(asked))["result"]["protocolVersion"].clone();
    assert_eq!(version("2024-10-07"), "2024-10-07");
    assert_eq!(version("2024-11-05"), "2024-11-05");
    assert_eq!(version("2025-11-25"), "2024-11-05");
}

#[test]
fn s3_04_and_17_notifications_are_taken_in() {
    for method in ["notifications/initialized", "notifications/progress"] {
        let text =
            json!({"jsonrpc":"2.0","method":method,"params":{"progressToken":"t","progress":50,"total":100}});
        match endpoint().read(&text.to_string()) {
            DialectMessage::Notified(reply, Some(ask)) => {
                assert!(ask.is_notice() && reply.body.is_empty() && reply.status == 202);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn s3_05_and_06_tools_of_all_servers_in_order() {
    let said = endpoint().says(LIST);
    let tools = said["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["github__hello", "github__bare", "github__add", "files__read"]);
    assert_eq!(tools[0]["description"], "Greets");
    assert_eq!(tools[0]["inputSchema"]["required"], json!(["name"]));
}

#[test]
fn s3_07_calls_go_on_with_their_arguments_unchanged() {
    let text = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"github__hello", "arguments":{ "x" : 1e2 }}}"#;
    let DialectStep::Forward(frame) = endpoint().begin(text) else { panic!("not forwarded") };
    assert_eq!(frame.text().as_ref(), text.as_bytes());
}

#[test]
fn s3_08_success_says_that_it_is_no_error() {
    let said =
        endpoint().result(&call("files__read"), r#"{"content":[{"type":"text","text":"x"}],"other":1}"#);
    assert_eq!(said["result"], json!({"isError":false,"content":[{"type":"text","text":"x"}],"other":1}));
    let failed = endpoint().result(&call("files__read"), FAILED);
    assert_eq!(failed["result"], serde_json::from_str::<Value>(FAILED).unwrap());
}

#[test]
fn s3_09_resources() {
    let said = endpoint().says(&request("resources/list", &json!({})));
    assert_eq!(
        said["result"],
        json!({"resources":[{"uri":"x://a","name":"A","description":"d","mimeType":"text/plain"}]})
    );
    let read = request("resources/read", &json!({"uri":"x://a"}));
    let contents = r#"{"contents":[{"uri":"x://a","mimeType":"text/plain","text":"t"}]}"#;
    assert_eq!(endpoint().result(&read, contents)["result"]["contents"][0]["text"], "t");
    assert_eq!(endpoint().error(&request("resources/read", &json!({}))).0, -32602);
}

#[test]
fn s3_10_prompts() {
    let said = endpoint().says(&request("prompts/list", &json!({})));
    assert_eq!(said["result"]["prompts"][0]["arguments"], json!([{"name":"who","required":true}]));
    let get = request("prompts/get", &json!({"name":"github__greet","arguments":{"who":"x"}}));
    assert_eq!(endpoint().forwarded(&get)["params"]["arguments"]["who"], "x");
    assert_eq!(endpoint().error(&request("prompts/get", &json!({"name":"nope"}))).0, -32602);
}

#[test]
fn s3_11_blocks_stay_as_they_are() {
    let blocks = r#"{"content":[{"type":"image","data":"AA==","mimeType":"image/png"},{"type":"resource","resource":{"uri":"x://a","mimeType":"a/b","text":"t"}}],"isError":false}"#;
    let said = endpoint().result(&call("files__read"), blocks);
    assert_eq!(said["result"], serde_json::from_str::<Value>(blocks).unwrap());
}

#[test]
fn s3_12_and_13_codes() {
    let e = endpoint();
    for (condition, code) in [
        (Condition::ParseError, -32700),
        (Condition::InvalidRequest, -32600),
        (Condition::UnknownMethod, -32601),
        (Condition::InvalidParams, -32602),
        (Condition::Internal, -32603),
        (Condition::PlatformMissing, -32000),
        (Condition::UnknownResource, -32001),
        (Condition::UpstreamError, -32002),
        (Condition::NoCredentials, -32003),
    ] {
        assert_eq!(json(&refuse(&e.row, None, &DialectFault::new(condition, "x")))["error"]["code"], code);
    }
}

#[test]
fn s3_14_a_servers_error_goes_on_with_its_name() {
    let said = endpoint().fault(&call("github__hello"), upstream_error("github"));
    let expected = json!({"code":-32002,"message":"Tool error","data":{"server":"github",
        "originalError":{"code":-32042,"message":"no rights","data":{"a":1e2}}}});
    assert_eq!(said["error"], expected);
    let example = endpoint().set("variant", &json!("example"));
    assert_eq!(example.fault(&call("github__hello"), upstream_error("github"))["error"]["code"], -32001);
    let body =
        finish(&endpoint().row, &endpoint().ask(CALL), DialectOutcome::Fault(upstream_error("g"))).body;
    assert!(String::from_utf8_lossy(&body).contains(r#""data":{"a":1e2}"#), "not byte for byte: {body:?}");
}

#[test]
fn s3_16_the_first_event_says_where_to_post() {
    let e = endpoint();
    assert_eq!(e.row.events.streams, Streams::Same);
    let said = endpoint_event(&e.row, "/mcp/team", "s1", "team");
    assert_eq!(said.as_ref(), b"event: endpoint\ndata: /mcp/team?sessionId=s1\n\n");
    let proxy = endpoint().set("variant", &json!("proxy"));
    assert_eq!(
        endpoint_event(&proxy.row, "/mcp/team", "s1", "team").as_ref(),
        b"event: endpoint\ndata: /mcp/team\n\n"
    );
    assert!(opening(&e.row).is_empty());
    assert_eq!(opening(&e.set("variant", &json!("code")).row).as_ref(), b": connected\n\n");
}

#[test]
fn s3_18_unknown_profile() {
    let fault = DialectFault::new(Condition::UnknownProfile, "x").about("nope");
    let said = endpoint().fault(LIST, fault);
    assert_eq!(
        said,
        json!({"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"Profile not found: nope"}})
    );
}

#[test]
fn s3_19_unknown_tool_by_each_table() {
    let said = |variant: Option<&str>| {
        let e = endpoint();
        let e = if let Some(name) = variant { e.set("variant", &json!(name)) } else { e };
        let (code, message, ..) = e.error(&call("files__nope"));
        (code, message)
    };
    assert_eq!(said(None), (-32601, "Method not found: files__nope".to_owned()));
    assert_eq!(said(Some("reference")), (-32001, "Tool not found: files__nope".to_owned()));
    assert_eq!(said(Some("code")), (-32602, "Tool not found: files__nope".to_owned()));
}

#[test]
fn s3_20_a_server_that_is_down() {
    let (code, message, ..) = endpoint().error(&call("down__read"));
    assert_eq!((code, message.as_str()), (-32002, "Server unavailable: down"));
    let reference = endpoint().set("variant", &json!("reference"));
    let (code, message, ..) = reference.error(&call("down__read"));
    assert_eq!((code, message.as_str()), (-32003, "Server not connected: down"));
}

#[test]
fn s3_21_a_server_that_wants_consent() {
    let url = "https://id.example.com/authorize";
    let fault = DialectFault {
        consent: Some(url.to_owned()),
        ..DialectFault::new(Condition::UpstreamDown, "x").of("github")
    };
    let said = endpoint().fault(&call("github__hello"), fault.clone());
    let data = json!({"serverId":"github","authorizationUrl":url});
    assert_eq!(said["error"], json!({"code":-32003,"message":"OAuth authorization required","data":data}));
    let reference = endpoint().set("variant", &json!("reference")).fault(&call("github__hello"), fault);
    assert_eq!(reference["error"]["code"], -32004);
    let e = endpoint();
    let consents = [("down".to_owned(), url.to_owned())];
    let facts = Facts { view: Some(&e.view), consents: &consents, ..Facts::default() };
    let DialectStep::Done(reply) = begin(&e.row, &e.ask(&call("down__read")), facts) else {
        panic!("not answered")
    };
    assert_eq!(json(&reply)["error"]["data"], json!({"serverId":"down","authorizationUrl":url}));
}

#[test]
fn s3_22_one_server_that_is_down_empties_no_list_but_all_do() {
    assert_eq!(endpoint().says(LIST)["result"]["tools"].as_array().unwrap().len(), 4);
    let all_gone = vec![upstream(1, "a", Err(gone())), upstream(2, "b", Err(gone()))];
    let e = Endpoint { view: view(Naming::Prefix, all_gone), ..endpoint() };
    assert_eq!(e.error(&initialize("2024-11-05")).0, -32603);
    assert_eq!(e.error(LIST).0, -32603, "nobody knows what there would be");
}

#[test]
fn s3_23_a_stream_is_kept_open() {
    assert_eq!(ping_event(&endpoint().row).as_ref(), b":\n\n");
    assert_eq!(endpoint().row.events.ping_seconds.get(), 30);
}

#[test]
fn s3_24_unknown_methods_are_tried_at_the_servers() {
    let text = request("acme/do", &json!({"a":1}));
    assert_eq!(endpoint().forwarded(&text)["method"], "acme/do");
    assert_eq!(endpoint().error(&request("logging/setLevel", &json!({"level":"info"}))).0, -32601);
    let refused = DialectFault::new(Condition::UnknownMethod, "x").about("acme/do");
    assert_eq!(endpoint().fault(&text, refused)["error"]["message"], "Method not found: acme/do");
    let one = vec![
        upstream(1, "a", Ok(catalogue(["", "", "", ""]))),
        upstream(2, "b", Ok(catalogue(["", "", "", ""]))),
    ];
    let e = Endpoint { view: view(Naming::Prefix, one), ..endpoint() };
    let (code, message, ..) = e.error(&request("resources/read", &json!({"uri":"x://nope"})));
    assert_eq!((code, message.as_str()), (-32001, "Resource not found: x://nope"));
    let code = e.set("variant", &json!("code"));
    assert_eq!(code.error(&request("resources/read", &json!({"uri":"x://nope"}))).0, -32602);
    let said = endpoint().fault(LIST, DialectFault::new(Condition::Internal, "the text"));
    assert_eq!(said["error"]["message"], "Internal error: the text");
}

#[test]
fn a_server_that_misses_a_resource_says_so_in_its_own_code() {
    let text = br#"{"jsonrpc":"2.0","id":7,"error":{"code":-32002,"message":"gone"}}"#;
    let frame = Frame::parse(Bytes::from_static(text), FrameLimits::default()).unwrap();
    let read = request("resources/read", &json!({"uri":"x://a"}));
    let said = endpoint().fault(&read, DialectFault::of_answer(&frame, Some("github")).unwrap());
    assert_eq!(
        (&said["error"]["code"], &said["error"]["data"]["server"]),
        (&json!(-32001), &json!("github"))
    );
}
