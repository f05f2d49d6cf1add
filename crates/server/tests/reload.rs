//! A configuration that changes while the gateway serves.

mod support;

use std::sync::Arc;

use rustix::process::Signal;
use serde_json::json;
use support::*;
use testkit::fixture::{Eras, Running};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

const IN_FORCE: &str = "reloaded the configuration";
const REFUSED: &str = "the old one stays in force";

/// A gateway whose configuration changes.
struct Changing {
    gateway: Gateway,
    good: Running,
    changes: usize,
}

impl Changing {
    async fn new(servers: &[(&str, &str)], rest: &str) -> Self {
        let good = fixture(Eras::Both).await;
        let config = Scene::config(&good, servers, rest);
        let env = [("DRAGOMAN_LOG", "info")];
        let gateway = Gateway::start_with(&Start { config: &config, env: &env, ..Start::default() }).await;
        Self { gateway, good, changes: 0 }
    }

    /// Writes another configuration and notifies the gateway; waits until it is in force.
    async fn to(&mut self, servers: &[(&str, &str)], rest: &str) {
        self.gateway.write(&Scene::config(&self.good, servers, rest));
        self.gateway.signal(Signal::HUP);
        self.changes += 1;
        self.gateway.log().has_times(IN_FORCE, self.changes).await;
    }

    fn http(&self) -> Http {
        self.gateway.http()
    }

    fn children(&self) -> Vec<u32> {
        let mut children = children_of(self.gateway.pid());
        children.sort_unstable();
        children
    }
}

/// Asks once for a list, and checks that a tool is present or absent: the list waits for new servers.
async fn list_has(session: &Legacy, tool: &str, wanted: bool) {
    let names = tool_names(&session.ask("tools/list", &json!({})).await);
    assert_eq!(names.iter().any(|name| name == tool), wanted, "{names:?}");
}

#[tokio::test]
async fn what_did_not_change_stays_and_clients_are_told_of_the_rest() {
    let pipe = odd_stdio(&[]);
    let mut place = Changing::new(&[("pipe", &pipe)], "").await;
    let session = Legacy::open(place.http()).await;
    assert_eq!(text(&session.call("pipe__ok", &json!({"text": "x"})).await), "x");
    let mut standing = session.listen().await;
    let filter = json!({"notifications": {"toolsListChanged": true}});
    let mut listening = Modern::new(place.http()).begin("subscriptions/listen", &filter).await;
    listening.message().await.expect("an acknowledgement");
    // Clients of both eras share a connection.
    let before = place.children();
    assert_eq!(before.len(), 1);
    place.to(&[("pipe", &pipe), ("more", "{ native: demo }")], "").await;
    let told = soon("the standing stream", standing.message()).await.expect("a notice");
    assert_eq!(told["method"], "notifications/tools/list_changed");
    let told = soon("the stream of notices", listening.message()).await.expect("a notice");
    assert_eq!(told["method"], "notifications/tools/list_changed");
    list_has(&session, "more__echo", true).await;
    assert!(session.call("more__echo", &json!({"text": "y"})).await["error"].is_null());
    assert_eq!(text(&session.call("pipe__ok", &json!({"text": "z"})).await), "z");
    assert_eq!(place.children(), before, "the same child, and no other");
    place.to(&[("pipe", &pipe)], "").await;
    list_has(&session, "more__echo", false).await;
    assert!(error_message(&session.call("more__echo", &json!({})).await).contains("more__echo"));
    assert_eq!(place.children(), before);
}

