//! The elements of one mapping or list in the text of a file: where they begin and end, how one is added, and how one is
//! removed. This module must not know what the elements mean.

use std::ops::Range;
use std::rc::Rc;

use serde_json::Value;

use super::{comments, render};
use crate::syntax::json_comments::{starts_as_json, without_comments};
use crate::syntax::parse::{Entry, Node, NodeKind};

/// The characters of an indentation; JSON files may use tabs.
const BLANKS: [char; 2] = [' ', '\t'];

/// A new element.
pub(super) enum Element<'e> {
    /// A key with its value, for a mapping.
    Member(&'e str, &'e Value),
    /// A text, for a list.
    Item(&'e str),
}

/// A mapping or a list in the text.
pub(super) struct Container<'t> {
    text: &'t str,
    /// The text with blanks instead of the comments `//` and `/* */`; all positions are unchanged.
    plain: String,
    /// The range of the container in the text; in block style, the end of the range may lie after the container's
    /// end.
    at: Range<usize>,
    /// The elements, in the order of the text.
    elements: Vec<Range<usize>>,
    is_flow: bool,
    is_list: bool,
}

impl<'t> Container<'t> {
    /// Returns the container of a node; `None` if the node is not a container, or if its text cannot be edited
    /// here.
    pub(super) fn of(text: &'t str, node: &Rc<Node>) -> Option<Self> {
        let (mut elements, is_list): (Vec<Range<usize>>, bool) = match &node.kind {
            NodeKind::Map(entries) => {
                (entries.iter().map(|one| one.key_at.start..end_of_entry(text, one)).collect(), false)
            }
            NodeKind::List(items) => {
                (items.iter().map(|one| one.at.start..end_of(text, one, one.at.start)).collect(), true)
            }
            NodeKind::Null | NodeKind::Scalar { .. } => return None,
        };
        let at = node.at.clone();
        let opening = text.get(at.start..)?.chars().next()?;
        let is_flow = opening == if is_list { '[' } else { '{' };
        if is_flow && !text.get(..at.end)?.ends_with(if is_list { ']' } else { '}' }) {
            return None;
        }
        // Elements that come from elsewhere (`<<`, aliases) cannot be edited here.
        elements.retain(|one| one.start >= at.start && one.end >= one.start);
        let is_ordered = elements.windows(2).all(|pair| pair[0].end <= pair[1].start);
        let is_empty = elements.is_empty() && !is_flow;
        let is_sound = is_ordered && !is_empty && elements.iter().all(|one| text.get(one.clone()).is_some());
        is_sound.then(|| Self {
            text,
            plain: without_comments(text).into_owned(),
            at,
            elements,
            is_flow,
            is_list,
        })
    }

    /// Returns the text with one more element at the end of the container.
    pub(super) fn insert(&self, new: &Element<'_>) -> Option<String> {
        let new = if self.is_flow { self.insert_in_flow(new)? } else { self.insert_in_block(new)? };
        comments::are_kept(self.text, &(0..0), &new).then_some(new)
    }

    /// Returns the text without an element, and without the comments of the element itself. `key_at` is the key of the
    /// container, which gets an empty value if no element is left.
    pub(super) fn remove(&self, index: usize, key_at: &Range<usize>) -> Option<String> {
        let (own, without) = if self.is_flow {
            (self.own_part(index)?, self.remove_from_flow(index)?)
        } else {
            self.remove_from_block(index, key_at)?
        };
        comments::are_kept(self.text, &own, &without).then_some(without)
    }

    /// Returns the text in which `entry`, which has no value, gets a mapping with one member as its value.
    pub(super) fn fill(&self, entry: &Entry, key: &str, value: &Value) -> Option<String> {
        let colon = self.colon(entry.key_at.end)?;
        if self.is_flow {
            let member = if self.is_json() {
                format!("{{{}}}", render::json_member(key, value, 0, render::STEP, self.newline()))
            } else {
                format!("{{ {} }}", render::flow_member(key, value))
            };
            return Some(self.replaced(colon..colon, &format!(" {member}")));
        }
        let indent = self.column(entry.key_at.start) + render::STEP;
        let at = self.line_end(colon);
        Some(self.with_lines(at, &render::block_member(key, value, indent, self.newline())))
    }

