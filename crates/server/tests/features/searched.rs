//! Tools that are found by searching and called through `call_tool`: every feature of a call works as for a listed tool.

use serde_json::{Value, json};

use crate::place::{Fixture, Place, everything};
use crate::support::{Alone, Over, error_code, text, tool_names};
use testkit::fixture::{Eras, Options};

/// A client of a gateway whose tools are found by searching, and the fixture behind that.
struct Searching {
    client: Alone,
    _fixture: Fixture,
}

impl Searching {
    async fn start(place: Place) -> Self {
        let eras = if place.is_stateless() { Eras::Modern } else { Eras::Legacy };
        let fixture = Fixture::start(place.upstream, Options { eras, ..Options::default() }).await;
        let config = format!(
            "mcpServers:\n  up: {}\nprofiles: {{ default: {{ tools: {{ mode: search }} }} }}\n",
            fixture.config()
        );
        Self { client: place.client_of(&config, &everything()).await, _fixture: fixture }
    }

    /// The names of the tools that a search finds, the best one first.
    async fn found(&mut self, query: &str) -> Vec<String> {
        let answer = self.client.call("find_tools", &json!({"query": query})).await;
        let found: Value = serde_json::from_str(text(&answer)).expect("JSON");
        let tools = found["tools"].as_array().expect("tools").iter();
        tools.map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
    }
}

/// The params of a call through `call_tool`.
fn through(tool: &str, arguments: &Value) -> Value {
    json!({"name": "call_tool", "arguments": {"name": tool, "arguments": arguments}})
}

/// Only `find_tools` and `call_tool` are listed, at any time; the other tools are found, and their results are those of a direct call.
pub(crate) async fn finds_and_calls(place: Place) {
    let mut up = Searching::start(place).await;
    assert_eq!(up.found("echo").await[0], "up__echo");
    assert_eq!(up.found("a tool that fails with an error").await[0], "up__test_error_handling");
    let arguments = json!({"a": [1, "é", 1.50], "b": null});
    let direct = up.client.call("up__echo", &arguments).await;
    let inner = up.client.ask("tools/call", &through("up__echo", &arguments)).await;
    assert_eq!(text(&inner), text(&direct), "{inner}");
    for tool in ["test_structured_content", "test_multiple_content_types", "test_error_handling"] {
        let tool = format!("up__{tool}");
        let direct = up.client.call(&tool, &json!({})).await;
        let inner = up.client.ask("tools/call", &through(&tool, &json!({}))).await;
        assert_eq!(inner["result"], direct["result"], "{tool}");
    }
    let unknown = up.client.ask("tools/call", &through("up__nothing", &json!({}))).await;
    assert_eq!(error_code(&unknown), -32602, "{unknown}");
    // The arguments are checked against the schema of the tool that is meant.
    let wrong = up.client.ask("tools/call", &through("up__slow", &json!({"ms": "soon"}))).await;
    assert!(wrong.to_string().contains("/ms"), "{wrong}");
    // Those of a search are checked, too.
    for odd in [json!({"query": "echo", "limit": 21}), json!({"query": "echo", "server": "up"})] {
        let refused = up.client.call("find_tools", &odd).await;
        assert!(refused.to_string().contains("do not fit the tool's input schema"), "{refused}");
    }
    assert_eq!(tool_names(&up.client.ask("tools/list", &json!({})).await), ["find_tools", "call_tool"]);
}

/// Progress notifications have the token of the outer call.
pub(crate) async fn progress(place: Place) {
    let mut up = Searching::start(place).await;
    let mut params = through("up__test_tool_with_progress", &json!({}));
    params["_meta"] = json!({"progressToken": "tok\"en"});
    let turn = up.client.begin("tools/call", &params).await;
    let (said, answer) = up.client.finish(turn).await;
    let seen: Vec<_> = said.iter().filter(|message| message["method"] == "notifications/progress").collect();
    assert_eq!(seen.len(), 3, "{said:?}");
    assert!(seen.iter().all(|one| one["params"]["progressToken"] == "tok\"en"), "{said:?}");
    assert_eq!(text(&answer), "Tool with progress executed successfully");
}

/// A cancellation of the outer call reaches the server.
pub(crate) async fn cancellation(place: Place) {
    let mut up = Searching::start(place).await;
    let count = "test://cancelled-count";
    let mut news = up.client.listen(&json!({"resourceSubscriptions": [count]})).await;
    let mut turn =
        up.client.begin("tools/call", &through("up__test_sampling", &json!({"prompt": "?"}))).await;
    assert_eq!(up.client.next(&mut turn).await["method"], "sampling/createMessage");
    up.client.cancel(turn).await;
    assert_eq!(up.client.news(&mut news).await["method"], "notifications/resources/updated");
}

/// Questions reach the client, and its answers the server, whether they are requests or rounds of the outer call.
pub(crate) async fn questions(place: Place) {
    let mut up = Searching::start(place).await;
    let reply = |kind: &str, _: &Value| {
        Ok(match kind {
            "sampling/createMessage" => {
                json!({"role": "assistant", "content": {"type": "text", "text": "Paris"}, "model": "m"})
            }
            _ => json!({"action": "accept", "content": {"name": "Ada", "color": "blue", "username": "ada"}}),
        })
    };
    let params = through("up__test_sampling", &json!({"prompt": "?"}));
    let (asked, answer) = up.client.converse("tools/call", &params, reply).await;
    assert_eq!((asked.len(), text(&answer)), (1, "LLM response: Paris"));
    if place.version >= "2025-06-18" {
        let params = through("up__test_input_required_result_multi_round", &json!({}));
        let (asked, answer) = up.client.converse("tools/call", &params, reply).await;
        assert_eq!((asked.len(), text(&answer)), (2, "Ada likes blue"));
    }
}

/// The headers of a stateless request repeat the outer call; the server gets those of the inner call.
pub(crate) async fn headers(place: Place) {
    assert!(place.is_stateless() && place.client == Over::Http);
    let mut up = Searching::start(place).await;
    let arguments = json!({"region": "eu", "priority": 3});
    let answer = up.client.ask("tools/call", &through("up__test_x_mcp_header", &arguments)).await;
    assert!(answer["error"].is_null() && answer["result"]["isError"] != true, "{answer}");
}

/// A call through `call_tool` can become a task.
pub(crate) async fn tasks(place: Place) {
    let mut up = Searching::start(place).await;
    let listed = up.client.ask("tools/list", &json!({})).await;
    assert_eq!(listed["result"]["tools"][1]["execution"]["taskSupport"], "optional", "{listed}");
    let mut params = through("up__slow_compute", &json!({"seconds": 0.05}));
    params["task"] = json!({"ttl": 60_000});
    let begun = up.client.ask("tools/call", &params).await;
    let id = &begun["result"]["task"]["taskId"];
    assert!(id.is_string(), "{begun}");
    let outcome = up.client.ask("tasks/result", &json!({"taskId": id})).await;
    assert_eq!(text(&outcome), "Computed for 0.05 s");
}
