//! The items that clients of a profile see. This module must not know how a profile is served.

use std::sync::Arc;

use engine::catalogue::{CostedTool, Item, ListKind, TokenCost, View};
use proto::era::newest_handshake;
use proto::rpc::{Frame, FrameLimits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::catalogue::{CatalogueQuery, DescribedItem, word};
use gateway::admission::identity::Identity;
use gateway::call::stateless;
use gateway::changes::Refusal;
use gateway::process::Shard;
use gateway::view::WholeView;

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
    let whole = whole_view(shard, slug).await.ok()?;
    Some(ProfileStatus {
        id: slug.to_owned(),
        mode: mode.name(),
        listed: whole.costs.listed.into(),
        searchable: whole.costs.searched.map(Into::into),
    })
}

/// Returns the view of a profile without access rules, over the lists that all callers share.
///
/// # Errors
/// Fails if there is no such profile.
pub(crate) async fn whole_view(shard: &Arc<Shard>, slug: &str) -> Result<Arc<WholeView>, Refusal> {
    let at = shard.gateway.snapshot.profiles.iter().position(|profile| &*profile.slug == slug);
    let at = at.filter(|at| shard.gateway.snapshot.profiles[*at].is_there);
    let at = at.ok_or_else(|| Refusal::no_profile(slug))?;
    let state = shard.view.state.clone();
    if let Some(known) = state.known_whole(at, newest_handshake()) {
        return Ok(known);
    }
    let built = transport::task::spawn_blocking(move || state.build_whole(at, newest_handshake()));
    built.await.map_err(|e| Refusal::internal(e.to_string()))
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
    let (whole, kind, own) = (whole_view(shard, slug).await?, query.kind, shard.clone());
    let notes = whole.view.notes().to_vec();
    let gathered = transport::task::spawn_blocking(move || {
        let all = listed(&own, &whole, kind);
        let all: Vec<ProfileItem> =
            all.into_iter().filter(|item| query.chooses(&item.name, &item.described)).collect();
        (all.len(), query.page(all))
    });
    let (total, items) = gathered.await.map_err(|e| Refusal::internal(e.to_string()))?;
    Ok(ProfileItems { id: slug.to_owned(), kind: word(kind), total, items, notes })
}

/// A page of a list other than that of tools.
#[derive(Deserialize)]
struct ListPage<'p> {
    #[serde(borrow, default)]
    prompts: Vec<&'p RawValue>,
    #[serde(borrow, default)]
    resources: Vec<&'p RawValue>,
    #[serde(borrow, default, rename = "resourceTemplates")]
    templates: Vec<&'p RawValue>,
}

fn listed(shard: &Shard, whole: &WholeView, kind: ListKind) -> Vec<ProfileItem> {
    if kind == ListKind::Tools {
        return whole.costs.tools.iter().map(|tool| listed_tool(shard, &whole.view, tool)).collect();
    }
    let mut items = Vec::new();
    for page in whole.view.pages(kind).all() {
        let Ok(page) = serde_json::from_slice::<ListPage<'_>>(page.text()) else { continue };
        let list = match kind {
            ListKind::Prompts => page.prompts,
            ListKind::Templates => page.templates,
            ListKind::Tools | ListKind::Resources => page.resources,
        };
        let read = |item: &&RawValue| Item::read(kind, item.get().to_owned().into());
        items.extend(list.iter().filter_map(read).map(|item| ProfileItem {
            described: DescribedItem::of(&item.text),
            server: None,
            own_name: None,
            name: item.key,
        }));
    }
    items
}

fn listed_tool(shard: &Shard, view: &View, CostedTool { item, tokens }: &CostedTool) -> ProfileItem {
    let entry = view.tool(&item.key);
    let server = entry.and_then(|entry| shard.gateway.snapshot.upstream(entry.upstream));
    ProfileItem {
        described: DescribedItem::of_tool(&item.text, *tokens),
        server: server.map(|spec| spec.name.to_string()),
        own_name: entry.map(|entry| entry.own_name().into_owned()),
        name: item.key.clone(),
    }
}

/// Returns the names of all tools that a view lists, without Dragoman's own.
pub(crate) fn tool_names(whole: &WholeView) -> impl Iterator<Item = &str> {
    let names = whole.costs.tools.iter().map(|tool| tool.item.key.as_str());
    names.filter(|name| whole.view.tool(name).is_some())
}
