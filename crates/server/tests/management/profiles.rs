//! Profiles.

use serde_json::{Value, json};

use crate::place::Place;
use crate::support::*;

fn members(answer: &Value) -> Vec<(String, bool)> {
    let list = answer["servers"].as_array().expect("a list");
    let one = |member: &Value| {
        (
            member["mcpServerId"].as_str().expect("an id").to_owned(),
            member["isActive"].as_bool().expect("a flag"),
        )
    };
    list.iter().map(one).collect()
}

#[tokio::test]
async fn a_profile_is_added_served_changed_and_removed() {
    let place = Place::new().await;
    let body =
        json!({"slug": "office", "name": "The office", "description": "For work", "servers": ["good"]});
    let answer = place.ask("POST", "/api/profiles", &body).await;
    assert_eq!(answer.status, 201, "{}", answer.body);
    assert_eq!(answer.body["endpoint"], "/mcp/office");
    place.shows("/mcp/office", "good__echo", true).await;
    for path in ["/api/profiles/office", "/api/profiles/by-slug/office", "/api/profiles/by-name/office"] {
        let shown = place.get(path).await;
        assert_eq!(
            (&shown["name"], &shown["description"]),
            (&json!("The office"), &json!("For work")),
            "{path}"
        );
    }
    let session = Legacy::open_at(place.gateway.http(), "/mcp/office", LEGACY, &json!({})).await;
    assert_eq!(session.hello["result"]["serverInfo"]["title"], "The office");
    place.make("PUT", "/api/profiles/office", &json!({"name": "Another", "description": null})).await;
    let shown = place.get("/api/profiles/office").await;
    assert_eq!((&shown["name"], &shown["description"]), (&json!("Another"), &json!(null)));
    let renamed = place.make("PUT", "/api/profiles/office", &json!({"slug": "bureau"})).await;
    assert_eq!((&renamed["slug"], &renamed["name"]), (&json!("bureau"), &json!("Another")));
    place.shows("/mcp/bureau", "good__echo", true).await;
    assert_eq!(session.begin("tools/list", &json!({})).await.status, 404);
    let slugs: Vec<Value> = place.get("/api/profiles").await["profiles"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|profile| profile["slug"].clone())
        .collect();
    assert_eq!(slugs, ["default", "bureau"]);
    assert_eq!(place.ask("DELETE", "/api/profiles/bureau", &json!(null)).await.status, 204);
    let gone = place.ask("GET", "/api/profiles/bureau", &json!(null)).await;
    assert_eq!(gone.refusal(), (404, "PROFILE_NOT_FOUND"));
    assert_eq!(place.gateway.http().post("/mcp/bureau", &[], "{}").await.status, 404);
}

#[tokio::test]
async fn servers_of_a_profile_have_an_order_and_a_switch() {
    let place = Place::new().await;
    let (one, two) = (place.add_plain("one").await, place.add_plain("two").await);
    place.make("POST", "/api/profiles", &json!({"name": "many"})).await;
    let path = "/api/profiles/many/servers";
    for (id, order) in [(&*one, None), (&*two, None), ("good", Some(0))] {
        let answer = place.ask("POST", path, &json!({"mcpServerId": id, "order": order})).await;
        assert_eq!(answer.status, 201, "{}", answer.body);
    }
    let list = place.get(path).await;
    assert_eq!(members(&list), [("good".into(), true), ("one".into(), true), ("two".into(), true)]);
    place.shows("/mcp/many", "two__hello", true).await;
    place.shows("/mcp/many", "good__echo", true).await;
    let tools = place.tools("/mcp/many").await;
    let at = |name: &str| tools.iter().position(|tool| tool == name).expect(name);
    assert!(at("good__echo") < at("one__hello") && at("one__hello") < at("two__hello"));
    place.make("PUT", &format!("{path}/two"), &json!({"order": 0, "isActive": true})).await;
    let tools = place.tools("/mcp/many").await;
    assert_eq!(tools.iter().position(|tool| tool.starts_with("two__")), Some(0), "{tools:?}");
    let toggled = place.make("POST", &format!("{path}/one/toggle"), &json!(null)).await;
    assert_eq!(members(&toggled), [("two".into(), true), ("good".into(), true), ("one".into(), false)]);
    place.shows("/mcp/many", "one__hello", false).await;
    place.make("PUT", &format!("{path}/one"), &json!({"isActive": true})).await;
    place.shows("/mcp/many", "one__hello", true).await;
    assert_eq!(place.ask("DELETE", &format!("{path}/one"), &json!(null)).await.status, 204);
    place.shows("/mcp/many", "one__hello", false).await;
    assert!(place.tools("/mcp").await.iter().any(|name| name == "one__hello"), "elsewhere it is as before");
}

