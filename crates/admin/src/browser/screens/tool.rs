//! The page of one tool.

use std::sync::Arc;

use engine::catalogue::ListKind;
use pages::model::{
    ArgumentRow, SchemaFindingRow, ToolAbsence, ToolAccessRow, ToolPage, ToolProfileRow, ToolRow,
};
use pages::page;
use serde_json::Value;
use store::audit::Query;

use super::super::page_reply::{self, PageResult};
use super::super::page_request::PageRequest;
use super::definition_changes::{self, RecordedDefinition};
use super::{call_rows, reach, server_rows, tool_rows};
use crate::insight::catalogue::{self, ItemFinding};
use crate::insight::profiles;
use crate::insight::servers::era;
use gateway::changes::{self, Refusal};
use gateway::process::Shard;

/// The number of calls that the page shows.
const CALLS: u32 = 10;

/// The number of the newest recorded calls among which the page looks for calls of the tool.
pub(super) const EXAMINED: u32 = 100_000;

/// The maximum number of profiles that the page shows.
const MOST_PROFILES: usize = 50;

/// Shows a tool.
pub(in super::super) async fn show(request: &PageRequest) -> PageResult {
    let (shard, server, tool) = (&request.shard, request.named(0), request.named(1));
    changes::server(&shard.gateway.standing, server)?;
    let usage = server_rows::day(request).await;
    let recorded = definition_changes::of_tool(shard, server, tool).await;
    let item = catalogue::tool(shard, server, tool);
    let findings = item.as_ref().map(|item| findings(&item.findings)).unwrap_or_default();
    let row = match item {
        Some(item) => Some(tool_rows::of_tool(shard, item, &usage).await),
        None => None,
    };
    let (row, absence) = match row {
        Some(row) => (row, None),
        None => absent(shard, (server, tool), &recorded).await?,
    };
    let definition = match (&absence, &recorded.last) {
        (Some(_), Some((last, _))) => last.clone(),
        _ => definition(shard, server, tool),
    };
    let missing = match (&absence, &row.hidden) {
        (Some(_), _) => "hidden: the server does not list it",
        (None, Some(_)) => "hidden: awaits approval",
        (None, None) => "hidden by the profile's rules",
    };
    let (profiles, access) = of_profiles(shard, (server, tool), missing).await;
    let indented = |schema: &Value| serde_json::to_string_pretty(schema).unwrap_or_default();
    let data = ToolPage {
        arguments: arguments(&definition["inputSchema"]),
        input_schema: indented(&definition["inputSchema"]).into(),
        output_schema: definition.get("outputSchema").map(|schema| indented(schema).into()),
        calls: calls(shard, server, &row, &profiles).await,
        profiles,
        access,
        has_other_callers: has_other_callers(shard),
        findings,
        first_listed: recorded.last.as_ref().map(|(_, at)| *at),
        changed: recorded.changed,
        change: recorded.change,
        revision: recorded.revision,
        approvals: recorded.approvals,
        absence,
        row,
    };
    page_reply::ok(page::tool(&request.frame(), &data))
}

/// Returns a tool that its server does not list, and what is known about it.
///
/// # Errors
/// Fails if nothing is known about such a tool.
async fn absent(
    shard: &Arc<Shard>,
    (server, tool): (&str, &str),
    recorded: &RecordedDefinition,
) -> Result<(ToolRow, Option<ToolAbsence>), Refusal> {
    let text =
        |key: &str| recorded.last.as_ref().and_then(|(last, _)| last[key].as_str()).unwrap_or_default();
    let row = ToolRow {
        server: server.into(),
        name: tool.into(),
        title: text("title").into(),
        description: text("description").into(),
        pending: recorded.change.as_ref().map(|change| change.state),
        ..ToolRow::default()
    };
    let calls = calls(shard, server, &row, &[]).await;
    let spec = shard.gateway.snapshot.upstreams.iter().find(|spec| *spec.name == *server);
    let unknown = spec.and_then(|spec| {
        let upstream = shard.view.state.upstreams.get(spec.id);
        upstream.catalogue.tools(era(&upstream)).err()
    });
    if recorded.last.is_none() && recorded.change.is_none() && calls.is_empty() {
        let message = match unknown {
            Some(absence) => {
                format!("the tools of the server {server:?} are not known: the server {}", absence.reason)
            }
            None => {
                format!("the server {server:?} lists no tool {tool:?}, and nothing is recorded about one")
            }
        };
        return Err(Refusal::new(404, "TOOL_NOT_FOUND", message));
    }
    let absence = ToolAbsence {
        unknown: unknown.map(|absence| absence.reason.into()),
        last_seen: calls.iter().map(|call| call.at).max(),
        first_seen: recorded.last.as_ref().map(|(_, at)| *at),
        vanished: recorded.vanished,
        has_definition: recorded.last.is_some(),
        calls: calls.first().map_or_else(|| format!("{server}__{tool}").into(), |call| call.tool.clone()),
    };
    Ok((row, Some(absence)))
}

