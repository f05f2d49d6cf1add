//! Long calls that become tasks: started, polled, asked, ended, cancelled.

use std::time::Duration;

use serde_json::{Value, json};

use crate::section::Topics;
use crate::stage::{Feature, Stage};
use crate::support::error_code;
use crate::tools::{failed, said};
use crate::version::Version;
use testkit::client::Answer;

/// The extension of the version without a handshake.
const EXTENSION: &str = "io.modelcontextprotocol/tasks";
/// The metadata that names the task of a message.
const RELATED: &str = "io.modelcontextprotocol/related-task";

/// The polling interval of a client.
const POLL: Duration = Duration::from_millis(50);

pub(crate) const FEATURES: &[Feature] = &[Feature {
    name: "tasks",
    title: "Tasks",
    topics: Topics::during(&[
        "tools/call",
        "tasks/get",
        "tasks/result",
        "tasks/update",
        "tasks/cancel",
        "elicitation/create",
    ]),
    run: |stage| Box::pin(tasks(stage)),
}];

async fn tasks(stage: &mut Stage) {
    match stage.pair.client {
        _ if !stage.possible() => at_once(stage).await,
        Version::November2025 => experiment(stage).await,
        _ => {
            stage.client.capabilities["extensions"] = json!({EXTENSION: {}});
            extension(stage).await;
            stage.client.capabilities.as_object_mut().expect("an object").shift_remove("extensions");
        }
    }
}

/// Without tasks on both sides, a call lasts as long as its work.
async fn at_once(stage: &mut Stage) {
    let answer = stage.call("slow_compute", &json!({"seconds": 0.1})).await;
    assert_eq!(said(stage, &answer), "Computed for 0.1 s");
    // The gateway waits for the end of a tool that requires a task.
    let answer = stage.call("failing_job", &json!({})).await;
    if stage.pair.upstream.is_stateless() {
        // Only the client can allow the server to create a task.
        assert!(failed(&answer) || answer.get("error").is_some(), "{answer}");
        assert!(answer.to_string().contains("Missing required client capability"), "{answer}");
    } else {
        assert!(failed(&answer) && answer.to_string().contains("The job failed"), "{answer}");
    }
}

#[expect(clippy::unnecessary_wraps, reason = "other clients answer with errors")]
fn agreeable(_: &str, _: &Value) -> Answer {
    Ok(json!({"action": "accept", "content": {"confirm": true}}))
}

/// The client decides, and requests the result.
async fn experiment(stage: &mut Stage) {
    let begin = |tool: &str, arguments: Value| json!({"name": format!("up__{tool}"), "arguments": arguments, "task": {"ttl": 60_000}});
    let created = stage.client.ask("tools/call", &begin("slow_compute", json!({"seconds": 1}))).await;
    let task = &created["result"]["task"];
    let id = task["taskId"].as_str().unwrap_or_else(|| panic!("no task in {created}"));
    assert_eq!(task["status"], "working", "{created}");
    assert!(task["createdAt"].is_string() && task.get("ttl").is_some(), "{created}");
    let found = stage.client.ask("tasks/get", &json!({"taskId": id})).await;
    assert_eq!((&found["result"]["taskId"], &found["result"]["status"]), (&json!(id), &json!("working")));
    let result = stage.client.ask("tasks/result", &json!({"taskId": id})).await;
    assert_eq!(said(stage, &result), "Computed for 1 s");
    assert_eq!(result["result"]["_meta"][RELATED]["taskId"], id, "{result}");
    // A task that asks does so while the client waits for its result.
    let created =
        stage.client.ask("tools/call", &begin("confirm_delete", json!({"filename": "a.txt"}))).await;
    let asking = created["result"]["task"]["taskId"].as_str().expect("a task").to_owned();
    let (asked, result) = stage.client.converse("tasks/result", &json!({"taskId": asking}), agreeable).await;
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert_eq!(asked[0].1["_meta"][RELATED]["taskId"], asking.as_str(), "{asked:?}");
    assert_eq!(said(stage, &result), "Deleted a.txt");
    // A cancelled task, and an unknown one.
    let created = stage.client.ask("tools/call", &begin("slow_compute", json!({"seconds": 3600}))).await;
    let id = &created["result"]["task"]["taskId"];
    let cancelled = stage.client.ask("tasks/cancel", &json!({"taskId": id})).await;
    assert_eq!(cancelled["result"]["status"], "cancelled", "{cancelled}");
    let unknown = stage.client.ask("tasks/get", &json!({"taskId": "made up"})).await;
    assert_eq!(error_code(&unknown), -32602, "{unknown}");
}

/// The server decides, and shows everything about the task.
async fn extension(stage: &mut Stage) {
    let created = stage.call("slow_compute", &json!({"seconds": 1})).await;
    assert_eq!(created["result"]["resultType"], "task", "{created}");
    assert_eq!(created["result"]["status"], "working", "{created}");
    assert!(
        created["result"]["createdAt"].is_string() && created["result"].get("ttlMs").is_some(),
        "{created}"
    );
    let id = created["result"]["taskId"].as_str().expect("an id").to_owned();
    let found = stage.client.ask("tasks/get", &json!({"taskId": id})).await;
    assert_eq!(found["result"]["status"], "working", "{found}");
    let ended = until(stage, &id, "completed").await;
    assert_eq!(ended["result"]["result"]["content"][0]["text"], "Computed for 1 s", "{ended}");
    // A task that asks shows its questions, and waits.
    let created = stage.call("confirm_delete", &json!({"filename": "a.txt"})).await;
    let id = created["result"]["taskId"].as_str().expect("an id").to_owned();
    let asking = until(stage, &id, "input_required").await;
    let questions = asking["result"]["inputRequests"].as_object().expect("questions");
    assert_eq!(questions.len(), 1, "{asking}");
    let (key, question) = questions.iter().next().expect("one question");
    assert_eq!(question["method"], "elicitation/create", "{asking}");
    let answers = json!({key: {"action": "accept", "content": {"confirm": true}}});
    let taken = stage.client.ask("tasks/update", &json!({"taskId": id, "inputResponses": answers})).await;
    assert_eq!(taken["result"]["resultType"], "complete", "{taken}");
    let ended = until(stage, &id, "completed").await;
    assert_eq!(ended["result"]["result"]["content"][0]["text"], "Deleted a.txt", "{ended}");
    // A cancelled task, and an unknown one.
    let created = stage.call("slow_compute", &json!({"seconds": 3600})).await;
    let id = created["result"]["taskId"].as_str().expect("an id").to_owned();
    let taken = stage.client.ask("tasks/cancel", &json!({"taskId": id})).await;
    assert_eq!(taken["result"]["resultType"], "complete", "{taken}");
    until(stage, &id, "cancelled").await;
    let unknown = stage.client.ask("tasks/get", &json!({"taskId": "made up"})).await;
    assert_eq!(error_code(&unknown), -32602, "{unknown}");
}

/// Polls a task until it has this status; only the last poll is recorded.
async fn until(stage: &mut Stage, id: &str, status: &str) -> Value {
    let task = json!({"taskId": id});
    loop {
        let found = stage.ask_quietly("tasks/get", &task).await;
        if found["result"]["status"] == status {
            return stage.client.ask("tasks/get", &task).await;
        }
        assert!(found["result"]["status"].is_string(), "{found}");
        // Clients follow a task by polling it.
        tokio::time::sleep(POLL).await;
    }
}
