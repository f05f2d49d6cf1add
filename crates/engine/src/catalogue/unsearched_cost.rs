//! The cost of a view's tools if clients listed all of them instead of searching. This module must not know who asks.

use std::collections::HashSet;

use super::{ListKind, TokenCost, ToolSearch, View};

impl View {
    /// The cost of all tools of the servers, if clients listed them instead of searching.
    pub fn token_cost_unsearched(&self) -> TokenCost {
        // Some tools can be listed and found.
        let found: HashSet<&str> = self.search().into_iter().flat_map(ToolSearch::names).collect();
        let counts = |name: &str| self.tool(name).is_some() && !found.contains(name);
        let listed = TokenCost::of_some(self.pages(ListKind::Tools), counts);
        let searched = self.search().map(ToolSearch::token_cost).unwrap_or_default();
        TokenCost {
            tools: listed.tools + searched.tools,
            tokens: listed.tokens.saturating_add(searched.tokens),
        }
    }
}