#[tokio::test]
async fn a_call_in_flight_ends_well_and_the_child_of_a_removed_server_is_reaped() {
    let pipe = odd_stdio(&[]);
    let mut place = Changing::new(&[("pipe", &pipe)], "").await;
    let session = Arc::new(Legacy::open(place.http()).await);
    assert_eq!(text(&session.call("pipe__ok", &json!({"text": "x"})).await), "x");
    let children = place.children();
    let arguments = json!({"ms": 3000, "text": "finished"});
    let mut calls = under_way(&session, "pipe__late", &arguments).await;
    place.to(&[], "").await;
    assert!(error_message(&session.call("pipe__ok", &json!({})).await).contains("pipe__ok"), "it is gone");
    assert!(children.iter().all(|child| is_running(*child)), "the call still runs");
    let answer = soon("the answer", calls.join_next()).await.expect("one call").expect("no panic");
    assert_eq!(text(&answer), "finished");
    until("the child's end", || children.iter().all(|child| !is_running(*child))).await;
    place.gateway.log().has("closed its links").await;
    assert_eq!(text(&session.call("good__echo", &json!({"a": 1})).await), "{\"a\":1}");
}

#[tokio::test]
async fn a_changed_server_gets_another_child() {
    let mut place = Changing::new(&[("pipe", &odd_stdio(&[]))], "").await;
    let (session, modern) = (Legacy::open(place.http()).await, Modern::new(place.http()));
    assert_eq!(text(&session.call("pipe__ok", &json!({"text": "x"})).await), "x");
    let old = place.children();
    let other = odd_stdio(&[]).replace(" }", ", env: { WHO: other } }");
    place.to(&[("pipe", &other)], "").await;
    list_has(&session, "pipe__ok", true).await;
    assert_eq!(text(&session.call("pipe__ok", &json!({"text": "y"})).await), "y");
    // Clients of each era have separate lists.
    assert_eq!(text(&modern.call("pipe__ok", &json!({"text": "z"})).await), "z");
    until("the old child's end", || old.iter().all(|child| !is_running(*child))).await;
    assert!(!place.children().is_empty());
}

#[tokio::test]
async fn a_new_server_that_takes_its_time_holds_up_what_asks_for_it_and_nothing_else() {
    let (gate, open) = tokio::sync::watch::channel(false);
    let slow = Puppet::start_gated(open, |_, received| match received.method() {
        "tools/list" => {
            let tools = json!([{"name": "late", "inputSchema": {"type": "object"}}]);
            Said::Result(json!({"tools": tools}), String::new())
        }
        _ => Said::Proper,
    });
    let (slow, mut place) = (slow.await, Changing::new(&[], "").await);
    let session = Arc::new(Legacy::open(place.http()).await);
    let modern = Modern::new(place.http());
    modern.ask("tools/list", &json!({})).await;
    place.to(&[("slow", &slow.config())], "").await;
    let mut lists = tokio::task::JoinSet::new();
    let (asking, http) = (session.clone(), place.http());
    lists.spawn(async move { asking.ask("tools/list", &json!({})).await });
    lists.spawn(async move { Modern::new(http).ask("tools/list", &json!({})).await });
    assert_eq!(text(&session.call("good__echo", &json!({"a": 1})).await), "{\"a\":1}");
    assert_eq!(text(&modern.call("good__echo", &json!({"a": 2})).await), "{\"a\":2}");
    assert!(session.ask("ping", &json!({})).await["error"].is_null());
    assert!(lists.try_join_next().is_none(), "it is there with what it lacks");
    gate.send_replace(true);
    while let Some(list) = soon("a list", lists.join_next()).await {
        let names = tool_names(&list.expect("no panic"));
        let has = |tool| names.iter().any(|name| name == tool);
        assert!(has("slow__late") && has("good__echo"), "{names:?}");
    }
}

#[tokio::test]
async fn lists_have_a_new_server_however_soon_they_are_asked_for() {
    let mut place = Changing::new(&[], "").await;
    let (session, modern) = (Legacy::open(place.http()).await, Modern::new(place.http()));
    for _ in 0..15 {
        place.to(&[("more", "{ native: demo }")], "").await;
        list_has(&session, "more__echo", true).await;
        let names = tool_names(&modern.ask("tools/list", &json!({})).await);
        assert!(names.iter().any(|name| name == "more__echo"), "{names:?}");
        place.to(&[], "").await;
        list_has(&session, "more__echo", false).await;
    }
}

