//! The current and former names of a profile's items. Without this memory, a name could move from one item to
//! another when a server joins, leaves or starts more slowly, and every renaming would break the clients that still
//! use the old name. This module must not know how a name is formed.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::uris::{MOST_URIS, UriRows, has_uris};
use crate::list_kind::ListKind;

/// The maximum number of names in one book, and of former names.
pub(super) const MOST: usize = 20_000;

/// The time after which an unchanged book is stored again, in seconds.
const WRITTEN_EVERY: u64 = 24 * 60 * 60;

/// An item by its server and the server's own name for it.
pub(super) type ItemOf = (ListKind, Arc<str>, Arc<str>);

/// Former names, each with the item that it still refers to: the item's server, and the item's name at that server.
pub type FormerNames = HashMap<(ListKind, Arc<str>), (Arc<str>, Arc<str>)>;

/// The names of a profile's tools and prompts, their former names, and the URIs that several servers have. Names
/// that can be derived from the item alone are not in the book.
#[derive(Debug, Clone, Default)]
pub struct NameBook {
    pub(super) names: BTreeMap<ItemOf, Arc<str>>,
    /// The counts of rows about URIs.
    pub(super) uris: UriRows,
    /// The time of the profile's first view in this process, in seconds since 1970; not stored.
    pub(super) began: Option<u64>,
    /// Digests of each server's URIs that are public as the server wrote them. They are not stored.
    pub(super) seen: HashMap<Arc<str>, HashSet<u64>>,
    holders: HashMap<(ListKind, Arc<str>), ItemOf>,
    /// The former names, each with its item and the time until which the name is valid, in seconds since 1970.
    former: HashMap<(ListKind, Arc<str>), (ItemOf, u64)>,
    /// The current time, in seconds since 1970, and the period for which former names stay valid, in seconds.
    pub(super) now: u64,
    grace: u64,
    shown: Arc<FormerNames>,
    has_changed: bool,
    /// The time at which the text was last requested, in seconds since 1970.
    saved: u64,
}

/// A row of a stored book.
#[derive(Serialize, Deserialize)]
struct StoredName {
    list: ListKind,
    server: String,
    own: String,
    name: String,
    /// The time until which a former name is valid; `None` for a current name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    until: Option<u64>,
}

impl NameBook {
    /// Sets the current time, and the period for which former names stay valid, both in seconds. Forgets expired former names,
    /// and the items of servers for which `is_configured` is false.
    pub fn begin(&mut self, now: u64, grace: u64, is_configured: impl Fn(&str) -> bool) {
        (self.now, self.grace) = (now, grace);
        self.began.get_or_insert(now);
        let gone: Vec<ItemOf> = self.names.keys().filter(|item| !is_configured(&item.1)).cloned().collect();
        for item in &gone {
            if let Some(name) = self.remove(item) {
                self.holders.remove(&(item.0, name));
            }
        }
        self.seen.retain(|server, _| is_configured(server));
        // Stored rows that are never written again are deleted.
        if now >= self.saved.saturating_add(WRITTEN_EVERY)
            && !(self.names.is_empty() && self.former.is_empty())
        {
            self.has_changed = true;
        }
        self.former.retain(|_, (item, _)| is_configured(&item.1));
        self.has_changed |= !gone.is_empty();
        self.expire(now);
    }

    /// Forgets former names that have expired by `now`, in seconds since 1970. If any name has expired, returns the names
    /// that are still valid.
    pub fn expire(&mut self, now: u64) -> Option<Arc<FormerNames>> {
        self.former.retain(|_, (_, until)| *until > now);
        if self.former.len() == self.shown.len() {
            return None;
        }
        self.show();
        Some(self.shown.clone())
    }

    /// The name that an item has; `None` if the name can be derived from the item alone, or is not known.
    pub(in crate::catalogue) fn name(
        &self,
        kind: ListKind,
        server: &Arc<str>,
        own: &str,
    ) -> Option<&Arc<str>> {
        self.names.get(&(kind, server.clone(), own.into()))
    }

    /// The item that is shown under `name`, as its server and its name at that server; `None` if no item has this
    /// name, or if the name can be derived from the item alone.
    pub(in crate::catalogue) fn holder(&self, kind: ListKind, name: &str) -> Option<(&str, &str)> {
        self.holders.get(&(kind, name.into())).map(|(_, server, own)| (&**server, &**own))
    }

