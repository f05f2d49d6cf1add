//! The differences between two definitions of a tool, in lines for people: texts word by word, schemas by JSON pointer. This
//! module must not know which of the two definitions is approved.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Map, Value};

use super::layout::{on_one_line, wrapped};
use super::text_difference::{MOST_WORDS, text_difference, whole_text};
use super::tree::tree;

/// The width of a line, including indent and sign.
const COLUMNS: usize = 80;
/// The width of the indent and the sign.
const SIGN: usize = 4;
/// The members of a definition, in the order in which they are shown.
const MEMBERS: [&str; 5] = ["title", "description", "inputSchema", "outputSchema", "annotations"];
/// The length of a text, in characters, above which it is compared word by word.
const SHORT: usize = 48;
/// The maximum number of changes that are named.
const MOST_NAMED: usize = 6;

/// The role of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffSign {
    /// The part of the definition that the next lines are about.
    Heading,
    /// A part of the old definition.
    Removed,
    /// A part of the new definition.
    Added,
}

/// One line of a difference. Its text contains nothing that could control a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffLine {
    /// The line's meaning.
    pub sign: DiffSign,
    /// The line's text.
    pub text: String,
}

impl fmt::Display for DiffLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.sign {
            DiffSign::Heading => write!(f, "  {}", self.text),
            DiffSign::Removed => write!(f, "  - {}", self.text),
            DiffSign::Added => write!(f, "  + {}", self.text),
        }
    }
}

/// The differences between two definitions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinitionDiff {
    /// The changed parts, for a summary: `description`, `argument "path" added`.
    pub changes: Vec<String>,
    /// The lines, each at most 80 columns wide.
    pub lines: Vec<DiffLine>,
}

/// The amount of text that is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// Enough for a review of usual definitions.
    Brief,
    /// Everything.
    Full,
}

impl Extent {
    /// The maximum number of lines for one changed passage of a text.
    pub(super) fn lines_of_text(self) -> usize {
        if self == Self::Full { usize::MAX } else { 14 }
    }

    /// The maximum number of characters of a key in a JSON pointer.
    fn longest_key(self) -> usize {
        if self == Self::Full { usize::MAX } else { 200 }
    }

    /// The maximum number of lines for one tool.
    fn lines(self) -> usize {
        if self == Self::Full { usize::MAX } else { 80 }
    }
}

/// The differences between two normal forms; without an old one, the whole definition is new. Unless `is_full`, long texts
/// are shortened.
pub fn difference(old: Option<&[u8]>, new: &[u8], is_full: bool) -> DefinitionDiff {
    let extent = if is_full { Extent::Full } else { Extent::Brief };
    let before = old.unwrap_or(b"{}");
    if let (Some(before), Some(now)) = (tree(before), tree(new)) {
        let mut found = Differences::new(extent);
        found.members(&before, &now, old.is_some());
        // Numbers may differ in their spelling alone.
        if found.left > 0 || !found.lines.is_empty() || old.is_none_or(|old| old == new) {
            return found.finish();
        }
    }
    // A member occurs twice, or a definition cannot be read: a reader must see the text itself.
    let mut found = Differences::new(extent);
    found.raw(before, new);
    found.finish()
}

/// A step from a value to a value inside it.
#[derive(Clone, Copy)]
enum PathStep<'a> {
    Key(&'a str),
    Index(usize),
}

struct Differences<'a> {
    changes: Vec<String>,
    lines: Vec<DiffLine>,
    extent: Extent,
    /// The steps from the member of the definition to the current value.
    path: Vec<PathStep<'a>>,
    /// The number of differing words that may still be compared one by one.
    words: usize,
    /// The number of differences that are not shown, because the maximum number of lines is reached.
    left: usize,
}

impl<'a> Differences<'a> {
    fn new(extent: Extent) -> Self {
        let (changes, lines, path) = (Vec::new(), Vec::new(), Vec::new());
        Self { changes, lines, extent, path, words: MOST_WORDS, left: 0 }
    }

