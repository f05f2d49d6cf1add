//! The record: each call once, with its caller, its target and its outcome; and no secret anywhere.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::place::*;
use crate::rules::RULES;
use crate::support::*;

/// Stops the gateway and reads its record, oldest first; also returns its log and output.
pub(crate) async fn recorded(place: Place) -> (State, Vec<Value>, String) {
    let Place { gateway, state, .. } = place;
    let ended = gateway.stop().await;
    assert_eq!(ended.code, Some(0));
    let out = state.run(&["audit", "--json", "--limit", "1000"]).await;
    let mut all: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    all.reverse();
    all.sort_by_key(|one| one["id"].as_u64());
    (state, all, ended.err + &ended.out)
}

#[tokio::test]
async fn each_call_is_one_entry() {
    let place = Place::start(&format!("{RULES}audit: true\n")).await;
    let key = place.state.new_key(&["guest"]).await;
    let principal = format!("key:{}", &key[..12]);
    let mut expected = Vec::new();
    for way in Way::all(place.by(&key)).await {
        assert!(!way.tools().await.is_empty());
        for (tool, arguments, outcome, server) in [
            ("good__echo", json!({"path": "/tmp/x"}), "ok", json!("good")),
            ("good__test_error_handling", json!({}), "error", json!("good")),
            ("good__test_simple_text", json!({}), "denied", json!("good")),
            ("good__nothing", json!({}), "unknown", Value::Null),
            ("good__echo", json!({"path": "/etc/x"}), "denied", json!("good")),
        ] {
            let answer = way.call(tool, &arguments).await;
            assert_eq!(is_fine(&answer), outcome == "ok", "{}: {answer}", way.name());
            expected.push((way.name(), tool, outcome, server));
        }
    }
    let (_state, entries, _) = recorded(place).await;
    let calls: Vec<&Value> = entries.iter().filter(|one| one["method"] == "tools/call").collect();
    assert_eq!(calls.len(), expected.len(), "{calls:#?}");
    for (entry, (way, tool, outcome, server)) in calls.iter().zip(&expected) {
        let seen =
            (&entry["principal"], &entry["profile"], &entry["tool"], &entry["outcome"], &entry["server"]);
        let wanted = (&json!(principal), &json!("default"), &json!(tool), &json!(outcome), server);
        assert_eq!(seen, wanted, "{way}: {entry}");
        assert!(entry["requestBytes"].as_u64().is_some_and(|bytes| bytes > 50), "{way}: {entry}");
        assert!(entry["durationUs"].is_u64() && entry.get("arguments").is_none_or(Value::is_null), "{entry}");
        match *outcome {
            "ok" => assert!(entry["code"].is_null() && entry["responseBytes"].as_u64() > Some(20), "{entry}"),
            // Some dialects report failures in a result.
            "denied" | "unknown" if !way.starts_with('/') => {
                assert_eq!(entry["code"], -32602, "{way}: {entry}");
                assert!(entry["responseBytes"].as_u64() > Some(20), "{way}: {entry}");
            }
            _ => {}
        }
    }
}

#[tokio::test]
async fn what_came_too_soon_is_denied_too() {
    let place = Place::start("audit: true\nrateLimits: [{ rate: 1/1h, per: [principal, tool] }]\n").await;
    let ways = Way::all(place.by(TOKEN)).await;
    for way in &ways {
        way.call("good__echo", &json!({})).await;
    }
    let (_state, entries, _) = recorded(place).await;
    let outcomes: Vec<_> =
        entries.iter().map(|one| (&one["principal"], &one["tool"], &one["outcome"])).collect();
    let one = |outcome: &'static str| (json!("bearer"), json!("good__echo"), json!(outcome));
    let wanted = [one("ok"), one("denied"), one("denied"), one("denied"), one("denied")];
    let wanted: Vec<_> = wanted.iter().map(|(who, tool, outcome)| (who, tool, outcome)).collect();
    assert_eq!(outcomes, wanted);
}

