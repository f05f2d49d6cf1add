//! Servers with unreadable entries in their lists, or with lists that fail: such entries are removed, repaired or kept
//! from before, and everything else is served.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use support::*;
use tokio::sync::watch;

#[tokio::test]
async fn one_malformed_tool_takes_no_other_with_it() {
    let puppet = Puppet::start(|_, request| match request.method() {
        "tools/list" => {
            let schema = json!({"type": "object"});
            let tools = json!([
                {"name": "good", "inputSchema": schema},
                {"name": "no-schema"},
                {"name": "null-title", "title": null, "inputSchema": schema},
                {"name": "number", "description": 5, "inputSchema": schema},
                {"name": "array", "inputSchema": []},
                {"name": 7, "inputSchema": schema},
                {"inputSchema": schema},
                "no object",
            ]);
            Said::Result(json!({ "tools": tools }), String::new())
        }
        _ => Said::Proper,
    })
    .await;
    let scene = Scene::new(&[("bad", &puppet.config())], "").await;
    let listed = scene.witness().ask("tools/list", &json!({})).await;
    let tools: Vec<&Value> = listed["result"]["tools"].as_array().expect("tools").iter().collect();
    let of = |name: &str| tools.iter().find(|tool| tool["name"] == name);
    for name in ["bad__good", "bad__no-schema", "bad__null-title", "good__echo"] {
        let tool = of(name).unwrap_or_else(|| panic!("{name}: {listed}"));
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        assert!(tool.get("title").is_none_or(Value::is_string), "{tool}");
    }
    assert!(of("bad__number").is_none() && of("bad__array").is_none(), "{listed}");
    assert_eq!(text(&scene.witness().call("bad__no-schema", &json!({})).await), "ok");
    scene.is_well().await;
}

/// An answer with an error.
fn refused(request: &Received) -> Said {
    let error = json!({"code": -32603, "message": "the database is away"});
    let body = json!({"jsonrpc": "2.0", "id": request.body["id"], "error": error});
    Said::Status(200, "application/json", body.to_string())
}

fn tools(names: &[&str]) -> Vec<Value> {
    names.iter().map(|name| json!({"name": name, "inputSchema": {"type": "object"}})).collect()
}

fn introduction(capabilities: &Value) -> Said {
    let server = json!({"name": "puppet", "version": "1"});
    let result = json!({"protocolVersion": LEGACY, "capabilities": capabilities, "serverInfo": server});
    Said::Result(result, String::new())
}

fn prompt_names(answer: &Value) -> Vec<&str> {
    let prompts = answer["result"]["prompts"].as_array().into_iter().flatten();
    prompts.filter_map(|prompt| prompt["name"].as_str()).collect()
}

#[tokio::test]
async fn a_list_that_cannot_be_fetched_hides_no_other() {
    let puppet = Puppet::start(|_, request| match request.method() {
        "initialize" => introduction(&json!({"tools": {}, "prompts": {}, "resources": {}})),
        "prompts/list" => refused(request),
        "resources/list" => Said::Status(500, "text/plain", "no".to_owned()),
        _ => Said::Proper,
    })
    .await;
    let scene = Scene::new(&[("half", &puppet.config())], "").await;
    let listed = Legacy::open(scene.http()).await.ask("tools/list", &json!({})).await;
    assert!(tool_names(&listed).contains(&"half__ok".to_owned()), "{listed}");
    assert_eq!(text(&scene.witness().call("half__ok", &json!({})).await), "ok");
    scene.gateway.log().has("degraded").await;
    scene.gateway.log().has("the database is away").await;
    scene.is_well().await;
}

#[tokio::test]
async fn a_list_that_fails_later_stays_as_it_was_and_the_others_go_on() {
    // 0: the initial lists; 1: one more tool, while the second page of tools and all prompts fail.
    let state = Arc::new(AtomicUsize::new(0));
    let (tell, told) = watch::channel((Vec::new(), false));
    let now = state.clone();
    let puppet = Puppet::start(move |_, request| {
        let is_first = now.load(Ordering::SeqCst) == 0;
        let result = match request.method() {
            "GET" => return Said::Stream(told.clone()),
            "initialize" => {
                let changing = json!({"listChanged": true});
                return introduction(&json!({"tools": changing, "prompts": changing, "resources": changing}));
            }
            "tools/list" if is_first => json!({"tools": tools(&["old", "gone"])}),
            "tools/list" if request.body["params"]["cursor"].is_null() => {
                json!({"tools": tools(&["new"]), "nextCursor": "2"})
            }
            "resources/list" if is_first => json!({"resources": [{"uri": "a://1", "name": "one"}]}),
            "resources/list" => json!({"resources": [{"uri": "a://2", "name": "two"}]}),
            "prompts/list" if is_first => json!({"prompts": [{"name": "greet"}]}),
            "tools/list" | "prompts/list" => return refused(request),
            _ => return Said::Proper,
        };
        Said::Result(result, String::new())
    })
    .await;
    let config = format!("mcpServers: {{ up: {} }}\n", puppet.config());
    let gateway = Gateway::start(&config).await;
    let client = Legacy::open(gateway.http()).await;
    soon("the first lists", async {
        while tool_names(&client.ask("tools/list", &json!({})).await) != ["up__old", "up__gone"] {}
    })
    .await;
    puppet.heard("a stream of notices", |one| one.method() == "GET").await;
    state.store(1, Ordering::SeqCst);
    let notice = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
    tell.send_modify(|text| text.0 = format!("data: {notice}\n\n").into_bytes());
    soon("what was read before the fault, and the rest as it was", async {
        while tool_names(&client.ask("tools/list", &json!({})).await) != ["up__new", "up__old", "up__gone"] {}
    })
    .await;
    let prompts = client.ask("prompts/list", &json!({})).await;
    assert_eq!(prompt_names(&prompts), ["up__greet"], "{prompts}");
    let resources = client.ask("resources/list", &json!({})).await;
    assert_eq!(resources["result"]["resources"][0]["uri"], "a://2", "{resources}");
    let lists = Modern::new(gateway.http()).ask("tools/list", &json!({})).await;
    assert_eq!(lists["result"]["ttlMs"], 0, "{lists}");
    gateway.log().has("degraded").await;
    gateway.stop().await;
}
