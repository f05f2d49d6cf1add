//! A server with long and repeatable results, and the callers of a gateway in front of it.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use crate::support::*;

/// The password `battery staple`, cheaply hashed by another program (Node's `crypto.argon2Sync`).
const HASH: &str =
    "$argon2id$v=19$m=64,t=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$gbf/SFxMMbGdacBN7IhMnP5qQZ1Lml+OVTsOtCvCWWc";

/// The text of `read` with this number of lines.
pub(crate) fn lines(count: u64) -> String {
    (0..count).map(|line| format!("line {line}: \"zwölf\" € 😀\n")).collect::<Vec<_>>().concat()
}

/// The server. Its tool `read` returns lines, and `look` (marked as read-only) returns the number of its calls.
pub(crate) async fn library() -> Puppet {
    Puppet::start(|number, request| {
        let none = String::new();
        match request.method() {
            "tools/list" => Said::Result(json!({ "tools": tools() }), none),
            "tools/call" if request.body["params"]["name"] == "ask" => asking(number, &request.body["id"]),
            "tools/call" if request.body["params"]["name"] == "odd" => odd(&request.body["id"]),
            "tools/call" => match called(number, &request.body["params"]) {
                Some(result) => Said::Result(result, none),
                None => Said::Hold(Vec::new()),
            },
            _ => Said::Proper,
        }
    })
    .await
}

fn tools() -> Value {
    let any = json!({ "type": "object" });
    let marked = json!({ "readOnlyHint": true, "idempotentHint": true });
    json!([
        { "name": "read", "inputSchema": any },
        { "name": "picture", "inputSchema": any },
        { "name": "table", "inputSchema": any, "outputSchema": any },
        { "name": "wide", "inputSchema": any },
        { "name": "look", "inputSchema": any, "annotations": marked },
        { "name": "odd", "inputSchema": any },
        { "name": "headed", "annotations": marked, "inputSchema": {
            "type": "object", "properties": { "region": { "type": "string", "x-mcp-header": "Region" } },
        } },
        { "name": "ask", "inputSchema": any, "annotations": marked },
        { "name": "miss", "inputSchema": any, "annotations": marked },
        { "name": "change", "inputSchema": any, "annotations": { "readOnlyHint": false, "idempotentHint": true } },
        { "name": "hang", "inputSchema": any },
    ])
}

/// The parts of the answer of `odd` before and after its content, in an unusual spelling.
pub(crate) const AROUND: [&str; 2] = [
    r#""result": {"_meta":{"example.com/k":[1.50, 1e0]},  "content" : "#,
    r#" , "\u0075nknown" :[ "\/" ] }, "odd":1e2}"#,
];

fn odd(id: &Value) -> Said {
    let [before, behind] = AROUND;
    let text = json!([{ "type": "text", "text": lines(900) }]);
    Said::Status(200, "application/json", format!(r#"{{"jsonrpc":"2.0","id":{id},{before}{text}{behind}"#))
}

/// A question, and the result without waiting for an answer.
fn asking(number: usize, id: &Value) -> Said {
    let question = json!({ "jsonrpc": "2.0", "id": "q", "method": "roots/list" });
    let content = json!([{ "type": "text", "text": format!("call {number}") }]);
    let answer = json!({ "jsonrpc": "2.0", "id": id, "result": { "content": content } });
    let events = format!("data: {question}\n\ndata: {answer}\n\n");
    Said::Stream(tokio::sync::watch::channel((events.into_bytes(), true)).1)
}

/// The result of a call; `None` if it never comes.
fn called(number: usize, params: &Value) -> Option<Value> {
    let arguments = &params["arguments"];
    let text = |text: String| json!({ "type": "text", "text": text });
    let long = || "x".repeat(20_000);
    Some(match params["name"].as_str().unwrap_or_default() {
        "read" => json!({
            "content": [text(lines(arguments["lines"].as_u64().unwrap_or(1))), text("the end".to_owned())],
            "_meta": { "example.com/k": [1.50] },
        }),
        "picture" => json!({ "content": [
            text("a picture".to_owned()),
            { "type": "image", "data": BASE64_STANDARD.encode(long()), "mimeType": "image/png" },
        ] }),
        "table" => json!({ "content": [text(long())], "structuredContent": { "rows": [1] } }),
        "wide" => json!({ "content": [text("short".to_owned())], "structuredContent": { "rows": long() } }),
        "look" | "change" | "headed" => json!({ "content": [text(format!(
            "call {number}{}", lines(arguments["lines"].as_u64().unwrap_or(0))
        ))] }),
        "miss" => json!({ "content": [text(format!("call {number}"))], "isError": true }),
        _ => return None,
    })
}

/// The configuration of a gateway in front of a server, with two users.
pub(crate) fn guarded(puppet: &Puppet, server: &str, rest: &str) -> String {
    format!("{}auth: {{ users: {{ ann: '{HASH}', bob: '{HASH}' }} }}\n", open(puppet, server, rest))
}

/// The configuration of a gateway in front of a server, for everybody.
pub(crate) fn open(puppet: &Puppet, server: &str, rest: &str) -> String {
    format!("mcpServers: {{ up: {{ url: {}, {server} }} }}\n{rest}\n", quoted(&puppet.url()))
}

/// A profile `default` with these changes to tools.
pub(crate) fn overrides(changes: &str) -> String {
    format!("profiles: {{ default: {{ tools: {{ overrides: {{ {changes} }} }} }} }}")
}

/// A caller with the name of a user.
pub(crate) fn by(gateway: &Gateway, user: &str) -> Http {
    let credentials = BASE64_STANDARD.encode(format!("{user}:battery staple"));
    gateway.http().showing(&format!("Basic {credentials}"))
}

/// The URI in the link of a shortened result.
pub(crate) fn link(answer: &Value) -> String {
    let content = answer["result"]["content"].as_array().unwrap_or_else(|| panic!("no content: {answer}"));
    let link = content.iter().find(|block| block["type"] == "resource_link");
    link.unwrap_or_else(|| panic!("no link: {answer}"))["uri"].as_str().expect("a URI").to_owned()
}

/// The params that read a resource.
pub(crate) fn uri(uri: &str) -> Value {
    json!({ "uri": uri })
}
