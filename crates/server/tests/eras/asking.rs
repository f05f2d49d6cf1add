//! Questions of the upstream to the client: to the user, to the model, for roots; one, several, in several rounds.

use serde_json::{Value, json};

use crate::section::Topics;
use crate::stage::{Feature, Stage};
use crate::support::error_code;
use crate::tools::{failed, said};
use crate::version::Version;
use testkit::client::Answer;

const ELICIT: &str = "elicitation/create";
const SAMPLE: &str = "sampling/createMessage";
const ROOTS: &str = "roots/list";
const COMPLETE: &str = "notifications/elicitation/complete";

const ASKING: Topics = Topics::during(&[
    "tools/call",
    "prompts/get",
    "resources/read",
    ELICIT,
    SAMPLE,
    ROOTS,
    COMPLETE,
    "notifications/cancelled",
]);

pub(crate) const FEATURES: &[Feature] = &[
    Feature {
        name: "elicitation-form",
        title: "Questions to the user (elicitation)",
        topics: ASKING,
        run: |stage| Box::pin(form(stage)),
    },
    Feature {
        name: "elicitation-choices",
        title: "Forms with choices and defaults",
        topics: ASKING,
        run: |stage| Box::pin(choices(stage)),
    },
    Feature {
        name: "elicitation-url",
        title: "Sending the user to a URL",
        topics: ASKING,
        run: |stage| Box::pin(url(stage)),
    },
    Feature {
        name: "sampling",
        title: "Questions to the model (sampling)",
        topics: ASKING,
        run: |stage| Box::pin(sampling(stage)),
    },
    Feature {
        name: "sampling-tools",
        title: "Tools for the client's model",
        topics: ASKING,
        run: |stage| Box::pin(sampling_with_tools(stage)),
    },
    Feature { name: "roots", title: "Roots", topics: ASKING, run: |stage| Box::pin(roots(stage)) },
    Feature {
        name: "rounds",
        title: "Follow-up questions",
        topics: ASKING,
        run: |stage| Box::pin(rounds(stage)),
    },
    Feature {
        name: "silent-rounds",
        title: "Rounds in which the server asks nothing",
        topics: ASKING,
        run: |stage| Box::pin(silent(stage)),
    },
    Feature {
        name: "several-questions",
        title: "Several questions at once",
        topics: ASKING.at_once(),
        run: |stage| Box::pin(several(stage)),
    },
    Feature {
        name: "refusal",
        title: "A user who declines or cancels",
        topics: ASKING,
        run: |stage| Box::pin(refusal(stage)),
    },
    Feature {
        name: "question-error",
        title: "A client that answers a question with an error",
        topics: ASKING,
        run: |stage| Box::pin(error(stage)),
    },
];

/// The answers of the test's client to every question.
#[expect(clippy::unnecessary_wraps, reason = "other clients answer with errors")]
fn willing(method: &str, params: &Value) -> Answer {
    Ok(match method {
        SAMPLE if params.get("tools").is_some() => {
            let used =
                json!({"type": "tool_use", "id": "u2", "name": "weather", "input": {"city": "Bergen"}});
            json!({"role": "assistant", "content": [used], "model": "m", "stopReason": "toolUse"})
        }
        ELICIT if params["mode"] == "url" => json!({"action": "accept"}),
        SAMPLE => {
            assert!(params["messages"].is_array(), "{params}");
            json!({"role": "assistant", "content": {"type": "text", "text": "Paris"}, "model": "m"})
        }
        ELICIT => {
            assert!(params["requestedSchema"].is_object(), "{params}");
            json!({"action": "accept", "content": {
                "name": "Ada", "username": "ada", "email": "a@b.c", "color": "blue", "ok": true,
                "context": "work", "reason": "because",
            }})
        }
        ROOTS => json!({"roots": [{"uri": "file:///a"}, {"uri": "file:///b", "name": "b"}]}),
        other => panic!("asked {other}"),
    })
}

fn kinds(asked: &[(String, Value)]) -> Vec<&str> {
    asked.iter().map(|(kind, _)| kind.as_str()).collect()
}

