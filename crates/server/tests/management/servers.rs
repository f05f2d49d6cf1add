//! Servers.

use serde_json::json;

use crate::place::Place;
use crate::support::*;

/// Asks until a session's list has a tool: clients of each era have separate lists.
async fn sees(session: &Legacy, tool: &str) {
    let look = async {
        while !tool_names(&session.ask("tools/list", &json!({})).await).iter().any(|name| name == tool) {
            tokio::task::yield_now().await;
        }
    };
    soon(tool, look).await;
}

fn children(place: &Place) -> Vec<u32> {
    let mut children = children_of(place.gateway.pid());
    children.sort_unstable();
    children
}

#[tokio::test]
async fn a_server_is_added_used_changed_and_removed() {
    let place = Place::new().await;
    let session = Legacy::open(place.gateway.http()).await;
    let program = testkit::odd::program();
    let server = json!({
        "name": "My Odd Server!", "type": "external", "description": "odd",
        "config": {"command": program, "args": ["--stdio"], "env": {"SECRET": "s3cr3t-value"}},
    });
    let answer = place.ask("POST", "/api/mcp-servers", &server).await;
    assert_eq!(answer.status, 201);
    let made = answer.body;
    assert_eq!(made["id"], "my-odd-server");
    assert_eq!(made["type"], "external");
    assert_eq!(made["config"]["env"], json!({"SECRET": "***"}));
    assert_eq!(made["source"], "api");
    // The default profile has no explicit list of servers, so it also gets this one, even in open sessions.
    place.shows("/mcp", "my-odd-server__ok", true).await;
    sees(&session, "my-odd-server__ok").await;
    let said = session.call("my-odd-server__ok", &json!({"text": "x"})).await;
    assert_eq!(text(&said), "x");
    let children = children(&place);
    assert!(!children.is_empty());
    let status = place.get("/api/mcp-servers/my-odd-server/status").await;
    assert_eq!((&status["status"], &status["error"]), (&json!("connected"), &json!(null)));
    let tools = place.get("/api/mcp-servers/my-odd-server/tools").await;
    assert!(tools["tools"].as_array().is_some_and(|tools| tools.iter().any(|tool| tool["name"] == "ok")));
    // A change that does not affect the server itself does not affect its child.
    place.make("PUT", "/api/mcp-servers/my-odd-server", &json!({"description": "still odd"})).await;
    assert_eq!(text(&session.call("my-odd-server__ok", &json!({"text": "y"})).await), "y");
    assert_eq!(self::children(&place), children);
    let off = place.make("PUT", "/api/mcp-servers/my-odd-server", &json!({"isActive": false})).await;
    assert_eq!((&off["isActive"], &off["description"]), (&json!(false), &json!("still odd")));
    until("the child's end", || children.iter().all(|child| !is_running(*child))).await;
    let status = place.get("/api/mcp-servers/my-odd-server/status").await;
    assert_eq!(status["status"], "disconnected");
    place.make("PUT", "/api/mcp-servers/my-odd-server", &json!({"isActive": true})).await;
    place.shows("/mcp", "my-odd-server__ok", true).await;
    sees(&session, "my-odd-server__ok").await;
    assert_eq!(text(&session.call("my-odd-server__ok", &json!({"text": "z"})).await), "z");
    let children = self::children(&place);
    assert!(!children.is_empty());
    let answer = place.ask("DELETE", "/api/mcp-servers/my-odd-server", &json!(null)).await;
    assert_eq!((answer.status, answer.body), (204, json!(null)));
    place.shows("/mcp", "my-odd-server__ok", false).await;
    until("the child's end", || children.iter().all(|child| !is_running(*child))).await;
    let gone = place.ask("GET", "/api/mcp-servers/my-odd-server", &json!(null)).await;
    assert_eq!(gone.refusal(), (404, "SERVER_NOT_FOUND"));
}

