//! Events during a request: progress, log messages, cancellation, questions.

use serde_json::{Value, json};
use testkit::client::Peer;

use crate::place::{Place, everything};
use crate::support::{error_code, text};

fn of<'a>(said: &'a [Value], method: &str) -> Vec<&'a Value> {
    said.iter().filter(|message| message["method"] == method).collect()
}

/// Progress notifications have the client's token and arrive in order, before the answer; without a token
/// there is none.
pub(crate) async fn progress(place: Place) {
    for capabilities in [json!({}), everything()] {
        let mut up = place.client(&capabilities).await;
        for token in [json!("tok\"en"), json!(7)] {
            let params = json!({"name": "up__test_tool_with_progress", "_meta": {"progressToken": token}});
            let turn = up.client.begin("tools/call", &params).await;
            let (said, answer) = up.client.finish(turn).await;
            let seen = of(&said, "notifications/progress");
            let steps: Vec<_> = seen.iter().map(|one| &one["params"]["progress"]).collect();
            assert_eq!(steps, [0, 50, 100], "{said:?}");
            assert!(seen.iter().all(|one| one["params"]["progressToken"] == token), "{said:?}");
            assert_eq!(text(&answer), "Tool with progress executed successfully");
        }
        let turn = up.client.begin("tools/call", &json!({"name": "up__test_tool_with_progress"})).await;
        let (said, _) = up.client.finish(turn).await;
        assert!(of(&said, "notifications/progress").is_empty(), "{said:?}");
    }
}

/// Log messages come on the stream of the request that caused them, from the level that the client requested.
pub(crate) async fn logging(place: Place) {
    for capabilities in [json!({}), everything()] {
        let mut up = place.client(&capabilities).await;
        for (level, wanted) in [("debug", 3), ("info", 3), ("error", 0)] {
            up.client.set_level(level).await;
            let turn = up.client.begin("tools/call", &json!({"name": "up__test_tool_with_logging"})).await;
            let (said, answer) = up.client.finish(turn).await;
            assert_eq!(of(&said, "notifications/message").len(), wanted, "{level}: {said:?}");
            assert_eq!(text(&answer), "Tool with logging executed successfully");
        }
    }
}

/// A level that does not exist is refused.
pub(crate) async fn wrong_level(place: Place) {
    let mut up = place.client(&json!({})).await;
    let answer = if place.is_stateless() {
        let meta = json!({"io.modelcontextprotocol/logLevel": "loud"});
        up.client.ask("tools/call", &json!({"name": "up__echo", "_meta": meta})).await
    } else {
        up.client.ask("logging/setLevel", &json!({"level": "loud"})).await
    };
    assert_eq!(error_code(&answer), -32602, "{answer}");
}

/// A request that the client cancels is also cancelled at the upstream, and no further message about it
/// arrives.
pub(crate) async fn cancellation(place: Place) {
    let mut up = place.client(&everything()).await;
    let count = "test://cancelled-count";
    let mut news = up.client.listen(&json!({"resourceSubscriptions": [count]})).await;
    let params = json!({"name": "up__test_sampling", "arguments": {"prompt": "?"}});
    let mut turn = up.client.begin("tools/call", &params).await;
    // The question shows that the upstream has begun.
    assert_eq!(up.client.next(&mut turn).await["method"], "sampling/createMessage");
    up.client.cancel(turn).await;
    let news = up.client.news(&mut news).await;
    assert_eq!(news["method"], "notifications/resources/updated", "{news}");
    let answer = up.client.ask("resources/read", &json!({"uri": count})).await;
    assert_eq!(answer["result"]["contents"][0]["text"], "1", "{answer}");
}

