//! Clients and servers that both support the extension; two servers in one profile.

use super::*;

async fn both() -> (Gateway, Vec<Running>, Modern) {
    let (gateway, running) = gateway(&[Eras::Modern, Eras::Modern]).await;
    let client = modern(&gateway, capable());
    (gateway, running, client)
}

async fn begun(client: &Modern, tool: &str, arguments: Value) -> String {
    let answer = client.call(tool, &arguments).await;
    assert_eq!(answer["result"]["resultType"], "task", "{answer}");
    answer["result"]["taskId"].as_str().expect("an id").to_owned()
}

#[tokio::test]
async fn each_servers_tasks_are_found_again() {
    let (_gateway, _running, client) = both().await;
    let mut ids = Vec::new();
    for server in ["a", "b", "a"] {
        ids.push((
            server,
            begun(&client, &format!("{server}__slow_compute"), json!({"seconds": 0.05})).await,
        ));
    }
    for (_, id) in &ids {
        let ended = until(&client, id, has_ended).await;
        assert_eq!(ended["result"]["content"][0]["text"], "Computed for 0.05 s", "{ended}");
    }
    let failed = begun(&client, "b__protocol_error_job", json!({})).await;
    let ended = until(&client, &failed, has_ended).await;
    assert_eq!((&ended["status"], &ended["error"]["code"]), (&json!("failed"), &json!(-32603)));
    let long = begun(&client, "a__slow_compute", json!({"seconds": 60})).await;
    for _ in 0..2 {
        let gone = about(&client, "tasks/cancel", &long, json!({})).await;
        assert_eq!(gone["result"]["resultType"], "complete", "{gone}");
    }
    assert_eq!(until(&client, &long, has_ended).await["status"], "cancelled");
}

#[tokio::test]
async fn answers_come_to_the_task_that_asks() {
    let (_gateway, _running, client) = both().await;
    let one = begun(&client, "a__confirm_delete", json!({"filename": "one"})).await;
    let two = begun(&client, "b__confirm_delete", json!({"filename": "two"})).await;
    for (id, yes, end) in [(&two, true, "Deleted two"), (&one, false, "Kept one")] {
        let asks = until(&client, id, |task| task["status"] == "input_required").await;
        let key = asks["inputRequests"].as_object().expect("questions").keys().next().expect("one").clone();
        let answer = json!({"inputResponses": {key: {"action": "accept", "content": {"confirm": yes}}}});
        let told = about(&client, "tasks/update", id, answer).await;
        assert_eq!(told["result"]["resultType"], "complete", "{told}");
        let ended = until(&client, id, has_ended).await;
        assert_eq!(ended["result"]["content"][0]["text"], end);
    }
}

#[tokio::test]
async fn what_is_no_task_of_this_client_is_refused() {
    let (gateway, _running, client) = both().await;
    let id = begun(&client, "a__slow_compute", json!({"seconds": 60})).await;
    for unknown in ["x", "", &id[1..], &format!("{id}A")] {
        let answer = about(&client, "tasks/get", unknown, json!({})).await;
        assert_eq!(support::error_code(&answer), -32602, "{unknown:?}: {answer}");
    }
    let plain = modern(&gateway, json!({"elicitation": {}}));
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let answer = about(&plain, method, &id, json!({"inputResponses": {}})).await;
        assert_eq!(support::error_code(&answer), -32021, "{method}: {answer}");
        let needed = &answer["error"]["data"]["requiredCapabilities"]["extensions"];
        assert!(needed["io.modelcontextprotocol/tasks"].is_object(), "{answer}");
    }
    for method in ["tasks/list", "tasks/result"] {
        assert_eq!(support::error_code(&about(&client, method, &id, json!({})).await), -32601, "{method}");
    }
    let required = plain.call("a__failing_job", &json!({})).await;
    assert_eq!(support::error_code(&required), -32021, "{required}");
    assert_eq!(
        plain.call("a__slow_compute", &json!({"seconds": 0})).await["result"]["resultType"],
        "complete"
    );
}

#[tokio::test]
async fn notices_come_under_the_ids_that_the_client_knows() {
    let (_gateway, _running, client) = both().await;
    let one = begun(&client, "a__confirm_delete", json!({"filename": "one"})).await;
    let two = begun(&client, "b__slow_compute", json!({"seconds": 60})).await;
    let wanted = json!({"notifications": {"taskIds": [one, two, "nobody's"]}});
    let mut stream = client.begin("subscriptions/listen", &wanted).await;
    let acknowledged = stream.message().await.expect("an acknowledgement");
    assert_eq!(acknowledged["params"]["notifications"], json!({"taskIds": [one, two]}));
    about(&client, "tasks/cancel", &two, json!({})).await;
    until(&client, &one, |task| task["status"] == "input_required").await;
    about(&client, "tasks/cancel", &one, json!({})).await;
    let mut left = vec![one, two];
    while !left.is_empty() {
        let notice = stream.message().await.expect("a notice");
        assert_eq!(notice["method"], "notifications/tasks", "{notice}");
        assert_eq!(notice["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "m");
        let id = notice["params"]["taskId"].as_str().expect("an id");
        if notice["params"]["status"] == "cancelled" {
            left.retain(|wanted| wanted != id);
        }
    }
    let plain = Modern { capabilities: json!({}), ..client };
    let refused = plain.ask("subscriptions/listen", &wanted).await;
    assert_eq!(support::error_code(&refused), -32021, "{refused}");
}
