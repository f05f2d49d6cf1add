//! Limits for connections: Host and Origin, sessions that belong to one profile, caps, slow clients, addresses
//! beyond this machine.

mod support;

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use support::*;
use tokio::io::AsyncWriteExt;

const PING: &str = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;

/// Every path that answers requests.
const PLACES: [(&str, &str); 8] = [
    ("POST", "/mcp"),
    ("GET", "/mcp"),
    ("DELETE", "/mcp"),
    ("OPTIONS", "/mcp"),
    ("POST", "/mcp/default"),
    ("GET", "/health"),
    ("GET", "/ready"),
    ("GET", "/"),
];

#[tokio::test]
async fn pages_of_other_origins_are_refused_everywhere() {
    let scene = Scene::new(&[], "allowedOrigins: ['https://app.example.com']\n").await;
    let session = scene.witness();
    for origin in [
        "null",
        "",
        "http://evil.example",
        "https://app.example.com.evil.example",
        "https://app.example.com:8443",
        "http://app.example.com",
        "http://localhost.evil.example",
        "http://localhost@evil.example",
        "http://localhost:80@evil.example",
        "http://127.0.0.1.evil.example",
        "http://evil.example/http://localhost",
        "http://localhost http://evil.example",
        "http://localhost, http://evil.example",
        "http://[::1].evil.example",
        "http://[::1",
        "http://10.0.0.1",
        "http://0.0.0.0",
        "file://localhost",
        "chrome-extension://localhost",
        "localhost",
        "//localhost",
        "http://localhost\u{e9}",
    ] {
        for (method, path) in PLACES {
            let headers = [session.headers()[0], ("Origin", origin)];
            let mut reply = scene.http().send(method, path, &headers, PING.as_bytes()).await;
            assert_eq!(reply.status, 403, "{method} {path} {origin:?}");
            assert_eq!(reply.header("access-control-allow-origin"), "", "{origin:?}");
            let refusal = reply.json().await;
            assert_eq!(refusal["id"], json!(null));
            assert!(error_message(&refusal).contains("allowedOrigins"), "{refusal}");
        }
    }
    let doubled = [session.headers()[0], ("Origin", "http://localhost"), ("Origin", "http://evil.example")];
    assert_eq!(scene.http().post("/mcp", &doubled, PING).await.status, 403);
    scene.is_well().await;
}

#[tokio::test]
async fn pages_of_this_machine_and_of_allowed_origins_are_served() {
    let scene = Scene::new(&[], "allowedOrigins: ['https://app.example.com']\n").await;
    let session = scene.witness();
    for origin in [
        "http://localhost",
        "http://localhost:5173",
        "https://127.0.0.1:1",
        "http://[::1]:8080",
        "HTTP://LOCALHOST",
        "https://app.example.com",
    ] {
        let reply = session.post(&[("Origin", origin)], PING).await;
        assert_eq!(reply.status, 200, "{origin}");
        assert_eq!(reply.header("access-control-allow-origin"), origin);
        assert_eq!(reply.header("vary"), "Origin");
        for shown in ["Mcp-Session-Id", "Retry-After", "X-RateLimit-Remaining"] {
            assert!(reply.header("access-control-expose-headers").contains(shown), "{shown}");
        }
        let reply = scene.http().send("OPTIONS", "/mcp", &[("Origin", origin)], b"").await;
        assert_eq!(reply.status, 204, "{origin}");
        assert_eq!(reply.header("access-control-allow-origin"), origin);
        for method in ["GET", "POST", "DELETE"] {
            assert!(reply.header("access-control-allow-methods").contains(method), "{method}");
        }
        assert!(reply.header("access-control-allow-headers").contains("Authorization"));
    }
}