fn answers(method: &str, params: &Value) -> Value {
    match method {
        "sampling/createMessage" => {
            assert!(params["messages"].is_array(), "{params}");
            json!({"role": "assistant", "content": {"type": "text", "text": "Paris"}, "model": "m"})
        }
        "elicitation/create" => {
            assert!(params["requestedSchema"].is_object(), "{params}");
            json!({"action": "accept", "content": {
                "name": "Ada", "username": "ada", "email": "a@b.c", "color": "blue", "ok": true, "context": "work",
                "reason": "because",
            }})
        }
        "roots/list" => json!({"roots": [{"uri": "file:///a"}, {"uri": "file:///b", "name": "b"}]}),
        other => panic!("asked {other}"),
    }
}

/// Sends a request that leads to questions; returns their methods, and the final answer.
async fn conversed(client: &mut Peer, method: &str, params: &Value) -> (Vec<String>, Value) {
    let (asked, answer) = client.converse(method, params, |kind, params| Ok(answers(kind, params))).await;
    (asked.into_iter().map(|(method, _)| method).collect(), answer)
}

/// Calls a tool that asks; returns its questions and its answer.
async fn asked(client: &mut Peer, tool: &str, arguments: Value) -> (Vec<String>, String) {
    let params = json!({"name": tool, "arguments": arguments});
    let (asked, answer) = conversed(client, "tools/call", &params).await;
    (asked, text(&answer).to_owned())
}

/// Sampling, elicitation and roots: each question reaches the client, and each answer reaches the upstream.
pub(crate) async fn questions(place: Place) {
    let mut up = place.client(&everything()).await;
    let (elicit, sample, roots) = ("elicitation/create", "sampling/createMessage", "roots/list");
    let client = &mut up.client;
    let (kinds, said) = asked(client, "up__test_sampling", json!({"prompt": "?"})).await;
    assert_eq!((&*kinds, &*said), (&[sample.to_owned()][..], "LLM response: Paris"));
    // Elicitation was introduced with 2025-06-18.
    if place.version >= "2025-06-18" {
        let (kinds, said) = asked(client, "up__test_elicitation", json!({"message": "?"})).await;
        assert!(kinds == [elicit] && said.contains("action=accept") && said.contains("a@b.c"), "{said}");
        let (kinds, said) = asked(client, "up__test_input_required_result_multi_round", json!({})).await;
        assert_eq!((kinds.len(), &*said), (2, "Ada likes blue"));
        let (kinds, said) = asked(client, "up__test_input_required_result_multiple_inputs", json!({})).await;
        assert_eq!((kinds.len(), &*said), (3, "Ada was greeted with \"Paris\" and has 2 roots"));
        let params = json!({"name": "up__test_input_required_result_prompt"});
        let (kinds, answer) = conversed(client, "prompts/get", &params).await;
        assert_eq!(kinds, [elicit]);
        assert_eq!(answer["result"]["messages"][0]["content"]["text"], "Use this context: work", "{answer}");
        let (kinds, answer) =
            conversed(client, "resources/read", &json!({"uri": "test://asking-resource"})).await;
        assert_eq!(kinds, [elicit]);
        assert_eq!(answer["result"]["contents"][0]["text"], "Read because: because", "{answer}");
    }
    let (kinds, said) = asked(client, "up__test_input_required_result_list_roots", json!({})).await;
    assert_eq!((&*kinds, &*said), (&[roots.to_owned()][..], "Client roots: file:///a, file:///b"));
}

/// A client's refusal is passed on as a refusal.
pub(crate) async fn declined(place: Place) {
    let mut up = place.client(&everything()).await;
    for action in ["decline", "cancel"] {
        let params = json!({"name": "up__test_elicitation", "arguments": {"message": "?"}});
        let (_, answer) =
            up.client.converse("tools/call", &params, |_, _| Ok(json!({"action": action}))).await;
        assert!(text(&answer).contains(&format!("action={action}")), "{answer}");
    }
}

/// A client that does not support questions gets none.
pub(crate) async fn not_asked(place: Place) {
    let mut up = place.client(&json!({})).await;
    let answer = up.client.call("up__test_sampling", &json!({"prompt": "?"})).await;
    let refused = answer["result"]["isError"] == true || answer["error"]["code"] == -32021;
    assert!(refused, "{answer}");
}
