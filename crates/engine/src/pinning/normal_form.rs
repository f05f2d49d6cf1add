//! The normal form of a tool's definition: the members that decide how people and models use the tool, in a spelling that
//! does not depend on the protocol version, the order of members or white space. This module must not know fingerprints.
//!
//! | member | is compared |
//! |---|---|
//! | `name`, `title`, `description`, `inputSchema`, `annotations` | yes |
//! | `outputSchema` | if it describes an object, because older versions allow no other output schema |
//! | `icons` | no: models do not see them, and the picture behind an address can change in any case |
//! | `execution` | no: only one version has it |
//! | `_meta` and unknown members | no: clients do not show them to models, and servers put changing values there |
//!
//! If one of these members occurs twice, both occurrences are kept, because readers disagree about which one counts. Numbers keep
//! their spelling.

use bytes::Bytes;
use proto::json::{Elements, Members, Span, quote_into, unquote};

/// The members that are compared.
const MEMBERS: [&str; 6] = ["annotations", "description", "inputSchema", "name", "outputSchema", "title"];

/// The normal form of a tool, JSON text; `tool` is its validated text.
pub fn normal_form(tool: &[u8]) -> Bytes {
    let tool = tool.trim_ascii();
    let mut out = Vec::with_capacity(tool.len());
    let Some(members) = Members::of_value(tool, Span::new(0, tool.len())) else {
        // Items are objects, so this fallback is never used; the text itself is a safe answer.
        return Bytes::copy_from_slice(tool);
    };
    let is_compared = |key: &str, value: Span| {
        MEMBERS.contains(&key) && (key != "outputSchema" || describes_object(tool, value))
    };
    object(&mut out, tool, &members, &is_compared);
    Bytes::from(out)
}

/// Returns true if a schema describes an object: every version with output schemas allows such a schema. In some versions, a
/// schema without a type describes an object.
fn describes_object(text: &[u8], schema: Span) -> bool {
    let Some(members) = Members::of_value(text, schema) else { return false };
    members.get(text, "type").is_none_or(|kind| kind.of(text) == b"\"object\"")
}

/// Writes an object with its members in the order of their keys.
fn object(out: &mut Vec<u8>, text: &[u8], members: &Members, is_compared: &dyn Fn(&str, Span) -> bool) {
    let mut all: Vec<(Vec<u8>, String, Span)> = Vec::with_capacity(members.len());
    for member in members.iter() {
        let written = member.key.of(text);
        let key = unquote(written).map(std::borrow::Cow::into_owned).unwrap_or_default();
        if is_compared(&key, member.value) {
            all.push((string(written), key, member.value));
        }
    }
    // A stable order: members with the same key stay in the order of the text.
    all.sort_by(|a, b| a.0.cmp(&b.0));
    out.push(b'{');
    for (at, (key, name, span)) in all.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        out.extend_from_slice(key);
        out.push(b':');
        let start = out.len();
        value(out, text, *span, name == "required");
        if name == "outputSchema" {
            complete(out, start);
        }
    }
    out.push(b'}');
}

/// Adds the type to an output schema without one, which starts at `start`.
fn complete(out: &mut Vec<u8>, start: usize) {
    let schema = out[start..].to_vec();
    let typed = Members::of_value(&schema, Span::new(0, schema.len()))
        .is_none_or(|members| members.get(&schema, "type").is_some());
    if !typed {
        let (kind, end): (&[u8], _) = (b"\"type\":\"object\"}", schema.len() - 1);
        out.truncate(start + end);
        if end > 1 {
            out.push(b',');
        }
        out.extend_from_slice(kind);
    }
}

/// Writes a value. `is_set` is true if the order of the value's elements has no meaning: `required` lists names, and some
/// servers list them in a new order each time.
fn value(out: &mut Vec<u8>, text: &[u8], span: Span, is_set: bool) {
    let written = span.of(text);
    match written.first() {
        Some(b'{') => match Members::of_value(text, span) {
            Some(members) => object(out, text, &members, &|_, _| true),
            None => out.extend_from_slice(written),
        },
        Some(b'[') => match Elements::of_value(text, span) {
            Some(elements) => array(out, text, &elements, is_set),
            None => out.extend_from_slice(written),
        },
        Some(b'"') => out.append(&mut string(written.get(1..written.len() - 1).unwrap_or_default())),
        _ => out.extend_from_slice(written),
    }
}

fn array(out: &mut Vec<u8>, text: &[u8], elements: &Elements, is_set: bool) {
    let one = |span: Span| {
        let mut out = Vec::new();
        value(&mut out, text, span, false);
        out
    };
    let mut all: Vec<Vec<u8>> = elements.iter().map(one).collect();
    if is_set && all.iter().all(|one| one.starts_with(b"\"")) {
        all.sort();
    }
    out.push(b'[');
    out.extend_from_slice(&all.join(&b','));
    out.push(b']');
}

/// A string in its shortest spelling; `written` is the text between its quotes.
fn string(written: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(written.len() + 2);
    if let Some(text) = unquote(written) {
        quote_into(&mut out, &text);
    } else {
        // Half of a surrogate pair, which no `str` can hold.
        out.push(b'"');
        out.extend_from_slice(written);
        out.push(b'"');
    }
    out
}