/// A tool that cannot ask reports that, and no question is sent.
fn is_refused(asked: &[(String, Value)], answer: &Value) {
    assert!(asked.is_empty(), "asked {asked:?}");
    assert!(failed(answer) || answer.get("error").is_some(), "{answer}");
}

async fn form(stage: &mut Stage) {
    let (asked, answer) = stage.converse_with("test_elicitation", json!({"message": "Who?"}), willing).await;
    if !stage.possible() {
        return is_refused(&asked, &answer);
    }
    assert_eq!(kinds(&asked), [ELICIT], "{answer}");
    let told = said(stage, &answer);
    assert!(told.contains("action=accept") && told.contains("a@b.c"), "{answer}");
    let (asked, answer) = stage
        .client
        .converse("prompts/get", &json!({"name": "up__test_input_required_result_prompt"}), willing)
        .await;
    assert_eq!(kinds(&asked), [ELICIT], "{answer}");
    assert_eq!(answer["result"]["messages"][0]["content"]["text"], "Use this context: work", "{answer}");
    let (asked, answer) =
        stage.client.converse("resources/read", &json!({"uri": "test://asking-resource"}), willing).await;
    assert_eq!(kinds(&asked), [ELICIT], "{answer}");
    assert_eq!(answer["result"]["contents"][0]["text"], "Read because: because", "{answer}");
}

/// Forms are translated to the client's version.
async fn choices(stage: &mut Stage) {
    for tool in ["test_elicitation_sep1034_defaults", "test_elicitation_sep1330_enums"] {
        let answer = |_: &str, params: &Value| {
            let properties = params["requestedSchema"]["properties"].as_object().expect("properties");
            let first = |property: &Value| match property["type"].as_str() {
                Some("integer" | "number") => json!(1),
                Some("boolean") => json!(true),
                Some("array") => json!([]),
                _ => property["enum"]
                    .get(0)
                    .or(property["oneOf"][0].get("const"))
                    .cloned()
                    .unwrap_or(json!("x")),
            };
            let content: serde_json::Map<_, _> =
                properties.iter().map(|(name, property)| (name.clone(), first(property))).collect();
            Ok(json!({"action": "accept", "content": content}))
        };
        let (asked, answer) = stage.converse_with(tool, json!({}), answer).await;
        let inexpressible = tool.ends_with("enums") && stage.pair.upstream >= Version::November2025;
        if stage.pair.older() < Version::June2025 {
            is_refused(&asked, &answer);
            continue;
        } else if stage.pair.client == Version::June2025 && inexpressible {
            assert!(asked.is_empty(), "asked {asked:?}");
            assert!(failed(&answer) || said(stage, &answer).contains("action=cancel"), "{answer}");
            continue;
        }
        assert_eq!(kinds(&asked), [ELICIT], "{answer}");
        assert!(said(stage, &answer).contains("action=accept"), "{answer}");
        let form = asked[0].1["requestedSchema"].to_string();
        if stage.pair.client < Version::November2025 {
            assert!(!form.contains("oneOf") && !form.contains("anyOf"), "{form}");
        }
    }
}

/// The user is sent to a URL, by a question or by an error that requires it.
async fn url(stage: &mut Stage) {
    let news = match stage.pair.client {
        Version::November2025 => Some(stage.client.listen(&json!({})).await),
        _ => None,
    };
    let (asked, answer) = stage.converse_with("test_elicitation_url", json!({}), willing).await;
    if !stage.possible() {
        return is_refused(&asked, &answer);
    }
    assert_eq!(kinds(&asked), [ELICIT], "{answer}");
    assert!(said(stage, &answer).contains("action=accept"), "{answer}");
    let id = &asked[0].1["elicitationId"];
    assert_eq!(id.is_string(), stage.pair.client == Version::November2025, "{asked:?}");
    if let Some(mut news) = news
        && stage.pair.upstream == Version::November2025
    {
        let told = stage.client.news(&mut news).await;
        assert_eq!((&told["method"], &told["params"]["elicitationId"]), (&json!(COMPLETE), id), "{told}");
    }
    let tool = "test_url_elicitation_required";
    let (asked, answer) = stage.converse_with(tool, json!({}), willing).await;
    if stage.pair.client == Version::November2025 && stage.pair.upstream == Version::November2025 {
        assert_eq!(error_code(&answer), -32042, "{answer}");
        assert_eq!(answer["error"]["data"]["elicitations"][0]["mode"], "url", "{answer}");
        let (asked, answer) = stage.converse_with(tool, json!({}), willing).await;
        assert!(asked.is_empty(), "{asked:?}");
        assert_eq!(said(stage, &answer), "The user went there.");
    } else {
        assert_eq!(kinds(&asked), [ELICIT], "{answer}");
        assert_eq!(said(stage, &answer), "The user went there.");
    }
}