#[tokio::test]
async fn a_faulty_file_changes_nothing() {
    let pipe = odd_stdio(&[]);
    let mut place = Changing::new(&[("pipe", &pipe)], "").await;
    let session = Legacy::open(place.http()).await;
    assert_eq!(text(&session.call("pipe__ok", &json!({"text": "x"})).await), "x");
    let children = place.children();
    for (times, faulty) in ["mcpServers: { pipe: { comand: x } }\n", "mcpServers: [\n"].iter().enumerate() {
        place.gateway.write(faulty);
        place.gateway.signal(Signal::HUP);
        place.gateway.log().has_times(REFUSED, times + 1).await;
    }
    place.gateway.log().has("comand").await;
    assert_eq!(text(&session.call("pipe__ok", &json!({"text": "y"})).await), "y");
    assert_eq!(place.children(), children);
    // A configuration that would be refused at the start is also refused now.
    place.gateway.write("listen: 0.0.0.0:8808\nmcpServers: { more: { native: demo } }\n");
    place.gateway.signal(Signal::HUP);
    place.to(&[("pipe", &pipe), ("more", "{ native: demo }")], "").await;
    list_has(&session, "more__echo", true).await;
}

/// A tool that a server's entry excludes is in no list and cannot be called, in any profile and era, as soon as the file
/// excludes it.
#[tokio::test]
async fn excluded_tools_are_gone_everywhere() {
    let rest = "profiles: { one: { servers: [more], names: plain } }\n";
    let mut place = Changing::new(&[("more", "{ native: demo, excludeTools: [echo] }")], rest).await;
    let session = Legacy::open(place.http()).await;
    list_has(&session, "more__hello", true).await;
    list_has(&session, "more__echo", false).await;
    let one = Modern { path: "/mcp/one".to_owned(), ..Modern::new(place.http()) };
    let said = json!({"text": "x", "name": "x"});
    for answer in [session.call("more__echo", &said).await, one.call("echo", &said).await] {
        assert!(error_message(&answer).contains("unknown tool"), "{answer}");
    }
    // Another server of the default profile has such a tool, so it has this name now.
    assert!(session.call("echo", &said).await["result"]["content"].is_array());
    place.to(&[("more", "{ native: demo, disabledTools: [hello] }")], rest).await;
    list_has(&session, "more__echo", true).await;
    list_has(&session, "more__hello", false).await;
    place.to(&[("more", "{ native: demo, tools: [hello] }")], rest).await;
    let listed = one.ask("tools/list", &json!({})).await;
    assert_eq!(tool_names(&listed), ["hello"]);
    assert!(error_message(&one.call("echo", &said).await).contains("unknown tool"));
}

#[tokio::test]
async fn a_change_of_the_file_is_noticed() {
    let place = Changing::new(&[], "").await;
    let session = Legacy::open(place.http()).await;
    place.gateway.write(&Scene::config(&place.good, &[("more", "{ native: demo }")], ""));
    place.gateway.log().has(IN_FORCE).await;
    list_has(&session, "more__echo", true).await;
}

#[tokio::test]
async fn profiles_come_and_go() {
    let mut place = Changing::new(&[], "profiles: { one: { servers: [good] } }\n").await;
    let path = "/mcp/one";
    let session = Legacy::open_at(place.http(), path, LEGACY, &json!({})).await;
    let mut standing = session.listen().await;
    let filter = json!({"notifications": {"toolsListChanged": true}});
    let modern = |path: &str| Modern { path: path.to_owned(), ..Modern::new(place.gateway.http()) };
    let mut listening = modern(path).begin("subscriptions/listen", &filter).await;
    listening.message().await.expect("an acknowledgement");
    let two = modern("/mcp/two");
    place.to(&[], "profiles: { two: { servers: [good], names: plain } }\n").await;
    assert_eq!(session.begin("tools/list", &json!({})).await.status, 404);
    soon("the end of its stream", async { while standing.event().await.is_some() {} }).await;
    let last = async {
        let mut last = None;
        while let Some(said) = listening.message().await {
            last = Some(said);
        }
        last.expect("a last word")
    };
    assert_eq!(soon("the end of its stream", last).await["result"]["resultType"], "complete");
    assert_eq!(text(&two.call("echo", &json!({"a": 1})).await), "{\"a\":1}");
    place.to(&[], "profiles: { one: { servers: [good], names: plain } }\n").await;
    let again = Legacy::open_at(place.http(), path, LEGACY, &json!({})).await;
    assert_eq!(text(&again.call("echo", &json!({"a": 2})).await), "{\"a\":2}");
}

