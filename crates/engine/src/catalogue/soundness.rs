//! Checks each listed item. Some SDKs reject a whole list because of one item that violates the protocol. So an item
//! that cannot be understood is left out, and an unambiguous error is repaired. This module must not know servers, or
//! what the items are used for.
//!
//! Members that the protocol does not define are ignored here and pass unchanged.

use std::borrow::Cow;

use bytes::Bytes;
use proto::era::Structured;
use proto::json::{Elements, Members, Span, Splice};

use super::ListKind;

/// The maximum size of one item, in bytes: a longer item would fill the context of any model.
const LONGEST: usize = 256 << 10;

/// An empty schema, for a tool without one: it accepts any arguments.
const ANY_OBJECT: &[u8] = b"{\"type\":\"object\"}";

/// The outcome of checking an item.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Soundness {
    /// The item conforms to the protocol.
    Sound,
    /// The repaired item, and a description of the repair.
    Repaired(Bytes, &'static str),
    /// The item cannot be understood, for this reason.
    Unsound(Cow<'static, str>),
}

/// The form of a member's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum JsonForm {
    Text,
    Flag,
    Number,
    Object,
    /// A list of objects with these members. The number is the count of required members, which come first.
    Objects(&'static [MemberRule], usize),
    Texts,
    /// An object with these members.
    With(&'static [MemberRule]),
}

/// A member that the protocol defines, with its form.
type MemberRule = (&'static str, JsonForm);

use JsonForm::{Flag, Number, Object, Objects, Text, Texts, With};

const ICONS: MemberRule = ("icons", Objects(&[("src", Text), ("mimeType", Text), ("sizes", Texts)], 1));
const ANNOTATIONS: MemberRule =
    ("annotations", With(&[("audience", Texts), ("priority", Number), ("lastModified", Text)]));

/// The members of a tool (2025-11-25, schema `Tool`).
const TOOL: &[MemberRule] = &[
    ("title", Text),
    ("description", Text),
    (
        "annotations",
        With(&[
            ("title", Text),
            ("readOnlyHint", Flag),
            ("destructiveHint", Flag),
            ("idempotentHint", Flag),
            ("openWorldHint", Flag),
        ]),
    ),
    ("execution", With(&[("taskSupport", Text)])),
    ICONS,
    ("_meta", Object),
];

/// The members of a prompt (2025-11-25, schema `Prompt`).
const PROMPT: &[MemberRule] = &[
    ("title", Text),
    ("description", Text),
    ("arguments", Objects(&[("name", Text), ("title", Text), ("description", Text), ("required", Flag)], 1)),
    ICONS,
    ("_meta", Object),
];

/// The members of a resource (2025-11-25, schema `Resource`).
const RESOURCE: &[MemberRule] = &[
    ("name", Text),
    ("title", Text),
    ("description", Text),
    ("mimeType", Text),
    ("size", Number),
    ANNOTATIONS,
    ICONS,
    ("_meta", Object),
];

/// The members of a resource template (2025-11-25, schema `ResourceTemplate`).
const TEMPLATE: &[MemberRule] = &[
    ("name", Text),
    ("title", Text),
    ("description", Text),
    ("mimeType", Text),
    ANNOTATIONS,
    ICONS,
    ("_meta", Object),
];

/// Checks the JSON text of an item, which was validated before. `structured` is the form of structured results in the
/// server's version.
pub(super) fn check(kind: ListKind, text: &[u8], structured: Structured) -> Soundness {
    if text.len() > LONGEST {
        return unsound(format!(
            "the item is {} KiB long, but at most {} KiB are passed on",
            text.len() >> 10,
            LONGEST >> 10
        ));
    }
    let Some(item) = Members::of_value(text, Span::new(0, text.len())) else {
        return unsound("the item is not an object, or is nested too deeply");
    };
    let rules = match kind {
        ListKind::Tools => TOOL,
        ListKind::Prompts => PROMPT,
        ListKind::Resources => RESOURCE,
        ListKind::Templates => TEMPLATE,
    };
    let mut repair = Repair { splice: Splice::new(text), what: None };
    if let Err(why) = members(text, &item, rules, &mut repair) {
        return unsound(why);
    }
    let outcome = match kind {
        ListKind::Tools => schemas(text, &item, structured, &mut repair),
        ListKind::Resources | ListKind::Templates => {
            name(text, &item, kind, &mut repair);
            Ok(())
        }
        ListKind::Prompts => Ok(()),
    };
    match (outcome, repair.what) {
        (Err(why), _) => unsound(why),
        (Ok(()), None) => Soundness::Sound,
        (Ok(()), Some(what)) => Soundness::Repaired(repair.splice.finish(), what),
    }
}

fn unsound(why: impl Into<Cow<'static, str>>) -> Soundness {
    Soundness::Unsound(why.into())
}

/// The repairs of one item.
struct Repair<'a> {
    splice: Splice<'a>,
    /// A description of the first repair.
    what: Option<&'static str>,
}

impl Repair<'_> {
    fn note(&mut self, what: &'static str) {
        self.what.get_or_insert(what);
    }
}

/// Checks those members of an object that the protocol defines. Optional members that are null are removed, because some
/// servers write null for a missing member.
fn members<'a>(
    text: &'a [u8],
    object: &Members,
    rules: &[MemberRule],
    repair: &mut Repair<'a>,
) -> Result<(), String> {
    for (key, form) in rules {
        let Some(span) = object.get(text, key) else { continue };
        let value = span.of(text);
        if value == b"null" {
            repair.splice.remove(object, key.as_bytes());
            repair.note("a member that was null was left out");
            continue;
        }
        let fits = match form {
            Text => value.starts_with(b"\""),
            Flag => matches!(value, b"true" | b"false"),
            Number => matches!(value.first(), Some(b'-' | b'0'..=b'9')),
            Object => value.starts_with(b"{"),
            Texts => {
                elements(text, span).is_some_and(|all| all.iter().all(|one| one.of(text).starts_with(b"\"")))
            }
            With(rules) => match Members::of_value(text, span) {
                Some(object) => {
                    members(text, &object, rules, repair).map_err(|why| format!("{key}: {why}"))?;
                    true
                }
                None => false,
            },
            Objects(rules, needed) => {
                objects(text, span, (rules, *needed), repair).map_err(|why| format!("{key}: {why}"))?
            }
        };
        if !fits {
            return Err(format!("{key} is not {}", form.name()));
        }
    }
    Ok(())
}

