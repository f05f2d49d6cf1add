//! The three policies, reloads and restarts.

use rustix::process::Signal;
use serde_json::{Value, json};
use testkit::fixture::Eras;

use crate::place::{Place, tool};
use crate::support::*;

const NOTE: &str = "tools that nobody has approved";

async fn reload(place: &Place, rest: &str, times: usize) {
    place.gateway.write(&place.config(rest));
    place.gateway.signal(Signal::HUP);
    place.gateway.log().has_times("reloaded the configuration", times).await;
}

#[tokio::test]
async fn a_warning_serves_the_change_and_says_so_until_it_is_approved() {
    let place = Place::new(json!([tool("read", "Fine.")]), "").await;
    assert!(!place.gateway.log().text().contains(NOTE), "first sight is no change");
    place.change(json!([tool("read", "Other."), tool("more", "New.")])).await;
    place.gateway.log().has(NOTE).await;
    place.shows(&["up__read", "up__more"]).await;
    assert_eq!(text(&place.call("up__more").await), "ok");
    for _ in 0..3 {
        place.change(json!([tool("read", "Other."), tool("more", "New.")])).await;
    }
    let log = place.gateway.log().text();
    let lines: Vec<&str> = log.lines().filter(|line| line.contains(NOTE) && line.contains("WARN")).collect();
    assert_eq!(lines.len(), 1, "{log}");
    for part in ["changed: \"read\"", "new: \"more\"", "dragoman definitions up"] {
        assert!(lines[0].contains(part), "{part}: {}", lines[0]);
    }
    assert_eq!(place.counts().await, [1, 1, 0]);
    place.ask("POST", "/api/mcp-servers/up/definitions/approve", &json!({"all": true})).await;
    assert_eq!(place.counts().await, [0, 0, 0]);
}

#[tokio::test]
async fn a_policy_can_be_changed_while_clients_are_connected() {
    let place = Place::new(json!([tool("read", "Fine."), tool("same", "Same.")]), "").await;
    place.change(json!([tool("read", "Other."), tool("same", "Same.")])).await;
    place.shows(&["up__read", "up__same"]).await;
    reload(&place, "definitions: hold\n", 1).await;
    place.shows(&["up__same"]).await;
    reload(&place, "definitions: allow\n", 2).await;
    place.shows(&["up__read", "up__same"]).await;
    assert_eq!(place.counts().await, [0, 0, 0]);
    place.change(json!([tool("read", "Third.")])).await;
    reload(&place, "definitions: hold\n", 3).await;
    place.shows(&[]).await;
    assert_eq!(place.counts().await, [1, 0, 1], "the record was not forgotten");
    assert_eq!(place.server.puppet.count("initialize"), 1, "no connection was replaced");
}

#[tokio::test]
async fn a_restart_forgets_neither_approvals_nor_changes() {
    let place =
        Place::new(json!([tool("read", "Fine."), tool("same", "Same.")]), "definitions: hold\n").await;
    place.change(json!([tool("read", "Evil."), tool("same", "Same.")])).await;
    place.shows(&["up__same"]).await;
    // The stored lists are shown before the server answers; they are held, too.
    place.server.lists(Value::Null);
    let place = place.again("definitions: hold\nlimits: { listWait: 0ms }\n").await;
    place.shows(&["up__same"]).await;
    assert_eq!(place.counts().await, [1, 0, 0]);
    assert!(error_message(&place.call("up__read").await).contains("is held"));
    place.ask("POST", "/api/mcp-servers/up/definitions/approve", &json!({"tools": ["read"]})).await;
    place.shows(&["up__read", "up__same"]).await;
}

