//! Clients and servers that disconnect meanwhile.

use rustix::process::Signal;
use serde_json::json;

use crate::support::{
    Actor, Speaks, children_of, error_code, error_message, kill, quoted, soon, text, until,
};
use crate::{accepted, askable, asked, call, form, gateway, retry};

/// The fixture as a child process that supports only sessions.
pub(crate) fn child() -> String {
    let program = testkit::fixture::program();
    let program = quoted(program.to_str().expect("a path in UTF-8"));
    format!("{{ command: {program}, args: [--stdio, --eras, legacy] }}")
}

#[tokio::test]
async fn a_server_that_ends_its_stream_meanwhile_is_an_error_at_once() {
    let actor = Actor::start(Speaks::Handshake).await;
    let gateway = gateway(&actor.config(), "").await;
    let client = askable(&gateway);
    let params = call("up__ok", &json!({}));
    let (first, line) = tokio::join!(client.ask("tools/call", &params), async {
        let line = actor.next("tools/call").await;
        line.ask(1, "elicitation/create", &form());
        line
    });
    line.close();
    // The server may still work on the call and ask questions, so no other client gets that session.
    actor.was_sent("DELETE", 1).await;
    let answer = client.ask("tools/call", &retry(&params, &first, &accepted("Ada"))).await;
    assert_eq!(error_code(&answer), -32603);
    assert!(error_message(&answer).contains("server \"up\""), "{answer}");
    assert_eq!(actor.count("POST"), 0, "nobody is there to be answered");
}

#[tokio::test]
async fn a_child_that_dies_meanwhile_is_an_error_at_once_and_the_next_call_has_another() {
    let gateway = gateway(&child(), "").await;
    let client = askable(&gateway);
    let params = call("up__test_input_required_result_elicitation", &json!({}));
    let first = client.ask("tools/call", &params).await;
    asked(&first);
    for child in children_of(gateway.pid()) {
        kill(child, Signal::KILL);
        until("a child's end", || !children_of(gateway.pid()).contains(&child)).await;
    }
    let answer = client.ask("tools/call", &retry(&params, &first, &accepted("Ada"))).await;
    assert_eq!(error_code(&answer), -32603, "{answer}");
    assert!(error_message(&answer).contains("server \"up\""), "{answer}");
    let first = client.ask("tools/call", &params).await;
    let second = client.ask("tools/call", &retry(&params, &first, &accepted("Bob"))).await;
    assert_eq!(text(&second), "Hello, Bob!");
}

#[tokio::test]
async fn a_client_that_closes_its_stream_has_cancelled() {
    let actor = Actor::start(Speaks::Handshake).await;
    let gateway = gateway(&actor.config(), "").await;
    let client = askable(&gateway);
    let mut params = call("up__ok", &json!({}));
    params["_meta"] = json!({"progressToken": 1});
    let (mut reply, line) = tokio::join!(client.begin("tools/call", &params), async {
        let line = actor.next("tools/call").await;
        line.progress(1);
        line
    });
    assert_eq!(reply.message().await.expect("progress")["params"]["progress"], 1);
    drop(reply);
    actor.heard_of("notifications/cancelled", &line).await;
    line.gone().await;
    let (answer, ()) = tokio::join!(client.ask("tools/call", &params), async {
        actor.next("tools/call").await.answer_text("another");
    });
    assert_eq!(text(&answer), "another");
}

#[tokio::test]
async fn a_client_that_leaves_before_its_answer_is_written_leaves_nothing_behind() {
    let actor = Actor::start(Speaks::Handshake).await;
    let limits = "limits: { requestStateLifetime: 1s }\n";
    let gateway = gateway(&actor.config(), limits).await;
    let client = askable(&gateway);
    let params = call("up__ok", &json!({}));
    let asking = tokio::spawn({
        let (client, params) = (client.clone(), params.clone());
        async move { client.ask("tools/call", &params).await }
    });
    let line = actor.next("tools/call").await;
    asking.abort();
    assert!(soon("the end of a task", asking).await.is_err());
    actor.heard_of("notifications/cancelled", &line).await;
    line.gone().await;
}
