//! Each place that speaks MCP asks; what does not is open.

use serde_json::json;

use crate::rig::*;
use crate::support::*;

const GOOD: (&str, &str) = ("Authorization", "Bearer the-one-token");

#[tokio::test]
async fn every_way_into_a_conversation_asks() {
    let gateway = gateway("{ bearer: the-one-token }").await;
    let http = gateway.http();
    let ping = request(1, "ping", &json!({})).to_string();
    for path in ["/mcp", "/mcp/", "/mcp/default", "/mcp/other", "/message", "/message?session_id=1", "/sse"] {
        for method in ["POST", "GET", "DELETE", "PUT", "HEAD"] {
            for headers in [&[][..], &[("Authorization", "Bearer other")], &[("Mcp-Session-Id", "x")]] {
                let refused = http.send(method, path, headers, ping.as_bytes()).await;
                // What is not there is not, whoever asks.
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
    for path in ["/mcp", "/mcp/default", "/mcp/other"] {
        assert_eq!(visit(http, path, GOOD.1).await.status, 200, "{path}");
    }
    assert_eq!(http.get("/sse", &[]).await.status, 401);
    assert_eq!(http.post("/message?sessionId=x", &[], &ping).await.status, 401);
    let stream = http.get("/sse", &[GOOD]).await;
    assert!(stream.status == 200 && stream.is_stream());
}

#[tokio::test]
async fn what_is_not_asked() {
    let gateway = gateway("{ bearer: the-one-token }").await;
    let http = gateway.http();
    for path in ["/health", "/ready"] {
        assert_eq!(http.get(path, &[]).await.status, 200, "{path}");
    }
    // A browser's question before the real one carries no credentials.
    let preflight = [("Origin", "http://localhost:5173"), ("Access-Control-Request-Method", "POST")];
    let reply = http.send("OPTIONS", "/mcp", &preflight, b"").await;
    assert_eq!(reply.status, 204);
    assert_eq!(reply.header("access-control-allow-headers"), "*, Authorization");
    // And a page may read why it was refused.
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