fn elements(text: &[u8], span: Span) -> Option<Elements> {
    span.of(text).starts_with(b"[").then(|| Elements::of_value(text, span))?
}

fn objects<'a>(
    text: &'a [u8],
    span: Span,
    (rules, needed): (&[MemberRule], usize),
    repair: &mut Repair<'a>,
) -> Result<bool, String> {
    let Some(all) = elements(text, span) else { return Ok(false) };
    for one in all.iter() {
        let Some(object) = Members::of_value(text, one) else { return Ok(false) };
        if let Some((missing, _)) = rules.iter().take(needed).find(|(key, _)| object.get(text, key).is_none())
        {
            return Err(format!("an entry has no {missing}"));
        }
        members(text, &object, rules, repair)?;
    }
    Ok(true)
}

impl JsonForm {
    fn name(self) -> &'static str {
        match self {
            Text => "a string",
            Flag => "true or false",
            Number => "a number",
            Object | With(_) => "an object",
            Texts => "an array of strings",
            Objects(..) => "an array of objects",
        }
    }
}

/// Checks a tool's schemas. The input schema must exist and describe an object. The output schema must describe an object if
/// results are objects.
fn schemas<'a>(
    text: &'a [u8],
    tool: &Members,
    structured: Structured,
    repair: &mut Repair<'a>,
) -> Result<(), String> {
    match tool.get(text, "inputSchema") {
        None => {
            repair.splice.set(tool, b"inputSchema", ANY_OBJECT);
            repair.note("inputSchema was missing");
        }
        Some(span) if span.of(text) == b"null" => {
            repair.splice.replace(span, ANY_OBJECT);
            repair.note("inputSchema was null");
        }
        Some(span) => object_schema(text, span, "inputSchema", repair)?,
    }
    let Some(span) = tool.get(text, "outputSchema") else { return Ok(()) };
    let fits = match structured {
        Structured::Any => matches!(span.of(text).first(), Some(b'{' | b't' | b'f')),
        Structured::Object | Structured::None => object_schema(text, span, "outputSchema", repair).is_ok(),
    };
    if !fits {
        repair.splice.remove(tool, b"outputSchema");
        repair.note("outputSchema is not valid in this protocol version and was left out");
    }
    Ok(())
}

fn object_schema<'a>(
    text: &'a [u8],
    span: Span,
    key: &'static str,
    repair: &mut Repair<'a>,
) -> Result<(), String> {
    let Some(schema) = Members::of_value(text, span) else { return Err(format!("{key} is not an object")) };
    match schema.get(text, "type").map(|found| found.of(text)) {
        Some(b"\"object\"") => Ok(()),
        None => {
            repair.splice.set(&schema, b"type", b"\"object\"");
            repair.note("a schema lacked \"type\": \"object\"");
            Ok(())
        }
        Some(found) => {
            let found = String::from_utf8_lossy(&found[..found.len().min(40)]);
            Err(format!("{key} has the type {found} where the protocol requires \"object\""))
        }
    }
}

