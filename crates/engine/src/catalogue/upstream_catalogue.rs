//! The lists of one upstream. This module must not know which clients they are shown to.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use proto::bridge::shape::item;
use proto::era::{CacheHint, Era, ServerHello};

use super::first_use::FirstUse;
use super::item::listed;
use super::{Item, ListKind, Refusals};

/// A server's interpretation of a call's arguments, for servers that are known to change arguments.
pub trait ReadsArguments: fmt::Debug + Send + Sync {
    /// The forms in which the server may interpret the arguments, a JSON object; each form is a JSON object as well. A caller
    /// may call the tool only if every form is allowed. Empty if the server takes the arguments unchanged, or rejects them.
    /// `tool` is the server's own name for the tool.
    fn readings(&self, tool: &str, arguments: &[u8]) -> Vec<String>;

    /// The message with which the server rejects arguments that the tool does not have; `None` if the server accepts them. Only
    /// the server knows which arguments the caller may have meant, and which arguments some clients add to every call.
    fn unknown_arguments(&self, _tool: &str, _arguments: &[u8]) -> Option<String> {
        None
    }
}

/// The items of an upstream by list.
pub(super) type Lists = [Vec<Item>; 4];

/// The reasons why lists could not be fetched completely, by list.
pub(super) type ListFaults = [Option<Arc<str>>; 4];

/// An upstream's introduction and all pages of its lists.
#[derive(Debug, Clone)]
pub struct UpstreamCatalogue {
    /// The upstream's introduction on the links that serve the clients of this catalogue.
    pub hello: ServerHello,
    /// The protocol version in which the lists were fetched. This version may differ from that of the introduction: one
    /// catalogue serves links of several versions.
    pub listed_in: &'static Era,
    /// The time for which the lists may be cached, and the clients that may be served from the cache.
    pub cache: CacheHint,
    /// Irregularities in the lists, for people to read.
    pub notes: Vec<String>,
    /// The number of items that are not served, because they are invalid or exceed the cap.
    pub left_out: usize,
    /// The upstream's interpretation of arguments; `None` if the upstream is not known to change arguments.
    pub reader: Option<Arc<dyn ReadsArguments>>,
    /// The marks of the servers behind the server, if the server is a gateway that sends them. Only the gateway that made a mark
    /// understands it.
    pub behind: Arc<[Box<str>]>,
    /// True if the server has sent these lists since the process started; false if they were loaded from storage. An
    /// unconfirmed schema rejects no arguments.
    pub is_confirmed: bool,
    pub(super) failed: ListFaults,
    /// Tools that the server lists, but that are withheld until somebody approves their definitions; they are not listed.
    pub(super) held: Arc<[Item]>,
    pub(super) refusals: FirstUse<Refusals>,
    /// The estimated numbers of tokens of the tools, in their order.
    pub(super) tool_tokens: FirstUse<u64>,
    /// The lists themselves, shared by all catalogues that have the same lists.
    pub(super) lists: Arc<Lists>,
}

impl UpstreamCatalogue {
    /// The items of a list in the upstream's order.
    pub fn list(&self, kind: ListKind) -> &[Item] {
        &self.lists[kind.index()]
    }

