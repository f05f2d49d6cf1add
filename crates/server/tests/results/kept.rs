//! Results from a cache: for the same caller and the same call alone, and never in place of a decision.

use std::time::Duration;

use serde_json::{Value, json};

use crate::library::*;
use crate::support::*;

const CACHE: &str = "up__look: { cache: { for: 5m } }";

/// The number of the server's calls when it gave this answer.
fn number(answer: &Value) -> &str {
    let told = answer["result"]["content"][0]["text"].as_str();
    told.unwrap_or_else(|| panic!("{answer}")).lines().next().unwrap_or_default()
}

#[tokio::test]
async fn equal_calls_of_one_caller_have_one_result() {
    let puppet = library().await;
    let gateway = Gateway::start(&guarded(&puppet, "", &overrides(CACHE))).await;
    let (ann, bob) = (by(&gateway, "ann"), by(&gateway, "bob"));
    let session = Legacy::open(ann).await;
    let first = session.call("up__look", &json!({ "a": 1, "b": "é" })).await;
    let spelt_differently = r#"{"jsonrpc":"2.0","id":"again","method":"tools/call","params":{"name":"up__look",
        "arguments":{ "b" : "\u00e9", "a":1 },"_meta":{"progressToken":7}}}"#;
    let again = session.post(&[], spelt_differently).await.response().await;
    assert_eq!(again["result"], first["result"]);
    let other = Legacy::open(ann).await.call("up__look", &json!({ "a": 1, "b": "é" })).await;
    assert_eq!(other["result"], first["result"], "over another connection");
    assert_eq!(puppet.count("tools/call"), 1);
    // The same call by another caller.
    let theirs = Legacy::open(bob).await.call("up__look", &json!({ "a": 1, "b": "é" })).await;
    assert_ne!(number(&theirs), number(&first));
    // Other calls of the same caller.
    for params in [
        json!({ "name": "up__look", "arguments": { "a": 2, "b": "é" } }),
        json!({ "name": "up__look", "arguments": { "a": 1.0, "b": "é" } }),
        json!({ "name": "up__look", "arguments": { "a": 1, "b": "é" }, "_meta": { "example.com/locale": "de" } }),
        json!({ "name": "up__look" }),
    ] {
        let answer = session.ask("tools/call", &params).await;
        assert_ne!(number(&answer), number(&first), "{params}");
    }
    assert_eq!(puppet.count("tools/call"), 6);
}

#[tokio::test]
async fn every_version_is_answered_in_its_own_form() {
    let puppet = library().await;
    let gateway = Gateway::start(&open(&puppet, "", &overrides(CACHE))).await;
    let modern = Modern::new(gateway.http());
    let first = modern.call("up__look", &json!({})).await;
    let again = modern.call("up__look", &json!({})).await;
    assert_eq!(again, first);
    assert_eq!(first["result"]["resultType"], "complete", "{first}");
    assert_eq!(puppet.count("tools/call"), 1);
}

#[tokio::test]
async fn headers_that_do_not_match_are_refused_whatever_is_kept() {
    let puppet = library().await;
    let gateway = Gateway::start(&open(&puppet, "", &overrides("up__headed: { cache: { for: 5m } }"))).await;
    let call = async |region: &str| {
        let headers = [
            ("MCP-Protocol-Version", MODERN),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", "up__headed"),
            ("Mcp-Param-Region", region),
        ];
        let params =
            json!({ "name": "up__headed", "arguments": { "region": "eu" }, "_meta": meta(&json!({})) });
        let body = request("x", "tools/call", &params).to_string();
        gateway.http().post("/mcp", &headers, &body).await.response().await
    };
    let first = call("eu").await;
    assert_eq!(number(&call("eu").await), number(&first));
    assert_eq!(puppet.count("tools/call"), 1);
    assert!(error_message(&call("us").await).contains("mcp-param-region"), "{}", call("us").await);
}

#[tokio::test]
async fn failures_and_tools_that_the_server_does_not_mark_are_not_kept() {
    let puppet = library().await;
    let changes = "up__miss: { cache: { for: 5m } }, up__change: { cache: { for: 5m }, annotations: { readOnlyHint: true } }";
    let gateway = Gateway::start(&open(&puppet, "", &overrides(changes))).await;
    let session = Legacy::open(gateway.http()).await;
    for tool in ["up__miss", "up__change"] {
        let first = session.call(tool, &json!({})).await;
        let second = session.call(tool, &json!({})).await;
        assert_ne!(number(&first), number(&second), "{tool}");
    }
    gateway.log().has("does not mark the tool as read-only and idempotent").await;
}