/// Returns the definition of a tool as the server lists it; an empty object if the server does not list the tool.
fn definition(shard: &Shard, server: &str, tool: &str) -> Value {
    let spec = shard.gateway.snapshot.upstreams.iter().find(|spec| *spec.name == *server);
    let found = spec.and_then(|spec| {
        let upstream = shard.view.state.upstreams.get(spec.id);
        let known = upstream.catalogue.tools(era(&upstream)).ok()?;
        let mut all = known.list(ListKind::Tools).iter().chain(known.held());
        serde_json::from_slice(&all.find(|item| item.key == tool)?.text).ok()
    });
    found.unwrap_or_else(|| Value::Object(serde_json::Map::new()))
}

/// Returns the arguments at the root of a schema.
pub(super) fn arguments(schema: &Value) -> Vec<ArgumentRow> {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let all = schema["properties"].as_object().into_iter().flatten();
    all.map(|(name, own)| ArgumentRow {
        name: name.as_str().into(),
        kind: type_of(own).into(),
        required: required.contains(&name.as_str()),
        description: own["description"].as_str().unwrap_or_default().into(),
    })
    .collect()
}

/// Returns the type of a value in a few words.
fn type_of(schema: &Value) -> String {
    if let Some(values) = schema["enum"].as_array() {
        let values: Vec<String> = values.iter().take(8).map(ToString::to_string).collect();
        return values.join(" | ");
    }
    let one = |word: &str| match word {
        "array" => format!("{}[]", schema.get("items").map_or_else(|| "any".to_owned(), type_of)),
        word => word.to_owned(),
    };
    match &schema["type"] {
        Value::String(word) => one(word),
        Value::Array(words) => {
            words.iter().filter_map(Value::as_str).map(one).collect::<Vec<_>>().join(" | ")
        }
        _ => {
            let some = ["anyOf", "oneOf"].iter().find_map(|key| schema[key].as_array());
            let some: Vec<String> = some.into_iter().flatten().take(8).map(type_of).collect();
            if some.is_empty() { "any".to_owned() } else { some.join(" | ") }
        }
    }
}

/// Returns the tool as clients of each profile with its server get it.
async fn of_profiles(
    shard: &Arc<Shard>,
    (server, tool): (&str, &str),
    missing: &'static str,
) -> (Vec<ToolProfileRow>, Vec<ToolAccessRow>) {
    let standing = shard.gateway.standing.clone();
    let upstream = shard.gateway.snapshot.upstreams.iter().find(|spec| *spec.name == *server);
    let (mut rows, mut access) = (Vec::new(), Vec::new());
    for (slug, profile) in standing.config().profiles.iter().take(MOST_PROFILES) {
        if !profile.servers.iter().any(|name| name == server) {
            continue;
        }
        let Ok(whole) = profiles::whole_view(shard, slug).await else { continue };
        let entry = upstream.and_then(|spec| whole.view.tool_of(spec.id, tool));
        let listed = entry.and_then(|entry| whole.costs.tools.iter().find(|one| one.item.key == *entry.name));
        let (client_name, visibility) = match (entry, listed) {
            (Some(entry), Some(_)) => (&*entry.name, "listed"),
            (Some(entry), None) => (&*entry.name, "searchable"),
            (None, _) => (tool, missing),
        };
        if let Some(entry) = entry {
            access.extend(reach::users_of_tool(shard, (slug, &whole.view), entry).await);
        }
        rows.push(ToolProfileRow {
            profile: slug.as_str().into(),
            client_name: client_name.into(),
            tokens: listed.map_or(0, |listed| listed.tokens),
            profile_tokens: whole.costs.listed.tokens,
            visibility: visibility.into(),
        });
    }
    (rows, access)
}

/// Returns true if callers may authenticate by other means than keys and configured users.
fn has_other_callers(shard: &Shard) -> bool {
    let auth = &shard.gateway.standing.config().auth;
    auth.bearer.is_some() || auth.site.is_some() || auth.login.is_some() || !auth.jwt.is_empty()
}

fn findings(all: &[ItemFinding]) -> Vec<SchemaFindingRow> {
    let row = |finding: &ItemFinding| SchemaFindingRow {
        family: finding.family.into(),
        rule: finding.reason.message.into(),
        place: finding.reason.path.as_str().into(),
    };
    all.iter().map(row).collect()
}

async fn calls(
    shard: &Arc<Shard>,
    server: &str,
    row: &ToolRow,
    profiles: &[ToolProfileRow],
) -> Vec<pages::model::CallRow> {
    let mut names = vec![row.name.raw().to_owned(), format!("{server}__{}", row.name.raw())];
    names.extend(profiles.iter().map(|profile| profile.client_name.raw().to_owned()));
    names.sort();
    names.dedup();
    let (upstream, newest) = (Some(server.to_owned()), Some(EXAMINED));
    call_rows::newest(shard, Query { upstream, tools: names, newest, limit: CALLS, ..Query::default() }).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn types_are_short() {
        assert_eq!(type_of(&json!({ "type": "array", "items": { "type": "integer" } })), "integer[]");
        assert_eq!(type_of(&json!({ "enum": ["a", 1] })), "\"a\" | 1");
        assert_eq!(type_of(&json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] })), "string | null");
        assert_eq!(type_of(&json!({})), "any");
    }
}
