//! The items that clients of a profile see. This module must not know how a profile is served.

use std::sync::Arc;

use engine::catalogue::{ListKind, TokenCost, View};
use proto::era::newest_handshake;
use proto::rpc::{Frame, FrameLimits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::catalogue::{CatalogueQuery, DescribedItem, described, word};
use gateway::admission::identity::Identity;
use gateway::call::stateless;
use gateway::changes::Refusal;
use gateway::process::Shard;

/// A request for the list of tools: a view that gets this request waits until its servers' lists are known.
const LIST_TOOLS: &str = r#"{"jsonrpc":"2.0","id":0,"method":"tools/list"}"#;

/// The numbers of a profile's tools before access rules apply: a caller may see fewer.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProfileStatus {
    pub(crate) id: String,
    pub(crate) mode: &'static str,
    pub(crate) listed: ToolCount,
    /// The tools that clients find by searching; `null` if clients see all tools.
    pub(crate) searchable: Option<ToolCount>,
}

/// A number of tools, and the tokens that they take in a model's context.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToolCount {
    pub(crate) tools: usize,
    pub(crate) tokens: u64,
}

impl From<TokenCost> for ToolCount {
    fn from(TokenCost { tools, tokens }: TokenCost) -> Self {
        Self { tools, tokens }
    }
}

/// The items of a profile on one page.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProfileItems {
    pub(crate) id: String,
    pub(crate) kind: &'static str,
    /// The number of chosen items on all pages.
    pub(crate) total: usize,
    pub(crate) items: Vec<ProfileItem>,
    /// Notes on problems with the profile's items, such as two resources with the same URI.
    pub(crate) notes: Vec<String>,
}

/// An item as clients of a profile see it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProfileItem {
    /// The name in the profile: a name, a URI or a URI template.
    pub(crate) name: String,
    /// The server of a tool; `null` for Dragoman's own tools, and for other items.
    pub(crate) server: Option<String>,
    /// The server's own name for a tool.
    pub(crate) own_name: Option<String>,
    #[serde(flatten)]
    pub(crate) described: DescribedItem,
}

/// Returns the numbers of a profile's tools before access rules apply; `None` if there is no such profile.
pub(crate) async fn status(shard: &Arc<Shard>, identity: &Identity, slug: &str) -> Option<ProfileStatus> {
    let at = shard.gateway.snapshot.profiles.iter().position(|profile| &*profile.slug == slug)?;
    let mode = shard.gateway.snapshot.profiles[at].rules.tools.mode;
    let cell = stateless::view(&shard.call, at, newest_handshake(), identity).await;
    let frame = Frame::parse(LIST_TOOLS.into(), FrameLimits::default()).ok()?;
    // The caller's view waits for the servers' lists. The counts are those of the view that all callers share.
    drop(stateless::view_for(&shard.call, &cell, &frame).await);
    let view = whole_view(shard, slug).await.ok()?;
    Some(ProfileStatus {
        id: slug.to_owned(),
        mode: mode.name(),
        listed: view.token_cost().into(),
        searchable: view.search().map(|search| search.token_cost().into()),
    })
}

/// Returns the view of a profile without access rules, built from the lists that all callers share.
///
/// # Errors
/// Fails if there is no such profile.
pub(crate) async fn whole_view(shard: &Arc<Shard>, slug: &str) -> Result<Arc<View>, Refusal> {
    let at = shard.gateway.snapshot.profiles.iter().position(|profile| &*profile.slug == slug);
    let at = at.filter(|at| shard.gateway.snapshot.profiles[*at].is_there);
    let at = at.ok_or_else(|| Refusal::no_profile(slug))?;
    let state = shard.view.state.clone();
    let built = transport::task::spawn_blocking(move || state.build_whole(at, newest_handshake()));
    built.await.map(Arc::new).map_err(|e| Refusal::internal(e.to_string()))
}

/// Returns the chosen items of a profile.
///
/// # Errors
/// Fails if there is no such profile.
pub(crate) async fn items(
    shard: &Arc<Shard>,
    slug: &str,
    query: CatalogueQuery,
) -> Result<ProfileItems, Refusal> {
    let (view, kind, own) = (whole_view(shard, slug).await?, query.kind, shard.clone());
    let notes = view.notes().to_vec();
    let gathered = transport::task::spawn_blocking(move || {
        let all = listed(&own, &view, kind);
        let all: Vec<ProfileItem> =
            all.into_iter().filter(|item| query.chooses(&item.name, &item.described)).collect();
        (all.len(), query.page(all))
    });
    let (total, items) = gathered.await.map_err(|e| Refusal::internal(e.to_string()))?;
    Ok(ProfileItems { id: slug.to_owned(), kind: word(kind), total, items, notes })
}

/// A page of a list.
#[derive(Deserialize)]
pub(crate) struct ListPage<'p> {
    #[serde(borrow, default)]
    pub(crate) tools: Vec<&'p RawValue>,
    #[serde(borrow, default)]
    pub(crate) prompts: Vec<&'p RawValue>,
    #[serde(borrow, default)]
    pub(crate) resources: Vec<&'p RawValue>,
    #[serde(borrow, default, rename = "resourceTemplates")]
    pub(crate) templates: Vec<&'p RawValue>,
}

fn listed(shard: &Shard, view: &View, kind: ListKind) -> Vec<ProfileItem> {
    let mut items = Vec::new();
    for page in view.pages(kind).all() {
        let Ok(page) = serde_json::from_slice::<ListPage<'_>>(page.text()) else { continue };
        let list = match kind {
            ListKind::Tools => page.tools,
            ListKind::Prompts => page.prompts,
            ListKind::Resources => page.resources,
            ListKind::Templates => page.templates,
        };
        items.extend(list.iter().filter_map(|item| one(shard, view, kind, item.get())));
    }
    items
}

/// Returns the names of all tools that a view lists or finds, without Dragoman's own.
pub(crate) fn tool_names(view: &View) -> Vec<String> {
    let mut names = Vec::new();
    for page in view.pages(ListKind::Tools).all() {
        let Ok(page) = serde_json::from_slice::<ListPage<'_>>(page.text()) else { continue };
        let read = |item: &&RawValue| {
            engine::catalogue::Item::read(ListKind::Tools, item.get().to_owned().into()).map(|item| item.key)
        };
        names.extend(page.tools.iter().filter_map(read).filter(|name| view.tool(name).is_some()));
    }
    names
}

fn one(shard: &Shard, view: &View, kind: ListKind, text: &str) -> Option<ProfileItem> {
    let item = engine::catalogue::Item::read(kind, text.to_owned().into())?;
    let entry = if kind == ListKind::Tools { view.tool(&item.key) } else { None };
    let server = entry.and_then(|entry| shard.gateway.snapshot.upstream(entry.upstream));
    Some(ProfileItem {
        described: described(kind, &item.key, &item.text),
        server: server.map(|spec| spec.name.to_string()),
        own_name: entry.map(|entry| entry.own_name().into_owned()),
        name: item.key,
    })
}
