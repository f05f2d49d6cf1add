//! Resources, templates, prompts, completion, pages.

use serde_json::{Value, json};

use crate::section::Topics;
use crate::stage::{Feature, Stage};
use crate::support::error_code;
use crate::tools::is_of;
use crate::version::Version;

pub(crate) const FEATURES: &[Feature] = &[
    Feature {
        name: "resources",
        title: "Resources",
        topics: Topics::during(&["resources/read"]),
        run: |stage| Box::pin(resources(stage)),
    },
    Feature {
        name: "templates",
        title: "Resource templates",
        topics: Topics::ever(&["resources/templates/list"]),
        run: |stage| Box::pin(templates(stage)),
    },
    Feature {
        name: "prompts-list",
        title: "Listing prompts",
        topics: Topics::ever(&["prompts/list"]),
        run: |stage| Box::pin(prompts_list(stage)),
    },
    Feature {
        name: "prompts-get",
        title: "Prompts",
        topics: Topics::during(&["prompts/get"]),
        run: |stage| Box::pin(prompts_get(stage)),
    },
    Feature {
        name: "completion",
        title: "Argument completion",
        topics: Topics::during(&["completion/complete"]),
        run: |stage| Box::pin(completion(stage)),
    },
    Feature {
        name: "pagination",
        title: "Paginated lists",
        topics: Topics::ever(&["resources/list"]),
        run: |stage| Box::pin(pagination(stage)),
    },
];

fn names<'a>(answer: &'a Value, list: &str, key: &str) -> Vec<&'a str> {
    let entries = answer["result"][list].as_array().unwrap_or_else(|| panic!("no {list} in {answer}"));
    entries.iter().map(|entry| entry[key].as_str().expect("a string")).collect()
}

fn at(uri: &str) -> Value {
    json!({"uri": uri})
}

/// Existing resources are read; a missing one is an error of the client's version.
async fn resources(stage: &mut Stage) {
    let client = stage.pair.client;
    let answer = stage.client.ask("resources/read", &at("test://static-text")).await;
    is_of(client, &answer);
    let content = &answer["result"]["contents"][0];
    assert_eq!(content["text"], "This is the content of the static text resource.", "{answer}");
    let answer = stage.client.ask("resources/read", &at("test://static-binary")).await;
    assert!(answer["result"]["contents"][0]["blob"].is_string(), "{answer}");
    let answer = stage.client.ask("resources/read", &at("test://nothing")).await;
    assert_eq!(error_code(&answer), if client.is_stateless() { -32602 } else { -32002 }, "{answer}");
    assert_eq!(answer["error"]["data"]["uri"], "test://nothing", "{answer}");
}

/// Templates are listed where the client's version expects them, and their resources are read.
async fn templates(stage: &mut Stage) {
    let template = "test://template/{id}/data";
    let answer = if stage.pair.client == Version::First {
        stage.client.ask("resources/list", &json!({})).await
    } else {
        stage.client.ask("resources/templates/list", &json!({})).await
    };
    assert_eq!(names(&answer, "resourceTemplates", "uriTemplate"), [template], "{answer}");
    let answer = stage.client.ask("resources/read", &at("test://template/7/data")).await;
    let text = answer["result"]["contents"][0]["text"].as_str().unwrap_or_default();
    assert!(text.contains("Data for ID: 7"), "{answer}");
}

async fn prompts_list(stage: &mut Stage) {
    let answer = stage.client.ask("prompts/list", &json!({})).await;
    is_of(stage.pair.client, &answer);
    assert!(names(&answer, "prompts", "name").contains(&"up__test_simple_prompt"), "{answer}");
}

async fn prompts_get(stage: &mut Stage) {
    let get = |name: &str, arguments: Value| json!({"name": format!("up__{name}"), "arguments": arguments});
    let params = get("test_prompt_with_arguments", json!({"arg1": "one", "arg2": "two"}));
    let answer = stage.client.ask("prompts/get", &params).await;
    is_of(stage.pair.client, &answer);
    let said = &answer["result"]["messages"][0]["content"]["text"];
    assert_eq!(said, "Prompt with arguments: arg1='one', arg2='two'", "{answer}");
    let params = get("test_prompt_with_embedded_resource", json!({"resourceUri": "test://x"}));
    let answer = stage.client.ask("prompts/get", &params).await;
    let content = &answer["result"]["messages"][0]["content"];
    if stage.pair.older() == Version::First {
        let said = content["text"].as_str().unwrap_or_default();
        assert!(said.contains("Embedded resource content"), "{answer}");
    } else {
        assert_eq!(content["resource"]["uri"], "test://x", "{answer}");
    }
    let answer = stage.client.ask("prompts/get", &get("nothing", json!({}))).await;
    assert_eq!(error_code(&answer), -32602, "{answer}");
}

async fn completion(stage: &mut Stage) {
    for reference in [
        json!({"type": "ref/prompt", "name": "up__test_prompt_with_arguments"}),
        json!({"type": "ref/resource", "uri": "test://template/{id}/data"}),
    ] {
        let params = json!({"ref": reference, "argument": {"name": "arg1", "value": "par"}});
        let answer = stage.client.ask("completion/complete", &params).await;
        is_of(stage.pair.client, &answer);
        assert_eq!(answer["result"]["completion"]["values"], json!(["paris", "park", "party"]), "{answer}");
    }
}

/// All pages of the upstream are fetched; a client gets the gateway's own pages, if its version has pages.
async fn pagination(stage: &mut Stage) {
    let mut found = Vec::new();
    let mut params = json!({});
    loop {
        let page = stage.client.ask("resources/list", &params).await;
        found.extend(names(&page, "resources", "uri").into_iter().map(str::to_owned));
        match page["result"]["nextCursor"].as_str() {
            Some(cursor) => params = json!({"cursor": cursor}),
            None => break,
        }
        assert_ne!(stage.pair.client, Version::First, "a version without pages: {page}");
    }
    assert!(found.len() > 120 && found.iter().any(|uri| uri == "test://many/119"), "{found:?}");
    let count = found.len();
    found.sort();
    found.dedup();
    assert_eq!(found.len(), count, "something is listed twice");
    if stage.pair.client > Version::First {
        let answer = stage.client.ask("resources/list", &json!({"cursor": "made up"})).await;
        assert_eq!(error_code(&answer), -32602, "{answer}");
    }
    let answer = stage.client.ask("resources/read", &at("test://many/119")).await;
    assert_eq!(answer["result"]["contents"][0]["text"], "Number 119", "{answer}");
}
