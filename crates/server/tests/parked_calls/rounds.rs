//! Clients with a handshake, stateless servers: results with questions become requests.

use serde_json::{Value, json};

use crate::support::{
    Actor, LEGACY, Legacy, Line, Reply, Speaks, Start, Stdio, error_code, error_message, text,
};
use crate::{accepted, call, form, gateway};

/// A server's result with these questions.
fn asking(requests: &Value, state: &str) -> Value {
    json!({"resultType": "input_required", "inputRequests": requests, "requestState": state})
}

fn elicit() -> Value {
    json!({"method": "elicitation/create", "params": form()})
}

fn sample() -> Value {
    json!({"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}})
}

async fn askable(gateway: &crate::support::Gateway) -> Legacy {
    let capabilities = json!({"elicitation": {}, "sampling": {}, "roots": {}});
    Legacy::open_at(gateway.http(), "/mcp", LEGACY, &capabilities).await
}

/// The next question on a stream: its ID and its method.
async fn question(reply: &mut Reply) -> (u64, String) {
    let message = reply.message().await.expect("a question");
    let id = message["id"].as_u64().unwrap_or_else(|| panic!("no question: {message}"));
    (id, message["method"].as_str().expect("a method").to_owned())
}

/// The progress in the next message of a stream.
async fn progress(reply: &mut Reply) -> Value {
    let message = reply.message().await.expect("a notice");
    assert_eq!(message["method"], "notifications/progress", "{message}");
    assert_eq!(message["params"]["progressToken"], "mine", "{message}");
    message["params"].clone()
}

#[tokio::test]
async fn progress_rises_through_all_rounds() {
    let actor = Actor::start(Speaks::Stateless).await;
    let gateway = gateway(&actor.config(), "").await;
    let client = askable(&gateway).await;
    let mut params = call("up__ok", &json!({}));
    params["_meta"] = json!({"progressToken": "mine"});
    let (mut reply, ()) = tokio::join!(client.begin("tools/call", &params), async {
        let line = actor.next("tools/call").await;
        line.progress(1);
        line.progress(2);
        line.answer(&asking(&json!({"a": elicit()}), "s"));
    });
    assert_eq!(progress(&mut reply).await["progress"], 1);
    assert_eq!(progress(&mut reply).await["progress"], 2);
    let (id, _) = question(&mut reply).await;
    answer(&client, id, &json!({"result": accepted("Ada")})).await;
    let line = actor.next("tools/call").await;
    line.progress(1);
    let token = &line.received.body["params"]["_meta"]["progressToken"];
    let half = json!({"progressToken": token, "progress": 1.5, "total": 3, "message": "half"});
    line.say(&json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": half}));
    line.answer_text("done");
    assert_eq!(progress(&mut reply).await["progress"], 3);
    let half = json!({"progressToken": "mine", "progress": 3.5, "total": 5, "message": "half"});
    assert_eq!(progress(&mut reply).await, half);
    assert_eq!(text(&reply.response().await), "done");
}

/// The question that a stream cancels.
async fn taken_back(standing: &mut Reply) -> u64 {
    let message = standing.message().await.expect("a notice");
    assert_eq!(message["method"], "notifications/cancelled", "{message}");
    message["params"]["requestId"].as_u64().expect("an id of ours")
}

async fn answer(client: &Legacy, id: u64, outcome: &Value) {
    let mut message = json!({"jsonrpc": "2.0", "id": id});
    for (key, value) in outcome.as_object().expect("an object") {
        message[key] = value.clone();
    }
    assert_eq!(client.post(&[], &message.to_string()).await.status, 202);
}

/// Starts a call that leads to these questions; returns the client's stream and the server's first line.
async fn asked(client: &Legacy, actor: &Actor, requests: &Value) -> (Reply, Line) {
    let params = call("up__ok", &json!({"n": 1}));
    tokio::join!(client.begin("tools/call", &params), async {
        let line = actor.next("tools/call").await;
        line.answer(&asking(requests, "s"));
        line
    })
}

#[tokio::test]
async fn questions_go_out_together_and_their_answers_come_in_one_try() {
    let actor = Actor::start(Speaks::Stateless).await;
    let gateway = gateway(&actor.config(), "").await;
    let client = askable(&gateway).await;
    let requests = json!({"a": elicit(), "b": sample(), "c": {"method": "roots/list"}});
    let (mut reply, first) = asked(&client, &actor, &requests).await;
    let mut ids = Vec::new();
    let sampled = json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "t"}});
    let results = json!({"elicitation/create": accepted("Ada"), "sampling/createMessage": sampled, "roots/list": {"roots": []}});
    let mut open = Vec::new();
    for _ in 0..3 {
        open.push(question(&mut reply).await);
    }
    // In a different order than they arrived.
    for (id, method) in open.iter().rev() {
        assert_eq!(actor.count("tools/call"), 1, "all are answered before it is tried again");
        answer(&client, *id, &json!({"result": results[method]})).await;
        answer(&client, *id, &json!({"result": {"action": "decline"}})).await;
        ids.push(*id);
    }
    let second = actor.next("tools/call").await;
    let (was, is) = (&first.received.body, &second.received.body);
    assert_ne!(was["id"], is["id"]);
    assert_eq!(is["params"]["requestState"], "s");
    assert_eq!(
        is["params"]["inputResponses"],
        json!({"a": accepted("Ada"), "b": sampled, "c": {"roots": []}})
    );
    assert_eq!(was["params"]["arguments"], is["params"]["arguments"]);
    second.answer(&asking(&json!({"a": elicit()}), "t"));
    let (id, _) = question(&mut reply).await;
    assert!(!ids.contains(&id), "no id is used twice");
    answer(&client, id, &json!({"result": {"action": "decline"}})).await;
    let third = actor.next("tools/call").await;
    let params = &third.received.body["params"];
    assert_eq!(
        (&params["requestState"], &params["inputResponses"]),
        (&json!("t"), &json!({"a": {"action": "decline"}}))
    );
    third.answer_text("done");
    assert_eq!(text(&reply.response().await), "done");
}

