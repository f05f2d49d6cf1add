//! The parts of the configuration that apply to the whole process, changed while the gateway serves: limits, addresses, the
//! record of calls, management.

mod support;

use std::path::Path;
use std::sync::Arc;

use rustix::process::Signal;
use serde_json::{Value, json};
use store::audit::{Log, Query};
use support::*;
use testkit::fixture::{Eras, Running};

const REFUSED: &str = "the old one stays in force";

/// A gateway whose configuration changes.
struct Place {
    gateway: Gateway,
    good: Running,
    servers: Vec<(&'static str, String)>,
    changes: usize,
    refusals: usize,
}

impl Place {
    async fn new(servers: Vec<(&'static str, String)>, rest: &str, own_listen: bool) -> Self {
        let good = fixture(Eras::Both).await;
        let config = config(&good, &servers, rest);
        let env = [("DRAGOMAN_LOG", "info")];
        let start = Start { config: &config, env: &env, own_listen, ..Start::default() };
        Self { gateway: Gateway::start_with(&start).await, good, servers, changes: 0, refusals: 0 }
    }

    /// Writes another configuration and waits until it is in force.
    async fn to(&mut self, rest: &str) {
        self.gateway.write(&config(&self.good, &self.servers, rest));
        self.gateway.signal(Signal::HUP);
        self.changes += 1;
        self.gateway.log().has_times("reloaded the configuration", self.changes).await;
    }

    /// Writes another configuration and waits until it is refused, for this reason.
    async fn refuses(&mut self, rest: &str, why: &str) {
        self.gateway.write(&config(&self.good, &self.servers, rest));
        self.gateway.signal(Signal::HUP);
        self.refusals += 1;
        self.gateway.log().has_times(REFUSED, self.refusals).await;
        self.gateway.log().has(why).await;
    }

    /// Its address after this number of changes.
    async fn address(&self, number: usize) -> Http {
        let words = "listening on another address";
        self.gateway.log().has_times(words, number).await;
        let log = self.gateway.log().text();
        let line = log.lines().filter(|line| line.contains(words)).nth(number - 1).expect("a line");
        let address = line.rsplit("address=").next().expect("an address");
        Http::new(address.trim().trim_end_matches("\u{1b}[0m").parse().expect("an address"))
    }
}

fn config(good: &Running, servers: &[(&'static str, String)], rest: &str) -> String {
    let servers: Vec<(&str, &str)> = servers.iter().map(|(name, server)| (*name, &**server)).collect();
    Scene::config(good, &servers, rest)
}

/// The number of calls in a record.
fn calls(file: &Path) -> usize {
    let log = Log::open_existing(file).expect("a sound file");
    let all = log.map(|log| log.query(&Query { limit: 1000, ..Query::default() }).expect("a sound file"));
    all.unwrap_or_default().iter().filter(|one| one.entry.method == "tools/call").count()
}

/// Waits until a record has this many calls.
async fn has_calls(file: &Path, count: usize) {
    until("the record", || calls(file) == count).await;
}

#[tokio::test]
async fn the_record_is_turned_on_moved_and_turned_off() {
    let mut place = Place::new(Vec::new(), "", false).await;
    let file = |name: &str| place.gateway.folder().join(name);
    let (one, two) = (file("one.db"), file("two.db"));
    let audit = |file: &Path, rest: &str| {
        format!("audit: {{ file: {}{rest} }}\n", quoted(file.to_str().expect("a path")))
    };
    let session = Legacy::open(place.gateway.http()).await;
    let call = async || session.call("good__echo", &json!({"a": 1})).await;
    call().await;
    place.to(&audit(&one, "")).await;
    call().await;
    place.to(&audit(&two, ", arguments: true, keep: 1h")).await;
    call().await;
    call().await;
    place.refuses("audit: { file: /dev/null/no/audit.db }\n", "/dev/null/no").await;
    call().await;
    place.to("").await;
    call().await;
    has_calls(&two, 3).await;
    place.to(&audit(&one, "")).await;
    call().await;
    has_calls(&one, 2).await;
    assert_eq!(calls(&two), 3);
}

#[tokio::test]
async fn sessions_and_connections_are_counted_anew() {
    let mut place = Place::new(Vec::new(), "limits: { sessions: 1 }\n", false).await;
    let http = place.gateway.http();
    let first = Legacy::open(http).await;
    let mut refused = Legacy::initialize(http, "/mcp", LEGACY, &json!({})).await;
    assert!(refused.text().await.contains("limits.sessions"));
    place.to("limits: { sessions: 2 }\n").await;
    place.gateway.log().has("changed: limits").await;
    let second = Legacy::open(http).await;
    for session in [&first, &second] {
        assert_eq!(text(&session.call("good__echo", &json!({"a": 1})).await), "{\"a\":1}");
    }
    let long = "x".repeat(20_000);
    place.to("limits: { sessions: 2, requestHeaders: 8KiB }\n").await;
    assert_eq!(http.get("/health", &[("X-Long", &long)]).await.status, 431);
    place.to("limits: { sessions: 2, connections: 1 }\n").await;
    let held = http.raw(b"GET /hea").await;
    let full = async { while http.get("/health", &[]).await.status != 503 {} };
    soon("the cap of connections", full).await;
    drop(held);
    place.to("limits: { sessions: 2, requestHeaders: 64KiB }\n").await;
    let _held = http.raw(b"GET /hea").await;
    assert_eq!(http.get("/health", &[("X-Long", &long)]).await.status, 200);
    assert_eq!(text(&first.call("good__echo", &json!({"a": 2})).await), "{\"a\":2}");
}

#[tokio::test]
async fn times_of_calls_change_and_no_child_is_started_again() {
    let mut place = Place::new(vec![("pipe", odd_stdio(&[]))], "", false).await;
    let session = Arc::new(Legacy::open(place.gateway.http()).await);
    assert_eq!(text(&session.call("pipe__ok", &json!({"text": "x"})).await), "x");
    let children = children_of(place.gateway.pid());
    let late = json!({"ms": 3000, "text": "finished"});
    let mut running = under_way(&session, "pipe__late", &late).await;
    place.to("limits: { callIdleTimeout: 300ms, startTimeout: 20s, children: 5, replayEvents: 9 }\n").await;
    let hasty = session.call("pipe__late", &json!({"ms": 60000, "text": "never"})).await;
    assert!(error_message(&hasty).contains("300ms") || error_message(&hasty).contains("time"), "{hasty}");
    let answer = soon("the answer", running.join_next()).await.expect("one call").expect("no panic");
    assert_eq!(text(&answer), "finished", "a call keeps the time that it began with");
    assert_eq!(children_of(place.gateway.pid()), children);
    place.refuses("limits: { callIdleTimeout: 0s }\n", "callIdleTimeout").await;
    place.to("").await;
    assert_eq!(text(&session.call("pipe__late", &json!({"ms": 600, "text": "y"})).await), "y");
    assert_eq!(children_of(place.gateway.pid()), children);
}

#[tokio::test]
async fn addresses_change_and_running_calls_end_well() {
    let pipe = vec![("pipe", odd_stdio(&[]))];
    let mut place = Place::new(pipe, "listen: 127.0.0.1:0\n", true).await;
    let old = place.gateway.http();
    let session = Arc::new(Legacy::open(old).await);
    let mut running = under_way(&session, "pipe__late", &json!({"ms": 2000, "text": "finished"})).await;
    let other = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let taken = other.local_addr().expect("its address");
    place
        .refuses(&format!("listen: [127.0.0.1:0, '{taken}']\n"), "is already in use by another program")
        .await;
    place.refuses("listen: 0.0.0.0:0\n", "0.0.0.0").await;
    assert_eq!(old.get("/health", &[]).await.status, 200, "all is as it was");
    place.to("listen: 127.0.0.2:0\n").await;
    let new = place.address(1).await;
    assert_eq!(new.get("/health", &[]).await.status, 200);
    let body = request(77, "tools/call", &json!({"name": "pipe__ok", "arguments": {"text": "there"}}));
    let answer = new.post("/mcp", &session.headers(), &body.to_string()).await.response().await;
    assert_eq!(text(&answer), "there", "its session is known at each address");
    let answer = soon("the answer", running.join_next()).await.expect("one call").expect("no panic");
    assert_eq!(text(&answer), "finished");
    let gone = async { while tokio::net::TcpStream::connect(old.address).await.is_ok() {} };
    soon("the end of the old address", gone).await;
    assert_eq!(place.gateway.stop().await.code, Some(0));
}

#[tokio::test]
async fn a_port_is_opened_to_others_only_with_authentication() {
    let mut place = Place::new(Vec::new(), "listen: 127.0.0.1:0\n", true).await;
    place.to("listen: 127.0.0.2:0\n").await;
    let here = place.address(1).await;
    let port = here.address.port();
    place.refuses(&format!("listen: 0.0.0.0:{port}\n"), "0.0.0.0").await;
    assert_eq!(Modern::new(here).begin("tools/list", &json!({})).await.status, 200);
    let guarded = "auth: { bearer: 'a-token-that-nobody-guesses' }\n";
    place.to(&format!("listen: 0.0.0.0:{port}\n{guarded}")).await;
    let everywhere = Http::new(format!("127.0.0.3:{port}").parse().expect("an address"));
    let answered =
        async { while Modern::new(everywhere).begin("tools/list", &json!({})).await.status != 401 {} };
    soon("the refusal of a stranger", answered).await;
    place.refuses(&format!("listen: 127.0.0.1:{port}\n"), "no longer be authenticated").await;
    place.to(&format!("listen: 127.0.0.1:{port}\n{guarded}")).await;
    let closed = async { while tokio::net::TcpStream::connect(everywhere.address).await.is_ok() {} };
    soon("the end of the open address", closed).await;
}

#[tokio::test]
async fn management_is_turned_on_and_off() {
    let mut place = Place::new(Vec::new(), "", false).await;
    let http = place.gateway.http();
    let path = "/api/mcp-servers";
    assert_eq!(http.get(path, &[]).await.status, 404);
    place.to("management: { rate: 3/1h }\n").await;
    let sums = json!({"name": "sums", "type": "builtin", "config": {"native": "plain"}}).to_string();
    let json = [("Content-Type", "application/json")];
    assert!((200..300).contains(&http.post(path, &json, &sums).await.status));
    let names = |list: &Value| list.to_string().contains("sums");
    assert!(names(&http.get(path, &[]).await.json().await));
    assert_eq!(http.get(path, &[]).await.status, 200);
    assert_eq!(http.get(path, &[]).await.status, 429);
    place.to("management: { rate: 9/1h }\n").await;
    assert_eq!(http.get(path, &[]).await.status, 200);
    place.to("").await;
    assert_eq!(http.get(path, &[]).await.status, 404);
    let session = Legacy::open(http).await;
    let listed = session.ask("tools/list", &json!({})).await;
    assert!(!tool_names(&listed).iter().any(|name| name.starts_with("sums")), "{listed}");
    place.to("management: true\n").await;
    assert!(names(&http.get(path, &[]).await.json().await), "what was stored is there again");
}