    fn members(&mut self, old: &'a Value, new: &'a Value, is_change: bool) {
        for member in MEMBERS {
            let (before, now) = (old.get(member), new.get(member));
            if before == now {
                continue;
            }
            let start = self.lines.len();
            if let (Some(Value::String(_)) | None, Some(Value::String(_)) | None) = (before, now) {
                self.texts(before.and_then(Value::as_str), now.and_then(Value::as_str));
            } else {
                self.walk(before, now);
            }
            if self.lines.len() > start {
                self.lines.insert(start, DiffLine { sign: DiffSign::Heading, text: member.to_owned() });
            }
            if is_change {
                self.name_changes(member, before, now);
            }
        }
    }

    /// Names the changes to one member for the summary.
    fn name_changes(&mut self, member: &str, old: Option<&Value>, new: Option<&Value>) {
        let start = self.changes.len();
        let inner = match member {
            "inputSchema" => Some(("properties", "argument ")),
            "annotations" => Some(("", "annotation ")),
            _ => None,
        };
        let Some((key, what)) = inner else { return self.changes.push(member.to_owned()) };
        let (none, before, now) = (Map::new(), part(old, key), part(new, key));
        let (before, now) = (before.unwrap_or(&none), now.unwrap_or(&none));
        for name in before.keys().chain(now.keys()).collect::<BTreeSet<_>>() {
            let how = match (before.get(name), now.get(name)) {
                (None, _) => "added",
                (_, None) => "removed",
                (one, other) if one != other => "changed",
                _ => continue,
            };
            let name: String = name.chars().take(40).collect();
            self.changes.push(format!("{what}\"{}\" {how}", on_one_line(&name)));
        }
        if self.changes.len() == start {
            self.changes.push(member.to_owned());
        }
    }

    /// The differences of two values. Equal objects and arrays are walked as well: if they were compared as a whole first,
    /// nested values would be compared once for each level.
    fn walk(&mut self, old: Option<&'a Value>, new: Option<&'a Value>) {
        match (old, new) {
            (Some(Value::Object(before)), Some(Value::Object(now))) => {
                for key in before.keys().chain(now.keys()).collect::<BTreeSet<_>>() {
                    self.path.push(PathStep::Key(key));
                    self.walk(before.get(key), now.get(key));
                    self.path.pop();
                }
            }
            (Some(Value::Array(before)), Some(Value::Array(now))) => self.arrays(before, now),
            _ if old == new => {}
            (Some(Value::String(before)), Some(Value::String(now)))
                if before.chars().count().max(now.chars().count()) > SHORT =>
            {
                if !self.is_full() {
                    let pointer = self.pointer();
                    self.push(DiffSign::Heading, &pointer);
                }
                self.texts(Some(before), Some(now));
            }
            _ => {
                self.leaves(DiffSign::Removed, old);
                self.leaves(DiffSign::Added, new);
            }
        }
    }

    /// Arrays of plain values are compared like sets, because their order seldom has a meaning.
    fn arrays(&mut self, old: &'a [Value], new: &'a [Value]) {
        let is_plain = |all: &[Value]| !all.iter().any(|one| one.is_object() || one.is_array());
        if is_plain(old) && is_plain(new) {
            let texts = |all: &[Value]| all.iter().map(Value::to_string).collect::<BTreeSet<_>>();
            let (before, now) = (texts(old), texts(new));
            if before != now {
                for (sign, one, other) in
                    [(DiffSign::Removed, &before, &now), (DiffSign::Added, &now, &before)]
                {
                    one.difference(other).for_each(|value| self.leaf(sign, value));
                }
                return;
            }
        }
        for at in 0..old.len().max(new.len()) {
            self.path.push(PathStep::Index(at));
            self.walk(old.get(at), new.get(at));
            self.path.pop();
        }
    }

    /// A value that exists on one side only, with a line for each plain value in it.
    fn leaves(&mut self, sign: DiffSign, value: Option<&'a Value>) {
        match value {
            None => {}
            Some(Value::Object(members)) if !members.is_empty() => {
                for (key, value) in members {
                    self.path.push(PathStep::Key(key));
                    self.leaves(sign, Some(value));
                    self.path.pop();
                }
            }
            Some(Value::Array(elements)) if elements.iter().any(|one| one.is_object() || one.is_array()) => {
                for (at, value) in elements.iter().enumerate() {
                    self.path.push(PathStep::Index(at));
                    self.leaves(sign, Some(value));
                    self.path.pop();
                }
            }
            // Another line would not be shown.
            Some(_) if self.is_full() => self.left += 1,
            Some(value) => self.leaf(sign, &value.to_string()),
        }
    }

