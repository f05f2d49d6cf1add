//! The differences between two definitions of a tool, in lines for people: texts word by word, schemas by JSON pointer. This
//! module must not know which of the two definitions is approved.

use std::collections::BTreeSet;
use std::fmt;

use proto::json::{Elements, Members, Span};
use serde_json::Value;

use super::layout::{on_one_line, wrapped};
use super::text_difference::{text_difference, whole_text};

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

/// The meaning of a line.
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
    /// The maximum number of lines for one changed place in a text.
    pub(super) fn lines_of_text(self) -> usize {
        if self == Self::Full { usize::MAX } else { 14 }
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
    let mut found = Differences { changes: Vec::new(), lines: Vec::new(), extent };
    let before = old.unwrap_or(b"{}");
    match (parsed(before), parsed(new)) {
        (Some(before), Some(now)) => found.members(&before, &now, old.is_some()),
        // A member occurs twice, or a definition cannot be read: a reader must see the text itself.
        _ => found.raw(before, new),
    }
    found.finish()
}

/// A definition as a tree; `None` if a tree would not show the whole definition.
fn parsed(text: &[u8]) -> Option<Value> {
    if has_duplicates(text, Span::new(0, text.len())) { None } else { serde_json::from_slice(text).ok() }
}

/// Returns true if a member occurs twice in an object of a normal form. The members are sorted, so equal keys are neighbors.
fn has_duplicates(text: &[u8], span: Span) -> bool {
    match span.of(text).first() {
        Some(b'{') => Members::of_value(text, span).is_none_or(|members| {
            let all: Vec<_> = members.iter().collect();
            all.windows(2).any(|two| two[0].key.of(text) == two[1].key.of(text))
                || all.iter().any(|member| has_duplicates(text, member.value))
        }),
        Some(b'[') => Elements::of_value(text, span)
            .is_none_or(|elements| elements.iter().any(|one| has_duplicates(text, one))),
        _ => false,
    }
}

struct Differences {
    changes: Vec<String>,
    lines: Vec<DiffLine>,
    extent: Extent,
}

impl Differences {
    fn members(&mut self, old: &Value, new: &Value, is_change: bool) {
        for member in MEMBERS {
            let (before, now) = (old.get(member), new.get(member));
            if before == now {
                continue;
            }
            let start = self.lines.len();
            if let (Some(Value::String(_)) | None, Some(Value::String(_)) | None) = (before, now) {
                let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
                self.texts(text(before).as_deref(), text(now).as_deref());
            } else {
                self.walk("", before, now);
            }
            self.lines.insert(start, DiffLine { sign: DiffSign::Heading, text: member.to_owned() });
            if is_change {
                self.name_changes(member, before, now);
            }
        }
    }

    /// Names the changes of one member for the summary.
    fn name_changes(&mut self, member: &str, old: Option<&Value>, new: Option<&Value>) {
        let start = self.changes.len();
        let inner = match member {
            "inputSchema" => Some(("properties", "argument ")),
            "annotations" => Some(("", "annotation ")),
            _ => None,
        };
        let Some((key, what)) = inner else { return self.changes.push(member.to_owned()) };
        let part = |value: Option<&'_ Value>| {
            let value = if key.is_empty() { value } else { value.and_then(|value| value.get(key)) };
            value.and_then(Value::as_object).cloned().unwrap_or_default()
        };
        let (before, now) = (part(old), part(new));
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

    /// The differences of two values below a JSON pointer.
    fn walk(&mut self, pointer: &str, old: Option<&Value>, new: Option<&Value>) {
        match (old, new) {
            _ if old == new => {}
            (Some(Value::Object(before)), Some(Value::Object(now))) => {
                for key in before.keys().chain(now.keys()).collect::<BTreeSet<_>>() {
                    self.walk(&below(pointer, key), before.get(key), now.get(key));
                }
            }
            (Some(Value::Array(before)), Some(Value::Array(now))) => self.arrays(pointer, before, now),
            (Some(Value::String(before)), Some(Value::String(now)))
                if before.chars().count().max(now.chars().count()) > SHORT =>
            {
                self.push(DiffSign::Heading, pointer);
                self.texts(Some(before), Some(now));
            }
            _ => {
                self.leaves(DiffSign::Removed, pointer, old);
                self.leaves(DiffSign::Added, pointer, new);
            }
        }
    }

    /// Arrays of plain values are compared like sets, because their order seldom has a meaning.
    fn arrays(&mut self, pointer: &str, old: &[Value], new: &[Value]) {
        let is_plain = |all: &[Value]| !all.iter().any(|one| one.is_object() || one.is_array());
        if is_plain(old) && is_plain(new) {
            let texts = |all: &[Value]| all.iter().map(Value::to_string).collect::<BTreeSet<_>>();
            let (before, now) = (texts(old), texts(new));
            if before != now {
                for (sign, one, other) in
                    [(DiffSign::Removed, &before, &now), (DiffSign::Added, &now, &before)]
                {
                    one.difference(other).for_each(|value| self.leaf(sign, pointer, value));
                }
                return;
            }
        }
        for at in 0..old.len().max(new.len()) {
            self.walk(&format!("{pointer}/{at}"), old.get(at), new.get(at));
        }
    }

    /// A value that exists on one side only, with a line for each plain value in it.
    fn leaves(&mut self, sign: DiffSign, pointer: &str, value: Option<&Value>) {
        match value {
            None => {}
            Some(Value::Object(members)) if !members.is_empty() => {
                for (key, value) in members {
                    self.leaves(sign, &below(pointer, key), Some(value));
                }
            }
            Some(Value::Array(elements)) if elements.iter().any(|one| one.is_object() || one.is_array()) => {
                for (at, value) in elements.iter().enumerate() {
                    self.leaves(sign, &format!("{pointer}/{at}"), Some(value));
                }
            }
            Some(value) => self.leaf(sign, pointer, &value.to_string()),
        }
    }

    fn leaf(&mut self, sign: DiffSign, pointer: &str, value: &str) {
        let text = if pointer.is_empty() { value.to_owned() } else { format!("{pointer}: {value}") };
        let lines = whole_text(sign, &text, COLUMNS - SIGN, self.extent);
        self.lines.extend(lines);
    }

    fn texts(&mut self, old: Option<&str>, new: Option<&str>) {
        let columns = COLUMNS - SIGN;
        let lines = match (old, new) {
            (Some(old), Some(new)) => text_difference(old, new, columns, self.extent),
            (Some(old), None) => whole_text(DiffSign::Removed, old, columns, self.extent),
            (None, Some(new)) => whole_text(DiffSign::Added, new, columns, self.extent),
            (None, None) => Vec::new(),
        };
        self.lines.extend(lines);
    }

    /// The differences of the texts themselves.
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
        let left = self.lines.len().saturating_sub(most);
        if left > 1 {
            self.lines.truncate(most);
            self.push(DiffSign::Heading, &format!("[{left} more lines]"));
        }
        let more = self.changes.len().saturating_sub(MOST_NAMED);
        if more > 1 {
            self.changes.truncate(MOST_NAMED);
            self.changes.push(format!("{more} more changes"));
        }
        DefinitionDiff { changes: self.changes, lines: self.lines }
    }
}

/// The pointer to a member, as RFC 6901 writes it.
fn below(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", on_one_line(&key.replace('~', "~0").replace('/', "~1")))
}
