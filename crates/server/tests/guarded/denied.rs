//! For a caller that may not use a server, nothing of the server exists; nor does a resource that the caller
//! may not read.

use serde_json::{Value, json};

use crate::place::*;
use crate::support::*;

/// A server with a tool, a listed resource, a template, and one unlisted resource.
async fn server(name: &'static str) -> Puppet {
    let uri = move |rest: &str| format!("{name}://{rest}");
    Puppet::start(move |number, request| {
        let none = String::new();
        let result = match request.method() {
            "initialize" => {
                let capabilities =
                    json!({"tools": {}, "resources": {"subscribe": true}, "logging": {}, "experimental": {name: {}}});
                let hello = json!({
                    "protocolVersion": LEGACY, "capabilities": capabilities,
                    "serverInfo": {"name": name, "version": "1"}, "instructions": format!("This is {name}."),
                });
                return Said::Result(hello, format!("Mcp-Session-Id: {name}-{number}\r\n"));
            }
            "resources/list" => json!({"resources": [{"uri": uri("listed"), "name": "listed"}]}),
            "resources/templates/list" => {
                json!({"resourceTemplates": [{"uriTemplate": uri("{id}"), "name": "any"}]})
            }
            "resources/read" if request.body["params"]["uri"] == uri("there") => {
                json!({"contents": [{"uri": uri("there"), "text": "here"}]})
            }
            "resources/read" => {
                let error = json!({"code": -32002, "message": format!("{name} has none"), "data": {"own": 1}});
                let body = json!({"jsonrpc": "2.0", "id": request.body["id"], "error": error});
                return Said::Status(200, "application/json", body.to_string());
            }
            "resources/subscribe" | "resources/unsubscribe" | "logging/setLevel" => json!({}),
            _ => return Said::Proper,
        };
        Said::Result(result, none)
    })
    .await
}

/// A gateway in front of these servers, with the boss and the guest.
async fn gateway(servers: &[(&str, &Puppet)], rules: &str) -> (Gateway, State, [Http; 2]) {
    let state = State::new();
    let lines: Vec<String> =
        servers.iter().map(|(name, puppet)| format!("{name}: {}", puppet.config())).collect();
    let config = config(&lines.join("\n  "), &state, rules);
    let start = Start { config: &config, env: &[("TOKEN", TOKEN)], ..Start::default() };
    let gateway = Gateway::start_with(&start).await;
    let mut callers = [gateway.http(); 2];
    for (caller, name) in callers.iter_mut().zip(["boss", "guest"]) {
        *caller = gateway.http().showing(&bearer(&state.new_key(&[name]).await));
    }
    (gateway, state, callers)
}

/// The status and the answer to a request about a resource, with its URI removed.
async fn without_uri(way: &Way, method: &str, params: &Value, uri: &str) -> (u16, String) {
    let mut reply = way.begin(method, params).await;
    let mut answer = reply.response().await;
    answer["id"] = Value::Null;
    (reply.status, answer.to_string().replace(uri, "URI"))
}

#[tokio::test]
async fn an_unknown_resource_is_answered_like_a_denied_one() {
    let puppet = server("open").await;
    let rules = "access: [{ deny: '*secret*', unless: { key: boss } }]\n";
    let (_gateway, _state, [boss, guest]) = gateway(&[("open", &puppet)], rules).await;
    let ways = async |who: Http| {
        [
            Way::Session(Legacy::open(who).await),
            Way::Stateless(Modern::new(who)),
            Way::Dialect(who, "/gateway"),
        ]
    };
    for way in ways(boss).await {
        let told = way.ask("resources/read", &json!({"uri": "open://nothing"})).await.to_string();
        assert!(told.contains("open has none"), "{}: {told}", way.name());
        assert!(is_fine(&way.ask("resources/read", &json!({"uri": "open://there"})).await), "{}", way.name());
    }
    // The first one is denied; the second one matches a template, the others match nothing.
    let uris = ["open://secret", "open://nothing", "else://nothing", "else://secret"];
    for way in ways(guest).await {
        assert!(is_fine(&way.ask("resources/read", &json!({"uri": "open://there"})).await), "{}", way.name());
        let mut asked = vec!["resources/read", "resources/subscribe", "resources/unsubscribe"];
        if !matches!(way, Way::Session(_)) {
            asked.truncate(1);
        }
        for method in asked {
            let denied = without_uri(&way, method, &json!({"uri": uris[0]}), uris[0]).await;
            assert!(denied.1.contains("\"error\""), "{}: {denied:?}", way.name());
            for uri in &uris[1..] {
                let unknown = without_uri(&way, method, &json!({"uri": uri}), uri).await;
                assert_eq!(unknown, denied, "{} {method} {uri}", way.name());
            }
        }
        if let Way::Session(_) = way {
            let completed = |uri: &str| json!({"ref": {"type": "ref/resource", "uri": uri}, "argument": {"name": "id", "value": ""}});
            let denied = without_uri(&way, "completion/complete", &completed(uris[0]), uris[0]).await;
            for uri in &uris[1..] {
                let unknown = without_uri(&way, "completion/complete", &completed(uri), uri).await;
                assert_eq!(unknown, denied, "{uri}");
            }
        }
    }
    let read = puppet.received();
    assert!(
        !read.iter().any(|one| one.body["params"]["uri"].as_str().is_some_and(|uri| uri.contains("secret")))
    );
}

#[tokio::test]
async fn a_denied_server_neither_shows_nor_hears_anything() {
    for rules in [
        "access: [{ deny: '*', servers: shut, unless: { key: boss } }]\n",
        "access: [{ allow: '*', who: { key: boss } }, { allow: 'open*', who: { key: guest } }]\n",
    ] {
        let (open, shut) = (server("open").await, server("shut").await);
        let (_gateway, _state, [boss, guest]) = gateway(&[("open", &open), ("shut", &shut)], rules).await;
        let speak = async |who: Http, tool: &str| {
            let capabilities = json!({"roots": {"listChanged": true}, "sampling": {}});
            let session = Legacy::open_at(who, "/mcp", LEGACY, &capabilities).await;
            assert!(is_fine(&session.call(tool, &json!({})).await), "{tool}");
            let set = session.ask("logging/setLevel", &json!({"level": "info"})).await;
            assert!(is_fine(&set), "{set}");
            session.notify("notifications/roots/list_changed", &json!({})).await;
            session.hello["result"].to_string()
        };
        let hello = speak(guest, "open__ok").await;
        open.was_sent("notifications/roots/list_changed", 1).await;
        let discovered = Modern::new(guest).ask("server/discover", &json!({})).await["result"].to_string();
        for told in [hello, discovered] {
            assert!(told.contains("This is open.") && told.contains("\"logging\""), "{told}");
            assert!(!told.contains("shut"), "{told}");
        }
        let told = speak(boss, "shut__ok").await;
        assert!(told.contains("This is shut.") && told.contains("\"shut\":{}"), "{told}");
        shut.was_sent("notifications/roots/list_changed", 1).await;
        // All client requests that the server received were the boss's.
        for (method, times) in
            [("notifications/roots/list_changed", 1), ("logging/setLevel", 1), ("tools/call", 1)]
        {
            assert_eq!(shut.count(method), times, "{rules}: {method}");
        }
        let is_client = |one: &Received| one.body["params"]["clientInfo"]["name"] == "test";
        let introduced =
            shut.received().iter().filter(|one| one.method() == "initialize" && is_client(one)).count();
        assert_eq!(introduced, 1, "{rules}");
    }
}
