//! Reads nodes as a mapping, a text or a number, and records every fault with its position.
//!
//! Reading does not stop at a fault: an unreadable value is `None`, and reading continues after it.

use std::rc::Rc;
use std::sync::Arc;

use super::known::{KnownNames, ReferenceKind};
use crate::syntax::fault::{Fault, MAX_REPORTED, Severity};
use crate::syntax::parse::{Entry, Node, NodeKind};
use crate::syntax::source::{Source, Span, is_bidi};
use crate::syntax::substitute::{self, Lookup};
use crate::values::check::Flaw;
use crate::values::suggest;
use crate::values::text::Text;
use crate::values::wording::{clip, list};
use crate::values::words::Words;

/// The help for a value that the report must not show.
pub(crate) const CHANGE_FILLED: &str = "change the value that is substituted";

/// A fault whose position has not been computed yet.
struct Draft {
    at: Span,
    path: String,
    message: String,
    help: String,
}

/// Walks through the document and collects faults.
pub(crate) struct Reader<'a> {
    source: &'a Source<'a>,
    file: Arc<str>,
    lookup: &'a Lookup<'a>,
    path: Vec<String>,
    faults: Vec<Draft>,
    notes: Vec<Draft>,
    total_faults: usize,
    /// The names that are known so far.
    pub(crate) known: KnownNames,
    /// True while a part is read in which variables may be unset, such as a disabled server.
    pub(crate) switched_off: bool,
}

/// The entries of one mapping. Each entry is taken at most once.
pub(crate) struct Fields<'n> {
    left: Vec<&'n Entry>,
    /// The position of the whole mapping.
    pub(crate) at: Span,
}

impl<'n> Fields<'n> {
    /// The entry with this key, if there is one; a key without a value is treated as absent.
    pub(crate) fn take(&mut self, key: &str) -> Option<&'n Entry> {
        let index = self.left.iter().position(|entry| entry.key == key)?;
        Some(self.left.remove(index)).filter(|entry| !matches!(entry.value.kind, NodeKind::Null))
    }

    /// The entry with this key, without taking it.
    pub(crate) fn peek(&self, key: &str) -> Option<&'n Entry> {
        self.left
            .iter()
            .find(|entry| entry.key == key && !matches!(entry.value.kind, NodeKind::Null))
            .copied()
    }

    /// Drops the entries with these keys without a note.
    pub(crate) fn drop_all(&mut self, keys: &[&str]) {
        self.left.retain(|entry| !keys.contains(&entry.key.as_str()));
    }

    /// The entries that were not taken, in file order.
    pub(crate) fn rest(self) -> Vec<&'n Entry> {
        self.left
    }

    /// Returns true if this key exists and was not taken yet.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.left.iter().any(|entry| entry.key == key)
    }

    /// Returns true if one of the remaining keys is a misspelling of one of `keys`.
    pub(crate) fn has_nearly(&self, keys: &[&str]) -> bool {
        self.left.iter().any(|entry| suggest::nearest(&entry.key, keys.iter().copied()).is_some())
    }
}

impl<'a> Reader<'a> {
    pub(crate) fn new(source: &'a Source<'a>, file: &str, lookup: &'a Lookup<'a>) -> Self {
        Self {
            source,
            file: file.into(),
            lookup,
            path: Vec::new(),
            faults: Vec::new(),
            notes: Vec::new(),
            total_faults: 0,
            known: KnownNames::default(),
            switched_off: false,
        }
    }

    /// Calls `read` one step deeper in the path to a value.
    pub(crate) fn within<T>(&mut self, step: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(step.to_owned());
        let result = read(self);
        self.path.pop();
        result
    }

    /// The number of faults so far.
    pub(crate) fn faults_so_far(&self) -> usize {
        self.total_faults
    }

    /// Records a fault at the current path.
    pub(crate) fn fault(&mut self, at: &Span, message: impl Into<String>, help: impl Into<String>) {
        self.total_faults += 1;
        let draft = self.draft(at, message.into(), help.into());
        keep(&mut self.faults, draft);
    }

    /// Records a note.
    pub(crate) fn note(&mut self, at: &Span, message: impl Into<String>, help: impl Into<String>) {
        let draft = self.draft(at, message.into(), help.into());
        keep(&mut self.notes, draft);
    }

    /// Returns a checked value, or records its flaw.
    pub(crate) fn sound<T>(&mut self, at: &Span, checked: Result<T, Flaw>) -> Option<T> {
        checked.map_err(|flaw| self.fault(at, flaw.message, flaw.help)).ok()
    }

    /// Returns a checked value that was derived from a text, or records its flaw. The help never reveals a hidden part
    /// of the text.
    pub(crate) fn sound_text<T>(&mut self, at: &Span, text: &Text, checked: Result<T, Flaw>) -> Option<T> {
        let hiding = |flaw: Flaw| {
            let help = if flaw.tells_value && text.hides() { CHANGE_FILLED.to_owned() } else { flaw.help };
            Flaw { help, ..flaw }
        };
        self.sound(at, checked.map_err(hiding))
    }

