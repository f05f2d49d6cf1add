//! Texts of servers and callers that are judged before they are believed: challenges, URI templates, arguments with
//! secrets in them, schemas. The property tests of `dragoman-engine` include this folder.

pub mod challenge;
pub mod counted;
pub mod redaction;
pub mod schema_cost;
pub mod template;

/// Takes a text off the front of the fuzzer's bytes, up to a line's end.
pub fn text<'a>(rest: &mut &'a [u8]) -> std::borrow::Cow<'a, str> {
    let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    let (text, after) = rest.split_at(end);
    *rest = after.get(1..).unwrap_or_default();
    String::from_utf8_lossy(text)
}