    fn leaf(&mut self, sign: DiffSign, value: &str) {
        if self.is_full() {
            self.left += 1;
            return;
        }
        let pointer = self.pointer();
        let text = if pointer.is_empty() { value.to_owned() } else { format!("{pointer}: {value}") };
        let lines = whole_text(sign, &text, COLUMNS - SIGN, self.extent);
        self.lines.extend(lines);
    }

    fn texts(&mut self, old: Option<&str>, new: Option<&str>) {
        if self.is_full() {
            self.left += 1;
            return;
        }
        let columns = COLUMNS - SIGN;
        let lines = match (old, new) {
            (Some(old), Some(new)) => text_difference((old, new), columns, self.extent, &mut self.words),
            (Some(old), None) => whole_text(DiffSign::Removed, old, columns, self.extent),
            (None, Some(new)) => whole_text(DiffSign::Added, new, columns, self.extent),
            (None, None) => Vec::new(),
        };
        self.lines.extend(lines);
    }

    /// Returns true once the maximum number of lines is reached.
    fn is_full(&self) -> bool {
        self.lines.len() >= self.extent.lines()
    }

    /// The pointer to the current value, as RFC 6901 writes it.
    fn pointer(&self) -> String {
        let mut pointer = String::new();
        for step in &self.path {
            pointer.push('/');
            match step {
                PathStep::Index(at) => pointer.push_str(&at.to_string()),
                PathStep::Key(key) => {
                    let most = self.extent.longest_key();
                    let shown: String = key.chars().take(most).collect();
                    let ends = if shown.len() < key.len() { "…" } else { "" };
                    pointer.push_str(&on_one_line(&shown.replace('~', "~0").replace('/', "~1")));
                    pointer.push_str(ends);
                }
            }
        }
        pointer
    }

    /// Compares two definitions as plain texts, because a member occurs twice or cannot be read.
    fn raw(&mut self, old: &[u8], new: &[u8]) {
        self.changes.push("a member that occurs twice, or that cannot be read".to_owned());
        self.push(DiffSign::Heading, "the whole definition");
        let (old, new) = (String::from_utf8_lossy(old), String::from_utf8_lossy(new));
        // Commas end words, so that a long text without spaces can be compared in parts.
        let spaced = |text: &str| text.replace("\",\"", "\", \"");
        self.texts(Some(&spaced(&old)), Some(&spaced(&new)));
    }

    fn push(&mut self, sign: DiffSign, text: &str) {
        let lines = wrapped(&on_one_line(text), COLUMNS - SIGN);
        self.lines.extend(lines.into_iter().map(|text| DiffLine { sign, text }));
    }

    fn finish(mut self) -> DefinitionDiff {
        let most = self.extent.lines();
        let cut = self.lines.len().saturating_sub(most);
        if self.left > 0 || cut > 1 {
            self.lines.truncate(most);
            // Each difference that is not shown would take at least one line.
            let about = if self.left > 0 { "at least " } else { "" };
            let left = self.left.saturating_add(cut);
            self.push(DiffSign::Heading, &format!("[{about}{left} more lines]"));
        }
        let more = self.changes.len().saturating_sub(MOST_NAMED);
        if more > 1 {
            self.changes.truncate(MOST_NAMED);
            self.changes.push(format!("{more} more changes"));
        }
        DefinitionDiff { changes: self.changes, lines: self.lines }
    }
}

/// Returns the object whose entries the summary names one by one: the value itself if `key` is empty, otherwise the
/// value's member `key`.
fn part<'v>(value: Option<&'v Value>, key: &str) -> Option<&'v Map<String, Value>> {
    let value = if key.is_empty() { value } else { value.and_then(|value| value.get(key)) };
    value.and_then(Value::as_object)
}
