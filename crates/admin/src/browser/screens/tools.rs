//! The list of tools, and the form that allows or denies several of them in a profile.

use std::collections::BTreeMap;

use pages::model::{ToolRow, ToolsFilter, ToolsPage};
use pages::{page, route};
use serde_json::json;

use super::super::page_reply::{self, PageResult, done};
use super::super::page_request::{Fields, PageRequest, Subject};
use super::paging::{contains, part};
use super::{server_rows, texts, tool_rows};
use gateway::changes::{self, Refusal};

fn filter(fields: &Fields) -> ToolsFilter {
    ToolsFilter {
        q: fields.shown("q"),
        server: fields.shown("server"),
        profile: fields.shown("profile"),
        show: fields.shown("show"),
    }
}

/// Shows the tools.
pub(in super::super) async fn show(request: &PageRequest) -> PageResult {
    let filter = filter(&request.query);
    let rows = chosen(request, &filter).await?;
    let tokens = rows.iter().filter(|row| row.hidden.is_none()).map(|row| row.tokens).sum();
    let (rows, paging) = part(request, rows);
    let data = ToolsPage {
        filter,
        servers: texts(server_rows::names(&request.shard)),
        profiles: texts(request.standing().config().profiles.keys()),
        rows,
        paging,
        tokens,
    };
    page_reply::ok(page::tools(&request.frame(), &data))
}

/// Returns the tools that a filter selects.
async fn chosen(request: &PageRequest, filter: &ToolsFilter) -> Result<Vec<ToolRow>, Refusal> {
    let shard = &request.shard;
    let usage = server_rows::day(request).await;
    let server = Some(filter.server.raw().to_owned()).filter(|server| !server.is_empty());
    let mut rows = tool_rows::of_servers(shard, server, &usage).await?;
    if !filter.profile.is_empty() {
        let slug = filter.profile.raw();
        let profile = changes::profile(&shard.gateway.standing, slug)?;
        let members: Vec<&str> = profile["servers"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|member| member["mcpServerId"].as_str())
            .collect();
        rows.retain(|row| members.contains(&row.server.raw()));
        let seen = tool_rows::of_profile(shard, slug, &usage).await?;
        tool_rows::seen_in_profile(&mut rows, seen, slug);
    }
    rows.retain(|row| {
        let is_shown = match filter.show.raw() {
            "pending" => row.pending.is_some(),
            "findings" => row.findings > 0,
            "hidden" => row.hidden.is_some(),
            "writes" => row.hints.read_only != Some(true),
            _ => true,
        };
        let texts = [row.name.raw(), row.client_name.raw(), row.title.raw(), row.description.raw()];
        is_shown && filter.q.raw().split_whitespace().all(|word| contains(&texts, word))
    });
    Ok(rows)
}

/// Allows or denies tools in a profile.
pub(in super::super) async fn set_visibility(request: &PageRequest) -> PageResult {
    let (form, filter) = (&request.form, filter(&request.form));
    let pairs = [
        ("q", filter.q.raw()),
        ("server", filter.server.raw()),
        ("profile", filter.profile.raw()),
        ("show", filter.show.raw()),
    ];
    let back = route::with_query(route::TOOLS, &pairs);
    let is_enabled = match form.text("action") {
        "allow" => true,
        "deny" => false,
        _ => return Err(Refusal::new(422, "NO_ACTION", "Choose whether to allow or to deny the tools.")),
    };
    let mut tools: BTreeMap<String, Vec<String>> = BTreeMap::new();
    if form.get("all") == Some("yes") {
        for row in chosen(request, &filter).await? {
            tools.entry(row.server.raw().to_owned()).or_default().push(row.name.raw().to_owned());
        }
    } else {
        for one in form.all("tool") {
            let names = one
                .split_once('/')
                .and_then(|(server, tool)| Some((route::name_of(server)?, route::name_of(tool)?)));
            if let Some((server, tool)) = names {
                tools.entry(server).or_default().push(tool);
            }
        }
    }
    if tools.is_empty() {
        return Err(Refusal::new(
            422,
            "NOTHING_CHOSEN",
            "No tool was chosen, so nothing was changed. Choose tools, and try again.",
        ));
    }
    let number: usize = tools.values().map(Vec::len).sum();
    let slug = filter.profile.raw().to_owned();
    let subject = slug.clone();
    let edited = request.edit(Subject::Profile(&subject), move |standing| {
        let mut then = standing.clone();
        for (server, tools) in tools {
            for some in tools.chunks(1000) {
                let set: Vec<_> =
                    some.iter().map(|tool| json!({ "toolName": tool, "isEnabled": is_enabled })).collect();
                then = changes::set_profile_tools(&then, &slug, &server, &json!({ "tools": set }))?;
            }
        }
        Ok((slug, then))
    });
    let word = if is_enabled { "allowed" } else { "denied" };
    Ok(done(request, edited.await, &back, &format!("Tools {word} in the profile: {number}.")))
}