#[tokio::test]
async fn requests_for_other_hosts_are_refused_everywhere() {
    let scene = Scene::new(&[], "allowedHosts: [mcp.example.com]\n").await;
    let port = scene.http().address.port();
    let session = scene.witness();
    let rebound = format!("evil.example:{port}");
    for host in [
        "evil.example",
        &rebound,
        "",
        "localhost.evil.example",
        "localhost@evil.example",
        "127.0.0.1.evil.example",
        "10.0.0.1",
        "0.0.0.0",
        "[::1].evil.example",
        "mcp.example.com.evil.example",
        "xmcp.example.com",
        "localhost:80:80",
        "localhost\u{e9}",
    ] {
        for (method, path) in PLACES {
            let headers = [session.headers()[0], ("Host", host)];
            let mut reply = scene.http().send(method, path, &headers, PING.as_bytes()).await;
            // An invalid host name may also be refused as invalid HTTP.
            assert!(matches!(reply.status, 403 | 400), "{method} {path} {host:?}: {}", reply.status);
            if reply.status == 403 {
                let refusal = reply.json().await;
                assert!(error_message(&refusal).contains("allowedHosts"), "{refusal}");
            }
        }
    }
    let doubled = [session.headers()[0], ("Host", "localhost"), ("Host", "evil.example")];
    assert!(matches!(scene.http().post("/mcp", &doubled, PING).await.status, 400 | 403));
    let stream = scene.http().raw(b"GET /ready HTTP/1.0\r\n\r\n").await;
    assert_eq!(Reply::read(stream).await.status, 403);
    for host in [
        "localhost",
        "LOCALHOST:99",
        "127.0.0.1",
        "127.8.8.8:1",
        "[::1]:5",
        "mcp.example.com",
        "MCP.example.com:443",
    ] {
        let reply = scene.http().post("/mcp", &[session.headers()[0], ("Host", host)], PING).await;
        assert_eq!(reply.status, 200, "{host}");
    }
    scene.is_well().await;
}

#[tokio::test]
async fn a_session_belongs_to_its_profile() {
    let rest = "profiles:\n  default: { servers: [good] }\n  editors: { servers: [good] }\n";
    let scene = Scene::new(&[], rest).await;
    let session = Legacy::open_at(scene.http(), "/mcp/editors", LEGACY, &json!({})).await;
    for (method, path) in [("POST", "/mcp"), ("GET", "/mcp"), ("DELETE", "/mcp"), ("POST", "/mcp/default")] {
        let mut reply = scene.http().send(method, path, &session.headers(), PING.as_bytes()).await;
        assert_eq!(reply.status, 404, "{method} {path}");
        // The refusal does not reveal the owner.
        let refusal = reply.json().await;
        let mut unknown =
            scene.http().send(method, path, &[("Mcp-Session-Id", "nobody")], PING.as_bytes()).await;
        assert_eq!(unknown.json().await, refusal);
    }
    assert_eq!(session.post(&[], PING).await.status, 200);
    scene.is_well().await;
}

#[tokio::test]
async fn session_ids_cannot_be_guessed() {
    let scene = Scene::new(&[], "").await;
    let mut ids = std::collections::HashSet::new();
    for _ in 0..50 {
        let id = Legacy::open(scene.http()).await.id;
        assert!(id.len() >= 22 && id.bytes().all(|byte| byte.is_ascii_graphic()), "{id}");
        assert!(ids.insert(id.clone()), "{id} twice");
        // After the number of the key, two of them have nothing in common except by chance.
        let shared = |other: &String| {
            *other != id && (other[7..15] == id[7..15] || other[id.len() - 8..] == id[id.len() - 8..])
        };
        assert!(!ids.iter().any(shared), "{id}");
    }
}

#[tokio::test]
async fn sessions_are_capped() {
    let scene = Scene::new(&[], "limits: { sessions: 4 }\n").await;
    // The witness's session, and the session that the check opened.
    let third = Legacy::open(scene.http()).await;
    let _fourth = Legacy::open(scene.http()).await;
    let mut reply = Legacy::initialize(scene.http(), "/mcp", LEGACY, &json!({})).await;
    assert_eq!((reply.status, reply.header("retry-after")), (503, "5"));
    let refusal = reply.json().await;
    assert!(error_message(&refusal).contains("limits.sessions"), "{refusal}");
    assert_eq!(reply.header("mcp-session-id"), "");
    // Open sessions, and requests that need no session, are served.
    assert_eq!(text(&scene.witness().call("good__echo", &json!({})).await), "{}");
    assert_eq!(text(&Modern::new(scene.http()).call("good__echo", &json!({})).await), "{}");
    // Freed capacity can be used.
    assert_eq!(third.delete().await.status, 204);
    Legacy::open(scene.http()).await;
}

