//! Questions of servers during a call, between clients that get questions as results and servers that send them as
//! requests, and vice versa; and resources that both follow. These tests use the whole binary, and cover everything that
//! can go wrong.
//!
//! | file | is for |
//! |---|---|
//! | `waiting` | stateless clients, servers with a handshake: calls that wait |
//! | `states` | as in `waiting`: states that are wrong, late, or used twice |
//! | `gone` | as in `waiting`: clients and servers that disconnect meanwhile |
//! | `apart` | as in `waiting`: simultaneous calls that must not affect each other |
//! | `one_connection` | a server of which only one process may run: clients use it in turns |
//! | `at_once` | calls that run at a server at once, and those that wait for their turn |
//! | `roots` | clients with roots: what a server knows of them when it is called |
//! | `rounds` | clients with a handshake, stateless servers |
//! | `topics` | resources that clients follow |
//! | `shared` | resources and log levels: the state that clients share at a server |
//! | `subscriptions` | the owners of subscriptions, and the confirmation of subscriptions |

#[path = "../support/mod.rs"]
mod support;

mod apart;
mod at_once;
mod gone;
mod one_connection;
mod roots;
mod rounds;
mod shared;
mod states;
mod subscriptions;
mod topics;
mod waiting;

use serde_json::{Value, json};
use support::{Gateway, Modern};

/// A gateway in front of the server `up`; `rest` is the rest of the configuration.
async fn gateway(server: &str, rest: &str) -> Gateway {
    Gateway::start(&format!("mcpServers:\n  up: {server}\n{rest}")).await
}

/// A stateless client that supports every question.
fn askable(gateway: &Gateway) -> Modern {
    let capabilities = json!({"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}});
    Modern { capabilities, ..Modern::new(gateway.http()) }
}

/// The params of a call.
fn call(tool: &str, arguments: &Value) -> Value {
    json!({"name": tool, "arguments": arguments})
}

/// The params of a form.
fn form() -> Value {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    json!({"message": "Who?", "requestedSchema": schema})
}

/// The answer of a user who agrees.
fn accepted(name: &str) -> Value {
    json!({"action": "accept", "content": {"name": name}})
}

/// The state and the keys of the questions in an answer, in the order of the questions.
fn asked(answer: &Value) -> (String, Vec<String>) {
    let result = &answer["result"];
    assert_eq!(result["resultType"], "input_required", "{answer}");
    let state = result["requestState"].as_str().unwrap_or_else(|| panic!("no state in {answer}")).to_owned();
    let requests = result["inputRequests"].as_object().unwrap_or_else(|| panic!("no requests in {answer}"));
    (state, requests.keys().cloned().collect())
}

/// The params of a repeated call, with the same answer to every question.
fn retry(params: &Value, asked_for: &Value, answer: &Value) -> Value {
    let (state, keys) = asked(asked_for);
    let responses: serde_json::Map<String, Value> =
        keys.into_iter().map(|key| (key, answer.clone())).collect();
    let mut params = params.clone();
    params["requestState"] = json!(state);
    params["inputResponses"] = Value::Object(responses);
    params
}
