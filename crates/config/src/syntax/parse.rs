//! Parses YAML text (JSON is YAML) into a tree of nodes with positions.
//!
//! Only this module uses the YAML library. It reads only the structure of a text. The code that reads a scalar
//! decides whether the scalar is a number or a text, so `version: 1.10` keeps its zero. Every node can be reported
//! with its own position.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use granit_parser::{Event, Options, Parser, ScalarStyle, ScanError, Tag};

use super::source::Span;

/// The maximum size of a file, in bytes.
pub const MAX_FILE_BYTES: usize = 4 << 20;
/// The maximum cost of the document when its aliases are followed: 64 for each value and one for each byte of text.
const MAX_COST: usize = 32 << 20;
const NODE_COST: usize = 64;
/// The maximum nesting depth of lists and mappings.
const MAX_DEPTH: usize = 64;

/// One value of the document.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) at: Span,
    pub(crate) kind: NodeKind,
    /// The cost of following all aliases below this node.
    cost: usize,
}

impl Node {
    /// The entries of a mapping.
    pub(crate) fn entries(&self) -> &[Entry] {
        match &self.kind {
            NodeKind::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The entry of a mapping with this key, if it has a value.
    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key == key && !matches!(entry.value.kind, NodeKind::Null))
    }

    /// The items of a list; a single value is treated as a list of one item.
    pub(crate) fn items(self: &Rc<Self>) -> Vec<&Rc<Self>> {
        match &self.kind {
            NodeKind::List(items) => items.iter().collect(),
            _ => vec![self],
        }
    }
}

#[derive(Debug)]
pub(crate) enum NodeKind {
    /// No value: an empty value, `~` or `null`.
    Null,
    /// A scalar: its text, and a flag that is true for quoted and block scalars, which are always text.
    Scalar {
        text: String,
        quoted: bool,
    },
    List(Vec<Rc<Node>>),
    Map(Vec<Entry>),
}

/// One key with its value.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_at: Span,
    pub(crate) value: Rc<Node>,
    /// True if the same key occurs earlier in the same mapping.
    pub(crate) repeated: bool,
}

impl Entry {
    /// The document as an entry without a key.
    pub(crate) fn whole(root: &Rc<Node>) -> Self {
        let key_at = root.at.start..root.at.start;
        Self { key: String::new(), key_at, value: Rc::clone(root), repeated: false }
    }
}

/// The reason why the text is not a readable document.
#[derive(Debug)]
pub(crate) struct SyntaxFault {
    pub(crate) at: Span,
    pub(crate) message: String,
    pub(crate) help: String,
}

impl SyntaxFault {
    fn new(at: &Span, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { at: at.clone(), message: message.into(), help: help.into() }
    }
}

/// Reads one document; `None` if it is empty.
///
/// # Errors
/// Returns the first error that makes the text unreadable; the text after that error cannot be checked.
pub(crate) fn parse(text: &str) -> Result<Option<Rc<Node>>, SyntaxFault> {
    let options: Options = granit_parser::options! {
        emit_unresolved_aliases: true,
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    };
    let mut builder = Builder::default();
    let mut end_of_last = 0;
    for event in Parser::new_from_str_with_options(text, options) {
        let (event, span) = event.map_err(|error| scan_fault(text, &error, end_of_last))?;
        let at = span.byte_range().unwrap_or(0..0);
        end_of_last = at.end;
        builder.event(event, at)?;
    }
    Ok(builder.root.filter(|root| !matches!(root.kind, NodeKind::Null)))
}

/// A collection whose end has not been read yet.
struct OpenCollection {
    at: Span,
    anchor: usize,
    entries: Vec<Entry>,
    /// The values of the merge keys (`<<`) in this mapping.
    merges: Vec<Entry>,
    items: Vec<Rc<Node>>,
    is_map: bool,
    /// The key whose value has not been read yet.
    key: Option<(String, Span, bool)>,
}

#[derive(Default)]
struct Builder {
    open: Vec<OpenCollection>,
    anchors: HashMap<usize, Rc<Node>>,
    root: Option<Rc<Node>>,
    documents: usize,
    spent: usize,
}

