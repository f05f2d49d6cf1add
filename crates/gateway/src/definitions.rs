//! A review of a server's definitions: the changes that await approval, for people and for programs. The command line and the
//! management API show the same review. This module must not know where definitions are stored, or who approves them.

use std::fmt;

use engine::pinning::{DiffLine, difference};
use serde_json::{Value, json};
use store::definitions::{StoredDefinition, hex, open_tools};

/// The kind of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// The definition differs from the approved one.
    Changed,
    /// No definition of the tool is approved.
    New,
    /// The server no longer lists the tool, or its new definition is invalid and was left out.
    Vanished,
}

impl fmt::Display for ChangeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Changed => "changed",
            Self::New => "new",
            Self::Vanished => "vanished",
        })
    }
}

/// A change to one tool that awaits approval.
#[derive(Debug, Clone)]
pub struct ToolChange {
    /// The server's own name for the tool.
    pub tool: String,
    /// The kind of the change.
    pub kind: ChangeKind,
    /// The changed parts of a changed definition.
    pub parts: Vec<String>,
    /// The differences, in lines without characters that could confuse a terminal or a reader.
    pub lines: Vec<DiffLine>,
    /// The time when the definition was first listed, in milliseconds since 1970.
    pub first_seen_ms: u64,
    /// The time when the server stopped listing a vanished tool, in milliseconds since 1970, if it is known.
    pub vanished_ms: Option<u64>,
    /// The definition's fingerprint, in hexadecimal digits.
    pub fingerprint: String,
    before: Option<String>,
    after: Option<String>,
}

/// All changes to one server that await approval.
#[derive(Debug, Clone)]
pub struct Review {
    /// A code for the reviewed state; any change to that state changes the code.
    pub revision: String,
    /// The changes, by tool.
    pub changes: Vec<ToolChange>,
}

impl Review {
    /// Reviews the stored definitions of a server. `all` contains the definitions with their texts; `revision` is
    /// the code of their state. Unless `is_full` is true, long texts are shortened.
    pub fn of(all: &[StoredDefinition], revision: String, is_full: bool) -> Self {
        let mut changes = Vec::new();
        for (_, own) in open_tools(all) {
            let approved = || own.iter().filter(|one| one.approved_ms.is_some());
            // The definition that clients saw last.
            let before = approved().find(|one| one.is_listed).or_else(|| approved().next_back());
            let mut open = own.iter().filter(|one| one.approved_ms.is_none()).peekable();
            if open.peek().is_none() {
                let since = own.iter().filter_map(|one| one.unlisted_ms).max();
                changes.extend(before.map(|before| vanished(before, since)));
            }
            changes.extend(open.map(|one| change(before, one, is_full)));
        }
        Self { revision, changes }
    }

    /// Returns the number of changes of a kind.
    pub fn count(&self, kind: ChangeKind) -> usize {
        self.changes.iter().filter(|one| one.kind == kind).count()
    }

    /// Returns the review as JSON, for programs. If `with_definitions` is true, it includes the whole definitions as JSON
    /// texts.
    pub fn to_json(&self, server: &str, with_definitions: bool) -> Value {
        let one = |change: &ToolChange| {
            let diff: Vec<String> = change.lines.iter().map(ToString::to_string).collect();
            let mut value = json!({
                "tool": change.tool,
                "state": change.kind.to_string(),
                "changes": change.parts,
                "fingerprint": change.fingerprint,
                "firstSeenMs": change.first_seen_ms,
                "vanishedMs": change.vanished_ms,
                "diff": diff,
            });
            if with_definitions {
                value["before"] = json!(change.before);
                value["after"] = json!(change.after);
            }
            value
        };
        let tools: Vec<Value> = self.changes.iter().map(one).collect();
        json!({ "id": server, "revision": self.revision, "tools": tools })
    }
}

/// The kind of an event in the history of a server's tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ToolEventKind {
    /// The server listed the tool for the first time.
    Appeared,
    /// The server listed another definition of the tool.
    Changed,
    /// The server stopped listing the tool.
    Vanished,
}

impl ToolEventKind {
    /// Returns the event in a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Appeared => "appeared",
            Self::Changed => "changed",
            Self::Vanished => "vanished",
        }
    }
}

/// An event in the history of a server's tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolEvent {
    /// The time, in milliseconds since 1970.
    pub at_ms: u64,
    /// The server's own name for the tool.
    pub tool: String,
    /// The kind of the event.
    pub kind: ToolEventKind,
}

/// Returns when the tools of a server appeared, changed and vanished, newest first. The tools of the server's first list are left
/// out, because they did not appear then: they were seen. `all` contains the definitions as they are read from the file, with
/// or without their texts.
pub fn tool_events(all: &[StoredDefinition]) -> Vec<ToolEvent> {
    let first_list = all.iter().map(|one| one.tool_seen_ms).min().unwrap_or_default();
    let mut events = Vec::new();
    for own in all.chunk_by(|one, next| one.tool == next.tool) {
        let mut add = |at_ms, kind| events.push(ToolEvent { at_ms, tool: own[0].tool.clone(), kind });
        let appeared = own[0].tool_seen_ms;
        if appeared > first_list {
            add(appeared, ToolEventKind::Appeared);
        }
        for one in own.iter().filter(|one| one.first_seen_ms > appeared) {
            add(one.first_seen_ms, ToolEventKind::Changed);
        }
        if let Some(vanished) = own.iter().filter_map(|one| one.unlisted_ms).max()
            && !own.iter().any(|one| one.is_listed)
        {
            add(vanished, ToolEventKind::Vanished);
        }
    }
    events
        .sort_by(|one, other| (other.at_ms, &one.tool, other.kind).cmp(&(one.at_ms, &other.tool, one.kind)));
    events
}

fn text(one: &StoredDefinition) -> String {
    String::from_utf8_lossy(&one.body).into_owned()
}

fn vanished(before: &StoredDefinition, since: Option<u64>) -> ToolChange {
    ToolChange {
        tool: before.tool.clone(),
        kind: ChangeKind::Vanished,
        parts: Vec::new(),
        lines: Vec::new(),
        first_seen_ms: before.first_seen_ms,
        vanished_ms: since,
        fingerprint: hex(&before.fingerprint),
        before: Some(text(before)),
        after: None,
    }
}

fn change(before: Option<&StoredDefinition>, now: &StoredDefinition, is_full: bool) -> ToolChange {
    let found = difference(before.map(|one| &*one.body), &now.body, is_full);
    ToolChange {
        tool: now.tool.clone(),
        kind: if before.is_some() { ChangeKind::Changed } else { ChangeKind::New },
        parts: found.changes,
        lines: found.lines,
        first_seen_ms: now.first_seen_ms,
        vanished_ms: None,
        fingerprint: hex(&now.fingerprint),
        before: before.map(text),
        after: Some(text(now)),
    }
}