#[tokio::test]
async fn an_error_closes_a_users_question_and_ends_the_call_for_any_other() {
    let actor = Actor::start(Speaks::Stateless).await;
    let gateway = gateway(&actor.config(), "").await;
    let client = askable(&gateway).await;
    let mut standing = client.listen().await;
    let error = json!({"error": {"code": -1, "message": "User said no"}});
    let (mut reply, _) = asked(&client, &actor, &json!({"a": elicit()})).await;
    let (id, _) = question(&mut reply).await;
    answer(&client, id, &error).await;
    let second = actor.next("tools/call").await;
    assert_eq!(second.received.body["params"]["inputResponses"], json!({"a": {"action": "cancel"}}));
    second.answer_text("without");
    assert_eq!(text(&reply.response().await), "without");
    let (mut reply, _) = asked(&client, &actor, &json!({"a": sample(), "b": elicit()})).await;
    let (one, two) = (question(&mut reply).await, question(&mut reply).await);
    let (id, other) = if one.1 == "sampling/createMessage" { (one.0, two.0) } else { (two.0, one.0) };
    answer(&client, id, &error).await;
    let last = reply.response().await;
    assert_eq!(error_code(&last), -32603);
    assert!(error_message(&last).contains("User said no"), "{last}");
    assert_eq!(taken_back(&mut standing).await, other);
    answer(&client, other, &json!({"result": accepted("late")})).await;
    let (ok, ()) = tokio::join!(client.call("up__ok", &Value::Null), async {
        actor.next("tools/call").await.answer_text("fresh");
    });
    assert_eq!(text(&ok), "fresh");
    assert_eq!(actor.count("tools/call"), 4, "the refused call was not tried again");
}

#[tokio::test]
async fn a_question_that_is_never_answered_ends_with_the_time_of_its_call() {
    let actor = Actor::start(Speaks::Stateless).await;
    let gateway = gateway(&actor.config(), "limits: { callTimeout: 1s }\n").await;
    let client = askable(&gateway).await;
    let (mut reply, _) = asked(&client, &actor, &json!({"a": elicit()})).await;
    let (id, _) = question(&mut reply).await;
    let last = reply.response().await;
    assert_eq!(error_code(&last), -32603);
    assert!(error_message(&last).contains("the client's answer"), "{last}");
    answer(&client, id, &json!({"result": accepted("late")})).await;
    assert_eq!(actor.count("tools/call"), 1);
}

#[tokio::test]
async fn a_client_that_loses_its_stream_can_still_answer() {
    let actor = Actor::start(Speaks::Stateless).await;
    let gateway = gateway(&actor.config(), "").await;
    let client = askable(&gateway).await;
    let (mut reply, _) = asked(&client, &actor, &json!({"a": elicit()})).await;
    let (id, _) = question(&mut reply).await;
    drop(reply);
    answer(&client, id, &json!({"result": accepted("Ada")})).await;
    let second = actor.next("tools/call").await;
    assert_eq!(second.received.body["params"]["inputResponses"], json!({"a": accepted("Ada")}));
    second.answer_text("kept");
    second.gone().await;
}

#[tokio::test]
async fn a_call_that_is_cancelled_while_its_client_is_asked_is_over() {
    let actor = Actor::start(Speaks::Stateless).await;
    let gateway = gateway(&actor.config(), "").await;
    let client = askable(&gateway).await;
    let mut standing = client.listen().await;
    let (mut reply, line) = asked(&client, &actor, &json!({"a": elicit()})).await;
    let (id, _) = question(&mut reply).await;
    client.notify("notifications/cancelled", &json!({"requestId": 1, "reason": "enough"})).await;
    assert_eq!(reply.message().await, None, "no answer to what was cancelled");
    assert_eq!(taken_back(&mut standing).await, id);
    line.gone().await;
    answer(&client, id, &json!({"result": accepted("late")})).await;
    let (ok, ()) = tokio::join!(client.call("up__ok", &Value::Null), async {
        actor.next("tools/call").await.answer_text("fresh");
    });
    assert_eq!(text(&ok), "fresh");
    assert_eq!(actor.count("tools/call"), 2);
    assert_eq!(actor.count("notifications/cancelled"), 0, "nothing was open at the server");
}