    fn draft(&self, at: &Span, message: String, help: String) -> Draft {
        let mut path = String::new();
        for step in &self.path {
            if !path.is_empty() && !step.starts_with('[') {
                path.push('.');
            }
            if step.is_empty() {
                path.push_str("\"\"");
            }
            path.extend(step.chars().filter(|char| !char.is_control() && !is_bidi(*char)).take(64));
        }
        // Text from the file must not reorder a line on the terminal.
        let tame = |text: String| if text.contains(is_bidi) { text.replace(is_bidi, " ") } else { text };
        Draft { at: at.clone(), path, message: tame(message), help: tame(help) }
    }

    /// The entries of a mapping; `what` describes the expected value, such as "a mapping of servers by name".
    pub(crate) fn fields<'n>(&mut self, node: &'n Node, what: &str) -> Option<Fields<'n>> {
        let NodeKind::Map(entries) = &node.kind else {
            self.wrong_kind(node, what);
            return None;
        };
        for entry in entries.iter().filter(|entry| entry.repeated) {
            let step = entry.key.clone();
            self.within(&step, |reader| {
                let message = format!("the key `{step}` occurs twice");
                reader.fault(&entry.key_at, message, "keep one of the two");
            });
        }
        Some(Fields { left: entries.iter().filter(|entry| !entry.repeated).collect(), at: node.at.clone() })
    }

    /// The items of a list; a single value is accepted as a list of one if `or_one` is true.
    pub(crate) fn items<'n>(
        &mut self,
        node: &'n Rc<Node>,
        what: &str,
        or_one: bool,
    ) -> Option<Vec<&'n Rc<Node>>> {
        match &node.kind {
            NodeKind::List(items) => Some(items.iter().collect()),
            NodeKind::Scalar { .. } if or_one => Some(vec![node]),
            _ => {
                self.wrong_kind(node, what);
                None
            }
        }
    }

    /// A text with all variables filled in.
    pub(crate) fn text(&mut self, node: &Node, what: &str) -> Option<Text> {
        self.filled(node, what, |text, lookup| substitute::fill(text, lookup, false))
    }

    /// A text whose literal parts must not be shown.
    pub(crate) fn secret_text(&mut self, node: &Node, what: &str) -> Option<Text> {
        self.filled(node, what, |text, lookup| substitute::fill(text, lookup, true))
    }

    /// A text for starting or reaching a server, see [`substitute::fill_server`]; the literal parts of a secret must not be
    /// shown.
    pub(crate) fn server_text(&mut self, node: &Node, what: &str, secret: bool) -> Option<Text> {
        self.filled(node, what, |text, lookup| substitute::fill_server(text, lookup, secret))
    }

    fn filled(
        &mut self,
        node: &Node,
        what: &str,
        fill: impl Fn(&str, &Lookup<'_>) -> Result<Text, Vec<substitute::Gap>>,
    ) -> Option<Text> {
        let NodeKind::Scalar { text, .. } = &node.kind else {
            self.wrong_kind(node, what);
            return None;
        };
        let gaps = match fill(text, self.lookup) {
            Ok(text) => return Some(text),
            Err(gaps) => gaps,
        };
        for gap in gaps {
            let at = self.place_of(&node.at, &gap.written);
            if gap.unset && self.switched_off {
                self.note(&at, gap.message, gap.help);
            } else {
                self.fault(&at, gap.message, gap.help);
            }
        }
        None
    }

    /// `true` or `false`; the value of a variable may also use other common words.
    pub(crate) fn flag(&mut self, node: &Node) -> Option<bool> {
        let what = "true or false";
        let text = self.text(node, what)?;
        match text.expose() {
            "true" | "True" | "TRUE" => Some(true),
            "false" | "False" | "FALSE" => Some(false),
            other if text.hides() => {
                let word = other.trim().to_ascii_lowercase();
                let found = match word.as_str() {
                    "true" | "yes" | "on" | "1" => Some(true),
                    "false" | "no" | "off" | "0" | "" => Some(false),
                    _ => None,
                };
                if found.is_none() {
                    self.wrong_kind(node, what);
                }
                found
            }
            _ => {
                self.wrong_kind(node, what);
                None
            }
        }
    }

    /// The flag under `key`, or `default`.
    pub(crate) fn flag_in(&mut self, fields: &mut Fields<'_>, key: &str, default: bool) -> bool {
        let Some(entry) = fields.take(key) else { return default };
        self.within(key, |reader| reader.flag(&entry.value)).unwrap_or(default)
    }

    /// Reads one of a few words; case, `-` and `_` do not matter.
    pub(crate) fn word<T: Copy>(&mut self, node: &Node, words: &[(&str, T)]) -> Option<T> {
        let names: Vec<&str> = words.iter().map(|(name, _)| *name).collect();
        let text = self.text(node, &list(&names))?;
        let plain = |word: &str| word.replace(['-', '_'], "").to_ascii_lowercase();
        let found = words.iter().find(|(name, _)| plain(name) == plain(text.expose()));
        if found.is_none() {
            let help =
                suggest::or(text.expose(), names.iter().copied(), || format!("write {}", list(&names)));
            self.fault(&node.at, format!("`{}` is not one of {}", clip(text.shown()), list(&names)), help);
        }
        found.map(|(_, value)| *value)
    }

    /// The value that the name of a key stands for; `message` is the message for an unknown key.
    pub(crate) fn key_word<T: Words>(&mut self, entry: &Entry, message: String) -> Option<T> {
        let found = T::ALL.iter().find(|(name, _)| *name == entry.key);
        if found.is_none() {
            let names = || T::ALL.iter().map(|(name, _)| *name);
            let help = suggest::or(&entry.key, names(), || {
                format!("remove it; available: {}", names().collect::<Vec<_>>().join(", "))
            });
            self.fault(&entry.key_at, message, help);
        }
        found.map(|(_, value)| *value)
    }

    /// Reports that a value has another type than expected.
    pub(crate) fn wrong_kind(&mut self, node: &Node, what: &str) {
        let found = match &node.kind {
            NodeKind::Null => "nothing".to_owned(),
            NodeKind::Scalar { .. } => format!("`{}`", clip(&self.source.offending(&node.at))),
            NodeKind::List(_) => "a list".to_owned(),
            NodeKind::Map(_) => "a mapping".to_owned(),
        };
        self.fault(&node.at, format!("expected {what}, found {found}"), format!("write {what}"));
    }

    /// Rejects a name that is not defined in the section where it must be defined.
    pub(crate) fn refuse_unknown(&mut self, node: &Node, name: &Text, kind: ReferenceKind) {
        if let Some((message, help)) = self.known.unknown(name, kind) {
            self.fault(&node.at, message, help);
        }
    }

    /// Rejects a key that is written under its former name, and reports its current name.
    pub(crate) fn refuse_former(&mut self, entry: &Entry, now: &str) {
        let message = format!("`{}` is now called `{now}`", clip(&entry.key));
        self.fault(&entry.key_at, message, format!("rename the key to `{now}`"));
    }

    /// Rejects the entries that were not taken, and suggests the known key that was probably meant.
    pub(crate) fn refuse(&mut self, rest: &[&Entry], known: &[&str]) {
        for entry in rest {
            if self.faults.len() >= MAX_REPORTED {
                self.total_faults += 1;
                continue;
            }
            self.within(&entry.key, |reader| {
                let help = suggest::or(&entry.key, known.iter().copied(), || {
                    format!("remove it; known keys: {}", known.join(", "))
                });
                reader.fault(&entry.key_at, format!("unknown key `{}`", clip(&entry.key)), help);
            });
        }
    }

    /// The position of a text within a scalar; the position of the whole scalar if the text is spelled differently
    /// there.
    pub(crate) fn place_of(&self, at: &Span, written: &str) -> Span {
        match self.source.slice(at).find(written) {
            Some(found) if !written.is_empty() => at.start + found..at.start + found + written.len(),
            _ => at.clone(),
        }
    }

    /// All faults and notes, in file order.
    pub(crate) fn finish(self) -> Findings {
        let Self { source, file, faults, notes, total_faults, .. } = self;
        let complete = |mut drafts: Vec<Draft>, severity| -> Vec<Fault> {
            drafts.sort_by_key(|draft| draft.at.start);
            drafts.into_iter().map(|draft| place(source, &file, severity, draft)).collect()
        };
        Findings {
            faults: complete(faults, Severity::Fault),
            notes: complete(notes, Severity::Note),
            total_faults,
        }
    }
}

/// All faults and notes of a reader.
pub(crate) struct Findings {
    pub(crate) faults: Vec<Fault>,
    pub(crate) notes: Vec<Fault>,
    pub(crate) total_faults: usize,
}

fn keep(drafts: &mut Vec<Draft>, draft: Draft) {
    if drafts.len() < MAX_REPORTED {
        drafts.push(draft);
    }
}

fn place(source: &Source<'_>, file: &Arc<str>, severity: Severity, draft: Draft) -> Fault {
    let (line, column) = source.position(draft.at.start);
    Fault {
        severity,
        file: Arc::clone(file),
        line,
        column,
        path: draft.path,
        offending: source.offending(&draft.at),
        message: draft.message,
        help: draft.help,
        excerpt: source.excerpt(&draft.at),
    }
}
