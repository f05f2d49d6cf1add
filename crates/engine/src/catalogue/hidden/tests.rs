use proptest::prelude::*;
use proto::json::{MAX_DEPTH, Scanner};
use serde_json::Value;

use super::*;

/// One character from every range that is removed from texts.
const LOST: &[char] = &[
    '\0',
    '\u{1b}',
    '\u{7f}',
    '\u{80}',
    '\u{9b}',
    '\u{9f}',
    '\u{200b}',
    '\u{202a}',
    '\u{202e}',
    '\u{2060}',
    '\u{2064}',
    '\u{2066}',
    '\u{2069}',
    '\u{feff}',
    '\u{e0000}',
    '\u{e0041}',
    '\u{e007f}',
];
/// Neighbors of these ranges, and characters that are part of words and emoji.
const STAY: &[char] = &[
    '\t',
    '\n',
    '\r',
    ' ',
    'é',
    '\u{a0}',
    '\u{200c}',
    '\u{200d}',
    '\u{200e}',
    '\u{200f}',
    '\u{61c}',
    '\u{2028}',
    '\u{202f}',
    '\u{2065}',
    '\u{fefe}',
    '\u{dffff}',
    '\u{e0080}',
    '👩',
];

fn cleaned(kind: ListKind, text: &str) -> String {
    match screen(kind, text.as_bytes()) {
        ScreeningResult::Cleaned(text) => String::from_utf8(text.to_vec()).unwrap(),
        other => panic!("{text} came to {other:?}"),
    }
}

/// A character as an escape, or as a pair of escapes if it needs two.
fn escaped(c: char) -> String {
    c.encode_utf16(&mut [0; 2]).iter().fold(String::new(), |out, unit| out + &format!("\\u{unit:04x}"))
}

