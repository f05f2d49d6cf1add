//! Checks of untrusted texts of servers and callers: challenges, URI templates, arguments with secrets in them,
//! schemas. The property tests of `dragoman-engine` include this folder.

pub mod challenge;
pub mod counted;
pub mod redaction;
pub mod schema_cost;
pub mod template;

/// Removes the first line from the fuzzer's bytes, and returns it.
pub fn text<'a>(rest: &mut &'a [u8]) -> std::borrow::Cow<'a, str> {
    let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    let (text, after) = rest.split_at(end);
    *rest = after.get(1..).unwrap_or_default();
    String::from_utf8_lossy(text)
}