#[tokio::test]
async fn rules_count_at_once_also_in_sessions_that_are_open() {
    let mut place = Changing::new(&[], "").await;
    let session = Legacy::open(place.http()).await;
    let before = tool_names(&session.ask("tools/list", &json!({})).await);
    assert!(before.iter().any(|name| name == "good__echo"));
    place.to(&[], "access: [ { deny: 'good__echo' } ]\n").await;
    let after = tool_names(&session.ask("tools/list", &json!({})).await);
    assert!(after.len() + 1 == before.len() && !after.iter().any(|name| name == "good__echo"), "{after:?}");
    assert!(error_message(&session.call("good__echo", &json!({})).await).contains("good__echo"));
    let modern = Modern::new(place.http()).call("good__echo", &json!({})).await;
    assert!(error_message(&modern).contains("good__echo"), "{modern}");
    place.to(&[], "auth: { bearer: 'a-token-that-nobody-guesses' }\n").await;
    assert_eq!(session.begin("tools/list", &json!({})).await.status, 401);
    let token = [("Authorization", "Bearer a-token-that-nobody-guesses")];
    let list = request(1, "tools/list", &json!({})).to_string();
    assert_eq!(session.post(&token, &list).await.status, 404, "it was another's session");
    place.to(&[], "").await;
    // State that callers did not share is not shared later: the server's lists are fetched again, and requests wait for
    // them.
    assert_eq!(tool_names(&session.ask("tools/list", &json!({})).await), before);
}

#[tokio::test]
async fn a_session_of_a_profile_that_is_gone_ends_with_its_last_call() {
    let pipe = odd_stdio(&[]);
    let mut place = Changing::new(&[("pipe", &pipe)], "profiles: { one: { servers: [pipe] } }\n").await;
    let session = Arc::new(Legacy::open_at(place.http(), "/mcp/one", LEGACY, &json!({})).await);
    let mut standing = session.listen().await;
    let mut calls = under_way(&session, "pipe__late", &json!({"ms": 2000, "text": "finished"})).await;
    place.to(&[("pipe", &pipe)], "").await;
    assert!(calls.try_join_next().is_none(), "the call still runs");
    let answer = soon("the answer", calls.join_next()).await.expect("one call").expect("no panic");
    assert_eq!(text(&answer), "finished");
    soon("the end of its stream", async { while standing.event().await.is_some() {} }).await;
}

/// A client's event stream at a profile with a dialect, and the path for its messages.
async fn events_at(http: Http, path: &str) -> (Reply, String) {
    let mut stream = http.get(path, &[("Accept", "text/event-stream")]).await;
    assert!(stream.status == 200 && stream.is_stream(), "{path}: {}", stream.status);
    let first = stream.event().await.expect("an event");
    let place = first.split_once("data: ").expect("the endpoint first").1.to_owned();
    (stream, place)
}

/// Reads a stream to its end.
async fn ends(mut stream: Reply) {
    soon("the end of a stream", async { while stream.event().await.is_some() {} }).await;
}