impl Builder {
    fn event(&mut self, event: Event<'_>, at: Span) -> Result<(), SyntaxFault> {
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    let help =
                        "keep one document: remove the `---` before the second one, and everything after it";
                    return Err(SyntaxFault::new(&at, "the file contains more than one document", help));
                }
                Ok(())
            }
            Event::Scalar(text, style, anchor, tag) => {
                let text_tag = check_tag(tag.as_deref(), &at)?;
                let quoted = style != ScalarStyle::Plain || text_tag;
                let kind = if !quoted && is_null(&text) {
                    NodeKind::Null
                } else {
                    NodeKind::Scalar { text: text.into_owned(), quoted }
                };
                self.close(Node { at, cost: 0, kind }, anchor)
            }
            Event::SequenceStart(_, anchor, tag) => self.begin(at, anchor, false, tag.as_deref()),
            Event::MappingStart(_, anchor, tag) => self.begin(at, anchor, true, tag.as_deref()),
            Event::SequenceEnd | Event::MappingEnd => self.end(&at),
            Event::Alias(id) => match self.anchors.get(&id) {
                Some(node) => {
                    let node = Rc::clone(node);
                    self.spend(node.cost, &at)?;
                    self.place(node, &at)
                }
                None => Err(SyntaxFault::new(
                    &at,
                    "this alias is inside the value that it refers to",
                    "write the value out",
                )),
            },
            Event::UnresolvedAlias(name) => {
                let message = format!("there is no anchor `&{name}` above this alias");
                let help =
                    format!("write `&{name}` before the value that you mean, or quote the text: \"*{name}\"");
                Err(SyntaxFault::new(&at, message, help))
            }
            _ => Ok(()),
        }
    }

    fn begin(&mut self, at: Span, anchor: usize, is_map: bool, tag: Option<&Tag>) -> Result<(), SyntaxFault> {
        check_tag(tag, &at)?;
        if self.open.len() >= MAX_DEPTH {
            return Err(too_deep(&at));
        }
        let (entries, merges, items) = (Vec::new(), Vec::new(), Vec::new());
        self.open.push(OpenCollection { at, anchor, entries, merges, items, is_map, key: None });
        Ok(())
    }

    fn end(&mut self, at: &Span) -> Result<(), SyntaxFault> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        for merge in &open.merges {
            self.spend(merge.value.cost, &merge.key_at)?;
        }
        let kind = if open.is_map {
            NodeKind::Map(merged(open.entries, &open.merges)?)
        } else {
            NodeKind::List(open.items)
        };
        let span = open.at.start..at.end.max(open.at.end);
        self.close(Node { at: span, cost: 0, kind }, open.anchor)
    }

    /// Handles a complete node.
    fn close(&mut self, mut node: Node, anchor: usize) -> Result<(), SyntaxFault> {
        node.cost = cost(&node.kind);
        let own_text = if let NodeKind::Scalar { text, .. } = &node.kind { text.len() } else { 0 };
        self.spend(own_text + NODE_COST, &node.at)?;
        let node = Rc::new(node);
        if anchor != 0 {
            self.anchors.insert(anchor, Rc::clone(&node));
        }
        let at = node.at.clone();
        self.place(node, &at)
    }

    /// Adds to the total cost of the document. Fails above the maximum, because aliases and merges can multiply the
    /// contents of the file.
    fn spend(&mut self, cost: usize, at: &Span) -> Result<(), SyntaxFault> {
        self.spent = self.spent.saturating_add(cost);
        if self.spent <= MAX_COST {
            return Ok(());
        }
        let message = "the file has too many values, counting those that aliases repeat";
        Err(SyntaxFault::new(at, message, "use fewer aliases, or split the file"))
    }

    /// Adds a complete node (or an alias of one) to its parent.
    fn place(&mut self, node: Rc<Node>, at: &Span) -> Result<(), SyntaxFault> {
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        if !open.is_map {
            open.items.push(node);
            return Ok(());
        }
        match open.key.take() {
            None => open.key = Some(key_of(&node, at)?),
            Some((key, key_at, merge)) => {
                let list = if merge { &mut open.merges } else { &mut open.entries };
                list.push(Entry { key, key_at, value: node, repeated: false });
            }
        }
        Ok(())
    }
}

fn key_of(node: &Node, at: &Span) -> Result<(String, Span, bool), SyntaxFault> {
    match &node.kind {
        NodeKind::Scalar { text, quoted } => Ok((text.clone(), at.clone(), !quoted && text == "<<")),
        NodeKind::Null => {
            Err(SyntaxFault::new(at, "a key is missing before the `:`", "write the key, or remove the line"))
        }
        NodeKind::List(_) | NodeKind::Map(_) => {
            let help = "write a plain name before the `:`; quote a value that starts with `{` or `[`, such as \"${NAME}\"";
            Err(SyntaxFault::new(at, "a key must be a plain name", help))
        }
    }
}