    fn insert_in_block(&self, new: &Element<'_>) -> Option<String> {
        let (first, last) = (self.elements.first()?, self.elements.last()?);
        let start = self.first_in_line(first.start);
        let indent = self.column(start);
        let is_own_line =
            if self.is_list { self.text[start..].starts_with('-') } else { start == first.start };
        if !is_own_line {
            return None;
        }
        let mut at = self.line_end(last.end);
        // Comments below the last element, at its own depth, belong to it.
        while indent > 0 && self.is_comment_line(at, indent) {
            at = self.line_end(at);
        }
        let lines = match new {
            Element::Member(key, value) => render::block_member(key, value, indent, self.newline()),
            Element::Item(text) => {
                format!("{}- {}{}", " ".repeat(indent), render::flow(&Value::from(*text)), self.newline())
            }
        };
        // Sections at the top level are usually set apart.
        let gap = if indent == 0 && !self.is_list && !self.text[..at].ends_with("\n\n") {
            self.newline()
        } else {
            ""
        };
        Some(self.with_lines(at, &format!("{gap}{lines}")))
    }

    fn insert_in_flow(&self, new: &Element<'_>) -> Option<String> {
        let Some(last) = self.elements.last() else {
            let inside = self.at.start + 1..self.at.end - 1;
            if !self.plain[inside.clone()].trim().is_empty() || self.text[inside.clone()].contains(['#', '/'])
            {
                return None;
            }
            let lead = self.lead(self.at.start);
            let text = if self.is_json() && !self.is_list {
                let (deeper, newline) = (format!("{lead}{}", self.step()), self.newline());
                format!("{newline}{deeper}{}{newline}{lead}", self.element(new, &deeper))
            } else if self.is_list {
                self.element(new, lead)
            } else {
                format!(" {} ", self.element(new, lead))
            };
            return Some(self.replaced(inside, &text));
        };
        let own_line = self.begins_a_line(last.start);
        let comma = self.comma_after(last.end);
        let behind = comma.map_or(last.end, |comma| comma + 1);
        if !own_line {
            let lead = if comma.is_some() { " " } else { ", " };
            return Some(self.replaced(behind..behind, &format!("{lead}{}", self.element(new, ""))));
        }
        let (newline, lead) = (self.newline(), self.lead(last.start));
        let end = if comma.is_some() { "," } else { "" };
        let new = format!("{newline}{lead}{}{end}", self.element(new, lead));
        let line_end = self.line_end(behind);
        let line = self.text[..line_end].trim_end_matches(['\r', '\n']).len();
        // What follows on this line is a comment, or else the end of the container.
        let at = if self.at.end <= line { behind } else { line };
        let with_element = self.replaced(at..at, &new);
        match comma {
            Some(_) => Some(with_element),
            None => Some(format!("{},{}", &with_element[..last.end], &with_element[last.end..])),
        }
    }

    /// Returns the removed range, and the text without it.
    fn remove_from_block(&self, index: usize, key_at: &Range<usize>) -> Option<(Range<usize>, String)> {
        let one = self.elements.get(index)?;
        let start = self.line_start(one.start);
        let lead = &self.text[start..one.start];
        let is_own_line = if self.is_list { lead.trim() == "-" } else { lead.trim().is_empty() };
        if !is_own_line {
            return None;
        }
        let indent = self.column(self.first_in_line(one.start));
        let mut end = self.line_end(one.end);
        // Comments that are deeper than the element are part of it.
        while self.is_comment_line(end, indent + 1) {
            end = self.line_end(end);
        }
        let without = self.replaced(start..end, "");
        if self.elements.len() > 1 {
            return Some((start..end, without));
        }
        let colon = self.colon(key_at.end).filter(|colon| *colon <= start)?;
        let empty = if self.is_list { " []" } else { " {}" };
        Some((start..end, format!("{}{empty}{}", &without[..colon], &without[colon..])))
    }

