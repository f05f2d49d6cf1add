//! The result of `tools/call`: content, structured content, and the `toolResult` of the first versions.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::content;
use super::edit::{Draft, elements, inner, is, is_array, is_object, string};
use crate::era::{Era, Structured};
use crate::json::{MAX_DEPTH, Scanner, quote_into, unquote};

static CONTENT: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"content\""));
static FIRST: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"toolResult"));
/// The common end of the names `content` and `structuredContent`: one search finds both.
static EITHER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"ontent\""));
/// The start of a hexadecimal escape, which can spell any character of a name.
static ESCAPE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\\u"));

/// Returns true if the bytes of a result alone show that [`rewrite`] changes nothing. This is so if the result
/// begins with its content, if `to` supports all types of blocks, and if the rest does not contain the name of a
/// member that could change, in any spelling.
pub(super) fn is_plain_for(result: &[u8], to: &Era) -> bool {
    let Some(rest) = result.strip_prefix(b"{\"content\":[") else { return false };
    !to.shapes.tool_result
        && content::passes(to.shapes.tool_content, to.shapes)
        // A later member with the same name counts instead of the first.
        && [if to.shapes.structured == Structured::Any { &*CONTENT } else { &*EITHER }, &*FIRST, &*ESCAPE]
            .iter()
            .all(|name| name.find(rest).is_none())
}

/// Rewrites the data of a tool's result for `to`.
pub(super) fn rewrite(result: &mut Draft<'_>, to: &Era) {
    let shapes = to.shapes;
    let first = result.get("toolResult");
    let own = result.get("content").filter(|content| is_array(content));
    let mut content = match (own, first) {
        (Some(own), _) => Cow::Borrowed(own),
        // Both eras define `toolResult`, and the result has no `content`.
        (None, Some(_)) if shapes.tool_result => return,
        (None, Some(first)) => Cow::Owned(hoist(result, first)),
        (None, None) => Cow::Owned(b"[]".to_vec()),
    };
    if !shapes.tool_result {
        result.remove("toolResult");
    }
    if let Some(blocks) = content::blocks(&content, shapes.tool_content, shapes) {
        content = Cow::Owned(blocks.into());
    }
    let lost = result.get("structuredContent").filter(|value| !fits(value, shapes.structured));
    if let Some(value) = lost {
        result.remove("structuredContent");
        if value != b"null" && !says(&content, value) {
            content = Cow::Owned(with_text(&content, value));
        }
    }
    if shapes.tool_result && first.is_none() {
        let value = lost.filter(|value| *value != b"null").map_or_else(|| summary(&content), <[u8]>::to_vec);
        result.set("toolResult", value);
    }
    if let Cow::Owned(content) = content {
        result.set("content", content);
    }
}

/// The content for a result that has only `toolResult`: the content inside `toolResult`, or the JSON of
/// `toolResult` as text.
fn hoist(result: &mut Draft<'_>, first: &[u8]) -> Vec<u8> {
    let object = Draft::of(first);
    let part = |key| object.as_ref().and_then(|object| object.get(key));
    let Some(content) = part("content").filter(|content| is_array(content)) else {
        return match inner(first) {
            Some(_) => text_only(first),
            None => with_text(b"[]", first),
        };
    };
    if let (None, Some(failed @ (b"true" | b"false"))) = (result.get("isError"), part("isError")) {
        result.set("isError", failed.to_vec());
    }
    content.to_vec()
}

/// Returns true if an era whose structured content is of this form accepts the value.
fn fits(value: &[u8], structured: Structured) -> bool {
    match structured {
        Structured::None => false,
        Structured::Object => is_object(value),
        Structured::Any => true,
    }
}

/// Appends a block to the content, a JSON array. The text of the block is the JSON `value`.
fn with_text(content: &[u8], value: &[u8]) -> Vec<u8> {
    let inside = content.strip_suffix(b"]").unwrap_or(b"[");
    let mut out = Vec::with_capacity(content.len() + value.len() + 40);
    out.extend_from_slice(inside);
    if elements(content).next().is_some() {
        out.push(b',');
    }
    let text = content::text_block(&String::from_utf8_lossy(value));
    out.extend_from_slice(text.as_bytes());
    out.push(b']');
    out
}

/// Content that consists of one block, whose text is the JSON string `text`.
fn text_only(text: &[u8]) -> Vec<u8> {
    [b"[{\"type\":\"text\",\"text\":", text, b"}]"].concat()
}

/// The value of `toolResult` for this content: its text, or the whole content if not all of it is text.
fn summary(content: &[u8]) -> Vec<u8> {
    let mut out = b"\"".to_vec();
    for (index, block) in elements(content).enumerate() {
        let block = Draft::of(block).filter(|block| is(block.get("type"), "text"));
        let Some(text) = block.and_then(|block| block.get("text")).and_then(inner) else {
            return [b"{\"content\":", content, b"}"].concat();
        };
        if index > 0 {
            out.extend_from_slice(b"\\n");
        }
        out.extend_from_slice(text);
    }
    out.push(b'"');
    out
}

/// Returns true if a text block of the content equals the JSON `value`, in any spelling; a string may also
/// appear without its quotes.
fn says(content: &[u8], value: &[u8]) -> bool {
    let plain = string(value);
    let mut wanted = None;
    elements(content).any(|block| {
        let Some(block) = Draft::of(block).filter(|block| is(block.get("type"), "text")) else {
            return false;
        };
        let Some(text) = block.get("text").and_then(string) else { return false };
        let text = text.trim();
        if plain.as_ref().is_some_and(|plain| plain.trim() == text) {
            return true;
        }
        // Only JSON of the same type is worth parsing.
        if text.as_bytes().first() != value.first() {
            return false;
        }
        let json = Scanner::new(text.as_bytes(), MAX_DEPTH).is_ok_and(|scanner| scanner.document().is_ok());
        json && plainly_spelled(text.as_bytes()) == *wanted.get_or_insert_with(|| plainly_spelled(value))
    })
}

/// A value without white space, with each string in its canonical spelling.
fn plainly_spelled(json: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(json.len());
    let mut rest = json;
    while let Some(quote) = memchr::memchr(b'"', rest) {
        let (between, string) = rest.split_at(quote);
        push_dense(&mut out, between);
        let end = end_of_string(string);
        match unquote(&string[1..end]) {
            Some(text) => quote_into(&mut out, &text),
            // The spelling of lone surrogates is not normalized.
            None => out.extend_from_slice(&string[..end]),
        }
        rest = string.get(end + 1..).unwrap_or_default();
    }
    push_dense(&mut out, rest);
    out
}

fn push_dense(out: &mut Vec<u8>, text: &[u8]) {
    out.extend(text.iter().filter(|b| !b.is_ascii_whitespace()));
}

/// The offset of the quote that closes the string at the start of `text`.
fn end_of_string(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(found) = text.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += found;
        if text[at] == b'"' {
            return at;
        }
        at += 2;
    }
    text.len()
}
