//! Callers that share a process of a server with state in memory: five owners, each of whom asks for the number of its
//! process.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::rig::*;
use crate::support::*;

/// A server with these additional keys.
fn server(more: &str) -> String {
    let server = odd_stdio(&[]);
    format!("{}, {more} }}", server.trim_end().trim_end_matches('}'))
}

/// Clients that support questions and therefore need dedicated connections.
async fn askable(http: Http) -> Legacy {
    Legacy::open_at(http, "/mcp", LEGACY, &json!({"elicitation": {}})).await
}

async fn process(session: &Legacy) -> String {
    text(&session.call("up__late", &json!({"ms": 0, "process": true})).await).to_owned()
}

#[tokio::test]
async fn each_session_keeps_a_process_of_its_own() {
    let gateway = Gateway::start(&format!("mcpServers: {{ up: {} }}\n", server("affinity: session"))).await;
    let mut sessions = Vec::new();
    for number in 0..5 {
        // It makes no difference whether the server can ask.
        let capabilities = if number % 2 == 0 { json!({}) } else { json!({"elicitation": {}}) };
        let session = Legacy::open_at(gateway.http(), "/mcp", LEGACY, &capabilities).await;
        let first = process(&session).await;
        sessions.push((session, first));
    }
    let processes: HashSet<&String> = sessions.iter().map(|(_, process)| process).collect();
    assert_eq!(processes.len(), 5, "{processes:?}");
    for _ in 0..2 {
        for (session, first) in &sessions {
            assert_eq!(process(session).await, *first);
        }
    }
}

#[tokio::test]
async fn a_session_without_room_waits_for_one_that_ends() {
    let keys = "affinity: session, dedicatedConnections: 1";
    let gateway = Gateway::start(&format!("mcpServers: {{ up: {} }}\n", server(keys))).await;
    let (one, two) = (Legacy::open(gateway.http()).await, Legacy::open(gateway.http()).await);
    let first = process(&one).await;
    let mut waiting = std::pin::pin!(process(&two));
    assert!(
        tokio::time::timeout(Duration::from_millis(600), &mut waiting).await.is_err(),
        "it got the other's"
    );
    assert_eq!(process(&one).await, first);
    one.delete().await;
    assert_ne!(soon("a process of its own", waiting).await, first);
}

#[tokio::test]
async fn each_caller_keeps_a_process_of_its_own() {
    let state = State::new();
    let config = format!(
        "mcpServers: {{ up: {} }}\nauth: {{ keys: true }}\n{}",
        server("affinity: caller"),
        state.line()
    );
    let gateway = Gateway::start(&config).await;
    let mut processes = HashSet::new();
    for name in ["a", "b", "c", "d", "e"] {
        let value = bearer(&state.new_key(&[name]).await);
        let http = gateway.http().showing(&value);
        let one = Legacy::open(http).await;
        let first = process(&one).await;
        let stateless = Modern::new(http);
        assert_eq!(
            text(&stateless.call("up__late", &json!({"ms": 0, "process": true})).await),
            first,
            "without a session"
        );
        assert_eq!(process(&Legacy::open(http).await).await, first, "in another session");
        assert_eq!(process(&one).await, first);
        processes.insert(first);
    }
    assert_eq!(processes.len(), 5, "{processes:?}");
}

#[tokio::test]
async fn callers_share_the_dedicated_connections_of_a_server() {
    let state = State::new();
    let config = format!(
        "mcpServers: {{ up: {} }}\nlimits: {{ listWait: 0ms }}\nauth: {{ keys: true }}\n{}",
        server("affinity: caller, dedicatedConnections: 1"),
        state.line()
    );
    let gateway = Gateway::start(&config).await;
    let one = askable(gateway.http().showing(&bearer(&state.new_key(&["a"]).await))).await;
    let first = process(&one).await;
    let two = askable(gateway.http().showing(&bearer(&state.new_key(&["b"]).await))).await;
    let mut waiting = std::pin::pin!(process(&two));
    assert!(
        tokio::time::timeout(Duration::from_millis(600), &mut waiting).await.is_err(),
        "there is one for each caller"
    );
    assert_eq!(process(&one).await, first, "it was promised to its caller");
    one.delete().await;
    assert_ne!(soon("a process of its own", waiting).await, first);
}

/// A server with a caller's lists: those of the first fetch have the tool `ok`; later ones never arrive, or have another tool.
async fn lists(later: Option<&'static str>) -> Puppet {
    Puppet::start(move |number, received| match (received.method(), later) {
        ("tools/list", None) if number >= 1 => Said::Hold(Vec::new()),
        ("tools/list", Some(name)) if number >= 1 => {
            let tools = json!([{"name": name, "inputSchema": {"type": "object"}}]);
            Said::Result(json!({"tools": tools}), String::new())
        }
        _ => Said::Proper,
    })
    .await
}

