//! Access to management, and its rate limits.

use serde_json::{Value, json};

use crate::place::{Place, ask};
use crate::support::*;

const TOKEN: &str = "a-token-that-nobody-guesses";

#[tokio::test]
async fn nothing_is_managed_unless_that_is_switched_on() {
    for rest in ["", "management: false\n"] {
        let place = Place::with(rest).await;
        let http = place.gateway.http();
        assert_eq!(http.get("/api/profiles", &[]).await.status, 404);
        assert_eq!(http.post("/api/profiles", &[], "{\"slug\":\"abc\"}").await.status, 404);
        assert_eq!(place.gateway.http().get("/mcp/abc", &[]).await.status, 404);
    }
}

#[tokio::test]
async fn where_callers_are_asked_who_manages_is_too() {
    let auth = format!("auth: {{ bearer: '{TOKEN}' }}\n");
    let place = Place::with(&format!("management: true\n{auth}")).await;
    let http = place.gateway.http();
    let unknown = ask(http, "GET", "/api/profiles", &Value::Null).await;
    assert_eq!(unknown.refusal(), (401, "UNAUTHORIZED"));
    assert!(unknown.headers.contains_key("www-authenticate"));
    let wrong = ask(http.showing("Bearer wrong"), "GET", "/api/profiles", &Value::Null).await;
    assert_eq!(wrong.refusal(), (401, "UNAUTHORIZED"));
    let shows = http.showing(&format!("Bearer {TOKEN}"));
    assert_eq!(ask(shows, "GET", "/api/profiles", &Value::Null).await.status, 200);
}

#[tokio::test]
async fn some_may_and_others_may_not() {
    let hash =
        "$argon2id$v=19$m=64,t=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$gbf/SFxMMbGdacBN7IhMnP5qQZ1Lml+OVTsOtCvCWWc";
    let rest = format!(
        "management: {{ who: {{ user: ann }} }}\nauth: {{ users: {{ ann: '{hash}' }}, bearer: '{TOKEN}' }}\n"
    );
    let place = Place::with(&rest).await;
    let http = place.gateway.http();
    // `ann:battery staple`
    let ann = http.showing("Basic YW5uOmJhdHRlcnkgc3RhcGxl");
    assert_eq!(ask(ann, "GET", "/api/profiles", &Value::Null).await.status, 200);
    let other =
        ask(http.showing(&format!("Bearer {TOKEN}")), "POST", "/api/profiles", &json!({"slug": "abc"})).await;
    assert_eq!(other.refusal(), (403, "FORBIDDEN"));
    assert_eq!(ask(ann, "GET", "/api/profiles/abc", &Value::Null).await.status, 404);
}

#[tokio::test]
async fn a_key_for_some_profiles_manages_none() {
    let place = Place::with("management: true\nauth: { keys: true }\n").await;
    let state = place.state.path().to_str().expect("UTF-8").to_owned();
    let key = async |args: &[&str]| {
        let args: Vec<&str> =
            ["new"].iter().chain(args).chain(&["--state", &state, "--json"]).copied().collect();
        let made = run_to_end("key", &Start { args: &args, ..Start::default() }).await;
        let made: Value = serde_json::from_str(made.out.trim())
            .unwrap_or_else(|e| panic!("{e}: {} {}", made.out, made.err));
        made["key"].as_str().expect("a key").to_owned()
    };
    let (all, one) = (key(&["admin"]).await, key(&["one", "--profile", "default"]).await);
    let by = |key: &str| place.gateway.http().showing(&format!("Bearer {key}"));
    assert_eq!(ask(by(&all), "GET", "/api/mcp-servers", &Value::Null).await.status, 200);
    let refused = ask(by(&one), "GET", "/api/mcp-servers", &Value::Null).await;
    assert_eq!(refused.refusal(), (403, "FORBIDDEN"));
}

