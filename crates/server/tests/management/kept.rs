//! State that survives a restart, and a change to the file.

use std::os::unix::fs::PermissionsExt as _;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::place::Place;
use crate::support::*;

const MANAGED: &str = "management: true\n";

#[tokio::test]
async fn changes_outlive_a_restart() {
    let place = Place::with(MANAGED).await;
    let puppet = Puppet::start(|_, _| Said::Proper).await;
    let headers = json!({"X-Team": "blue-team-token"});
    let far =
        json!({"name": "far", "type": "remote_http", "config": {"url": puppet.url(), "headers": headers}});
    place.make("POST", "/api/mcp-servers", &far).await;
    place.add_plain("sums").await;
    place.make("POST", "/api/profiles", &json!({"slug": "office", "servers": ["sums", "good"]})).await;
    let tools = json!([{"toolName": "add", "customName": "sum"}]);
    place.make("PUT", "/api/profiles/office/servers/sums/tools", &tools).await;
    place.make("POST", "/api/profiles/office/servers/good/toggle", &Value::Null).await;
    let (servers, profiles) = (place.get("/api/mcp-servers").await, place.get("/api/profiles").await);
    let file = place.state.path().join("changes.db");
    assert_eq!(file.metadata().expect("a file").permissions().mode() & 0o777, 0o600);
    for entry in std::fs::read_dir(place.state.path()).expect("the folder of kept state") {
        let path = entry.expect("a file").path();
        if !path.is_file() {
            continue; // the control socket
        }
        let bytes = std::fs::read(&path).expect("it can be read");
        assert!(!bytes.windows(15).any(|part| part == b"blue-team-token"), "{} tells it", path.display());
    }
    let place = place.again(MANAGED).await;
    assert_eq!(place.get("/api/mcp-servers").await, servers);
    assert_eq!(place.get("/api/profiles").await, profiles);
    place.shows("/mcp/office", "sum", true).await;
    assert!(!place.tools("/mcp/office").await.iter().any(|name| name == "good__echo"));
    place.make("POST", "/api/mcp-servers/far/refresh", &Value::Null).await;
    assert_eq!(puppet.received().last().expect("a request").header("x-team"), Some("blue-team-token"));
    let place = place.again("").await;
    assert!(!place.tools("/mcp").await.iter().any(|name| name == "sums__add"), "the file alone counts");
    let place = place.again(MANAGED).await;
    place.shows("/mcp/office", "sum", true).await;
}

#[tokio::test]
async fn what_is_removed_stays_so_and_what_is_refused_is_not_kept() {
    let place = Place::with(MANAGED).await;
    place.make("DELETE", "/api/mcp-servers/good", &Value::Null).await;
    let faulty = json!({"name": "x", "type": "remote_http", "config": {"url": "no url"}});
    assert_eq!(place.ask("POST", "/api/mcp-servers", &faulty).await.status, 400);
    let place = place.again(MANAGED).await;
    assert_eq!(place.get("/api/mcp-servers").await["servers"], json!([]));
}

#[tokio::test]
async fn the_file_changes_beneath_what_was_changed() {
    let place = Place::with(MANAGED).await;
    place.add_plain("sums").await;
    place.make("POST", "/api/profiles", &json!({"slug": "office", "servers": ["sums", "good"]})).await;
    let reload = async |config: &str, times: usize| {
        place.gateway.write(config);
        place.gateway.signal(Signal::HUP);
        place.gateway.log().has_times("reloaded the configuration", times).await;
    };
    let folder = quoted(place.state.path().to_str().expect("UTF-8"));
    reload(&format!("stateFolder: {folder}\n{MANAGED}mcpServers: {{ other: {{ native: plain }} }}\n"), 1)
        .await;
    place.shows("/mcp", "other__add", true).await;
    place.shows("/mcp", "sums__add", true).await;
    let members = place.get("/api/profiles/office/servers").await;
    assert_eq!(members["servers"].as_array().map(Vec::len), Some(1), "one of them is gone: {members}");
    reload(&place.config(MANAGED), 2).await;
    place.shows("/mcp/office", "good__echo", true).await;
    place.shows("/mcp", "other__add", false).await;
}

#[tokio::test]
async fn an_endpoint_of_a_profile_that_was_removed_is_told_of() {
    let place = Place::with(&format!("{MANAGED}profiles: {{ office: {{}} }}\n")).await;
    place.make("DELETE", "/api/profiles/office", &Value::Null).await;
    let served =
        format!("{MANAGED}profiles: {{ office: {{}} }}\nendpoints: [ {{ path: /desk, profile: office }} ]\n");
    place.gateway.write(&place.config(&served));
    place.gateway.signal(Signal::HUP);
    let told = "nothing is served at /desk: the profile \"office\" was removed";
    place.gateway.log().has(told).await;
    place.gateway.log().has("reloaded the configuration").await;
    assert_eq!(place.ask("POST", "/desk", &json!({})).await.status, 404);
    let place = place.again(&served).await;
    place.gateway.log().has(told).await;
    place.make("POST", "/api/profiles", &json!({"slug": "office", "servers": ["good"]})).await;
    place.shows("/desk", "good__echo", true).await;
}

#[tokio::test]
async fn many_changes_at_once_are_made_one_after_the_other() {
    let place = Place::new().await;
    let http = place.gateway.http();
    let mut clients = tokio::task::JoinSet::new();
    for client in 0..4 {
        clients.spawn(async move {
            for number in 0..4 {
                let server = json!({"name": format!("s{client}-{number}"), "type": "builtin", "config": {"native": "plain"}});
                let mut answer = http.post("/api/mcp-servers", &[], &server.to_string()).await;
                let (status, said) = (answer.status, answer.text().await);
                assert_eq!(status, 201, "{said}");
            }
        });
    }
    while let Some(done) = clients.join_next().await {
        done.expect("all were made");
    }
    assert_eq!(place.get("/api/mcp-servers").await["servers"].as_array().map(Vec::len), Some(17));
}
