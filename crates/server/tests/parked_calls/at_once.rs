//! The number of calls that run at one server at the same time, and the treatment of further calls.

use std::path::Path;

use serde_json::{Value, json};
use store::audit::{AuditEntry, Log, Query};
use tokio::task::JoinSet;

use crate::support::{Actor, Gateway, LEGACY, Legacy, Modern, Speaks, Start, error_message, soon, text};
use crate::{accepted, askable, asked, call, form, gateway, retry};

/// The actor's configuration with these further keys.
fn limited(actor: &Actor, keys: &str) -> String {
    format!("{}, {keys} }}", actor.config().trim_end_matches([' ', '}']))
}

#[tokio::test]
async fn one_call_too_many_is_refused_and_may_be_sent_again() {
    let actor = Actor::start(Speaks::Handshake).await;
    let gateway = gateway(&limited(&actor, "concurrentCalls: 1, waitingCalls: 1"), "").await;
    let mut open = JoinSet::new();
    let begin = |number: u64| {
        let http = gateway.http();
        async move {
            let client = Modern::new(http);
            let mut reply = client.begin("tools/call", &call("up__ok", &json!({"n": number}))).await;
            (reply.status, reply.response().await)
        }
    };
    open.spawn(begin(0));
    let first = actor.next("tools/call").await;
    open.spawn(begin(1));
    open.spawn(begin(2));
    let (status, refusal) = soon("a refusal", open.join_next()).await.expect("calls").expect("an answer");
    let message = error_message(&refusal);
    assert_eq!(status, 429, "{refusal}");
    assert!(message.contains("`concurrentCalls`") && message.contains("1 wait"), "{message}");
    assert_eq!(refusal["error"]["data"], json!({"server": "up", "retry": true, "executed": "no"}));
    assert_eq!(actor.count("tools/call"), 1, "one runs at a time");
    first.answer_text("first");
    let second = actor.next("tools/call").await;
    let mut answered = async || open.join_next().await.expect("a call").expect("an answer").1;
    assert_eq!(text(&answered().await), "first");
    second.answer_text("second");
    assert_eq!(text(&answered().await), "second");
}

#[tokio::test]
async fn operators_see_which_calls_run_wait_and_ask() {
    let actor = Actor::start(Speaks::Handshake).await;
    let gateway = gateway(&limited(&actor, "concurrentCalls: 1"), "management: { rate: 1000000/1m }\n").await;
    let (one, two, nothing) = (askable(&gateway), Modern::new(gateway.http()), json!({}));
    let listed = async |states: &[&str]| loop {
        let mut reply = gateway.http().get("/api/calls/running", &[]).await;
        assert_eq!(reply.status, 200);
        let answer = reply.json().await;
        let calls = answer["calls"].as_array().expect("calls").clone();
        if calls.iter().map(|call| call["state"].as_str().unwrap_or_default()).eq(states.iter().copied()) {
            assert_eq!(answer["total"], calls.len());
            break calls;
        }
    };
    let params = call("up__ok", &nothing);
    let watched = async {
        let line = actor.next("tools/call").await;
        let (second, ()) = tokio::join!(two.call("up__other", &nothing), async {
            let calls = soon("both calls", listed(&["running", "waiting"])).await;
            let facts = |call: &Value| {
                ["tool", "server", "method", "principal"].map(|key| call[key].as_str().map(str::to_owned))
            };
            let expected =
                |tool: &str| [tool, "up", "tools/call", "anyone"].map(|text| Some(text.to_owned()));
            assert_eq!(facts(&calls[0]), expected("up__ok"));
            assert_eq!(facts(&calls[1]), expected("up__other"));
            line.ask("q", "elicitation/create", &form());
            soon("a turn", listed(&["asking", "running"])).await;
            actor.next("tools/call").await.answer_text("second");
        });
        soon("the question alone", listed(&["asking"])).await;
        (line, second)
    };
    let (first, (line, second)) = tokio::join!(one.ask("tools/call", &params), watched);
    asked(&first);
    assert_eq!(text(&second), "second");
    let again = retry(&params, &first, &accepted("Ada"));
    let (last, ()) = tokio::join!(one.ask("tools/call", &again), async {
        actor.response("q").await;
        let calls = soon("the resumed call", listed(&["running"])).await;
        assert_eq!(calls[0]["tool"], "up__ok");
        line.answer_text("done");
    });
    assert_eq!(text(&last), "done");
    soon("no calls", listed(&[])).await;
}

