//! Servers as several pages show them. This module must not know how a server is reached.

use std::sync::Arc;

use pages::model::{DefinedIn, ServerRow, ServerState};
use serde_json::Value;

use super::super::page_request::PageRequest;
use super::super::pages_state::DAY;
use super::{count, text};
use crate::insight::health::advice_for;
use crate::insight::servers::{self, ServerStatus};
use crate::insight::usage::Usage;
use gateway::admission::identity::Identity;
use gateway::changes;
use gateway::process::Shard;

/// Returns the figures of the last 24 hours; none if the record cannot be read.
pub(super) async fn day(request: &PageRequest) -> Arc<Usage> {
    request.state.usage(&request.shard, DAY).await.unwrap_or_default()
}

/// Returns the names of all servers.
pub(super) fn names(shard: &Shard) -> Vec<String> {
    shard.gateway.standing.config().mcp_servers.keys().cloned().collect()
}

/// Returns the rows of all servers, in the order of the configuration.
pub(super) fn all(shard: &Arc<Shard>, usage: &Usage) -> Vec<ServerRow> {
    names(shard).iter().map(|name| row(shard, name, usage)).collect()
}

/// Returns the row of a server.
pub(super) fn row(shard: &Arc<Shard>, name: &str, usage: &Usage) -> ServerRow {
    of_status(shard, servers::status(shard, &Identity::anyone(None), name), usage)
}

/// Returns the row of a server with this status.
pub(super) fn of_status(shard: &Arc<Shard>, status: ServerStatus, usage: &Usage) -> ServerRow {
    let standing = &shard.gateway.standing;
    let shown = changes::server(standing, &status.id).unwrap_or_default();
    let figures = usage.of_server(&status.id);
    let transport = status.transport.unwrap_or_else(|| transport(&shown));
    let started = || shard.gateway.process.started;
    ServerRow {
        description: shown["description"].as_str().unwrap_or_default().into(),
        state: ServerState::from_name(status.state).unwrap_or_default(),
        reason: text(status.reason),
        since: status.since.unwrap_or_else(|| crate::insight::moment::PointInTime::at(started())).0,
        next_try: status.next_try.map(|at| at.0),
        advice: status.advice.or_else(|| advice_for(status.state)).map(Into::into),
        origin: if standing.base().mcp_servers.contains_key(&status.id) {
            DefinedIn::File
        } else {
            DefinedIn::Api
        },
        transport: transport.into(),
        era: status.era.map(Into::into),
        tools: count(status.tools),
        tokens: status.tokens,
        calls: figures.calls,
        errors: figures.faults,
        refused: figures.calls.saturating_sub(figures.faults + figures.ok()),
        p95_us: figures.p95_us,
        pending: count(status.definitions.pending()),
        id: status.id.into(),
    }
}

fn transport(shown: &Value) -> &'static str {
    match shown["type"].as_str() {
        Some("remote_http") => "http",
        Some("remote_sse") => "sse",
        Some("external") => "stdio",
        _ => "embedded",
    }
}

/// Returns the address of a server, or its program with its arguments; secrets are masked.
pub(super) fn destination(shown: &Value) -> String {
    let config = &shown["config"];
    if let Some(url) = config["url"].as_str() {
        return url.to_owned();
    }
    let Some(command) = config["command"].as_str() else { return "a part of Dragoman".to_owned() };
    let args = config["args"].as_array().into_iter().flatten().filter_map(Value::as_str);
    std::iter::once(command).chain(args).map(quoted).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=@,+%~".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) { word.to_owned() } else { format!("{word:?}") }
}

#[cfg(test)]
mod tests {
    use super::destination;
    use serde_json::json;

    #[test]
    fn a_command_is_shown_as_it_would_be_typed() {
        let shown = json!({ "config": { "command": "npx", "args": ["-y", "a b", ""] } });
        assert_eq!(destination(&shown), "npx -y \"a b\" \"\"");
        assert_eq!(
            destination(&json!({ "config": { "url": "https://x.example/mcp" } })),
            "https://x.example/mcp"
        );
        assert_eq!(destination(&json!({})), "a part of Dragoman");
    }
}
