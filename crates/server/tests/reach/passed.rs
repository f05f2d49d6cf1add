//! Headers of clients' requests that are passed on to a server: only those on the list, renamed, and never the gateway's own
//! credential; and what is separate for callers with different values.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::*;

/// A server whose tool tells the tenant of the request's headers, and whose list names the tenant.
async fn tenants() -> Puppet {
    Puppet::start(|number, request| {
        let tenant = request.header("x-team").unwrap_or("nobody").to_owned();
        match request.method() {
            "initialize" => {
                let info = json!({"name": "tenants", "version": "1"});
                let hello =
                    json!({"protocolVersion": LEGACY, "capabilities": {"tools": {}}, "serverInfo": info});
                Said::Result(hello, format!("Mcp-Session-Id: {tenant}-{number}\r\n"))
            }
            "tools/list" => {
                let tool = json!({"name": format!("of_{tenant}"), "inputSchema": {"type": "object"}});
                Said::Result(
                    json!({"tools": [tool, {"name": "who", "inputSchema": {"type": "object"}}]}),
                    String::new(),
                )
            }
            "tools/call" => {
                Said::Result(json!({"content": [{"type": "text", "text": tenant}]}), String::new())
            }
            _ => Said::Proper,
        }
    })
    .await
}

const RULES: &str = "passHeaders: [{ from: x-tenant, to: x-team }, x-plain]";

fn config(puppet: &Puppet, more: &str) -> String {
    format!("mcpServers: {{ up: {{ url: {}, {RULES} }} }}\n{more}", quoted(&puppet.url()))
}

/// A client with these headers on each request.
fn with(gateway: &Gateway, headers: &[(&str, &str)]) -> Http {
    headers.iter().fold(gateway.http(), |http, (name, value)| http.carrying(name, value))
}

fn said(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| error_message(answer))
}

#[tokio::test]
async fn callers_with_different_values_share_nothing() {
    let puppet = tenants().await;
    let gateway = Gateway::start(&config(&puppet, "")).await;
    for tenant in ["ann", "bob"] {
        let http = with(&gateway, &[("X-Tenant", tenant), ("X-Other", "not-on-the-list")]);
        for _ in 0..2 {
            let session = Legacy::open(http).await;
            assert_eq!(said(&session.call("up__who", &json!({})).await), tenant);
            let own = format!("up__of_{tenant}");
            soon("the caller's own list", async {
                while !tool_names(&session.ask("tools/list", &json!({})).await).contains(&own) {}
            })
            .await;
            let stateless = Modern::new(http);
            assert_eq!(said(&stateless.call("up__who", &json!({})).await), tenant);
        }
    }
    let bare = Legacy::open(gateway.http()).await;
    assert_eq!(said(&bare.call("up__who", &json!({})).await), "nobody");
    // Each session at the server belongs to one tenant, from its first request to its last.
    let mut tenants = BTreeSet::new();
    for one in puppet.received() {
        assert!(one.header("x-other").is_none() && one.header("x-tenant").is_none(), "{:?}", one.headers);
        if let Some((owner, _)) = one.header("mcp-session-id").and_then(|session| session.split_once('-')) {
            assert_eq!(owner, one.header("x-team").unwrap_or("nobody"), "{:?}", one.headers);
            tenants.insert(owner.to_owned());
        }
    }
    assert_eq!(tenants, ["ann", "bob", "nobody"].map(str::to_owned).into());
}

#[tokio::test]
async fn a_session_has_the_headers_of_the_request_that_opened_it() {
    let puppet = tenants().await;
    let gateway = Gateway::start(&config(&puppet, "")).await;
    let own = with(&gateway, &[("X-Tenant", "ann")]);
    let mut session = Legacy::open(own).await;
    assert_eq!(said(&session.call("up__who", &json!({})).await), "ann");
    for headers in [&[("X-Tenant", "bob")][..], &[]] {
        session.http = with(&gateway, headers);
        let answer = session.call("up__who", &json!({})).await;
        assert!(error_message(&answer).contains("unknown or has ended"), "{answer}");
    }
    session.http = own;
    assert_eq!(said(&session.call("up__who", &json!({})).await), "ann");
    assert!(puppet.received().iter().all(|one| one.header("x-team") != Some("bob")));
}

#[tokio::test]
async fn the_gateways_own_credential_stays_here() {
    let puppet = tenants().await;
    let gateway = Gateway::start(&config(&puppet, "auth: { bearer: to-ken-1111-2222 }\n")).await;
    let http = gateway.http().showing("Bearer to-ken-1111-2222");
    let http = http.carrying("X-Plain", "Bearer to-ken-1111-2222").carrying("X-Tenant", "ann");
    let session = Legacy::open(http).await;
    assert_eq!(said(&session.call("up__who", &json!({})).await), "ann");
    for one in puppet.received() {
        let all = format!("{:?} {}", one.headers, one.text);
        assert!(!all.contains("to-ken-1111-2222"), "{all}");
    }
    assert!(!gateway.log().text().contains("to-ken-1111-2222"));
}

#[tokio::test]
async fn without_a_list_nothing_is_passed_on() {
    let puppet = tenants().await;
    let gateway = Gateway::start(&format!("mcpServers: {{ up: {} }}\n", puppet.config())).await;
    let names = [
        "X-Tenant",
        "X-Team",
        "X-Plain",
        "Cookie",
        "X-Api-Key",
        "Forwarded",
        "X-Forwarded-For",
        "Traceparent",
    ];
    let headers: Vec<(&str, &str)> = names.iter().map(|name| (*name, "secret-value")).collect();
    let session = Legacy::open(with(&gateway, &headers)).await;
    assert_eq!(said(&session.call("up__who", &json!({})).await), "nobody");
    for one in puppet.received() {
        assert!(!format!("{:?}", one.headers).contains("secret-value"), "{:?}", one.headers);
    }
}
