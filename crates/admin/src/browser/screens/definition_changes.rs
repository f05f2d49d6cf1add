//! Definitions of tools that await approval, as pages show them. This module must not know how definitions are compared.

use std::collections::HashMap;

use engine::pinning::{DiffLine as FoundLine, DiffSign};
use pages::model::{ApprovalRow, DefinitionChange, DefinitionState, DiffLine, DiffMark, ToolEventRow};
use store::definitions::{StoredDefinition, open_tools};

use serde_json::Value;

use super::texts;
use crate::insight::servers::ServerStatus;
use gateway::definitions::{ChangeKind, ToolChange, ToolEvent, ToolEventKind, tool_events};
use gateway::management::definitions;
use gateway::process::Shard;

/// The number of changes whose differences are shown on the page of a server.
const MOST: usize = 100;

/// The number of past changes that are shown on the page of a server.
const EVENTS: usize = 50;

/// Returns the changes to a server that await approval, with their revision; none if nothing awaits approval.
pub(super) async fn of_server(shard: &Shard, status: &ServerStatus) -> (Vec<DefinitionChange>, String) {
    if status.definitions.pending() == 0 {
        return (Vec::new(), String::new());
    }
    let Ok(review) = definitions::examine(shard, &status.id, true).await else {
        return (Vec::new(), String::new());
    };
    let one = |(at, change): (usize, &ToolChange)| shown(change, at < MOST);
    (review.changes.iter().enumerate().map(one).collect(), review.revision)
}

/// Everything that is recorded about the definition of one tool.
#[derive(Default)]
pub(super) struct RecordedDefinition {
    pub(super) change: Option<DefinitionChange>,
    pub(super) revision: String,
    pub(super) approvals: Vec<ApprovalRow>,
    /// The definition that clients saw last, and the time at which the tool was first listed.
    pub(super) last: Option<(Value, u64)>,
    /// The time at which the listed definition was first listed, if the tool had another one before.
    pub(super) changed: Option<u64>,
    /// The time at which the server stopped listing the tool.
    pub(super) vanished: Option<u64>,
}

/// Returns what is recorded about a tool's definition.
pub(super) async fn of_tool(shard: &Shard, server: &str, tool: &str) -> RecordedDefinition {
    let Ok((all, revision)) = definitions::stored(shard, server).await else {
        return RecordedDefinition::default();
    };
    let own: Vec<StoredDefinition> = all.into_iter().filter(|one| one.tool == tool).collect();
    let mut approvals: Vec<ApprovalRow> = own
        .iter()
        .filter_map(|one| {
            let by = one.approved_by.as_deref().unwrap_or("unknown");
            Some(ApprovalRow { at: one.approved_ms?, by: by.into() })
        })
        .collect();
    approvals.sort_by_key(|row| std::cmp::Reverse(row.at));
    let review = gateway::definitions::Review::of(&own, revision, true);
    let change = review.changes.first().map(|change| shown(change, true));
    let first_seen = own.iter().map(|one| one.tool_seen_ms).min().unwrap_or_default();
    let events = tool_events(&own);
    let latest = |kind| events.iter().find(|event| event.kind == kind).map(|event| event.at_ms);
    let (changed, vanished) = (latest(ToolEventKind::Changed), latest(ToolEventKind::Vanished));
    let last = own.iter().max_by_key(|one| (one.is_listed, one.approved_ms, one.first_seen_ms));
    let last = last.and_then(|one| Some((serde_json::from_slice(&one.body).ok()?, first_seen)));
    RecordedDefinition { change, revision: review.revision, approvals, last, changed, vanished }
}

/// Returns when the server's tools appeared, changed and vanished, newest first; nothing if its definitions are not recorded.
pub(super) async fn history(shard: &Shard, server: &str) -> Vec<ToolEventRow> {
    let Ok((all, _)) = definitions::stored(shard, server).await else { return Vec::new() };
    let row = |event: ToolEvent| ToolEventRow {
        at: event.at_ms,
        tool: event.tool.into(),
        state: match event.kind {
            ToolEventKind::Appeared => DefinitionState::New,
            ToolEventKind::Changed => DefinitionState::Changed,
            ToolEventKind::Vanished => DefinitionState::Vanished,
        },
    };
    tool_events(&all).into_iter().take(EVENTS).map(row).collect()
}

/// Returns the states of all tools of a server that await approval.
pub(super) async fn pending(shard: &Shard, server: &str) -> HashMap<String, DefinitionState> {
    let Ok((all, _)) = definitions::stored(shard, server).await else { return HashMap::new() };
    let state = |own: &[StoredDefinition]| {
        let is_approved = |one: &StoredDefinition| one.approved_ms.is_some();
        match (own.iter().any(is_approved), own.iter().all(is_approved)) {
            (true, false) => DefinitionState::Changed,
            (true, true) => DefinitionState::Vanished,
            (false, _) => DefinitionState::New,
        }
    };
    open_tools(&all).map(|(tool, own)| (tool.to_owned(), state(own))).collect()
}

fn shown(change: &ToolChange, has_lines: bool) -> DefinitionChange {
    let line = |line: &FoundLine| DiffLine {
        mark: match line.sign {
            DiffSign::Heading => DiffMark::Same,
            DiffSign::Removed => DiffMark::Removed,
            DiffSign::Added => DiffMark::Added,
        },
        text: line.text.as_str().into(),
    };
    DefinitionChange {
        tool: change.tool.as_str().into(),
        state: match change.kind {
            ChangeKind::Changed => DefinitionState::Changed,
            ChangeKind::New => DefinitionState::New,
            ChangeKind::Vanished => DefinitionState::Vanished,
        },
        parts: texts(&change.parts),
        lines: if has_lines { change.lines.iter().map(line).collect() } else { Vec::new() },
        cut: !has_lines,
        since: match change.kind {
            ChangeKind::Vanished => change.vanished_ms,
            ChangeKind::Changed | ChangeKind::New => Some(change.first_seen_ms),
        },
    }
}
