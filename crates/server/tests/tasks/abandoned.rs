//! Tasks that no client returns to: they are cancelled, and their state is removed.

use std::net::{Ipv4Addr, SocketAddr};

use testkit::fixture::{Options, Record, serve_http};

use super::*;

/// A gateway that keeps state only briefly, in front of one server whose messages are recorded.
async fn forgetful(eras: Eras) -> (Gateway, Running, Record) {
    let record = Record::in_memory();
    let options = Options { eras, record: Some(record.clone()), ..Options::default() };
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let (_, running) = serve_http(any, options).await.expect("a free port");
    let config = format!(
        "mcpServers:\n  a: {{ url: {} }}\nlimits: {{ requestStateLifetime: 1s }}\n",
        quoted(&running.url())
    );
    (Gateway::start(&config).await, running, record)
}

/// Waits until the server has received a message that contains this text.
async fn has_come(record: &Record, words: &str) {
    let came =
        || record.lines().iter().any(|line| line.starts_with(r#"{"dir":"in""#) && line.contains(words));
    soon(words, async {
        while !came() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
}

/// Asks until the answer is an error; returns its code.
async fn refused(ask: impl AsyncFn() -> Value) -> i64 {
    soon("a refusal", async {
        loop {
            tokio::time::sleep(Duration::from_millis(50)).await;
            let answer = ask().await;
            if answer["error"].is_object() {
                return support::error_code(&answer);
            }
        }
    })
    .await
}

#[tokio::test]
async fn a_task_that_asks_nobody_is_cancelled() {
    let (gateway, _running, record) = forgetful(Eras::Legacy).await;
    let client = modern(&gateway, capable());
    let created = client.call("a__confirm_delete", &json!({"filename": "it"})).await;
    let id = created["result"]["taskId"].as_str().expect("a task").to_owned();
    until(&client, &id, |task| task["status"] == "input_required").await;
    has_come(&record, r#""action":"cancel""#).await;
    has_come(&record, "tasks/cancel").await;
    let answer = about(&client, "tasks/get", &id, json!({})).await;
    assert_eq!(support::error_code(&answer), -32602, "{answer}");
    // The link is free again, and so is the capacity.
    let next = client.call("a__slow_compute", &json!({"seconds": 0.05})).await;
    let id = next["result"]["taskId"].as_str().expect("a task");
    assert_eq!(until(&client, id, has_ended).await["status"], "completed");
}

#[tokio::test]
async fn a_task_that_was_only_waited_for_goes_with_its_call() {
    let (gateway, _running, record) = forgetful(Eras::Legacy).await;
    let client = modern(&gateway, json!({"elicitation": {}}));
    let asks = client.call("a__test_tool_with_task", &json!({})).await;
    assert_eq!(asks["result"]["resultType"], "input_required", "{asks}");
    has_come(&record, "tasks/cancel").await;
}

#[tokio::test]
async fn an_outcome_is_kept_for_its_time() {
    let (gateway, _running, _record) = forgetful(Eras::Modern).await;
    let client = support::Legacy::open(gateway.http()).await;
    let call = json!({"name": "a__greet", "arguments": {"name": "Ada"}, "task": {}});
    let created = client.ask("tools/call", &call).await;
    let task = &created["result"]["task"];
    assert_eq!((&task["status"], &task["ttl"]), (&json!("completed"), &json!(1000)), "{created}");
    let id = json!({"taskId": task["taskId"]});
    assert_eq!(refused(async || client.ask("tasks/result", &id).await).await, -32602);
}
