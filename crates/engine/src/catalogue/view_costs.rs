//! The costs of a view's tools: of those that are listed, of those that are found, and of all if clients listed them. This module must
//! not know who asks.

use std::collections::HashSet;

use proto::json::{Elements, MAX_DEPTH, Members};

use super::{Item, ListKind, TokenCost, ToolSearch, View};
use crate::tokens::tokens_of_tool;

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
