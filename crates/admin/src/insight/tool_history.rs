//! The times at which a server's tools appeared, changed and vanished. This module must not know HTTP.

use gateway::changes::Refusal;
use gateway::definitions::tool_events;
use gateway::management::definitions;
use gateway::process::Shard;
use schemars::JsonSchema;
use serde::Serialize;

use super::moment::PointInTime;

/// The maximum number of changes in an answer.
pub(crate) const MOST_EVENTS: usize = 1_000;

/// The past changes in a server's tools, newest first. The tools of the server's first list are not among them.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct ToolHistory {
    /// The id of the server.
    pub(crate) id: String,
    /// The newest changes.
    pub(crate) changes: Vec<PastToolChange>,
}

/// A past change in a server's tools.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct PastToolChange {
    pub(crate) at: PointInTime,
    /// The server's own name for the tool.
    pub(crate) tool: String,
    /// `appeared`, `changed` or `vanished`.
    pub(crate) change: &'static str,
}

/// Returns the past changes in a server's tools.
///
/// # Errors
/// Fails if the definitions of the server are not recorded, or cannot be read.
pub(crate) async fn history(shard: &Shard, server: &str) -> Result<ToolHistory, Refusal> {
    let (all, _) = definitions::stored(shard, server).await?;
    let events = tool_events(&all).into_iter().take(MOST_EVENTS);
    let changes = events.map(|event| PastToolChange {
        at: PointInTime(event.at_ms),
        tool: event.tool,
        change: event.kind.word(),
    });
    Ok(ToolHistory { id: server.to_owned(), changes: changes.collect() })
}
