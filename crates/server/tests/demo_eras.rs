//! The embedded demo server, for clients of every version: each gets everything that its version has, and nothing that it
//! may refuse.

mod support;

use serde_json::{Value, json};
use support::*;

const CONFIG: &str = "mcpServers: { demo: { native: demo } }\nprofiles: { default: { names: plain } }\n";

/// A client in its session.
struct Client(Alone);

impl Client {
    async fn open(version: Value) -> Self {
        let start = Start { config: CONFIG, ..Start::default() };
        let mut client = Alone::start(Over::Stdio, &start, &version, &json!({})).await;
        if version != MODERN {
            let hello = client.introduce().await;
            assert_eq!(hello["result"]["protocolVersion"], version, "{hello}");
        }
        Self(client)
    }

    /// The result of a request.
    async fn get(&mut self, method: &str, params: Value) -> Value {
        let answer = self.0.ask(method, &params).await;
        assert!(answer.get("result").is_some(), "{} {method}: {answer}", self.0.version);
        answer["result"].clone()
    }
}

fn keys(of: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = of.as_object().expect("an object").keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

#[tokio::test]
async fn the_first_versions() {
    for version in [json!(1), json!("2024-10-07")] {
        let mut client = Client::open(version.clone()).await;
        let tools = client.get("tools/list", json!({})).await;
        assert_eq!(keys(&tools["tools"][0]), ["description", "inputSchema", "name"], "{tools}");
        let sum = client.get("tools/call", json!({"name": "add", "arguments": {"a": 2, "b": 3}})).await;
        assert_eq!(sum["toolResult"], "5", "{sum}");
        let resources = client.get("resources/list", json!({})).await;
        assert_eq!(
            keys(&resources["resources"][0]),
            ["description", "mimeType", "name", "uri"],
            "{resources}"
        );
        let templates = if version.is_number() {
            resources["resourceTemplates"].clone()
        } else {
            client.get("resources/templates/list", json!({})).await["resourceTemplates"].clone()
        };
        assert_eq!(templates[0]["uriTemplate"], "demo://greeting/{name}", "{templates}");
        for result in [&tools, &sum, &resources] {
            for newer in ["resultType", "ttlMs", "cacheScope", "_meta"] {
                assert!(result.get(newer).is_none(), "{version} {newer}: {result}");
            }
        }
    }
}

#[tokio::test]
async fn versions_with_content() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", LEGACY] {
        let mut client = Client::open(json!(version)).await;
        let tools = client.get("tools/list", json!({})).await;
        let has_hints = tools["tools"][0].get("annotations").is_some();
        assert_eq!(has_hints, version != "2024-11-05", "{version}: {tools}");
        let sum = client.get("tools/call", json!({"name": "add", "arguments": {"a": 2, "b": 3}})).await;
        assert_eq!((sum["content"][0]["text"].as_str(), sum.get("toolResult")), (Some("5"), None), "{sum}");
        for newer in ["resultType", "_meta"] {
            assert!(sum.get(newer).is_none(), "{version} {newer}: {sum}");
        }
    }
}

#[tokio::test]
async fn all_versions() {
    let versions = ["2024-10-07", "2024-11-05", "2025-03-26", "2025-06-18", LEGACY, MODERN];
    for version in [json!(1), json!("1.0")].into_iter().chain(versions.map(Value::from)) {
        let mut client = Client::open(version.clone()).await;
        let page = client.get("resources/read", json!({"uri": "demo://welcome"})).await;
        assert!(page["contents"][0]["text"].as_str().is_some_and(|text| text.contains("Dragoman")), "{page}");
        let prompt = client.get("prompts/get", json!({"name": "introduce"})).await;
        assert_eq!(prompt["messages"][0]["content"]["type"], "text", "{version}: {prompt}");
        let argument = json!({"name": "topic", "value": "p"});
        let reference = json!({"type": "ref/prompt", "name": "introduce"});
        let completed =
            client.get("completion/complete", json!({"ref": reference, "argument": argument})).await;
        assert!(!completed["completion"]["values"].as_array().expect("values").is_empty(), "{completed}");
        let missing = client.0.ask("resources/read", &json!({"uri": "demo://nothing"})).await;
        let code = if version == MODERN { -32602 } else { -32002 };
        assert_eq!(error_code(&missing), code, "{version}: {missing}");
        // A model can correct its call if the version has a result for that.
        let wrong = json!({"name": "add", "arguments": {"a": "x", "b": 3}});
        let wrong = client.0.ask("tools/call", &wrong).await;
        let is_result = version == LEGACY || version == MODERN;
        assert_eq!(wrong["result"]["isError"] == true, is_result, "{version}: {wrong}");
        assert_eq!(wrong.get("error").is_some(), !is_result, "{version}: {wrong}");
    }
}

#[tokio::test]
async fn dated_versions_at_an_endpoint_that_has_another() {
    let config = CONFIG.replace("names: plain", "names: plain, dialect: bb");
    let gateway = Gateway::start(&config).await;
    let events = [("Accept", "text/event-stream")];
    assert_eq!(gateway.http().get("/mcp", &events).await.status, 405, "the dialect has no streams");
    for version in ["2025-03-26", LEGACY] {
        let session = Legacy::open_at(gateway.http(), "/mcp", version, &json!({})).await;
        let stream = session.listen().await;
        assert!(stream.status == 200 && stream.is_stream(), "{version}: {}", stream.status);
        let sum = session.call("add", &json!({"a": 2, "b": 3})).await;
        assert_eq!(text(&sum), "5", "{sum}");
        assert_eq!(session.ask("ping", &json!({})).await["result"], json!({}));
        assert_eq!(session.delete().await.status, 204);
        assert_eq!(session.listen().await.status, 404);
    }
}
