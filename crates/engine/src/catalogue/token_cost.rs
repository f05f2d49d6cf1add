//! An estimate of the tokens that lists of tools take in a model's context. This module must not know who asks.

use std::collections::HashSet;
use std::sync::Arc;

use proto::json::{Elements, MAX_DEPTH, Members};

use super::{Item, ListKind, ToolSearch, UpstreamCatalogue, View};
use crate::tokens::tokens_of_tool;

/// A number of tools, and the estimated number of tokens that their definitions take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TokenCost {
    /// The number of tools.
    pub tools: usize,
    /// The estimated number of tokens.
    pub tokens: u64,
}

impl TokenCost {
    /// The cost of tools as their server lists them.
    pub fn of<'i>(items: impl IntoIterator<Item = &'i Item>) -> Self {
        let mut cost = Self::default();
        for item in items {
            cost.add(&item.key, &item.text);
        }
        cost
    }

    pub(super) fn add(&mut self, name: &str, text: &[u8]) {
        self.count(tokens_of_tool(name, text));
    }

    fn count(&mut self, tokens: u64) {
        self.tools += 1;
        self.tokens = self.tokens.saturating_add(tokens);
    }

    fn and(self, other: Self) -> Self {
        Self { tools: self.tools + other.tools, tokens: self.tokens.saturating_add(other.tokens) }
    }
}

impl UpstreamCatalogue {
    /// The estimated numbers of tokens of the tools, in their order. The first call takes milliseconds for hundreds of tools.
    pub fn tool_tokens(&self) -> Arc<[u64]> {
        let tools = || self.list(ListKind::Tools).iter();
        self.tool_tokens.get(|| tools().map(|tool| tokens_of_tool(&tool.key, &tool.text)).collect())
    }

    /// The cost of the tools as the server lists them.
    pub fn tool_cost(&self) -> TokenCost {
        let tokens = self.tool_tokens();
        TokenCost { tools: tokens.len(), tokens: tokens.iter().fold(0, |sum, one| sum.saturating_add(*one)) }
    }
}

/// A listed tool as clients see it.
#[derive(Debug, Clone)]
pub struct CostedTool {
    /// The tool, under its public name.
    pub item: Item,
    /// The estimated number of tokens that its definition takes.
    pub tokens: u64,
}

/// The listed tools of a view, and the costs of its tools.
#[derive(Debug, Clone, Default)]
pub struct ViewCosts {
    /// The listed tools in their order, with the gateway's own tools; none if the pages were dropped.
    pub tools: Vec<CostedTool>,
    /// The cost of the listed tools.
    pub listed: TokenCost,
    /// The cost of the tools that clients find by searching; `None` if they see all tools.
    pub searched: Option<TokenCost>,
    /// The cost of all tools of the servers, if clients listed them instead of searching.
    pub unsearched: TokenCost,
}

impl ViewCosts {
    /// Computes the costs of a view. This takes milliseconds for hundreds of tools.
    pub fn of(view: &View) -> Self {
        let tools = listed_tools(view);
        // Some tools can be listed and found.
        let found: HashSet<&str> = view.search().into_iter().flat_map(ToolSearch::names).collect();
        let is_servers = |name: &str| view.tool(name).is_some() && !found.contains(name);
        let (mut listed, mut unsearched) = (TokenCost::default(), TokenCost::default());
        for tool in &tools {
            listed.count(tool.tokens);
            if is_servers(&tool.item.key) {
                unsearched.count(tool.tokens);
            }
        }
        let searched = view.search().map(ToolSearch::token_cost);
        Self { unsearched: unsearched.and(searched.unwrap_or_default()), tools, listed, searched }
    }
}

/// The tools on the pages of a view.
fn listed_tools(view: &View) -> Vec<CostedTool> {
    let mut tools = Vec::new();
    for page in view.pages(ListKind::Tools).all() {
        let text = page.text();
        let list = Members::of_document(text, MAX_DEPTH).ok();
        let list = list.and_then(|members| members.get(text, ListKind::Tools.member()));
        for tool in list.and_then(|list| Elements::of_value(text, list)).iter().flat_map(Elements::iter) {
            let item = Item::read(ListKind::Tools, tool.share(text));
            tools.extend(item.map(|item| CostedTool { tokens: tokens_of_tool(&item.key, &item.text), item }));
        }
    }
    tools
}
