//! Clients over TLS: both versions of HTTP, files that change, client certificates, and connections without TLS.

#[path = "../support/mod.rs"]
mod support;

mod files;
mod rig;
mod strangers;

use rig::{Authority, Bridge, Client, gateway, get};
use serde_json::json;
use support::*;

#[tokio::test]
async fn clients_of_both_eras_call_tools_over_http_1() {
    let authority = Authority::new();
    let gateway = gateway(&authority, "").await;
    let client = Client::trusting(&authority);
    let bridge = Bridge::open(gateway.http().address, client.offering(&["http/1.1"])).await;
    let session = Legacy::open(bridge.http()).await;
    assert_eq!(text(&session.call("demo__echo", &json!({"text": "old"})).await), "old");
    let modern = Modern::new(bridge.http());
    assert_eq!(text(&modern.call("demo__echo", &json!({"text": "new"})).await), "new");
    // A stream that stays open between messages.
    let listening = session.listen().await;
    assert!(listening.is_stream());
    assert_eq!(bridge.protocol().as_deref(), Some("http/1.1"));
    // A client that offers no protocol gets HTTP/1.1.
    let plain = Bridge::open(gateway.http().address, client.offering(&[])).await;
    assert_eq!(text(&Modern::new(plain.http()).call("demo__echo", &json!({"text": "x"})).await), "x");
    assert_eq!(plain.protocol(), None);
}

#[tokio::test]
async fn a_session_and_its_calls_over_http_2() {
    let authority = Authority::new();
    let gateway = gateway(&authority, "").await;
    let client = Client::trusting(&authority);
    let mut http2 = client.http2(gateway.http().address).await;
    let params =
        json!({"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let (status, headers, hello) = http2.post(&[], &request(0, "initialize", &params)).await;
    assert_eq!((status, &hello["result"]["protocolVersion"]), (200, &json!(LEGACY)), "{hello}");
    assert_eq!(headers["x-content-type-options"], "nosniff");
    let session = headers["mcp-session-id"].to_str().expect("ASCII").to_owned();
    for number in 1..20 {
        let params = json!({"name": "demo__echo", "arguments": {"text": number.to_string()}});
        let (_, _, answer) =
            http2.post(&[("Mcp-Session-Id", &session)], &request(number, "tools/call", &params)).await;
        assert_eq!(text(&answer), number.to_string());
    }
    let params = json!({"name": "demo__echo", "arguments": {"text": "new"}, "_meta": meta(&json!({}))});
    let headers =
        [("MCP-Protocol-Version", MODERN), ("Mcp-Method", "tools/call"), ("Mcp-Name", "demo__echo")];
    let (_, _, answer) = http2.post(&headers, &request(1, "tools/call", &params)).await;
    assert_eq!(text(&answer), "new");
}

/// The lines for clients contain a name from the certificate, because clients would refuse the address.
#[tokio::test]
async fn the_first_screen_has_a_name_of_the_certificate() {
    let authority = Authority::new();
    let (cert, key) = authority.server(&["mcp.example.com"]);
    let config = "listen: 127.0.0.1:0\ntls: { cert: cert.pem, key: key.pem }\nallowedHosts: [mcp.example.com]\n\
                  mcpServers: { demo: { native: demo } }\n";
    let files = [("cert.pem", cert.as_str()), ("key.pem", key.as_str())];
    let mut process = gateway_process(&Start { config, files: &files, ..Start::default() });
    process.has("Ctrl-C").await;
    let screen = process.text();
    assert!(screen.contains("serves https://127.0.0.1:"), "{screen}");
    assert!(screen.contains("--transport http dragoman https://mcp.example.com:"), "{screen}");
    assert!(!screen.contains("http://"), "{screen}");
}

/// The terminal's commands reach a gateway whose authority the system trusts.
#[tokio::test]
async fn the_terminal_reaches_it() {
    let authority = Authority::new();
    let gateway = gateway(&authority, "").await;
    let file = gateway.folder().join("authority.pem");
    std::fs::write(&file, authority.pem()).expect("a file");
    let url = format!("https://localhost:{}/mcp", gateway.http().address.port());
    let env = [("SSL_CERT_FILE", file.to_str().expect("UTF-8"))];
    let with = Start { config: "mcpServers: {}\n", args: &[&url], env: &env, ..Start::default() };
    let ended = run_to_end("list", &with).await;
    assert!(ended.code == Some(0) && ended.out.contains("demo__echo"), "{}{}", ended.out, ended.err);
    let ended = run_to_end("list", &Start { env: &[], ..with }).await;
    assert!(ended.code != Some(0) && ended.err.contains("certificate"), "{}{}", ended.out, ended.err);
}

/// Returns true if a request over a new connection is served.
async fn is_served(gateway: &Gateway, client: &Client) -> bool {
    get(gateway, client, "/health").await.is_some_and(|answer| answer.starts_with("HTTP/1.1 200"))
}

/// `dragoman serve` as users start it, and its output.
fn gateway_process(with: &Start<'_>) -> rig::Printed {
    rig::Printed::start(with)
}
