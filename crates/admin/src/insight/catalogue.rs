//! The items of the servers, as they list them. This module must not know profiles or callers.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use engine::access::Annotations;
use engine::catalogue::{Item, ListKind, Refusals, UpstreamCatalogue};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::servers::era;
use gateway::changes::Refusal;
use gateway::process::Shard;

/// The names of the kinds of items.
pub(crate) const KINDS: &[&str] = &["tools", "prompts", "resources", "templates"];

/// The maximum number of items that can be skipped.
pub(crate) const MOST_ITEMS: u64 = 1_000_000;

/// The maximum length of a text of a server, in characters.
const LONGEST: usize = 2000;

/// Returns the kind with this name; tools if there is no name.
pub(crate) fn kind(name: Option<&str>) -> ListKind {
    let at = KINDS.iter().position(|kind| Some(*kind) == name).unwrap_or(0);
    ListKind::ALL[at]
}

/// The filter for a list of items.
#[derive(Debug, Clone)]
pub(crate) struct CatalogueQuery {
    pub(crate) kind: ListKind,
    pub(crate) server: Option<String>,
    pub(crate) search: Option<String>,
    /// True to list only tools that await approval.
    pub(crate) is_held: bool,
    pub(crate) offset: u64,
    pub(crate) limit: u64,
}

impl CatalogueQuery {
    /// Returns true if an item is chosen.
    pub(super) fn chooses(&self, name: &str, described: &DescribedItem) -> bool {
        let Some(search) = self.search.as_deref().map(str::to_lowercase) else { return true };
        let texts = [Some(name), described.title.as_deref(), described.description.as_deref()];
        texts.iter().flatten().any(|text| text.to_lowercase().contains(&search))
    }

    /// Returns the chosen page of a list.
    pub(super) fn page<T>(&self, all: Vec<T>) -> Vec<T> {
        let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        all.into_iter().skip(count(self.offset)).take(count(self.limit)).collect()
    }
}

/// The items on one page.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CataloguePage {
    pub(crate) kind: &'static str,
    /// The number of chosen items on all pages.
    pub(crate) total: usize,
    pub(crate) items: Vec<CatalogueItem>,
    /// The servers whose lists are not known, with the reason.
    pub(crate) missing: Vec<MissingServer>,
}

/// A server whose lists are not known.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MissingServer {
    pub(crate) server: String,
    pub(crate) reason: String,
}

/// One item.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CatalogueItem {
    pub(crate) server: String,
    /// The server's own name for the item: a name, a URI or a URI template.
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) described: DescribedItem,
    /// True if clients do not see the tool until somebody approves its definition.
    pub(crate) is_held: bool,
    /// The families of clients that refuse the tool, with the reasons.
    pub(crate) findings: Vec<ItemFinding>,
}

/// The statements of a server about an item.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DescribedItem {
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    /// The estimated number of tokens that a tool takes in a model's context; `null` for other items.
    pub(crate) tokens: Option<u64>,
    /// The hints about a tool, with the protocol's defaults; `null` for other items.
    pub(crate) annotations: Option<ToolHints>,
}

/// The hints of a server about a tool.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "they are the protocol's four hints")]
pub(crate) struct ToolHints {
    pub(crate) read_only: bool,
    pub(crate) destructive: bool,
    pub(crate) idempotent: bool,
    pub(crate) open_world: bool,
}

/// A reason why a family of clients refuses a tool.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ItemFinding {
    pub(crate) family: &'static str,
    #[serde(flatten)]
    pub(crate) reason: SchemaReason,
}

/// The tools of a server as it reports them.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServerTools {
    pub(crate) id: String,
    /// The tools, exactly as the server lists them.
    pub(crate) tools: Vec<Value>,
    pub(crate) tokens: ServerTokens,
    pub(crate) refusals: Vec<FamilyRefusals>,
}

/// The estimated numbers of tokens that tools take in a model's context.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServerTokens {
    pub(crate) total: u64,
    pub(crate) tools: BTreeMap<String, u64>,
}

impl ServerTokens {
    pub(super) fn of(tools: BTreeMap<String, u64>) -> Self {
        Self { total: tools.values().sum(), tools }
    }
}

/// The tools of a server that a family of clients refuses.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FamilyRefusals {
    pub(crate) family: &'static str,
    /// The number of refused tools, of which the first 20 are listed.
    pub(crate) count: usize,
    pub(crate) tools: Vec<ToolRefusals>,
}

/// A tool that a family refuses, with the reasons.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToolRefusals {
    pub(crate) name: String,
    pub(crate) reasons: Vec<SchemaReason>,
}

/// A place in a schema, and the rule that it breaks.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SchemaReason {
    /// The place, as a JSON pointer.
    pub(crate) path: String,
    pub(crate) rule: &'static str,
    pub(crate) message: &'static str,
}

/// Returns the refusals of a family.
pub(super) fn refused(one: &Refusals) -> FamilyRefusals {
    let tools = one.tools.iter().map(|tool| ToolRefusals {
        name: tool.name.clone(),
        reasons: tool
            .findings
            .iter()
            .map(|found| SchemaReason {
                path: found.path.clone(),
                rule: found.rule.id(),
                message: found.rule.sentence(),
            })
            .collect(),
    });
    FamilyRefusals { family: one.family.name, count: one.count, tools: tools.collect() }
}

