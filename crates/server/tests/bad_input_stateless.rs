//! Faults of a stateless request: its envelope, its headers, its version, its method; with the status, code and ID of
//! each, and the priority between two faults.

mod support;

use serde_json::{Value, json};
use support::*;

/// A valid request, to be modified.
#[derive(Clone)]
struct Spoilt {
    headers: Vec<(&'static str, String)>,
    body: Value,
}

impl Spoilt {
    fn new(method: &str, mut params: Value) -> Self {
        params["_meta"] = meta(&json!({}));
        let mut headers =
            vec![("MCP-Protocol-Version", MODERN.to_owned()), ("Mcp-Method", method.to_owned())];
        if let Some(name) = params["name"].as_str().or(params["uri"].as_str()) {
            headers.push(("Mcp-Name", name.to_owned()));
        }
        Self { headers, body: request("r-1", method, &params) }
    }

    fn call() -> Self {
        Self::new("tools/call", json!({"name": "good__echo", "arguments": {"a": 1}}))
    }

    fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.retain(|(known, _)| *known != name);
        self.headers.push((name, value.to_owned()));
        self
    }

    fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| *known != name);
        self
    }

    fn meta(mut self, name: &str, value: Value) -> Self {
        let members = self.body["params"]["_meta"].as_object_mut().expect("an object");
        members.insert(format!("io.modelcontextprotocol/{name}"), value);
        self
    }

    fn without_meta(mut self, name: &str) -> Self {
        let members = self.body["params"]["_meta"].as_object_mut().expect("an object");
        members.remove(&format!("io.modelcontextprotocol/{name}"));
        self
    }

    async fn send(&self, http: Http) -> Reply {
        let headers: Vec<_> = self.headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        http.post("/mcp", &headers, &self.body.to_string()).await
    }

    /// Sends it and checks the refusal.
    async fn is_refused(&self, http: Http, status: u16, code: i64, why: &str) {
        let mut reply = self.send(http).await;
        let answer = reply.json().await;
        let of = format!("{:?} {}: {answer}", self.headers, self.body);
        assert_eq!(reply.status, status, "{of}");
        assert_eq!(error_code(&answer), code, "{of}");
        assert_eq!(answer["id"], self.body["id"], "{of}");
        assert!(error_message(&answer).contains(why), "{of}");
        assert_eq!(reply.header("mcp-session-id"), "", "{of}");
    }

    /// Sends it and checks that it is answered.
    async fn is_answered(&self, http: Http) -> Value {
        let mut reply = self.send(http).await;
        let answer = reply.response().await;
        assert_eq!(reply.status, 200, "{:?} {}: {answer}", self.headers, self.body);
        assert!(answer.get("result").is_some(), "{:?} {}: {answer}", self.headers, self.body);
        answer
    }
}

#[tokio::test]
async fn an_envelope_that_is_incomplete_or_malformed_is_refused() {
    let scene = Scene::new(&[], "").await;
    let http = scene.http();
    let call = Spoilt::call();
    for (spoilt, why) in [
        (call.clone().without_meta("protocolVersion"), "protocolVersion"),
        (call.clone().without_meta("clientCapabilities"), "clientCapabilities"),
        (call.clone().meta("protocolVersion", json!(20_260_728)), "protocolVersion"),
        (call.clone().meta("clientCapabilities", json!([])), "clientCapabilities"),
        (call.clone().meta("clientCapabilities", json!(null)), "clientCapabilities"),
        (call.clone().meta("clientInfo", json!("me")), "clientInfo"),
        (call.clone().meta("logLevel", json!("loud")), "logLevel"),
        (call.clone().meta("logLevel", json!(7)), "logLevel"),
    ] {
        spoilt.is_refused(http, 400, -32602, why).await;
    }
    let mut bare = call.clone();
    bare.body["params"] = json!({"name": "good__echo"});
    bare.is_refused(http, 400, -32602, "protocolVersion").await;
    bare.body.as_object_mut().expect("an object").remove("params");
    bare.is_refused(http, 400, -32602, "protocolVersion").await;
    // A client need not identify itself.
    call.without_meta("clientInfo").is_answered(http).await;
    scene.is_well().await;
}

