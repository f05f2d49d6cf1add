//! Properties of the JSON scanner, frames and splices over arbitrary text, with `serde_json` as the reference. The
//! properties themselves are in the fuzz targets.

extern crate dragoman_proto as proto;

#[path = "../../../fuzz/src/wire/mod.rs"]
#[allow(dead_code, unreachable_pub, clippy::pedantic)]
mod properties;

use properties::splice::{self, Edit};
use properties::{reference, scanner};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

const MAX_DEPTH: u32 = proto::json::MAX_DEPTH;

fn space() -> impl Strategy<Value = &'static str> {
    select(&["", "", "", " ", "\n", "\r\n\t", "  "][..])
}

/// Scalars in spellings that no serializer would produce.
fn scalar() -> impl Strategy<Value = String> {
    const ODD: [&str; 24] = [
        "1.2345678901234567890",
        "1e2",
        "-0",
        "-0.0E-0",
        "1E+400",
        "9007199254740993",
        "0",
        "null",
        "true",
        "false",
        "\"\"",
        "\"na\\u006de\"",
        "\"\\ud83d\\ude00\"",
        "\"\\ud83d\"",
        "\"\\ude00\\ud83d\"",
        "\"é\u{2028}\"",
        "\"\\/\"",
        "\"2.0\"",
        "\"tools/call\"",
        "7",
        "\"\\u0000\"",
        "\"]}\"",
        "\"\\\"\"",
        "\"\\\\\"",
    ];
    prop_oneof![
        3 => select(&ODD[..]).prop_map(str::to_owned),
        1 => any::<i64>().prop_map(|number| number.to_string()),
        1 => any::<String>().prop_map(|text| serde_json::Value::from(text).to_string()),
    ]
}

/// Keys that the gateway acts on, plain and escaped, and other keys.
fn key() -> impl Strategy<Value = String> {
    const KEYS: [&str; 18] = [
        "jsonrpc",
        "id",
        "method",
        "params",
        "result",
        "error",
        "_meta",
        "_m\\u0065ta",
        "name",
        "na\\u006de",
        "\\u0069d",
        "a",
        "\\u0061",
        "b",
        "c\\n",
        "",
        "\\ud800",
        "é",
    ];
    select(&KEYS[..]).prop_map(|key| format!("\"{key}\""))
}

fn object_of(value: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    let member = (space(), key(), space(), space(), value, space());
    (vec(member, 0..6), space()).prop_map(|(members, inside)| {
        let members: Vec<String> =
            members.iter().map(|(a, key, b, c, value, d)| format!("{a}{key}{b}:{c}{value}{d}")).collect();
        if members.is_empty() { format!("{{{inside}}}") } else { format!("{{{}}}", members.join(",")) }
    })
}

fn json() -> impl Strategy<Value = String> {
    let nested = scalar().prop_recursive(4, 40, 6, |inner| {
        let element = (space(), inner.clone(), space()).prop_map(|(a, value, b)| format!("{a}{value}{b}"));
        let array = vec(element, 0..6).prop_map(|elements| format!("[{}]", elements.join(",")));
        prop_oneof![array, object_of(inner)]
    });
    (space(), nested, space()).prop_map(|(a, value, b)| format!("{a}{value}{b}"))
}

/// Objects that are messages, or almost are.
fn envelope() -> impl Strategy<Value = String> {
    let id = prop_oneof![Just("7".to_owned()), Just("null".to_owned()), scalar()];
    let member = prop_oneof![
        4 => Just("\"jsonrpc\":\"2.0\"".to_owned()),
        3 => id.prop_map(|id| format!("\"id\":{id}")),
        3 => scalar().prop_map(|method| format!("\"method\": {method}")),
        2 => Just("\"method\":\"tools/call\"".to_owned()),
        3 => object_of(json()).prop_map(|params| format!("\"params\" :{params}")),
        1 => json().prop_map(|params| format!("\"p\\u0061rams\":{params}")),
        1 => json().prop_map(|result| format!("\"result\":{result}")),
        1 => json().prop_map(|error| format!("\"error\":{error}")),
        1 => (key(), json()).prop_map(|(key, value)| format!("{key}:{value}")),
    ];
    vec(member, 1..6).prop_map(|members| format!("{{{}}}", members.join(",")))
}

/// Text that was JSON before it was damaged.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    (json(), any::<prop::sample::Index>(), any::<u8>(), 0..3).prop_map(|(text, at, byte, how)| {
        let mut bytes = text.into_bytes();
        let at = at.index(bytes.len());
        match how {
            0 => bytes[at] = byte,
            1 => bytes.truncate(at),
            _ => bytes.insert(at, byte),
        }
        bytes
    })
}

proptest! {
    #[test]
    fn json_is_read_as_serde_json_reads_it(text in json(), depth in 0_u32..8) {
        prop_assert!(reference::value(text.as_bytes()).is_some(), "{}", text);
        scanner::check(text.as_bytes(), MAX_DEPTH);
        scanner::check(text.as_bytes(), depth);
    }

    #[test]
    fn what_is_no_json_is_refused(text in damaged(), noise in vec(any::<u8>(), 0..40)) {
        scanner::check(&text, MAX_DEPTH);
        scanner::check(&noise, MAX_DEPTH);
    }

    #[test]
    fn scalars_are_judged_alike(text in "[-+0-9.eE]{0,8}|\"(\\\\[a-z\"/u0-9]|[^a-z]){0,4}\"?") {
        scanner::check(text.as_bytes(), MAX_DEPTH);
    }

    #[test]
    fn messages_are_told_from_other_objects(text in envelope(), batch in vec(envelope(), 0..6)) {
        scanner::check(text.as_bytes(), MAX_DEPTH);
        scanner::check(format!("[{}]", batch.join(" , ")).as_bytes(), MAX_DEPTH);
    }

    #[test]
    fn any_text_can_be_quoted(text in any::<String>()) {
        scanner::quoting(&text);
    }

    #[test]
    fn edits_touch_nothing_else(text in object_of(json()), edits in vec(any::<u8>().prop_map(Edit::of_byte), 0..6)) {
        splice::check(text.as_bytes(), &edits);
    }
}

#[test]
fn nesting_is_capped_where_asked() {
    for depth in [1, 2, 127, 128, 129, 4000] {
        let arrays = "[".repeat(depth) + &"]".repeat(depth);
        let objects = "{\"a\":".repeat(depth) + "1" + &"}".repeat(depth);
        let open = "[{\"a\":".repeat(depth);
        for text in [arrays, objects, open] {
            scanner::check(text.as_bytes(), MAX_DEPTH);
            scanner::check(text.as_bytes(), 2);
        }
    }
}

#[test]
fn bytes_that_are_no_utf8_are_refused() {
    for bad in [
        &b"\"\xff\""[..],
        b"\"\xed\xa0\x80\"",
        b"\"\xc0\x80\"",
        b"\"\xf4\x90\x80\x80\"",
        b"{}\xe2\x82",
        b"\xef\xbb\xbf{}",
    ] {
        scanner::check(bad, MAX_DEPTH);
        assert!(dragoman_proto::json::Members::of_document(bad, 8).is_err());
    }
}

/// The cost of a hostile object must not grow with the square of its size: that would take minutes here.
#[test]
fn many_members_of_one_name_cost_no_more_than_others() {
    let text = format!("{{{}\"a\":0}}", "\"name\":1,".repeat(100_000));
    splice::check_large(text.as_bytes(), "name");
}
