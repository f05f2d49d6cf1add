//! Clients and servers that speak no protocol version in common: one clear error names both, clients that can speak
//! another fall back, and in a mixed profile everybody gets what they can.

mod support;

use serde_json::{Value, json};
use support::*;
use testkit::fixture::Eras;

async fn gateway_of(servers: &[(&str, String)]) -> Gateway {
    let mut config = "mcpServers:\n".to_owned();
    for (name, server) in servers {
        config.extend(["  ", name, ": ", server, "\n"]);
    }
    Gateway::start(&config).await
}

fn url(server: &testkit::fixture::Running) -> String {
    format!("{{ url: {} }}", quoted(&server.url()))
}

#[tokio::test]
async fn a_stateless_client_learns_that_only_handshakes_are_served() {
    let old = fixture(Eras::Legacy).await;
    for server in [url(&old), odd_stdio(&[])] {
        let gateway = gateway_of(&[("old", server)]).await;
        let modern = Modern::new(gateway.http());
        // What an `auto` client takes for "no such server": -32601 to server/discover.
        for method in ["server/discover", "tools/list"] {
            let mut reply = modern.begin(method, &json!({})).await;
            let answer = reply.json().await;
            assert_eq!((reply.status, error_code(&answer)), (404, -32601), "{answer}");
            let message = error_message(&answer);
            for word in [MODERN, "old", "2025-", "initialize"] {
                assert!(message.contains(word), "{word}: {answer}");
            }
        }
        // And the fallback works.
        let session = Legacy::open(gateway.http()).await;
        assert!(!tool_names(&session.ask("tools/list", &json!({})).await).is_empty());
    }
}

#[tokio::test]
async fn a_client_with_a_handshake_learns_that_only_stateless_requests_are_served() {
    let new = fixture(Eras::Modern).await;
    let gateway = gateway_of(&[("new", url(&new))]).await;
    for version in [LEGACY, "2025-06-18", "2025-03-26"] {
        let mut reply = Legacy::initialize(gateway.http(), "/mcp", version, &json!({})).await;
        let answer = reply.json().await;
        assert!(answer.get("error").is_some(), "{answer}");
        let message = error_message(&answer);
        for word in [MODERN, "new", version] {
            assert!(message.contains(word), "{word}: {answer}");
        }
        assert_eq!(answer["error"]["data"]["supported"], json!([MODERN]), "{answer}");
        assert_eq!(reply.header("mcp-session-id"), "", "a session for nobody");
    }
    let modern = Modern::new(gateway.http());
    assert_eq!(text(&modern.call("new__echo", &json!({})).await), "{}");
}

#[tokio::test]
async fn in_a_mixed_profile_everybody_gets_what_they_can() {
    let (old, new, both) =
        (fixture(Eras::Legacy).await, fixture(Eras::Modern).await, fixture(Eras::Both).await);
    let servers = [("old", url(&old)), ("new", url(&new)), ("both", url(&both))];
    let gateway = gateway_of(&servers).await;
    let session = Legacy::open(gateway.http()).await;
    let modern = Modern::new(gateway.http());
    let old_names = tool_names(&session.ask("tools/list", &json!({})).await);
    let new_names = tool_names(&modern.ask("tools/list", &json!({})).await);
    let has =
        |names: &[String], server: &str| names.iter().any(|name| name.starts_with(&format!("{server}__")));
    assert!(has(&old_names, "old") && has(&old_names, "both") && !has(&old_names, "new"), "{old_names:?}");
    assert!(has(&new_names, "new") && has(&new_names, "both") && !has(&new_names, "old"), "{new_names:?}");
    for (answer, server, asked, speaks) in [
        (session.call("new__echo", &json!({})).await, "new", LEGACY, MODERN),
        (modern.call("old__echo", &json!({})).await, "old", MODERN, LEGACY),
    ] {
        assert_eq!(answer["error"]["data"], json!({"server": server, "retry": false}), "{answer}");
        let message = error_message(&answer);
        for word in [server, asked, speaks] {
            assert!(message.contains(word), "{word}: {answer}");
        }
    }
    for answer in [session.call("both__echo", &json!({})).await, modern.call("both__echo", &json!({})).await]
    {
        assert_eq!(text(&answer), "{}");
    }
}

