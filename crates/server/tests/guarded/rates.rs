//! Rate limits: exactly as many requests as the limits allow, in sessions, without sessions and in dialects.

use std::collections::HashMap;

use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::place::*;
use crate::record::recorded;
use crate::support::*;

const CALLERS: usize = 64;

fn hello() -> Value {
    json!({"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}})
}

fn number(reply: &Reply, name: &str) -> u64 {
    let text = reply.header(name);
    text.parse().unwrap_or_else(|e| panic!("{e}: {name}: {text:?}, status {}", reply.status))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_at_once_never_get_more_than_the_burst_through() {
    const BURST: usize = 10;
    let place = Place::start("rateLimits: [{ rate: 10/1h }]\n").await;
    let keys = [place.state.new_key(&["one"]).await, place.state.new_key(&["two"]).await];
    let mut sessions = HashMap::new();
    for key in &keys {
        let id = Legacy::open(place.by(key)).await.id;
        sessions.insert(key.clone(), id);
    }
    let mut callers = JoinSet::new();
    for at in 0..CALLERS * 2 {
        let (key, http) = (keys[at % 2].clone(), place.by(&keys[at % 2]));
        let session = sessions[&key].clone();
        callers.spawn(async move {
            let call = json!({"name": "good__echo", "arguments": {"at": at}});
            let mut reply = match at / 2 % 5 {
                0 => {
                    let headers = [("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", LEGACY)];
                    http.post("/mcp", &headers, &request(at, "tools/call", &call).to_string()).await
                }
                1 => Modern::new(http).begin("tools/call", &call).await,
                way => said_at(http, DIALECTS[way - 2], "tools/call", &call).await,
            };
            let answer = reply.response().await;
            // Two of the dialects report the remaining number only when it is zero.
            if reply.status == 429 || at / 2 % 5 < 3 {
                assert_eq!(number(&reply, "x-ratelimit-limit"), BURST as u64);
                assert!(number(&reply, "x-ratelimit-reset") > 0);
            }
            if reply.status == 429 {
                assert!((1..=360).contains(&number(&reply, "retry-after")), "{:?}", reply.headers);
                assert!(number(&reply, "x-ratelimit-remaining") == 0 && !is_fine(&answer), "{answer}");
            } else {
                assert!(reply.status == 200 && is_fine(&answer), "{answer}");
            }
            (key, reply.status == 200)
        });
    }
    let all = callers.join_all().await;
    for key in &keys {
        let through = all.iter().filter(|(who, fine)| who == key && *fine).count();
        assert_eq!(through, BURST, "each caller has a count of their own, and it is exact");
    }
    assert_eq!(place.sent("tools/call").len(), BURST * 2, "what is refused goes nowhere");
}

#[tokio::test]
async fn a_refusal_is_in_the_words_of_the_endpoint() {
    let place = Place::start("rateLimits: [{ rate: 1/1h }]\n").await;
    let http = place.by(TOKEN);
    for (at, way) in Way::all(http).await.into_iter().enumerate() {
        let call = json!({"name": "good__echo", "arguments": {}});
        let mut reply = way.begin("tools/call", &call).await;
        let answer = reply.response().await;
        assert_eq!(reply.status, if at == 0 { 200 } else { 429 }, "{}: {answer}", way.name());
        if at == 0 {
            continue;
        }
        assert!(number(&reply, "retry-after") > 3000);
        assert_eq!((number(&reply, "x-ratelimit-limit"), number(&reply, "x-ratelimit-remaining")), (1, 0));
        if way.name() == "/kulturarv" {
            assert_eq!(answer["error"], json!({"code": -32002, "message": "Rate limit exceeded"}));
        }
        if way.name().starts_with("without") {
            assert_eq!(answer["id"], "m", "it says which request it refuses");
        }
    }
}

#[tokio::test]
async fn addresses_are_told_apart_where_a_proxy_is_trusted() {
    let calls = |http: Http, from: &'static str| async move {
        let forwarded = [("X-Forwarded-For", from)];
        let call = request(1, "tools/call", &json!({"name": "good__echo", "arguments": {}})).to_string();
        let mut through = 0;
        for _ in 0..4 {
            through += usize::from(http.post("/kulturarv", &forwarded, &call).await.status == 200);
        }
        through
    };
    for (trust, second) in [(true, 2), (false, 0)] {
        let limit = format!("rateLimits: [{{ rate: 2/1h, per: ip, trustForwardedFor: {trust} }}]\n");
        let place = Place::start(&limit).await;
        let key = place.state.new_key(&["ann"]).await;
        assert_eq!(calls(place.by(TOKEN), "192.0.2.9, 192.0.2.1").await, 2);
        assert_eq!(calls(place.by(&key), "192.0.2.1").await, 0, "whoever it is, it is one address");
        assert_eq!(calls(place.by(&key), "192.0.2.2").await, second);
    }
}

#[tokio::test]
async fn tools_have_counts_of_their_own() {
    let limits = "rateLimits: [{ rate: 2/1h, per: [principal, tool], tools: 'good__*' }, { rate: 1/1h, per: tool, tools: good__test_simple_text }]\n";
    let place = Place::start(limits).await;
    let key = place.state.new_key(&["ann"]).await;
    for (tool, who, through) in [
        ("good__echo", TOKEN, 2),
        ("good__echo", &*key, 2),
        ("good__test_described_tool", TOKEN, 2),
        ("good__test_simple_text", TOKEN, 1),
        ("good__test_simple_text", &*key, 0),
        // Another name of the same tool has the same count.
        ("test_simple_text", TOKEN, 0),
    ] {
        let client = Modern::new(place.by(who));
        let mut fine = 0;
        for _ in 0..4 {
            let call = json!({"name": tool, "arguments": {}});
            fine += usize::from(client.begin("tools/call", &call).await.status == 200);
        }
        assert_eq!(fine, through, "{tool}");
    }
}

#[tokio::test]
async fn answers_and_notices_are_not_limited() {
    let place = Place::start("rateLimits: [{ rate: 3/1h, methods: all }]\n").await;
    let key = place.state.new_key(&["ann"]).await;
    let session = Legacy::open(place.by(&key)).await;
    let notice = json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}).to_string();
    let answer = json!({"jsonrpc": "2.0", "id": "nobody-asked", "result": {}}).to_string();
    for _ in 0..8 {
        assert_eq!(session.post(&[], &notice).await.status, 202);
        assert_eq!(session.post(&[], &answer).await.status, 202);
        for path in DIALECTS {
            let status = session.http.post(path, &[], &notice).await.status;
            assert!((200..300).contains(&status), "{path}: {status}");
        }
    }
    for status in [200, 200, 429, 429] {
        assert_eq!(session.begin("tools/list", &json!({})).await.status, status);
    }
    assert_eq!(session.listen().await.status, 429, "a stream is asked for, too");
    assert_eq!(session.post(&[], &answer).await.status, 202);
}

