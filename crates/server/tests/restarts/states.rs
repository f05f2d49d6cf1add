//! States and tasks of stateless clients.

use serde_json::{Value, json};
use testkit::fixture::Eras;

use crate::support::{
    Actor, Gateway, Headers, MODERN, Modern, Speaks, Start, error_message, meta, quoted, request, soon, text,
};
use crate::{StateFolder, key_of};

/// A stateless client that supports questions.
fn askable(gateway: &Gateway) -> Modern {
    Modern { capabilities: json!({"elicitation": {"form": {}}}), ..Modern::new(gateway.http()) }
}

/// Calls the tool, which asks and issues a state of its own; returns the client's state.
async fn asked(client: &Modern, actor: &Actor) -> String {
    let params = json!({"name": "up__ok", "arguments": {"n": 1}});
    let (answer, ()) = tokio::join!(client.ask("tools/call", &params), async {
        let form = json!({"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}});
        let asks = json!({"q": {"method": "elicitation/create", "params": form}});
        actor.next("tools/call").await.answer(
            &json!({"resultType": "input_required", "inputRequests": asks, "requestState": "its own"}),
        );
    });
    answer["result"]["requestState"].as_str().unwrap_or_else(|| panic!("no state in {answer}")).to_owned()
}

fn retry(state: &str) -> Value {
    json!({
        "name": "up__ok", "arguments": {"n": 1}, "requestState": state,
        "inputResponses": {"q": {"action": "accept", "content": {}}},
    })
}

/// Repeats the call with a state, which the server must receive exactly as it issued it.
async fn comes_back(client: &Modern, actor: &Actor, state: &str) {
    let params = retry(state);
    let (answer, ()) = tokio::join!(client.ask("tools/call", &params), async {
        let line = actor.next("tools/call").await;
        assert_eq!(line.received.body["params"]["requestState"], "its own");
        line.answer_text("done");
    });
    assert_eq!(text(&answer), "done");
}

#[tokio::test]
async fn a_state_outlives_a_restart_and_a_rotation_of_the_keys() {
    let (folder, actor) = (StateFolder::new("states"), Actor::start(Speaks::Stateless).await);
    let config = folder.config(&actor.config(), "");
    let gateway = Gateway::start(&config).await;
    let first = asked(&askable(&gateway), &actor).await;
    gateway.stop().await;
    let gateway = Gateway::start(&config).await;
    let client = askable(&gateway);
    comes_back(&client, &actor, &first).await;
    folder.rotate().await;
    // No event tells a client that the key has changed.
    let second = soon("a state under the new key", async {
        loop {
            let state = asked(&client, &actor).await;
            if key_of(&state) != key_of(&first) {
                return state;
            }
        }
    })
    .await;
    comes_back(&client, &actor, &first).await;
    gateway.stop().await;
    let gateway = Gateway::start(&config).await;
    for state in [&first, &second] {
        comes_back(&askable(&gateway), &actor, state).await;
    }
}

#[tokio::test]
async fn a_state_of_other_keys_is_refused() {
    let (folder, actor) = (StateFolder::new("others"), Actor::start(Speaks::Stateless).await);
    let config = folder.config(&actor.config(), "");
    let gateway = Gateway::start(&config).await;
    let state = asked(&askable(&gateway), &actor).await;
    gateway.stop().await;
    std::fs::remove_file(folder.0.join("keyring")).expect("it was made");
    let gateway = Gateway::start(&config).await;
    let refused = askable(&gateway).ask("tools/call", &retry(&state)).await;
    assert!(error_message(&refused).contains("a key that is no longer kept"), "{refused}");
}

#[tokio::test]
async fn a_parked_call_is_lost_with_its_gateway_and_never_taken_for_another() {
    let (folder, actor) = (StateFolder::new("parked"), Actor::start(Speaks::Handshake).await);
    let config = folder.config(&actor.config(), "");
    let mut states = Vec::new();
    for _ in 0..2 {
        let gateway = Gateway::start(&config).await;
        let (client, params) = (askable(&gateway), json!({"name": "up__ok", "arguments": {"n": 1}}));
        let (answer, _line) = tokio::join!(client.ask("tools/call", &params), async {
            let line = actor.next("tools/call").await;
            let schema = json!({"type": "object", "properties": {}});
            line.ask("q", "elicitation/create", &json!({"message": "Who?", "requestedSchema": schema}));
            line
        });
        states.push(answer["result"]["requestState"].as_str().expect("a state").to_owned());
        if let [before, _] = &states[..] {
            // The same call of the same client also waits here, and each process numbers its calls anew.
            let refused = client.ask("tools/call", &retry(before)).await;
            assert!(error_message(&refused).contains("the gateway was restarted"), "{refused}");
        }
        gateway.stop().await;
    }
}

#[tokio::test]
async fn a_task_keeps_its_id() {
    let (folder, fixture) = (StateFolder::new("tasks"), crate::support::fixture(Eras::Modern).await);
    let config = folder.config(&format!("{{ url: {} }}", quoted(&fixture.url())), "");
    let about = async |gateway: &Gateway, id: &str| {
        let params = json!({"taskId": id, "_meta": meta(&capable())});
        let headers: Headers<'_> =
            &[("MCP-Protocol-Version", MODERN), ("Mcp-Method", "tasks/get"), ("Mcp-Name", id)];
        let body = request("t", "tasks/get", &params).to_string();
        gateway.http().post("/mcp", headers, &body).await.response().await
    };
    let gateway = Gateway::start(&config).await;
    let client = Modern { capabilities: capable(), ..Modern::new(gateway.http()) };
    let begun = client.call("up__slow_compute", &json!({"seconds": 60})).await;
    let id = begun["result"]["taskId"].as_str().unwrap_or_else(|| panic!("no task in {begun}"));
    gateway.stop().await;
    folder.rotate().await;
    let gateway = Gateway::start(&config).await;
    let found = about(&gateway, id).await;
    assert_eq!(found["result"]["taskId"], id, "{found}");
    assert_eq!(found["result"]["status"], "working", "{found}");
}

fn capable() -> Value {
    json!({"elicitation": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}})
}

#[tokio::test]
async fn two_gateways_with_one_ring_understand_each_other() {
    let (folder, other) = (StateFolder::new("one"), StateFolder::new("other"));
    let actor = Actor::start(Speaks::Stateless).await;
    let ring = folder.0.join("shared.keys");
    let ring = format!("keyRing: '{}'\n", ring.display());
    let one = Gateway::start(&folder.config(&actor.config(), &ring)).await;
    let two = Gateway::start(&other.config(&actor.config(), &ring)).await;
    let state = asked(&askable(&one), &actor).await;
    comes_back(&askable(&two), &actor, &state).await;
    assert!(folder.0.join("shared.keys").exists() && !folder.0.join("keyring").exists());
}

#[tokio::test]
async fn a_ring_that_cannot_be_used_stops_the_start_only_if_it_is_named() {
    let (folder, actor) = (StateFolder::new("damaged"), Actor::start(Speaks::Stateless).await);
    std::fs::write(folder.0.join("keyring"), "no ring").expect("a file");
    let gateway = Gateway::start(&folder.config(&actor.config(), "")).await;
    gateway.log().has("keys are kept in memory").await;
    let client = askable(&gateway);
    let state = asked(&client, &actor).await;
    comes_back(&client, &actor, &state).await;
    let named = format!("keyRing: '{}'\n", folder.0.join("keyring").display());
    let config = folder.config(&actor.config(), &named);
    let with = Start { config: &config, args: &["--listen", "127.0.0.1:0"], ..Start::default() };
    let ended = crate::support::run_to_end("serve", &with).await;
    assert_eq!(ended.code, Some(1));
    assert!(ended.err.contains("keyRing: ") && ended.err.contains("is not a key ring"), "{}", ended.err);
}