#[tokio::test]
async fn calls_of_a_session_are_capped() {
    let scene = Scene::new(&[], "limits: { callsPerSession: 2 }\n").await;
    let session = Arc::new(Legacy::open(scene.http()).await);
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..3 {
        let session = session.clone();
        calls.spawn(async move { session.call("good__slow", &json!({"ms": 600_000})).await });
    }
    // One of the three calls is refused, so it is answered first.
    let refusal = soon("a refusal", calls.join_next()).await.expect("three calls").expect("no panic");
    assert!(error_message(&refusal).contains("too many"), "{refusal}");
    for id in 1..=3 {
        session.notify("notifications/cancelled", &json!({"requestId": id})).await;
    }
    soon("room", async {
        while session.call("good__slow", &json!({"ms": 0})).await.get("error").is_some() {}
    })
    .await;
    scene.is_well().await;
}

#[tokio::test]
async fn streams_of_a_session_are_capped() {
    // A 2025-11-25 client gets a stream for every call that takes long or asks a question.
    let scene = Scene::new(&[], "limits: { streamsPerSession: 1 }\n").await;
    let session = Legacy::open(scene.http()).await;
    let standing = session.listen().await;
    assert_eq!(standing.status, 200);
    // A second standing stream replaces the first.
    let again = session.listen().await;
    assert_eq!(again.status, 200);
    let asks =
        json!({"name": "good__test_tool_with_progress", "arguments": {}, "_meta": {"progressToken": 1}});
    let mut reply = session.begin("tools/call", &asks).await;
    assert_eq!(reply.status, 429);
    let refusal = reply.json().await;
    assert!(error_message(&refusal).contains("1 event streams open"), "{refusal}");
    scene.is_well().await;
}

#[tokio::test]
async fn slow_clients_are_hung_up_on() {
    let scene = Scene::new(&[], "limits: { headerReadTimeout: 500ms }\n").await;
    let started = Instant::now();
    let mut slow = Vec::new();
    for _ in 0..50 {
        slow.push(scene.http().raw(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Slow: ").await);
    }
    // One client sends byte by byte, so that it is never idle.
    let mut dripping = scene.http().raw(b"POST /mcp HTTP/1.1\r\nX-Slow: ").await;
    let drip = async {
        while dripping.write_all(b"x").await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    soon("the end of the dripping one", drip).await;
    for stream in slow {
        let answered = soon("the end of a slow connection", Reply::try_read(stream)).await;
        assert!(answered.is_none_or(|reply| reply.status == 408));
    }
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    scene.is_well().await;
}

#[tokio::test]
async fn idle_connections_do_not_keep_others_out() {
    let scene = Scene::new(&[], "").await;
    let mut idle = Vec::new();
    for _ in 0..200 {
        idle.push(scene.http().connect().await);
    }
    scene.is_well().await;
    drop(idle);
    scene.is_well().await;
}

#[tokio::test]
async fn listening_beyond_this_machine_takes_a_word() {
    let config = "mcpServers: { demo: { native: demo } }\n";
    for address in ["0.0.0.0:0", "[::]:0"] {
        let with = Start { config, args: &["--listen", address], ..Start::default() };
        let ended = run_to_end("serve", &with).await;
        assert_eq!(ended.code, Some(2), "{}", ended.err);
        assert!(ended.err.contains("--insecure"), "{}", ended.err);
        let config = format!("{config}listen: '{address}'\n");
        let ended = run_to_end("serve", &Start { config: &config, ..Start::default() }).await;
        assert_eq!(ended.code, Some(2), "{}", ended.err);
        assert!(ended.err.contains("--insecure"), "{}", ended.err);
    }
    let with = Start { config, args: &["--listen", "0.0.0.0:0", "--insecure"], ..Start::default() };
    let gateway = Gateway::start_with(&with).await;
    // Host names are still checked, so no page can get access by a foreign name.
    assert_eq!(gateway.http().get("/ready", &[("Host", "evil.example")]).await.status, 403);
    assert_eq!(gateway.http().get("/ready", &[("Origin", "http://evil.example")]).await.status, 403);
    assert_eq!(gateway.http().get("/health", &[("Host", "10.0.0.1")]).await.status, 200);
}