#[tokio::test]
async fn an_array_is_let_through_as_a_whole_or_costs_nothing() {
    let place = Place::start("rateLimits: [{ rate: 3/1h }]\naudit: {}\n").await;
    let key = place.state.new_key(&["ann"]).await;
    let session = Legacy::open_at(place.by(&key), "/mcp", "2025-03-26", &json!({})).await;
    let of = |ids: std::ops::Range<u64>| {
        let echo = json!({"name": "good__echo", "arguments": {}});
        json!(ids.map(|id| request(id, "tools/call", &echo)).collect::<Vec<Value>>()).to_string()
    };
    let mut first = session.post(&[], &of(10..12)).await;
    assert_eq!((first.status, number(&first, "x-ratelimit-remaining")), (200, 1));
    let answers = [first.response().await, first.response().await];
    assert!(answers.iter().all(is_fine), "{answers:?}");
    let refused = session.post(&[], &of(20..22)).await;
    assert_eq!((refused.status, number(&refused, "x-ratelimit-remaining")), (429, 0));
    assert!(number(&refused, "retry-after") > 1000);
    let mut many = session.post(&[], &of(30..34)).await;
    let why = many.response().await;
    assert_eq!(many.status, 429);
    assert!(error_message(&why).contains("send fewer"), "{why}");
    let last = session.begin("tools/call", &json!({"name": "good__echo", "arguments": {}})).await;
    assert_eq!((last.status, number(&last, "x-ratelimit-remaining")), (200, 0), "refusals have cost nothing");
    assert_eq!(place.sent("tools/call").len(), 3, "nothing of what is refused goes anywhere");
}

