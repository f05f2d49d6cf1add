//! The cost of a view's tools if clients listed all of them instead of searching. This module must not know who asks.

use super::{ListKind, TokenCost, ToolSearch, View};

impl View {
    /// The cost of all tools of the servers, if clients listed them instead of searching.
    pub fn token_cost_unsearched(&self) -> TokenCost {
        let listed = TokenCost::of_some(self.pages(ListKind::Tools), |name| self.tool(name).is_some());
        let found = self.search().map(ToolSearch::token_cost).unwrap_or_default();
        TokenCost { tools: listed.tools + found.tools, tokens: listed.tokens.saturating_add(found.tokens) }
    }
}
