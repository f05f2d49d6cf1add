//! Several servers behind one endpoint: names, rules, and routing.

use serde_json::{Value, json};
use testkit::fixture::{Eras, Options};

use crate::place::{Fixture, Place};
use crate::support::{Alone, Over, error_code, text, tool_names};

/// Two servers, `a` over HTTP and `b` over a pipe with many more entries, under a profile with these rules.
struct Two {
    client: Alone,
    _servers: [Fixture; 2],
}

async fn two(place: Place, profile: &str) -> Two {
    let eras = if place.is_stateless() { Eras::Modern } else { Eras::Legacy };
    two_of(place, eras, profile).await
}

async fn two_of(place: Place, eras: Eras, profile: &str) -> Two {
    let a = Fixture::start(Over::Http, Options { eras, many: false, ..Options::default() }).await;
    let b = Fixture::start(Over::Stdio, Options { eras, many: true, ..Options::default() }).await;
    let servers = format!("mcpServers:\n  a: {}\n  b: {}\n", a.config(), b.config());
    let config = format!("{servers}profiles:\n  default: {profile}\n");
    Two { client: place.client_of(&config, &json!({})).await, _servers: [a, b] }
}

async fn listed(client: &mut Alone, method: &str, list: &str, key: &str) -> Vec<String> {
    let answer = client.ask(method, &json!({})).await;
    let entries = answer["result"][list].as_array().unwrap_or_else(|| panic!("no {list} in {answer}"));
    entries.iter().map(|entry| entry[key].as_str().expect("text").to_owned()).collect()
}

/// The revision in the description of a server's changing tool.
async fn revision(client: &mut Alone, name: &str) -> String {
    let answer = client.ask("tools/list", &json!({})).await;
    let tools = answer["result"]["tools"].as_array().expect("tools");
    let tool = tools.iter().find(|tool| tool["name"] == name).unwrap_or_else(|| panic!("no {name}"));
    tool["description"].as_str().expect("text").rsplit(' ').next().expect("a word").to_owned()
}

/// With prefixes, each server's tools have its name as a prefix, and calls go to the server of the prefix.
pub(crate) async fn prefixed(place: Place) {
    let mut two = two(place, "{ names: prefix }").await;
    let names = tool_names(&two.client.ask("tools/list", &json!({})).await);
    for name in ["a__echo", "b__echo", "b__many_119"] {
        assert!(names.contains(&name.to_owned()), "{names:?}");
    }
    assert!(!names.contains(&"a__many_119".to_owned()), "{names:?}");
    let mut news = two.client.listen(&json!({"toolsListChanged": true})).await;
    for (trigger, of_a, of_b) in
        [("b__test_trigger_tool_change", "0", "1"), ("a__test_trigger_tool_change", "1", "1")]
    {
        let turn = two.client.begin("tools/call", &json!({"name": trigger})).await;
        let (said, answer) = two.client.finish(turn).await;
        assert_eq!(text(&answer), "Revision 1");
        if said.is_empty() {
            two.client.news(&mut news).await;
        }
        assert_eq!(revision(&mut two.client, "a__test_changing_tool").await, of_a);
        assert_eq!(revision(&mut two.client, "b__test_changing_tool").await, of_b);
    }
}