#[tokio::test]
async fn a_request_counts_once_even_if_its_endpoint_speaks_two_ways() {
    let place = Place::start("rateLimits: [{ rate: 9/1h, methods: all }]\n").await;
    for (at, path) in ["/bb", "/kulturarv", "/mcp", "/bb"].iter().enumerate() {
        let reply = said_at(place.by(TOKEN), path, "initialize", &hello()).await;
        assert_eq!((reply.status, number(&reply, "x-ratelimit-remaining")), (200, 8 - at as u64), "{path}");
    }
}

#[tokio::test]
async fn clients_with_an_event_stream_are_limited_too() {
    let place = Place::start("rateLimits: [{ rate: 4/1h, methods: all }]\n").await;
    let http = place.by(TOKEN);
    let accept = [("Accept", "text/event-stream")];
    let mut stream = http.get("/sse", &accept).await;
    let messages = stream.data().await.expect("where messages go");
    let send = |id: u64, method: &'static str, params: Value| {
        let (messages, body) = (messages.clone(), request(id, method, &params).to_string());
        async move { http.post(&messages, &[], &body).await.status }
    };
    assert_eq!(send(1, "initialize", hello()).await, 202);
    assert_eq!(send(2, "tools/list", json!({})).await, 202);
    assert_eq!(send(3, "tools/list", json!({})).await, 202);
    for _ in 0..3 {
        assert_eq!(send(4, "tools/list", json!({})).await, 429);
    }
    let notice = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
    assert_eq!(http.post(&messages, &[], &notice).await.status, 202);
    assert_eq!(http.get("/sse", &accept).await.status, 429);
    for id in [1, 2, 3] {
        assert_eq!(stream.response().await["id"], id, "what was let through is answered");
    }
}

#[tokio::test]
async fn guesses_are_limited_by_address() {
    let hello = request(1, "tools/list", &json!({})).to_string();
    let ask = |http: Http, path: &'static str| {
        let hello = hello.clone();
        async move { http.post(path, &[], &hello).await }
    };
    for path in
        ["/mcp", "/mcp/other", "/mcp/nowhere", "/message", "/kulturarv", "/buddyboss", "/gateway", "/bb"]
    {
        let place = Place::start("rateLimits: [{ rate: 3/1h, per: ip, methods: all }]\n").await;
        for guess in ["one", "two", "three"] {
            assert_eq!(ask(place.by(guess), path).await.status, 401, "{path}");
        }
        for token in ["four", TOKEN] {
            let mut reply = ask(place.by(token), path).await;
            assert_eq!(reply.status, 429, "{path}: nobody looks at the credential");
            assert!(number(&reply, "retry-after") > 1000);
            if path == "/kulturarv" {
                let said = reply.response().await;
                assert_eq!(said["error"], json!({"code": -32002, "message": "Rate limit exceeded"}));
            }
        }
    }
    // For authenticated callers, only the requests count.
    let place = Place::start("rateLimits: [{ rate: 3/1h, per: ip, methods: all }]\n").await;
    let mut all = Vec::new();
    for _ in 0..4 {
        all.push(ask(place.by(TOKEN), "/kulturarv").await.status);
    }
    assert_eq!(all, [200, 200, 200, 429]);
}