#[tokio::test]
async fn headers_that_are_missing_or_unlike_the_body_are_refused() {
    let scene = Scene::new(&[], "").await;
    let http = scene.http();
    let call = Spoilt::call();
    let prompt = Spoilt::new("prompts/get", json!({"name": "good__test_simple_prompt"}));
    let read = Spoilt::new("resources/read", json!({"uri": "test://static-text"}));
    for (spoilt, why) in [
        (call.clone().without("MCP-Protocol-Version"), "MCP-Protocol-Version"),
        (call.clone().header("MCP-Protocol-Version", LEGACY), "MCP-Protocol-Version"),
        (call.clone().header("MCP-Protocol-Version", "2099-01-01"), "MCP-Protocol-Version"),
        (call.clone().without("Mcp-Method"), "Mcp-Method"),
        (call.clone().header("Mcp-Method", "tools/list"), "Mcp-Method"),
        (call.clone().header("Mcp-Method", "Tools/Call"), "Mcp-Method"),
        (call.clone().header("Mcp-Method", ""), "Mcp-Method"),
        (call.clone().without("Mcp-Name"), "Mcp-Name"),
        (call.clone().header("Mcp-Name", "good__ECHO"), "Mcp-Name"),
        (call.clone().header("Mcp-Name", "echo"), "Mcp-Name"),
        (call.clone().header("Mcp-Name", "=?base64?!!!?="), "Mcp-Name"),
        (call.clone().header("Mcp-Name", "=?base64?Z29vZF9fZWNobw?="), "Mcp-Name"),
        (call.clone().header("Mcp-Name", "=?BASE64?Z29vZF9fZWNobw==?="), "Mcp-Name"),
        (call.clone().header("Mcp-Name", "=?base64?/w==?="), "Mcp-Name"),
        (call.clone().header("Mcp-Name", "good__ech\u{f6}"), "Mcp-Name"),
        (prompt.clone().without("Mcp-Name"), "Mcp-Name"),
        (prompt.clone().header("Mcp-Name", "other"), "Mcp-Name"),
        (read.clone().without("Mcp-Name"), "Mcp-Name"),
        (read.clone().header("Mcp-Name", "test://other"), "Mcp-Name"),
    ] {
        spoilt.is_refused(http, 400, -32020, why).await;
    }
    // A name in only one of two places, and a name that occurs twice.
    let mut nameless = call.clone();
    nameless.body["params"].as_object_mut().expect("an object").remove("name");
    nameless.is_refused(http, 400, -32020, "Mcp-Name").await;
    nameless.without("Mcp-Name").is_refused(http, 200, -32602, "name").await;
    for (name, value) in
        [("Mcp-Name", "evil"), ("Mcp-Method", "tools/list"), ("MCP-Protocol-Version", LEGACY)]
    {
        let mut twice = call.clone();
        twice.headers.push((name, value.to_owned()));
        twice.is_refused(http, 400, -32020, name).await;
    }
    let mut the_same_twice = call.clone();
    the_same_twice.headers.push(("Mcp-Name", "good__echo".to_owned()));
    the_same_twice.is_answered(http).await;
    // Spaces around a value, and its encoded form, have the same meaning.
    call.clone().header("Mcp-Name", "  good__echo\t").is_answered(http).await;
    call.clone().header("Mcp-Name", "=?base64?Z29vZF9fZWNobw==?=").is_answered(http).await;
    call.clone().header("mcp-METHOD", "tools/call").without("Mcp-Method").is_answered(http).await;
    prompt.is_answered(http).await;
    read.is_answered(http).await;
    scene.is_well().await;
}