#[tokio::test]
async fn other_requests_are_recorded_by_what_they_name() {
    let place = Place::start("audit: true\n").await;
    let way = Way::Stateless(Modern::new(place.gateway.http().showing(&basic("ann", "battery staple"))));
    way.ask("resources/read", &json!({"uri": "test://static-text"})).await;
    way.ask("prompts/get", &json!({"name": "good__test_simple_prompt"})).await;
    way.ask("resources/read", &json!({"uri": "nothing://at-all"})).await;
    let (_state, entries, _) = recorded(place).await;
    let seen: Vec<Value> = entries
        .iter()
        .map(|one| json!([one["principal"], one["method"], one["tool"], one["outcome"]]))
        .collect();
    let wanted = [
        json!(["user:ann", "resources/read", "test://static-text", "ok"]),
        json!(["user:ann", "prompts/get", "good__test_simple_prompt", "ok"]),
        json!(["user:ann", "resources/read", "nothing://at-all", "error"]),
    ];
    assert_eq!(seen, wanted);
}

#[tokio::test]
async fn what_is_denied_in_a_dialect_is_recorded_as_elsewhere() {
    let place = Place::start(&format!("{RULES}audit: true\n")).await;
    let key = place.state.new_key(&["guest"]).await;
    let asked = [
        ("prompts/get", "name", "good__test_prompt_with_image", "denied"),
        ("prompts/get", "name", "good__nothing", "unknown"),
        ("prompts/get", "name", "good__test_simple_prompt", "ok"),
        ("resources/read", "uri", "test://static-binary", "denied"),
        ("resources/read", "uri", "nothing://at-all", "unknown"),
        ("resources/read", "uri", "test://static-text", "ok"),
    ];
    let ways = [Way::Stateless(Modern::new(place.by(&key))), Way::Dialect(place.by(&key), "/gateway")];
    for way in &ways {
        for (method, member, name, outcome) in asked {
            let answer = way.ask(method, &json!({member: name})).await;
            assert_eq!(is_fine(&answer), outcome == "ok", "{}: {answer}", way.name());
        }
    }
    let (_state, entries, _) = recorded(place).await;
    let seen: Vec<_> = entries.iter().map(|one| [&one["method"], &one["tool"], &one["outcome"]]).collect();
    let wanted = asked.map(|(method, _, name, outcome)| [json!(method), json!(name), json!(outcome)]);
    let wanted: Vec<_> = wanted.iter().chain(&wanted).map(|one| [&one[0], &one[1], &one[2]]).collect();
    assert_eq!(seen, wanted);
    assert!(entries.iter().all(|one| (one["outcome"] == "ok") == one["code"].is_null()), "{entries:#?}");
}

/// A server with tools that fail differently: one dies, and one answers with an error.
async fn failing() -> Puppet {
    Puppet::start(|_, request| match (request.method(), request.body["params"]["name"].as_str()) {
        ("tools/list", _) => {
            let tool = |name| json!({"name": name, "inputSchema": {"type": "object"}});
            Said::Result(json!({"tools": [tool("die"), tool("err")]}), String::new())
        }
        ("tools/call", Some("die")) => Said::Raw(Vec::new()),
        ("tools/call", _) => {
            let error = json!({"code": -32050, "message": "no"});
            let body = json!({"jsonrpc": "2.0", "id": request.body["id"], "error": error});
            Said::Status(200, "application/json", body.to_string())
        }
        _ => Said::Proper,
    })
    .await
}

#[tokio::test]
async fn what_servers_do_wrong_is_recorded_under_the_code_that_the_client_got() {
    let failing = failing().await;
    let others = format!("  gone: {{ url: 'http://127.0.0.1:1/mcp' }}\n  bad: {}", failing.config());
    let place = Place::start_beside(State::new(), &others, "audit: true\n").await;
    let mut wanted = Vec::new();
    for way in Way::all(place.by(TOKEN)).await {
        for (tool, outcome, server) in [
            ("gone__nope", "error", json!("gone")),
            ("bad__die", "error", json!("bad")),
            ("bad__err", "error", json!("bad")),
            ("good__nothing", "unknown", Value::Null),
        ] {
            let answer = way.call(tool, &json!({})).await;
            assert!(!is_fine(&answer), "{}: {answer}", way.name());
            let code = answer["error"]["code"].clone();
            wanted.push(json!([way.name(), tool, outcome, server, code]));
        }
    }
    let (_state, entries, _) = recorded(place).await;
    let calls = entries.iter().filter(|one| one["method"] == "tools/call");
    let seen: Vec<Value> = calls
        .zip(&wanted)
        .map(|(one, wanted)| json!([wanted[0], one["tool"], one["outcome"], one["server"], one["code"]]))
        .collect();
    assert_eq!(seen, wanted);
    assert!(wanted.iter().any(|one| one[0] == "/gateway" && one[1] == "bad__err" && one[4] == -32002));
}