async fn sampling_with_tools(stage: &mut Stage) {
    let (asked, answer) = stage.converse_with("test_sampling_with_tools", json!({}), willing).await;
    if !stage.possible() {
        return is_refused(&asked, &answer);
    }
    assert_eq!(kinds(&asked), [SAMPLE], "{answer}");
    assert_eq!(said(stage, &answer), "Stopped for toolUse with tool_use");
}

async fn silent(stage: &mut Stage) {
    let tool = "test_input_required_result_state_only";
    let (asked, answer) = stage.converse_with(tool, json!({}), willing).await;
    assert!(asked.is_empty(), "{asked:?}");
    assert_eq!(said(stage, &answer), "One round later");
}

/// An error in place of an answer ends the call; the client receives it.
async fn error(stage: &mut Stage) {
    if !stage.possible() {
        return;
    }
    let refuse = |_: &str, _: &Value| Err(json!({"code": -1, "message": "The user rejected it"}));
    let (asked, answer) = stage.converse_with("test_sampling", json!({"prompt": "Where?"}), refuse).await;
    assert_eq!(kinds(&asked), [SAMPLE], "{answer}");
    assert!(failed(&answer) || answer.get("error").is_some(), "{answer}");
    assert!(answer.to_string().contains("rejected"), "{answer}");
}

async fn sampling(stage: &mut Stage) {
    let (asked, answer) = stage.converse_with("test_sampling", json!({"prompt": "Where?"}), willing).await;
    assert_eq!(kinds(&asked), [SAMPLE], "{answer}");
    assert_eq!(said(stage, &answer), "LLM response: Paris");
}

async fn roots(stage: &mut Stage) {
    let tool = "test_input_required_result_list_roots";
    let (asked, answer) = stage.converse_with(tool, json!({}), willing).await;
    if !stage.possible() {
        return is_refused(&asked, &answer);
    }
    assert_eq!(kinds(&asked), [ROOTS], "{answer}");
    assert_eq!(said(stage, &answer), "Client roots: file:///a, file:///b");
}

async fn rounds(stage: &mut Stage) {
    let tool = "test_input_required_result_multi_round";
    let (asked, answer) = stage.converse_with(tool, json!({}), willing).await;
    if !stage.possible() {
        return is_refused(&asked, &answer);
    }
    assert_eq!(kinds(&asked), [ELICIT, ELICIT], "{answer}");
    assert_eq!(said(stage, &answer), "Ada likes blue");
}

async fn several(stage: &mut Stage) {
    let tool = "test_input_required_result_multiple_inputs";
    let (asked, answer) = stage.converse_with(tool, json!({}), willing).await;
    if !stage.possible() {
        return is_refused(&asked, &answer);
    }
    let mut kinds = kinds(&asked);
    kinds.sort_unstable();
    assert_eq!(kinds, [ELICIT, ROOTS, SAMPLE], "{answer}");
    assert_eq!(said(stage, &answer), "Ada was greeted with \"Paris\" and has 2 roots");
}

/// A refusal is passed on as a refusal.
async fn refusal(stage: &mut Stage) {
    for action in ["decline", "cancel"] {
        let answer = move |_: &str, _: &Value| Ok(json!({"action": action}));
        let (asked, answer) =
            stage.converse_with("test_elicitation", json!({"message": "Who?"}), answer).await;
        if !stage.possible() {
            return is_refused(&asked, &answer);
        }
        assert!(said(stage, &answer).contains(&format!("action={action}")), "{answer}");
    }
}
