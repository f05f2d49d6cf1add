//! Calls of every outcome in the figures, and names that do not exist.

use serde_json::{Value, json};
use testkit::fixture::Eras;

use crate::figures::Figures;
use crate::support::*;

/// Checks that two numbers are equal; all of them are counts.
fn same(what: &str, is: f64, expected: f64) {
    assert!((is - expected).abs() < 1e-9, "{what}: {is} instead of {expected}");
}

#[tokio::test]
async fn without_the_key_there_is_nothing_at_the_path() {
    let gateway = Gateway::start("mcpServers: { demo: { native: demo } }\n").await;
    assert_eq!(gateway.http().get("/metrics", &[]).await.status, 404);
}

#[tokio::test]
async fn calls_count_by_server_tool_and_outcome_in_every_version() {
    let pipe = odd_stdio(&[]);
    let good = fixture(Eras::Both).await;
    let rest =
        "access: [{ deny: good__test_image_content }]\nmetrics: true\nlimits: { callIdleTimeout: 2s }\n";
    let config =
        Scene::config(&good, &[("pipe", &pipe), ("gone", "{ url: 'http://127.0.0.1:9/mcp' }")], rest);
    let gateway = Gateway::start(&config).await;
    let (session, modern) = (Legacy::open(gateway.http()).await, Modern::new(gateway.http()));
    for _ in 0..3 {
        assert!(session.call("good__echo", &json!({"a": 1})).await["error"].is_null());
        assert!(modern.call("pipe__ok", &json!({"text": "x"})).await["error"].is_null());
    }
    session.call("good__test_error_handling", &json!({})).await;
    session.call("good__test_image_content", &json!({})).await;
    session.call("nobody__has_this", &json!({})).await;
    modern.call("pipe__silent", &json!({})).await;
    session.ask("no/such/method", &json!({})).await;
    let figures = Figures::read(gateway.http()).await;
    let requested = |server, outcome| figures.requested("tools/call", server, outcome);
    same("good", requested("good", "ok"), 3.0);
    same("pipe", requested("pipe", "ok"), 3.0);
    same("a silent server", requested("pipe", "unavailable"), 1.0);
    same("a failing tool", requested("good", "tool_error"), 1.0);
    same("a denied tool", requested("", "denied"), 1.0);
    same("an unknown tool", requested("", "not_found"), 1.0);
    same("echo", figures.tool("good", "echo", "ok"), 3.0);
    same("ok", figures.tool("pipe", "ok", "ok"), 3.0);
    same("a failed tool", figures.tool("good", "test_error_handling", "error"), 1.0);
    let seconds = figures.value("dragoman_tool_seconds_total{upstream=\"good\",tool=\"echo\"}");
    assert!(seconds > 0.0 && seconds < 60.0, "{seconds}");
    let sent =
        "mcp_client_operation_duration_seconds_count{method=\"tools/call\",upstream=\"good\",outcome=\"ok\"}";
    same("sent", figures.value(sent), 3.0);
    let overhead = figures.value("dragoman_overhead_seconds_count");
    assert!(overhead >= 3.0, "{overhead}");
    same("up", figures.value("dragoman_upstream_up{upstream=\"good\"}"), 1.0);
    same("not up", figures.value("dragoman_upstream_up{upstream=\"gone\"}"), 0.0);
    let state = "dragoman_upstream_state{upstream=\"gone\",state=\"unreachable\",reason=\"connection\"}";
    same("the state", figures.value(state), 1.0);
    same("sessions", figures.value("dragoman_sessions{kind=\"mcp\"}"), 1.0);
    same(
        "the version",
        figures.value(concat!("dragoman_build_info{version=\"", env!("CARGO_PKG_VERSION"), "\"}")),
        1.0,
    );
    for name in
        ["process_resident_memory_bytes", "process_open_fds", "process_threads", "process_cpu_seconds_total"]
    {
        assert!(figures.names().contains(&name), "{name}");
    }
}

#[tokio::test]
async fn a_server_whose_state_differs_between_callers_is_neither_up_nor_down() {
    let config = "mcpServers:\n  each: { url: 'http://127.0.0.1:9/mcp', passHeaders: [x-tenant] }\n  \
                  all: { url: 'http://127.0.0.1:9/mcp' }\nmetrics: true\n";
    let gateway = Gateway::start(config).await;
    let figures = Figures::read(gateway.http()).await;
    let has = |start: &str| figures.names().iter().any(|name| name.starts_with(start));
    assert!(has("dragoman_upstream_up{upstream=\"all\"}"), "{:?}", figures.names());
    assert!(!has("dragoman_upstream_up{upstream=\"each\""), "{:?}", figures.names());
    assert!(has("dragoman_upstream_state{upstream=\"each\""), "{:?}", figures.names());
}