#[tokio::test]
async fn who_guesses_locks_out_no_key_that_was_seen_at_the_same_address() {
    let list = request(1, "tools/list", &json!({})).to_string();
    let place = Place::start("rateLimits: [{ rate: 3/1h, per: [principal, ip], methods: all }]\n").await;
    let (ann, bob) = (place.state.new_key(&["ann"]).await, place.state.new_key(&["bob"]).await);
    let status = async |token: &str| place.by(token).post("/kulturarv", &[], &list).await.status;
    assert_eq!([status(&ann).await, status(TOKEN).await], [200; 2]);
    for guess in ["one", "two", "three"] {
        assert_eq!(status(guess).await, 401);
    }
    assert_eq!(status("four").await, 429);
    assert_eq!(status(TOKEN).await, 429, "somebody chose it, so it may be a guess");
    assert_eq!(status(&bob).await, 429, "nobody knows yet whether it is a guess");
    // It still has a separate count.
    assert_eq!([status(&ann).await, status(&ann).await, status(&ann).await], [200, 200, 429]);
}

#[tokio::test]
async fn names_that_are_no_tools_share_one_count() {
    for path in ["/mcp", "/kulturarv"] {
        let place = Place::start("rateLimits: [{ rate: 3/1h, per: [principal, tool] }]\n").await;
        let begin = |tool: String| {
            let (http, call) = (place.by(TOKEN), json!({"name": tool, "arguments": {}}));
            async move {
                match path {
                    "/mcp" => Modern::new(http).begin("tools/call", &call).await.status,
                    path => said_at(http, path, "tools/call", &call).await.status,
                }
            }
        };
        let mut refused = Vec::new();
        for at in 0..6 {
            refused.push(begin(format!("none-{at}")).await == 429);
        }
        assert_eq!(refused, [false, false, false, true, true, true], "{path}");
        let mut refused = Vec::new();
        for _ in 0..4 {
            refused.push(begin("good__echo".to_owned()).await == 429);
        }
        assert_eq!(refused, [false, false, false, true], "{path}: a tool has its own");
    }
}

#[tokio::test]
async fn who_comes_too_soon_is_in_the_log_but_not_once_for_each_request() {
    let limits = "rateLimits: [{ enabled: false, rate: 1/1h }, { rate: 3/1h, per: principal }, { rate: 8/1h, per: ip, methods: all }]";
    let place = Place::start(&format!("audit: true\n{limits}\n")).await;
    let key = place.state.new_key(&["one"]).await;
    for way in [Way::Stateless(Modern::new(place.by(&key))), Way::Dialect(place.by(&key), "/gateway")] {
        for _ in 0..10 {
            way.call("good__echo", &json!({})).await;
        }
    }
    // This limit applies before authentication: by address, before any credential is checked.
    for _ in 0..10 {
        place.by("dgm_none").post("/mcp", &[], "{}").await.bytes().await;
    }
    let (_state, entries, said) = recorded(place).await;
    assert_eq!(entries.iter().filter(|one| one["outcome"] == "denied").count(), 17);
    let lines: Vec<&str> = said.lines().filter(|line| line.contains("rate limit exceeded")).collect();
    assert_eq!(lines.len(), 2, "{lines:#?}");
    let principal = format!("principal=\"key:{}\"", &key[..12]);
    for (line, limit, principal) in
        [(lines[0], "rateLimits[1]", &*principal), (lines[1], "rateLimits[2]", "principal=\"anyone\"")]
    {
        let parts = ["INFO", limit, principal, "peer=127.0.0.1", "profile=\"default\"", "count=1"];
        assert!(parts.iter().all(|part| line.contains(part)), "{parts:?}: {line}");
    }
}