#[tokio::test]
async fn pages_of_others_manage_nothing() {
    let rest = "management: { rate: 10000/1m }\nallowedOrigins: ['https://app.example.com']\n";
    let token = format!("{rest}auth: {{ bearer: '{TOKEN}' }}\n");
    for rest in [rest, &*token] {
        let place = Place::with(rest).await;
        let http = place.gateway.http().showing(&format!("Bearer {TOKEN}"));
        let port = http.address.port();
        let add = json!({"name": "evil", "type": "external", "config": {"command": "evil"}}).to_string();
        let own = format!("http://{}", http.address);
        let (local, other) = (format!("localhost:{port}"), format!("http://localhost:{}", port ^ 1));
        for foreign in [
            &[("Origin", "http://localhost:5173")][..],
            &[("Origin", &other)],
            &[("Origin", "http://127.0.0.1")],
            &[("Origin", "https://app.example.com")],
            &[("Origin", &own), ("Host", &local)],
            &[("Origin", &own), ("Sec-Fetch-Site", "same-site")],
            &[("Sec-Fetch-Site", "cross-site")],
            &[("Sec-Fetch-Site", "same-origin"), ("Sec-Fetch-Site", "cross-site")],
        ] {
            for method in ["OPTIONS", "POST", "GET"] {
                let mut reply = http.send(method, "/api/mcp-servers", foreign, add.as_bytes()).await;
                assert_eq!(reply.status, 403, "{method} {foreign:?}");
                assert_eq!(reply.header("access-control-allow-headers"), "", "{method} {foreign:?}");
                let why = reply.json().await["error"]["message"].as_str().expect("a text").to_owned();
                assert!(why.contains("web pages from another origin"), "{why}");
            }
        }
        let page = format!("http://{local}");
        for near in [
            &[][..],
            &[("Origin", own.as_str()), ("Sec-Fetch-Site", "same-origin")],
            &[("Origin", page.as_str()), ("Host", local.as_str())],
            &[("Sec-Fetch-Site", "none")],
        ] {
            let mut reply = http.send("GET", "/api/mcp-servers", near, b"").await;
            assert_eq!(reply.status, 200, "{near:?}");
            assert_eq!(reply.json().await["servers"].as_array().map(Vec::len), Some(1), "nothing was added");
        }
        // Everything except management is unchanged for them.
        let other = http.send("OPTIONS", "/mcp", &[("Origin", "http://localhost:5173")], b"").await;
        assert_eq!(other.status, 204);
    }
}

#[tokio::test]
async fn one_address_asks_so_often() {
    let place = Place::with("management: { rate: 3/1h }\n").await;
    for left in ["2", "1", "0"] {
        let answer = place.ask("GET", "/api/profiles", &Value::Null).await;
        assert_eq!((answer.status, &*answer.headers["x-ratelimit-remaining"]), (200, left));
        assert_eq!(answer.headers["x-ratelimit-limit"], "3");
    }
    let refused = place.ask("GET", "/api/mcp-servers", &Value::Null).await;
    assert_eq!(refused.refusal(), (429, "RATE_LIMITED"));
    assert!(refused.headers["retry-after"].parse::<u64>().is_ok_and(|wait| wait > 60));
    assert!(refused.headers.contains_key("x-ratelimit-reset"));
    let health = place.gateway.http().get("/health", &[]).await;
    assert_eq!(health.status, 200, "that is not limited");
}

#[tokio::test]
async fn a_hundred_a_minute_when_nobody_says_otherwise() {
    let place = Place::with("management: true\n").await;
    let answer = place.ask("GET", "/api/profiles", &Value::Null).await;
    assert_eq!(
        (&*answer.headers["x-ratelimit-limit"], &*answer.headers["x-ratelimit-remaining"]),
        ("100", "99")
    );
}

#[tokio::test]
async fn health_is_told_to_everybody() {
    let auth = format!("management: true\nauth: {{ bearer: '{TOKEN}' }}\n");
    let place = Place::with(&auth).await;
    place.gateway.ready().await;
    for path in ["/health", "/health/ready", "/ready"] {
        assert_eq!(place.gateway.http().get(path, &[]).await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn other_machines_manage_only_where_they_are_asked_who_they_are() {
    let config = "management: true\nmcpServers: { demo: { native: demo } }\n";
    let args = ["--listen", "0.0.0.0:0", "--insecure"];
    let ended = run_to_end("serve", &Start { config, args: &args, ..Start::default() }).await;
    assert_eq!(ended.code, Some(2), "{}", ended.err);
    assert!(ended.err.contains("management"), "{}", ended.err);
}

#[tokio::test]
async fn the_preset_gateway_is_managed() {
    let config = "mcpServers: { demo: { native: demo } }\n";
    let start = Start { config, args: &["--preset", "gateway"], ..Start::default() };
    let gateway = Gateway::start_with(&start).await;
    let http = gateway.http();
    let list = request(1, "tools/list", &json!({})).to_string();
    let unknown = http.post("/mcp/office", &[], &list).await.response().await;
    assert_eq!(error_code(&unknown), -32000, "{unknown}");
    let body = json!({"slug": "office", "servers": ["demo"]});
    assert_eq!(ask(http, "POST", "/api/profiles", &body).await.status, 201);
    let listed = http.post("/mcp/office", &[], &list).await.response().await;
    assert!(tool_names(&listed).iter().any(|name| name == "demo__echo"), "{listed}");
    assert_eq!(ask(http, "DELETE", "/api/profiles/office", &Value::Null).await.status, 204);
    let unknown = http.post("/mcp/office", &[], &list).await.response().await;
    assert_eq!(error_message(&unknown), "Profile not found: office");
}
