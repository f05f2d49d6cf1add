//! Questions of servers, and answers of clients.

use super::*;
use crate::bridge::shape::{answer, question};

fn check_question(method: &str, from: &[&str], given: &Value, rows: &[Row<'_>]) {
    let translate = |given: &Bytes, from: &Era, to: &Era| {
        question(method, given, from, to, &mut || "ours".to_owned()).ok()
    };
    check(from, &|_| given.clone(), &translate, rows);
}

fn check_answer(method: &str, from: &[&str], given: &Value, rows: &[Row<'_>]) {
    let translate = |given: &Bytes, from: &Era, to: &Era| Some(answer(method, given, from, to));
    check(from, &|_| given.clone(), &translate, rows);
}

fn why(method: &str, given: &Value, from: &str, to: &str) -> String {
    let [from, to] = [from, to].map(|version| crate::era::by_version(version).unwrap());
    question(method, &bytes(given), from, to, &mut || "ours".to_owned()).unwrap_err().to_string()
}

const NO_FORM: &str = "2025-03-26";

#[test]
fn forms_are_asked_as_the_era_knows_them() {
    let form =
        |fields: Value| json!({"message": "m", "requestedSchema": {"type": "object", "properties": fields}});
    for (field, plain) in [
        (json!({"type": "string", "default": "x", "odd": 1}), json!({"type": "string", "odd": 1})),
        (json!({"type": "integer", "default": 1}), json!({"type": "integer"})),
        (json!({"type": "boolean", "default": true}), json!({"type": "boolean", "default": true})),
        (
            json!({"type": "string", "enum": ["a"], "enumNames": ["A"], "default": "a"}),
            json!({"type": "string", "enum": ["a"], "enumNames": ["A"]}),
        ),
        (
            json!({"type": "string", "oneOf": [{"const": "a", "title": "A"}, {"const": "b"}], "title": "T"}),
            json!({"type": "string", "enum": ["a", "b"], "enumNames": ["A", "b"], "title": "T"}),
        ),
        (
            json!({"type": "string", "anyOf": [{"const": "a", "title": "A"}], "default": "a"}),
            json!({"type": "string", "enum": ["a"], "enumNames": ["A"]}),
        ),
        (
            json!({"type": "string", "oneOf": [{"const": 1}]}),
            json!({"type": "string", "oneOf": [{"const": 1}]}),
        ),
        (json!(7), json!(7)),
    ] {
        let (full, plain) = (form(json!({"a": field, "b": {}})), form(json!({"a": plain, "b": {}})));
        check_question(
            "elicitation/create",
            &span("2025-06-18", "2026-07-28"),
            &full,
            &[
                (span("1", NO_FORM), None),
                (vec!["2025-06-18"], Some(plain)),
                (vec!["2025-11-25", "2026-07-28"], Some(full.clone())),
            ],
        );
    }
    let mut named = form(json!({}));
    named["mode"] = json!("form");
    check_question(
        "elicitation/create",
        &["2025-11-25", "2026-07-28"],
        &named,
        &[
            (span("1", NO_FORM), None),
            (vec!["2025-06-18"], Some(form(json!({})))),
            (vec!["2025-11-25", "2026-07-28"], Some(named.clone())),
        ],
    );
}

#[test]
fn what_a_plain_form_cannot_ask_is_said() {
    let ask = |field: Value| json!({"message": "m", "requestedSchema": {"type": "object", "properties": {"a": {"type": "string"}, "many": field}}});
    let several = ask(json!({"type": "array", "items": {"type": "string", "enum": ["a"]}}));
    check_question(
        "elicitation/create",
        &["2025-11-25", "2026-07-28"],
        &several,
        &[(span("1", "2025-06-18"), None), (vec!["2025-11-25", "2026-07-28"], Some(several.clone()))],
    );
    assert_eq!(
        why("elicitation/create", &several, "2026-07-28", "2025-06-18"),
        "\"many\" is a multiple-choice field, which protocol version 2025-06-18 does not have"
    );
    assert_eq!(
        why("elicitation/create", &several, "2026-07-28", "2025-03-26"),
        "protocol version 2025-03-26 has no way to ask the user"
    );
    assert_eq!(
        why("elicitation/create", &json!({"mode": "odd"}), "2026-07-28", "2025-06-18"),
        "protocol version 2025-06-18 can ask the user only with forms"
    );
}

#[test]
fn visits_of_a_url_have_an_id_in_one_era() {
    let ask = |id: Option<&str>| {
        let mut ask = json!({"mode": "url", "url": "https://a", "message": "m"});
        if let Some(id) = id {
            ask["elicitationId"] = json!(id);
        }
        ask
    };
    let rows = |id: &str| {
        [
            (span("1", "2025-06-18"), None),
            (vec!["2025-11-25"], Some(ask(Some(id)))),
            (vec!["2026-07-28"], Some(ask(None))),
        ]
    };
    check_question("elicitation/create", &["2026-07-28"], &ask(None), &rows("ours"));
    check_question("elicitation/create", &["2025-11-25"], &ask(Some("theirs")), &rows("theirs"));
    assert_eq!(
        why("elicitation/create", &ask(None), "2026-07-28", "2025-06-18"),
        "protocol version 2025-06-18 cannot ask the user to visit a URL"
    );
}

fn sampling(messages: &Value, more: &Value) -> Value {
    let mut params = json!({"messages": messages, "maxTokens": 1});
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    params
}

#[test]
fn models_use_tools_in_the_newest_eras() {
    let text = json!([{"role": "user", "content": {"type": "text", "text": "a"}}]);
    let newer = ["2025-11-25", "2026-07-28"];
    for more in [json!({"tools": [{"name": "t"}]}), json!({"tools": [{"name": "t"}], "toolChoice": {}})] {
        let full = sampling(&text, &more);
        let rows = [(span("1", "2025-06-18"), None), (newer.to_vec(), Some(full.clone()))];
        check_question("sampling/createMessage", &newer, &full, &rows);
        assert_eq!(
            why("sampling/createMessage", &full, "2026-07-28", "2025-06-18"),
            "protocol version 2025-06-18 does not support tools in sampling"
        );
    }
    let full = sampling(&text, &json!({"tools": [], "toolChoice": {"mode": "none"}}));
    let bare = sampling(&text, &json!({}));
    let rows = [(span("1", "2025-06-18"), Some(bare)), (newer.to_vec(), Some(full.clone()))];
    check_question("sampling/createMessage", &newer, &full, &rows);
    for kind in ["tool_use", "tool_result"] {
        for content in [json!({"type": kind}), json!([{"type": "text", "text": "a"}, {"type": kind}])] {
            let full = sampling(&json!([{"role": "user", "content": content}]), &json!({}));
            let rows = [(span("1", "2025-06-18"), None), (newer.to_vec(), Some(full.clone()))];
            check_question("sampling/createMessage", &newer, &full, &rows);
        }
    }
}

#[test]
fn several_blocks_become_several_messages() {
    let block = |text: &str| json!({"type": "text", "text": text});
    let array = json!([
        {"role": "user", "odd": 1, "content": [block("a")]},
        {"role": "assistant", "odd": 2, "content": [block("b"), block("c")]},
        {"role": "user", "content": []},
        {"role": "user", "content": block("d")},
    ]);
    let single = json!([
        {"role": "user", "odd": 1, "content": block("a")},
        {"role": "assistant", "odd": 2, "content": block("b")},
        {"role": "assistant", "content": block("c")},
        {"role": "user", "content": block("d")},
    ]);
    let full = sampling(&array, &json!({}));
    check_question(
        "sampling/createMessage",
        &["2025-11-25", "2026-07-28"],
        &full,
        &[
            (span("1", "2025-06-18"), Some(sampling(&single, &json!({})))),
            (vec!["2025-11-25", "2026-07-28"], Some(full.clone())),
        ],
    );
}

#[test]
fn sound_for_a_model_is_asked_or_not() {
    let full = sampling(&json!([{"role": "user", "content": {"type": "audio", "data": "AA=="}}]), &json!({}));
    check_question(
        "sampling/createMessage",
        &span("2025-03-26", "2026-07-28"),
        &full,
        &[(span("1", "2024-11-05"), None), (span("2025-03-26", "2026-07-28"), Some(full.clone()))],
    );
    assert_eq!(
        why("sampling/createMessage", &full, "2026-07-28", "1"),
        "protocol version 1 does not support audio content in sampling"
    );
}

#[test]
fn strict_eras_are_asked_with_what_they_know() {
    let message = |content: Value| json!([{"role": "user", "content": content, "odd": 1}]);
    let mut with_meta =
        message(json!({"type": "text", "text": "a", "_meta": {}, "annotations": {"priority": 1}}));
    with_meta[0]["_meta"] = json!({});
    let wish = json!({"modelPreferences": {"speedPriority": 1}});
    let full = sampling(&with_meta, &wish);
    let bare = message(json!({"type": "text", "text": "a"}));
    let annotated = message(json!({"type": "text", "text": "a", "annotations": {"priority": 1}}));
    check_question(
        "sampling/createMessage",
        ALL,
        &full,
        &[
            (vec!["1"], Some(sampling(&bare, &json!({})))),
            (vec!["2024-10-07"], Some(sampling(&bare, &wish))),
            (vec!["2024-11-05"], Some(sampling(&annotated, &wish))),
            (span("2025-03-26", "2026-07-28"), Some(full.clone())),
        ],
    );
}

#[test]
fn roots_are_asked_for_where_there_are_some() {
    let params = json!({"odd": 1});
    let known = span("2024-10-07", "2026-07-28");
    let rows = [(vec!["1"], None), (known.clone(), Some(params.clone()))];
    check_question("roots/list", &known, &params, &rows);
    assert_eq!(why("roots/list", &params, "2026-07-28", "1"), "protocol version 1 has no roots");
    assert_eq!(
        why("roots/list", &json!([]), "2026-07-28", "1"),
        "the params of the question are not a JSON object"
    );
    let task = json!({"task": {"ttl": 1}, "odd": 1});
    let with_task = [
        (vec!["1"], None),
        (span("2024-10-07", "2025-06-18"), Some(params.clone())),
        (vec!["2025-11-25"], Some(task.clone())),
        (vec!["2026-07-28"], Some(params)),
    ];
    check_question("roots/list", &["2025-11-25"], &task, &with_task);
    let progress = json!({"_meta": {"progressToken": 1}});
    let kept = span("2024-10-07", "2025-11-25");
    let rows = [(vec!["1"], None), (kept, Some(progress.clone())), (vec!["2026-07-28"], Some(json!({})))];
    check_question("roots/list", &span("2024-10-07", "2025-11-25"), &progress, &rows);
}

#[test]
fn a_model_answers_with_one_block_where_one_is_known() {
    let result = |content: Value| json!({"role": "assistant", "model": "m", "stopReason": "endTurn", "content": content});
    let block = |text: &str| json!({"type": "text", "text": text});
    let image = json!({"type": "image", "data": "AA==", "mimeType": "image/png"});
    for (several, one) in [
        (json!([block("a")]), block("a")),
        (json!([block("a"), block("b")]), block("a\nb")),
        (json!([block("a"), image, block("b")]), image.clone()),
        (json!([]), block("")),
        (block("a"), block("a")),
    ] {
        check_answer(
            "sampling/createMessage",
            &["2025-11-25", "2026-07-28"],
            &result(several.clone()),
            &[
                (span("1", "2025-06-18"), Some(result(one))),
                (vec!["2025-11-25", "2026-07-28"], Some(result(several))),
            ],
        );
    }
    let note = block("[audio: audio/wav, 1 bytes, not shown in this protocol version]");
    let audio = json!({"type": "audio", "data": "AA==", "mimeType": "audio/wav"});
    check_answer(
        "sampling/createMessage",
        &span("2025-03-26", "2026-07-28"),
        &result(audio.clone()),
        &[
            (span("1", "2024-11-05"), Some(result(note))),
            (span("2025-03-26", "2026-07-28"), Some(result(audio))),
        ],
    );
}

#[test]
fn the_first_version_wants_to_know_why_a_model_stopped() {
    let result = |reason: Option<&str>| {
        let mut result = json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "a"}});
        if let Some(reason) = reason {
            result["stopReason"] = json!(reason);
        }
        result
    };
    for (given, first) in [
        (None, "endTurn"),
        (Some("maxTokens"), "maxTokens"),
        (Some("odd"), "endTurn"),
        (Some("toolUse"), "endTurn"),
    ] {
        check_answer(
            "sampling/createMessage",
            &span("2024-10-07", "2026-07-28"),
            &result(given),
            &[
                (vec!["1"], Some(result(Some(first)))),
                (span("2024-10-07", "2026-07-28"), Some(result(given))),
            ],
        );
    }
}

#[test]
fn other_answers_pass() {
    let elicited = json!({"action": "accept", "content": {"a": ["x"], "b": 1}});
    check_answer("elicitation/create", ALL, &elicited, &[(ALL.to_vec(), Some(elicited.clone()))]);
    let roots = json!({"roots": [{"uri": "file:///a", "_meta": {}}, 7]});
    let bare = json!({"roots": [{"uri": "file:///a"}, 7]});
    check_answer(
        "roots/list",
        ALL,
        &roots,
        &[(span("1", "2024-11-05"), Some(bare)), (span("2025-03-26", "2026-07-28"), Some(roots.clone()))],
    );
    let typed = json!({"roots": [], "resultType": "complete"});
    let older = span("1", "2025-11-25");
    let rows = [(older, Some(json!({"roots": []}))), (vec!["2026-07-28"], Some(typed.clone()))];
    check_answer("roots/list", &["2026-07-28"], &typed, &rows);
}