#[tokio::test]
async fn a_call_that_is_cancelled_while_it_waits_is_never_sent() {
    let actor = Actor::start(Speaks::Handshake).await;
    let config = format!("mcpServers:\n  up: {}\n", limited(&actor, "concurrentCalls: 1"));
    let with = Start { config: &config, env: &[("DRAGOMAN_LOG", "debug")], ..Start::default() };
    let gateway = Gateway::start_with(&with).await;
    let (one, two, three) = (
        Legacy::open(gateway.http()).await,
        Legacy::open(gateway.http()).await,
        Legacy::open(gateway.http()).await,
    );
    let nothing = json!({});
    let (first, second, ()) =
        tokio::join!(one.call("up__ok", &nothing), three.call("up__ok", &nothing), async {
            let line = actor.next("tools/call").await;
            gateway.log().has("a call waits for its turn").await;
            let params = call("up__other", &nothing);
            let mut given_up = std::pin::pin!(two.begin("tools/call", &params));
            tokio::select! {
                _ = &mut given_up => panic!("it was answered"),
                () = gateway.log().has_times("a call waits for its turn", 2) => {}
            }
            two.notify("notifications/cancelled", &json!({"requestId": two.last()})).await;
            line.answer_text("first");
            actor.next("tools/call").await.answer_text("second");
        });
    assert_eq!(text(&first).len() + text(&second).len(), "firstsecond".len());
    let sent: Vec<Value> = actor.received().iter().map(|one| one.body["params"]["name"].clone()).collect();
    assert!(!sent.contains(&json!("other")), "{sent:?}");
}

#[tokio::test]
async fn a_call_whose_turn_does_not_come_in_time_was_not_executed() {
    let actor = Actor::start(Speaks::Handshake).await;
    let keys = "concurrentCalls: 1, toolCalls: { other: { timeout: 100ms } }";
    let gateway = gateway(&limited(&actor, keys), "").await;
    let (one, two) = (Legacy::open(gateway.http()).await, Legacy::open(gateway.http()).await);
    let nothing = json!({});
    let (first, ()) = tokio::join!(one.call("up__ok", &nothing), async {
        let line = actor.next("tools/call").await;
        let late = two.call("up__other", &nothing).await;
        assert!(error_message(&late).contains("`concurrentCalls`"), "{late}");
        assert_eq!(late["error"]["data"]["executed"], "no", "{late}");
        assert_eq!(late["error"]["data"]["retry"], true, "{late}");
        line.answer_text("done");
    });
    assert_eq!((text(&first), actor.count("tools/call")), ("done", 1));
}

#[tokio::test]
async fn a_client_that_is_asked_may_call_before_it_answers() {
    let actor = Actor::start(Speaks::Handshake).await;
    let gateway = gateway(&limited(&actor, "concurrentCalls: 1"), "").await;
    let session = Legacy::open_at(gateway.http(), "/mcp", LEGACY, &json!({"elicitation": {}})).await;
    let params = call("up__ok", &json!({}));
    let (mut outer, line) = tokio::join!(session.begin("tools/call", &params), async {
        let line = actor.next("tools/call").await;
        line.ask("q", "elicitation/create", &form());
        line
    });
    let question = outer.message().await.expect("a question");
    let nothing = json!({});
    let (inner, ()) = tokio::join!(session.call("up__other", &nothing), async {
        actor.next("tools/call").await.answer_text("inner");
    });
    assert_eq!(text(&inner), "inner");
    let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": accepted("Ada")}).to_string();
    assert_eq!(session.post(&[], &answer).await.status, 202);
    actor.response("q").await;
    line.answer_text("outer");
    assert_eq!(text(&outer.response().await), "outer");
}