    fn remove_from_flow(&self, index: usize) -> Option<String> {
        let one = self.elements.get(index)?;
        let comma = self.comma_after(one.end);
        let inside = self.at.start + 1..self.at.end - 1;
        let around = [&self.text[inside.start..one.start], &self.text[one.end..inside.end]].concat();
        if self.elements.len() == 1 && !self.text[inside.clone()].contains('\n') && is_blank(&around) {
            return Some(self.replaced(inside, ""));
        }
        let own = self.own_part(index)?;
        let mut cuts = Vec::new();
        // The last element leaves no comma behind.
        let before = index.checked_sub(1).filter(|_| comma.is_none());
        if let Some(before) = before.and_then(|before| self.elements.get(before)) {
            let comma = self.comma_after(before.end)?;
            cuts.push(comma..comma + 1);
        }
        match comma {
            // The element is removed with its lines.
            _ if own != *one => cuts.push(own),
            // A comment may be in front of the comma.
            Some(comma) if !is_blank(&self.text[one.end..comma]) => cuts.extend([own, comma..comma + 1]),
            Some(comma) => cuts.push(one.start..self.without_blanks(comma + 1)),
            None if self.begins_a_line(one.start) => cuts.push(one.start..self.without_blanks(one.end)),
            None => cuts.push(self.text[..one.start].trim_end_matches(BLANKS).len()..one.end),
        }
        let mut kept = String::with_capacity(self.text.len());
        let mut at = 0;
        for cut in cuts {
            kept.push_str(self.text.get(at..cut.start)?);
            at = cut.end;
        }
        kept.push_str(&self.text[at..]);
        Some(kept)
    }

    /// Returns the part of the text that belongs to one element in flow style. If no other element is on the same
    /// lines, this part consists of the whole lines, including a comment at their end.
    fn own_part(&self, index: usize) -> Option<Range<usize>> {
        let one = self.elements.get(index)?.clone();
        let end = self.comma_after(one.end).map_or(one.end, |comma| comma + 1);
        let line = self.line_end(end);
        let ends_here =
            self.at.end <= line || self.elements.get(index + 1).is_some_and(|next| next.start < line);
        if ends_here || !self.begins_a_line(one.start) {
            return Some(one);
        }
        // A comment that continues on the next line may be about the next element.
        let behind = self.text[end..line].trim();
        let is_whole = |rest: &str| rest.find("*/").is_some_and(|end| end + 2 == rest.len());
        let is_one_comment = behind.strip_prefix("/*").is_some_and(is_whole);
        let is_own =
            behind.is_empty() || behind.starts_with("//") || behind.starts_with('#') || is_one_comment;
        Some(if is_own { self.line_start(one.start)..line } else { one })
    }

    /// Returns an element in the notation of the container; `lead` is the indentation of its line.
    fn element(&self, new: &Element<'_>, lead: &str) -> String {
        match (new, self.is_json()) {
            (Element::Item(text), true) => Value::from(*text).to_string(),
            (Element::Item(text), false) => render::flow(&Value::from(*text)),
            (Element::Member(key, value), true) => {
                render::indented(&render::json_member(key, value, 0, 1, self.newline()), lead, &self.step())
            }
            (Element::Member(key, value), false) => render::flow_member(key, value),
        }
    }

    /// Returns true if the file is JSON, or this container is written as in JSON.
    fn is_json(&self) -> bool {
        let quoted = |one: &Range<usize>| self.text[one.start..].starts_with('"');
        starts_as_json(self.text) || (!self.is_list && self.elements.first().is_some_and(quoted))
    }

