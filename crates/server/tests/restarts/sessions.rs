//! Sessions that continue after a restart, with their old IDs.

use std::sync::Arc;

use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::StateFolder;
use crate::support::{
    Actor, Gateway, Legacy, Reply, Speaks, Start, request, run_to_end, soon, text, tool_names,
};

/// The versions whose sessions have IDs.
const VERSIONS: [&str; 3] = ["2025-03-26", "2025-06-18", "2025-11-25"];

const URI: &str = "memo:///a";

/// Calls the tool, which answers at once.
async fn call(client: &Legacy, actor: &Actor) {
    let answering = async { actor.next("tools/call").await.answer_text("done") };
    let arguments = json!({});
    assert_eq!(text(&tokio::join!(client.call("up__ok", &arguments), answering).0), "done");
}

/// Waits until a stored session satisfies `is_so`, which gets its log level and its subscriptions.
async fn kept(folder: &StateFolder, is_so: impl Fn(&str, &str) -> bool) {
    stored(folder, |file| {
        let query = "SELECT coalesce(level, ''), subscriptions FROM sessions";
        file.query_row(query, [], |row| {
            let level = row.get::<_, Vec<u8>>(0).or_else(|_| row.get::<_, String>(0).map(String::into_bytes));
            Ok(is_so(&String::from_utf8_lossy(&level?), &row.get::<_, String>(1)?))
        })
    })
    .await;
}

