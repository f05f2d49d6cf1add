//! A server of which only one process may run (`dedicatedConnections: 0`): all clients use it in turns.

use std::time::Duration;

use serde_json::{Value, json};

use crate::gone::child;
use crate::support::{Gateway, LEGACY, Legacy, Reply, odd_stdio, soon, text};
use crate::{accepted, askable, asked, call, gateway, retry};

/// A server with one connection.
fn single(server: &str) -> String {
    format!("{}, dedicatedConnections: 0 }}", server.trim_end().trim_end_matches('}'))
}

/// The fixture as a child with one connection.
fn fixture() -> String {
    single(&child())
}

async fn session(gateway: &Gateway, capabilities: Value) -> Legacy {
    Legacy::open_at(gateway.http(), "/mcp", LEGACY, &capabilities).await
}

/// Starts a call that asks its user; returns the client's stream and the question's id.
async fn asking(client: &Legacy) -> (Reply, Value) {
    let mut reply =
        client.begin("tools/call", &call("up__test_elicitation", &json!({"message": "Who?"}))).await;
    let question = soon("a question", reply.message()).await.expect("a question");
    assert_eq!(question["method"], "elicitation/create", "{question}");
    (reply, question["id"].clone())
}

async fn answers(client: &Legacy, id: &Value, name: &str) {
    let answer = json!({"jsonrpc": "2.0", "id": id, "result": accepted(name)});
    client.post(&[], &answer.to_string()).await;
}

#[tokio::test]
async fn all_clients_use_the_same_process() {
    let gateway = gateway(&single(&odd_stdio(&[])), "").await;
    let params = call("up__late", &json!({"ms": 0, "process": true}));
    let of = async |client: &Legacy| text(&client.ask("tools/call", &params).await).to_owned();
    let first = of(&session(&gateway, json!({"elicitation": {}, "sampling": {}})).await).await;
    for capabilities in [json!({}), json!({"elicitation": {}}), json!({"roots": {}}), json!({"sampling": {}})]
    {
        assert_eq!(of(&session(&gateway, capabilities).await).await, first);
    }
    // This client can also open URLs. The server is informed of this, because otherwise it would skip such questions.
    let stateless = askable(&gateway);
    let wider = text(&stateless.ask("tools/call", &params).await).to_owned();
    assert_ne!(wider, first);
    assert_eq!(of(&session(&gateway, json!({"elicitation": {}})).await).await, wider);
}

#[tokio::test]
async fn an_owner_that_is_asked_has_the_process_for_itself() {
    let gateway = gateway(&fixture(), "").await;
    let (owner, other) = (
        session(&gateway, json!({"elicitation": {}})).await,
        session(&gateway, json!({"elicitation": {}})).await,
    );
    let plain = session(&gateway, json!({})).await;
    let (mut reply, question) = asking(&owner).await;
    let nothing = json!({});
    let mut of_plain = std::pin::pin!(plain.call("up__test_simple_text", &nothing));
    let waited = tokio::time::timeout(Duration::from_millis(400), &mut of_plain).await;
    assert!(waited.is_err(), "it ran while another client could be asked: {waited:?}");
    // Calls of the client that is being asked must not wait for its answer.
    assert!(owner.call("up__test_simple_text", &json!({})).await.get("result").is_some());
    answers(&owner, &question, "Ada").await;
    assert!(text(&reply.response().await).contains("Ada"));
    assert!(soon("its turn", of_plain).await.get("result").is_some());
    let (mut reply, question) = asking(&other).await;
    answers(&other, &question, "Bob").await;
    assert!(text(&reply.response().await).contains("Bob"));
}

#[tokio::test]
async fn a_client_that_cannot_be_asked_has_its_questions_refused() {
    let gateway = gateway(&fixture(), "").await;
    let owner = session(&gateway, json!({"elicitation": {}})).await;
    let (mut reply, question) = asking(&owner).await;
    answers(&owner, &question, "Ada").await;
    assert!(text(&reply.response().await).contains("Ada"));
    let plain = session(&gateway, json!({})).await;
    let refused = plain.call("up__test_elicitation", &json!({"message": "Who?"})).await;
    assert!(!refused.to_string().contains("Ada"), "{refused}");
    assert!(refused["error"].is_object() || refused["result"]["isError"] == true, "{refused}");
}

#[tokio::test]
async fn a_stateless_client_is_asked_in_its_turn() {
    let gateway = gateway(&fixture(), "").await;
    let owner = session(&gateway, json!({"elicitation": {}})).await;
    let client = askable(&gateway);
    let params = call("up__test_elicitation", &json!({"message": "Who?"}));
    let first = client.ask("tools/call", &params).await;
    asked(&first);
    // The client's call waits for the answer, and occupies the process meanwhile.
    let nothing = json!({});
    let mut waiting = std::pin::pin!(owner.call("up__test_simple_text", &nothing));
    assert!(tokio::time::timeout(Duration::from_millis(400), &mut waiting).await.is_err());
    let second = client.ask("tools/call", &retry(&params, &first, &accepted("Eve"))).await;
    assert!(text(&second).contains("Eve"), "{second}");
    assert!(soon("its turn", waiting).await.get("result").is_some());
}

#[tokio::test]
async fn what_an_abandoned_call_asks_reaches_nobody_else() {
    let gateway = gateway(&fixture(), "").await;
    let (gone, other) = (
        session(&gateway, json!({"elicitation": {}})).await,
        session(&gateway, json!({"elicitation": {}})).await,
    );
    let (_reply, _question) = asking(&gone).await;
    let id = gone.last();
    gone.notify("notifications/cancelled", &json!({"requestId": id})).await;
    assert!(soon("its turn", other.call("up__test_simple_text", &json!({}))).await.get("result").is_some());
    // The server may still work on the abandoned call, so the gateway cannot tell which call a question belongs to.
    let refused = soon("an answer", other.call("up__test_elicitation", &json!({"message": "Who?"}))).await;
    assert!(refused["error"].is_object() || refused["result"]["isError"] == true, "{refused}");
}
