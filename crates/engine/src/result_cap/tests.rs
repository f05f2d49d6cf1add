//! Long results: the parts that stay, the parts that are left out, and a check that together they make up the whole.

use std::time::Duration;

use bytes::Bytes;
use proptest::prelude::*;
use proto::era::{ERAS, Era, newest_handshake};
use serde_json::{Value, json};

use super::*;

const URI: &str = "dragoman://results/0123456789abcdef0123456789abcdef";

fn rules(most: usize) -> CapRules<'static> {
    CapRules {
        most,
        has_output_schema: false,
        era: newest_handshake(),
        server_info: r#"{"name":"dragoman","version":"1"}"#,
        server: "docs",
        tool: "docs__read",
        uri: URI,
        kept_for: Duration::from_mins(10),
    }
}

fn written(result: &Value) -> Bytes {
    result.to_string().into()
}

/// The shortened result and its rest.
fn shortened(result: &Value, rules: &CapRules<'_>) -> (Value, Value) {
    let text = written(result);
    let short = shorten(&text, rules).unwrap().unwrap();
    let finished = short.finish(rules, true);
    assert!(finished.len() <= rules.most, "{} > {}", finished.len(), rules.most);
    let rest = short.rest.as_ref().map_or(Value::Null, |rest| serde_json::from_slice(rest).unwrap());
    (serde_json::from_slice(&finished).unwrap(), rest)
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

#[test]
fn a_result_within_the_limit_stays() {
    let result = written(&json!({ "content": [text("short")] }));
    assert!(shorten(&result, &rules(4096)).unwrap().is_none());
}

#[test]
fn a_long_text_is_cut_at_a_line_and_says_how_to_go_on() {
    let lines = (0..900).map(|line| format!("line {line}\n")).collect::<Vec<_>>().concat();
    let result = json!({ "content": [text(&lines)], "_meta": { "x": 1 }, "unknown": [2] });
    let (short, rest) = shortened(&result, &rules(4096));
    let shown = short["content"][0]["text"].as_str().unwrap();
    let (shown, notice) = shown.split_once("\n\n[Shortened by the gateway: ").unwrap();
    let rest_text = rest[0]["text"].as_str().unwrap();
    assert_eq!(format!("{shown}{rest_text}"), lines);
    assert!(shown.len() > 3000 && shown.ends_with('\n'));
    let (missing, total) = (rest_text.len(), lines.len());
    assert_eq!(
        notice,
        format!(
            "{missing} of {total} bytes are missing, because results of server \"docs\" are limited to 4096 bytes. Read the \
             rest from the resource {URI} within 10 minutes.]"
        )
    );
    let link = json!({ "type": "resource_link", "uri": URI, "name": "rest of docs__read", "mimeType": "text/plain", "size": missing });
    assert_eq!(short["content"][1], link);
    assert_eq!(rest, json!([{ "uri": URI, "mimeType": "text/plain", "text": rest_text }]));
    assert_eq!((&short["_meta"], &short["unknown"]), (&json!({ "x": 1 }), &json!([2])));
}

#[test]
fn other_blocks_move_as_a_whole_and_short_ones_stay() {
    let image = json!({ "type": "image", "data": "QUJD".repeat(2000), "mimeType": "image/png" });
    let (short, rest) =
        shortened(&json!({ "content": [text("before"), image, text("behind")] }), &rules(4096));
    let content = short["content"].as_array().unwrap();
    assert_eq!((&content[0], &content[1]), (&text("before"), &text("behind")));
    assert!(
        content[2]["text"].as_str().unwrap().starts_with("[Shortened by the gateway: 6000 of 6012 bytes")
    );
    assert_eq!((&content[3]["mimeType"], &content[3]["size"]), (&json!("image/png"), &json!(6000)));
    assert_eq!(rest, json!([{ "uri": URI, "mimeType": "image/png", "blob": image["data"] }]));
}

#[test]
fn escapes_in_base64_do_not_count() {
    for (four, written) in [("QU/D", "QU\\/D"), ("QU+D", "QU\\u002bD")] {
        for block in [
            format!(r#"{{"type":"image","data":"{}","mimeType":"image/png"}}"#, written.repeat(2000)),
            format!(r#"{{"type":"resource","resource":{{"uri":"x:y","blob":"{}"}}}}"#, written.repeat(2000)),
        ] {
            let text = Bytes::from(format!("{{\"content\":[{block}]}}"));
            let short = shorten(&text, &rules(4096)).unwrap().unwrap();
            let finished: Value = serde_json::from_slice(&short.finish(&rules(4096), true)).unwrap();
            assert_eq!(finished["content"][1]["size"], 6000, "{written}");
            let rest: Value = serde_json::from_slice(short.rest.as_ref().unwrap()).unwrap();
            assert_eq!(rest[0]["blob"], four.repeat(2000));
        }
    }
}

#[test]
fn a_remark_behind_a_long_text_stays() {
    let (short, _) =
        shortened(&json!({ "content": [text(&"x".repeat(9000)), text("3 files")] }), &rules(4096));
    assert_eq!(short["content"][1], text("3 files"));
    assert_eq!(short["content"][2]["type"], "resource_link");
}

#[test]
fn a_rest_of_several_blocks_keeps_their_order_and_their_own_data() {
    let own =
        json!({ "uri": "file:///a", "mimeType": "text/x", "text": "y".repeat(5000), "_meta": { "k": 1 } });
    let content = json!([
        text(&"x".repeat(9000)),
        { "type": "resource", "resource": own },
        { "type": "audio", "data": "AAAA".repeat(1500), "mimeType": "audio/wav" },
        { "type": "strange", "value": "z".repeat(5000) },
    ]);
    let (short, rest) = shortened(&json!({ "content": content }), &rules(4096));
    assert_eq!(short["content"].as_array().unwrap().len(), 2);
    assert_eq!(short["content"][1].get("mimeType"), None, "there are several");
    assert_eq!(rest[1], own);
    assert_eq!((&rest[2]["uri"], &rest[2]["mimeType"]), (&json!(format!("{URI}#3")), &json!("audio/wav")));
    let strange: Value = serde_json::from_str(rest[3]["text"].as_str().unwrap()).unwrap();
    assert_eq!(strange, content[3]);
}

#[test]
fn structured_results_are_never_cut() {
    let long = "x".repeat(9000);
    let of =
        |result: &Value, rules: &CapRules<'_>| shorten(&written(result), rules).map(|short| short.is_some());
    let structured = json!({ "content": [], "structuredContent": { "a": long } });
    assert_eq!(of(&structured, &rules(4096)), Err(UncutReason::Structured));
    let declared = CapRules { has_output_schema: true, ..rules(4096) };
    assert_eq!(of(&json!({ "content": [text(&long)] }), &declared), Err(UncutReason::Structured));
    assert_eq!(
        of(&json!({ "content": [text(&long)], "isError": true }), &declared),
        Ok(true),
        "a failure has none"
    );
    let older = CapRules { era: era("2025-03-26"), ..declared };
    assert_eq!(of(&json!({ "content": [text(&long)] }), &older), Ok(true), "these clients do not know of it");
    let beside = json!({ "content": [text(&long)], "structuredContent": { "a": 1 } });
    let (short, _) = shortened(&beside, &rules(4096));
    assert_eq!(short["structuredContent"], json!({ "a": 1 }));
    assert_eq!(of(&json!({ "content": [], "_meta": { "a": long } }), &rules(4096)), Err(UncutReason::Other));
    assert_eq!(of(&json!({ "toolResult": long }), &rules(4096)), Err(UncutReason::Other));
}

#[test]
fn questions_and_tasks_are_no_results_yet() {
    let long = "x".repeat(9000);
    for result in [
        json!({ "resultType": "input_required", "inputRequests": { "a": long } }),
        json!({ "resultType": "task", "taskId": long }),
        json!({ "task": { "taskId": long } }),
    ] {
        assert!(shorten(&written(&result), &rules(4096)).unwrap().is_none(), "{result}");
    }
}

fn era(version: &str) -> &'static Era {
    ERAS.iter().find(|era| era.version == version).unwrap()
}

#[test]
fn each_era_gets_blocks_that_it_knows() {
    for era in ERAS {
        let rules = CapRules { era, ..rules(8192) };
        let (short, rest) = shortened(&json!({ "content": [text(&"ä".repeat(9000))] }), &rules);
        for block in short["content"].as_array().unwrap() {
            let kind = block["type"].as_str().unwrap();
            assert!(era.shapes.tool_content.contains(&kind), "{kind} in {era}");
        }
        assert!(short["content"][1].to_string().contains(URI), "{era}");
        assert_eq!(short.get("toolResult").is_some(), era.shapes.tool_result, "{era}");
        assert_eq!(rest[0]["uri"], URI);
    }
}

#[test]
fn a_rest_that_is_not_kept_has_no_link() {
    let (text, rules) = (written(&json!({ "content": [text(&"x".repeat(9000))] })), rules(4096));
    let short = shorten(&text, &rules).unwrap().unwrap().finish(&rules, false);
    let short: Value = serde_json::from_slice(&short).unwrap();
    assert_eq!(short["content"].as_array().unwrap().len(), 1);
    let shown = short["content"][0]["text"].as_str().unwrap();
    assert!(shown.ends_with("The rest was not kept; request less.]") && !shown.contains("dragoman:"));
}

#[test]
fn white_space_is_not_worth_a_rest() {
    let text =
        Bytes::from(format!("{{\"content\":[{}{{\"type\":\"text\",\"text\":\"a\"}}]}}", " ".repeat(9000)));
    let short = shorten(&text, &rules(4096)).unwrap().unwrap();
    assert!(short.rest.is_none());
    assert_eq!(short.finish(&rules(4096), false), r#"{"content":[{"type":"text","text":"a"}]}"#);
}

#[test]
fn uris_of_rests_are_recognized() {
    let id = RestId(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef);
    assert_eq!(id.to_string(), URI);
    assert_eq!(rest_id(URI), Some(Some(id)));
    assert_eq!(rest_id(&format!("{URI}#2")), Some(Some(id)));
    assert_eq!(rest_id("dragoman://other/x"), None);
    for odd in [
        "dragoman://results/",
        "dragoman://results/0123",
        "dragoman://results/+123456789abcdef0123456789abcde",
    ] {
        assert_eq!(rest_id(odd), Some(None), "{odd}");
    }
    assert_eq!(rest_id(&URI.to_uppercase().replace("DRAGOMAN://RESULTS", "dragoman://results")), Some(None));
}

fn block() -> impl Strategy<Value = Value> {
    let long = |most: usize| {
        let pattern = format!("[a-zä€😀\\\\\"\n]{{0,{most}}}");
        prop_oneof![".{0,40}".boxed(), proptest::string::string_regex(&pattern).unwrap().boxed()]
    };
    prop_oneof![
        3 => long(5000).prop_map(|of| text(&of)),
        1 => (0_usize..2000).prop_map(|of| json!({ "type": "image", "data": "QUJD".repeat(of), "mimeType": "image/png" })),
        1 => long(3000).prop_map(|of| json!({ "type": "resource", "resource": { "uri": "x:y", "text": of } })),
    ]
}

/// The texts of blocks, or of contents, joined.
fn joined(blocks: &Value) -> String {
    let texts = blocks.as_array().into_iter().flatten().filter_map(|block| block["text"].as_str());
    texts.map(|text| text.split("\n\n[Shortened by the gateway: ").next().unwrap_or_default()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_result_exceeds_its_limit_and_nothing_is_lost(
        blocks in prop::collection::vec(block(), 1..6),
        most in 4096_usize..9000,
        version in 0..ERAS.len(),
    ) {
        let (text, rules) = (written(&json!({ "content": blocks })), CapRules { era: ERAS[version], ..rules(most) });
        let Ok(Some(short)) = shorten(&text, &rules) else { return Ok(()) };
        for is_kept in [true, false] {
            let finished = short.finish(&rules, is_kept);
            prop_assert!(finished.len() <= most, "{} > {most}", finished.len());
            prop_assert!(serde_json::from_slice::<Value>(&finished).is_ok());
        }
        let finished: Value = serde_json::from_slice(&short.finish(&rules, true)).unwrap();
        let rest: Value = serde_json::from_slice(short.rest.as_ref().unwrap()).unwrap();
        let size: usize = rest.as_array().unwrap().iter().map(data_size).sum();
        let whole: usize = blocks.iter().map(|block| data_size(block.get("resource").unwrap_or(block))).sum();
        let told = finished.to_string();
        let told = told.split("by the gateway: ").nth(1).unwrap();
        prop_assert!(told.starts_with(&format!("{size} of {whole} bytes")), "{told}");
        // For a single text, the shown part and the rest together are the whole text.
        if blocks.iter().all(|block| block["type"] == "text") && blocks.len() == 1 {
            let shown = joined(&finished["content"]);
            let shown = shown.split("[Shortened by").next().unwrap();
            let shown = shown.split("rest of ").next().unwrap();
            prop_assert_eq!(format!("{shown}{}", joined(&rest)), joined(&json!(blocks)));
        }
    }
}

/// The size of the data of a block or of contents.
fn data_size(one: &Value) -> usize {
    let base64 = one["data"].as_str().or(one["blob"].as_str());
    one["text"].as_str().map_or_else(|| base64.map_or(0, |data| data.len() / 4 * 3), str::len)
}
