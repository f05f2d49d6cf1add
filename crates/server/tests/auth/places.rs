//! Each place that serves MCP authenticates its callers; other places are open.

use serde_json::json;

use crate::rig::*;
use crate::support::*;

const GOOD: (&str, &str) = ("Authorization", "Bearer the-one-token");

#[tokio::test]
async fn every_way_into_a_conversation_asks() {
    let gateway = gateway("{ bearer: the-one-token }").await;
    let http = gateway.http();
    let ping = request(1, "ping", &json!({})).to_string();
    for path in [
        "/mcp",
        "/mcp/",
        "/mcp/default",
        "/mcp/other",
        "/other/mcp",
        "/none/mcp",
        "/message",
        "/message?session_id=1",
        "/sse",
    ] {
        for method in ["POST", "GET", "DELETE", "PUT", "HEAD"] {
            for headers in [&[][..], &[("Authorization", "Bearer other")], &[("Mcp-Session-Id", "x")]] {
                let refused = http.send(method, path, headers, ping.as_bytes()).await;
                // A path that does not exist is not found, whoever asks.
                let expected: &[u16] = if path.ends_with('/') || method == "PUT" || method == "HEAD" {
                    &[401, 404, 405]
                } else {
                    &[401]
                };
                let odd = path.starts_with("/message") || path == "/sse";
                let expected = if odd { &[401, 404, 405] } else { expected };
                assert!(
                    expected.contains(&refused.status),
                    "{method} {path} {headers:?}: {}",
                    refused.status
                );
            }
        }
    }
    for path in ["/mcp", "/mcp/default", "/mcp/other", "/default/mcp", "/other/mcp"] {
        assert_eq!(visit(http, path, GOOD.1).await.status, 200, "{path}");
    }
    assert_eq!(http.get("/sse", &[]).await.status, 401);
    assert_eq!(http.post("/message?sessionId=x", &[], &ping).await.status, 401);
    let stream = http.get("/sse", &[GOOD]).await;
    assert!(stream.status == 200 && stream.is_stream());
}

/// The content of a refusal: status, headers except the time, body.
async fn told(mut reply: Reply) -> (u16, Vec<(String, String)>, String) {
    let mut headers: Vec<_> = reply.headers.clone().into_iter().filter(|(name, _)| name != "date").collect();
    headers.sort();
    (reply.status, headers, reply.text().await)
}

#[tokio::test]
async fn nobody_finds_out_which_profiles_there_are() {
    for dialect in ["", "dialect: gateway\n"] {
        let state = State::new();
        let key = state.new_key(&["one", "--profile", "other"]).await;
        let limits = "rateLimits: [ { per: ip, methods: all, rate: 1000/1m } ]\n";
        let config =
            format!("{}{dialect}{limits}{}", config("{ bearer: the-one-token, keys: true }"), state.line());
        let gateway = Gateway::start(&config).await;
        let http = gateway.http();
        let ping = request(1, "ping", &json!({})).to_string();
        let limited = bearer(&key);
        for shown in [None, Some("Bearer other"), Some(limited.as_str())] {
            let paths = [("/mcp/default", "/mcp/defaule"), ("/default/mcp", "/defaule/mcp")];
            let methods = ["POST", "GET", "DELETE", "OPTIONS"];
            for (method, (own, other)) in methods.iter().flat_map(|method| paths.map(|pair| (*method, pair)))
            {
                let headers: Vec<_> = shown.map(|value| ("Authorization", value)).into_iter().collect();
                let there = told(http.send(method, own, &headers, ping.as_bytes()).await).await;
                let gone = told(http.send(method, other, &headers, ping.as_bytes()).await).await;
                assert_eq!((there.0, &there.1), (gone.0, &gone.1), "{dialect}{method} {own} {shown:?}");
                assert_eq!(
                    there.2,
                    gone.2.replace("defaule", "default"),
                    "{dialect}{method} {own} {shown:?}"
                );
                let expected = match (method, shown) {
                    ("OPTIONS", _) => 204,
                    (_, Some(value)) if value == limited => 403,
                    _ => 401,
                };
                assert_eq!(there.0, expected, "{dialect}{method} {shown:?}");
            }
        }
        for path in ["/", "/nothing"] {
            let page = http.get(path, &[]).await.text().await;
            assert!(page.contains("/mcp") && !page.contains("/mcp/"), "{page}");
        }
        // An authenticated caller is told that the path does not exist.
        let mut reply = http.post("/mcp/defaule", &[GOOD], &ping).await;
        let (status, text) = (reply.status, reply.text().await);
        let expected = if dialect.is_empty() { 404 } else { 200 };
        assert!(status == expected && text.contains("defaule"), "{status} {text}");
    }
}

#[tokio::test]
async fn who_asks_for_a_profile_that_is_not_there_is_counted() {
    for dialect in ["", "dialect: gateway\n"] {
        let limits = "rateLimits: [ { per: ip, methods: all, rate: 3/1h } ]\n";
        let gateway =
            Gateway::start(&format!("mcpServers: {{ demo: {{ native: demo }} }}\n{dialect}{limits}")).await;
        let ping = request(1, "ping", &json!({})).to_string();
        for at in 0..3 {
            let path = format!("/mcp/not-there-{at}");
            assert_ne!(gateway.http().post(&path, &[], &ping).await.status, 429, "{path}");
        }
        let refused = gateway.http().post("/mcp/not-there", &[], &ping).await;
        assert_eq!(refused.status, 429, "{dialect}");
        assert!(!refused.header("retry-after").is_empty());
        assert_eq!(gateway.http().post("/mcp/default", &[], &ping).await.status, 429, "{dialect}");
    }
}

#[tokio::test]
async fn what_is_not_asked() {
    let gateway = gateway("{ bearer: the-one-token }").await;
    let http = gateway.http();
    gateway.ready().await;
    for path in ["/health", "/ready"] {
        assert_eq!(http.get(path, &[]).await.status, 200, "{path}");
    }
    // A browser's preflight request carries no credentials.
    let preflight = [("Origin", "http://localhost:5173"), ("Access-Control-Request-Method", "POST")];
    let reply = http.send("OPTIONS", "/mcp", &preflight, b"").await;
    assert_eq!(reply.status, 204);
    assert_eq!(reply.header("access-control-allow-headers"), "*, Authorization");
    // A page may read the reason for the refusal.
    let refused = http.post("/mcp", &[("Origin", "http://localhost:5173")], "{}").await;
    assert_eq!(refused.status, 401);
    assert_eq!(refused.header("access-control-allow-origin"), "http://localhost:5173");
    assert!(refused.header("access-control-expose-headers").contains("WWW-Authenticate"));
}

#[tokio::test]
async fn an_endpoint_can_be_open() {
    let endpoints =
        "endpoints: [{ path: /open, profile: default, auth: none }, { path: /closed, profile: default }]\n";
    let gateway = Gateway::start(&format!("{}{endpoints}", config("{ bearer: the-one-token }"))).await;
    assert_eq!(visit(gateway.http(), "/open", "Bearer other").await.status, 200);
    assert_eq!(visit(gateway.http(), "/closed", "Bearer other").await.status, 401);
    assert_eq!(visit(gateway.http(), "/closed", GOOD.1).await.status, 200);
}
