//! The share of common capacity that one client address may use, and the choice of this address behind proxies.

use serde_json::json;

use crate::place::{HASH, Place, basic};
use crate::record::recorded;
use crate::support::*;

const DEMO: &str = "mcpServers: { demo: { native: demo } }\n";

/// A gateway without authentication, behind one proxy on this machine, with a capacity of eight for everything.
async fn open_to_all() -> Gateway {
    let rest = "trustForwardedFor: true\nlimits: { sessions: 8, listenStreams: 8 }\n\
         dialects: { gated: { base: gateway, initializeGate: session, sessions: issued } }\n\
         endpoints: [ { path: /gated, dialect: gated },\n  { path: /events, dialect: kulturarv, transport: sse } ]\n";
    Gateway::start(&format!("{DEMO}{rest}")).await
}

fn hello(version: &str) -> String {
    let params =
        json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    request(1, "initialize", &params).to_string()
}

/// Starts something that stays open, from an address.
async fn begin(http: Http, what: &str, from: &str) -> Reply {
    let mut headers = vec![("X-Forwarded-For", from)];
    match what {
        "session" => http.post("/mcp", &headers, &hello(LEGACY)).await,
        "dialect session" => http.post("/gated", &headers, &hello("1.0")).await,
        "door" | "dialect stream" => {
            headers.push(("Accept", "text/event-stream"));
            http.get(if what == "door" { "/sse" } else { "/events" }, &headers).await
        }
        _ => {
            headers.extend([("MCP-Protocol-Version", MODERN), ("Mcp-Method", "subscriptions/listen")]);
            let params = json!({"notifications": {"toolsListChanged": true}, "_meta": meta(&json!({}))});
            http.post("/mcp", &headers, &request("m", "subscriptions/listen", &params).to_string()).await
        }
    }
}

/// The status if the capacity is exhausted: a dialect that reports errors in bodies also does so here.
fn full(what: &str) -> u16 {
    if what == "dialect session" { 200 } else { 503 }
}

/// Returns true if the dialect has one message for all internal errors.
fn is_in_words_of_its_row(what: &str) -> bool {
    what == "dialect stream"
}

#[tokio::test]
async fn one_address_takes_no_more_than_its_share_of_anything() {
    for what in ["session", "dialect session", "door", "dialect stream", "listen stream"] {
        let gateway = open_to_all().await;
        let http = gateway.http();
        let mut open = Vec::new();
        for _ in 0..2 {
            let reply = begin(http, what, "6.6.6.6, 203.0.113.1").await;
            assert_eq!(reply.status, 200, "{what}");
            open.push(reply);
        }
        // Addresses that the client itself prepends do not change its address.
        for from in ["203.0.113.1", "198.51.100.7, 203.0.113.1", "203.0.113.1:4711"] {
            let mut refused = begin(http, what, from).await;
            assert_eq!(
                (refused.status, refused.header("retry-after")),
                (full(what), "5"),
                "{what} from {from}"
            );
            let refused = refused.json().await;
            let said = error_message(&refused);
            let key = if what == "listen stream" { "limits.listenStreams" } else { "limits.sessions" };
            let own = said.contains("this client address") && said.contains(key);
            assert!(own || is_in_words_of_its_row(what), "{what}: {said}");
        }
        for from in ["203.0.113.2", "2001:db8::1", "198.51.100.7"] {
            let reply = begin(http, what, from).await;
            assert_eq!(reply.status, 200, "{what}: another address still gets in");
            open.push(reply);
        }
        open.push(begin(http, what, "2001:db8::2").await);
        let refused = begin(http, what, "2001:db8::ffff:3").await;
        assert!(refused.header("retry-after") == "5", "{what}: an IPv6 network of 64 bits is one address");
        for from in ["198.51.100.8", "198.51.100.9"] {
            open.push(begin(http, what, from).await);
        }
        assert!(
            open.iter().all(|reply| reply.status == 200 && reply.header("retry-after").is_empty()),
            "{what}"
        );
        let mut refused = begin(http, what, "198.51.100.10").await;
        assert_eq!((refused.status, refused.header("retry-after")), (full(what), "5"), "{what}");
        let refused = refused.json().await;
        let whole = error_message(&refused).contains("of this server are in use");
        assert!(whole || is_in_words_of_its_row(what), "{what}: {refused}");
    }
}

