//! Clients and servers of different eras: every client reaches every server, in one profile, in its own version. A
//! server without a known version is missing, with a reason that names it.

mod support;

use serde_json::{Value, json};
use support::*;
use testkit::fixture::Eras;

/// The versions that a client may request in a session at the single endpoint.
const SESSIONS: [&str; 4] = [LEGACY, "2025-06-18", "2025-03-26", "2024-11-05"];

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
async fn a_stateless_client_reaches_servers_that_want_a_handshake() {
    let old = fixture(Eras::Legacy).await;
    for (server, tool, said) in
        [(url(&old), "old__echo", r#"{"text":"x"}"#), (odd_stdio(&[]), "old__ok", "x")]
    {
        let gateway = gateway_of(&[("old", server)]).await;
        let modern = Modern::new(gateway.http());
        let hello = modern.ask("server/discover", &json!({})).await;
        assert_eq!(hello["result"]["supportedVersions"], json!([MODERN]), "{hello}");
        assert!(hello["result"]["capabilities"]["tools"].is_object(), "{hello}");
        let listed = modern.ask("tools/list", &json!({})).await;
        assert!(tool_names(&listed).iter().any(|name| name == tool), "{listed}");
        for key in ["resultType", "ttlMs", "cacheScope"] {
            assert!(!listed["result"][key].is_null(), "{key}: {listed}");
        }
        let answer = modern.call(tool, &json!({"text": "x"})).await;
        assert_eq!((text(&answer), &answer["result"]["resultType"]), (said, &json!("complete")), "{answer}");
        // A client that begins with a handshake finds the same server.
        let session = Legacy::open(gateway.http()).await;
        let answer = session.call(tool, &json!({"text": "x"})).await;
        assert_eq!((text(&answer), &answer["result"]["resultType"]), (said, &Value::Null), "{answer}");
    }
}

#[tokio::test]
async fn a_client_with_a_handshake_reaches_servers_that_take_stateless_requests_only() {
    let new = fixture(Eras::Modern).await;
    let gateway = gateway_of(&[("new", url(&new))]).await;
    for version in SESSIONS {
        let session = Legacy::open_at(gateway.http(), "/mcp", version, &json!({})).await;
        assert_eq!(session.version, version);
        assert!(session.hello["result"]["capabilities"]["tools"].is_object(), "{}", session.hello);
        let listed = session.ask("tools/list", &json!({})).await;
        assert!(tool_names(&listed).iter().any(|name| name == "new__echo"), "{listed}");
        let answer = session.call("new__echo", &json!({"a": 1})).await;
        assert_eq!(text(&answer), r#"{"a":1}"#, "{version}: {answer}");
        for (message, key) in [(&listed, "ttlMs"), (&listed, "resultType"), (&answer, "resultType")] {
            assert!(message["result"].get(key).is_none(), "{version}: {message}");
        }
    }
    let modern = Modern::new(gateway.http());
    assert_eq!(text(&modern.call("new__echo", &json!({})).await), "{}");
}

#[tokio::test]
async fn in_a_mixed_profile_everybody_gets_everything() {
    let (old, new, both) =
        (fixture(Eras::Legacy).await, fixture(Eras::Modern).await, fixture(Eras::Both).await);
    let servers = [("old", url(&old)), ("new", url(&new)), ("both", url(&both))];
    let gateway = gateway_of(&servers).await;
    let modern = Modern::new(gateway.http());
    let listed = modern.ask("tools/list", &json!({})).await;
    for (server, _) in &servers {
        let tool = format!("{server}__echo");
        assert!(tool_names(&listed).contains(&tool), "{listed}");
        assert_eq!(text(&modern.call(&tool, &json!({"a": 1})).await), r#"{"a":1}"#);
    }
    for version in SESSIONS {
        let session = Legacy::open_at(gateway.http(), "/mcp", version, &json!({})).await;
        let listed = session.ask("tools/list", &json!({})).await;
        for (server, _) in &servers {
            let tool = format!("{server}__echo");
            assert!(tool_names(&listed).contains(&tool), "{version}: {listed}");
            assert_eq!(text(&session.call(&tool, &json!({"a": 1})).await), r#"{"a":1}"#, "{version}");
        }
    }
}

/// A server that supports both eras: each client's requests are passed on in the client's own era.
#[tokio::test]
async fn a_server_of_both_eras_is_spoken_to_in_the_clients() {
    let puppet = Puppet::start(|_, request| match request.method() {
        "server/discover" => Said::Result(discovered(&[MODERN]), String::new()),
        _ => Said::Proper,
    })
    .await;
    let gateway = gateway_of(&[("both", puppet.config())]).await;
    let version = |call: &Received| {
        let own = &call.body["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
        (own.as_str().map(str::to_owned), call.headers["mcp-protocol-version"].clone())
    };
    for _ in 0..2 {
        Legacy::open(gateway.http()).await.call("both__ok", &json!({})).await;
        Modern::new(gateway.http()).call("both__ok", &json!({})).await;
    }
    let calls: Vec<_> =
        puppet.received().iter().filter(|one| one.method() == "tools/call").map(version).collect();
    let (old, new) = ((None, LEGACY.to_owned()), (Some(MODERN.to_owned()), MODERN.to_owned()));
    assert_eq!(calls, [old.clone(), new.clone(), old, new]);
}

#[tokio::test]
async fn an_older_server_leaves_the_client_its_version() {
    let puppet = Puppet::start(|_, request| match request.method() {
        "initialize" => Said::Result(introduced(&json!("2025-03-26")), String::new()),
        _ => Said::Proper,
    })
    .await;
    let gateway = gateway_of(&[("old", puppet.config())]).await;
    let session = Legacy::open(gateway.http()).await;
    assert_eq!(session.version, LEGACY);
    assert_eq!(text(&session.call("old__ok", &json!({})).await), "ok");
    let call = puppet.received().into_iter().find(|one| one.method() == "tools/call").expect("a call");
    // This version does not have the header.
    assert!(!call.headers.contains_key("mcp-protocol-version"), "{call:?}");
}

#[tokio::test]
async fn a_version_that_is_refused_and_yet_named_is_asked_for_again() {
    let puppet = Puppet::start(|number, request| match request.method() {
        "server/discover" if number == 0 => refused(request, &[MODERN]),
        "server/discover" => Said::Result(discovered(&[MODERN]), String::new()),
        _ => Said::Proper,
    })
    .await;
    let gateway = gateway_of(&[("new", puppet.config())]).await;
    let modern = Modern::new(gateway.http());
    assert_eq!(text(&modern.call("new__ok", &json!({})).await), "ok");
    assert_eq!((puppet.count("server/discover"), puppet.count("initialize")), (2, 0));
}

/// Some servers also list their versions with a handshake, or only those.
#[tokio::test]
async fn a_server_that_discovers_nothing_but_handshakes_is_asked_for_one() {
    let puppet = Puppet::start(|_, request| match request.method() {
        "server/discover" => Said::Result(discovered(&[LEGACY, "2025-06-18"]), String::new()),
        _ => Said::Proper,
    })
    .await;
    let gateway = gateway_of(&[("old", puppet.config())]).await;
    let modern = Modern::new(gateway.http());
    assert_eq!(text(&modern.call("old__ok", &json!({})).await), "ok");
    assert_eq!(puppet.count("initialize"), 1);
}

#[tokio::test]
async fn a_server_of_no_known_version_is_missing_with_its_version() {
    for version in [json!("2010-01-01"), json!("2099-01-01"), json!(7), json!(null), json!("")] {
        let own = version.clone();
        let puppet = Puppet::start(move |_, request| match request.method() {
            "initialize" => Said::Result(introduced(&own), String::new()),
            _ => Said::Proper,
        })
        .await;
        let scene = Scene::new(&[("odd", &puppet.config())], "").await;
        let shown = match &version {
            Value::Null => "protocolVersion".to_owned(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let modern = Modern::new(scene.http());
        for answer in
            [scene.witness().call("odd__ok", &json!({})).await, modern.call("odd__ok", &json!({})).await]
        {
            assert_eq!(answer["error"]["data"]["server"], "odd", "{answer}");
            assert!(error_message(&answer).contains(&shown), "{version}: {answer}");
        }
        scene.is_well().await;
    }
}

/// A future stateless version, reported in either way.
#[tokio::test]
async fn a_server_of_the_future_is_missing_with_its_versions() {
    for says_by_error in [false, true] {
        let puppet = Puppet::start(move |_, request| match request.method() {
            "server/discover" if !says_by_error => Said::Result(discovered(&["2099-01-01"]), String::new()),
            _ => refused(request, &["2099-01-01"]),
        })
        .await;
        let scene = Scene::new(&[("new", &puppet.config())], "").await;
        let modern = Modern::new(scene.http());
        for answer in
            [scene.witness().call("new__ok", &json!({})).await, modern.call("new__ok", &json!({})).await]
        {
            assert_eq!(answer["error"]["data"]["server"], "new", "{answer}");
            assert!(error_message(&answer).contains("2099-01-01"), "{says_by_error}: {answer}");
        }
        scene.is_well().await;
    }
}

#[tokio::test]
async fn over_stdio_the_same_is_reached() {
    let old = fixture(Eras::Legacy).await;
    let new = fixture(Eras::Modern).await;
    for (name, server) in [("old", url(&old)), ("new", url(&new))] {
        let mut client = Stdio::start(&format!("mcpServers: {{ {name}: {server} }}"));
        let tool = format!("{name}__echo");
        let hello = client.ask("server/discover", &json!({"_meta": meta(&json!({}))})).await;
        assert_eq!(hello["result"]["supportedVersions"], json!([MODERN]), "{hello}");
        let call = json!({"name": tool, "arguments": {}, "_meta": meta(&json!({}))});
        let answer = client.ask("tools/call", &call).await;
        assert_eq!((text(&answer), &answer["result"]["resultType"]), ("{}", &json!("complete")));
        // One process may receive requests of both eras.
        let hello = client.initialize(LEGACY, &json!({})).await;
        assert_eq!(hello["result"]["protocolVersion"], LEGACY, "{hello}");
        assert_eq!(text(&client.call(&tool, &json!({})).await), "{}");
        for version in [json!(1), json!("1.0"), json!("2024-10-07"), json!("2024-11-05"), json!("2025-03-26")]
        {
            let mut client = Stdio::start(&format!("mcpServers: {{ {name}: {server} }}"));
            let info = json!({"name": "t", "version": "1"});
            let hello = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": info});
            let hello = client.ask("initialize", &hello).await;
            assert_eq!(hello["result"]["protocolVersion"], version, "{hello}");
            client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
            let answer = client.call(&tool, &json!({})).await;
            let is_old = version == json!(1) || ["1.0", "2024-10-07"].iter().any(|old| version == *old);
            assert_eq!(answer["result"].get("toolResult").is_some(), is_old, "{answer}");
            assert_eq!(text(&answer), "{}", "{answer}");
        }
    }
}

/// The result of `initialize` in this version.
fn introduced(version: &Value) -> Value {
    let info = json!({"name": "x", "version": "1"});
    json!({"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info})
}

/// The result of `server/discover` with these versions.
fn discovered(versions: &[&str]) -> Value {
    json!({"resultType": "complete", "supportedVersions": versions, "capabilities": {"tools": {}}})
}

/// An error that lists these versions as the only supported ones.
fn refused(request: &Received, versions: &[&str]) -> Said {
    let data = json!({"supported": versions, "requested": LEGACY});
    let error = json!({"code": -32022, "message": "not here", "data": data});
    let body = json!({"jsonrpc": "2.0", "id": request.body["id"], "error": error});
    Said::Status(400, "application/json", body.to_string())
}