/// Applies `<<` (a mapping's own keys win) and marks duplicate keys.
fn merged(mut own: Vec<Entry>, merges: &[Entry]) -> Result<Vec<Entry>, SyntaxFault> {
    let mut seen: HashSet<String> = HashSet::with_capacity(own.len());
    for entry in &mut own {
        entry.repeated = !seen.insert(entry.key.clone());
    }
    for source in merges {
        for part in merge_parts(source)? {
            let NodeKind::Map(more) = &part.kind else { continue };
            let fresh = more.iter().filter(|entry| !entry.repeated && seen.insert(entry.key.clone()));
            own.extend(fresh.cloned());
        }
    }
    Ok(own)
}

fn merge_parts(source: &Entry) -> Result<Vec<&Rc<Node>>, SyntaxFault> {
    let parts = match &source.value.kind {
        NodeKind::Map(_) => vec![&source.value],
        NodeKind::List(items) => items.iter().collect(),
        NodeKind::Null | NodeKind::Scalar { .. } => Vec::new(),
    };
    if parts.is_empty() || parts.iter().any(|part| !matches!(part.kind, NodeKind::Map(_))) {
        let help = "write `<<: *name`, with `&name` before a mapping";
        return Err(SyntaxFault::new(&source.key_at, "`<<` takes a mapping, or a list of mappings", help));
    }
    Ok(parts)
}

fn cost(kind: &NodeKind) -> usize {
    let below = match kind {
        NodeKind::Null => 0,
        NodeKind::Scalar { text, .. } => text.len(),
        NodeKind::List(items) => items.iter().fold(0, |sum, item| item.cost.saturating_add(sum)),
        NodeKind::Map(entries) => entries.iter().fold(0, |sum, entry| {
            entry.value.cost.saturating_add(entry.key.len() + NODE_COST).saturating_add(sum)
        }),
    };
    below.saturating_add(NODE_COST)
}

fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

/// Returns true for the tag `!!str`. The tags of YAML's core schema are harmless; all other tags are rejected.
fn check_tag(tag: Option<&Tag>, at: &Span) -> Result<bool, SyntaxFault> {
    match tag {
        None => Ok(false),
        Some(tag) if tag.is_yaml_core_schema() => Ok(tag.core_suffix() == Some("str")),
        // `!` alone means "not a plain scalar".
        Some(tag) if tag.original() == "!" => Ok(true),
        Some(tag) => {
            let message = format!("the tag `{}` is not supported", tag.original());
            Err(SyntaxFault::new(at, message, "remove the tag; quote a string that starts with `!`"))
        }
    }
}

fn too_deep(at: &Span) -> SyntaxFault {
    SyntaxFault::new(
        at,
        format!("more than {MAX_DEPTH} levels of nesting"),
        "a configuration needs far fewer; look for unclosed brackets",
    )
}

/// Describes the YAML library's error in our own words.
fn scan_fault(text: &str, error: &ScanError, end_of_last: usize) -> SyntaxFault {
    let mut offset = error.marker().byte_offset().unwrap_or(end_of_last).min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    // There is nothing to highlight at the very end, so the last character is highlighted.
    let offset = if text[offset..].trim().is_empty() {
        text.trim_end().char_indices().next_back().map_or(0, |(at, _)| at)
    } else {
        offset
    };
    let width = text[offset..].chars().next().map_or(0, char::len_utf8);
    let at = offset..offset + width;
    let info = error.info();
    if info.contains("recursion limit") {
        return too_deep(&at);
    }
    let line_start = text[..offset].rfind('\n').map_or(0, |newline| newline + 1);
    let line = text[line_start..].lines().next().unwrap_or_default();
    SyntaxFault {
        at,
        help: syntax_help(line, &info),
        message: format!("this is not valid YAML or JSON: {info}"),
    }
}

/// Advice on the most likely error in an unreadable line.
fn syntax_help(line: &str, info: &str) -> String {
    let indent: &str = &line[..line.len() - line.trim_start().len()];
    let help = if indent.contains('\t') {
        "indent with spaces; YAML does not allow tabs there"
    } else if info.contains("unclosed bracket") {
        "add the bracket that closes this one"
    } else if line.contains("${") && !line.contains("\"${") {
        "put quotes around a value with `${…}`: \"${NAME}\""
    } else if line.contains(": @") || line.contains(": `") || line.contains(": %") {
        "put quotes around a value that starts with `@`, `%` or a backtick"
    } else if line.contains(": *") || line.contains("- *") || line.contains("[*") {
        "put quotes around a value that starts with `*`"
    } else if line.matches('"').count() % 2 == 1 {
        "a `\"` is missing on this line, or the text contains one: write it as `\\\"` there"
    } else if info.contains("quote") && line.matches('\'').count() % 2 == 1 {
        "a `'` is missing on this line, or the text contains one: write it twice there"
    } else {
        "look for a missing quote, comma, bracket or colon, or for a line that is indented wrongly, here or just above"
    };
    help.to_owned()
}