#[tokio::test]
async fn a_call_that_waits_for_its_client_leaves_its_turn_to_others() {
    let actor = Actor::start(Speaks::Handshake).await;
    let gateway = gateway(&limited(&actor, "concurrentCalls: 1"), "").await;
    let client = askable(&gateway);
    let params = call("up__ok", &json!({}));
    let (first, line) = tokio::join!(client.ask("tools/call", &params), async {
        let line = actor.next("tools/call").await;
        line.ask("q", "elicitation/create", &form());
        line
    });
    asked(&first);
    let other = Modern::new(gateway.http());
    let nothing = json!({});
    let (between, ()) = tokio::join!(other.call("up__other", &nothing), async {
        actor.next("tools/call").await.answer_text("between");
    });
    assert_eq!(text(&between), "between");
    let again = retry(&params, &first, &accepted("Ada"));
    let (last, ()) = tokio::join!(client.ask("tools/call", &again), async {
        actor.response("q").await;
        line.answer_text("done");
    });
    assert_eq!(text(&last), "done");
}

/// The entries of a record, the oldest first.
fn entries(record: &Path) -> Vec<AuditEntry> {
    let found = Log::open(record).and_then(|log| log.query(&Query { limit: 10, ..Query::default() }));
    found.expect("a sound file").into_iter().rev().map(|one| one.entry).collect()
}

#[tokio::test]
async fn the_record_has_one_entry_per_request_with_its_tries_and_its_wait() {
    let actor = Actor::start(Speaks::Handshake).await;
    let record = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("tries-{}.db", std::process::id()));
    let config = format!(
        "audit: {{ file: '{}' }}\nmcpServers:\n  up: {}\n",
        record.display(),
        limited(&actor, "concurrentCalls: 1")
    );
    let with = Start { config: &config, env: &[("DRAGOMAN_LOG", "debug")], ..Start::default() };
    let gateway = Gateway::start_with(&with).await;
    let (one, two) = (Legacy::open(gateway.http()).await, Legacy::open(gateway.http()).await);
    let nothing = json!({});
    let answer = async || actor.next("tools/call").await.answer_text("done");
    let call =
        async |client: &Legacy, tool: &str| assert_eq!(text(&client.call(tool, &nothing).await), "done");
    tokio::join!(call(&one, "up__ok"), answer());
    let first = async {
        let line = actor.next("tools/call").await;
        let waits = async {
            gateway.log().has("a call waits for its turn").await;
            line.answer_text("done");
            answer().await;
        };
        tokio::join!(call(&two, "up__other"), waits);
    };
    tokio::join!(call(&one, "up__ok"), first);
    // A server that has forgotten its sessions is sent the request again.
    actor.forget_sessions();
    tokio::join!(call(&one, "up__ok"), answer());
    assert_eq!(actor.count("tools/call"), 5);
    gateway.stop().await;
    let entries = entries(&record);
    drop(std::fs::remove_file(&record));
    let tries: Vec<(Option<&str>, u32)> =
        entries.iter().map(|one| (one.tool.as_deref(), one.tries)).collect();
    let mut sorted = tries.clone();
    sorted.sort_unstable();
    assert_eq!(
        sorted,
        [(Some("up__ok"), 1), (Some("up__ok"), 1), (Some("up__ok"), 2), (Some("up__other"), 1)]
    );
    // The first call of a session waits for its link; the next one is sent at once.
    assert!(entries.iter().any(|one| one.tries == 1 && one.waited_us == 0), "{entries:?}");
    for waited in entries.iter().filter(|one| one.tries == 2 || one.tool.as_deref() == Some("up__other")) {
        assert!(waited.waited_us > 0 && waited.waited_us <= waited.duration_us, "{waited:?}");
    }
}