#[tokio::test]
async fn arguments_that_headers_repeat_are_compared() {
    let scene = Scene::new(&[], "").await;
    let http = scene.http();
    let listed = Modern::new(http).ask("tools/list", &json!({})).await;
    let tools = listed["result"]["tools"].as_array().expect("tools").clone();
    let tool = tools.iter().find(|tool| tool["name"] == "good__test_x_mcp_header").expect("the tool");
    let properties = tool["inputSchema"]["properties"].as_object().expect("properties");
    let header_of = |kind: &str| {
        let found = properties
            .iter()
            .find(|(_, schema)| schema["type"] == kind && schema.get("x-mcp-header").is_some());
        let (name, schema) = found.unwrap_or_else(|| panic!("no {kind} in {tool}"));
        (name.clone(), format!("Mcp-Param-{}", schema["x-mcp-header"].as_str().expect("a name")))
    };
    let (name, header) = header_of("string");
    let header: &'static str = header.leak();
    let call = Spoilt::new(
        "tools/call",
        json!({"name": "good__test_x_mcp_header", "arguments": {name.as_str(): "eu"}}),
    );
    let lower = header.to_ascii_lowercase();
    call.is_refused(http, 400, -32020, &lower).await;
    call.clone().header(header, "us").is_refused(http, 400, -32020, &lower).await;
    call.clone().header(header, "=?base64?%?=").is_refused(http, 400, -32020, &lower).await;
    call.clone().header(header, "eu").is_answered(http).await;
    call.clone().header(header, "=?base64?ZXU=?=").is_answered(http).await;
    // A header that mirrors nothing known is ignored.
    call.header(header, "eu").header("Mcp-Param-Unknown", "x").is_answered(http).await;
    let absent = Spoilt::new("tools/call", json!({"name": "good__test_x_mcp_header", "arguments": {}}));
    absent.is_answered(http).await;
    scene.is_well().await;
}

#[tokio::test]
async fn versions_that_are_not_served_are_answered_with_those_that_are() {
    let scene = Scene::new(&[], "").await;
    for version in ["2099-01-01", LEGACY, "draft", ""] {
        let spoilt =
            Spoilt::call().header("MCP-Protocol-Version", version).meta("protocolVersion", json!(version));
        let mut reply = spoilt.send(scene.http()).await;
        let answer = reply.json().await;
        assert_eq!(
            (reply.status, error_code(&answer), &answer["id"]),
            (400, -32022, &json!("r-1")),
            "{answer}"
        );
        assert_eq!(answer["error"]["data"], json!({"supported": [MODERN], "requested": version}));
    }
    scene.is_well().await;
}

#[tokio::test]
async fn methods_that_this_era_does_not_have_are_not_found() {
    let scene = Scene::new(&[], "").await;
    for method in [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "tasks/result",
        "tasks/list",
        // The method may belong to an extension that a server declares; then that server refuses it.
        "nonsense",
    ] {
        Spoilt::new(method, json!({})).is_refused(scene.http(), 404, -32601, method).await;
    }
    scene.is_well().await;
}

#[tokio::test]
async fn of_two_faults_the_first_in_order_is_told() {
    let scene = Scene::new(&[], "").await;
    let http = scene.http();
    let call = Spoilt::call();
    // A foreign origin has priority over everything else.
    let mut reply =
        call.clone().without("Mcp-Method").header("Origin", "http://evil.example").send(http).await;
    assert_eq!(reply.status, 403);
    assert_eq!(reply.json().await["id"], json!(null));
    // The envelope has priority over headers.
    let envelope = call.clone().without_meta("clientCapabilities");
    envelope.clone().without("Mcp-Method").is_refused(http, 400, -32602, "clientCapabilities").await;
    // The envelope has priority over the version.
    let version = call
        .clone()
        .header("MCP-Protocol-Version", "2099-01-01")
        .meta("protocolVersion", json!("2099-01-01"));
    version
        .clone()
        .without_meta("clientCapabilities")
        .is_refused(http, 400, -32602, "clientCapabilities")
        .await;
    // Headers have priority over the version.
    version.without("Mcp-Method").is_refused(http, 400, -32020, "Mcp-Method").await;
    // Headers have priority over the method, and the version over the method.
    Spoilt::new("nonsense", json!({}))
        .without("Mcp-Method")
        .is_refused(http, 400, -32020, "Mcp-Method")
        .await;
    let unknown = Spoilt::new("nonsense", json!({})).meta("protocolVersion", json!("2099-01-01"));
    unknown.header("MCP-Protocol-Version", "2099-01-01").is_refused(http, 400, -32022, "2099-01-01").await;
    // The method has priority over its parameters.
    Spoilt::new("nonsense/call", json!({"name": 7})).is_refused(http, 404, -32601, "nonsense/call").await;
    scene.is_well().await;
}

