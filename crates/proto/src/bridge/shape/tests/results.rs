//! Results of a client's requests.

use super::*;
use crate::bridge::shape::{GatewayIdentity, result};

const INFO: &str = "io.modelcontextprotocol/serverInfo";

/// Adds the members that results of 2026-07-28 have besides their data; the tables contain only the data.
fn dressed(mut data: Value, method: &str) -> Value {
    let object = data.as_object_mut().unwrap();
    object.insert("resultType".to_owned(), json!("complete"));
    if method.ends_with("/list") || method == "resources/read" {
        object.insert("ttlMs".to_owned(), json!(0));
        object.insert("cacheScope".to_owned(), json!("private"));
    }
    let meta = object.entry("_meta").or_insert_with(|| json!({}));
    meta.as_object_mut().unwrap().entry(INFO).or_insert_with(|| json!({"name": "g"}));
    data
}

fn check_result(method: &str, from: &[&str], data: &Value, rows: &[Row<'_>]) {
    let own = GatewayIdentity { server_info: "{\"name\":\"g\"}" };
    let input = |era: &Era| match era.version {
        "2026-07-28" => dressed(data.clone(), method),
        _ => data.clone(),
    };
    let rows: Vec<Row<'_>> = rows
        .iter()
        .flat_map(|(versions, data)| versions.iter().map(move |version| (*version, data.clone())))
        .map(|(version, data)| match version {
            "2026-07-28" => (vec![version], data.map(|data| dressed(data, method))),
            _ => (vec![version], data),
        })
        .collect();
    let translate = |given: &Bytes, from: &Era, to: &Era| result(method, given, from, to, &own).ok();
    check(from, &input, &translate, &rows);
}

fn with(content: &Value, more: &Value) -> Value {
    let mut value = json!({"content": content});
    value.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    value
}

/// Checks the blocks of `given` in a tool result for each group of versions; `text` is the expected value of
/// `toolResult`.
fn check_blocks(given: &Value, rows: &[(Vec<&'static str>, Value, Value)]) {
    let rows: Vec<Row<'_>> = rows
        .iter()
        .map(|(versions, blocks, first)| match first {
            Value::Null => (versions.clone(), Some(with(blocks, &json!({})))),
            first => (versions.clone(), Some(with(blocks, &json!({"toolResult": first})))),
        })
        .collect();
    check_result("tools/call", &span("2024-11-05", "2026-07-28"), &with(given, &json!({})), &rows);
}

#[test]
fn plain_text_is_all_that_the_first_versions_know() {
    let text = json!([{"type": "text", "text": "a\"\n"}, {"type": "text", "text": "b"}]);
    check_blocks(
        &text,
        &[
            (vec!["1", "2024-10-07"], text.clone(), json!("a\"\n\nb")),
            (span("2024-11-05", "2026-07-28"), text.clone(), Value::Null),
        ],
    );
    let image =
        json!([{"type": "text", "text": "a"}, {"type": "image", "data": "AA==", "mimeType": "image/png"}]);
    check_blocks(
        &image,
        &[
            (vec!["1", "2024-10-07"], image.clone(), json!({"content": image})),
            (span("2024-11-05", "2026-07-28"), image.clone(), Value::Null),
        ],
    );
    check_blocks(
        &json!([]),
        &[
            (vec!["1", "2024-10-07"], json!([]), json!("")),
            (span("2024-11-05", "2026-07-28"), json!([]), Value::Null),
        ],
    );
}

#[test]
fn links_become_text() {
    let link = json!([{"type": "resource_link", "uri": "a:b", "name": "n", "title": "N", "description": "d",
        "mimeType": "m", "size": 1, "icons": [], "odd": 1, "annotations": {"priority": 1}, "_meta": {"x": 1}}]);
    let text = "n: a:b";
    let bare = json!([{"type": "text", "text": text, "odd": 1}]);
    let annotated = json!([{"type": "text", "text": text, "odd": 1, "annotations": {"priority": 1}}]);
    let full =
        json!([{"type": "text", "text": text, "odd": 1, "annotations": {"priority": 1}, "_meta": {"x": 1}}]);
    check_blocks(
        &link,
        &[
            (vec!["1", "2024-10-07"], bare, json!(text)),
            (vec!["2024-11-05"], annotated, Value::Null),
            (vec!["2025-03-26"], full, Value::Null),
            (span("2025-06-18", "2026-07-28"), link.clone(), Value::Null),
        ],
    );
}

#[test]
fn sound_becomes_a_resource_or_a_note() {
    let audio = json!([{"type": "audio", "data": "AAAA", "mimeType": "audio/wav"}]);
    let note = "[audio: audio/wav, 3 bytes, not shown in this protocol version]";
    let noted = json!([{"type": "text", "text": note}]);
    let resource = json!([{"type": "resource",
        "resource": {"uri": "attachment://audio/0", "mimeType": "audio/wav", "blob": "AAAA"}}]);
    check_blocks(
        &audio,
        &[
            (vec!["1"], noted, json!(note)),
            (vec!["2024-10-07"], resource.clone(), json!({"content": resource})),
            (vec!["2024-11-05"], resource, Value::Null),
            (span("2025-03-26", "2026-07-28"), audio.clone(), Value::Null),
        ],
    );
}

#[test]
fn embedded_resources_become_text() {
    let block = |resource: Value| json!([{"type": "resource", "resource": resource}]);
    let note = "[a:b: image/png, 4 bytes, not shown in this protocol version]";
    for (resource, text) in [
        (json!({"uri": "a:b", "text": "says"}), "says"),
        (json!({"uri": "a:b", "mimeType": "image/png", "blob": "AAAAAA=="}), note),
    ] {
        let given = block(resource);
        check_blocks(
            &given,
            &[
                (vec!["1"], json!([{"type": "text", "text": text}]), json!(text)),
                (vec!["2024-10-07"], given.clone(), json!({"content": given})),
                (span("2024-11-05", "2026-07-28"), given.clone(), Value::Null),
            ],
        );
    }
}

#[test]
fn blocks_of_a_type_that_nobody_knows_pass() {
    let odd = json!([{"type": "video", "data": "AAAA"}, {"x": 1}, 7]);
    check_blocks(
        &odd,
        &[
            (vec!["1", "2024-10-07"], odd.clone(), json!({"content": odd})),
            (span("2024-11-05", "2026-07-28"), odd.clone(), Value::Null),
        ],
    );
}

#[test]
fn structured_content_is_never_lost() {
    let object = json!({"b": [1, "é"], "a": null});
    let said = json!({"type": "text", "text": " {\"b\" : [1,\"\\u00e9\"], \"a\":null}\n"});
    let other = json!({"type": "text", "text": "{\"b\":[1]}"});
    let json = json!({"type": "text", "text": object.to_string()});
    for (given, told) in [
        (json!([]), json!([json])),
        (json!([other]), json!([other, json])),
        (json!([said]), json!([said])),
        (json!([other, said]), json!([other, said])),
    ] {
        let full = with(&given, &json!({"structuredContent": object, "isError": false}));
        let first = with(&told, &json!({"isError": false, "toolResult": object}));
        let none = with(&told, &json!({"isError": false}));
        check_result(
            "tools/call",
            &span("2024-11-05", "2026-07-28"),
            &full,
            &[
                (vec!["1", "2024-10-07"], Some(first)),
                (vec!["2024-11-05", "2025-03-26"], Some(none)),
                (span("2025-06-18", "2026-07-28"), Some(full.clone())),
            ],
        );
    }
}

#[test]
fn only_the_newest_has_structured_content_of_every_kind() {
    for (value, text) in [(json!([1, 2]), "[1,2]"), (json!(7), "7"), (json!("s"), "\"s\"")] {
        let full = with(&json!([]), &json!({"structuredContent": value}));
        let told = with(&json!([{"type": "text", "text": text}]), &json!({}));
        let mut first = told.clone();
        first["toolResult"] = value.clone();
        check_result(
            "tools/call",
            &span("2024-11-05", "2026-07-28"),
            &full,
            &[
                (vec!["1", "2024-10-07"], Some(first)),
                (span("2024-11-05", "2025-11-25"), Some(told)),
                (vec!["2026-07-28"], Some(full.clone())),
            ],
        );
    }
    let string = with(&json!([{"type": "text", "text": "s"}]), &json!({}));
    let mut both = string.clone();
    both["structuredContent"] = json!("s");
    let mut first = string.clone();
    first["toolResult"] = json!("s");
    check_result(
        "tools/call",
        &["2026-07-28"],
        &both,
        &[
            (vec!["1", "2024-10-07"], Some(first)),
            (span("2024-11-05", "2025-11-25"), Some(string)),
            (vec!["2026-07-28"], Some(both.clone())),
        ],
    );
}

#[test]
fn the_first_versions_result_becomes_content() {
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    for (value, told) in [
        (json!("plain"), json!({"content": text("plain")})),
        (json!({"a": [1]}), json!({"content": text("{\"a\":[1]}")})),
        (json!(null), json!({"content": text("null")})),
        (json!({"content": text("in"), "isError": true}), json!({"content": text("in"), "isError": true})),
        (json!({"content": 1}), json!({"content": text("{\"content\":1}")})),
    ] {
        let given = json!({"toolResult": value, "odd": 1});
        let mut told = told;
        told["odd"] = json!(1);
        check_result(
            "tools/call",
            &["1", "2024-10-07"],
            &given,
            &[(vec!["1", "2024-10-07"], Some(given.clone())), (span("2024-11-05", "2026-07-28"), Some(told))],
        );
    }
    let both = json!({"toolResult": "a", "content": text("b")});
    check_result(
        "tools/call",
        &["1", "2024-10-07"],
        &both,
        &[
            (vec!["1", "2024-10-07"], Some(both.clone())),
            (span("2024-11-05", "2026-07-28"), Some(json!({"content": text("b")}))),
        ],
    );
}

#[test]
fn prompts_hold_blocks_of_their_era() {
    let prompt =
        |block: Value| json!({"description": "d", "messages": [{"role": "user", "content": block}, 7]});
    let link = json!({"type": "resource_link", "uri": "a:b", "name": "n"});
    let text = json!({"type": "text", "text": "n: a:b"});
    check_result(
        "prompts/get",
        ALL,
        &prompt(link.clone()),
        &[
            (span("1", "2025-03-26"), Some(prompt(text))),
            (span("2025-06-18", "2026-07-28"), Some(prompt(link))),
        ],
    );
    let resource = json!({"type": "resource", "resource": {"uri": "a:b", "text": "t"}});
    let text = json!({"type": "text", "text": "t"});
    check_result(
        "prompts/get",
        ALL,
        &prompt(resource.clone()),
        &[(vec!["1"], Some(prompt(text))), (span("2024-10-07", "2026-07-28"), Some(prompt(resource)))],
    );
}

#[test]
fn what_is_read_loses_no_more_than_its_meta() {
    let full = json!({"contents": [{"uri": "a:b", "text": "t", "_meta": {"x": 1}, "odd": 1}]});
    let bare = json!({"contents": [{"uri": "a:b", "text": "t", "odd": 1}]});
    check_result(
        "resources/read",
        ALL,
        &full,
        &[(span("1", "2024-11-05"), Some(bare)), (span("2025-03-26", "2026-07-28"), Some(full.clone()))],
    );
}

#[test]
fn lists_hold_what_can_be_shown() {
    let good = json!({"name": "t", "inputSchema": {"type": "object"}});
    let bad = json!({"name": "u", "inputSchema": 7});
    let given = json!({"tools": [bad, good, bad], "nextCursor": "n", "odd": 1});
    check_result(
        "tools/list",
        ALL,
        &given,
        &[
            (vec!["1"], Some(json!({"tools": [good], "odd": 1}))),
            (span("2024-10-07", "2026-07-28"), Some(json!({"tools": [good], "nextCursor": "n", "odd": 1}))),
        ],
    );
    check_result(
        "prompts/list",
        ALL,
        &json!({"prompts": [{"name": "p"}]}),
        &[(ALL.to_vec(), Some(json!({"prompts": [{"name": "p"}]})))],
    );
}

#[test]
fn the_first_version_lists_templates_among_resources() {
    let resource = json!({"uri": "a:b", "name": "r"});
    let template = json!({"uriTemplate": "a:{x}", "name": "t"});
    let both = json!({"resources": [resource], "resourceTemplates": [template]});
    check_result(
        "resources/list",
        &["1"],
        &both,
        &[
            (vec!["1"], Some(both.clone())),
            (span("2024-10-07", "2026-07-28"), Some(json!({"resources": [resource]}))),
        ],
    );
    check_result(
        "resources/templates/list",
        &["1"],
        &both,
        &[
            (vec!["1"], Some(both.clone())),
            (span("2024-10-07", "2026-07-28"), Some(json!({"resourceTemplates": [template]}))),
        ],
    );
    let none = json!({"resources": []});
    check_result(
        "resources/list",
        &["1"],
        &json!({}),
        &[(vec!["1"], None), (span("2024-10-07", "2026-07-28"), Some(none))],
    );
}

#[test]
fn other_results_pass_in_the_dress_of_the_era() {
    for (method, data) in [
        ("completion/complete", json!({"completion": {"values": ["a"]}, "ttlMs": 7})),
        ("vendor/thing", json!({"content": [{"type": "audio"}], "nextCursor": 1})),
        ("resources/subscribe", json!({})),
        ("vendor/meta", json!({"_meta": {"x": 1}})),
    ] {
        check_result(method, ALL, &data, &[(ALL.to_vec(), Some(data.clone()))]);
    }
}

#[test]
fn a_server_that_says_who_it_is_is_believed() {
    let own = GatewayIdentity { server_info: "{\"name\":\"g\"}" };
    let era = |version| crate::era::by_version(version).unwrap();
    let given = bytes(&json!({"_meta": {INFO: {"name": "s"}, "x": 1}}));
    let got = result("vendor/thing", &given, era("2025-06-18"), era("2026-07-28"), &own).unwrap();
    assert_eq!(parsed(&got), json!({"_meta": {INFO: {"name": "s"}, "x": 1}, "resultType": "complete"}));
    let back = result("vendor/thing", &got, era("2026-07-28"), era("2025-06-18"), &own).unwrap();
    assert_eq!(parsed(&back), json!({"_meta": {"x": 1}}));
}

#[test]
fn what_is_no_result_is_refused() {
    let own = GatewayIdentity { server_info: "{}" };
    let era = |version| crate::era::by_version(version).unwrap();
    for (text, why) in [
        ("[]", "the result is not a JSON object"),
        ("{\"resultType\":\"odd\"}", "a result of type \"odd\" is unknown in protocol version 2025-11-25"),
    ] {
        let text = Bytes::from_static(text.as_bytes());
        let got = result("tools/call", &text, era("2026-07-28"), era("2025-11-25"), &own);
        assert_eq!(got.unwrap_err(), why);
    }
}
