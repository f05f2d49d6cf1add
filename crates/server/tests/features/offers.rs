//! The offers of a server: tools, resources, prompts, completion, and their lists.

use serde_json::{Value, json};

use crate::place::{Place, everything};
use crate::support::{error_code, error_message, text, tool_names};

fn names(answer: &Value, list: &str, key: &str) -> Vec<String> {
    let entries = answer["result"][list].as_array().unwrap_or_else(|| panic!("no {list} in {answer}"));
    entries.iter().map(|entry| entry[key].as_str().expect("a string").to_owned()).collect()
}

/// Checks the additional members of stateless results.
fn is_typed(place: Place, answer: &Value) -> bool {
    let typed = answer["result"]["resultType"] == "complete";
    typed == place.is_stateless()
}

/// Content of every type arrives unchanged, and a failing tool reports the failure in its result.
pub(crate) async fn tools(place: Place) {
    let mut up = place.client(&everything()).await;
    let listed = up.client.ask("tools/list", &json!({})).await;
    assert!(is_typed(place, &listed), "{listed}");
    assert!(tool_names(&listed).iter().all(|name| name.starts_with("up__")), "{listed}");
    let png = |block: &Value| block["type"] == "image" && block["mimeType"] == "image/png";
    let answer = up.client.call("up__test_simple_text", &json!({})).await;
    assert!(is_typed(place, &answer), "{answer}");
    assert_eq!(text(&answer), "This is a simple text response for testing.");
    let answer = up.client.call("up__test_image_content", &json!({})).await;
    assert!(png(&answer["result"]["content"][0]), "{answer}");
    let answer = up.client.call("up__test_audio_content", &json!({})).await;
    assert_eq!(answer["result"]["content"][0]["mimeType"], "audio/wav", "{answer}");
    let answer = up.client.call("up__test_embedded_resource", &json!({})).await;
    assert_eq!(answer["result"]["content"][0]["resource"]["uri"], "test://embedded-resource", "{answer}");
    let answer = up.client.call("up__test_multiple_content_types", &json!({})).await;
    let content = answer["result"]["content"].as_array().expect("content");
    assert!(content.len() == 3 && png(&content[1]), "{answer}");
    let answer = up.client.call("up__echo", &json!({"a": [1, "é"]})).await;
    assert_eq!(text(&answer), r#"{"a":[1,"é"]}"#);
    let answer = up.client.call("up__test_error_handling", &json!({})).await;
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    let answer = up.client.call("up__no_such_tool", &json!({})).await;
    assert_eq!(error_code(&answer), -32602, "{answer}");
    // A call without any arguments.
    let answer = up.client.ask("tools/call", &json!({"name": "up__test_simple_text"})).await;
    assert_eq!(text(&answer), "This is a simple text response for testing.");
}

/// Invalid arguments are refused in the version's way, and the server gets no request.
pub(crate) async fn arguments(place: Place) {
    let mut up = place.client(&json!({})).await;
    let answer = up.client.call("up__slow", &json!({"ms": "soon"})).await;
    // From 2025-11-25 on, the result reports the fault to the model; earlier versions return an error.
    if place.version < "2025-11-25" {
        assert_eq!(error_code(&answer), -32602, "{answer}");
        assert!(error_message(&answer).contains("ms"), "{answer}");
    } else {
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        assert!(text(&answer).contains("ms"), "{answer}");
    }
    let answer =
        up.client.call("up__json_schema_2020_12_tool", &json!({"name": "n", "contact": "phone"})).await;
    let told = answer.to_string();
    assert!(told.contains("phone") && !told.contains("This is"), "{answer}");
    let fits = json!({"name": "n", "contact": "phone", "phone": "1"});
    let answer = up.client.call("up__json_schema_2020_12_tool", &fits).await;
    assert_eq!(serde_json::from_str::<Value>(text(&answer)).expect("JSON"), fits);
}

/// Resources are listed and read, also by a template; a missing resource is an error with the version's code.
pub(crate) async fn resources(place: Place) {
    let mut up = place.client(&everything()).await;
    let listed = up.client.ask("resources/list", &json!({})).await;
    assert!(names(&listed, "resources", "uri").contains(&"test://static-text".to_owned()), "{listed}");
    let listed = up.client.ask("resources/templates/list", &json!({})).await;
    assert_eq!(names(&listed, "resourceTemplates", "uriTemplate"), ["test://template/{id}/data"], "{listed}");
    let read = |uri: &str| json!({"uri": uri});
    let answer = up.client.ask("resources/read", &read("test://static-text")).await;
    let content = &answer["result"]["contents"][0];
    assert_eq!(content["text"], "This is the content of the static text resource.", "{answer}");
    let answer = up.client.ask("resources/read", &read("test://static-binary")).await;
    assert!(answer["result"]["contents"][0]["blob"].is_string(), "{answer}");
    let answer = up.client.ask("resources/read", &read("test://template/7/data")).await;
    assert!(
        answer["result"]["contents"][0]["text"].as_str().expect("text").contains("Data for ID: 7"),
        "{answer}"
    );
    let answer = up.client.ask("resources/read", &read("test://nothing")).await;
    assert_eq!(error_code(&answer), if place.is_stateless() { -32602 } else { -32002 }, "{answer}");
    assert_eq!(answer["error"]["data"]["uri"], "test://nothing", "{answer}");
}

/// Prompts are listed and filled in, and their arguments and those of templates are completed.
pub(crate) async fn prompts(place: Place) {
    let mut up = place.client(&everything()).await;
    let listed = up.client.ask("prompts/list", &json!({})).await;
    assert!(names(&listed, "prompts", "name").contains(&"up__test_simple_prompt".to_owned()), "{listed}");
    let get = |name: &str, arguments: Value| json!({"name": name, "arguments": arguments});
    let params = get("up__test_prompt_with_arguments", json!({"arg1": "one", "arg2": "two"}));
    let answer = up.client.ask("prompts/get", &params).await;
    let said = &answer["result"]["messages"][0]["content"]["text"];
    assert_eq!(said, "Prompt with arguments: arg1='one', arg2='two'", "{answer}");
    let params = get("up__test_prompt_with_embedded_resource", json!({"resourceUri": "test://x"}));
    let answer = up.client.ask("prompts/get", &params).await;
    assert_eq!(answer["result"]["messages"][0]["content"]["resource"]["uri"], "test://x", "{answer}");
    let answer = up.client.ask("prompts/get", &get("up__test_prompt_with_image", json!({}))).await;
    assert_eq!(answer["result"]["messages"][0]["content"]["type"], "image", "{answer}");
    let answer = up.client.ask("prompts/get", &get("up__nothing", json!({}))).await;
    assert_eq!(error_code(&answer), -32602, "{answer}");
    for reference in [
        json!({"type": "ref/prompt", "name": "up__test_prompt_with_arguments"}),
        json!({"type": "ref/resource", "uri": "test://template/{id}/data"}),
    ] {
        let params = json!({"ref": reference, "argument": {"name": "arg1", "value": "par"}});
        let answer = up.client.ask("completion/complete", &params).await;
        assert_eq!(answer["result"]["completion"]["values"], json!(["paris", "park", "party"]), "{answer}");
    }
}

/// All pages of an upstream's lists are fetched; a cursor that the gateway did not issue is refused.
pub(crate) async fn pages(place: Place) {
    let fixture = place.fixture_with(true).await;
    let config = format!("mcpServers:\n  up: {}\n", fixture.config());
    let mut client = place.client_of(&config, &json!({})).await;
    for (method, list, key, last) in [
        ("tools/list", "tools", "name", "up__many_119"),
        ("resources/list", "resources", "uri", "test://many/119"),
    ] {
        let mut found = Vec::new();
        let mut params = json!({});
        loop {
            let page = client.ask(method, &params).await;
            found.extend(names(&page, list, key));
            match page["result"]["nextCursor"].as_str() {
                Some(cursor) => params = json!({"cursor": cursor}),
                None => break,
            }
        }
        assert!(found.len() > 120 && found.contains(&last.to_owned()), "{found:?}");
        let mut once = found.clone();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), found.len(), "something is listed twice: {found:?}");
        let answer = client.ask(method, &json!({"cursor": "made up"})).await;
        assert_eq!(error_code(&answer), -32602, "{answer}");
    }
    assert_eq!(text(&client.call("up__many_119", &json!({})).await), "This is many_119.");
    let answer = client.ask("resources/read", &json!({"uri": "test://many/119"})).await;
    assert_eq!(answer["result"]["contents"][0]["text"], "Number 119", "{answer}");
}

/// A method that nobody offers is unknown, whatever its name.
pub(crate) async fn unknown(place: Place) {
    let mut up = place.client(&json!({})).await;
    for method in ["made/up", "tools", "notifications/made_up", "sampling/createMessage"] {
        let answer = up.client.ask(method, &json!({})).await;
        assert_eq!(error_code(&answer), -32601, "{answer}");
        assert!(error_message(&answer).contains(method), "{answer}");
    }
    let removed: &[&str] = if place.is_stateless() {
        &["ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"]
    } else {
        &["server/discover", "subscriptions/listen"]
    };
    for method in removed {
        let answer = up.client.ask(method, &json!({"uri": "test://static-text", "level": "info"})).await;
        assert_eq!(error_code(&answer), -32601, "{answer}");
    }
    if !place.is_stateless() {
        assert_eq!(up.client.ask("ping", &json!({})).await["result"], json!({}));
    }
}