#[tokio::test]
async fn what_is_no_request_has_no_effect() {
    let scene = Scene::new(&[], "").await;
    let headers = [("MCP-Protocol-Version", MODERN)];
    let notice =
        json!({"jsonrpc": "2.0", "method": "notifications/x", "params": {"_meta": meta(&json!({}))}});
    let mut reply = scene.http().post("/mcp", &headers, &notice.to_string()).await;
    assert_eq!((reply.status, reply.text().await.as_str()), (202, ""));
    let bare = json!({"jsonrpc": "2.0", "method": "notifications/x"});
    for (name, value, body, status) in [
        ("Mcp-Method", "notifications/x", &notice, 202),
        ("Mcp-Method", "notifications/y", &notice, 400),
        ("MCP-Protocol-Version", LEGACY, &notice, 400),
        ("MCP-Protocol-Version", MODERN, &bare, 202),
    ] {
        let mut reply = scene.http().post("/mcp", &[(name, value)], &body.to_string()).await;
        assert_eq!(reply.status, status, "{name} {value} {body}");
        if status == 400 {
            let answer = reply.json().await;
            assert_eq!(error_code(&answer), -32020, "{answer}");
            assert!(error_message(&answer).contains(name), "{answer}");
        }
    }
    for message in [
        json!({"jsonrpc": "2.0", "id": 4, "result": {}}),
        json!({"jsonrpc": "2.0", "id": 4, "error": {"code": 1, "message": "x"}}),
    ] {
        let mut reply = scene.http().post("/mcp", &headers, &message.to_string()).await;
        assert_eq!(reply.status, 400);
        assert_eq!(error_code(&reply.json().await), -32600);
    }
    scene.is_well().await;
}

#[tokio::test]
async fn sessions_mean_nothing_to_stateless_requests() {
    let scene = Scene::new(&[], "").await;
    for id in ["nobody", &scene.witness().id] {
        let call = Spoilt::call().header("Mcp-Session-Id", id).header("Last-Event-ID", "1-1");
        let mut reply = call.send(scene.http()).await;
        assert_eq!(reply.status, 200, "{id}");
        assert_eq!(text(&reply.response().await), r#"{"a":1}"#);
        assert_eq!(reply.header("mcp-session-id"), "");
    }
    scene.is_well().await;
}

#[tokio::test]
async fn a_state_that_is_not_ours_is_refused() {
    let scene = Scene::new(&[], "").await;
    let mut modern = Modern::new(scene.http());
    modern.capabilities = json!({"elicitation": {"form": {}}});
    for state in [json!("forged"), json!(""), json!(7), json!({"a": 1}), json!("AAAA".repeat(1000))] {
        let params = json!({
            "name": "good__echo", "arguments": {}, "requestState": state,
            "inputResponses": {"x": {"action": "accept", "content": {}}},
        });
        let mut reply = modern.begin("tools/call", &params).await;
        let answer = reply.response().await;
        assert_eq!(error_code(&answer), -32602, "{state}: {answer}");
        assert!(error_message(&answer).contains("requestState"), "{answer}");
    }
    scene.is_well().await;
}
