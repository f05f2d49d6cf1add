//! Clients with sessions, which request a task with their call, and read its outcome with `tasks/result`.

use support::{Legacy, Reply};

use super::*;

/// A session of a client that supports questions.
async fn session(gateway: &Gateway) -> Legacy {
    Legacy::open_at(gateway.http(), "/mcp", support::LEGACY, &json!({"elicitation": {}})).await
}

async fn begun(client: &Legacy, tool: &str, arguments: Value) -> String {
    let params = json!({"name": tool, "arguments": arguments, "task": {"ttl": 60_000}});
    let answer = client.ask("tools/call", &params).await;
    let task = &answer["result"]["task"];
    assert!(task["ttl"].is_u64() && task["createdAt"].is_string(), "{answer}");
    task["taskId"].as_str().expect("an id").to_owned()
}

async fn asked(client: &Legacy, method: &str, id: &str) -> Value {
    client.ask(method, &json!({"taskId": id})).await
}

fn related(message: &Value) -> &Value {
    &message["_meta"]["io.modelcontextprotocol/related-task"]["taskId"]
}

/// Answers the next question on a stream, which must belong to the task.
async fn consent(client: &Legacy, stream: &mut Reply, id: &str) {
    let question = loop {
        let message = stream.message().await.expect("a question");
        if message["method"] != "notifications/tasks/status" {
            break message;
        }
        assert_eq!(message["params"]["taskId"], id, "{message}");
    };
    assert_eq!(question["method"], "elicitation/create", "{question}");
    assert_eq!(related(&question["params"]), id, "{question}");
    let answer = json!({
        "action": "accept", "content": {"confirm": true, "name": "Ada"},
        "_meta": {"io.modelcontextprotocol/related-task": {"taskId": id}},
    });
    let body = json!({"jsonrpc": "2.0", "id": question["id"], "result": answer}).to_string();
    assert_eq!(client.post(&[], &body).await.status, 202);
}

/// Everything that a client with a session can do with tasks, whatever the versions of its servers.
async fn whole_life(client: &Legacy, server: &str) {
    let tool = |name: &str| format!("{server}__{name}");
    let quick = begun(client, &tool("slow_compute"), json!({"seconds": 0.05})).await;
    let outcome = asked(client, "tasks/result", &quick).await;
    assert_eq!(support::text(&outcome), "Computed for 0.05 s");
    assert_eq!(related(&outcome["result"]), &json!(quick), "{outcome}");
    let task = asked(client, "tasks/get", &quick).await["result"].clone();
    assert_eq!((&task["taskId"], &task["status"]), (&json!(quick), &json!("completed")), "{task}");
    assert!(
        task.get("result").is_none() && task.get("resultType").is_none() && task["pollInterval"].is_u64()
    );
    let late = asked(client, "tasks/cancel", &quick).await;
    assert_eq!(support::error_code(&late), -32602, "{late}");

    let failing = begun(client, &tool("failing_job"), json!({})).await;
    assert_eq!(asked(client, "tasks/result", &failing).await["result"]["isError"], true);
    let erring = begun(client, &tool("protocol_error_job"), json!({})).await;
    assert_eq!(support::error_code(&asked(client, "tasks/result", &erring).await), -32603);
    assert_eq!(asked(client, "tasks/get", &erring).await["result"]["status"], "failed");

    let long = begun(client, &tool("slow_compute"), json!({"seconds": 60})).await;
    let cancelled = asked(client, "tasks/cancel", &long).await;
    assert_eq!(
        (&cancelled["result"]["status"], &cancelled["result"]["taskId"]),
        (&json!("cancelled"), &json!(long))
    );
    assert!(asked(client, "tasks/result", &long).await["error"].is_object());

    let asking = begun(client, &tool("confirm_delete"), json!({"filename": "it"})).await;
    let mut stream = client.begin("tasks/result", &json!({"taskId": asking})).await;
    consent(client, &mut stream, &asking).await;
    let outcome = stream.response().await;
    assert_eq!(support::text(&outcome), "Deleted it");

    for (method, id) in [("tasks/get", "x"), ("tasks/result", &quick[1..]), ("tasks/cancel", "")] {
        assert_eq!(support::error_code(&asked(client, method, id).await), -32602, "{method} {id:?}");
    }
    assert_eq!(support::error_code(&client.ask("tasks/list", &json!({})).await), -32601);
    assert_eq!(support::error_code(&asked(client, "tasks/update", &quick).await), -32601);
}

#[tokio::test]
async fn at_servers_of_their_own_kind_in_one_profile() {
    let (gateway, _running) = gateway(&[Eras::Legacy, Eras::Legacy]).await;
    let client = session(&gateway).await;
    whole_life(&client, "a").await;
    whole_life(&client, "b").await;
}

#[tokio::test]
async fn over_pipes_as_well() {
    let (gateway, _running) = gateway_over(Over::Stdio, &[Eras::Legacy, Eras::Modern]).await;
    let client = session(&gateway).await;
    whole_life(&client, "a").await;
    whole_life(&client, "b").await;
    let capability = &client.hello["result"]["capabilities"]["tasks"];
    assert_eq!(capability, &json!({"cancel": {}, "requests": {"tools": {"call": {}}}}), "no list of all");
}