#[tokio::test]
async fn an_older_server_brings_the_client_down_to_its_version() {
    let puppet = Puppet::start(|_, request| match request.method() {
        "initialize" => {
            let hello = json!({
                "protocolVersion": "2025-03-26", "capabilities": {"tools": {}},
                "serverInfo": {"name": "x", "version": "1"},
            });
            Said::Result(hello, String::new())
        }
        _ => Said::Proper,
    })
    .await;
    let gateway = gateway_of(&[("old", puppet.config())]).await;
    let session = Legacy::open(gateway.http()).await;
    assert_eq!(session.version, "2025-03-26");
    assert_eq!(text(&session.call("old__ok", &json!({})).await), "ok");
}

#[tokio::test]
async fn a_version_that_is_refused_and_yet_named_is_asked_for_again() {
    let puppet = Puppet::start(|number, request| match request.method() {
        "server/discover" if number == 0 => {
            let error = json!({"code": -32022, "message": "not here", "data": {"supported": [MODERN]}});
            let body = json!({"jsonrpc": "2.0", "id": request.body["id"], "error": error});
            Said::Status(400, "application/json", body.to_string())
        }
        "server/discover" => {
            let hello = json!({"resultType": "complete", "supportedVersions": [MODERN], "capabilities": {"tools": {}}});
            Said::Result(hello, String::new())
        }
        _ => Said::Proper,
    })
    .await;
    let gateway = gateway_of(&[("new", puppet.config())]).await;
    let modern = Modern::new(gateway.http());
    assert_eq!(text(&modern.call("new__ok", &json!({})).await), "ok");
    assert_eq!((puppet.count("server/discover"), puppet.count("initialize")), (2, 0));
}

#[tokio::test]
async fn a_server_of_no_known_version_is_missing_with_its_version() {
    for version in [json!("2010-01-01"), json!(7), json!(null), json!("")] {
        let own = version.clone();
        let puppet = Puppet::start(move |_, request| match request.method() {
            "initialize" => Said::Result(json!({"protocolVersion": own, "capabilities": {}}), String::new()),
            _ => Said::Proper,
        })
        .await;
        let scene = Scene::new(&[("odd", &puppet.config())], "").await;
        let answer = scene.witness().call("odd__ok", &json!({})).await;
        assert_eq!(answer["error"]["data"]["server"], "odd", "{answer}");
        let shown = match &version {
            Value::Null => "protocolVersion".to_owned(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        assert!(error_message(&answer).contains(&shown), "{version}: {answer}");
        scene.is_well().await;
    }
}

#[tokio::test]
async fn over_stdio_the_same_is_told() {
    let old = fixture(Eras::Legacy).await;
    let new = fixture(Eras::Modern).await;
    let mut client = Stdio::start(&format!("mcpServers: {{ old: {} }}", url(&old)));
    let answer = client.ask("server/discover", &json!({"_meta": meta(&json!({}))})).await;
    assert_eq!(error_code(&answer), -32601);
    assert!(
        error_message(&answer).contains(MODERN) && error_message(&answer).contains("initialize"),
        "{answer}"
    );
    client.initialize(LEGACY, &json!({})).await;
    assert_eq!(text(&client.call("old__echo", &json!({})).await), "{}");

    let mut client = Stdio::start(&format!("mcpServers: {{ new: {} }}", url(&new)));
    let hello =
        json!({"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let answer = client.ask("initialize", &hello).await;
    let message = error_message(&answer);
    assert!(message.contains(MODERN) && message.contains(LEGACY) && message.contains("new"), "{answer}");
    let call = json!({"name": "new__echo", "arguments": {}, "_meta": meta(&json!({}))});
    assert_eq!(text(&client.ask("tools/call", &call).await), "{}");
}
