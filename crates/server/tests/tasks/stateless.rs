//! Clients without sessions, with servers whose tasks belong to a session.

use super::*;

async fn begun(client: &Modern, tool: &str, arguments: Value) -> String {
    let answer = client.call(tool, &arguments).await;
    let result = &answer["result"];
    assert_eq!(result["resultType"], "task", "{answer}");
    assert!(
        result["ttlMs"].is_u64() && result.get("task").is_none() && result.get("ttl").is_none(),
        "{answer}"
    );
    result["taskId"].as_str().expect("an id").to_owned()
}

fn question(task: &Value) -> (String, Value) {
    let (key, asked) = task["inputRequests"].as_object().expect("questions").iter().next().expect("one");
    (key.clone(), asked.clone())
}

async fn consent(client: &Modern, id: &str, key: &str) {
    let answer = json!({"action": "accept", "content": {"confirm": true, "name": "Ada"}});
    let told = about(client, "tasks/update", id, json!({"inputResponses": {key: answer, "other": {}}})).await;
    assert_eq!(told["result"]["resultType"], "complete", "{told}");
    assert!(told["result"].get("taskId").is_none());
}

#[tokio::test]
async fn a_task_has_its_outcome_inside() {
    outcomes(Over::Http).await;
}

#[tokio::test]
async fn a_task_has_its_outcome_inside_over_a_pipe() {
    outcomes(Over::Stdio).await;
}

async fn outcomes(over: Over) {
    let (gateway, _running) = gateway_over(over, &[Eras::Legacy]).await;
    let client = modern(&gateway, capable());
    let quick = begun(&client, "a__slow_compute", json!({"seconds": 0.05})).await;
    for _ in 0..2 {
        let ended = until(&client, &quick, has_ended).await;
        assert_eq!(ended["result"]["content"][0]["text"], "Computed for 0.05 s", "{ended}");
        assert!(!ended.to_string().contains("related-task"), "{ended}");
    }
    let failing = begun(&client, "a__failing_job", json!({})).await;
    let ended = until(&client, &failing, has_ended).await;
    assert_eq!((&ended["status"], &ended["result"]["isError"]), (&json!("completed"), &json!(true)));
    let erring = begun(&client, "a__protocol_error_job", json!({})).await;
    let ended = until(&client, &erring, has_ended).await;
    assert_eq!((&ended["status"], &ended["error"]["code"]), (&json!("failed"), &json!(-32603)));
    assert!(ended.get("result").is_none());
}

#[tokio::test]
async fn cancelling_is_acknowledged_however_often() {
    let (gateway, _running) = gateway(&[Eras::Legacy]).await;
    let client = modern(&gateway, capable());
    let long = begun(&client, "a__slow_compute", json!({"seconds": 60})).await;
    for _ in 0..2 {
        let gone = about(&client, "tasks/cancel", &long, json!({})).await;
        assert_eq!(gone["result"]["resultType"], "complete", "{gone}");
    }
    assert_eq!(until(&client, &long, has_ended).await["status"], "cancelled");
    for id in ["x", &long[1..]] {
        assert_eq!(support::error_code(&about(&client, "tasks/cancel", id, json!({})).await), -32602);
    }
}

#[tokio::test]
async fn questions_are_shown_until_they_are_answered() {
    questions(Over::Http).await;
}

#[tokio::test]
async fn questions_are_shown_until_they_are_answered_over_pipes() {
    questions(Over::Stdio).await;
}

async fn questions(over: Over) {
    let (gateway, _running) = gateway_over(over, &[Eras::Legacy, Eras::Legacy]).await;
    let client = modern(&gateway, capable());
    let one = begun(&client, "a__confirm_delete", json!({"filename": "one"})).await;
    let two = begun(&client, "b__confirm_delete", json!({"filename": "two"})).await;
    for (id, end) in [(&two, "Deleted two"), (&one, "Deleted one")] {
        let asks = until(&client, id, |task| task["status"] == "input_required").await;
        let (key, asked) = question(&asks);
        assert_eq!(asked["method"], "elicitation/create");
        assert!(!asks.to_string().contains("related-task"), "{asks}");
        let again = until(&client, id, |task| task["status"] == "input_required").await;
        assert_eq!(question(&again).0, key, "the same question under the same key");
        consent(&client, id, &key).await;
        let ended = until(&client, id, has_ended).await;
        assert_eq!(ended["result"]["content"][0]["text"], end, "{ended}");
        consent(&client, id, &key).await;
    }
    let both = begun(&client, "a__multi_input", json!({})).await;
    let asks = until(&client, &both, |task| {
        task["inputRequests"].as_object().is_some_and(|requests| requests.len() == 2)
    });
    let (first, _) = question(&asks.await);
    consent(&client, &both, &first).await;
    let left = until(&client, &both, |task| {
        task["inputRequests"].as_object().is_some_and(|requests| requests.len() == 1)
    });
    let (second, _) = question(&left.await);
    assert_ne!(first, second);
    consent(&client, &both, &second).await;
    let ended = until(&client, &both, has_ended).await;
    assert!(
        ended["result"]["content"][0]["text"]
            .as_str()
            .is_some_and(|text| text.starts_with("Ada; action=accept"))
    );
}

#[tokio::test]
async fn who_knows_no_tasks_waits_for_the_outcome() {
    let (gateway, _running) = gateway(&[Eras::Legacy]).await;
    let plain = modern(&gateway, json!({}));
    let failed = plain.call("a__failing_job", &json!({})).await;
    assert_eq!(failed["result"]["isError"], true, "{failed}");
    assert!(!failed.to_string().contains("related-task"), "{failed}");
    let quick = plain.call("a__slow_compute", &json!({"seconds": 0})).await;
    assert_eq!(support::text(&quick), "Computed for 0 s");

    let asked = Modern { capabilities: json!({"elicitation": {}}), ..plain };
    let first = asked.call("a__test_tool_with_task", &json!({})).await;
    assert_eq!(first["result"]["resultType"], "input_required", "{first}");
    let (key, _) = question(&first["result"]);
    let answer = json!({"action": "accept", "content": {"name": "Ada"}});
    let retry = json!({
        "name": "a__test_tool_with_task", "arguments": {}, "requestState": first["result"]["requestState"],
        "inputResponses": {key: answer},
    });
    assert_eq!(support::text(&asked.ask("tools/call", &retry).await), "Hello, Ada!");

    let old = support::Legacy::open_at(gateway.http(), "/mcp", "2025-06-18", &json!({})).await;
    assert_eq!(old.call("a__failing_job", &json!({})).await["result"]["isError"], true);
    assert!(old.hello["result"]["capabilities"].get("tasks").is_none());
}
