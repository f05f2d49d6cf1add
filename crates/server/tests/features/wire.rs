//! The transport of messages: HTTP/2 from a client, TLS to an upstream.

use serde_json::json;
use testkit::client::Http2;
use testkit::fixture::Eras;
use testkit::tls::TlsServer;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::support::{Gateway, Legacy, MODERN, Modern, Start, error_message, fixture, meta, request, text};

/// Many simultaneous requests on one connection, of either era, including streams.
#[tokio::test]
async fn http2_from_a_client() {
    let upstream = fixture(Eras::Both).await;
    let gateway = Gateway::start(&format!("mcpServers:\n  up: {{ url: {:?} }}\n", upstream.url())).await;
    let url = format!("http://{}/mcp", gateway.http().address);
    let mut client = Http2::over(gateway.http().connect().await, url).await;
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let (_, headers, hello) = client.post(&[], &request(0, "initialize", &params)).await;
    assert_eq!(hello["result"]["protocolVersion"], "2025-11-25", "{hello}");
    let session = headers["mcp-session-id"].to_str().expect("ASCII").to_owned();
    let mut calls = JoinSet::new();
    for number in 0..50 {
        let (mut client, session) = (client.clone(), session.clone());
        calls.spawn(async move {
            let (tool, arguments) = match number % 10 {
                0 => ("up__test_tool_with_progress", json!({})),
                _ => ("up__echo", json!({"number": number})),
            };
            let mut params =
                json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": number}});
            let answer = if number % 2 == 0 {
                let headers = [("Mcp-Session-Id", session.as_str())];
                client.post(&headers, &request(number, "tools/call", &params)).await.2
            } else {
                params["_meta"] = meta(&json!({}));
                let headers =
                    [("MCP-Protocol-Version", MODERN), ("Mcp-Method", "tools/call"), ("Mcp-Name", tool)];
                client.post(&headers, &request(number, "tools/call", &params)).await.2
            };
            assert_eq!(answer["id"], number, "{answer}");
            let wanted = match number % 10 {
                0 => "Tool with progress executed successfully".to_owned(),
                _ => format!(r#"{{"number":{number}}}"#),
            };
            assert_eq!(text(&answer), wanted);
        });
    }
    while let Some(call) = calls.join_next().await {
        call.expect("a call");
    }
}

/// Starts a TLS proxy in front of a server without TLS; returns the server's URL behind the proxy, too.
async fn door(behind: &str, alpn: &[&str]) -> (TlsServer, String) {
    let address = behind.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
    let server = TlsServer::start(alpn, move |mut secured, _| {
        let address = address.clone();
        async move {
            let mut plain = TcpStream::connect(address).await.expect("the server listens");
            let _ = tokio::io::copy_bidirectional(&mut secured, &mut plain).await;
        }
    })
    .await;
    let url = format!("https://localhost:{}/mcp", server.port);
    (server, url)
}

/// TLS to an upstream whose authority the system trusts, with either version of HTTP.
#[tokio::test]
async fn tls_to_an_upstream() {
    let upstream = fixture(Eras::Both).await;
    for alpn in [&["http/1.1"][..], &["h2", "http/1.1"]] {
        let (door, url) = door(&upstream.url(), alpn).await;
        let file = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!(
            "authority-{}-{}.pem",
            std::process::id(),
            alpn.len()
        ));
        std::fs::write(&file, &door.authority).expect("a file");
        let config = format!("mcpServers:\n  up: {{ url: {url:?} }}\n");
        let env = [("SSL_CERT_FILE", file.to_str().expect("UTF-8"))];
        let gateway = Gateway::start_with(&Start { config: &config, env: &env, ..Start::default() }).await;
        let session = Legacy::open(gateway.http()).await;
        assert_eq!(text(&session.call("up__echo", &json!({"a": 1})).await), r#"{"a":1}"#);
        let modern = Modern::new(gateway.http());
        assert_eq!(text(&modern.call("up__echo", &json!({"a": 1})).await), r#"{"a":1}"#);
        std::fs::remove_file(file).expect("its own file");
    }
}

/// A certificate of an unknown authority is refused, and the client is told why the server is missing.
#[tokio::test]
async fn tls_that_is_not_trusted() {
    let upstream = fixture(Eras::Both).await;
    let (_door, url) = door(&upstream.url(), &["http/1.1"]).await;
    let gateway = Gateway::start(&format!("mcpServers:\n  up: {{ url: {url:?} }}\n")).await;
    let session = Legacy::open(gateway.http()).await;
    let answer = session.call("up__echo", &json!({})).await;
    assert!(error_message(&answer).contains("certificate"), "{answer}");
}
