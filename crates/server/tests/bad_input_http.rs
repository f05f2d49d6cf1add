//! Faults of an HTTP request that are found before its message is read: size, media types, method, path, session,
//! version. Each refusal gives the reason, and no other client is affected.

mod support;

use serde_json::json;
use support::*;

const PING: &str = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;

#[tokio::test]
async fn a_body_that_is_too_large_is_refused_before_it_is_read() {
    let scene = Scene::new(&[], "limits: { requestBody: 64KiB }\n").await;
    let http = scene.http();
    let body =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"x":"{}"}}}}"#, "x".repeat(64 << 10));
    let mut reply = http.post("/mcp", &[], &body).await;
    assert_eq!(reply.status, 413);
    let refusal = reply.json().await;
    assert!(error_message(&refusal).contains("65536 bytes"), "{refusal}");
    assert!(error_message(&refusal).contains("limits.requestBody"), "{refusal}");

    // A request that announces too large a body is refused, even if none of it has arrived.
    let head = http.head("POST", "/mcp", &[], 10_000_000_000);
    assert_eq!(Reply::read(http.raw(head.as_bytes()).await).await.status, 413);

    // A request that announces no length is refused as soon as its body is too large.
    let mut bytes = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
        Transfer-Encoding: chunked\r\n\r\n"
        .to_vec();
    for _ in 0..17 {
        bytes.extend_from_slice(b"1000\r\n");
        bytes.extend_from_slice(&[b'x'; 0x1000]);
        bytes.extend_from_slice(b"\r\n");
    }
    assert_eq!(Reply::read(http.raw(&bytes).await).await.status, 413);

    // A client that reads the answer only after it has written everything still finds it.
    let long = "x".repeat(8 << 20);
    let head = http.head("POST", "/mcp", &[], long.len());
    assert_eq!(Reply::read(http.raw((head + &long).as_bytes()).await).await.status, 413);

    // A body of exactly the limit is read.
    let fits = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping"}}{}"#, " ".repeat((64 << 10) - 40));
    assert_eq!(fits.len(), 64 << 10);
    assert_eq!(scene.witness().post(&[], &fits).await.status, 200);
    scene.is_well().await;
}

#[tokio::test]
async fn a_head_that_is_too_large_is_refused() {
    let scene = Scene::new(&[], "limits: { requestHeaders: 8KiB }\n").await;
    let padding = "x".repeat(16 << 10);
    assert_eq!(scene.http().post("/mcp", &[("X-Padding", &padding)], PING).await.status, 431);
    scene.is_well().await;
}

#[tokio::test]
async fn media_types_are_checked() {
    let scene = Scene::new(&[], "").await;
    let session = scene.witness();
    for media in
        ["-", "text/plain", "application/x-www-form-urlencoded", "application/json5", "text/json", ""]
    {
        let mut reply = session.post(&[("Content-Type", media)], PING).await;
        assert_eq!(reply.status, 415, "{media:?}");
        let refusal = reply.json().await;
        assert!(error_message(&refusal).contains("application/json"), "{refusal}");
    }
    for media in
        ["application/json", "Application/JSON", "application/json; charset=utf-8", "application/json ;q=1"]
    {
        assert_eq!(session.post(&[("Content-Type", media)], PING).await.status, 200, "{media:?}");
    }
    for accept in ["text/html", "image/*", "application/xml", "application/jsonx", "text/event-streams"] {
        let mut reply = session.post(&[("Accept", accept)], PING).await;
        assert_eq!(reply.status, 406, "{accept:?}");
        let refusal = reply.json().await;
        let message = error_message(&refusal);
        assert!(message.contains("application/json") && message.contains("text/event-stream"), "{refusal}");
    }
    // Clients that omit required headers, but send nothing wrong, are served.
    for accept in ["-", "*/*", "application/json", "text/html, application/json;q=0.5", "APPLICATION/JSON"] {
        assert_eq!(session.post(&[("Accept", accept)], PING).await.status, 200, "{accept:?}");
    }
    let mut reply = scene.http().get("/mcp", &[("Accept", "application/json"), session.headers()[0]]).await;
    assert_eq!(reply.status, 406);
    assert!(error_message(&reply.json().await).contains("text/event-stream"));
    scene.is_well().await;
}