/// The time for which a list waits for the tools of a server of which nothing is known.
const LIST_WAIT: Duration = Duration::from_secs(30);

/// A gateway in front of this server, which is known by now.
async fn knowing(puppet: &Puppet, state: &State) -> Gateway {
    let config = format!(
        "mcpServers: {{ up: {{ url: '{}', headers: {{ Authorization: 'Bearer k' }}, affinity: caller }} }}\n\
         limits: {{ listWait: {}s, callIdleTimeout: 5m, callTimeout: 5m }}\nauth: {{ keys: true }}\n{}",
        puppet.url(),
        LIST_WAIT.as_secs(),
        state.line()
    );
    let gateway = Gateway::start(&config).await;
    soon("the common lists", async { while gateway.http().get("/ready", &[]).await.status != 200 {} }).await;
    gateway
}

#[tokio::test]
async fn a_new_caller_sees_the_common_lists_before_its_own_are_fetched() {
    let (state, puppet) = (State::new(), lists(None).await);
    let gateway = knowing(&puppet, &state).await;
    let http = gateway.http().showing(&bearer(&state.new_key(&["a"]).await));
    let begun = Instant::now();
    let list = Legacy::open(http).await.ask("tools/list", &json!({})).await;
    assert_eq!(tool_names(&list), ["up__ok"]);
    let list = Modern::new(http).ask("tools/list", &json!({})).await;
    assert_eq!(tool_names(&list), ["up__ok"]);
    assert!(begun.elapsed() < LIST_WAIT, "they waited for its own lists: {:?}", begun.elapsed());
    puppet.was_sent("tools/list", 2).await;
}

#[tokio::test]
async fn a_caller_leaves_the_common_lists_when_its_own_connection_lists_others() {
    let (state, puppet) = (State::new(), lists(Some("own")).await);
    let gateway = knowing(&puppet, &state).await;
    let http = gateway.http().showing(&bearer(&state.new_key(&["a"]).await));
    let client = Legacy::open(http).await;
    let own = async { while tool_names(&client.ask("tools/list", &json!({})).await) != ["up__own"] {} };
    soon("its own lists", own).await;
}

async fn status(gateway: &Gateway) -> Value {
    let mut reply = gateway.http().get("/api/mcp-servers/up/status", &[]).await;
    serde_json::from_str(&reply.text().await).expect("a status")
}

#[tokio::test]
async fn the_log_says_once_that_a_client_was_moved() {
    let config = format!("management: true\nmcpServers: {{ up: {} }}\n", server("dedicatedConnections: 2"));
    let with = Start { config: &config, env: &[("DRAGOMAN_LOG", "info")], ..Start::default() };
    let gateway = Gateway::start_with(&with).await;
    let (one, two, three) =
        (askable(gateway.http()).await, askable(gateway.http()).await, askable(gateway.http()).await);
    let first = process(&one).await;
    let second = process(&two).await;
    assert_ne!(first, second);
    let status = status(&gateway).await;
    assert_eq!(status["connections"], json!({"shared": 1, "dedicated": 2, "waiting": 0}), "{status}");
    assert!(status["moves"] == 0 && status["advice"].is_null(), "{status}");
    // The third caller takes the connection with the fewest calls, which is the first caller's, and keeps it busy.
    let mut long = three
        .begin("tools/call", &json!({"name": "up__late", "arguments": {"ms": 4000, "process": true}}))
        .await;
    assert_eq!(long.message().await.expect("a log message")["params"]["data"], "begun");
    assert_eq!(process(&one).await, second, "there is no other");
    gateway.log().has("a connection was taken from one client and given to another").await;
    let status = self::status(&gateway).await;
    assert_eq!(
        status["moves"], 2,
        "the third took the first one's, and the first the second one's: {status}"
    );
    assert!(status["advice"].as_str().is_some_and(|text| text.contains("affinity: session")), "{status}");
    assert_eq!(text(&long.response().await), first);
}

#[tokio::test]
async fn each_move_of_five_owners_among_four_processes_is_counted() {
    let config = format!("management: true\nmcpServers: {{ up: {} }}\n", server("affinity: shared"));
    let gateway = Gateway::start(&config).await;
    let mut owners = Vec::new();
    for _ in 0..5 {
        owners.push(askable(gateway.http()).await);
    }
    // The last owner of each process: an owner that finds another one's process has taken it.
    let (mut last, mut taken) = (HashMap::new(), 0);
    for _ in 0..2 {
        for (number, owner) in owners.iter().enumerate() {
            let before = last.insert(process(owner).await, number);
            taken += u64::from(before.is_some_and(|before| before != number));
        }
    }
    let status = status(&gateway).await;
    assert_eq!(status["connections"]["dedicated"], 4, "{status}");
    assert!(taken > 0 && last.len() == 4, "{taken} taken, {last:?}");
    assert_eq!(status["moves"], taken, "{status}");
    assert!(status["advice"].as_str().is_some_and(|text| text.contains("affinity: session")), "{status}");
}

