//! An estimate of the tokens that lists of tools take in a model's context. This module must not know who asks.

use proto::json::{Elements, MAX_DEPTH, Members};

use super::{Item, ListKind, Pages};
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
        self.tools += 1;
        self.tokens += tokens_of_tool(name, text);
    }

    /// The cost of the tools on the pages of a list, as clients see them. The cost is zero if the pages were dropped.
    pub(super) fn of_pages(pages: &Pages) -> Self {
        Self::of_some(pages, |_| true)
    }

    /// The cost of the listed tools whose names `counts` accepts.
    pub(super) fn of_some(pages: &Pages, counts: impl Fn(&str) -> bool) -> Self {
        let mut cost = Self::default();
        for page in pages.all() {
            let text = page.text();
            let list = Members::of_document(text, MAX_DEPTH).ok();
            let list = list.and_then(|members| members.get(text, ListKind::Tools.member()));
            for tool in list.and_then(|list| Elements::of_value(text, list)).iter().flat_map(Elements::iter) {
                if let Some(item) =
                    Item::read(ListKind::Tools, tool.share(text)).filter(|item| counts(&item.key))
                {
                    cost.add(&item.key, &item.text);
                }
            }
        }
        cost
    }
}
