//! Calls that become tasks, through the gateway: with the same kind of tasks on both sides, and with
//! different ones.

#[path = "../support/mod.rs"]
mod support;

mod abandoned;
mod extension;
mod sessions;
mod stateless;

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::fixture::{Eras, Running};

use support::{Gateway, Headers, MODERN, Modern, meta, quoted, request, soon};

/// The capabilities of a client that supports the extension and questions.
fn capable() -> Value {
    json!({"elicitation": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}})
}

/// The transport to a server.
#[derive(Clone, Copy)]
enum Over {
    Http,
    Stdio,
}

/// A gateway in front of fixtures of these kinds over HTTP, which are named `a`, `b` and so on.
async fn gateway(eras: &[Eras]) -> (Gateway, Vec<Running>) {
    gateway_over(Over::Http, eras).await
}

/// A gateway in front of fixtures of these kinds over this transport.
async fn gateway_over(over: Over, eras: &[Eras]) -> (Gateway, Vec<Running>) {
    let mut config = String::from("mcpServers:\n");
    let mut running = Vec::new();
    for (name, eras) in ["a", "b", "c"].iter().zip(eras) {
        let server = match over {
            Over::Http => {
                running.push(support::fixture(*eras).await);
                let fixture: &Running = running.last().expect("the one that was started");
                format!("url: {}", quoted(&fixture.url()))
            }
            Over::Stdio => {
                let program = testkit::fixture::program();
                let eras = if *eras == Eras::Legacy { "legacy" } else { "modern" };
                let program = quoted(program.to_str().expect("a path in UTF-8"));
                format!("command: {program}, args: [--stdio, --eras, {eras}]")
            }
        };
        let _ = writeln!(config, "  {name}: {{ {server} }}");
    }
    (Gateway::start(&config).await, running)
}

/// A stateless client with these capabilities.
fn modern(gateway: &Gateway, capabilities: Value) -> Modern {
    Modern { capabilities, ..Modern::new(gateway.http()) }
}

/// Polls a task, with the header that mirrors its ID.
async fn about(client: &Modern, method: &str, id: &str, more: Value) -> Value {
    let mut params = more;
    params["taskId"] = json!(id);
    params["_meta"] = meta(&client.capabilities);
    let headers: Headers<'_> = &[("MCP-Protocol-Version", MODERN), ("Mcp-Method", method), ("Mcp-Name", id)];
    let body = request("t", method, &params).to_string();
    client.http.post(&client.path, headers, &body).await.response().await
}

/// Polls a task until `done` holds.
async fn until(client: &Modern, id: &str, done: impl Fn(&Value) -> bool) -> Value {
    soon("the task", async {
        loop {
            let answer = about(client, "tasks/get", id, json!({})).await;
            assert_eq!(answer["result"]["taskId"], id, "{answer}");
            if done(&answer["result"]) {
                return answer["result"].clone();
            }
            // A server sets the polling interval; there is no event to wait for.
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await
}

fn has_ended(task: &Value) -> bool {
    ["completed", "failed", "cancelled"].contains(&task["status"].as_str().unwrap_or_default())
}