impl DescribedItem {
    /// Returns the server's statements about a prompt, a resource or a template.
    pub(super) fn of(text: &[u8]) -> Self {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct ItemTexts {
            title: Option<Value>,
            description: Option<Value>,
        }
        let said: ItemTexts = serde_json::from_slice(text).unwrap_or_default();
        let text_of = |value: Option<Value>| value.as_ref().and_then(Value::as_str).map(clipped);
        Self {
            title: text_of(said.title),
            description: text_of(said.description),
            tokens: None,
            annotations: None,
        }
    }

    /// Returns the server's statements about a tool; `tokens` is the size of the tool's definition.
    pub(crate) fn of_tool(text: &[u8], tokens: u64) -> Self {
        let annotations = Some(hints(Annotations::of_tool(text)));
        Self { tokens: Some(tokens), annotations, ..Self::of(text) }
    }
}

fn hints(annotations: Annotations) -> ToolHints {
    let Annotations { read_only, destructive, idempotent, open_world } = annotations;
    ToolHints { read_only, destructive, idempotent, open_world }
}

fn clipped(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns the chosen items of all servers, in the order of the configuration.
///
/// # Errors
/// Fails if the query names a server that does not exist.
pub(crate) async fn items(shard: &Arc<Shard>, query: CatalogueQuery) -> Result<CataloguePage, Refusal> {
    let specs = &shard.gateway.snapshot.upstreams;
    if let Some(server) = &query.server
        && !shard.gateway.standing.config().mcp_servers.contains_key(server)
    {
        return Err(Refusal::no_server(server));
    }
    let is_chosen = |name: &str| query.server.as_deref().is_none_or(|server| server == name);
    let mut known = Vec::new();
    let mut missing = Vec::new();
    for spec in specs.iter().filter(|spec| is_chosen(&spec.name)) {
        let upstream = shard.view.state.upstreams.get(spec.id);
        match upstream.catalogue.tools(era(&upstream)) {
            Ok(catalogue) => known.push((spec.name.clone(), catalogue, upstream.catalogue.held_names())),
            Err(absence) => {
                missing.push(MissingServer { server: spec.name.to_string(), reason: absence.reason });
            }
        }
    }
    let kind = query.kind;
    // There may be thousands of items.
    let gathered = transport::task::spawn_blocking(move || {
        let all: Vec<CatalogueItem> =
            known.iter().flat_map(|(server, lists, held)| chosen(server, (lists, held), &query)).collect();
        (all.len(), query.page(all))
    });
    let (total, items) = gathered.await.map_err(|e| Refusal::internal(e.to_string()))?;
    Ok(CataloguePage { kind: word(kind), total, items, missing })
}

/// Returns a tool of a server as the server lists it; `None` if the server does not list it, or its lists are not known.
pub(crate) fn tool(shard: &Shard, server: &str, name: &str) -> Option<CatalogueItem> {
    let spec = shard.gateway.snapshot.upstreams.iter().find(|spec| *spec.name == *server)?;
    let upstream = shard.view.state.upstreams.get(spec.id);
    let catalogue = upstream.catalogue.tools(era(&upstream)).ok()?;
    let at = catalogue.list(ListKind::Tools).iter().position(|item| item.key == name)?;
    let item = &catalogue.list(ListKind::Tools)[at];
    Some(CatalogueItem {
        server: server.to_owned(),
        name: name.to_owned(),
        described: DescribedItem::of_tool(&item.text, catalogue.tool_tokens()[at]),
        is_held: upstream.catalogue.held_names().contains(name),
        findings: findings(&catalogue).remove(name).unwrap_or_default(),
    })
}

pub(super) fn word(kind: ListKind) -> &'static str {
    ListKind::ALL.iter().position(|one| *one == kind).map_or("", |at| KINDS[at])
}

fn chosen(
    server: &str,
    (catalogue, held): (&UpstreamCatalogue, &HashSet<String>),
    query: &CatalogueQuery,
) -> Vec<CatalogueItem> {
    let kind = query.kind;
    let findings = if kind == ListKind::Tools { findings(catalogue) } else { BTreeMap::new() };
    let tokens = if kind == ListKind::Tools { catalogue.tool_tokens() } else { Arc::default() };
    // The lists are as the server sent them, with the tools that are withheld from clients.
    let listed = catalogue.list(kind).iter().enumerate();
    let listed = listed.map(|(at, item)| (at, item, kind == ListKind::Tools && held.contains(&item.key)));
    let one = |(at, item, is_held): (usize, &Item, bool)| {
        let described = match tokens.get(at) {
            Some(tokens) => DescribedItem::of_tool(&item.text, *tokens),
            None => DescribedItem::of(&item.text),
        };
        query.chooses(&item.key, &described).then(|| CatalogueItem {
            server: server.to_owned(),
            name: item.key.clone(),
            described,
            is_held,
            findings: findings.get(&item.key).cloned().unwrap_or_default(),
        })
    };
    listed.filter(|(_, _, is_held)| *is_held || !query.is_held).filter_map(one).collect()
}

/// Returns the findings about a server's tools, by the tools' names.
fn findings(catalogue: &UpstreamCatalogue) -> BTreeMap<String, Vec<ItemFinding>> {
    let mut by_tool: BTreeMap<String, Vec<ItemFinding>> = BTreeMap::new();
    for family in catalogue.refusals().iter().map(refused) {
        for ToolRefusals { name, reasons } in family.tools {
            let own = reasons.into_iter().map(|reason| ItemFinding { family: family.family, reason });
            by_tool.entry(name).or_default().extend(own);
        }
    }
    by_tool
}