#[tokio::test]
async fn what_a_dialect_refuses_for_coming_too_soon_is_recorded_under_its_code() {
    let place = Place::start("audit: true\nrateLimits: [{ rate: 1/1h, per: [principal, tool] }]\n").await;
    let way = Way::Dialect(place.by(TOKEN), "/gateway");
    way.call("good__echo", &json!({})).await;
    let code = way.call("good__echo", &json!({})).await["error"]["code"].clone();
    assert!(code.is_i64(), "{code}");
    let (_state, entries, _) = recorded(place).await;
    assert_eq!(entries[1]["outcome"], "denied");
    assert_eq!(entries[1]["code"], code);
}

/// The files of a folder and its subfolders.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("it can be listed").path();
        if path.is_dir() {
            all.extend(files(&path));
        } else {
            all.push((path.display().to_string(), fs::read(&path).expect("a file")));
        }
    }
    all
}

#[tokio::test]
async fn no_secret_is_in_the_record_or_the_log() {
    let place = Place::start("audit: { arguments: true, redact: [password, token] }\n").await;
    let key = place.state.new_key(&["ann"]).await;
    let http = place.gateway.http();
    let (user, wrong) = (basic("ann", "battery staple"), basic("ann", "battery-5555"));
    let shown =
        [bearer(TOKEN), bearer(&key), user, wrong, bearer("to-ken-3333-4444"), format!("Bearer {key}x")];
    let arguments =
        json!({"password": "hunter-6666", "in": {"accessToken": "hunter-7777"}, "plain": "as it is 8888"});
    let mut secrets = vec!["battery staple", "battery-5555", "hunter-6666", "hunter-7777", "site-9999"];
    for value in &shown {
        let mut client = Modern::new(http.showing(value));
        client
            .begin("tools/call", &json!({"name": "good__echo", "arguments": arguments}))
            .await
            .bytes()
            .await;
        client.path = "/kulturarv?token=site-9999".to_owned();
        client
            .begin("tools/call", &json!({"name": "good__echo", "arguments": arguments}))
            .await
            .bytes()
            .await;
        for path in DIALECTS {
            let call = json!({"name": "good__echo", "arguments": arguments});
            said_at(http.showing(value), path, "tools/call", &call).await.bytes().await;
        }
        let carried = [
            ("X-WordPress-URL", "http://127.0.0.1:1"),
            ("X-WordPress-Username", "ann"),
            ("X-WordPress-Password", "site-9999"),
        ];
        http.showing(value).post("/gateway", &carried, "{}").await.bytes().await;
        secrets.push(value.split(' ').nth(1).expect("a scheme and the rest"));
    }
    secrets.push(&key[12..]);
    let (state, entries, said) = recorded(place).await;
    let kept: Vec<&str> = entries.iter().filter_map(|one| one["arguments"].as_str()).collect();
    let kept = if kept.is_empty() {
        entries.iter().map(|one| one["arguments"].to_string()).collect()
    } else {
        kept.join("\n")
    };
    assert!(kept.contains("as it is 8888") && kept.contains("[redacted]"), "{kept}");
    assert!(said.contains("rejected a request"), "{said}");
    let mut texts = vec![("log".to_owned(), said.into_bytes())];
    texts.extend(files(state.path()));
    assert!(texts.iter().any(|(name, _)| name.ends_with("audit.db")));
    for (name, bytes) in &texts {
        for secret in &secrets {
            let is_there = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!is_there, "{secret} is in {name}");
        }
    }
}
