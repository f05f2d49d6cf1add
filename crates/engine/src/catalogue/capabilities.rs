//! Merges the capabilities of servers into those that the gateway declares.

use proto::era::Era;
use proto::json::{Members, Span};

/// The capability to complete arguments, which not every era can declare.
pub(super) const COMPLETIONS: &str = "completions";

/// Merges server capabilities (JSON objects): a capability is declared if any server declares it, and unknown members
/// are kept. If two servers set the same member, the first one wins, except that `true` always wins.
pub(super) fn merge<'a>(all: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut merged: Vec<(String, Value<'a>)> = Vec::new();
    for text in all {
        if let Ok(members) = Members::of_document(text, proto::json::MAX_DEPTH) {
            add(&mut merged, text, &members, 0);
        }
    }
    let mut out = String::new();
    write(&merged, &mut out);
    out
}

/// The names of the declared capabilities, plus completion if a server supports it in an era that cannot declare
/// it.
pub(super) fn declared(capabilities: &str, era: &Era, completes: bool) -> Vec<String> {
    let mut names = names(capabilities);
    if !era.shapes.completions_declared && completes {
        names.push(COMPLETIONS.to_owned());
    }
    names
}

/// Returns true if a capability is declared and, if `flag` is given, that flag of the capability is set.
pub fn declares(capabilities: &[u8], name: &str, flag: Option<&str>) -> bool {
    let inner = |text: &[u8], span: Span| Members::of_value(text, span);
    let Ok(members) = Members::of_document(capabilities, proto::json::MAX_DEPTH) else { return false };
    let Some(found) = members.get(capabilities, name) else { return false };
    match (flag, inner(capabilities, found)) {
        (None, _) => true,
        (Some(flag), Some(own)) => own.get(capabilities, flag).is_some_and(|v| v.of(capabilities) == b"true"),
        (Some(_), None) => false,
    }
}

/// The names of the declared capabilities.
pub(super) fn names(capabilities: &str) -> Vec<String> {
    let text = capabilities.as_bytes();
    let members = Members::of_document(text, proto::json::MAX_DEPTH);
    members.map_or_else(
        |_| Vec::new(),
        |m| m.iter().map(|m| String::from_utf8_lossy(m.key.of(text)).into_owned()).collect(),
    )
}

/// Returns true if an extension or experiment whose id ends in `family`, or a capability with the name `family`, is declared.
pub(super) fn names_extension(capabilities: &[u8], family: &str) -> bool {
    let Ok(members) = Members::of_document(capabilities, proto::json::MAX_DEPTH) else { return false };
    let within = |place: &str| {
        let own = members.get(capabilities, place).and_then(|span| Members::of_value(capabilities, span));
        own.is_some_and(|own| {
            own.iter().any(|m| {
                let id = String::from_utf8_lossy(m.key.of(capabilities));
                id == family || id.rsplit('/').next() == Some(family)
            })
        })
    };
    members.get(capabilities, family).is_some() || within("extensions") || within("experimental")
}

enum Value<'a> {
    Object(Vec<(String, Self)>),
    Plain(&'a [u8]),
}

/// The depth to which objects are merged. Deeper objects are settings of one extension and are copied as a whole.
const MERGE_DEPTH: usize = 2;

fn add<'a>(into: &mut Vec<(String, Value<'a>)>, text: &'a [u8], members: &Members, depth: usize) {
    for member in members.iter() {
        let key = String::from_utf8_lossy(member.key.of(text)).into_owned();
        let nested = if depth < MERGE_DEPTH { Members::of_value(text, member.value) } else { None };
        let place = into.iter().position(|(k, _)| *k == key);
        match (place, nested) {
            (None, Some(nested)) => {
                let mut own = Vec::new();
                add(&mut own, text, &nested, depth + 1);
                into.push((key, Value::Object(own)));
            }
            (None, None) => into.push((key, Value::Plain(member.value.of(text)))),
            (Some(at), Some(nested)) => {
                if let Value::Object(own) = &mut into[at].1 {
                    add(own, text, &nested, depth + 1);
                }
            }
            (Some(at), None) => {
                if matches!(into[at].1, Value::Plain(b"false")) {
                    into[at].1 = Value::Plain(member.value.of(text));
                }
            }
        }
    }
}

fn write(members: &[(String, Value<'_>)], out: &mut String) {
    out.push('{');
    for (at, (key, value)) in members.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        out.push('"');
        out.push_str(key);
        out.push_str("\":");
        match value {
            Value::Object(own) => write(own, out),
            Value::Plain(text) => out.push_str(&String::from_utf8_lossy(text)),
        }
    }
    out.push('}');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merges_without_losing_what_is_not_known() {
        let a: &[u8] = br#"{"tools":{"listChanged":false},"x":{"y":[1e2]},"logging":{}}"#;
        let b: &[u8] =
            br#"{"tools":{"listChanged":true},"resources":{"subscribe":true},"extensions":{"a/b":{"c":{}}}}"#;
        assert_eq!(
            merge([a, b]),
            r#"{"tools":{"listChanged":true},"x":{"y":[1e2]},"logging":{},"resources":{"subscribe":true},"extensions":{"a/b":{"c":{}}}}"#
        );
        assert_eq!(merge([]), "{}");
    }

    #[test]
    fn flags_are_read() {
        let text = br#"{"resources":{"subscribe":true},"tools":{}}"#;
        assert!(declares(text, "tools", None));
        assert!(declares(text, "resources", Some("subscribe")));
        assert!(!declares(text, "tools", Some("listChanged")));
        assert!(!declares(text, "prompts", None));
    }
}
