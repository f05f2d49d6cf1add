//! Calls that wait until their client answers a question: the party whose time that is, and the ways in which they end.

use std::time::Duration;

use serde_json::{Value, json};

use crate::figures::Figures;
use crate::support::*;

/// The time for which the client thinks.
const THINKS: Duration = Duration::from_millis(1500);

/// Calls the tool, whose server asks for a form; `id` is the id of its question. Returns the call's first answer and its line
/// at the server.
async fn asked(client: &Modern, actor: &Actor, params: &Value, id: &str) -> (Value, Line) {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    let form = json!({"message": "Who?", "requestedSchema": schema});
    tokio::join!(client.ask("tools/call", params), async {
        let line = actor.next("tools/call").await;
        line.ask(id, "elicitation/create", &form);
        line
    })
}

#[tokio::test]
async fn the_time_for_which_a_client_thinks_is_not_its_servers_and_silence_is_no_success() {
    let actor = Actor::start(Speaks::Handshake).await;
    let rest = "metrics: true\nlimits: { requestStateLifetime: 3s }\n";
    let gateway = Gateway::start(&format!("mcpServers:\n  up: {}\n{rest}", actor.config())).await;
    let capabilities = json!({"elicitation": {"form": {}}});
    let client = Modern { capabilities, ..Modern::new(gateway.http()) };
    let params = json!({"name": "up__ok", "arguments": {}});
    let (first, line) = asked(&client, &actor, &params, "first").await;
    tokio::time::sleep(THINKS).await;
    let mut again = params.clone();
    again["requestState"] = first["result"]["requestState"].clone();
    let accepted = json!({"action": "accept", "content": {"name": "Ada"}});
    let questions = first["result"]["inputRequests"].as_object().expect("questions");
    let responses: serde_json::Map<String, Value> =
        questions.keys().map(|key| (key.clone(), accepted.clone())).collect();
    again["inputResponses"] = Value::Object(responses);
    let (second, ()) = tokio::join!(client.ask("tools/call", &again), async {
        actor.response("first").await;
        line.answer_text("done");
    });
    assert_eq!(second["result"]["content"][0]["text"], "done", "{second}");
    let figures = Figures::read(gateway.http()).await;
    for side in ["server", "client"] {
        let labels = "{method=\"tools/call\",upstream=\"up\",outcome=\"ok\"}";
        let name = format!("mcp_{side}_operation_duration_seconds");
        assert!((figures.value(&format!("{name}_count{labels}")) - 1.0).abs() < 1e-9, "{name}");
        let seconds = figures.value(&format!("{name}_sum{labels}"));
        assert!(seconds < THINKS.as_secs_f64(), "{name}: {seconds}");
    }
    let (_, line) = asked(&client, &actor, &params, "second").await;
    actor.heard_of("notifications/cancelled", &line).await;
    let given_up = async {
        while Figures::read(gateway.http()).await.requested("tools/call", "up", "cancelled") < 1.0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    soon("the end of the call", given_up).await;
    let ok = Figures::read(gateway.http()).await.requested("tools/call", "up", "ok");
    assert!((ok - 1.0).abs() < 1e-9, "{ok}");
}
