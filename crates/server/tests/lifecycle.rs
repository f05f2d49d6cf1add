//! Starting and ending: readiness, signals, calls in flight, children, exit codes.

mod support;

use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, Signal, getrlimit, setrlimit};
use serde_json::json;
use support::*;
use testkit::fixture::Eras;

/// A time that is enough even on a busy machine.
const QUICK: Duration = Duration::from_secs(10);

#[tokio::test]
async fn a_call_in_flight_is_finished_and_nothing_new_begun() {
    let scene = Scene::new(&[("pipe", &odd_stdio(&[]))], "").await;
    let http = scene.http();
    let children = descendants_of(scene.gateway.pid());
    assert!(!children.is_empty());
    let session = Arc::new(Legacy::open(http).await);
    let mut standing = session.listen().await;
    let arguments = json!({"ms": 2000, "text": "finished"});
    let mut calls = under_way(&session, "pipe__late", &arguments).await;
    let started = Instant::now();
    scene.gateway.signal(Signal::TERM);
    until("new connections to be refused", || std::net::TcpStream::connect(http.address).is_err()).await;
    let answer = soon("the answer", calls.join_next()).await.expect("one call").expect("no panic");
    assert_eq!(text(&answer), "finished");
    while standing.event().await.is_some() {}
    let ended = scene.gateway.ended().await;
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
    until("no orphans", || children.iter().all(|child| !is_running(*child))).await;
}

/// The soft and hard limits of a process's open files.
fn files(pid: u32) -> (String, String) {
    let limits = std::fs::read_to_string(format!("/proc/{pid}/limits")).expect("Linux");
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files")).expect("this limit");
    let mut words = line.split_whitespace().map(str::to_owned);
    (words.next().expect("a soft limit"), words.next().expect("a hard limit"))
}

#[tokio::test]
async fn as_many_files_may_be_open_as_the_system_allows_but_not_in_children() {
    let own = getrlimit(Resource::Nofile);
    // Enough for the other tests that run at the same time.
    let few = own.maximum.map_or(900, |most| most.min(900) - 1);
    setrlimit(Resource::Nofile, Rlimit { current: Some(few), ..own }).expect("less is always allowed");
    let logged = Start { env: &[("DRAGOMAN_LOG", "info")], ..Start::default() };
    let scene = Scene::start_with(&[("pipe", &odd_stdio(&[]))], "", &logged).await;
    let (soft, hard) = files(scene.gateway.pid());
    assert_eq!(soft, hard);
    scene.gateway.log().has("raised the limit on open files").await;
    let children = descendants_of(scene.gateway.pid());
    assert!(!children.is_empty());
    for child in children {
        assert_eq!(files(child), (few.to_string(), hard.clone()));
    }
}

#[tokio::test]
async fn the_drain_has_an_end() {
    for signal in [Signal::TERM, Signal::INT] {
        let scene = Scene::new(&[("pipe", &odd_stdio(&[]))], "limits: { drainTimeout: 300ms }\n").await;
        let children = descendants_of(scene.gateway.pid());
        let session = scene.witness();
        let call = json!({"name": "pipe__late", "arguments": {"ms": 600_000}});
        let begun = async {
            let mut bytes = Vec::new();
            let body = request(9, "tools/call", &call).to_string();
            bytes.extend_from_slice(
                session.http.head("POST", "/mcp", &session.headers(), body.len()).as_bytes(),
            );
            bytes.extend_from_slice(body.as_bytes());
            session.http.raw(&bytes).await
        };
        let open = begun.await;
        assert_eq!(text(&session.call("pipe__ok", &json!({"text": "x"})).await), "x");
        let started = Instant::now();
        scene.gateway.signal(signal);
        let ended = scene.gateway.ended().await;
        assert_eq!(ended.code, Some(0), "{signal:?}: {}", ended.err);
        assert!(started.elapsed() < QUICK, "{signal:?}: {:?}", started.elapsed());
        // The client is not left waiting: it gets an error or the end of its connection.
        soon("the end of the call", Reply::try_read(open)).await;
        until("no orphans", || children.iter().all(|child| !is_running(*child))).await;
    }
}

