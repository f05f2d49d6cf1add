//! Tools as several pages show them: as servers list them, and as clients of a profile see them. This module must
//! not know how a list is fetched.

use std::collections::HashMap;
use std::sync::Arc;

use pages::model::{DefinitionState, ToolHints, ToolRow};

use upstream::definitions::DefinitionCounts;

use super::definition_changes;
use crate::insight::catalogue::{self, CatalogueItem, CatalogueQuery, DescribedItem, MOST_ITEMS};
use crate::insight::profiles::{self, ProfileItem};
use crate::insight::usage::Usage;
use gateway::changes::Refusal;
use gateway::process::Shard;

fn all_tools(server: Option<String>) -> CatalogueQuery {
    CatalogueQuery {
        kind: catalogue::kind(None),
        server,
        search: None,
        is_held: false,
        offset: 0,
        limit: MOST_ITEMS,
    }
}

/// Returns the tools of all servers, or of one.
///
/// # Errors
/// Fails if there is no such server.
pub(super) async fn of_servers(
    shard: &Arc<Shard>,
    server: Option<String>,
    usage: &Usage,
) -> Result<Vec<ToolRow>, Refusal> {
    let items = catalogue::items(shard, all_tools(server)).await?.items;
    let mut pending_by_server: HashMap<String, HashMap<String, DefinitionState>> = HashMap::new();
    for spec in &shard.gateway.snapshot.upstreams {
        if items.iter().any(|item| *item.server == *spec.name) {
            pending_by_server.insert(spec.name.to_string(), pending(shard, &spec.name).await);
        }
    }
    let row = |item: CatalogueItem| {
        let state = pending_by_server.get(&item.server).and_then(|tools| tools.get(&item.name)).copied();
        of_item(item, state, usage)
    };
    Ok(items.into_iter().map(row).collect())
}

/// Returns a tool of a server.
pub(super) async fn of_tool(shard: &Arc<Shard>, item: CatalogueItem, usage: &Usage) -> ToolRow {
    let state = pending(shard, &item.server).await.remove(&item.name);
    of_item(item, state, usage)
}

/// Returns the states of all tools of a server that await approval.
async fn pending(shard: &Arc<Shard>, server: &str) -> HashMap<String, DefinitionState> {
    let spec = shard.gateway.snapshot.upstreams.iter().find(|spec| *spec.name == *server);
    let counts = spec.map(|spec| shard.view.state.upstreams.get(spec.id).server.definitions.counts());
    if counts.is_none_or(|counts| counts == DefinitionCounts::default()) {
        return HashMap::new();
    }
    definition_changes::pending(shard, server).await
}

fn of_item(item: CatalogueItem, pending: Option<DefinitionState>, usage: &Usage) -> ToolRow {
    let by_server = format!("{}__{}", item.server, item.name);
    let (calls, errors) = usage.of_tool(&item.server, &[&item.name, &by_server]);
    ToolRow {
        client_name: item.name.as_str().into(),
        held: item.is_held,
        hidden: item.is_held.then(|| "awaits approval".into()),
        pending: pending.or_else(|| item.is_held.then_some(DefinitionState::Changed)),
        findings: super::count(item.findings.len()),
        calls,
        errors,
        ..described(&item.server, &item.name, item.described)
    }
}

fn described(server: &str, name: &str, said: DescribedItem) -> ToolRow {
    ToolRow {
        server: server.into(),
        name: name.into(),
        title: said.title.unwrap_or_default().into(),
        description: said.description.unwrap_or_default().into(),
        hints: said.annotations.map(hints).unwrap_or_default(),
        tokens: said.tokens.unwrap_or_default(),
        ..ToolRow::default()
    }
}

fn hints(hints: catalogue::ToolHints) -> ToolHints {
    ToolHints {
        read_only: Some(hints.read_only),
        destructive: Some(hints.destructive),
        idempotent: Some(hints.idempotent),
        open_world: Some(hints.open_world),
    }
}

/// Returns the tools as clients of a profile see them, before access rules apply. Dragoman's own tools have no server.
///
/// # Errors
/// Fails if there is no such profile.
pub(super) async fn of_profile(
    shard: &Arc<Shard>,
    slug: &str,
    usage: &Usage,
) -> Result<Vec<ToolRow>, Refusal> {
    let items = profiles::items(shard, slug, all_tools(None)).await?.items;
    let row = |item: ProfileItem| {
        let server = item.server.unwrap_or_default();
        let own = item.own_name.unwrap_or_else(|| item.name.clone());
        let by_server = format!("{server}__{own}");
        let (calls, errors) = usage.of_tool(&server, &[&item.name, &own, &by_server]);
        ToolRow { client_name: item.name.into(), calls, errors, ..described(&server, &own, item.described) }
    };
    Ok(items.into_iter().map(row).collect())
}

/// Completes the rows of servers' tools for one profile: a visible tool gets its name and its cost in the profile,
/// and a hidden tool gets the reason.
pub(super) fn seen_in_profile(rows: &mut [ToolRow], seen: Vec<ToolRow>, slug: &str) {
    let mut seen: HashMap<_, _> =
        seen.into_iter().map(|row| ((row.server.clone(), row.name.clone()), row)).collect();
    for row in rows {
        match seen.remove(&(row.server.clone(), row.name.clone())) {
            Some(own) => {
                (row.client_name, row.tokens, row.hidden) = (own.client_name, own.tokens, None);
            }
            None if row.hidden.is_none() => {
                row.hidden = Some(format!("the profile {slug} does not list it").into());
            }
            None => {}
        }
    }
}
