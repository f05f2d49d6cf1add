//! Everything that one upstream offers to one kind of client.

use std::fmt;
use std::sync::Arc;

use proto::era::{CacheHint, ServerHello};

use super::{Item, ListKind};

/// What a server makes of the arguments of a call before it acts on them, where that is known.
pub trait ReadsArguments: fmt::Debug + Send + Sync {
    /// The arguments, a JSON object, as the server reads them, each an object, too: whoever may not call the tool with one of
    /// these may not call it. None where it takes them as they are, or refuses them. `tool` is the server's own name.
    fn readings(&self, tool: &str, arguments: &[u8]) -> Vec<String>;

    /// The words with which the server refuses arguments that the tool does not have; none where it takes them. It knows best
    /// which were meant, and which some clients add to all calls.
    fn unknown_arguments(&self, _tool: &str, _arguments: &[u8]) -> Option<String> {
        None
    }
}

/// What an upstream said of itself and listed, all pages of it.
#[derive(Debug, Clone)]
pub struct Offer {
    /// Its introduction.
    pub hello: ServerHello,
    /// The time for which the lists may be kept, and for whom.
    pub cache: CacheHint,
    /// What was odd about the lists, for people to read.
    pub notes: Vec<String>,
    /// What it makes of arguments; `None` where it takes them as they are, as far as anybody knows.
    pub reader: Option<Arc<dyn ReadsArguments>>,
    pub(super) lists: [Vec<Item>; 4],
}

impl Offer {
    /// The items of a list in the upstream's order.
    pub fn list(&self, kind: ListKind) -> &[Item] {
        &self.lists[kind.index()]
    }

    /// Returns true if two offers list the same things in the same words.
    pub fn same_list(&self, other: &Self, kind: ListKind) -> bool {
        let (a, b) = (self.list(kind), other.list(kind));
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.text == b.text)
    }
}
