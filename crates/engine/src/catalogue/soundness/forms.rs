//! The members that the protocol defines for items, and the forms of their values.

use proto::json::{Elements, Members, Span, Splice};

use super::Repair;

/// The form of a member's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JsonForm {
    Text,
    Flag,
    Number,
    /// A number from 0 to 1.
    Share,
    /// A date with a time and a time zone (RFC 3339).
    Time,
    /// One of these words.
    Word(&'static [&'static str]),
    Words(&'static [&'static str]),
    Object,
    /// A list of objects with these members. The number is the count of required members, which come first.
    Objects(&'static [MemberRule], usize),
    Texts,
    /// An object with these members. All of them are hints, so the item can be used without them: an invalid hint is left out.
    Hints(&'static [MemberRule]),
    /// A list as in `Objects`, without which the item can be used: an invalid list is left out.
    Decoration(&'static [MemberRule], usize),
}

/// A member that the protocol defines, with its form.
pub(super) type MemberRule = (&'static str, JsonForm);

use JsonForm::{Decoration, Flag, Hints, Number, Object, Objects, Share, Text, Texts, Time, Word, Words};

const ICONS: MemberRule = (
    "icons",
    Decoration(
        &[("src", Text), ("mimeType", Text), ("sizes", Texts), ("theme", Word(&["light", "dark"]))],
        1,
    ),
);
const ANNOTATIONS: MemberRule = (
    "annotations",
    Hints(&[("audience", Words(&["user", "assistant"])), ("priority", Share), ("lastModified", Time)]),
);

/// The members of a tool (2025-11-25, schema `Tool`).
pub(super) const TOOL: &[MemberRule] = &[
    ("title", Text),
    ("description", Text),
    (
        "annotations",
        Hints(&[
            ("title", Text),
            ("readOnlyHint", Flag),
            ("destructiveHint", Flag),
            ("idempotentHint", Flag),
            ("openWorldHint", Flag),
        ]),
    ),
    ("execution", Hints(&[("taskSupport", Word(&["required", "optional", "forbidden"]))])),
    ICONS,
    ("_meta", Object),
];

/// The members of a prompt (2025-11-25, schema `Prompt`).
pub(super) const PROMPT: &[MemberRule] = &[
    ("title", Text),
    ("description", Text),
    ("arguments", Objects(&[("name", Text), ("title", Text), ("description", Text), ("required", Flag)], 1)),
    ICONS,
    ("_meta", Object),
];

/// The members of a resource (2025-11-25, schema `Resource`).
pub(super) const RESOURCE: &[MemberRule] = &[
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
pub(super) const TEMPLATE: &[MemberRule] = &[
    ("name", Text),
    ("title", Text),
    ("description", Text),
    ("mimeType", Text),
    ANNOTATIONS,
    ICONS,
    ("_meta", Object),
];

/// Checks those members of an object that the protocol defines. Optional members that are null are removed, because some
/// servers write null for a missing member.
///
/// # Errors
/// Returns the reason why the object cannot be used.
pub(super) fn members<'a>(
    text: &'a [u8],
    object: &Members,
    rules: &[MemberRule],
    repair: &mut Repair<'a>,
) -> Result<(), String> {
    for (key, form) in rules {
        let Some(span) = object.get(text, key) else { continue };
        if span.of(text) == b"null" {
            repair.splice.remove(object, key.as_bytes());
            repair.note("a member that was null was left out");
            continue;
        }
        let fits = match form {
            Hints(rules) => hints(text, span, rules, repair),
            Decoration(rules, needed) => {
                // What an invalid list would need is tried on a copy.
                let mut trial = Repair { splice: Splice::new(text), what: None };
                let fits = objects(text, span, (rules, *needed), &mut trial) == Ok(true);
                fits && objects(text, span, (rules, *needed), repair) == Ok(true)
            }
            Objects(rules, needed) => {
                objects(text, span, (rules, *needed), repair).map_err(|why| format!("{key}: {why}"))?
            }
            _ => form.fits(text, span),
        };
        match form {
            _ if fits => {}
            Hints(_) | Decoration(..) => {
                repair.splice.remove(object, key.as_bytes());
                repair.note("an invalid hint was left out");
            }
            // PHP writes an empty object as an empty array.
            Object if is_empty_array(text, span) => {
                repair.splice.replace(span, b"{}");
                repair.note("an empty array took the place of an object");
            }
            _ => return Err(format!("{key} is not {}", form.name())),
        }
    }
    Ok(())
}

/// Removes those hints from an object that are invalid. Returns false if the value is not an object.
fn hints<'a>(text: &'a [u8], span: Span, rules: &[MemberRule], repair: &mut Repair<'a>) -> bool {
    let Some(object) = Members::of_value(text, span) else { return false };
    for (key, form) in rules {
        let Some(span) = object.get(text, key) else { continue };
        if !form.fits(text, span) {
            repair.splice.remove(&object, key.as_bytes());
            repair.note("an invalid hint was left out");
        }
    }
    true
}

/// Returns true for an array without elements.
pub(super) fn is_empty_array(text: &[u8], span: Span) -> bool {
    elements(text, span).is_some_and(|all| all.is_empty())
}

/// Returns the elements of an array; `None` if the value is not an array.
pub(super) fn elements(text: &[u8], span: Span) -> Option<Elements> {
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
    /// Returns true if a value has this form; of lists and objects, only the type is checked.
    fn fits(self, text: &[u8], span: Span) -> bool {
        let value = span.of(text);
        let is_each = |fits: &dyn Fn(&[u8]) -> bool| {
            elements(text, span).is_some_and(|all| all.iter().all(|one| fits(one.of(text))))
        };
        match self {
            Text => value.starts_with(b"\""),
            Flag => matches!(value, b"true" | b"false"),
            Number => matches!(value.first(), Some(b'-' | b'0'..=b'9')),
            Share => {
                let number = std::str::from_utf8(value).ok().and_then(|digits| digits.parse::<f64>().ok());
                number.is_some_and(|number| (0.0..=1.0).contains(&number))
            }
            Time => is_time(value),
            Word(words) => is_word(value, words),
            Words(words) => is_each(&|one| is_word(one, words)),
            Texts => is_each(&|one| one.starts_with(b"\"")),
            Object | Hints(_) => value.starts_with(b"{"),
            Objects(..) | Decoration(..) => value.starts_with(b"["),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Text => "a string",
            Flag => "true or false",
            Number => "a number",
            Share => "a number from 0 to 1",
            Time => "a date with a time and a time zone",
            Word(_) => "one of the words that the protocol defines",
            Words(_) => "an array of words that the protocol defines",
            Object | Hints(_) => "an object",
            Texts => "an array of strings",
            Objects(..) | Decoration(..) => "an array of objects",
        }
    }
}

/// Returns true if a JSON string is one of these words.
fn is_word(value: &[u8], words: &[&str]) -> bool {
    let inner = value.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\""));
    inner.is_some_and(|inner| words.iter().any(|word| word.as_bytes() == inner))
}

/// Returns true if a JSON string is a date with a time and a time zone.
fn is_time(value: &[u8]) -> bool {
    let text = value.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\""));
    let text = text.and_then(|text| std::str::from_utf8(text).ok());
    // The library also accepts a space in place of the `T`.
    text.is_some_and(|text| text.as_bytes().get(10) == Some(&b'T') && text.parse::<jiff::Timestamp>().is_ok())
}
