//! Refused requests, each with its error name.

use serde_json::{Value, json};

use crate::place::Place;

async fn refused(place: &Place, method: &str, path: &str, body: &Value, status: u16, code: &str) {
    let answer = place.ask(method, path, body).await;
    assert_eq!(answer.refusal(), (status, code), "{method} {path} {body}: {}", answer.body);
    assert!(answer.body["error"]["message"].as_str().is_some_and(|text| !text.is_empty()));
}

#[tokio::test]
async fn slugs_and_profiles() {
    let place = Place::with("management: { rate: 10000/1m }\nprofiles: { fixed: {}, free: {} }\nendpoints: [ { path: /x, profile: fixed } ]\n").await;
    let long = "a".repeat(51);
    for slug in ["", "ab", "Office", "1st", "-ab", "a_b", "a b", "über", "by-slug", "by-name", &long] {
        refused(&place, "POST", "/api/profiles", &json!({"slug": slug}), 400, "INVALID_SLUG").await;
    }
    refused(&place, "POST", "/api/profiles", &json!({}), 400, "INVALID_SLUG").await;
    place.make("POST", "/api/profiles", &json!({"slug": "office"})).await;
    refused(&place, "POST", "/api/profiles", &json!({"slug": "office"}), 409, "SLUG_EXISTS").await;
    refused(&place, "POST", "/api/profiles", &json!({"slug": "default"}), 409, "SLUG_EXISTS").await;
    refused(&place, "PUT", "/api/profiles/office", &json!({"slug": "free"}), 409, "SLUG_EXISTS").await;
    refused(&place, "PUT", "/api/profiles/office", &json!({"slug": "X"}), 400, "INVALID_SLUG").await;
    refused(&place, "PUT", "/api/profiles/office", &json!({"name": 7}), 400, "INVALID_REQUEST").await;
    for (method, path) in [
        ("GET", "/api/profiles/who"),
        ("GET", "/api/profiles/by-slug/who"),
        ("PUT", "/api/profiles/who"),
        ("DELETE", "/api/profiles/who"),
        ("GET", "/api/profiles/who/servers"),
        ("POST", "/api/profiles/who/servers"),
        ("PUT", "/api/profiles/who/servers/good"),
        ("DELETE", "/api/profiles/who/servers/good"),
        ("POST", "/api/profiles/who/servers/good/toggle"),
        ("GET", "/api/profiles/who/servers/good/tools"),
        ("PUT", "/api/profiles/who/servers/good/tools"),
    ] {
        let body =
            if matches!(method, "GET" | "DELETE") { Value::Null } else { json!({"mcpServerId": "good"}) };
        refused(&place, method, path, &body, 404, "PROFILE_NOT_FOUND").await;
    }
    refused(&place, "DELETE", "/api/profiles/default", &Value::Null, 409, "PROFILE_IN_USE").await;
    refused(&place, "DELETE", "/api/profiles/fixed", &Value::Null, 409, "PROFILE_IN_USE").await;
    for slug in ["default", "fixed", "free"] {
        let path = format!("/api/profiles/{slug}");
        refused(&place, "PUT", &path, &json!({"slug": "another"}), 409, "PROFILE_IN_USE").await;
    }
    place.make("DELETE", "/api/profiles/free", &Value::Null).await;
}

#[tokio::test]
async fn servers_of_profiles() {
    let place = Place::new().await;
    place.make("POST", "/api/profiles", &json!({"slug": "office"})).await;
    place.add_plain("sums").await;
    let path = "/api/profiles/office/servers";
    refused(&place, "POST", path, &json!({"mcpServerId": "who"}), 404, "SERVER_NOT_FOUND").await;
    refused(&place, "POST", path, &json!({}), 400, "INVALID_REQUEST").await;
    refused(&place, "POST", path, &json!({"mcpServerId": "sums", "order": "x"}), 400, "INVALID_REQUEST")
        .await;
    place.make("POST", path, &json!({"mcpServerId": "sums"})).await;
    refused(&place, "POST", path, &json!({"mcpServerId": "sums"}), 409, "ALREADY_ADDED").await;
    for (method, rest, body) in [
        ("PUT", "good", json!({"order": 1})),
        ("DELETE", "good", Value::Null),
        ("POST", "good/toggle", Value::Null),
        ("GET", "good/tools", Value::Null),
        ("PUT", "good/tools", json!([])),
    ] {
        refused(&place, method, &format!("{path}/{rest}"), &body, 404, "SERVER_NOT_IN_PROFILE").await;
    }
    refused(&place, "DELETE", "/api/mcp-servers/sums", &Value::Null, 409, "SERVER_IN_USE").await;
    let tools = format!("{path}/sums/tools");
    for body in [
        json!({"toolName": "add"}),
        json!([{"isEnabled": true}]),
        json!([{"toolName": "", "isEnabled": true}]),
        json!([{"toolName": "add", "isEnabled": "yes"}]),
        json!([{"toolName": "add", "customName": "two words"}]),
        json!([{"toolName": "add", "customName": "x".repeat(65)}]),
        json!([{"toolName": "add", "customInputSchema": {"type": "string"}}]),
        json!([{"toolName": "add", "customName": "same"}, {"toolName": "concat", "customName": "same"}]),
    ] {
        refused(&place, "PUT", &tools, &body, 400, "INVALID_REQUEST").await;
    }
    place.make("DELETE", &format!("{path}/sums"), &Value::Null).await;
    place.make("DELETE", "/api/mcp-servers/sums", &Value::Null).await;
}