/// With plain names, only clashing names get a prefix.
pub(crate) async fn plain(place: Place) {
    let mut two = two(place, "{ names: plain }").await;
    let names = tool_names(&two.client.ask("tools/list", &json!({})).await);
    for name in ["a__echo", "b__echo", "many_000"] {
        assert!(names.contains(&name.to_owned()), "{names:?}");
    }
    assert_eq!(text(&two.client.call("many_000", &json!({})).await), "This is many_000.");
    assert_eq!(text(&two.client.call("b__echo", &json!({"x": 1})).await), r#"{"x":1}"#);
    assert_eq!(error_code(&two.client.call("echo", &json!({})).await), -32602);
}

/// A renamed tool is listed under its new name only, and can also be called by its identity; a tool that is not allowed, or is
/// denied, does not exist.
pub(crate) async fn ruled(place: Place) {
    let tools = r#"{ allow: ["a__*", b__many_00?], deny: ["*slow"], rename: { a__echo: parrot } }"#;
    let prompts = "{ rename: { a__test_prompt_with_arguments: greet } }";
    let resources = r#"{ deny: ["*static*"] }"#;
    let rules = format!("{{ tools: {tools}, prompts: {prompts}, resources: {resources} }}");
    let mut two = two(place, &rules).await;
    let client = &mut two.client;
    let names = tool_names(&client.ask("tools/list", &json!({})).await);
    assert!(names.contains(&"parrot".to_owned()) && names.contains(&"b__many_009".to_owned()), "{names:?}");
    for gone in ["a__echo", "a__slow", "b__echo", "b__many_010"] {
        assert!(!names.contains(&gone.to_owned()), "{names:?}");
        if gone != "a__echo" {
            assert_eq!(error_code(&client.call(gone, &json!({"ms": 0})).await), -32602, "{gone}");
        }
    }
    assert_eq!(text(&client.call("a__echo", &json!({"x": 1})).await), r#"{"x":1}"#);
    assert_eq!(text(&client.call("parrot", &json!({"x": 1})).await), r#"{"x":1}"#);
    let params = json!({"name": "greet", "arguments": {"arg1": "1", "arg2": "2"}});
    let answer = client.ask("prompts/get", &params).await;
    let said = &answer["result"]["messages"][0]["content"]["text"];
    assert_eq!(said, "Prompt with arguments: arg1='1', arg2='2'", "{answer}");
    let complete = |name: &str| {
        let argument = json!({"name": "arg1", "value": "par"});
        json!({"ref": {"type": "ref/prompt", "name": name}, "argument": argument})
    };
    for name in ["greet", "a__test_prompt_with_arguments"] {
        let answer = client.ask("completion/complete", &complete(name)).await;
        assert_eq!(answer["result"]["completion"]["values"], json!(["paris", "park", "party"]), "{answer}");
    }
    let uris = listed(client, "resources/list", "resources", "uri").await;
    assert!(uris.iter().all(|uri| !uri.contains("static")), "{uris:?}");
}

/// An entry that rules exclude is as unknown as one that nobody has, listed or not; an entry that they admit
/// works, listed or not.
pub(crate) async fn excluded(place: Place) {
    let rules = r#"{ allow: ["test://static*", "test://template/1/*"], deny: ["*binary"] }"#;
    let mut two = two(place, &format!("{{ resources: {rules} }}")).await;
    let client = &mut two.client;
    let uris = listed(client, "resources/list", "resources", "uri").await;
    assert_eq!(uris, ["test://static-text", "test://b+static-text"]);
    let templates = listed(client, "resources/templates/list", "resourceTemplates", "uriTemplate").await;
    assert!(templates.is_empty(), "{templates:?}");
    for uri in ["test://static-text", "test://template/1/data"] {
        let answer = client.ask("resources/read", &json!({"uri": uri})).await;
        assert!(answer["result"]["contents"][0]["text"].is_string(), "{uri}: {answer}");
    }
    let params = |method: &str, uri: &str| match method {
        "completion/complete" => {
            json!({"ref": {"type": "ref/resource", "uri": uri}, "argument": {"name": "id", "value": ""}})
        }
        _ => json!({"uri": uri}),
    };
    for method in ["resources/read", "resources/subscribe", "resources/unsubscribe", "completion/complete"] {
        let unknown = client.ask(method, &params(method, "nothing://at-all")).await["error"].to_string();
        for uri in [
            "test://static-binary",
            "test://watched-resource",
            "test://template/2/data",
            "test://template/{id}/data",
            "test://b+static-binary",
            "test://b+template/2/data",
        ] {
            let answer = client.ask(method, &params(method, uri)).await;
            let refusal = answer["error"].to_string().replace(uri, "nothing://at-all");
            assert_eq!(refusal, unknown, "{method} {uri}");
        }
    }
}

/// A resource is read at the server that lists it; if two do, at the first.
pub(crate) async fn resources(place: Place) {
    let mut two = two(place, "{ servers: [a, b] }").await;
    let client = &mut two.client;
    let uris = listed(client, "resources/list", "resources", "uri").await;
    assert_eq!(uris.iter().filter(|uri| *uri == "test://watched-resource").count(), 1, "{uris:?}");
    let read = |uri: &str| json!({"uri": uri});
    // Only `b` has it.
    let answer = client.ask("resources/read", &read("test://many/003")).await;
    assert_eq!(answer["result"]["contents"][0]["text"], "Number 3", "{answer}");
    client.call("b__test_touch_watched", &json!({})).await;
    let answer = client.ask("resources/read", &read("test://watched-resource")).await;
    assert_eq!(answer["result"]["contents"][0]["text"], "Revision 0", "a's own: {answer}");
    client.call("a__test_touch_watched", &json!({})).await;
    let answer = client.ask("resources/read", &read("test://watched-resource")).await;
    assert_eq!(answer["result"]["contents"][0]["text"], "Revision 1", "{answer}");
    // By the template that it matches.
    let answer = client.ask("resources/read", &read("test://template/x%20y/data")).await;
    assert!(answer["result"]["contents"][0]["text"].as_str().expect("text").contains("x%20y"), "{answer}");
}

/// If two servers have the same URIs, those of the second carry its name: in lists, requests, results and notifications.
pub(crate) async fn alike(place: Place) {
    for eras in [Eras::Modern, Eras::Legacy] {
        let mut two = two_of(place, eras, "{ servers: [a, b] }").await;
        let client = &mut two.client;
        let uris = listed(client, "resources/list", "resources", "uri").await;
        for uri in ["test://watched-resource", "test://b+watched-resource", "test://many/003"] {
            assert_eq!(uris.iter().filter(|one| *one == uri).count(), 1, "{uri}: {uris:?}");
        }
        let templates = listed(client, "resources/templates/list", "resourceTemplates", "uriTemplate").await;
        assert_eq!(templates, ["test://template/{id}/data", "test://b+template/{id}/data"]);
        for uri in [
            "test://static-text",
            "test://b+static-text",
            "test://many/003",
            "test://b+many/003",
            "test://b+template/7/data",
        ] {
            let answer = client.ask("resources/read", &json!({"uri": uri})).await;
            assert_eq!(answer["result"]["contents"][0]["uri"], uri, "{answer}");
        }
        let unknown = client.ask("resources/read", &json!({"uri": "test://b+no-such"})).await;
        assert_eq!(unknown["error"]["data"]["uri"], "test://b+no-such", "{unknown}");
        for (server, uri) in [("a", "test://static-text"), ("b", "test://b+static-text")] {
            let linked = client.call(&format!("{server}__test_resource_link"), &json!({})).await;
            let blocks = linked["result"]["content"].to_string();
            assert!(blocks.contains(&format!("\"{uri}\"")), "{blocks}");
        }
        let params = json!({"name": "b__test_prompt_with_embedded_resource", "arguments": {"resourceUri": "test://static-text"}});
        let prompt = client.ask("prompts/get", &params).await["result"].to_string();
        assert!(prompt.contains("\"uri\":\"test://b+static-text\""), "{prompt}");
        let reference = json!({"type": "ref/resource", "uri": "test://b+template/{id}/data"});
        let completed = json!({"ref": reference, "argument": {"name": "id", "value": ""}});
        let answer = client.ask("completion/complete", &completed).await;
        assert!(answer["result"]["completion"]["values"].is_array(), "{answer}");
        followed(place, client).await;
    }
}

/// A client that follows two resources with the same URI at their servers is told which of them has changed.
async fn followed(place: Place, client: &mut Alone) {
    let uris = ["test://watched-resource", "test://b+watched-resource"];
    let mut news = client.listen(&json!({"resourceSubscriptions": uris, "toolsListChanged": true})).await;
    for (server, uri) in [("b", uris[1]), ("a", uris[0]), ("b", uris[1])] {
        let touch = json!({"name": format!("{server}__test_touch_watched")});
        let turn = client.begin("tools/call", &touch).await;
        let (mut said, _) = client.finish(turn).await;
        let told = match said.pop() {
            Some(told) => told,
            None => client.news(&mut news).await,
        };
        assert_eq!(
            (&told["method"], &told["params"]["uri"]),
            (&json!("notifications/resources/updated"), &json!(uri))
        );
    }
    if place.is_stateless() {
        return;
    }
    let answer = client.ask("resources/unsubscribe", &json!({"uri": uris[1]})).await;
    assert_eq!(answer["result"], json!({}), "{answer}");
    client.call("b__test_touch_watched", &json!({})).await;
    let turn = client.begin("tools/call", &json!({"name": "a__test_touch_watched"})).await;
    let (mut said, _) = client.finish(turn).await;
    let told = match said.pop() {
        Some(told) => told,
        None => client.news(&mut news).await,
    };
    assert_eq!(told["params"]["uri"], uris[0], "{told}");
}

/// One stream carries the notifications of several servers, each once.
pub(crate) async fn news(place: Place) {
    let mut two = two(place, "{ servers: [b, a] }").await;
    let filter = json!({"toolsListChanged": true, "resourceSubscriptions": ["test://watched-resource"]});
    let mut news = two.client.listen(&filter).await;
    for (tool, method) in [
        ("a__test_trigger_tool_change", "notifications/tools/list_changed"),
        ("b__test_trigger_tool_change", "notifications/tools/list_changed"),
        ("b__test_touch_watched", "notifications/resources/updated"),
        // The watched resource belongs to `b`, so there is no notification about that of `a`.
        ("a__test_touch_watched", ""),
        ("a__test_trigger_tool_change", "notifications/tools/list_changed"),
    ] {
        let turn = two.client.begin("tools/call", &json!({"name": tool})).await;
        let (mut said, _) = two.client.finish(turn).await;
        if method.is_empty() {
            assert_eq!(said, Vec::<Value>::new());
            continue;
        }
        let told = match said.pop() {
            Some(told) => told,
            None => two.client.news(&mut news).await,
        };
        assert_eq!(told["method"], method, "{tool}: {told}");
    }
}
