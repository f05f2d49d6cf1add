//! Tools: their list, the results of calls, and faulty calls.

use serde_json::{Value, json};

use crate::section::Topics;
use crate::stage::{Feature, Stage};
use crate::support::{error_code, error_message, text};
use crate::version::Version;

const CALLS: Topics = Topics::during(&["tools/call"]);

pub(crate) const FEATURES: &[Feature] = &[
    Feature {
        name: "tools-list",
        title: "Listing tools",
        topics: Topics::ever(&["tools/list"]),
        run: |stage| Box::pin(list(stage)),
    },
    Feature {
        name: "tools-call",
        title: "Calling a tool",
        topics: CALLS,
        run: |stage| Box::pin(call(stage)),
    },
    Feature {
        name: "content",
        title: "Images, sounds, resources and links in results",
        topics: CALLS,
        run: |stage| Box::pin(content(stage)),
    },
    Feature {
        name: "invalid-arguments",
        title: "Arguments that do not match the schema",
        topics: CALLS,
        run: |stage| Box::pin(invalid(stage)),
    },
    Feature {
        name: "tool-error",
        title: "A tool that fails",
        topics: CALLS,
        run: |stage| Box::pin(error(stage)),
    },
    Feature {
        name: "unknown-tool",
        title: "A tool that does not exist",
        topics: CALLS,
        run: |stage| Box::pin(unknown(stage)),
    },
];

/// Checks that members of results which a version introduced are present from then on, and only then.
pub(crate) fn is_of(version: Version, answer: &Value) {
    assert_eq!(answer["result"]["resultType"] == "complete", version.is_stateless(), "{answer}");
}

/// All tools are listed.
async fn list(stage: &mut Stage) {
    let answer = stage.client.ask("tools/list", &json!({})).await;
    is_of(stage.pair.client, &answer);
    let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("no tools in {answer}"));
    let tool = |name: &str| tools.iter().find(|tool| tool["name"] == name);
    let echo = tool("up__echo").unwrap_or_else(|| panic!("no echo in {answer}"));
    assert_eq!(echo["inputSchema"]["type"], "object", "{echo}");
    for tool in tools {
        let has = |member: &str| tool.get(member).is_some();
        assert!(!has("execution") || stage.pair.client == Version::November2025, "{tool}");
        assert!(!has("outputSchema") || stage.pair.client >= Version::June2025, "{tool}");
        // Clients of the oldest versions may refuse unknown members.
        for later in ["title", "icons", "annotations", "_meta"] {
            assert!(!has(later) || stage.pair.client > Version::November2024, "{tool}");
        }
    }
    let described = tool("up__test_described_tool").unwrap_or_else(|| panic!("no such tool in {answer}"));
    if stage.pair.older() >= Version::November2025 {
        assert!(described["title"] == "Described tool" && described["icons"].is_array(), "{described}");
        assert_eq!(described["annotations"]["readOnlyHint"], true, "{described}");
    }
    if stage.pair.client.is_stateless() {
        assert!(answer["result"]["ttlMs"].is_u64() && answer["result"]["cacheScope"].is_string(), "{answer}");
    }
}

/// Arguments and text pass unchanged, whatever the versions of both sides are.
async fn call(stage: &mut Stage) {
    let answer = stage.call("test_simple_text", &json!({})).await;
    is_of(stage.pair.client, &answer);
    assert_eq!(said(stage, &answer), "This is a simple text response for testing.");
    let answer = stage.call("echo", &json!({"a": [1, "é", null], "b": 1.5})).await;
    assert_eq!(said(stage, &answer), r#"{"a":[1,"é",null],"b":1.5}"#);
    // A call without any arguments.
    let answer = stage.client.ask("tools/call", &json!({"name": "up__test_simple_text"})).await;
    assert_eq!(said(stage, &answer), "This is a simple text response for testing.");
    if stage.pair.upstream < Version::November2024 {
        bare(stage).await;
    }
}

/// Free-form results are passed on unchanged, or as text.
async fn bare(stage: &mut Stage) {
    let value = json!({"sum": 3, "parts": [1, 2]});
    for (tool, value) in [("test_bare_text_result", json!("A bare text")), ("test_bare_value_result", value)]
    {
        let answer = stage.call(tool, &json!({})).await;
        if stage.pair.client < Version::November2024 {
            assert_eq!(answer["result"]["toolResult"], value, "{answer}");
        } else {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            assert_eq!(said(stage, &answer), text);
        }
    }
}

/// The content blocks of a result. Clients of the oldest versions expect `toolResult`, in any form.
pub(crate) fn blocks<'a>(stage: &Stage, answer: &'a Value) -> &'a [Value] {
    let result = &answer["result"];
    let old = stage.pair.client < Version::November2024;
    assert_eq!(result.get("toolResult").is_some(), old, "{answer}");
    let blocks = result.get("content").or_else(|| result["toolResult"].get("content"));
    blocks.and_then(Value::as_array).unwrap_or_else(|| panic!("no content in {answer}"))
}

