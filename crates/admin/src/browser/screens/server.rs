//! The page of one server.

use std::sync::Arc;

use pages::model::{
    ConnectionCounts, ProcessRow, ServerConfig, ServerLogin, ServerPage, ServerState, StateChange, StderrLine,
};
use pages::page;
use serde_json::Value;
use store::audit::{CallOutcome, Query};

use super::super::page_reply::{self, PageResult};
use super::super::page_request::PageRequest;
use super::{call_rows, count, definition_changes, server_rows, texts};
use crate::insight::catalogue::{CatalogueQuery, KINDS, MOST_ITEMS, items, kind};
use crate::insight::servers::{self, ServerStatus};
use crate::insight::{configuration, consents, links};
use gateway::admission::identity::Identity;
use gateway::changes::{self, Refusal};
use gateway::process::Shard;

/// The number of failed calls that the page shows.
const FAILURES: u32 = 10;

/// Shows a server.
pub(in super::super) async fn show(request: &PageRequest) -> PageResult {
    let data = data(request, None).await?;
    page_reply::ok(page::server(&request.frame(), &data))
}

/// A change to the server's configuration that was refused.
pub(super) struct RefusedChange {
    pub(super) text: String,
    pub(super) etag: String,
    pub(super) fault: String,
}

/// Gathers everything about a server.
pub(super) async fn data(
    request: &PageRequest,
    refused: Option<RefusedChange>,
) -> Result<ServerPage, Refusal> {
    let (shard, name) = (&request.shard, request.named(0));
    let shown = changes::server(&shard.gateway.standing, name)?;
    let identity = Identity::anyone(None);
    servers::examine(shard, &identity, name).await;
    let status = servers::status(shard, &identity, name);
    let (changes, revision) = definition_changes::of_server(shard, &status).await;
    let (offered, login) = (offered(shard, name).await, login(shard, name).await);
    let query = Query {
        upstream: Some(name.to_owned()),
        outcome: Some(CallOutcome::Error),
        limit: FAILURES,
        ..Query::default()
    };
    let usage = server_rows::day(request).await;
    Ok(ServerPage {
        destination: server_rows::destination(&shown).into(),
        prompts: offered[0],
        resources: offered[1] + offered[2],
        freshness: freshness(&status).into(),
        login,
        connections: connections(shard, &status),
        processes: processes(shard, name).await,
        history: history(shard, name),
        stderr: status
            .stderr
            .iter()
            .zip(&status.stderr_times)
            .map(|(line, at)| StderrLine { at: at.map(|at| at.0), text: line.as_str().into() })
            .collect(),
        policy: status.definitions.policy.into(),
        tool_events: definition_changes::history(shard, name).await,
        changes,
        revision,
        refusals: texts(&status.refusals),
        failures: call_rows::newest(shard, query).await,
        config: config(shard, name, &shown, refused),
        row: server_rows::of_status(shard, status, &usage),
    })
}

fn freshness(status: &ServerStatus) -> String {
    match &status.stale_reason {
        Some(reason) => format!("{}: {reason}", status.freshness),
        None => status.freshness.to_owned(),
    }
}

/// Returns the numbers of prompts, resources and templates.
async fn offered(shard: &Arc<Shard>, name: &str) -> [u64; 3] {
    let mut numbers = [0; 3];
    for (number, word) in numbers.iter_mut().zip(&KINDS[1..]) {
        let query = CatalogueQuery {
            kind: kind(Some(word)),
            server: Some(name.to_owned()),
            search: None,
            is_held: false,
            offset: MOST_ITEMS,
            limit: 1,
        };
        *number = items(shard, query).await.map(|page| count(page.total)).unwrap_or_default();
    }
    numbers
}

async fn login(shard: &Arc<Shard>, name: &str) -> Option<ServerLogin> {
    let all = consents::consents(shard).await.consents;
    let own: Vec<_> = all.into_iter().filter(|consent| consent.server == name).collect();
    let first = own.iter().find(|consent| consent.given).or(own.first())?;
    Some(ServerLogin {
        valid: own.iter().any(|consent| consent.given),
        issuer: first.issuer.clone().unwrap_or_else(|| "its authorization server".to_owned()).into(),
        expires: first.expires.map(|at| at.0),
        callers: count(own.iter().filter(|consent| consent.given).count()),
        can_start: own.iter().any(|consent| consent.caller.is_none()),
    })
}

fn connections(shard: &Shard, status: &ServerStatus) -> ConnectionCounts {
    let spec = shard.gateway.snapshot.upstreams.iter().find(|spec| *spec.name == *status.id);
    let counts = spec.map(|spec| shard.view.state.upstreams.get(spec.id).server.concurrency.counts());
    let (running, waiting) = counts.unwrap_or_default();
    ConnectionCounts {
        shared: count(status.connections.shared),
        dedicated: count(status.connections.dedicated),
        waiting: waiting + count(status.connections.waiting),
        running,
        moves: status.moves,
    }
}

async fn processes(shard: &Arc<Shard>, name: &str) -> Vec<ProcessRow> {
    let open = links::connections(shard, name).await.connections;
    let of_process =
        open.into_iter().filter_map(|link| Some((link.process?, link.is_dedicated, link.opened)));
    let mut rows: Vec<ProcessRow> = of_process
        .map(|(process, is_dedicated, opened)| ProcessRow {
            pid: process.pid,
            role: if is_dedicated { "dedicated" } else { "shared" }.into(),
            started: opened.0,
            memory: process.resident_bytes.unwrap_or_default(),
            children: process.descendants,
        })
        .collect();
    rows.sort_by_key(|row| row.pid);
    rows
}

fn history(shard: &Arc<Shard>, name: &str) -> Vec<StateChange> {
    let changes = servers::history(shard, name).changes;
    let one = |change: servers::StateChange| StateChange {
        at: change.at.0,
        state: ServerState::from_name(change.to).unwrap_or_default(),
        reason: super::text(Some(change.reason)),
    };
    changes.into_iter().map(one).collect()
}

fn config(shard: &Arc<Shard>, name: &str, shown: &Value, refused: Option<RefusedChange>) -> ServerConfig {
    let standing = &shard.gateway.standing;
    let uses = |slug: &String| {
        let profile = changes::profile(standing, slug).unwrap_or_default();
        let own = profile["servers"].as_array().into_iter().flatten();
        own.filter_map(|member| member["mcpServerId"].as_str()).any(|id| id == name)
    };
    let nobody_chose = standing.config().default_has_all();
    let listed = standing.config().profiles.keys().filter(|slug| uses(slug));
    let profiles = texts(listed.filter(|slug| !(nobody_chose && *slug == config::DEFAULT_PROFILE)));
    let (text, etag, faults) = match refused {
        Some(refused) => (refused.text, refused.etag, texts([refused.fault])),
        None => (editable(shown), configuration::configuration(shard).revision, Vec::new()),
    };
    let whole = &standing.config().shown()["mcpServers"][name];
    let whole = serde_json::to_string_pretty(whole).unwrap_or_default();
    ServerConfig { text: text.into(), whole: whole.into(), etag, faults, profiles }
}

/// Returns the fields of a server that can be changed.
fn editable(shown: &Value) -> String {
    let mut own = serde_json::Map::new();
    for key in ["type", "description", "config"] {
        if let Some(value) = shown.get(key).filter(|value| !value.is_null()) {
            own.insert(key.to_owned(), value.clone());
        }
    }
    let settings = shown.get("settings").cloned().unwrap_or_else(|| serde_json::json!({}));
    own.insert("settings".to_owned(), settings);
    serde_json::to_string_pretty(&own).unwrap_or_default()
}