/// Waits until the file satisfies `is_so`.
async fn stored(folder: &StateFolder, is_so: impl Fn(&rusqlite::Connection) -> rusqlite::Result<bool>) {
    let look = || is_so(&rusqlite::Connection::open(folder.0.join("sessions.db")).ok()?).ok();
    soon("a session in the file", async {
        while look() != Some(true) {
            // No event reports a change in another process's file.
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    })
    .await;
}

/// Ends the gateway with this signal, and starts it again.
async fn restart(gateway: Gateway, signal: Signal, config: &str) -> Gateway {
    gateway.signal(signal);
    gateway.ended().await;
    Gateway::start(config).await
}

/// The notifications that the client of a restored session gets, in any order: the one about the resource may come first.
const MISSED: [&str; 4] = [
    "notifications/tools/list_changed",
    "notifications/prompts/list_changed",
    "notifications/resources/list_changed",
    "notifications/resources/updated",
];

/// The method of the next message of a stream.
async fn notice(stream: &mut Reply) -> String {
    let message = stream.message().await.expect("a message");
    let method = message["method"].as_str().expect("a notice").to_owned();
    assert!(method != MISSED[3] || message["params"]["uri"] == URI, "{message}");
    method
}

/// The methods of the next messages of a stream, until the client was notified of everything that it may have missed.
async fn told(stream: &mut Reply) -> Vec<String> {
    let mut told = Vec::new();
    while !MISSED.iter().all(|missed| told.iter().any(|one| one == missed)) {
        told.push(notice(stream).await);
    }
    told
}

/// A session with a log level and a subscription continues after the gateway was ended with this signal.
async fn goes_on(version: &str, signal: Signal) {
    let folder = StateFolder::new(&format!("{version}-{}", signal.as_raw()));
    let actor = Actor::start(Speaks::Handshake).await;
    let config = folder.config(&actor.config(), "");
    let gateway = Gateway::start(&config).await;
    let mut client = Legacy::open_at(gateway.http(), "/mcp", version, &json!({})).await;
    assert!((120..=124).contains(&client.id.len()), "{}", client.id);
    call(&client, &actor).await;
    assert_eq!(client.ask("logging/setLevel", &json!({"level": "error"})).await["result"], json!({}));
    assert_eq!(client.ask("resources/subscribe", &json!({"uri": URI})).await["result"], json!({}));
    let (levels, subscriptions) = (actor.count("logging/setLevel"), actor.count("resources/subscribe"));
    let mut before = client.listen().await;
    kept(&folder, |level, uris| level == "\"error\"" && uris.contains(URI)).await;
    let gateway = restart(gateway, signal, &config).await;
    while before.event().await.is_some() {}
    client.http = gateway.http();
    call(&client, &actor).await;
    actor.was_sent("resources/subscribe", subscriptions + 1).await;
    actor.was_sent("logging/setLevel", levels + 1).await;
    let set = actor.received().into_iter().rfind(|one| one.method() == "logging/setLevel").expect("one");
    assert_eq!(set.body["params"]["level"], "error");
    // It is notified once of changes that it may have missed.
    let mut stream = client.listen().await;
    let first = told(&mut stream).await;
    for list in &MISSED[..3] {
        assert_eq!(first.iter().filter(|one| one == list).count(), 1, "{first:?}");
    }
    assert_eq!(client.delete().await.status, 204);
}

#[tokio::test]
async fn sessions_of_every_version_outlive_sigterm() {
    for version in VERSIONS {
        goes_on(version, Signal::TERM).await;
    }
}

#[tokio::test]
async fn sessions_of_every_version_outlive_sigkill() {
    for version in VERSIONS {
        goes_on(version, Signal::KILL).await;
    }
}

#[tokio::test]
async fn an_id_alone_is_enough_and_opens_one_session_however_many_come_at_once() {
    let (folder, actor) = (StateFolder::new("alone"), Actor::start(Speaks::Handshake).await);
    let config = folder.config(&actor.config(), "");
    let gateway = Gateway::start(&config).await;
    let mut client = Legacy::open_at(gateway.http(), "/mcp", "2025-11-25", &json!({"sampling": {}})).await;
    gateway.stop().await;
    std::fs::remove_file(folder.0.join("sessions.db")).expect("it was made");
    let gateway = Gateway::start(&config).await;
    let asks = |one: &crate::support::Received| {
        one.method() == "initialize" && one.body["params"]["capabilities"]["sampling"].is_object()
    };
    let before = actor.received().iter().filter(|one| asks(one)).count();
    client.http = gateway.http();
    let (client, mut calls) = (Arc::new(client), JoinSet::new());
    for _ in 0..12 {
        let client = client.clone();
        calls.spawn(async move { client.call("up__ok", &json!({})).await });
    }
    for _ in 0..12 {
        actor.next("tools/call").await.answer_text("done");
    }
    for answer in calls.join_all().await {
        assert_eq!(text(&answer), "done");
    }
    let opened = actor.received().iter().filter(|one| asks(one)).count() - before;
    assert_eq!(opened, 1, "its class is in the id, and its link is one");
}

#[tokio::test]
async fn a_session_that_was_ended_stays_so() {
    for signal in [Signal::TERM, Signal::KILL] {
        let folder = StateFolder::new(&format!("ended-{}", signal.as_raw()));
        let config = folder.config("{ native: demo }", "");
        let gateway = Gateway::start(&config).await;
        let mut client = Legacy::open(gateway.http()).await;
        assert_eq!(client.delete().await.status, 204);
        assert_eq!(client.begin("ping", &json!({})).await.status, 404);
        stored(&folder, |file| file.query_row("SELECT count(*) FROM ended", [], |row| row.get(0))).await;
        let gateway = restart(gateway, signal, &config).await;
        client.http = gateway.http();
        assert_eq!(client.begin("ping", &json!({})).await.status, 404);
        assert_eq!(client.listen().await.status, 404);
        assert_eq!(client.delete().await.status, 404);
    }
}

/// A new key for the gateways of a state folder.
async fn new_key(config: &str, name: &str) -> String {
    let with = Start { config, args: &["new", name], ..Start::default() };
    let ended = run_to_end("key", &with).await;
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    format!("Bearer {}", ended.out.trim())
}

#[tokio::test]
async fn an_id_is_worth_nothing_to_another_caller_at_another_profile_or_with_other_rights() {
    let folder = StateFolder::new("foreign");
    let rest = "auth: { keys: true }\nprofiles: { one: { servers: [up] }, two: { servers: [up] } }\n";
    let config = folder.config("{ native: demo }", rest);
    let (ann, ben) = (new_key(&config, "ann").await, new_key(&config, "ben").await);
    let gateway = Gateway::start(&config).await;
    let mine = gateway.http().showing(&ann);
    let client = Legacy::open_at(mine, "/mcp/one", "2025-11-25", &json!({})).await;
    let gateway = restart(gateway, Signal::KILL, &config).await;
    let (mine, theirs) = (gateway.http().showing(&ann), gateway.http().showing(&ben));
    let list = request(1, "tools/list", &json!({})).to_string();
    for (what, http, path) in [
        ("another caller", theirs, "/mcp/one"),
        ("another profile", mine, "/mcp/two"),
        ("the default", mine, "/mcp"),
    ] {
        let mut reply = http.post(path, &client.headers(), &list).await;
        let text = reply.text().await;
        assert_eq!(reply.status, 404, "{what}: {text}");
        assert_eq!(http.delete(path, &client.headers()).await.status, 404, "{what}");
    }
    assert_eq!(gateway.http().post("/mcp/one", &client.headers(), &list).await.status, 401, "nobody known");
    // The attempts of other callers have not ended the session.
    let answer = mine.post("/mcp/one", &client.headers(), &list).await.response().await;
    assert!(!tool_names(&answer).is_empty());
    let ruled = format!("{config}access: [ {{ deny: up__echo, who: {{ key: ann }} }} ]\n");
    let gateway = restart(gateway, Signal::TERM, &ruled).await;
    let mine = gateway.http().showing(&ann);
    assert_eq!(mine.post("/mcp/one", &client.headers(), &list).await.status, 404, "other rights");
    let removed = config.replace("one: { servers: [up] }, ", "");
    let gateway = restart(gateway, Signal::TERM, &removed).await;
    let mine = gateway.http().showing(&ann);
    assert_eq!(mine.post("/mcp/one", &client.headers(), &list).await.status, 404, "a removed profile");
    assert_eq!(mine.post("/mcp/two", &client.headers(), &list).await.status, 404, "a profile in its place");
}

/// An ID with one changed character.
fn altered(id: &str, at: usize) -> String {
    let other = if id.as_bytes()[at] == b'A' { "B" } else { "A" };
    format!("{}{other}{}", &id[..at], &id[at + 1..])
}

#[tokio::test]
async fn no_altered_id_opens_anything() {
    let folder = StateFolder::new("altered");
    let config = folder.config("{ native: demo }", "");
    let gateway = Gateway::start(&config).await;
    let client = Legacy::open(gateway.http()).await;
    let gateway = restart(gateway, Signal::KILL, &config).await;
    let ping = request(1, "ping", &json!({})).to_string();
    let mut ids: Vec<String> =
        (0..client.id.len() - 1).step_by(7).map(|at| altered(&client.id, at)).collect();
    ids.extend([client.id[1..].to_owned(), format!("{}A", client.id), "A".repeat(122), "x".repeat(4000)]);
    for id in ids {
        let headers = [("Mcp-Session-Id", id.as_str()), ("MCP-Protocol-Version", "2025-11-25")];
        assert_eq!(gateway.http().post("/mcp", &headers, &ping).await.status, 404, "{id}");
    }
    assert_eq!(gateway.http().post("/mcp", &client.headers(), &ping).await.status, 200);
}

#[tokio::test]
async fn streams_of_before_end_with_a_clear_word() {
    let (folder, actor) = (StateFolder::new("streams"), Actor::start(Speaks::Handshake).await);
    let config = folder.config(&actor.config(), "");
    let gateway = Gateway::start(&config).await;
    let client = Legacy::open(gateway.http()).await;
    client.ask("resources/subscribe", &json!({"uri": URI})).await;
    let mut standing = client.listen().await;
    let standing_id = id_of(&standing.event().await.expect("an event to resume from"));
    let token = json!({"name": "up__ok", "arguments": {}, "_meta": {"progressToken": 1}});
    let (mut running, line) = tokio::join!(client.begin("tools/call", &token), async {
        let line = actor.next("tools/call").await;
        line.progress(1);
        line
    });
    let call_id = id_of(&running.event().await.expect("an event to resume from"));
    kept(&folder, |_, uris| uris.contains(URI)).await;
    let gateway = restart(gateway, Signal::KILL, &config).await;
    drop(line);
    let resume = async |last: &str| {
        let [id, version] = client.headers();
        gateway.http().get("/mcp", &[id, version, ("Last-Event-ID", last)]).await
    };
    let mut lost = resume(&call_id).await;
    let refusal: Value = lost.json().await;
    assert_eq!(lost.status, 400);
    let message = refusal["error"]["message"].as_str().expect("a message");
    assert!(
        message.contains("lost with the gateway") && message.contains("may have been executed"),
        "{message}"
    );
    let mut fresh = resume(&standing_id).await;
    assert_eq!(fresh.status, 200);
    let first = id_of(&fresh.event().await.expect("an event to resume from"));
    let missed = told(&mut fresh).await;
    let mut again = resume(&first).await;
    assert_eq!(again.status, 200);
    let mut repeated = Vec::new();
    for _ in &missed {
        repeated.push(notice(&mut again).await);
    }
    assert_eq!(repeated, missed, "a stream of this life is resumed as ever");
    // The session is in memory by now, and the client resumes the stream of another process.
    let mut other = resume(&standing_id).await;
    assert_eq!(other.status, 200);
    id_of(&other.event().await.expect("an event to resume from"));
    assert_eq!(told(&mut other).await, missed, "the client fetches everything again");
}

/// The ID of an event.
fn id_of(event: &str) -> String {
    let id = event.lines().find_map(|line| line.strip_prefix("id:"));
    id.unwrap_or_else(|| panic!("no id in {event:?}")).trim().to_owned()
}

#[tokio::test]
async fn an_idle_session_is_forgotten_and_comes_back_when_it_is_used() {
    let (folder, actor) = (StateFolder::new("idle"), Actor::start(Speaks::Handshake).await);
    let config = folder.config(&actor.config(), "limits: { sessionIdle: 1s }\n");
    let gateway = Gateway::start_with(&Start { config: &config, args: &["-vv"], ..Start::default() }).await;
    let client = Legacy::open(gateway.http()).await;
    call(&client, &actor).await;
    gateway.log().has("a session that was idle").await;
    call(&client, &actor).await;
    assert_eq!(client.delete().await.status, 204);
    assert_eq!(client.begin("ping", &json!({})).await.status, 404);
}

#[tokio::test]
async fn an_id_expires_with_its_key_ring() {
    let folder = StateFolder::new("keys");
    let config = folder.config("{ native: demo }", "");
    let gateway = Gateway::start(&config).await;
    let mut client = Legacy::open(gateway.http()).await;
    gateway.stop().await;
    folder.rotate().await;
    let gateway = Gateway::start(&config).await;
    client.http = gateway.http();
    assert_eq!(client.begin("ping", &json!({})).await.status, 200, "a rotation ends nothing");
    gateway.stop().await;
    std::fs::remove_file(folder.0.join("keyring")).expect("it was made");
    let gateway = Gateway::start(&config).await;
    client.http = gateway.http();
    assert_eq!(client.begin("ping", &json!({})).await.status, 404);
}