#[tokio::test]
async fn children_that_will_not_go_are_ended_with_all_that_they_started() {
    let stubborn =
        "{ command: sh, args: [-c, 'trap \"\" TERM HUP; sleep 1000 & while :; do sleep 1000; done'] }";
    let limits = "limits: { connectTimeout: 30s, drainTimeout: 300ms, childStopTimeout: 200ms }\n";
    let good = fixture(Eras::Both).await;
    let gateway = Gateway::start(&Scene::config(&good, &[("stubborn", stubborn)], limits)).await;
    until("the stubborn one and its child", || descendants_of(gateway.pid()).len() >= 2).await;
    let family = descendants_of(gateway.pid());
    let started = Instant::now();
    let ended = gateway.stop().await;
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert!(started.elapsed() < QUICK, "{:?}", started.elapsed());
    until("no orphans", || family.iter().all(|one| !is_running(*one))).await;
}

#[tokio::test]
async fn an_idle_gateway_stops_at_once() {
    for signal in [Signal::TERM, Signal::INT] {
        let scene = Scene::new(&[("pipe", &odd_stdio(&[]))], "").await;
        let idle = scene.http().connect().await;
        let started = Instant::now();
        scene.gateway.signal(signal);
        let ended = scene.gateway.ended().await;
        assert_eq!(ended.code, Some(0), "{signal:?}: {}", ended.err);
        // The drain does not wait for open sessions and idle connections: its ten seconds are not needed.
        assert!(started.elapsed() < Duration::from_secs(8), "{signal:?}: {:?}", started.elapsed());
        drop(idle);
    }
}

#[tokio::test]
async fn open_streams_end_when_it_stops() {
    let scene = Scene::new(&[], "").await;
    let session = scene.witness();
    let mut standing = session.listen().await;
    let filter = json!({"notifications": {"toolsListChanged": true}});
    let mut listening = Modern::new(scene.http()).begin("subscriptions/listen", &filter).await;
    let first = listening.message().await.expect("an acknowledgement");
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    let started = Instant::now();
    scene.gateway.signal(Signal::TERM);
    while standing.event().await.is_some() {}
    let last = listening.message().await.expect("a last word");
    assert_eq!(last["result"]["resultType"], "complete", "{last}");
    assert_eq!(listening.event().await, None);
    assert_eq!(scene.gateway.ended().await.code, Some(0));
    assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
}

#[tokio::test]
async fn while_it_stops_it_is_not_ready() {
    let scene = Scene::new(&[("pipe", &odd_stdio(&[]))], "").await;
    // An existing connection is served to the end of its request, and gets a correct status.
    let mut kept = scene.http().connect().await;
    let call = slow_call_in_background(&scene);
    scene.gateway.signal(Signal::TERM);
    until("new connections to be refused", || std::net::TcpStream::connect(scene.http().address).is_err())
        .await;
    let head = scene.http().head("GET", "/ready", &[], 0);
    let written = tokio::io::AsyncWriteExt::write_all(&mut kept, head.as_bytes()).await;
    let answered = match written {
        Ok(()) => soon("an answer or the end", Reply::try_read(kept)).await,
        Err(_) => None,
    };
    assert!(answered.is_none_or(|reply| reply.status == 503));
    drop(call);
    assert_eq!(scene.gateway.ended().await.code, Some(0));
}

fn slow_call_in_background(scene: &Scene) -> tokio::task::JoinHandle<()> {
    let http = scene.http();
    tokio::spawn(async move {
        let session = Legacy::open(http).await;
        session.call("pipe__late", &json!({"ms": 1000})).await;
    })
}

#[tokio::test]
async fn a_client_that_goes_takes_nothing_along() {
    let scene = Scene::new(&[("pipe", &odd_stdio(&["--modern"]))], "").await;
    let modern = Modern::new(scene.http());
    for _ in 0..20 {
        let mut params = json!({"name": "pipe__late", "arguments": {"ms": 300}});
        params["_meta"] = meta(&json!({}));
        let body = request("gone", "tools/call", &params).to_string();
        let headers =
            [("MCP-Protocol-Version", MODERN), ("Mcp-Method", "tools/call"), ("Mcp-Name", "pipe__late")];
        let mut bytes = scene.http().head("POST", "/mcp", &headers, body.len()).into_bytes();
        bytes.extend_from_slice(body.as_bytes());
        drop(scene.http().raw(&bytes).await);
    }
    assert_eq!(text(&modern.call("pipe__ok", &json!({"text": "x"})).await), "x");
    scene.is_well().await;
}

#[tokio::test]
async fn an_address_that_is_taken_is_told() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("its address").to_string();
    let config = "mcpServers: { demo: { native: demo } }\n";
    let ended =
        run_to_end("serve", &Start { config, args: &["--listen", &address], ..Start::default() }).await;
    assert_eq!(ended.code, Some(1), "{}", ended.err);
    assert!(ended.err.contains(&address), "{}", ended.err);
}