#[tokio::test]
async fn what_exceeds_the_cap_is_counted_together_and_reported() {
    const SERVERS: usize = 60;
    let servers: Vec<_> = (0..SERVERS).map(|number| format!("s{number}: {{ native: demo }}")).collect();
    let config = format!("mcpServers: {{ {} }}\nmetrics: {{ series: 100 }}\n", servers.join(", "));
    let gateway = Gateway::start(&config).await;
    let session = Legacy::open(gateway.http()).await;
    for number in 0..SERVERS {
        let answer = session.call(&format!("s{number}__echo"), &json!({"text": "x"})).await;
        assert!(answer["error"].is_null(), "{answer}");
    }
    let figures = Figures::read(gateway.http()).await;
    let own: f64 = (0..SERVERS).map(|number| figures.tool(&format!("s{number}"), "echo", "ok")).sum();
    same("tools with their own series", own, 50.0);
    same("the other tools", figures.tool("_OTHER", "_OTHER", "ok"), 10.0);
    let seconds = figures.value("dragoman_tool_seconds_total{upstream=\"_OTHER\",tool=\"_OTHER\"}");
    assert!(seconds > 0.0, "{seconds}");
    let own: f64 =
        (0..SERVERS).map(|number| figures.requested("tools/call", &format!("s{number}"), "ok")).sum();
    let others = figures.requested("tools/call", "_OTHER", "ok");
    assert!(others >= 55.0, "{others}");
    same("all calls", own + others, 60.0);
    let overflow = |family| figures.value(&format!("dragoman_series_overflow_total{{family=\"{family}\"}}"));
    same("calls of tools above the cap", overflow("dragoman_tool_calls"), 10.0);
    assert!(overflow("mcp_server_operation_duration_seconds") >= 55.0);
    // Each server has two series there.
    same("left out", figures.value("dragoman_series_left_out{family=\"dragoman_upstream_calls\"}"), 20.0);
}

#[tokio::test]
async fn a_scraper_gets_the_format_that_it_asks_for() {
    let gateway = Gateway::start("mcpServers: { demo: { native: demo } }\nmetrics: true\n").await;
    Legacy::open(gateway.http()).await.call("demo__echo", &json!({"text": "x"})).await;
    let accept = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.2";
    let mut reply = gateway.http().get("/metrics", &[("Accept", accept)]).await;
    assert_eq!(reply.header("content-type"), "application/openmetrics-text; version=1.0.0; charset=utf-8");
    let text = reply.text().await;
    assert!(text.ends_with("# EOF\n") && text.contains("\ndragoman_tool_calls_total{"), "{text}");
    let answer = gateway.http().post("/metrics", &[], "{}").await;
    assert_eq!((answer.status, answer.header("allow")), (405, "GET"));
}

/// A batch of calls in which every tool and every client has a name of its own.
fn batch(first: usize, count: usize) -> String {
    let one = |number: usize| {
        let client = json!({"name": format!("client-{number}"), "version": number.to_string()});
        let meta = json!({"io.modelcontextprotocol/clientInfo": client});
        let params = json!({"name": format!("tool-{number}"), "arguments": {}, "_meta": meta});
        request(number.to_string(), "tools/call", &params)
    };
    Value::Array((first..first + count).map(one).collect()).to_string()
}

/// Opens and ends a session of a client with its own name and version.
async fn introduce(http: Http, number: usize) {
    let client = json!({"name": format!("other-{number}"), "version": number.to_string()});
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
    let opened = http.post("/mcp", &[], &request("i", "initialize", &hello).to_string()).await;
    assert_eq!(opened.status, 200);
    let ended = http.delete("/mcp", &[("Mcp-Session-Id", opened.header("mcp-session-id"))]).await;
    assert!((200..300).contains(&ended.status), "{}", ended.status);
}

#[tokio::test]
async fn a_hundred_thousand_names_leave_the_figures_and_the_memory_unchanged() {
    const NAMES: usize = 100_000;
    const AT_ONCE: usize = 1000;
    // Each introduction is a request of its own, because a batch may not contain one.
    const INTRODUCTIONS: usize = 2000;
    let config = "mcpServers: { demo: { native: demo } }\nmetrics: true\nlimits: { batch: 1000 }\n";
    let gateway = Gateway::start(config).await;
    let session = Legacy::open_at(gateway.http(), "/mcp", "2025-03-26", &json!({})).await;
    session.call("demo__echo", &json!({"text": "x"})).await;
    let send = |first: usize| {
        let session = &session;
        async move {
            let mut reply = session.post(&[], &batch(first, AT_ONCE)).await;
            let answers = reply.text().await;
            assert_eq!(answers.matches("unknown tool").count(), AT_ONCE, "{answers:.300}");
        }
    };
    // The first names fill buffers that stay.
    for round in 0..20 {
        send(NAMES + round * AT_ONCE).await;
    }
    for number in 0..20 {
        introduce(gateway.http(), number).await;
    }
    let names = |figures: &Figures| figures.names().iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let (before, memory) = (names(&Figures::read(gateway.http()).await), memory_now(gateway.pid()));
    for round in 0..NAMES / AT_ONCE {
        send(round * AT_ONCE).await;
    }
    for number in 20..INTRODUCTIONS {
        introduce(gateway.http(), number).await;
    }
    let figures = Figures::read(gateway.http()).await;
    assert_eq!(names(&figures), before);
    same("all of them", figures.requested("tools/call", "", "not_found"), 120_000.0);
    let grown = memory_now(gateway.pid()).saturating_sub(memory);
    assert!(grown < 4 << 20, "the memory grew by {grown} bytes");
}
