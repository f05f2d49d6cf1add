//! An estimate of the tokens that lists of tools take in a model's context. This module must not know who asks.

use std::sync::Arc;

use super::{Item, ListKind, UpstreamCatalogue};
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

    pub(super) fn count(&mut self, tokens: u64) {
        self.tools += 1;
        self.tokens = self.tokens.saturating_add(tokens);
    }

    pub(super) fn and(self, other: Self) -> Self {
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
