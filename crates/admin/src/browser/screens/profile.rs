//! The page of one profile, and the forms on it.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::catalogue::View;
use pages::model::{ForeignText, ProfilePage, ProfileServer, ServerState, ToolRow};
use pages::page;
use pages::route::{self, ProfileAction};
use serde_json::{Value, json};

use super::super::page_reply::{self, PageResult, done};
use super::super::page_request::{PageRequest, Subject};
use super::paging::{contains, part};
use super::{profiles, reach, server_rows, texts, tool_rows};
use gateway::changes::{self, Refusal};
use gateway::process::Shard;

/// Shows a profile.
pub(in super::super) async fn show(request: &PageRequest) -> PageResult {
    let (shard, slug) = (&request.shard, request.named(0));
    let (row, whole) = profiles::row(shard, slug).await.ok_or_else(|| Refusal::no_profile(slug))?;
    let usage = server_rows::day(request).await;
    let standing = request.standing();
    let config = standing.config();
    let mut tools = tool_rows::of_profile(shard, slug, &usage).await?;
    let servers = servers(shard, slug, &tools)?;
    let others = config.mcp_servers.keys().filter(|id| !servers.iter().any(|server| server.id.raw() == **id));
    let q = request.query.shown("q");
    tools.retain(|row| contains(&[row.client_name.raw(), row.description.raw()], q.raw()));
    tools.sort_by(|one, other| (other.tokens, &one.client_name).cmp(&(one.tokens, &other.client_name)));
    let (tools, paging) = part(request, tools);
    let rules = &config.shown()["profiles"][slug]["tools"];
    let view = whole.as_ref().map(|whole| &whole.view);
    let instructions = view.and_then(View::instructions).map(str::to_owned);
    let without_tools = reach::without_tools(shard, slug, whole.as_deref()).await;
    let data = ProfilePage {
        instructions: super::text(instructions),
        others: texts(others),
        allow: patterns(&rules["allow"]),
        deny: patterns(&rules["deny"]),
        callers: callers(shard),
        held: view.map(held).unwrap_or_default(),
        without_tools,
        row,
        servers,
        q,
        tools,
        paging,
    };
    page_reply::ok(page::profile(&request.frame(), &data))
}

/// Returns the numbers of withheld tools by server.
fn held(view: &View) -> Vec<(ForeignText, u64)> {
    let mut held: BTreeMap<&str, u64> = BTreeMap::new();
    view.holders().for_each(|server| *held.entry(server).or_default() += 1);
    held.into_iter().map(|(server, tools)| (server.into(), tools)).collect()
}

fn patterns(shown: &Value) -> Vec<ForeignText> {
    match shown {
        Value::String(one) => texts([one]),
        Value::Array(all) => texts(all.iter().filter_map(Value::as_str)),
        _ => Vec::new(),
    }
}

fn servers(shard: &Arc<Shard>, slug: &str, tools: &[ToolRow]) -> Result<Vec<ProfileServer>, Refusal> {
    let members = changes::profile_servers(&shard.gateway.standing, slug)?;
    let one = |member: &Value| {
        let id = member["mcpServerId"].as_str()?;
        let row = server_rows::row(shard, id, &crate::insight::usage::Usage::default());
        let own: Vec<&ToolRow> = tools.iter().filter(|tool| tool.server.raw() == id).collect();
        Some(ProfileServer {
            id: id.into(),
            active: member["isActive"] == Value::Bool(true),
            state: if member["isActive"] == Value::Bool(true) { row.state } else { ServerState::Disabled },
            reason: row.reason,
            tools: super::count(own.len()),
            of: row.tools,
            tokens: own.iter().map(|tool| tool.tokens).sum(),
        })
    };
    Ok(members["servers"].as_array().into_iter().flatten().filter_map(one).collect())
}

/// Returns the ways to authenticate, as sentences; none if everybody is admitted.
fn callers(shard: &Shard) -> Vec<ForeignText> {
    let shown = shard.gateway.standing.config().shown();
    let auth = &shown["auth"];
    let is_set = |key: &str| match &auth[key] {
        Value::Null | Value::Bool(false) => false,
        Value::Array(all) => !all.is_empty(),
        Value::Object(all) => !all.is_empty(),
        _ => true,
    };
    let ways = [
        ("bearer", "callers with the configured token"),
        ("keys", "callers with an API key that is valid for this profile"),
        ("users", "users with a name and a password"),
        ("site", "users of the site in auth.site"),
        ("login", "people who have signed in at a WordPress site"),
        ("oauth", "callers with an access token of the authorization server"),
        ("jwt", "callers with a signed token"),
    ];
    texts(ways.iter().filter(|(key, _)| is_set(key)).map(|(_, words)| *words))
}

/// Performs the action that the path names.
pub(in super::super) async fn act(request: &PageRequest) -> PageResult {
    let Some(action) = ProfileAction::from_name(request.named(1)) else { return Ok(page_reply::missing()) };
    let slug = request.named(0).to_owned();
    let own_page = route::profile(&slug);
    match action {
        ProfileAction::Remove => {
            if request.form.get("confirm") != Some(slug.as_str()) {
                let message =
                    "The typed name is not the name of the profile, so the profile was not removed.";
                return Err(Refusal::new(422, "NOT_CONFIRMED", message));
            }
            let subject = slug.clone();
            let edited = request.edit(Subject::Profile(&subject), move |standing| {
                Ok((String::new(), changes::remove_profile(standing, &slug)?))
            });
            let edited = edited.await;
            let to = if edited.is_ok() { route::PROFILES } else { &own_page };
            Ok(done(request, edited, to, "The profile was removed."))
        }
        ProfileAction::Servers => {
            let (id, what) = (request.form.text("server").to_owned(), request.form.text("action").to_owned());
            let subject = slug.clone();
            let edited = request.edit(Subject::Profile(&subject), move |standing| {
                let then = match what.as_str() {
                    "add" => changes::add_server_to_profile(standing, &slug, &json!({ "mcpServerId": id })),
                    "remove" => changes::remove_server_from_profile(standing, &slug, &id),
                    "on" | "off" => {
                        let body = json!({ "isActive": what == "on" });
                        changes::change_profile_server(standing, &slug, &id, &body)
                    }
                    _ => Err(Refusal::request("unknown action")),
                };
                Ok((slug, then?))
            });
            Ok(done(request, edited.await, &own_page, "The profile was changed."))
        }
    }
}