#[tokio::test]
async fn tools_of_a_profile_are_hidden_renamed_and_described() {
    let place = Place::new().await;
    place.add_plain("sums").await;
    place.make("POST", "/api/profiles", &json!({"slug": "few", "servers": ["sums"]})).await;
    let path = "/api/profiles/few/servers/sums/tools";
    let schema = json!({"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "integer"}}, "required": ["a", "b"]});
    let tools = json!([
        {"toolName": "add", "customName": "sum", "customDescription": "Adds up.", "customInputSchema": schema},
        {"toolName": "hello", "isEnabled": false},
    ]);
    let set = place.make("PUT", path, &json!({"tools": tools})).await;
    let of = |answer: &Value, name: &str| {
        let list = answer["tools"].as_array().expect("a list").clone();
        list.into_iter()
            .find(|tool| tool["toolName"] == name)
            .unwrap_or_else(|| panic!("no {name} in {answer}"))
    };
    let add = of(&set, "add");
    assert_eq!((&add["isEnabled"], &add["customName"]), (&json!(true), &json!("sum")));
    assert!(add["description"].is_string() && add["inputSchema"].is_object());
    assert_eq!(of(&set, "hello")["isEnabled"], false);
    assert_eq!(of(&set, "concat")["customName"], Value::Null);
    place.shows("/mcp/few", "sum", true).await;
    let client = Modern { path: "/mcp/few".to_owned(), ..Modern::new(place.gateway.http()) };
    let list = client.ask("tools/list", &json!({})).await;
    let names = tool_names(&list);
    assert!(!names.iter().any(|name| name == "sums__add" || name == "sums__hello"), "{names:?}");
    assert!(names.iter().any(|name| name == "sums__concat"));
    let shown =
        list["result"]["tools"].as_array().expect("tools").iter().find(|tool| tool["name"] == "sum").cloned();
    let shown = shown.expect("the tool");
    assert_eq!((&shown["description"], &shown["inputSchema"]), (&json!("Adds up."), &schema));
    assert_eq!(text(&client.call("sum", &json!({"a": 1, "b": 2})).await), "3");
    let unfit = client.call("sum", &json!({"a": 1, "b": 2.5})).await;
    assert!(
        unfit["error"].is_object() || unfit["result"]["isError"] == true,
        "the own schema counts: {unfit}"
    );
    assert!(error_message(&client.call("sums__hello", &json!({})).await).contains("sums__hello"));
    assert!(place.tools("/mcp").await.iter().any(|name| name == "sums__add"), "elsewhere it is as before");
    let back = place.make("PUT", path, &json!([{"toolName": "add"}, {"toolName": "hello"}])).await;
    assert_eq!(
        (&of(&back, "add")["customName"], &of(&back, "hello")["isEnabled"]),
        (&json!(null), &json!(true))
    );
    place.shows("/mcp/few", "sums__add", true).await;
    let fresh = place.get(&format!("{path}?refresh=true")).await;
    assert_eq!(of(&fresh, "add")["customDescription"], Value::Null);
}

#[tokio::test]
async fn clients_are_told_of_changes() {
    let place = Place::new().await;
    let session = Legacy::open(place.gateway.http()).await;
    let mut standing = session.listen().await;
    let filter = json!({"notifications": {"toolsListChanged": true}});
    let mut listening = Modern::new(place.gateway.http()).begin("subscriptions/listen", &filter).await;
    listening.message().await.expect("an acknowledgement");
    place.add_plain("more").await;
    for stream in [&mut standing, &mut listening] {
        let told = soon("a notice", stream.message()).await.expect("a notice");
        assert_eq!(told["method"], "notifications/tools/list_changed");
    }
}
