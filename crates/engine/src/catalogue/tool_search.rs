//! The search over a view's tools, for profiles that do not list them all: the index, and the text of each tool as its clients
//! see it. This module must not know who may call which tool: it gets only tools that the clients may call.

use std::sync::Arc;

use bytes::Bytes;
use proto::bridge::shape::{Listed, item};
use proto::bridge::tasks::{TaskSupport, supporting_tasks};
use proto::era::{Era, Tasks, newest_stateless};
use proto::json::{Elements, Members, Span};

use super::{Item, ListKind, TokenCost, ToolEntry};
use crate::access::Annotations;
use crate::search::{FindTools, FoundTool, Searchable, ToolIndex, ToolText, found_text};

/// A tool that clients find by searching.
pub(super) struct SearchedItem<'p> {
    /// The name of the tool's server.
    pub(super) server: &'p str,
    /// The tool's name at the server.
    pub(super) own_name: &'p str,
    /// The tool as clients see it.
    pub(super) shown: &'p Item,
    pub(super) entry: Arc<ToolEntry>,
}

/// A tool in the answers of a search.
#[derive(Debug)]
struct IndexedTool {
    name: Arc<str>,
    text: Bytes,
}

/// The index with its tools.
#[derive(Debug)]
struct SearchedTools {
    index: ToolIndex,
    tools: Box<[IndexedTool]>,
}

/// The search over a view's tools.
#[derive(Debug, Clone)]
pub struct ToolSearch {
    /// `None` if the index was dropped together with the pages.
    ready: Option<Arc<SearchedTools>>,
}

impl ToolSearch {
    pub(super) fn new(items: &[SearchedItem<'_>]) -> Self {
        let text = |item: &SearchedItem<'_>| (item.entry.name.clone(), item.shown.text.clone());
        let tools = items.iter().map(text).map(|(name, text)| IndexedTool { name, text }).collect();
        let index = ToolIndex::build(items.iter().map(|item| ToolText {
            server: item.server,
            name: &item.entry.name,
            own_name: item.own_name,
            text: &item.shown.text,
        }));
        Self { ready: Some(Arc::new(SearchedTools { index, tools })) }
    }

    /// The text of the answer to a search; `None` if the index was dropped.
    pub fn answer(&self, wanted: &FindTools) -> Option<String> {
        let SearchedTools { index, tools } = self.ready.as_deref()?;
        let found = index.search(&wanted.query, wanted.limit);
        let found = found.into_iter().filter_map(|at| tools.get(at as usize));
        Some(found_text(found.map(|tool| FoundTool { name: &tool.name, text: &tool.text })))
    }

    /// The cost of all tools that can be found. The cost is zero if the index was dropped.
    pub fn token_cost(&self) -> TokenCost {
        let mut cost = TokenCost::default();
        for tool in self.ready.iter().flat_map(|ready| &ready.tools) {
            cost.add(&tool.name, &tool.text);
        }
        cost
    }

    /// The names by which clients call the tools; none if the index was dropped.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.ready.iter().flat_map(|ready| &ready.tools).map(|tool| &*tool.name)
    }

    /// The listed definition of the tool that clients call by this name; `None` if the index was dropped.
    pub fn text_of(&self, name: &str) -> Option<Bytes> {
        let tools = &self.ready.as_deref()?.tools;
        tools.iter().find(|tool| &*tool.name == name).map(|tool| tool.text.clone())
    }

    /// Returns true if the index exists.
    pub(super) fn is_ready(&self) -> bool {
        self.ready.is_some()
    }

    /// The size of the index, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let size = |ready: &Arc<SearchedTools>| ready.index.bytes() + size_of_val(&*ready.tools);
        self.ready.as_ref().map_or(0, size)
    }

    /// A search whose index was dropped; the next search needs a new index.
    pub(super) fn without_index() -> Self {
        Self { ready: None }
    }
}

/// The definitions of the gateway's own tools as clients of `era` see them.
pub(super) fn own_tools(items: &[SearchedItem<'_>], era: &'static Era) -> Vec<Item> {
    let mut servers: Vec<(&str, usize)> = Vec::new();
    for item in items {
        match servers.last_mut() {
            Some((server, tools)) if *server == item.server => *tools += 1,
            _ => servers.push((item.server, 1)),
        }
    }
    let runs_tasks = era.shapes.tasks == Tasks::Experiment
        && items.iter().any(|item| item.entry.tasks != TaskSupport::Forbidden);
    let all = Searchable { servers, annotations: worst(items.iter().map(|item| item.entry.annotations)) };
    let shown = |text: String| item(Listed::Tool, &text.into(), newest_stateless(), era);
    let call = shown(all.call_tool());
    let call = if runs_tasks { call.and_then(|text| supporting_tasks(&text)) } else { call };
    let own = [shown(all.find_tools()), call];
    own.into_iter().flatten().filter_map(|text| Item::read(ListKind::Tools, text)).collect()
}

/// The combined annotations for a call of any of these tools: each hint has the value of the most dangerous tool.
fn worst(all: impl Iterator<Item = Annotations>) -> Annotations {
    let worse = |one: Annotations, other: Annotations| Annotations {
        read_only: one.read_only && other.read_only,
        destructive: one.destructive || other.destructive,
        idempotent: one.idempotent && other.idempotent,
        open_world: one.open_world || other.open_world,
    };
    all.reduce(worse).unwrap_or_default()
}

/// Returns true if a tool is only for the user interface of an MCP app, and not for models (MCP Apps 2026-01-26: visibility).
pub(super) fn is_for_apps_only(tool: &[u8]) -> bool {
    let inside = |span: Span, key: &str| Members::of_value(tool, span)?.get(tool, key);
    let visibility = inside(Span::new(0, tool.len()), "_meta")
        .and_then(|meta| inside(meta, "ui"))
        .and_then(|ui| inside(ui, "visibility"))
        .and_then(|list| Elements::of_value(tool, list));
    visibility.is_some_and(|list| !list.iter().any(|who| who.of(tool) == b"\"model\""))
}