/// The text of a result.
pub(crate) fn said<'a>(stage: &Stage, answer: &'a Value) -> &'a str {
    blocks(stage, answer)[0]["text"].as_str().unwrap_or_else(|| panic!("no text in {answer}"))
}

/// Returns true if a call's result reports a failure of the tool.
pub(crate) fn failed(answer: &Value) -> bool {
    answer["result"]["isError"] == true || answer["result"]["toolResult"]["isError"] == true
}

/// Content that the client's version does not support is converted to the nearest supported type.
async fn content(stage: &mut Stage) {
    let older = stage.pair.older();
    let answer = stage.call("test_image_content", &json!({})).await;
    let block = &blocks(stage, &answer)[0];
    assert!(block["type"] == "image" && block["mimeType"] == "image/png", "{answer}");
    let answer = stage.call("test_audio_content", &json!({})).await;
    let block = &blocks(stage, &answer)[0];
    if older >= Version::March2025 {
        assert!(block["type"] == "audio" && block["mimeType"] == "audio/wav", "{answer}");
    } else if older >= Version::November2024 {
        assert!(block["type"] == "resource" && block["resource"]["mimeType"] == "audio/wav", "{answer}");
        assert!(block["resource"]["blob"].is_string(), "{answer}");
    } else {
        assert!(matches!(block["type"].as_str(), Some("text" | "resource")), "{answer}");
    }
    let answer = stage.call("test_resource_link", &json!({})).await;
    let block = &blocks(stage, &answer)[0];
    if older >= Version::June2025 {
        assert!(block["type"] == "resource_link" && block["uri"].is_string(), "{answer}");
    } else {
        let text = block["text"].as_str().unwrap_or_default();
        assert!(text.contains("test://"), "{answer}");
    }
    for (tool, at) in [("test_embedded_resource", 0), ("test_multiple_content_types", 2)] {
        let answer = stage.call(tool, &json!({})).await;
        let block = &blocks(stage, &answer)[at];
        if older >= Version::November2024 {
            assert_eq!(block["type"], "resource", "{answer}");
            assert!(block["resource"]["text"].is_string(), "{answer}");
        } else {
            assert!(matches!(block["type"].as_str(), Some("text" | "resource")), "{answer}");
        }
        let whole = answer.to_string();
        assert!(whole.contains("embedded resource content") || whole.contains("123"), "{answer}");
    }
}

/// The upstream gets no request; the client gets the error of its version.
async fn invalid(stage: &mut Stage) {
    let answer = stage.call("slow", &json!({"ms": "soon"})).await;
    let told = if stage.pair.client < Version::November2025 {
        assert_eq!(error_code(&answer), -32602, "{answer}");
        error_message(&answer)
    } else {
        assert!(failed(&answer), "{answer}");
        text(&answer)
    };
    assert!(told.contains("ms"), "{answer}");
    let crossed = stage.crossed().await;
    assert!(!crossed.iter().any(|one| one.is_sent("tools/call")), "the upstream was called: {crossed:?}");
}

/// A failing tool returns a result that reports the failure, in every version.
async fn error(stage: &mut Stage) {
    let answer = stage.call("test_error_handling", &json!({})).await;
    assert!(failed(&answer), "{answer}");
    assert!(answer.to_string().contains("intentionally returns an error"), "{answer}");
}

/// Calling an unknown tool is the client's error.
async fn unknown(stage: &mut Stage) {
    let answer = stage.call("no_such_tool", &json!({})).await;
    assert_eq!(error_code(&answer), -32602, "{answer}");
    assert!(error_message(&answer).contains("no_such_tool"), "{answer}");
}
