//! The parts of a long result: which blocks stay, which text is cut, and which blocks are left out. This module must not know
//! where the rest is kept.

use std::time::Duration;

use bytes::Bytes;
use proto::bridge::shape::{GatewayIdentity, result, tool_block};
use proto::era::{Era, Structured, newest_handshake};
use proto::json::{Elements, Members, Span, Splice, cut_string};
use proto::mcp::Method;

use super::item::ContentItem;
use super::wording::{Sizes, link, notice};

/// The smallest part of a text that is worth showing, in bytes.
const SMALLEST_CUT: usize = 64;

/// The space, in bytes, for everything around the notice and the link: the block around the notice, and the link's media type.
const AROUND: usize = 200;

/// The rules by which a result is shortened, and the names in its texts.
#[derive(Debug, Clone, Copy)]
pub struct CapRules<'a> {
    /// The maximum size of the result, in bytes.
    pub most: usize,
    /// True if the tool declares the structure of its results.
    pub has_output_schema: bool,
    /// The era of the client, and of the result.
    pub era: &'static Era,
    /// The gateway's own name and version, a JSON object.
    pub server_info: &'a str,
    /// The name of the server.
    pub server: &'a str,
    /// The name of the tool, as clients see it.
    pub tool: &'a str,
    /// The URI under which the rest can be read.
    pub uri: &'a str,
    /// The time for which the rest can be read.
    pub kept_for: Duration,
}

/// The reason why a result is not shortened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UncutReason {
    /// The result, or the tool, has a structure that a cut would break.
    Structured,
    /// The result is too long even without its content.
    Other,
}

/// The treatment of a block in a shortened result.
#[derive(Debug)]
enum BlockPlacement {
    Whole,
    /// The text is cut at this offset.
    Cut(usize),
    Out,
}

/// A shortened result, and its rest.
#[derive(Debug)]
pub struct ShortenedResult {
    text: Bytes,
    content: Span,
    items: Vec<(ContentItem, BlockPlacement)>,
    /// The contents of the rest, a JSON array; `None` if only white space is left out.
    pub rest: Option<Bytes>,
    kind: Option<String>,
    sizes: Sizes,
}

/// Shortens a result, a JSON object, if it is longer than the rules allow; `None` if nothing has to change.
///
/// # Errors
/// Returns the reason why a result that is too long cannot be shortened.
pub fn shorten(text: &Bytes, rules: &CapRules<'_>) -> Result<Option<ShortenedResult>, UncutReason> {
    let text = if rules.era.shapes.tool_result { without_copy(text) } else { text.clone() };
    if text.len() <= rules.budget() {
        return Ok(None);
    }
    let Some(members) = Members::of_value(&text, Span::new(0, text.len())) else { return Ok(None) };
    let member = |key: &str| members.get(&text, key).map(|span| span.of(&text));
    // Results that ask for input, and results that are tasks, are not yet results of tools.
    if member("resultType").is_some_and(|kind| kind != b"\"complete\"") || member("task").is_some() {
        return Ok(None);
    }
    let is_declared = rules.has_output_schema && rules.era.shapes.structured != Structured::None;
    let is_failure = member("isError") == Some(b"true");
    let is_long = member("structuredContent").is_some_and(|value| value.len() > rules.budget());
    if is_long || (is_declared && !is_failure) {
        return Err(UncutReason::Structured);
    }
    let content = members.get(&text, "content").ok_or(UncutReason::Other)?;
    let elements = Elements::of_value(&text, content).ok_or(UncutReason::Other)?;
    let around = text.len() - content.len() + "[]".len() + rules.reserve();
    let room = rules.budget().checked_sub(around).ok_or(UncutReason::Other)?;
    let items = placed(&text, elements.iter().map(|span| ContentItem::of(&text, span)).collect(), room);
    let total = items.iter().map(|(item, _)| item.size).sum();
    let (rest, kind, missing) = rest(&text, &items, rules.uri);
    Ok(Some(ShortenedResult { content, items, rest, kind, sizes: Sizes { missing, total }, text }))
}

/// A result without `toolResult`, in which the first protocol versions repeat the content. This copy is written
/// again at the end.
fn without_copy(text: &Bytes) -> Bytes {
    let Some(members) = Members::of_value(text, Span::new(0, text.len())) else { return text.clone() };
    if members.get(text, "content").is_none() {
        return text.clone();
    }
    let mut splice = Splice::new(text);
    splice.remove(&members, b"toolResult");
    splice.finish()
}