/// If a resource has no name, uses its URI as the name.
fn name<'a>(text: &'a [u8], item: &Members, kind: ListKind, repair: &mut Repair<'a>) {
    if item.get(text, "name").is_none_or(|span| span.of(text) == b"null")
        && let Some(uri) = item.get(text, kind.key())
    {
        repair.splice.set(item, b"name", uri.of(text));
        repair.note("name was missing; the URI replaces it");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: ListKind, text: &str) -> Soundness {
        check(kind, text.as_bytes(), Structured::Object)
    }

    fn repaired(kind: ListKind, text: &str) -> String {
        match of(kind, text) {
            Soundness::Repaired(text, _) => String::from_utf8(text.to_vec()).unwrap(),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn what_the_protocol_allows_is_sound() {
        let sound = [
            r#"{"name":"a","inputSchema":{"type":"object"},"x-own":[null,{"a":1}],"_meta":{}}"#,
            r#"{"name":"a","title":"A","description":"d","inputSchema":{"properties":{"p":true},"type":"object"},
                "outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true,"other":1},
                "icons":[{"src":"data:x","sizes":["any"]}],"execution":{"taskSupport":"optional"}}"#,
        ];
        for text in sound {
            assert_eq!(of(ListKind::Tools, text), Soundness::Sound, "{text}");
        }
        let prompt = r#"{"name":"p","arguments":[{"name":"x","required":true}]}"#;
        assert_eq!(of(ListKind::Prompts, prompt), Soundness::Sound);
        let resource =
            r#"{"uri":"a:b","name":"n","size":3,"annotations":{"audience":["user"],"priority":0.5}}"#;
        assert_eq!(of(ListKind::Resources, resource), Soundness::Sound);
        let any = r#"{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"type":"array"}}"#;
        assert_eq!(check(ListKind::Tools, any.as_bytes(), Structured::Any), Soundness::Sound);
    }

    #[test]
    fn what_has_one_meaning_is_repaired() {
        let cases = [
            (r#"{"name":"a"}"#, r#"{"inputSchema":{"type":"object"},"name":"a"}"#),
            (r#"{"name":"a","inputSchema":null}"#, r#"{"name":"a","inputSchema":{"type":"object"}}"#),
            (r#"{"name":"a","inputSchema":{}}"#, r#"{"name":"a","inputSchema":{"type":"object"}}"#),
            (
                r#"{"title":null,"name":"a","inputSchema":{"type":"object"},"annotations":{"title":null}}"#,
                r#"{"name":"a","inputSchema":{"type":"object"},"annotations":{}}"#,
            ),
        ];
        for (text, wanted) in cases {
            assert_eq!(repaired(ListKind::Tools, text), wanted);
        }
        for schema in [r#"{"type":"array"}"#, "null", "5"] {
            let text = format!(r#"{{"name":"a","inputSchema":{{"type":"object"}},"outputSchema":{schema}}}"#);
            assert_eq!(repaired(ListKind::Tools, &text), r#"{"name":"a","inputSchema":{"type":"object"}}"#);
        }
        assert_eq!(repaired(ListKind::Resources, r#"{"uri":"a:b"}"#), r#"{"name":"a:b","uri":"a:b"}"#);
        assert_eq!(
            repaired(ListKind::Templates, r#"{"uriTemplate":"a:{b}","name":null}"#),
            r#"{"uriTemplate":"a:{b}","name":"a:{b}"}"#
        );
    }

    #[test]
    fn what_cannot_be_understood_is_unsound() {
        let tools = [
            (r#"{"name":"a","inputSchema":[]}"#, "inputSchema is not an object"),
            (r#"{"name":"a","inputSchema":{"type":"string"}}"#, "requires \"object\""),
            (
                r#"{"name":"a","inputSchema":{"type":"object"},"description":5}"#,
                "description is not a string",
            ),
            (
                r#"{"name":"a","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":"yes"}}"#,
                "annotations: readOnlyHint is not true or false",
            ),
            (r#"{"name":"a","inputSchema":{"type":"object"},"icons":[{}]}"#, "icons: an entry has no src"),
        ];
        for (text, why) in tools {
            let Soundness::Unsound(found) = of(ListKind::Tools, text) else { panic!("{text}") };
            assert!(found.contains(why), "{text}: {found}");
        }
        let long = format!(r#"{{"name":"a","description":"{}"}}"#, "x".repeat(LONGEST));
        assert!(matches!(of(ListKind::Tools, &long), Soundness::Unsound(_)));
        assert!(matches!(of(ListKind::Prompts, r#"{"name":"a","arguments":{}}"#), Soundness::Unsound(_)));
        assert!(matches!(of(ListKind::Prompts, r#"{"name":"a","arguments":[{}]}"#), Soundness::Unsound(_)));
        assert!(matches!(
            of(ListKind::Resources, r#"{"uri":"a:b","name":"n","size":"3"}"#),
            Soundness::Unsound(_)
        ));
    }
}