#[tokio::test]
async fn one_principal_takes_no_more_than_its_share_of_sessions() {
    let place = Place::start("limits: { sessions: 8 }\n").await;
    let (ann, bob) = (place.state.new_key(&["ann"]).await, place.state.new_key(&["bob"]).await);
    let open = async |key: &str| Legacy::initialize(place.by(key), "/mcp", LEGACY, &json!({})).await;
    for status in [200, 200, 503] {
        assert_eq!(open(&ann).await.status, status);
    }
    let refused = open(&ann).await.json().await;
    assert!(error_message(&refused).contains("of these credentials"), "{refused}");
    assert_eq!(open(&bob).await.status, 200);
}

#[tokio::test]
async fn this_machine_is_no_one_client() {
    let gateway = open_to_all().await;
    for status in [200, 200, 200, 200, 200, 200, 200, 200, 503] {
        let reply = Legacy::initialize(gateway.http(), "/mcp", LEGACY, &json!({})).await;
        assert_eq!(reply.status, status);
    }
}

#[tokio::test]
async fn rules_by_address_see_the_client_behind_the_trusted_proxies() {
    let tools = async |http: Http, forwarded: &[(&str, &str)]| {
        let mut headers = vec![("MCP-Protocol-Version", MODERN), ("Mcp-Method", "tools/list")];
        headers.extend(forwarded);
        let params = json!({"_meta": meta(&json!({}))});
        let mut reply = http.post("/mcp", &headers, &request("m", "tools/list", &params).to_string()).await;
        tool_names(&reply.response().await)
    };
    let rule = "access: [ { deny: demo__echo, who: { ip: 203.0.113.0/24 } } ]\n";
    for (trusted, forwarded, is_denied) in [
        ("false", &["203.0.113.1"][..], false),
        ("true", &["198.51.100.1, 203.0.113.1"], true),
        ("true", &["198.51.100.1", "203.0.113.1"], true),
        ("true", &["203.0.113.1, 198.51.100.1"], false),
        ("2", &["198.51.100.7, 203.0.113.1, 10.0.0.1"], true),
        ("2", &["203.0.113.1"], true),
        ("[127.0.0.0/8, 10.0.0.0/8]", &["198.51.100.7, 203.0.113.1, 10.0.0.1"], true),
        ("[127.0.0.0/8, 10.0.0.0/8]", &["203.0.113.1, junk, 10.0.0.1"], false),
        ("10.0.0.0/8", &["203.0.113.1"], false),
    ] {
        let gateway = Gateway::start(&format!("{DEMO}{rule}trustForwardedFor: {trusted}\n")).await;
        let forwarded: Vec<(&str, &str)> = forwarded.iter().map(|line| ("X-Forwarded-For", *line)).collect();
        let seen = tools(gateway.http(), &forwarded).await;
        assert_eq!(!seen.iter().any(|name| name == "demo__echo"), is_denied, "{trusted}: {forwarded:?}");
    }
}

/// Authenticates with a name and a password from an address; returns the status, and the time that it took.
async fn shows(http: Http, name: &str, password: &str, from: &str) -> (u16, std::time::Duration) {
    let value = basic(name, password);
    let list = request(1, "tools/list", &json!({})).to_string();
    let begun = std::time::Instant::now();
    let headers = [("X-Forwarded-For", from), ("Authorization", value.as_str())];
    let reply = http.post("/kulturarv", &headers, &list).await;
    (reply.status, begun.elapsed())
}

/// A gateway with the password `battery staple`, hashed as slowly as those of real users (Node's
/// `crypto.argon2Sync`: 19 MiB, 2 rounds).
async fn guarded_by_passwords(failures: &str) -> Gateway {
    let config = format!(
        "{DEMO}endpoints: [ {{ path: /kulturarv, dialect: kulturarv }} ]\ntrustForwardedFor: true\n\
         auth: {{ users: {{ ann: '{HASH}', slow: '{SLOW}' }}{failures} }}\n"
    );
    Gateway::start(&config).await
}

