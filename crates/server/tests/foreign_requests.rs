//! Requests that a proxy, a browser or a page of another site interprets differently from this server: two hosts in one
//! request, two ends of one body, pages without an allowed origin, answers whose type a browser guesses.

mod support;

use http_body_util::Full;
use hyper_util::rt::{TokioExecutor, TokioIo};
use support::*;

const PING: &str = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;

/// Sends a head with `Content-Length: 0`, and returns the answer's status.
async fn status_of(scene: &Scene, line: &str, host: &str) -> u16 {
    let head = format!("{line}\r\nHost: {host}\r\nContent-Length: 0\r\n\r\n");
    Reply::read(scene.http().raw(head.as_bytes()).await).await.status
}

#[tokio::test]
async fn the_target_and_host_name_one_server() {
    let scene = Scene::new(&[], "allowedHosts: [mcp.example.com]\nmanagement: true\n").await;
    for path in ["/mcp", "/mcp/x", "/ready", "/", "/api/v1/servers", "/oauth/callback", "/oauth/consent/x"] {
        for (target, host) in [
            ("http://evil.example", "localhost"),
            ("http://localhost", "mcp.example.com"),
            ("http://mcp.example.com", "evil.example"),
            ("http://localhost:81", "localhost"),
            ("http://localhost", "localhost:443"),
            ("https://localhost", "localhost:80"),
            ("http://user@localhost", "localhost"),
        ] {
            let status = status_of(&scene, &format!("GET {target}{path} HTTP/1.1"), host).await;
            assert_eq!(status, 400, "{target}{path} {host}");
        }
    }
    scene.gateway.ready().await;
    for (target, host) in [
        ("", "localhost"),
        ("http://localhost", "LocalHost"),
        ("HTTP://LOCALHOST", "localhost:80"),
        ("http://mcp.example.com:80", "mcp.example.com"),
        ("https://mcp.example.com", "mcp.example.com:443"),
    ] {
        let status = status_of(&scene, &format!("GET {target}/ready HTTP/1.1"), host).await;
        assert_eq!(status, 200, "{target} {host}");
    }
    // Both name the same host, which is not served.
    assert_eq!(status_of(&scene, "GET http://evil.example/ready HTTP/1.1", "evil.example").await, 403);
    scene.is_well().await;
}

#[tokio::test]
async fn the_authority_and_host_name_one_server_over_http2() {
    let scene = Scene::new(&[], "").await;
    scene.gateway.ready().await;
    let stream = scene.http().connect().await;
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
            .await
            .expect("HTTP/2");
    tokio::spawn(connection);
    for (authority, host, status) in [
        ("localhost", None, 200),
        ("localhost", Some("LOCALHOST:80"), 200),
        ("localhost", Some("127.0.0.1"), 400),
        ("localhost", Some("evil.example"), 400),
        ("evil.example", Some("localhost"), 400),
        ("evil.example", None, 403),
    ] {
        let mut request = http::Request::get(format!("http://{authority}/ready"));
        if let Some(host) = host {
            request = request.header("Host", host);
        }
        let request = request.body(Full::<bytes::Bytes>::default()).expect("a request");
        let answer = soon("an answer", sender.send_request(request)).await.expect("an answer");
        assert_eq!(answer.status(), status, "{authority} {host:?}");
        assert_eq!(answer.headers()["x-content-type-options"], "nosniff");
    }
}

/// A proxy that interprets such headers differently would see another end of the request, and another request after it.
#[tokio::test]
async fn transfer_encodings_other_than_one_chunked_are_refused() {
    let scene = Scene::new(&[], "").await;
    let id = scene.witness().headers()[0].1.to_owned();
    let send = async |framing: &str| {
        let length = PING.len();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, \
             text/event-stream\r\nMcp-Session-Id: {id}\r\n{framing}\r\n{length:x}\r\n{PING}\r\n0\r\n\r\n"
        );
        Reply::try_read(scene.http().raw(head.as_bytes()).await).await
    };
    for framing in [
        "Transfer-Encoding: chunked, chunked\r\n",
        "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: identity, chunked\r\n",
        "Transfer-Encoding: chunked, gzip\r\n",
        "Transfer-Encoding: gzip\r\n",
        "Transfer-Encoding: \r\n",
        "Transfer-Encoding: , chunked\r\n",
        "Transfer-Encoding: chunked;q=1\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
        "Content-Length: 5\r\nTransfer-Encoding: gzip, chunked\r\n",
    ] {
        assert_eq!(send(framing).await.map(|reply| reply.status), Some(400), "{framing:?}");
    }
    for framing in ["Transfer-Encoding: chunked\r\n", "transfer-encoding:  CHUNKED \r\n"] {
        assert_eq!(send(framing).await.map(|reply| reply.status), Some(200), "{framing:?}");
    }
    // Only `Transfer-Encoding` counts, and no later byte is taken for a request (RFC 9112, 6.3).
    for framing in [
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
    ] {
        let reply = send(framing).await.expect("an answer");
        assert_eq!((reply.status, reply.header("connection")), (200, "close"), "{framing:?}");
    }
    scene.is_well().await;
}