#[tokio::test]
async fn methods_that_mcp_does_not_have_are_refused() {
    let scene = Scene::new(&[], "").await;
    for method in ["PUT", "PATCH", "HEAD", "TRACE", "PROPFIND"] {
        let mut reply = scene.http().send(method, "/mcp", &[], b"").await;
        assert_eq!(reply.status, 405, "{method}");
        assert_eq!(reply.header("allow"), "GET, POST, DELETE", "{method}");
        if method != "HEAD" {
            assert!(error_message(&reply.json().await).contains("POST"), "{method}");
        }
    }
    // Stateless clients have no streams to open and no sessions to end.
    for method in ["GET", "DELETE"] {
        let reply = scene.http().send(method, "/mcp", &[("MCP-Protocol-Version", MODERN)], b"").await;
        assert_eq!(reply.status, 405, "{method}");
    }
    scene.is_well().await;
}

#[tokio::test]
async fn paths_and_profiles_that_do_not_exist_are_answered_with_those_that_do() {
    let rest = "profiles:\n  default: { servers: [good] }\n  editors: { servers: [good] }\n\
        endpoints:\n  - { path: /tools/mcp, profile: editors }\n";
    let scene = Scene::new(&[], rest).await;
    for path in ["/mcp/nobody", "/mcp/editors/x", "/mcp/EDITORS", "/mcp/..%2f", "/mcpx", "/tools", "//mcp"] {
        for method in ["POST", "GET", "DELETE"] {
            let mut reply = scene.http().send(method, path, &[], PING.as_bytes()).await;
            assert_eq!(reply.status, 404, "{method} {path}");
            let refusal = reply.json().await;
            let message = error_message(&refusal);
            for known in ["/mcp", "/mcp/editors", "/tools/mcp"] {
                assert!(message.contains(known), "{method} {path}: {refusal}");
            }
        }
    }
    for path in ["/mcp/editors", "/mcp/editors/", "/tools/mcp", "/mcp/default", "/mcp?x=1"] {
        let session = Legacy::open_at(scene.http(), path, LEGACY, &json!({})).await;
        assert_eq!(text(&session.call("good__echo", &json!({})).await), "{}", "{path}");
    }
    scene.is_well().await;
}

#[tokio::test]
async fn sessions_that_do_not_exist_are_refused_with_what_to_do() {
    let scene = Scene::new(&[], "").await;
    let long = "x".repeat(5000);
    for id in ["nobody", "-1", &long, "../..", "stdio"] {
        for method in ["POST", "GET", "DELETE"] {
            let mut reply =
                scene.http().send(method, "/mcp", &[("Mcp-Session-Id", id)], PING.as_bytes()).await;
            assert_eq!(reply.status, 404, "{method} {id:?}");
            let refusal = reply.json().await;
            assert_eq!(error_code(&refusal), -32001);
            assert_eq!(refusal["id"], if method == "POST" { json!(7) } else { json!(null) });
            assert!(error_message(&refusal).contains("initialize"), "{refusal}");
        }
    }
    // A GET without a version would open a session of the older transport.
    for method in ["POST", "GET", "DELETE"] {
        let version = [("MCP-Protocol-Version", LEGACY)];
        let mut reply = scene.http().send(method, "/mcp", &version, PING.as_bytes()).await;
        assert_eq!(reply.status, 400, "{method}");
        let refusal = reply.json().await;
        assert!(error_message(&refusal).contains("Mcp-Session-Id header is missing"), "{refusal}");
        assert_eq!(refusal["id"], if method == "POST" { json!(7) } else { json!(null) });
    }
    scene.is_well().await;
}