#[tokio::test]
async fn a_session_that_ends_takes_its_questions_along() {
    let actor = Actor::start(Speaks::Stateless).await;
    let gateway = gateway(&actor.config(), "").await;
    let client = askable(&gateway).await;
    let (mut reply, line) = asked(&client, &actor, &json!({"a": elicit()})).await;
    let (id, _) = question(&mut reply).await;
    assert!(matches!(client.delete().await.status, 200 | 204));
    assert_eq!(reply.message().await, None);
    line.gone().await;
    let late = json!({"jsonrpc": "2.0", "id": id, "result": accepted("late")});
    assert_eq!(client.post(&[], &late.to_string()).await.status, 404);
    let another = askable(&gateway).await;
    let (ok, ()) = tokio::join!(another.call("up__ok", &Value::Null), async {
        actor.next("tools/call").await.answer_text("fresh");
    });
    assert_eq!(text(&ok), "fresh");
    assert_eq!(actor.count("tools/call"), 2);
}

#[tokio::test]
async fn a_server_that_asks_and_asks_is_given_up() {
    let actor = Actor::start(Speaks::Stateless).await;
    let gateway = gateway(&actor.config(), "").await;
    let client = askable(&gateway).await;
    let (mut reply, _) = asked(&client, &actor, &json!({"a": elicit()})).await;
    let mut rounds = 1;
    let last = loop {
        let message = reply.message().await.expect("a message");
        if message.get("method").is_none() {
            break message;
        }
        let id = message["id"].as_u64().expect("an id");
        answer(&client, id, &json!({"result": accepted("Ada")})).await;
        actor.next("tools/call").await.answer(&asking(&json!({"a": elicit()}), "s"));
        rounds += 1;
        assert!(rounds < 99);
    };
    assert_eq!(error_code(&last), -32603);
    assert!(error_message(&last).contains("asked for input 16 times and still needs more"), "{last}");
    assert_eq!(rounds, 17);
}

#[tokio::test]
async fn a_result_with_nothing_but_a_state_is_tried_again_by_itself() {
    let actor = Actor::start(Speaks::Stateless).await;
    let gateway = gateway(&actor.config(), "").await;
    let client = Legacy::open(gateway.http()).await;
    let arguments = json!({});
    let (last, ()) = tokio::join!(client.call("up__ok", &arguments), async {
        for state in ["one", "two"] {
            let result = json!({"resultType": "input_required", "requestState": state});
            actor.next("tools/call").await.answer(&result);
        }
        let third = actor.next("tools/call").await;
        assert_eq!(third.received.body["params"]["requestState"], "two");
        third.answer_text("done");
    });
    assert_eq!(text(&last), "done");
}

#[tokio::test]
async fn a_server_that_fails_after_the_answers_is_an_error() {
    let actor = Actor::start(Speaks::Stateless).await;
    let gateway = gateway(&actor.config(), "").await;
    let client = askable(&gateway).await;
    let (mut reply, _) = asked(&client, &actor, &json!({"a": elicit()})).await;
    let (id, _) = question(&mut reply).await;
    answer(&client, id, &json!({"result": accepted("Ada")})).await;
    actor.next("tools/call").await.close();
    let last = reply.response().await;
    assert!(error_message(&last).contains("server \"up\""), "{last}");
}

#[tokio::test]
async fn a_client_on_pipes_is_asked_and_may_cancel() {
    let actor = Actor::start(Speaks::Stateless).await;
    let config = format!("mcpServers:\n  up: {}\n", actor.config());
    let mut client = Stdio::start_with(&Start { config: &config, ..Start::default() });
    client.initialize(LEGACY, &json!({"elicitation": {}})).await;
    let id = client.begin("tools/call", &call("up__ok", &json!({}))).await;
    actor.next("tools/call").await.answer(&asking(&json!({"a": elicit()}), "s"));
    let asked = client.message().await;
    assert_eq!(asked["method"], "elicitation/create");
    client.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": accepted("Ada")}).to_string()).await;
    let second = actor.next("tools/call").await;
    assert_eq!(second.received.body["params"]["inputResponses"], json!({"a": accepted("Ada")}));
    second.answer_text("done");
    assert_eq!(text(&client.answer(&id).await), "done");
    let id = client.begin("tools/call", &call("up__ok", &json!({}))).await;
    actor.next("tools/call").await.answer(&asking(&json!({"a": elicit()}), "s"));
    let again = client.message().await;
    assert_ne!(again["id"], asked["id"], "no id is used twice");
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    client.send(&cancel.to_string()).await;
    client.send(&json!({"jsonrpc": "2.0", "id": again["id"], "result": accepted("late")}).to_string()).await;
    assert!(client.ask("ping", &json!({})).await.get("result").is_some());
    client.close().await;
    assert_eq!(actor.count("tools/call"), 3);
}