#[tokio::test]
async fn a_configuration_with_faults_serves_nothing() {
    let config = "mcpServers: { demo: { nativ: demo } }\n";
    for command in ["serve", "stdio"] {
        let ended = run_to_end(command, &Start { config, ..Start::default() }).await;
        assert_eq!(ended.code, Some(2), "{}", ended.err);
        assert!(ended.err.contains("nativ") && ended.err.contains("dragoman.yaml"), "{}", ended.err);
        assert_eq!(ended.out, "");
    }
}

#[tokio::test]
async fn servers_are_told_that_their_sessions_end() {
    let actor = Actor::start(Speaks::Handshake).await;
    let gateway = Gateway::start(&format!("mcpServers:\n  up: {}\n", actor.config())).await;
    // A shared child, a child of a session, and a child of a call.
    let session = Legacy::open_at(gateway.http(), "/mcp", LEGACY, &json!({"roots": {}})).await;
    let asked = Modern { capabilities: json!({"roots": {}}), ..Modern::new(gateway.http()) };
    let params = json!({"name": "up__ok", "arguments": {}});
    let answering = async { actor.next("tools/call").await.answer_text("done") };
    assert_eq!(text(&tokio::join!(session.ask("tools/call", &params), answering).0), "done");
    let answering = async { actor.next("tools/call").await.answer_text("done") };
    assert_eq!(text(&tokio::join!(asked.ask("tools/call", &params), answering).0), "done");
    assert!(actor.count("initialize") >= 3);
    assert_eq!(actor.count("DELETE"), 0);
    assert_eq!(gateway.stop().await.code, Some(0));
    assert_eq!(actor.count("DELETE"), actor.count("initialize"));
}

#[tokio::test]
async fn a_server_that_is_not_used_is_told_so_and_begun_with_anew() {
    let actor = Actor::start(Speaks::Handshake).await;
    let config = format!("mcpServers:\n  up: {}\nlimits: {{ sessionIdle: 1s }}\n", actor.config());
    let gateway = Gateway::start(&config).await;
    let client = Modern::new(gateway.http());
    let params = json!({"name": "up__ok", "arguments": {}});
    for round in 1..=2 {
        let answering = async { actor.next("tools/call").await.answer_text("done") };
        assert_eq!(text(&tokio::join!(client.ask("tools/call", &params), answering).0), "done");
        assert_eq!(actor.count("initialize"), round);
        actor.was_sent("DELETE", round).await;
    }
}

#[tokio::test]
async fn a_server_that_takes_its_time_over_goodbyes_holds_up_no_other() {
    let puppet = Puppet::start(|_, received| match received.method() {
        "DELETE" => Said::Hold(Vec::new()),
        "initialize" => Said::Result(
            json!({
                "protocolVersion": LEGACY, "capabilities": {"tools": {}},
                "serverInfo": {"name": "puppet", "version": "1"},
            }),
            "Mcp-Session-Id: one\r\n".to_owned(),
        ),
        _ => Said::Proper,
    })
    .await;
    // Each session has a separate session at the server, which ends with it.
    let server = puppet.config();
    let server = server.trim_end().trim_end_matches('}');
    let config =
        format!("mcpServers:\n  up: {server}, affinity: session }}\nlimits: {{ sessionIdle: 1s }}\n");
    let gateway = Gateway::start(&config).await;
    for _ in 0..6 {
        let session = Legacy::open_at(gateway.http(), "/mcp", LEGACY, &json!({"roots": {}})).await;
        assert_eq!(text(&session.call("up__ok", &json!({})).await), "ok");
    }
    puppet.was_sent("DELETE", 1).await;
    let first = Instant::now();
    puppet.was_sent("DELETE", 6).await;
    assert!(first.elapsed() < Duration::from_secs(5), "{:?}", first.elapsed());
}

#[tokio::test]
async fn what_the_start_alone_needed_is_given_back_and_calls_go_on() {
    let scene = Scene::new(&[("pipe", &odd_stdio(&[]))], "").await;
    let pid = scene.gateway.pid();
    let session = Legacy::open(scene.http()).await;
    until("less memory than at the start", || memory_now(pid) < peak_memory(pid) / 4 * 3).await;
    let arguments = json!({"ms": 1, "text": "still here"});
    let call = request("one", "tools/call", &json!({"name": "pipe__late", "arguments": arguments}));
    let answer = session.post(&[], &call.to_string()).await.response().await;
    assert_eq!(text(&answer), "still here");
}
