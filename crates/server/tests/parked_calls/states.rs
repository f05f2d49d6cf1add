//! States that are wrong, late, or used twice.

use serde_json::{Value, json};

use crate::support::{Actor, Line, Modern, Speaks, error_code, error_message, text};
use crate::{accepted, askable, asked, call, form, gateway, retry};

/// Starts a call that leads to a question; returns the answer that the client gets, and the server's side of the call.
async fn asking(client: &Modern, actor: &Actor, params: &Value) -> (Value, Line) {
    tokio::join!(client.ask("tools/call", params), async {
        let line = actor.next("tools/call").await;
        line.ask(format!("q{}", actor.count("tools/call")), "elicitation/create", &form());
        line
    })
}

fn refused(answer: &Value, words: &str) {
    assert_eq!(error_code(answer), -32602, "{answer}");
    assert!(error_message(answer).contains(words), "{answer}");
}

#[tokio::test]
async fn a_state_is_good_for_its_own_request_alone() {
    let actor = Actor::start(Speaks::Handshake).await;
    let gateway = gateway(&actor.config(), "").await;
    let client = askable(&gateway);
    let params = call("up__ok", &json!({"n": 1, "o": {"a": 1, "b": 2}}));
    let (first, line) = asking(&client, &actor, &params).await;
    let good = retry(&params, &first, &accepted("Ada"));
    let (state, _) = asked(&first);
    let altered = |at: usize| {
        let mut text = state.clone().into_bytes();
        text[at] = if text[at] == b'A' { b'B' } else { b'A' };
        let mut params = good.clone();
        params["requestState"] = json!(String::from_utf8(text).expect("ASCII"));
        params
    };
    let with = |key: &str, value: Value| {
        let mut params = good.clone();
        params[key] = value;
        params
    };
    for (wrong, words) in [
        (altered(0), "altered"),
        (altered(state.len() / 2), "altered"),
        (altered(state.len() - 2), "altered"),
        (with("requestState", json!("")), "altered"),
        (with("requestState", json!(state[1..])), "altered"),
        (with("requestState", json!(7)), "must be a string"),
        (with("arguments", json!({"n": 2, "o": {"a": 1, "b": 2}})), "issued for another request"),
        (with("name", json!("up__other")), "issued for another request"),
        (with("inputResponses", json!("yes")), "params.inputResponses must be an object"),
    ] {
        refused(&client.ask("tools/call", &wrong).await, words);
    }
    assert_eq!((actor.count("tools/call"), actor.count("POST")), (1, 0), "none of it reached the server");
    // With another spelling, it is the same request.
    let respelled = with("arguments", json!({"o": {"b": 2, "a": 1}, "n": 1}));
    let (second, ()) = tokio::join!(client.ask("tools/call", &respelled), async {
        assert_eq!(actor.response("q1").await["result"], accepted("Ada"));
        line.answer_text("done");
    });
    assert_eq!(text(&second), "done");
}

#[tokio::test]
async fn a_state_is_good_once() {
    let actor = Actor::start(Speaks::Handshake).await;
    let gateway = gateway(&actor.config(), "").await;
    let client = askable(&gateway);
    let params = call("up__ok", &json!({}));
    let (first, line) = asking(&client, &actor, &params).await;
    let again = retry(&params, &first, &accepted("Ada"));
    let (one, two, ()) =
        tokio::join!(client.ask("tools/call", &again), client.ask("tools/call", &again), async {
            actor.response("q1").await;
            line.answer_text("done");
        });
    let (good, bad) = if one.get("result").is_some() { (one, two) } else { (two, one) };
    assert_eq!(text(&good), "done");
    refused(&bad, "no longer waiting");
    refused(&client.ask("tools/call", &again).await, "no longer waiting");
    assert_eq!((actor.count("tools/call"), actor.count("POST")), (1, 1), "it was answered once");
}