    /// Returns the indentation of one level, taken from the first indented line of the file.
    fn step(&self) -> String {
        let lines = self.plain.lines().filter(|line| !line.trim().is_empty());
        let mut leads = lines.map(|line| &line[..line.len() - line.trim_start_matches(BLANKS).len()]);
        match leads.find(|lead| !lead.is_empty()) {
            Some(lead) if lead.contains('\t') => "\t".to_owned(),
            Some(lead) if lead.len() <= 8 => lead.to_owned(),
            _ => " ".repeat(render::STEP),
        }
    }

    fn newline(&self) -> &'static str {
        if self.text.contains("\r\n") { "\r\n" } else { "\n" }
    }

    fn line_start(&self, at: usize) -> usize {
        self.text[..at].rfind('\n').map_or(0, |newline| newline + 1)
    }

    /// Returns the position after the line break that ends a line.
    fn line_end(&self, at: usize) -> usize {
        self.text[at..].find('\n').map_or(self.text.len(), |newline| at + newline + 1)
    }

    fn first_in_line(&self, at: usize) -> usize {
        let start = self.line_start(at);
        self.without_blanks(start)
    }

    /// Returns the position after the blanks that begin at a position.
    fn without_blanks(&self, at: usize) -> usize {
        self.text.len() - self.text[at..].trim_start_matches(BLANKS).len()
    }

    /// Returns the indentation of a line.
    fn lead(&self, at: usize) -> &str {
        &self.text[self.line_start(at)..self.first_in_line(at)]
    }

    /// Returns true if an element of this container begins its line, after the indentation.
    fn begins_a_line(&self, at: usize) -> bool {
        self.first_in_line(at) == at && self.line_start(at) > self.at.start
    }

    fn column(&self, at: usize) -> usize {
        at - self.line_start(at)
    }

    fn is_comment_line(&self, start: usize, least: usize) -> bool {
        let line = self.text[start..].lines().next().unwrap_or_default();
        let bare = line.trim_start_matches(' ');
        bare.starts_with('#') && line.len() - bare.len() >= least
    }

    /// Returns the position of the comma after an element; comments between them are skipped.
    fn comma_after(&self, at: usize) -> Option<usize> {
        let mut at = at;
        loop {
            let rest = self.plain.get(at..self.at.end)?;
            let next = rest.trim_start();
            at += rest.len() - next.len();
            match next.as_bytes().first()? {
                b',' => return Some(at),
                b'#' => at = self.line_end(at),
                _ => return None,
            }
        }
    }

    /// Returns the position after the colon of a key that ends at `at`.
    fn colon(&self, at: usize) -> Option<usize> {
        let rest = self.plain.get(at..)?;
        let colon = rest.find(':')?;
        rest[..colon].trim_matches(['"', '\'', ' ']).is_empty().then_some(at + colon + 1)
    }

    fn replaced(&self, at: Range<usize>, new: &str) -> String {
        format!("{}{new}{}", &self.text[..at.start], &self.text[at.end..])
    }

    /// Returns the text with `lines` inserted at `at`, which must be the end of a line.
    fn with_lines(&self, at: usize, lines: &str) -> String {
        let gap = if at == 0 || self.text[..at].ends_with('\n') { "" } else { self.newline() };
        self.replaced(at..at, &format!("{gap}{lines}"))
    }
}

fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || c == ',')
}

/// Returns the end of an entry: of its value, or of its key if it has no value of its own.
fn end_of_entry(text: &str, entry: &Entry) -> usize {
    end_of(text, &entry.value, entry.key_at.end)
}

/// Returns the position at which the text of a node ends, or `least` if that is later. The parser's end of a block
/// cannot be used, because it is at the next token.
fn end_of(text: &str, node: &Node, least: usize) -> usize {
    let own = text.get(node.at.clone()).unwrap_or_default();
    let whole = node.at.start + own.trim_end().len();
    let below = match &node.kind {
        NodeKind::List(items) if !own.starts_with('[') => {
            items.iter().map(|item| end_of(text, item, least)).max()
        }
        NodeKind::Map(entries) if !own.starts_with('{') => {
            entries.iter().map(|entry| end_of_entry(text, entry)).max()
        }
        _ => Some(whole),
    };
    below.unwrap_or(least).max(least)
}