#[tokio::test]
async fn kinds_and_configurations_of_servers() {
    let place = Place::new().await;
    let path = "/api/mcp-servers";
    for kind in [json!(null), json!("who"), json!(7)] {
        let body = json!({"name": "x", "type": kind, "config": {}});
        refused(&place, "POST", path, &body, 400, "INVALID_TYPE").await;
    }
    for (kind, config) in [
        ("remote_http", json!({})),
        ("remote_http", json!({"url": "no url"})),
        ("remote_http", json!({"url": "ftp://h/"})),
        ("remote_http", json!({"url": "http://h/", "headers": {"X": 1}})),
        ("remote_http", json!({"url": "http://h/", "headers": {"X": "***"}})),
        ("remote_http", json!({"url": "http://h/", "headers": {"Host": "x"}})),
        ("remote_http", json!({"url": "http://h/", "who": 1})),
        ("remote_sse", json!({"url": 7})),
        ("external", json!({})),
        ("external", json!({"command": ""})),
        ("external", json!({"command": "x", "args": "y"})),
        ("external", json!({"command": "x", "env": ["y"]})),
        ("builtin", json!({})),
        ("builtin", json!({"native": "who"})),
        ("builtin", json!([])),
    ] {
        let body = json!({"name": "x", "type": kind, "config": config});
        refused(&place, "POST", path, &body, 400, "INVALID_CONFIG").await;
    }
    for name in [json!(null), json!(""), json!("!!!")] {
        let body = json!({"name": name, "type": "builtin", "config": {"native": "plain"}});
        refused(&place, "POST", path, &body, 400, "INVALID_CONFIG").await;
    }
    assert_eq!(place.get(path).await["servers"].as_array().map(Vec::len), Some(1), "nothing was added");
    assert_eq!([place.add_plain("A__B").await, place.add_plain("a b").await], ["a_b", "a-b"]);
    assert_eq!(
        [place.add_plain("a b").await, place.add_plain("batch-status").await],
        ["a-b-2", "batch-status-2"]
    );
    for (method, rest) in [
        ("GET", ""),
        ("PUT", ""),
        ("DELETE", ""),
        ("GET", "/tools"),
        ("GET", "/status"),
        ("POST", "/refresh"),
        ("POST", "/api-key"),
    ] {
        let body = if matches!(method, "GET" | "DELETE") { Value::Null } else { json!({}) };
        refused(&place, method, &format!("{path}/who{rest}"), &body, 404, "SERVER_NOT_FOUND").await;
    }
    refused(&place, "POST", "/api/mcp-servers/a_b/api-key", &json!({"key": "k"}), 400, "INVALID_CONFIG")
        .await;
}

#[tokio::test]
async fn paths_methods_and_bodies() {
    let place = Place::new().await;
    for path in ["/api/", "/api/who", "/api/profiles/a/b/c/d", "/api/mcp-servers/a/b"] {
        refused(&place, "GET", path, &Value::Null, 404, "NOT_FOUND").await;
    }
    for (method, path, allowed) in [
        ("DELETE", "/api/profiles", "GET, POST"),
        ("POST", "/api/profiles/default", "GET, PUT, DELETE"),
        ("POST", "/api/mcp-servers/good", "GET, PUT, DELETE"),
        ("GET", "/api/mcp-servers/good/refresh", "POST"),
        ("PUT", "/api/mcp-servers/batch-status", "GET"),
    ] {
        let answer = place.ask(method, path, &Value::Null).await;
        assert_eq!(answer.refusal(), (405, "METHOD_NOT_ALLOWED"), "{method} {path}");
        assert_eq!(answer.headers["allow"], allowed);
    }
    let http = place.gateway.http();
    let text = http.post("/api/profiles", &[("Content-Type", "text/plain")], "{}").await;
    assert_eq!(text.status, 415);
    for body in ["", "{", "[1,", "\u{0}"] {
        assert_eq!(http.post("/api/profiles", &[], body).await.status, 400, "{body:?}");
    }
    refused(&place, "POST", "/api/profiles", &json!([]), 400, "INVALID_SLUG").await;
    refused(&place, "POST", "/api/mcp-servers", &json!([]), 400, "INVALID_CONFIG").await;
    let foreign = http.get("/api/profiles", &[("Origin", "https://evil.example")]).await;
    assert_eq!(foreign.status, 403);
    let rebound = http.get("/api/profiles", &[("Host", "evil.example")]).await;
    assert_eq!(rebound.status, 403);
}
