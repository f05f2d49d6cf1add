//! Content blocks of tool results, prompts and sampling: block types that an era lacks are converted to types
//! that it has.

use bytes::Bytes;

use super::edit::{Draft, Element, each, inner, string};
use crate::era::{Era, Shapes};
use crate::json::quote;

/// The block types that can be expressed as another type, newest first.
const TOLD_OTHERWISE: [&str; 3] = ["resource_link", "audio", "resource"];

/// Rewrites an array of blocks for an era that knows only the block types `known`; `None` if nothing changes.
pub(super) fn blocks(array: &[u8], known: &[&str], shapes: &Shapes) -> Option<Bytes> {
    if passes(known, shapes) {
        return None;
    }
    each(array, |index, one| Element::from(block(index, one, known, shapes)))
}

/// Returns true if blocks need no changes for an era that knows these types.
pub(super) fn passes(known: &[&str], shapes: &Shapes) -> bool {
    !shapes.strict && TOLD_OTHERWISE.iter().all(|kind| known.contains(kind))
}

/// Rewrites one block, whose position in its list is `index`; `None` if nothing changes.
pub(super) fn block(index: usize, block: &[u8], known: &[&str], shapes: &Shapes) -> Option<Bytes> {
    let mut draft = Draft::of(block)?;
    let kind = string(draft.get("type")?)?;
    if shapes.strict {
        draft.remove("_meta");
        annotations(&mut draft, shapes);
    }
    if !known.contains(&&*kind) {
        match &*kind {
            "resource_link" => link_as_text(&mut draft),
            "audio" if known.contains(&"resource") => audio_as_resource(&mut draft, index),
            "audio" => audio_as_text(&mut draft),
            "resource" => resource_as_text(&mut draft),
            _ => {}
        }
    } else if kind == "resource" && shapes.strict {
        draft.rewrite("resource", contents);
    }
    draft.finish()
}

/// Converts a block of a tool's result from the form of the newest version to the form of the era `to`.
pub fn tool_block(block: String, to: &Era) -> Bytes {
    let written = self::block(0, block.as_bytes(), to.shapes.tool_content, to.shapes);
    written.unwrap_or_else(|| block.into())
}

/// Rewrites the contents of a resource for a strict era; `None` if nothing changes.
pub(super) fn contents(contents: &[u8]) -> Option<Bytes> {
    let mut draft = Draft::of(contents)?;
    draft.remove("_meta");
    draft.finish()
}

/// Removes annotations that a strict era does not define.
pub(super) fn annotations(draft: &mut Draft<'_>, shapes: &Shapes) {
    if shapes.strict && shapes.annotations {
        draft.remove_within("annotations", &["lastModified"]);
    } else if shapes.strict {
        draft.remove("annotations");
    }
}

/// A content block of the type `text`, as JSON text.
pub(super) fn text_block(text: &str) -> String {
    format!("{{\"type\":\"text\",\"text\":{}}}", quote(text))
}

/// Turns a link into text, with its name and its URI.
fn link_as_text(block: &mut Draft<'_>) {
    let mut text = b"\"".to_vec();
    let part = |key| block.get(key).and_then(inner).filter(|inner| !inner.is_empty());
    if let Some(name) = part("name").or_else(|| part("title")) {
        text.extend_from_slice(name);
        text.extend_from_slice(b": ");
    }
    text.extend_from_slice(part("uri").unwrap_or_default());
    text.push(b'"');
    as_text(block, text);
    block.remove_all(&["name", "title", "uri", "description", "mimeType", "size", "icons"]);
}

/// Turns audio into an embedded resource with a made-up URI, which cannot be read.
fn audio_as_resource(block: &mut Draft<'_>, index: usize) {
    let mut resource = format!("{{\"uri\":\"attachment://audio/{index}\"").into_bytes();
    for (key, value) in [("mimeType", block.get("mimeType")), ("blob", block.get("data"))] {
        if let Some(value) = value {
            resource.extend_from_slice(format!(",\"{key}\":").as_bytes());
            resource.extend_from_slice(value);
        }
    }
    resource.push(b'}');
    block.set("type", "\"resource\"");
    block.set("resource", resource);
    block.remove_all(&["data", "mimeType"]);
}

fn audio_as_text(block: &mut Draft<'_>) {
    let note = left_out("audio", block.get("mimeType"), block.get("data"));
    as_text(block, quote(&note).into_bytes());
    block.remove_all(&["data", "mimeType"]);
}

/// Turns a resource into text. Text stays unchanged; binary data is replaced with a note.
fn resource_as_text(block: &mut Draft<'_>) {
    let resource = block.get("resource").and_then(Draft::of);
    let part = |key| resource.as_ref().and_then(|resource| resource.get(key));
    let text = if let Some(text) = part("text").filter(|text| inner(text).is_some()) {
        text.to_vec()
    } else {
        let uri = part("uri").and_then(string).unwrap_or("a resource".into());
        quote(&left_out(&uri, part("mimeType"), part("blob"))).into_bytes()
    };
    as_text(block, text);
    block.remove("resource");
}

/// Turns a block into a text block; `text` is a JSON string.
fn as_text(block: &mut Draft<'_>, text: Vec<u8>) {
    block.set("type", "\"text\"");
    block.set("text", text);
}

/// The note that replaces content that cannot be shown.
fn left_out(what: &str, mime: Option<&[u8]>, base64: Option<&[u8]>) -> String {
    let mime = mime.and_then(string).unwrap_or("unknown type".into());
    let size = base64.and_then(string).map_or(0, |data| decoded_length(data.as_bytes()));
    format!("[{what}: {mime}, {size} bytes, not shown in this protocol version]")
}

/// The number of bytes that a Base64 text decodes to.
pub fn decoded_length(base64: &[u8]) -> usize {
    let digits = base64.iter().filter(|b| !matches!(b, b'=' | b'\r' | b'\n')).count();
    digits * 3 / 4
}
