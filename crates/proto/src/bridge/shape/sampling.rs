//! Questions to the client's model, and its answers.

use bytes::Bytes;

use super::Unaskable;
use super::content;
use super::edit::{Draft, Element, each, elements, inner, is, is_array, string};
use crate::era::Era;
use crate::json::quote;

/// Rewrites the params of `sampling/createMessage` for a client of `to`.
pub(super) fn question(params: &mut Draft<'_>, from: &Era, to: &Era) -> Result<(), Unaskable> {
    if !to.shapes.sampling_tools {
        if params.get("tools").is_some_and(|tools| elements(tools).next().is_some()) {
            return Err(Unaskable(format!("a model cannot use tools in protocol version {to}")));
        }
        params.remove_all(&["tools", "toolChoice"]);
    }
    if !to.shapes.model_preferences {
        params.remove("modelPreferences");
    }
    if to.shapes.sampling_tools && !to.shapes.strict {
        return Ok(());
    }
    let mut unaskable = None;
    params.rewrite("messages", |messages| {
        each(messages, |_, message| match plain_message(message, from, to) {
            Ok(element) => element,
            Err(why) => {
                unaskable.get_or_insert(why);
                Element::Same
            }
        })
    });
    unaskable.map_or(Ok(()), Err)
}

/// A message for an era whose messages hold one block: more blocks are as many messages of the same role.
fn plain_message(message: &[u8], from: &Era, to: &Era) -> Result<Element, Unaskable> {
    let Some(mut draft) = Draft::of(message) else { return Ok(Element::Same) };
    if to.shapes.strict {
        draft.remove("_meta");
    }
    let Some(content) = draft.get("content") else { return Ok(draft.finish().into()) };
    if !is_array(content) || to.shapes.sampling_tools {
        draft.rewrite("content", |block| content::block(0, block, ALL, to.shapes));
        askable(content, from, to)?;
        return Ok(draft.finish().into());
    }
    let mut several = Vec::with_capacity(message.len());
    for block in elements(content) {
        askable(block, from, to)?;
        if !several.is_empty() {
            several.push(b',');
        }
        let Some(mut one) = Draft::of(message) else { break };
        if to.shapes.strict {
            one.remove("_meta");
        }
        let plain = content::block(0, block, ALL, to.shapes);
        one.set("content", plain.unwrap_or_else(|| Bytes::copy_from_slice(block)));
        several.extend_from_slice(&one.finish().unwrap_or_default());
    }
    Ok(if several.is_empty() { Element::Gone } else { Element::Changed(several.into()) })
}

/// Types are judged by [`askable`]; what is left stays of its type.
const ALL: &[&str] = &["text", "image", "audio", "resource", "resource_link", "tool_use", "tool_result"];

/// Whether a block is of a type that a client of `to` can give to its model, or of one that nobody knows.
fn askable(block: &[u8], from: &Era, to: &Era) -> Result<(), Unaskable> {
    let kind = Draft::of(block).and_then(|block| block.get("type").and_then(string));
    match kind {
        Some(kind) if lacks(&kind, from, to) => {
            Err(Unaskable(format!("protocol version {to} has no content of type {kind} for a model")))
        }
        _ => Ok(()),
    }
}

fn lacks(kind: &str, from: &Era, to: &Era) -> bool {
    from.shapes.sampling_content.contains(&kind) && !to.shapes.sampling_content.contains(&kind)
}

/// Rewrites the answer of a model for a server of `to`.
pub(super) fn answer(result: &mut Draft<'_>, to: &Era) {
    let (shapes, known) = (to.shapes, to.shapes.sampling_content);
    if let Some(content) = result.get("content") {
        let one = if is_array(content) && !shapes.sampling_tools { Some(single(content)) } else { None };
        let block = one.as_deref().unwrap_or(content);
        match content::block(0, block, known, shapes) {
            Some(changed) => result.set("content", changed),
            None => one.into_iter().for_each(|one| result.set("content", one)),
        }
    }
    let reasons = shapes.stop_reasons;
    if let Some(usual) = reasons.first()
        && !reasons.iter().any(|reason| is(result.get("stopReason"), reason))
    {
        result.set("stopReason", quote(usual));
    }
}

/// One block of several: all their text, or else the first of another type; an empty text of none.
fn single(content: &[u8]) -> Vec<u8> {
    let mut text = b"{\"type\":\"text\",\"text\":\"".to_vec();
    let mut blocks = elements(content).enumerate().peekable();
    if let (Some((_, only)), 1) = (blocks.peek().copied(), elements(content).take(2).count()) {
        return only.to_vec();
    }
    for (index, block) in blocks {
        let found = Draft::of(block).filter(|block| is(block.get("type"), "text"));
        let Some(said) = found.and_then(|block| block.get("text")).and_then(inner) else {
            return block.to_vec();
        };
        if index > 0 {
            text.extend_from_slice(b"\\n");
        }
        text.extend_from_slice(said);
    }
    text.extend_from_slice(b"\"}");
    text
}