    /// Returns true if one list, compared between two catalogues, has the same items with the same texts.
    pub fn same_list(&self, other: &Self, kind: ListKind) -> bool {
        let (a, b) = (self.list(kind), other.list(kind));
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.text == b.text)
    }

    /// The tools that are withheld until somebody approves their definitions.
    pub fn held(&self) -> &[Item] {
        &self.held
    }

    /// A copy of the catalogue in which the tools with these names are withheld.
    #[must_use]
    pub fn holding(&self, names: &HashSet<Arc<str>>) -> Self {
        let mut lists = Lists::clone(&self.lists);
        let tools = &mut lists[ListKind::Tools.index()];
        let (held, served) = std::mem::take(tools).into_iter().partition(|tool| names.contains(&*tool.key));
        *tools = served;
        let held: Vec<Item> = held;
        Self { lists: Arc::new(lists), held: held.into(), ..self.clone() }
    }

    /// The reason why a list could not be fetched completely; `None` if it was fetched completely.
    pub fn failure(&self, kind: ListKind) -> Option<&str> {
        self.failed[kind.index()].as_deref()
    }

    /// The reasons why lists could not be fetched completely.
    pub fn failures(&self) -> impl Iterator<Item = &str> {
        self.failed.iter().flatten().map(|why| &**why)
    }

    /// A copy of the catalogue in which each list that could not be fetched completely gets its missing items from
    /// `before`, as long as there are at most `entries` items in total.
    #[must_use]
    pub fn completed(&self, before: &Self, entries: usize) -> Self {
        let failed = ListKind::ALL.into_iter().filter(|kind| self.failure(*kind).is_some());
        let failed: Vec<ListKind> = failed.collect();
        if failed.is_empty() {
            return self.clone();
        }
        let mut lists = Lists::clone(&self.lists);
        let mut room = entries.saturating_sub(lists.iter().map(Vec::len).sum());
        for kind in failed {
            let list = &mut lists[kind.index()];
            let has: HashSet<String> = list.iter().map(|item| item.key.clone()).collect();
            let lacking = before.list(kind).iter().filter_map(|own| said_in(before, self, kind, own));
            let lacking = lacking.filter(|own| !has.contains(&own.key)).take(room);
            list.extend(lacking);
            room = entries.saturating_sub(lists.iter().map(Vec::len).sum());
        }
        Self { lists: Arc::new(lists), ..self.clone() }
    }

    /// A copy of the catalogue with another introduction, for clients whose calls go over links with that
    /// introduction. The copy shares the items.
    #[must_use]
    pub fn introduced(&self, hello: ServerHello) -> Self {
        Self { hello, ..self.clone() }
    }

    /// A copy of the catalogue with the additional items of other catalogues, translated to the version of this
    /// catalogue. If an item differs, the text from the other catalogue is used; if the other catalogue withholds a
    /// tool, the tool is withheld. Items that only other catalogues list come last. Items that this version cannot
    /// represent are left out.
    #[must_use]
    pub fn joined<'a>(&self, others: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut held = self.held.to_vec();
        let mut lists = Lists::clone(&self.lists);
        let places = |kind: ListKind| {
            self.list(kind).iter().enumerate().map(|(at, item)| (item.key.clone(), at)).collect()
        };
        let mut known: [HashMap<String, usize>; 4] = ListKind::ALL.map(places);
        for other in others {
            if !held.is_empty() {
                let shown: HashSet<&str> =
                    other.list(ListKind::Tools).iter().map(|own| own.key.as_str()).collect();
                held.retain(|tool| !shown.contains(tool.key.as_str()));
            }
            held.extend(other.held.iter().cloned());
            for kind in ListKind::ALL {
                let (list, known) = (&mut lists[kind.index()], &mut known[kind.index()]);
                for own in other.list(kind) {
                    let Some(own) = said_in(other, self, kind, own) else { continue };
                    if let Some(at) = known.get(&own.key) {
                        list[*at] = own;
                    } else {
                        known.insert(own.key.clone(), list.len());
                        list.push(own);
                    }
                }
            }
        }
        if !held.is_empty() {
            let names: HashSet<&str> = held.iter().map(|tool| tool.key.as_str()).collect();
            lists[ListKind::Tools.index()].retain(|tool| !names.contains(tool.key.as_str()));
        }
        Self { lists: Arc::new(lists), held: held.into(), ..self.clone() }
    }

    /// Returns the same lists, but shares items with equal texts with another catalogue, so that their bytes are stored only once.
    #[must_use]
    pub fn sharing(self, other: &Self) -> Self {
        if self.same_lists(other) {
            return Self { lists: other.lists.clone(), ..self };
        }
        let lists = ListKind::ALL.map(|kind| {
            let known: HashMap<&str, &Item> =
                other.list(kind).iter().map(|item| (item.key.as_str(), item)).collect();
            let alike =
                |own: &Item| known.get(own.key.as_str()).filter(|item| item.text == own.text).copied();
            self.list(kind).iter().map(|own| alike(own).unwrap_or(own).clone()).collect()
        });
        Self { lists: Arc::new(lists), ..self }
    }

    /// A catalogue of the items that `other` lacks and, if both were fetched in the same version, of the items whose texts
    /// differ.
    #[must_use]
    pub fn beyond(&self, other: &Self) -> Self {
        let is_comparable = self.listed_in == other.listed_in;
        let lists = ListKind::ALL.map(|kind| {
            let known: HashMap<&str, &Item> =
                other.list(kind).iter().map(|item| (item.key.as_str(), item)).collect();
            let is_beyond = |own: &&Item| match known.get(own.key.as_str()) {
                Some(item) => is_comparable && item.text != own.text,
                None => true,
            };
            self.list(kind).iter().filter(is_beyond).cloned().collect()
        });
        Self { lists: Arc::new(lists), ..self.clone() }
    }

    /// The total size of the items' texts, in bytes.
    pub fn text_bytes(&self) -> usize {
        self.lists.iter().flatten().map(|item| item.text.len()).sum()
    }

    /// Returns true if two catalogues share the same lists in memory, not only equal lists.
    pub fn shares_lists(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.lists, &other.lists)
    }

    /// Returns true if nothing is listed.
    pub fn is_empty(&self) -> bool {
        self.lists.iter().all(Vec::is_empty)
    }

    /// Returns true if two catalogues have the same items with the same texts.
    pub fn same_lists(&self, other: &Self) -> bool {
        ListKind::ALL.into_iter().all(|kind| self.same_list(other, kind))
    }
}

/// An item of one catalogue, translated to the version of another; `None` if that version cannot represent it.
fn said_in(of: &UpstreamCatalogue, other: &UpstreamCatalogue, kind: ListKind, own: &Item) -> Option<Item> {
    if of.listed_in == other.listed_in {
        return Some(own.clone());
    }
    Item::read(kind, item(listed(kind), &own.text, of.listed_in, other.listed_in)?)
}