#[tokio::test]
async fn event_streams_of_dialects_end_with_what_they_were_opened_under() {
    let two = "two: { servers: [good], dialect: gateway }";
    let both = format!("profiles: {{ one: {{ servers: [good], dialect: gateway }}, {two} }}\n");
    let last = format!("profiles: {{ {two} }}\n");
    let mut place = Changing::new(&[], &both).await;
    let http = place.http();
    let (gone, (mut stays, messages)) =
        (events_at(http, "/mcp/one").await.0, events_at(http, "/mcp/two").await);
    place.to(&[], &last).await;
    ends(gone).await;
    // The stream of an existing profile continues.
    http.post(&messages, &[], &request("still", "ping", &json!({})).to_string()).await;
    let answered = async { while !stays.event().await.expect("an answer").contains("still") {} };
    soon("an answer on the stream", answered).await;
    let stricter = format!("{last}access: [ {{ deny: 'good__echo' }} ]\n");
    place.to(&[], &stricter).await;
    ends(stays).await;
    let open = events_at(http, "/mcp/two").await.0;
    place.to(&[], &format!("{stricter}auth: {{ bearer: 'a-token-that-nobody-guesses' }}\n")).await;
    ends(open).await;
    assert_eq!(http.get("/mcp/two", &[("Accept", "text/event-stream")]).await.status, 401);
}

#[tokio::test]
async fn a_request_that_comes_slowly_keeps_no_stream_under_rules_of_before() {
    let mut place = Changing::new(&[], "").await;
    let http = place.http();
    let method = "subscriptions/listen";
    let filter = json!({"notifications": {"toolsListChanged": true}, "_meta": meta(&json!({}))});
    let body = request("slow", method, &filter).to_string();
    let headers = [("MCP-Protocol-Version", MODERN), ("Mcp-Method", method), ("Expect", "100-continue")];
    let mut slow = http.raw(http.head("POST", "/mcp", &headers, body.len()).as_bytes()).await;
    // The gateway requests the body: by then it has authenticated the sender.
    let mut said = Vec::new();
    let asked = async {
        while !said.ends_with(b"\r\n\r\n") {
            assert_ne!(slow.read_buf(&mut said).await.expect("more"), 0, "it was hung up");
        }
    };
    soon("the wish for the body", asked).await;
    assert!(said.starts_with(b"HTTP/1.1 100"), "{}", String::from_utf8_lossy(&said));
    place.to(&[], "access: [ { deny: 'good__echo' } ]\n").await;
    slow.write_all(body.as_bytes()).await.expect("room to write");
    ends(Reply::read(slow).await).await;
}

#[tokio::test]
async fn what_needs_a_restart_is_named() {
    let mut place = Changing::new(&[], "").await;
    let rest = "tls: { cert: cert.pem, key: key.pem }\nlimits: { sessions: 3 }\n";
    place.to(&[("more", "{ native: demo }")], rest).await;
    place.gateway.log().has("take effect after a restart").await;
    let log = place.gateway.log().text();
    let line = log.lines().find(|line| line.contains("take effect after a restart")).expect("a line");
    assert!(line.contains("tls") && !line.contains("limits"), "{line}");
    let session = Legacy::open(place.http()).await;
    list_has(&session, "more__echo", true).await;
}

#[tokio::test]
async fn many_clients_notice_nothing_of_many_changes() {
    let pipe = odd_stdio(&[]);
    let mut place = Changing::new(&[("pipe", &pipe)], "").await;
    let http = place.http();
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let mut clients = tokio::task::JoinSet::new();
    for number in 0..4 {
        let stopped = stopped.clone();
        clients.spawn(async move {
            let session = Legacy::open(http).await;
            let mut calls = 0;
            loop {
                let said = format!("{number}-{calls}");
                let answer = session.call("pipe__ok", &json!({"text": said})).await;
                assert_eq!(text(&answer), said);
                let answer = Modern::new(http).call("good__echo", &json!({"a": calls})).await;
                assert_eq!(text(&answer), format!("{{\"a\":{calls}}}"));
                calls += 1;
                if *stopped.borrow() {
                    return;
                }
            }
        });
    }
    for turn in 0..6 {
        let more = format!("{{ native: demo, description: 'turn {turn}' }}");
        let both = [("pipe", &*pipe), ("more", &*more)];
        place.to(if turn % 2 == 0 { &both } else { &both[..1] }, "").await;
    }
    stop.send(true).expect("they listen");
    while let Some(ended) = clients.join_next().await {
        ended.expect("no call failed");
    }
}
