//! Everything that one upstream offers to one kind of client.

use proto::era::{CacheHint, ServerHello};

use super::{Item, ListKind};

/// What an upstream said of itself and listed, all pages of it.
#[derive(Debug, Clone)]
pub struct Offer {
    /// Its introduction.
    pub hello: ServerHello,
    /// How long the lists may be kept, and for whom.
    pub cache: CacheHint,
    /// What was odd about the lists, for people to read.
    pub notes: Vec<String>,
    pub(super) lists: [Vec<Item>; 4],
}

impl Offer {
    /// The items of a list in the upstream's order.
    pub fn list(&self, kind: ListKind) -> &[Item] {
        &self.lists[kind.index()]
    }

    /// Whether two offers list the same things in the same words.
    pub fn same_list(&self, other: &Self, kind: ListKind) -> bool {
        let (a, b) = (self.list(kind), other.list(kind));
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.text == b.text)
    }
}