/// Places blocks in their order, as long as there is room. One text is cut; blocks after it get up to a quarter of the room
/// that was left, so that a short remark after a long text stays.
fn placed(text: &[u8], items: Vec<ContentItem>, mut room: usize) -> Vec<(ContentItem, BlockPlacement)> {
    let sizes: Vec<usize> = items.iter().map(|item| item.span.len() + 1).collect();
    let mut is_cut = false;
    let place = |(index, item): (usize, ContentItem)| {
        let size = sizes[index];
        if size <= room {
            room -= size;
            return (item, BlockPlacement::Whole);
        }
        let Some(inner) = item.text().filter(|_| !is_cut) else { return (item, BlockPlacement::Out) };
        let behind = fitting(&sizes[index + 1..], room / 4);
        let around = size - inner.len() + behind;
        let Some(most) = room.checked_sub(around).filter(|most| *most >= SMALLEST_CUT) else {
            return (item, BlockPlacement::Out);
        };
        let at = cut_string(inner.of(text), most);
        (is_cut, room) = (true, behind);
        (item, BlockPlacement::Cut(at))
    };
    items.into_iter().enumerate().map(place).collect()
}

/// The total size of those blocks that fit into the room, tried in order.
fn fitting(sizes: &[usize], room: usize) -> usize {
    sizes.iter().fold(0, |all, size| if all + size <= room { all + size } else { all })
}

/// The contents of the rest, their media type if all have the same, and their size.
fn rest(
    text: &[u8],
    items: &[(ContentItem, BlockPlacement)],
    uri: &str,
) -> (Option<Bytes>, Option<String>, usize) {
    let (mut out, mut missing) = (b"[".to_vec(), 0);
    let mut kinds: Vec<Option<String>> = Vec::new();
    for (item, place) in items {
        let from = match place {
            BlockPlacement::Whole => continue,
            BlockPlacement::Cut(at) => *at,
            BlockPlacement::Out => 0,
        };
        let own = if kinds.is_empty() { uri.to_owned() } else { format!("{uri}#{}", kinds.len() + 1) };
        if !kinds.is_empty() {
            out.push(b',');
        }
        kinds.push(item.write(&mut out, text, from, &own));
        let shown = item.text().map_or(0, |inner| proto::json::string_length(&inner.of(text)[..from]));
        missing += item.size - shown;
    }
    out.push(b']');
    let out = (!kinds.is_empty()).then(|| Bytes::from(out));
    let kind =
        kinds.first().cloned().flatten().filter(|kind| kinds.iter().flatten().all(|other| other == kind));
    let kind = kind.filter(|_| kinds.iter().all(Option::is_some));
    (out, kind, missing)
}

impl ShortenedResult {
    /// The shortened result; `is_kept` is true if the rest can be read.
    pub fn finish(&self, rules: &CapRules<'_>, is_kept: bool) -> Bytes {
        let notice = notice(rules, self.sizes, is_kept);
        let mut content = Vec::with_capacity(rules.most);
        content.push(b'[');
        let mut has_notice = self.rest.is_none();
        for (item, place) in &self.items {
            let block = match (place, item.text()) {
                (BlockPlacement::Out, _) => continue,
                (BlockPlacement::Cut(at), Some(inner)) => {
                    has_notice = true;
                    self.cut(item, inner, *at, &notice)
                }
                _ => item.span.share(&self.text),
            };
            push(&mut content, &block);
        }
        if !has_notice {
            let text = proto::json::quote(&notice);
            push(&mut content, format!("{{\"type\":\"text\",\"text\":{text}}}").as_bytes());
        }
        if is_kept && self.rest.is_some() {
            let link = link(rules, self.sizes.missing, self.kind.as_deref());
            push(&mut content, &tool_block(link, rules.era));
        }
        content.push(b']');
        let mut splice = Splice::new(&self.text);
        splice.replace(self.content, &content);
        let shortened = splice.finish();
        if !rules.era.shapes.tool_result {
            return shortened;
        }
        let own = GatewayIdentity { server_info: rules.server_info };
        let method = Method::ToolsCall.name();
        result(method, &shortened, newest_handshake(), rules.era, &own).unwrap_or(shortened)
    }

    /// The block of a text that is cut at an offset, with the notice at its end.
    fn cut(&self, item: &ContentItem, inner: Span, at: usize, notice: &str) -> Bytes {
        let notice = proto::json::quote(&format!("\n\n{notice}"));
        let head = &self.text[item.span.start()..inner.start() + at];
        let tail = &self.text[inner.end()..item.span.end()];
        [head, &notice.as_bytes()[1..notice.len() - 1], tail].concat().into()
    }
}

fn push(content: &mut Vec<u8>, block: &[u8]) {
    if content.len() > 1 {
        content.push(b',');
    }
    content.extend_from_slice(block);
}

impl CapRules<'_> {
    /// The space for the result. It is halved for the first protocol versions, which contain the content twice.
    fn budget(&self) -> usize {
        if self.era.shapes.tool_result { self.most / 2 } else { self.most }
    }

    /// The maximum space that the notice and the link need.
    fn reserve(&self) -> usize {
        let notices = [true, false].map(|is_kept| notice(self, Sizes::LONGEST, is_kept));
        let notice = notices.iter().map(|notice| proto::json::quote(notice).len()).max().unwrap_or_default();
        notice + link(self, usize::MAX, None).len() + AROUND
    }
}