#[tokio::test]
async fn an_event_that_never_was_cannot_be_asked_for() {
    let scene = Scene::new(&[], "").await;
    let session = Legacy::open(scene.http()).await;
    let id = ("Mcp-Session-Id", session.id.as_str());
    let accept = ("Accept", "text/event-stream");
    drop(session.listen().await);
    for last in ["0-18446744073709551615", "0-99", "18446744073709551615-0", "x"] {
        let mut reply = scene.http().get("/mcp", &[id, accept, ("Last-Event-ID", last)]).await;
        assert_eq!(reply.status, 400, "{last}");
        let refusal = reply.json().await;
        assert!(error_message(&refusal).contains("Last-Event-ID"), "{refusal}");
    }
    scene.is_well().await;
}

#[tokio::test]
async fn a_deleted_session_is_gone_for_every_method() {
    let scene = Scene::new(&[], "").await;
    let session = Legacy::open(scene.http()).await;
    let mut standing = session.listen().await;
    assert_eq!(standing.status, 200);
    assert_eq!(session.delete().await.status, 204);
    assert_eq!(session.post(&[], PING).await.status, 404);
    assert_eq!(session.listen().await.status, 404);
    assert_eq!(session.delete().await.status, 404);
    // The open stream ends with the session.
    while standing.event().await.is_some() {}
    scene.is_well().await;
}

#[tokio::test]
async fn version_headers_that_name_no_version_are_refused() {
    let scene = Scene::new(&[], "").await;
    let session = scene.witness();
    let id = ("Mcp-Session-Id", session.id.as_str());
    for version in ["1999-01-01", "draft", "2025-11-25, 2025-06-18", "", "2025-11-2\u{e9}"] {
        for message in [PING, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#] {
            let mut reply =
                scene.http().post("/mcp", &[id, ("MCP-Protocol-Version", version)], message).await;
            assert_eq!(reply.status, 400, "{version:?}");
            let refusal = reply.json().await;
            assert!(error_message(&refusal).contains("MCP-Protocol-Version"), "{refusal}");
            assert_eq!(refusal["id"], if message == PING { json!(7) } else { json!(null) });
        }
        for method in ["GET", "DELETE"] {
            let headers = [id, ("MCP-Protocol-Version", version)];
            let reply = scene.http().send(method, "/mcp", &headers, b"").await;
            assert_eq!(reply.status, 400, "{method} {version:?}");
        }
    }
    // No client sent this header before 2025-06-18.
    assert_eq!(scene.http().post("/mcp", &[id], PING).await.status, 200);
    assert_eq!(
        scene.http().post("/mcp", &[id, ("MCP-Protocol-Version", " 2025-11-25 ")], PING).await.status,
        200
    );
    scene.is_well().await;
}

#[tokio::test]
async fn an_initialize_request_under_a_stateless_header_contradicts_itself() {
    let scene = Scene::new(&[], "").await;
    let hello =
        request(1, "initialize", &json!({"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {}}));
    for version in [MODERN, "2099-01-01"] {
        let mut reply =
            scene.http().post("/mcp", &[("MCP-Protocol-Version", version)], &hello.to_string()).await;
        assert_eq!(reply.status, 400, "{version}");
        let refusal = reply.json().await;
        assert_eq!((error_code(&refusal), &refusal["id"]), (-32020, &json!(1)), "{refusal}");
    }
    scene.is_well().await;
}

#[tokio::test]
async fn what_is_not_http_hurts_nobody() {
    let scene = Scene::new(&[], "").await;
    for bytes in [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".as_slice(),
        b"GET\r\n\r\n",
        b"POST /mcp HTTP/9.9\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: local\0host\r\n\r\n",
    ] {
        let stream = scene.http().raw(bytes).await;
        // The request is refused or the connection closed; nothing waits.
        let answered = soon("a refusal", Reply::try_read(stream)).await;
        let refused = answered.is_none_or(|reply| (400..=505).contains(&reply.status));
        assert!(refused, "{:?}", String::from_utf8_lossy(bytes));
    }
    scene.is_well().await;
}