#[tokio::test]
async fn the_history_of_a_servers_tools_survives_approvals_and_restarts() {
    const HISTORY: &str = "/api/mcp-servers/up/tool-history";
    let place =
        Place::new(json!([tool("read", "Fine."), tool("old", "Old."), tool("back", "Back.")]), "").await;
    assert_eq!(place.get(HISTORY).await["changes"], json!([]), "the first list is no change");
    place.change(json!([tool("read", "Other."), tool("more", "New.")])).await;
    place.change(json!([tool("read", "Other."), tool("more", "New."), tool("back", "Back.")])).await;
    let place = place.again("").await;
    place.shows(&["up__read", "up__more", "up__back"]).await;
    let events = |history: &Value| -> Vec<[String; 2]> {
        let changes = history["changes"].as_array().expect("changes").iter();
        let mut events: Vec<_> = changes
            .map(|one| ["tool", "change"].map(|key| one[key].as_str().expect("a text").to_owned()))
            .collect();
        events.sort();
        events
    };
    let history = place.get(HISTORY).await;
    let wanted = [["more", "appeared"], ["old", "vanished"], ["read", "changed"]];
    assert_eq!(events(&history), wanted, "{history}");
    let review = place.get("/api/mcp-servers/up/definitions").await;
    let old = review["tools"].as_array().expect("tools").iter().find(|one| one["tool"] == "old");
    let vanished = old.and_then(|old| old["vanishedMs"].as_u64()).expect("a time");
    assert!(old.is_some_and(|old| old["firstSeenMs"].as_u64() <= Some(vanished)), "{review}");
    let tools = json!({"tools": ["read", "more"]});
    place.ask("POST", "/api/mcp-servers/up/definitions/approve", &tools).await;
    assert_eq!(place.get(HISTORY).await, history, "an approval does not change what happened");
}

#[tokio::test]
async fn a_server_has_its_own_policy_and_embedded_servers_are_never_held() {
    let server = super::place::Server::new(json!([tool("a", "one")])).await;
    let own = format!(
        "  own: {{ url: '{}', definitions: allow }}\n  demo: {{ native: demo }}\n",
        server.puppet.url()
    );
    let place = Place::beside(json!([tool("b", "one")]), &own, "definitions: hold\n").await;
    server.lists(json!([tool("a", "two")]));
    place.ask("POST", "/api/mcp-servers/own/refresh", &Value::Null).await;
    place.change(json!([tool("b", "two")])).await;
    let names = place.tools().await;
    assert!(names.contains(&"own__a".to_owned()) && !names.contains(&"up__b".to_owned()), "{names:?}");
    assert!(names.iter().any(|name| name.starts_with("demo__")), "{names:?}");
    let (status, answer) = place.ask("GET", "/api/mcp-servers/demo/definitions", &Value::Null).await;
    assert_eq!((status, &answer["error"]["code"]), (409, &json!("NOT_RECORDED")), "{answer}");
}

#[tokio::test]
async fn without_a_sound_record_nothing_is_approved_again_in_silence() {
    let place = Place::new(json!([tool("read", "Fine.")]), "definitions: hold\n").await;
    let config = place.config("definitions: hold\n");
    let file = place.state.path().join("definitions.db");
    assert_eq!(place.gateway.stop().await.code, Some(0));
    std::fs::write(&file, [b'?'; 8192]).expect("a file");
    let ended = run_to_end("serve", &Start { config: &config, ..Start::default() }).await;
    assert_ne!(ended.code, Some(0));
    assert!(
        ended.err.contains("`definitions: hold`") && ended.err.contains("definitions.db"),
        "{}",
        ended.err
    );
    let gateway = Gateway::start(&config.replace("definitions: hold", "definitions: warn")).await;
    gateway.log().has("changes to tools' definitions are not detected").await;
}

#[tokio::test]
async fn without_the_key_of_the_record_nothing_is_approved_again() {
    let place = Place::new(json!([tool("read", "Fine.")]), "definitions: hold\n").await;
    let config = place.config("definitions: hold\n");
    assert_eq!(place.gateway.stop().await.code, Some(0));
    std::fs::remove_file(place.state.path().join("vault.key")).expect("a key");
    place.server.lists(json!([tool("read", "Evil.")]));
    let args = ["--listen", "127.0.0.1:0"];
    let ended = run_to_end("serve", &Start { config: &config, args: &args, ..Start::default() }).await;
    assert_ne!(ended.code, Some(0));
    for part in ["definitions.db", "a key other than", "restore the matching vault.key"] {
        assert!(ended.err.contains(part), "{part}: {}", ended.err);
    }
}

#[tokio::test]
async fn a_server_of_both_lifecycles_has_one_definition_of_each_tool() {
    let good = fixture(Eras::Both).await;
    let entry = format!("  good: {{ url: {} }}\n", quoted(&good.url()));
    let place = Place::beside(json!([tool("read", "Fine.")]), &entry, "definitions: hold\n").await;
    let look = async {
        let is_listed = |names: &Vec<String>| names.iter().any(|name| name.starts_with("good__"));
        while !place.seen().await.iter().all(is_listed) {}
    };
    soon("the lists of both lifecycles", look).await;
    assert_eq!(place.get("/api/definitions").await, json!({"servers": []}));
}