fn raw(c: char) -> String {
    let quoted = Value::from(c.to_string()).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

#[test]
fn texts_lose_what_nobody_sees_however_it_is_written() {
    for c in LOST {
        for written in [raw(*c), escaped(*c), escaped(*c).to_uppercase().replace("\\U", "\\u")] {
            let item =
                format!(r#"{{"name":"a","description":"x{written}y","n":[1,{{"enum":["{written}"]}}]}}"#);
            assert_eq!(
                cleaned(ListKind::Tools, &item),
                r#"{"name":"a","description":"xy","n":[1,{"enum":[""]}]}"#
            );
        }
        assert_eq!(screen_text(&format!("x{c}y")), "xy");
    }
    for c in STAY {
        for written in [raw(*c), escaped(*c)] {
            let item = format!(r#"{{"name":"a","description":"x{written}y"}}"#);
            assert_eq!(screen(ListKind::Tools, item.as_bytes()), ScreeningResult::Clean, "{item}");
        }
        assert!(matches!(screen_text(&c.to_string()), Cow::Borrowed(_)));
    }
}

#[test]
fn names_that_hold_any_of_it_are_refused() {
    let names = |c: &str| {
        [
            (ListKind::Tools, format!(r#"{{"name":"a{c}"}}"#)),
            (ListKind::Prompts, format!(r#"{{"n\u0061me":"a{c}"}}"#)),
            (ListKind::Prompts, format!(r#"{{"name":"p","arguments":[{{"name":"a{c}"}}]}}"#)),
            (ListKind::Resources, format!(r#"{{"name":"r","uri":"x:{c}"}}"#)),
            (ListKind::Resources, format!(r#"{{"name":"r{c}","uri":"x:"}}"#)),
            (ListKind::Templates, format!(r#"{{"name":"r","uriTemplate":"x:{c}"}}"#)),
            (ListKind::Tools, format!(r#"{{"name":"t","inputSchema":{{"properties":{{"a{c}":{{}}}}}}}}"#)),
        ]
    };
    for c in LOST.iter().chain(&['\t', '\n', '\r']) {
        for (kind, item) in names(&raw(*c)).into_iter().chain(names(&escaped(*c))) {
            assert_eq!(screen(kind, item.as_bytes()), ScreeningResult::Refused(*c), "{item}");
        }
    }
    for c in ['\u{200c}', '\u{200d}', '\u{200e}', '\u{200f}', '\u{61c}'] {
        for (at, (kind, item)) in names(&raw(c)).into_iter().enumerate() {
            let wanted = if at < 2 { ScreeningResult::Refused(c) } else { ScreeningResult::Clean };
            assert_eq!(screen(kind, item.as_bytes()), wanted, "{item}");
        }
    }
}

#[test]
fn halves_that_only_meet_when_something_between_them_goes_make_nothing_hidden() {
    let item = r#"{"name":"a","title":"x\udb40\u200b\udb40\udc42\udc41y"}"#;
    assert_eq!(cleaned(ListKind::Tools, item), r#"{"name":"a","title":"xy"}"#);
    // A lone surrogate half has no meaning and stays unchanged.
    let item = r#"{"name":"a","title":"\udb40x\udc41\u200b"}"#;
    assert_eq!(cleaned(ListKind::Tools, item), r#"{"name":"a","title":"\udb40x\udc41"}"#);
}

#[test]
fn a_pattern_means_what_it_meant() {
    let schema =
        r#"{"name":"a","inputSchema":{"properties":{"pattern":{"pattern":"^[^\u0000-\u001f-]+$"}}}}"#;
    let shown = cleaned(ListKind::Tools, schema);
    let pattern: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(pattern["inputSchema"]["properties"]["pattern"]["pattern"], r"^[^\u0000-\u001F-]+$");
    // Only the value of the key itself is a name.
    let others =
        r#"{"name":"a","pattern":["\u200b"],"x":[{"pattern":1},"\u200b",{"pattern":2,"y":"\u200b"}]}"#;
    assert_eq!(
        cleaned(ListKind::Tools, others),
        r#"{"name":"a","pattern":[""],"x":[{"pattern":1},"",{"pattern":2,"y":""}]}"#
    );
}

#[test]
fn there_is_one_note_however_much_there_is() {
    let mut note = ScreeningNote::default();
    assert_eq!(note.text(), None);
    (0..5).for_each(|_| note.refused(ListKind::Tools, br#"{"name":"a\u202eb"}"#, '\u{202e}'));
    note.cleaned(ListKind::Tools);
    note.cleaned(ListKind::Prompts);
    note.instructions();
    let text = note.text().unwrap();
    assert!(
        text.contains("and 2 more") && text.contains("U+202E") && text.contains("1 in prompts"),
        "{text}"
    );
    assert!(text.contains("the instructions") && !text.contains('\u{202e}'), "{text}");
}

/// Pieces of strings: characters from both lists, raw and escaped, halves of pairs, and escapes that resemble other
/// ones.
fn piece() -> impl Strategy<Value = String> {
    let known = || prop::sample::select([LOST, STAY].concat());
    prop_oneof![
        known().prop_map(raw),
        known().prop_map(escaped),
        prop::sample::select(vec![
            "\\udb40",
            "\\uDC41",
            "\\udc00",
            "\\ud83d",
            "\\\\",
            "\\\"",
            "\\\\u200b",
            "\\/",
            "\\b"
        ])
        .prop_map(str::to_owned),
        "[a-z:,{}\\[\\]]{1,4}",
    ]
}

fn string() -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 0..8).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

fn value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![string(), Just("1.50e+3".to_owned()), Just("null".to_owned())];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let key = prop_oneof![Just("\"pattern\"".to_owned()), Just("\"name\"".to_owned()), "\"[a-z]{1,3}\""];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|list| format!("[ {}]", list.join(" ,"))),
            prop::collection::vec((key, inner), 0..4).prop_map(|members| {
                let members: Vec<String> = members.iter().map(|(k, v)| format!("{k} : {v}")).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

/// The code units that the strings of a valid text represent; text outside strings is taken literally.
fn meant(text: &str) -> Vec<u32> {
    let (mut units, mut at) = (Vec::new(), 0);
    while at < text.len() {
        let (code, length) = unit(&text.as_bytes()[at..]);
        at += length;
        if is_low(code) && units.last().copied().is_some_and(is_high) {
            let high = units.pop().unwrap();
            units.push(0x1_0000 + ((high - 0xD800) << 10) + (code - 0xDC00));
        } else {
            units.push(code);
        }
    }
    units
}

fn holds_hidden(text: &str) -> bool {
    meant(text).into_iter().filter_map(char::from_u32).any(is_hidden)
}

proptest! {
    #[test]
    fn nothing_hidden_survives_and_nothing_else_is_touched(value in value(), kind in prop::sample::select(ListKind::ALL.to_vec())) {
        let item = format!("{{ \"name\":\"a\",\"uri\":\"x:\",\"uriTemplate\":\"x:\" , \"v\" : {value}}}");
        prop_assert!(Scanner::new(item.as_bytes(), MAX_DEPTH).and_then(|scanner| scanner.document()).is_ok(), "{item}");
        match screen(kind, item.as_bytes()) {
            ScreeningResult::Clean => prop_assert!(!holds_hidden(&item), "{item}"),
            ScreeningResult::Cleaned(shown) => {
                prop_assert!(holds_hidden(&item), "{item}");
                let shown = std::str::from_utf8(&shown).unwrap();
                prop_assert!(Scanner::new(shown.as_bytes(), MAX_DEPTH).and_then(|scanner| scanner.document()).is_ok(), "{shown}");
                prop_assert!(!holds_hidden(shown), "{item} became {shown}");
                prop_assert_eq!(screen(kind, shown.as_bytes()), ScreeningResult::Clean);
            }
            ScreeningResult::Refused(_) => {
                prop_assert!(kind == ListKind::Prompts && item.contains("\"name\" :"), "{item}");
            }
        }
    }

    #[test]
    fn a_text_that_means_something_else_hidden_is_left_alone(text in "\\PC{0,40}") {
        let item = format!("{{\"name\":\"a\",\"description\":{}}}", Value::from(text.clone()));
        let is_clean = screen(ListKind::Tools, item.as_bytes()) == ScreeningResult::Clean;
        prop_assert_eq!(is_clean, !text.contains(is_hidden));
    }
}