#[tokio::test]
async fn an_older_rounds_state_answers_no_newer_question() {
    let actor = Actor::start(Speaks::Handshake).await;
    let gateway = gateway(&actor.config(), "").await;
    let client = askable(&gateway);
    let params = call("up__ok", &json!({}));
    let (first, line) = asking(&client, &actor, &params).await;
    let old = retry(&params, &first, &accepted("Ada"));
    let (second, ()) = tokio::join!(client.ask("tools/call", &old), async {
        actor.response("q1").await;
        line.ask("next", "elicitation/create", &form());
    });
    refused(&client.ask("tools/call", &old).await, "no longer waiting");
    let again = retry(&params, &second, &accepted("Bob"));
    let (third, ()) = tokio::join!(client.ask("tools/call", &again), async {
        assert_eq!(actor.response("next").await["result"], accepted("Bob"));
        line.answer_text("done");
    });
    assert_eq!(text(&third), "done");
}

#[tokio::test]
async fn a_client_that_never_comes_back_is_answered_for_and_its_place_is_free() {
    let actor = Actor::start(Speaks::Handshake).await;
    let limits = "limits: { requestStateLifetime: 1s, parkedCalls: 1 }\n";
    let gateway = gateway(&actor.config(), limits).await;
    let client = askable(&gateway);
    let params = call("up__ok", &json!({}));
    let (first, line) = tokio::join!(client.ask("tools/call", &params), async {
        let line = actor.next("tools/call").await;
        line.ask("user", "elicitation/create", &form());
        line.ask("model", "sampling/createMessage", &json!({"messages": [], "maxTokens": 1}));
        line.ask("roots", "roots/list", &json!({}));
        line
    });
    assert_eq!(actor.response("user").await["result"], json!({"action": "cancel"}));
    for id in ["model", "roots"] {
        let error = actor.response(id).await;
        assert!(error_message(&error).contains("did not answer"), "{error}");
    }
    actor.heard_of("notifications/cancelled", &line).await;
    line.gone().await;
    refused(&client.ask("tools/call", &retry(&params, &first, &accepted("Ada"))).await, "has expired");
    let (first, line) = asking(&client, &actor, &params).await;
    let again = retry(&params, &first, &accepted("Ada"));
    let (second, ()) = tokio::join!(client.ask("tools/call", &again), async {
        actor.response("q2").await;
        line.answer_text("done");
    });
    assert_eq!(text(&second), "done");
}

#[tokio::test]
async fn more_calls_than_may_wait_are_refused_and_their_servers_told() {
    let actor = Actor::start(Speaks::Handshake).await;
    let gateway = gateway(&actor.config(), "limits: { parkedCalls: 1 }\n").await;
    let client = askable(&gateway);
    let params = call("up__ok", &json!({}));
    let (first, line) = asking(&client, &actor, &params).await;
    let (second, refused_line) = asking(&client, &actor, &params).await;
    assert_eq!(error_code(&second), -32603);
    assert!(error_message(&second).contains("too many calls are waiting"), "{second}");
    assert_eq!(actor.response("q2").await["result"], json!({"action": "cancel"}));
    actor.heard_of("notifications/cancelled", &refused_line).await;
    refused_line.gone().await;
    let again = retry(&params, &first, &accepted("Ada"));
    let (third, ()) = tokio::join!(client.ask("tools/call", &again), async {
        assert_eq!(actor.response("q1").await["result"], accepted("Ada"));
        line.answer_text("done");
    });
    assert_eq!(text(&third), "done", "the first one is not disturbed");
}

#[tokio::test]
async fn a_state_of_a_gateway_with_another_state_folder_says_so() {
    let actor = Actor::start(Speaks::Handshake).await;
    let params = call("up__ok", &json!({}));
    let before = gateway(&actor.config(), "").await;
    let (first, _line) = asking(&askable(&before), &actor, &params).await;
    before.stop().await;
    let after = gateway(&actor.config(), "").await;
    let again = retry(&params, &first, &accepted("Ada"));
    refused(&askable(&after).ask("tools/call", &again).await, "sealed under a key that is no longer kept");
}