#[tokio::test]
async fn pages_of_other_sites_open_nothing_without_an_allowed_origin() {
    let scene = Scene::new(&[], "allowedOrigins: ['https://app.example.com']\nmanagement: true\n").await;
    let session = scene.witness().headers()[0];
    for site in ["cross-site", "same-site"] {
        for (method, path) in [
            ("POST", "/mcp"),
            ("GET", "/mcp"),
            ("DELETE", "/mcp"),
            ("POST", "/mcp/default"),
            ("GET", "/sse"),
            ("POST", "/mcp/no"),
        ] {
            let headers = [session, ("Sec-Fetch-Site", site)];
            let mut reply = scene.http().send(method, path, &headers, PING.as_bytes()).await;
            assert_eq!(reply.status, 403, "{method} {path} {site}");
            let refusal = reply.json().await;
            assert!(error_message(&refusal).contains("allowedOrigins"), "{refusal}");
        }
        // The management API is only for this server's own pages.
        let reply = scene.http().get("/api/v1/servers", &[("Sec-Fetch-Site", site)]).await;
        assert_eq!(reply.status, 403, "{site}");
        let allowed = [session, ("Sec-Fetch-Site", site), ("Origin", "https://app.example.com")];
        assert_eq!(scene.http().post("/mcp", &allowed, PING).await.status, 200, "{site}");
        // Links from any site lead here, and authorization servers redirect browsers here.
        let way = [("Sec-Fetch-Site", site), ("Sec-Fetch-Mode", "navigate"), ("Accept", "text/html")];
        let plain = [("Accept", "text/html")];
        for path in ["/", "/oauth/consent/x", "/oauth/callback?state=x&code=y", "/ready"] {
            let status = scene.http().get(path, &way).await.status;
            assert_eq!(status, scene.http().get(path, &plain).await.status, "{path}");
            assert_ne!(status, 403, "{path}");
        }
    }
    for site in ["same-origin", "none"] {
        assert_eq!(scene.http().post("/mcp", &[session, ("Sec-Fetch-Site", site)], PING).await.status, 200);
    }
    scene.is_well().await;
}

#[tokio::test]
async fn no_answer_lets_browsers_guess_its_type() {
    let scene = Scene::new(&[], "management: true\n").await;
    let session = scene.witness().headers()[0];
    let preflight = [("Origin", "http://localhost"), ("Access-Control-Request-Method", "POST")];
    for (method, path, headers) in [
        ("GET", "/", &[][..]),
        ("GET", "/nowhere", &[]),
        ("GET", "/ready", &[]),
        ("GET", "/sse", &[("Accept", "text/event-stream")]),
        ("GET", "/mcp", &[session, ("Accept", "text/event-stream")]),
        ("GET", "/mcp", &[]),
        ("POST", "/mcp", &[session]),
        ("POST", "/mcp", &[("Host", "evil.example")]),
        ("POST", "/mcp", &[("Origin", "http://evil.example")]),
        ("POST", "/mcp", &[("Content-Type", "text/plain")]),
        ("POST", "/mcp/no", &[]),
        ("OPTIONS", "/mcp", &preflight),
        ("GET", "/oauth/callback", &[]),
        ("GET", "/oauth/consent/x", &[]),
        ("GET", "/api/v1/servers", &[]),
        ("GET", "/api/v1/no", &[]),
    ] {
        let body = if method == "POST" { PING } else { "" };
        let reply = scene.http().send(method, path, headers, body.as_bytes()).await;
        assert_eq!(reply.header("x-content-type-options"), "nosniff", "{method} {path}: {}", reply.status);
    }
}