#[tokio::test]
async fn a_caller_without_a_session_gets_the_process_back_that_it_had() {
    let state = State::new();
    let config = format!(
        "mcpServers: {{ up: {} }}\nauth: {{ keys: true }}\n{}",
        server("affinity: shared"),
        state.line()
    );
    let gateway = Gateway::start(&config).await;
    let mut callers = Vec::new();
    for name in ["a", "b"] {
        let http = gateway.http().showing(&bearer(&state.new_key(&[name]).await));
        callers.push(Modern { capabilities: json!({"elicitation": {}}), ..Modern::new(http) });
    }
    let call = |ms: u64| json!({"name": "up__late", "arguments": {"ms": ms, "process": true}});
    // Both call at once, and the other one ends last, so its process is the one that was used last.
    let (short, long) = (call(1500), call(3000));
    let (first, second) =
        tokio::join!(callers[0].ask("tools/call", &short), callers[1].ask("tools/call", &long));
    let (first, second) = (text(&first).to_owned(), text(&second).to_owned());
    assert_ne!(first, second);
    let short = call(0);
    assert_eq!(text(&callers[0].ask("tools/call", &short).await), first);
    assert_eq!(text(&callers[1].ask("tools/call", &short).await), second);
}

#[tokio::test]
async fn a_client_with_roots_alone_goes_on_without_them_where_there_is_no_room() {
    let config = format!("mcpServers: {{ up: {} }}\n", server("dedicatedConnections: 1"));
    let gateway =
        Gateway::start_with(&Start { config: &config, env: &[("DRAGOMAN_LOG", "info")], ..Start::default() })
            .await;
    let shared = process(&Legacy::open(gateway.http()).await).await;
    let busy = askable(gateway.http()).await;
    let params = json!({"name": "up__late", "arguments": {"ms": 600_000, "process": true}});
    let mut long = busy.begin("tools/call", &params).await;
    assert_eq!(long.message().await.expect("a log message")["params"]["data"], "begun");
    let roots = json!({"roots": {}});
    let session = Legacy::open_at(gateway.http(), "/mcp", LEGACY, &roots).await;
    assert_eq!(soon("the shared process", process(&session)).await, shared);
    gateway.log().has("a client with roots uses the shared connection").await;
    let stateless = Modern { capabilities: roots, ..Modern::new(gateway.http()) };
    let arguments = json!({"ms": 0, "process": true});
    let answer = soon("the shared process", stateless.call("up__late", &arguments)).await;
    assert_eq!(text(&answer), shared);
    drop(long);
}

/// The largest number of a caller's calls that may have a dedicated connection to a child, or wait for one: a quarter of
/// all 257.
const SHARE: usize = 64;

#[tokio::test]
async fn a_call_that_can_be_asked_never_runs_where_its_client_cannot_be() {
    let state = State::new();
    let config = format!(
        "mcpServers: {{ up: {} }}\nauth: {{ keys: true }}\naudit: true\n{}",
        server("dedicatedConnections: 1"),
        state.line()
    );
    let gateway = Gateway::start(&config).await;
    let key = bearer(&state.new_key(&["a"]).await);
    let http = gateway.http().showing(&key);
    let askable = || Modern { capabilities: json!({"elicitation": {}}), ..Modern::new(http) };
    let call = |ms: u64| json!({"name": "up__late", "arguments": {"ms": ms, "process": true}});
    let mut open = JoinSet::new();
    for _ in 0..=SHARE {
        let client = askable();
        open.spawn(async move {
            let mut reply = client.begin("tools/call", &call(600_000)).await;
            (reply.status, reply.response().await)
        });
    }
    // The last call is refused; all others run or wait.
    let (status, answer) = open.join_next().await.expect("65 calls").expect("an answer");
    assert_eq!(status, 429, "it ran where its client cannot be asked: {answer}");
    assert!(error_message(&answer).contains("too many calls need a dedicated connection"), "{answer}");
    let plain = Modern::new(http).call("up__late", &json!({"ms": 0, "process": true})).await;
    assert!(!text(&plain).is_empty(), "those that cannot be asked share a connection");
    open.shutdown().await;
    soon("room", async { while askable().begin("tools/call", &call(0)).await.status == 429 {} }).await;
}