#[tokio::test]
async fn it_ends_with_its_time_and_with_the_server_that_gave_it() {
    let puppet = library().await;
    let config = |server: &str| open(&puppet, server, &overrides("up__look: { cache: { for: 2s } }"));
    let gateway = Gateway::start(&config("")).await;
    let client = Modern::new(gateway.http());
    let first = client.call("up__look", &json!({})).await;
    assert_eq!(number(&client.call("up__look", &json!({})).await), number(&first));
    tokio::time::sleep(Duration::from_millis(2100)).await;
    let second = client.call("up__look", &json!({})).await;
    assert_ne!(number(&second), number(&first));
    gateway.write(&config("headers: { X-Other: y }").replace("for: 2s", "for: 1h"));
    let changed = async {
        while puppet.received().iter().all(|one| one.header("x-other").is_none()) {
            client.call("up__look", &json!({})).await;
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    soon("the new configuration", changed).await;
    let third = client.call("up__look", &json!({})).await;
    assert_ne!(number(&third), number(&second));
    assert_eq!(number(&client.call("up__look", &json!({})).await), number(&third));
}

#[tokio::test]
async fn a_denied_call_is_never_answered() {
    let puppet = library().await;
    let plain = guarded(&puppet, "", &overrides(CACHE));
    let gateway = Gateway::start(&plain).await;
    let client = Modern::new(by(&gateway, "ann"));
    for arguments in [json!({ "path": "/a" }), json!({ "path": "/b" })] {
        client.call("up__look", &arguments).await;
    }
    gateway.write(&format!("{plain}access: [{{ deny: up__look, when: {{ arguments: {{ path: /a }} }} }}]\n"));
    let denied = async {
        while client.call("up__look", &json!({ "path": "/a" })).await.get("error").is_none() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    soon("the new configuration", denied).await;
    assert_eq!(puppet.count("tools/call"), 2);
    assert_eq!(
        number(&client.call("up__look", &json!({ "path": "/b" })).await),
        "call 1",
        "allowed calls still are"
    );
}

#[tokio::test]
async fn rate_limits_count_every_call_and_the_record_names_its_source() {
    let puppet = library().await;
    let rest = format!(
        "{}\nrateLimits: [{{ rate: 3/1h, per: [principal, tool] }}]\naudit: true\nstateFolder: state",
        overrides(CACHE)
    );
    let gateway = Gateway::start(&open(&puppet, "", &rest)).await;
    let client = Modern::new(gateway.http());
    let mut told = Vec::new();
    for _ in 0..4 {
        told.push(client.call("up__look", &json!({})).await.get("result").is_some());
    }
    assert_eq!(told, [true, true, true, false]);
    assert_eq!(puppet.count("tools/call"), 1);
    let state = gateway.folder().join("state");
    let lines = soon("the record", async {
        loop {
            let state = state.to_str().expect("UTF-8");
            let ended =
                run_to_end("audit", &Start { args: &["--json", "--state", state], ..Start::default() }).await;
            if ended.out.lines().count() == 4 {
                return ended.out;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    });
    let lines = lines.await;
    let entries: Vec<Value> =
        lines.lines().rev().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let seen: Vec<_> = entries
        .iter()
        .map(|one| json!([one["outcome"], one["cached"], one["tries"], one["server"]]))
        .collect();
    let cached = json!(["ok", true, 0, "up"]);
    assert_eq!(seen[..3], [json!(["ok", false, 1, "up"]), cached.clone(), cached]);
    assert_eq!((&seen[3][0], &seen[3][1]), (&json!("denied"), &json!(false)));
}

#[tokio::test]
async fn callers_with_other_passed_headers_are_others() {
    let puppet = library().await;
    let gateway = Gateway::start(&open(&puppet, "passHeaders: [x-tenant]", &overrides(CACHE))).await;
    let of = |tenant: &str| Modern::new(gateway.http().carrying("X-Tenant", tenant));
    let first = of("a").call("up__look", &json!({})).await;
    assert_eq!(number(&of("a").call("up__look", &json!({})).await), number(&first));
    assert_ne!(number(&of("b").call("up__look", &json!({})).await), number(&first));
}

#[tokio::test]
async fn sessions_with_connections_of_their_own_share_nothing() {
    let puppet = library().await;
    let gateway = Gateway::start(&open(&puppet, "affinity: session", &overrides(CACHE))).await;
    let (one, two) = (Legacy::open(gateway.http()).await, Legacy::open(gateway.http()).await);
    let first = one.call("up__look", &json!({})).await;
    assert_eq!(number(&one.call("up__look", &json!({})).await), number(&first));
    assert_ne!(number(&two.call("up__look", &json!({})).await), number(&first));
}

/// A server with one resource, whose URI other servers have as well, and a tool that links to it.
async fn linking() -> Puppet {
    Puppet::start(|number, request| {
        let result = match request.method() {
            "initialize" => json!({
                "protocolVersion": LEGACY, "capabilities": { "tools": {}, "resources": {} },
                "serverInfo": { "name": "linking", "version": "1" },
            }),
            "tools/list" => json!({ "tools": [{
                "name": "look", "inputSchema": { "type": "object" },
                "annotations": { "readOnlyHint": true, "idempotentHint": true },
            }] }),
            "resources/list" => json!({ "resources": [{ "uri": "memo:x", "name": "x" }] }),
            "resources/templates/list" => json!({ "resourceTemplates": [] }),
            "tools/call" => json!({ "content": [
                { "type": "text", "text": format!("call {number}") },
                { "type": "resource_link", "uri": "memo:x", "name": "x" },
            ] }),
            _ => return Said::Proper,
        };
        Said::Result(result, String::new())
    })
    .await
}

#[tokio::test]
async fn a_kept_result_has_the_uris_that_clients_know() {
    let (docs, shop) = (linking().await, linking().await);
    let config = format!(
        "mcpServers: {{ docs: {}, shop: {} }}\n{}\n",
        docs.config(),
        shop.config(),
        overrides("shop__look: { cache: { for: 5m } }")
    );
    let gateway = Gateway::start(&config).await;
    for client in [Modern::new(gateway.http()), Modern::new(gateway.http())] {
        let answer = client.call("shop__look", &json!({})).await;
        assert_eq!((number(&answer), &*link(&answer)), ("call 0", "memo:shop+x"));
    }
    assert_eq!(shop.count("tools/call"), 1);
}

#[tokio::test]
async fn clients_that_can_be_asked_share_nothing() {
    let puppet = library().await;
    let gateway = Gateway::start(&open(&puppet, "", &overrides(CACHE))).await;
    let opened =
        async || Legacy::open_at(gateway.http(), "/mcp", "2025-11-25", &json!({ "roots": {} })).await;
    let (one, two) = (opened().await, opened().await);
    let first = one.call("up__look", &json!({})).await;
    assert_eq!(number(&one.call("up__look", &json!({})).await), number(&first));
    assert_ne!(number(&two.call("up__look", &json!({})).await), number(&first), "its roots may differ");
}

#[tokio::test]
async fn a_kept_result_is_shortened_like_a_new_one() {
    let puppet = library().await;
    let gateway = Gateway::start(&open(&puppet, "maxResult: 8KiB", &overrides(CACHE))).await;
    let client = Modern::new(gateway.http());
    let first = client.call("up__look", &json!({ "lines": 900 })).await;
    let second = client.call("up__look", &json!({ "lines": 900 })).await;
    assert_eq!(number(&first), number(&second));
    assert_eq!(puppet.count("tools/call"), 1);
    assert_ne!(link(&first), link(&second), "each has a rest of its own");
    let rest = client.ask("resources/read", &uri(&link(&second))).await;
    assert!(rest["result"]["contents"][0]["text"].as_str().is_some_and(|text| text.contains("line 899")));
}

#[tokio::test]
async fn a_result_after_a_question_is_not_kept() {
    let puppet = library().await;
    let gateway = Gateway::start(&open(&puppet, "", &overrides("up__ask: { cache: { for: 5m } }"))).await;
    let session = Legacy::open(gateway.http()).await;
    let first = session.call("up__ask", &json!({})).await;
    assert_ne!(number(&session.call("up__ask", &json!({})).await), number(&first));
}

#[tokio::test]
async fn list_says_which_results_cannot_be_kept() {
    let puppet = library().await;
    let changes = "up__look: { cache: { for: 5m } }, up__change: { cache: { for: 5m } }";
    let config = open(&puppet, "", &overrides(changes));
    let start = Start { config: &config, args: &["up", "tools"], ..Start::default() };
    let ended = run_to_end("list", &start).await;
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    let told = "tool \"change\" in profile \"default\": `cache` has no effect, because the server does not mark the tool";
    assert!(ended.err.contains(told) && !ended.err.contains("\"look\""), "{}", ended.err);
}