#[tokio::test]
async fn remote_servers_get_their_headers_and_keys_and_never_tell_them() {
    let place = Place::new().await;
    let puppet = Puppet::start(|_, _| Said::Proper).await;
    let headers = json!({"X-Team": "blue-team-token", "X-Other": "other-token"});
    let server = json!({
        "name": "far", "type": "remote_http", "config": {"url": puppet.url(), "headers": headers},
    });
    let made = place.make("POST", "/api/mcp-servers", &server).await;
    assert_eq!(made["config"]["headers"], json!({"x-team": "***", "x-other": "***"}));
    let key = json!({"key": "the-api-key", "headerName": "X-Api-Key", "prefix": ""});
    place.make("POST", "/api/mcp-servers/far/api-key", &key).await;
    place.make("POST", "/api/mcp-servers/far/api-key", &json!({"key": "bearer-key"})).await;
    // A shown entry can be sent back: its masked values stay as they were.
    let shown = place.get("/api/mcp-servers/far").await;
    let mut config = shown["config"].clone();
    config["headers"].as_object_mut().expect("headers").remove("x-other");
    place.make("PUT", "/api/mcp-servers/far", &json!({"config": config})).await;
    let tools = place.make("POST", "/api/mcp-servers/far/refresh", &json!(null)).await;
    assert!(tools["tools"].is_array());
    let last = puppet.received().last().cloned().expect("a request");
    assert_eq!(last.header("x-team"), Some("blue-team-token"));
    assert_eq!(last.header("x-api-key"), Some("the-api-key"));
    assert_eq!(last.header("authorization"), Some("Bearer bearer-key"));
    assert_eq!(last.header("x-other"), None);
    let all = [place.get("/api/mcp-servers").await, place.get("/api/mcp-servers/far").await];
    let told = format!("{all:?}{}", place.gateway.log().text());
    for secret in ["blue-team-token", "other-token", "the-api-key", "bearer-key"] {
        assert!(!told.contains(secret), "{secret}: {told}");
    }
}

#[tokio::test]
async fn what_is_sent_stands_for_itself() {
    let place = Place::new().await;
    let puppet = Puppet::start(|_, _| Said::Proper).await;
    let headers = json!({"X-Text": "${HOME} ${file:/etc/hostname}"});
    let server =
        json!({"name": "far", "type": "remote_http", "config": {"url": puppet.url(), "headers": headers}});
    place.make("POST", "/api/mcp-servers", &server).await;
    place.make("POST", "/api/mcp-servers/far/refresh", &json!(null)).await;
    let last = puppet.received().last().cloned().expect("a request");
    assert_eq!(last.header("x-text"), Some("${HOME} ${file:/etc/hostname}"));
}

#[tokio::test]
async fn states_are_told_one_by_one_and_together() {
    let place = Place::new().await;
    let asks = Puppet::start(|_, _| Said::Status(401, "text/plain", "who are you?".to_owned())).await;
    for (name, url) in [("shut", asks.url()), ("nowhere", "http://127.0.0.1:1/mcp".to_owned())] {
        let server = json!({"name": name, "type": "remote_http", "config": {"url": url}});
        place.make("POST", "/api/mcp-servers", &server).await;
        let tools = place.ask("GET", &format!("/api/mcp-servers/{name}/tools"), &json!(null)).await;
        assert_eq!(tools.refusal(), (502, "SERVER_UNAVAILABLE"));
    }
    place.add_plain("plain").await;
    place.get("/api/mcp-servers/plain/tools").await;
    let all = place.get("/api/mcp-servers/batch-status?ids=plain,shut,nowhere").await;
    let states: Vec<&str> = all["statuses"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| one["status"].as_str().expect("a word"))
        .collect();
    assert_eq!(states, ["connected", "auth_required", "error"]);
    assert!(all["statuses"][2]["error"].is_string());
    // A name or a comma may be percent-encoded in a URL.
    let same = place.get("/api/mcp-servers/batch-status?x=1&%69ds=pl%61in%2Cshut,nowhere").await;
    let words = |all: &serde_json::Value, at: usize| {
        [&all["statuses"][at]["id"], &all["statuses"][at]["state"]].map(Clone::clone)
    };
    assert_eq!([0, 1, 2].map(|at| words(&same, at)), [0, 1, 2].map(|at| words(&all, at)));
    let all = place.get("/api/mcp-servers/batch-status").await;
    assert_eq!(all["statuses"].as_array().map(Vec::len), Some(4));
    let unknown = place.ask("GET", "/api/mcp-servers/batch-status?ids=plain,who", &json!(null)).await;
    assert_eq!(unknown.refusal(), (404, "SERVER_NOT_FOUND"));
}

#[tokio::test]
async fn servers_of_the_file_are_changed_and_removed_without_touching_it() {
    let place = Place::new().await;
    assert_eq!(place.get("/api/mcp-servers/good").await["source"], "file");
    let key = place.ask("POST", "/api/mcp-servers/good/api-key", &json!({"key": "k"})).await;
    assert_eq!(key.refusal(), (400, "INVALID_CONFIG"));
    let config = json!({"type": "builtin", "config": {"native": "plain"}});
    let changed = place.make("PUT", "/api/mcp-servers/good", &config).await;
    assert_eq!((&changed["type"], &changed["source"]), (&json!("builtin"), &json!("api")));
    place.shows("/mcp", "good__hello", true).await;
    place.make("DELETE", "/api/mcp-servers/good", &json!(null)).await;
    place.shows("/mcp", "good__hello", false).await;
    assert_eq!(place.get("/api/mcp-servers").await["servers"], json!([]));
}