#[tokio::test]
async fn a_session_is_told_of_its_tasks() {
    let (gateway, _running) = gateway(&[Eras::Legacy, Eras::Modern]).await;
    for server in ["a", "b"] {
        let client = session(&gateway).await;
        let mut stream = client.listen().await;
        let id = begun(&client, &format!("{server}__confirm_delete"), json!({"filename": "it"})).await;
        loop {
            let notice = stream.message().await.expect("a notice");
            if notice["method"] != "notifications/tasks/status" {
                continue;
            }
            let task = &notice["params"];
            assert_eq!((&task["taskId"], task["ttl"].is_u64()), (&json!(id), true), "{notice}");
            assert!(task.get("ttlMs").is_none() && task.get("inputRequests").is_none(), "{notice}");
            match task["status"].as_str() {
                Some("input_required") => {
                    asked(&client, "tasks/cancel", &id).await;
                }
                Some("cancelled") => break,
                other => assert_eq!(other, Some("working")),
            }
        }
    }
}

#[tokio::test]
async fn at_a_server_that_knows_the_extension() {
    let (gateway, _running) = gateway(&[Eras::Modern]).await;
    let client = session(&gateway).await;
    let capability = &client.hello["result"]["capabilities"]["tasks"];
    assert_eq!(capability, &json!({"cancel": {}, "requests": {"tools": {"call": {}}}}));
    let tools = client.ask("tools/list", &json!({})).await;
    let tools = tools["result"]["tools"].as_array().expect("tools").clone();
    assert!(tools.iter().all(|tool| tool["execution"]["taskSupport"] == "optional"), "{tools:?}");
    whole_life(&client, "a").await;
}

#[tokio::test]
async fn a_result_that_is_there_at_once_is_a_task_that_has_ended() {
    let (gateway, _running) = gateway(&[Eras::Modern]).await;
    let client = session(&gateway).await;
    let done = begun(&client, "a__greet", json!({"name": "Ada"})).await;
    assert_eq!(asked(&client, "tasks/get", &done).await["result"]["status"], "completed");
    for _ in 0..2 {
        let outcome = asked(&client, "tasks/result", &done).await;
        assert_eq!((support::text(&outcome), related(&outcome["result"])), ("Hello, Ada!", &json!(done)));
    }
    assert_eq!(support::error_code(&asked(&client, "tasks/cancel", &done).await), -32602);
    // Without a request for a task, the call is an ordinary one.
    assert_eq!(support::text(&client.call("a__greet", &json!({"name": "Bob"})).await), "Hello, Bob!");
}

#[tokio::test]
async fn questions_of_a_task_come_one_by_one_and_before_it() {
    let (gateway, _running) = gateway(&[Eras::Modern]).await;
    let client = session(&gateway).await;
    let both = begun(&client, "a__multi_input", json!({})).await;
    let mut stream = client.begin("tasks/result", &json!({"taskId": both})).await;
    consent(&client, &mut stream, &both).await;
    consent(&client, &mut stream, &both).await;
    assert!(support::text(&stream.response().await).starts_with("Ada; action=accept"));

    // The server asks first, and only then makes the call a task.
    let params = json!({"name": "a__test_tool_with_task", "arguments": {}, "task": {}});
    let mut stream = client.begin("tools/call", &params).await;
    let question = stream.message().await.expect("a question");
    let answer = json!({"action": "accept", "content": {"name": "Ada"}});
    let body = json!({"jsonrpc": "2.0", "id": question["id"], "result": answer}).to_string();
    assert_eq!(client.post(&[], &body).await.status, 202);
    let created = stream.response().await;
    let id = created["result"]["task"]["taskId"].as_str().expect("a task").to_owned();
    assert_eq!(support::text(&asked(&client, "tasks/result", &id).await), "Hello, Ada!");
}

#[tokio::test]
async fn a_tool_without_tasks_is_not_called_as_one() {
    let (gateway, _running) = gateway(&[Eras::Legacy, Eras::Modern]).await;
    let client = session(&gateway).await;
    let params = json!({"name": "a__greet", "arguments": {"name": "Ada"}, "task": {}});
    assert_eq!(support::error_code(&client.ask("tools/call", &params).await), -32601);
    whole_life(&client, "a").await;
    whole_life(&client, "b").await;
}

#[tokio::test]
async fn a_task_is_its_own_sessions_and_no_others() {
    let (gateway, running) = gateway(&[Eras::Legacy]).await;
    // Neither client supports questions, so they share a session at the server.
    let (one, other) = (Legacy::open(gateway.http()).await, Legacy::open(gateway.http()).await);
    let id = begun(&one, "a__slow_compute", json!({"seconds": 60})).await;
    for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
        let refused = asked(&other, method, &id).await;
        assert_eq!(support::error_code(&refused), -32602, "{method} {refused}");
    }
    assert_eq!(asked(&one, "tasks/get", &id).await["result"]["status"], "working");
    assert_eq!(asked(&one, "tasks/cancel", &id).await["result"]["status"], "cancelled");
    for client in [&one, &other] {
        assert_eq!(support::error_code(&client.ask("tasks/list", &json!({})).await), -32601);
    }
    drop(running);
}
