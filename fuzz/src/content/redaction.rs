//! Redaction: the stored arguments equal those of a model that works on the tree that `serde_json` reads, whatever the spelling
//! of names is. Redacting them once more changes nothing.

use config::Glob;
use engine::redaction::Redaction;
use proto::json::{MAX_DEPTH, Scanner};
use serde_json::Value;

const COVER: &str = "[redacted]";

/// The depth to which JSON inside strings is searched.
const MAX_NESTED: u32 = 3;

/// The fuzzer's entry: a line with rules, and then the arguments.
pub fn fuzz(input: &[u8]) {
    let mut rest = input;
    let rules: Vec<_> = super::text(&mut rest).split(',').take(8).map(str::to_owned).collect();
    let text = String::from_utf8_lossy(rest);
    check(&rules, &text);
    // The same text as a string in a member, as clients send the body of a request.
    check(&rules, &serde_json::json!({ "body": text }).to_string());
}

/// Checks any rules and text.
pub fn check(rules: &[String], text: &str) {
    let redaction = Redaction::new(rules);
    let kept = redaction.apply(text);
    if kept.len() > 8 << 10 {
        assert!(kept.len() <= (8 << 10) + 3 && kept.ends_with('…'));
        return;
    }
    let Ok(value) = serde_json::from_str::<Value>(text) else { return };
    let found: Value = serde_json::from_str(&kept).expect("what is kept is JSON");
    let rules: Vec<_> = rules.iter().map(|rule| folded(rule)).collect();
    compare(&rules, &value, &found, 0);
    assert_eq!(redaction.apply(&kept), kept, "once more changes it: {text}");
}

/// Compares the arguments that arrived with those that were kept, member by member.
fn compare(rules: &[String], came: &Value, kept: &Value, nested: u32) {
    match (came, kept) {
        (Value::Object(came), Value::Object(kept)) => {
            assert!(came.keys().eq(kept.keys()), "{came:?} {kept:?}");
            for ((name, came), kept) in came.iter().zip(kept.values()) {
                if covers(rules, name) {
                    assert_eq!(kept, COVER, "{name:?} is not covered");
                } else {
                    compare(rules, came, kept, nested);
                }
            }
        }
        (Value::Array(came), Value::Array(kept)) => {
            assert_eq!(came.len(), kept.len());
            came.iter().zip(kept).for_each(|(came, kept)| compare(rules, came, kept, nested));
        }
        (Value::String(came), Value::String(kept)) => strings(rules, came, kept, nested),
        (came, kept) => assert_eq!(came, kept),
    }
}

/// Compares two strings: JSON in a string is redacted as JSON; any other string must be unchanged.
fn strings(rules: &[String], came: &str, kept: &str, nested: u32) {
    let inner = came.trim_start_matches(['\u{feff}', ' ', '\t', '\n', '\r']);
    if !inner.starts_with(['{', '[', '"']) {
        assert_eq!(came, kept);
    } else if nested == MAX_NESTED {
        assert_eq!(kept, COVER);
    } else if let Ok(value) = serde_json::from_str::<Value>(inner) {
        let kept = kept.trim_start_matches('\u{feff}');
        let kept = serde_json::from_str(kept).expect("what is kept of JSON is JSON");
        compare(rules, &value, &kept, nested + 1);
    } else if came != kept {
        // JSON may contain numbers that exceed the range of f64.
        let scanner = Scanner::new(inner.as_bytes(), MAX_DEPTH);
        assert!(scanner.and_then(|scanner| scanner.document()).is_ok(), "{came:?} became {kept:?}");
    }
}

fn covers(rules: &[String], name: &str) -> bool {
    let name = folded(name);
    rules.iter().any(|rule| match Glob::parse(rule) {
        Ok(glob) if rule.contains(['*', '?']) => glob.matches(&name),
        _ => name.contains(rule),
    })
}

fn folded(name: &str) -> String {
    let mut plain = String::new();
    for c in name.chars() {
        // Full-width forms of ASCII characters.
        let c = match c {
            '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xff01 + 0x21).unwrap_or(c),
            c => c,
        };
        if c.is_alphanumeric() || c == '*' || c == '?' {
            plain.push(c);
        }
    }
    if plain.is_empty() { name.to_lowercase() } else { plain.to_lowercase() }
}