/// A hash of an unknown password, which takes as long to check as those of real users.
const SLOW: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$MDEyMzQ1Njc4OWFiY2RlZg$gbf/SFxMMbGdacBN7IhMnP5qQZ1Lml+OVTsOtCvCWWc";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn guessers_at_one_address_keep_nobody_out_at_another() {
    for failures in ["", ", failures: false"] {
        let gateway = guarded_by_passwords(failures).await;
        let http = gateway.http();
        let mut guessers = tokio::task::JoinSet::new();
        for number in 0..90 {
            guessers.spawn(async move {
                shows(http, "ann", &format!("guess {number}"), "6.6.6.6, 203.0.113.1").await.0
            });
        }
        // This makes sure that they arrive first.
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        let (status, took) = shows(http, "ann", "battery staple", "203.0.113.2").await;
        assert_eq!(status, 200, "{failures}");
        assert!(took < std::time::Duration::from_secs(10), "{failures}: {took:?}");
        let statuses = guessers.join_all().await;
        let refused = statuses.iter().filter(|status| **status == 429).count();
        assert!(statuses.iter().all(|status| matches!(status, 401 | 429 | 503)), "{statuses:?}");
        assert_eq!(refused > 0, failures.is_empty(), "{failures}: {statuses:?}");
    }
}

#[tokio::test]
async fn wrong_passwords_are_limited_by_address_and_those_that_were_right_still_get_in() {
    let gateway = guarded_by_passwords(", failures: 3/1h").await;
    let http = gateway.http();
    assert_eq!(shows(http, "ann", "battery staple", "203.0.113.1").await.0, 200);
    for (guess, status) in [("one", 401), ("two", 401), ("three", 401), ("four", 429), ("four", 429)] {
        assert_eq!(shows(http, "nobody", guess, "203.0.113.1").await.0, status, "{guess}");
    }
    assert_eq!(shows(http, "ann", "battery staple", "203.0.113.1").await.0, 200, "it was right before");
    assert_eq!(shows(http, "nobody", "four", "203.0.113.2").await.0, 401, "another address");
    // Otherwise, the answers would reveal which of many guesses at her password is correct.
    for guess in ["five", "six", "seven"] {
        assert_eq!(shows(http, "ann", guess, "203.0.113.1").await.0, 429);
    }
    assert_eq!(shows(http, "ann", "battery staple", "203.0.113.1").await.0, 429);
    assert_eq!(shows(http, "ann", "battery staple", "203.0.113.2").await.0, 200);
    gateway.log().has("too many wrong passwords").await;
}

#[tokio::test]
async fn the_record_has_the_address_and_the_name_of_each_client() {
    let place = Place::start("audit: true\ntrustForwardedFor: true\n").await;
    let key = place.state.new_key(&["ann"]).await;
    let http = place.by(&key);
    let forwarded = [("X-Forwarded-For", "6.6.6.6, 203.0.113.7")];
    let call = request(2, "tools/call", &json!({"name": "good__echo", "arguments": {}})).to_string();
    let begun = http.post("/mcp", &forwarded, &hello(LEGACY)).await;
    let session = begun.header("mcp-session-id").to_owned();
    let in_session = [forwarded[0], ("Mcp-Session-Id", &*session), ("MCP-Protocol-Version", LEGACY)];
    assert_eq!(http.post("/mcp", &in_session, &call).await.status, 200);
    Modern::new(http).call("good__echo", &json!({})).await;
    assert_eq!(http.post("/kulturarv", &forwarded, &call).await.status, 200);
    let (_state, entries, _) = recorded(place).await;
    let seen: Vec<_> = entries.iter().map(|one| (one["address"].clone(), one["client"].clone())).collect();
    let wanted = [
        (json!("203.0.113.7"), json!("t 1")),
        (json!("127.0.0.1"), json!("test 1")),
        (json!("203.0.113.7"), json!(null)),
    ];
    assert_eq!(seen, wanted);
}
