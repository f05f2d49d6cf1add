//! Questions to the client's model, and its answers.

use bytes::Bytes;

use super::UnaskableQuestion;
use super::content;
use super::edit::{Draft, Element, each, elements, inner, is, is_array, string};
use crate::era::Era;
use crate::json::quote;

/// Rewrites the params of `sampling/createMessage` for a client of `to`.
pub(super) fn question(params: &mut Draft<'_>, to: &Era) -> Result<(), UnaskableQuestion> {
    if !to.shapes.sampling_tools {
        if params.get("tools").is_some_and(|tools| elements(tools).next().is_some()) {
            return Err(UnaskableQuestion(format!(
                "protocol version {to} does not support tools in sampling"
            )));
        }
        params.remove_all(&["tools", "toolChoice"]);
    }
    if !to.shapes.model_preferences {
        params.remove("modelPreferences");
    }
    if to.shapes.sampling_tools {
        return Ok(());
    }
    let mut unaskable = None;
    params.rewrite("messages", |messages| {
        each(messages, |_, message| match plain_message(message, to) {
            Ok(element) => element,
            Err(why) => {
                unaskable.get_or_insert(why);
                Element::Same
            }
        })
    });
    unaskable.map_or(Ok(()), Err)
}

/// Splits a message for an era whose messages hold one block: each further block becomes a message of the same role.
/// The first message keeps all other members.
fn plain_message(message: &[u8], to: &Era) -> Result<Element, UnaskableQuestion> {
    let Some(mut draft) = Draft::of(message) else { return Ok(Element::Same) };
    if to.shapes.strict {
        draft.remove("_meta");
    }
    let Some(content) = draft.get("content") else { return Ok(draft.finish().into()) };
    if !is_array(content) {
        draft.rewrite("content", |block| content::block(0, block, AS_IT_IS, to.shapes));
        askable(content, to)?;
        return Ok(draft.finish().into());
    }
    let mut blocks = elements(content);
    let Some(first) = blocks.next() else { return Ok(Element::Gone) };
    let block = |block| {
        askable(block, to)?;
        let plain = content::block(0, block, AS_IT_IS, to.shapes);
        Ok(plain.unwrap_or_else(|| Bytes::copy_from_slice(block)))
    };
    let role = draft.get("role").filter(|role| role.len() <= MAX_ROLE).unwrap_or(b"\"user\"");
    draft.set("content", block(first)?);
    let mut several = draft.finish().unwrap_or_default().to_vec();
    for next in blocks {
        for piece in [b",{\"role\":", role, b",\"content\":", &*block(next)?, b"}"] {
            several.extend_from_slice(piece);
        }
    }
    Ok(Element::Changed(several.into()))
}

/// The longest role, in bytes as written, that is copied to several messages; the known roles are "user" and
/// "assistant".
const MAX_ROLE: usize = 32;

/// The block types that the protocol introduced later than sampling.
const LATER: &[&str] = &["audio", "tool_use", "tool_result"];

/// Types that are not converted to another type, because the model would then answer a different question.
const AS_IT_IS: &[&str] = &["resource_link", "audio", "resource"];

/// Checks that a client of `to` can pass a block of this type to its model. Types that no version defines pass,
/// too.
fn askable(block: &[u8], to: &Era) -> Result<(), UnaskableQuestion> {
    match Draft::of(block).and_then(|block| block.get("type").and_then(string)) {
        Some(kind) if LATER.contains(&&*kind) && !to.shapes.sampling_content.contains(&&*kind) => Err(
            UnaskableQuestion(format!("protocol version {to} does not support {kind} content in sampling")),
        ),
        _ => Ok(()),
    }
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

/// Reduces several blocks to one: all their text, or the first block of another type if there is no text, or an
/// empty text if there are no blocks.
fn single(content: &[u8]) -> Vec<u8> {
    let mut text = b"{\"type\":\"text\",\"text\":\"".to_vec();
    let mut before: Option<&[u8]> = None;
    let mut blocks = elements(content).peekable();
    while let Some(block) = blocks.next() {
        let found = Draft::of(block).filter(|block| is(block.get("type"), "text"));
        let said = found.and_then(|block| block.get("text")).and_then(inner);
        let (Some(said), true) = (said, before.is_some() || blocks.peek().is_some()) else {
            return block.to_vec();
        };
        if before.replace(block).is_some() {
            text.extend_from_slice(b"\\n");
        }
        text.extend_from_slice(said);
    }
    text.extend_from_slice(b"\"}");
    text
}