    /// Records the name under which an item is shown. If the item had another name before, the former name stays
    /// valid for a while. A name that can be derived from the item alone (`is_usual`) needs no row.
    pub(in crate::catalogue) fn note(
        &mut self,
        kind: ListKind,
        (server, own): (&Arc<str>, &str),
        name: &str,
        is_usual: bool,
    ) {
        if is_usual && self.names.is_empty() {
            return;
        }
        let item: ItemOf = (kind, server.clone(), own.into());
        let before = self.names.get(&item);
        if before.map_or(is_usual, |before| **before == *name) {
            return;
        }
        if let Some(before) = self.remove(&item) {
            self.has_changed = true;
            self.holders.remove(&(kind, before.clone()));
            if !has_uris(kind) {
                self.remember(kind, before, item.clone());
            }
        }
        if !is_usual && self.has_room(&item, name) {
            self.insert(item, name.into());
        }
    }

    fn has_room(&self, (kind, server, own): &ItemOf, name: &str) -> bool {
        if has_uris(*kind) {
            self.uris.have_room(server, **own != *name)
        } else {
            self.names.len() - self.uris.count() < MOST
        }
    }

    pub(super) fn insert(&mut self, item: ItemOf, name: Arc<str>) {
        self.remove(&item);
        self.has_changed = true;
        if has_uris(item.0) {
            self.uris.add(&item.1, item.2 != name);
        }
        self.holders.insert((item.0, name.clone()), item.clone());
        self.names.insert(item, name);
    }

    fn remove(&mut self, item: &ItemOf) -> Option<Arc<str>> {
        let name = self.names.remove(item)?;
        if has_uris(item.0) {
            self.uris.remove(&item.1, item.2 != name);
        }
        Some(name)
    }

    /// The names of all tools and prompts for which `is_shown` is false. These names must not lead to any other item.
    pub(in crate::catalogue) fn reserved(
        &self,
        is_shown: impl Fn(ListKind, &str) -> bool,
    ) -> HashSet<(ListKind, Arc<str>)> {
        let all = self.names.iter().filter(|((kind, ..), name)| !has_uris(*kind) && !is_shown(*kind, name));
        all.map(|((kind, ..), name)| (*kind, name.clone())).collect()
    }

    fn remember(&mut self, kind: ListKind, name: Arc<str>, item: ItemOf) {
        if self.grace == 0 {
            return;
        }
        if self.former.len() >= MOST
            && let Some(first) =
                self.former.iter().min_by_key(|(_, (_, until))| *until).map(|(key, _)| key.clone())
        {
            self.former.remove(&first);
        }
        self.former.insert((kind, name), (item, self.now.saturating_add(self.grace)));
        self.show();
    }

    fn show(&mut self) {
        let all = self.former.iter();
        let all = all.map(|(key, ((_, server, own), _))| (key.clone(), (server.clone(), own.clone())));
        self.shown = Arc::new(all.collect());
        self.has_changed = true;
    }

    /// The former names that are still valid.
    pub(in crate::catalogue) fn former(&self) -> Arc<FormerNames> {
        self.shown.clone()
    }

    /// The text to store, if anything has changed since the last call.
    pub fn unsaved(&mut self) -> Option<String> {
        if !std::mem::take(&mut self.has_changed) {
            return None;
        }
        self.saved = self.now;
        let row = |(list, server, own): &ItemOf, name: &Arc<str>, until| StoredName {
            list: *list,
            server: server.to_string(),
            own: own.to_string(),
            name: name.to_string(),
            until,
        };
        let current = self.names.iter().map(|(item, name)| row(item, name, None));
        let mut former: Vec<_> =
            self.former.iter().map(|((_, name), (item, until))| row(item, name, Some(*until))).collect();
        former.sort_by(|one, other| (one.until, &one.name).cmp(&(other.until, &other.name)));
        serde_json::to_string(&current.chain(former).collect::<Vec<_>>()).ok()
    }

    /// Reads a stored text; `None` if it is not valid.
    pub fn stored(text: &[u8]) -> Option<Self> {
        let rows: Vec<StoredName> = serde_json::from_slice(text).ok()?;
        let mut book = Self::default();
        let mut taken = HashSet::new();
        for StoredName { list, server, own, name, until } in rows.into_iter().take(2 * MOST + MOST_URIS) {
            let (item, name): (ItemOf, Arc<str>) = ((list, server.into(), own.into()), name.into());
            match until {
                Some(until) => {
                    book.former.insert((list, name), (item, until));
                }
                None if taken.insert((list, name.clone())) => book.insert(item, name),
                None => {}
            }
        }
        book.show();
        book.has_changed = false;
        Some(book)
    }
}
