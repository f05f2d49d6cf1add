//! Remembers which server has which URI. If several servers have a URI, it stays with the first of them, regardless
//! of which servers join, leave or list the URI later. This module must not know what a public URI looks like to
//! clients.

use std::collections::{HashMap, HashSet};
use std::hash::{Hash as _, Hasher as _};
use std::sync::Arc;

use super::book::{ItemOf, MOST, NameBook};
use crate::catalogue::uri_mark::marked;
use crate::list_kind::ListKind;

/// The maximum number of rows about URIs in one book.
pub(super) const MOST_URIS: usize = MOST / 4;

/// For each server, the maximum number of rows about URIs that must carry the server's name. Each such row comes with
/// another row, for the server that has the URI. So one server causes at most a quarter of all rows, and other servers'
/// URIs can still be recorded.
const MOST_OF_ONE: usize = MOST_URIS / 8;

/// The counts of rows about URIs.
#[derive(Debug, Clone, Default)]
pub(super) struct UriRows {
    all: usize,
    /// The number of each server's URIs that carry the server's name.
    marked: HashMap<Arc<str>, usize>,
}

impl UriRows {
    /// The number of all rows.
    pub(super) fn count(&self) -> usize {
        self.all
    }

    /// Counts a row of a server. `is_marked` is true if the server's URI carries the server's name.
    pub(super) fn add(&mut self, server: &Arc<str>, is_marked: bool) {
        self.all += 1;
        if is_marked {
            *self.marked.entry(server.clone()).or_default() += 1;
        }
    }

    /// Counts a removed row of a server.
    pub(super) fn remove(&mut self, server: &Arc<str>, is_marked: bool) {
        self.all -= 1;
        if let Some(marked) = self.marked.get_mut(server).filter(|_| is_marked) {
            *marked -= 1;
        }
    }

    /// Returns true if there is room for another row of a server.
    pub(super) fn have_room(&self, server: &Arc<str>, is_marked: bool) -> bool {
        let marked = self.marked.get(server).copied().unwrap_or_default();
        self.all < MOST_URIS && (!is_marked || marked < MOST_OF_ONE)
    }
}

/// Returns true if items of this kind have URIs.
pub(super) const fn has_uris(kind: ListKind) -> bool {
    matches!(kind, ListKind::Resources | ListKind::Templates)
}

fn digest(kind: ListKind, key: &str) -> u64 {
    let mut digest = std::hash::DefaultHasher::new();
    (kind, key).hash(&mut digest);
    digest.finish()
}

/// The time after a profile's first view, in seconds, during which a slowly starting server still takes precedence
/// over the servers that follow it in the profile.
const SETTLING: u64 = 60;

/// The URIs that a present server loses if a server before it in the profile starts and lists the same URI.
pub(in crate::catalogue) type Provisional = HashMap<u64, Arc<str>>;

/// The other server, if any, that already has a URI in its plain form, without a server's name in it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PlainUri {
    None,
    /// Another server, until a server before it has started.
    Provisional,
    /// Another server, permanently.
    Firm,
}

/// The rule that decides if a server's URI may be public in its plain form.
#[derive(Clone, Copy)]
pub(in crate::catalogue) enum PlainRule<'a> {
    /// The URI must carry its server's name. The book does not record the decision, because it is made again for each view.
    Never,
    /// The URI may be public in its plain form, unless another server already has it. If no server has it, it goes
    /// to the claimant, which is a server that had a matching template before.
    UnlessHeld {
        /// The server with the matching template.
        claimant: Option<&'a Arc<str>>,
    },
}

impl NameBook {
    /// Returns true if servers that have not been seen yet no longer take precedence over others.
    pub(in crate::catalogue) fn is_settled(&self) -> bool {
        self.began.is_none_or(|began| self.now >= began.saturating_add(SETTLING))
    }

    /// Decides whether a server's URI is public in its plain form, and records the decision. `key` is the URI, or
    /// the shape of a template. With `is_provisional`, a server that is still starting precedes this one in the
    /// profile, so the decision may change.
    pub(in crate::catalogue) fn gives_plain(
        &mut self,
        kind: ListKind,
        (server, key): (&Arc<str>, &str),
        rule: PlainRule<'_>,
        (all, is_provisional): (&mut Provisional, bool),
    ) -> bool {
        let PlainRule::UnlessHeld { claimant } = rule else {
            self.note_marking(server, key);
            return false;
        };
        let digest = digest(kind, key);
        let has_rows = self.uris.count() > 0;
        let name = if has_rows { self.name(kind, server, key) } else { None };
        let kept = name.map(|name| **name == *key);
        let holder = match kept {
            Some(true) => PlainUri::None,
            Some(false) => PlainUri::Firm,
            None if all.get(&digest).is_some_and(|other| other != server) => PlainUri::Provisional,
            None => match (self.holder_of(kind, (server, key), digest), claimant) {
                (PlainUri::None, Some(claimant)) => self.give_to(kind, claimant, (server, key)),
                (holder, _) => holder,
            },
        };
        match (holder, marked(server, key)) {
            (PlainUri::None, _) if is_provisional && kept.is_none() => {
                all.insert(digest, server.clone());
            }
            (PlainUri::None, _) => self.see(server, digest),
            (PlainUri::Firm, Some(name)) => self.note(kind, (server, key), &name, false),
            _ => {}
        }
        holder == PlainUri::None
    }

    /// Returns true if a server had this URI or template in an earlier view, or if a row records its public form.
    pub(in crate::catalogue) fn knows_uri(&self, kind: ListKind, server: &Arc<str>, key: &str) -> bool {
        let is_seen = self.seen.get(server).is_some_and(|seen| seen.contains(&digest(kind, key)));
        is_seen || (self.uris.count() > 0 && self.name(kind, server, key).is_some())
    }

    /// Gives a URI to the server whose template matches it. Nothing is recorded if the URI cannot carry the name of
    /// the server that lists it, because no row would then count against that server's limit.
    fn give_to(&mut self, kind: ListKind, claimant: &Arc<str>, (server, key): (&Arc<str>, &str)) -> PlainUri {
        if marked(server, key).is_some() {
            self.note_holder(kind, (claimant, key), server);
        }
        PlainUri::Firm
    }

    /// Records that `holder` has a URI in its plain form, unless `server`, which lists the same URI, has already
    /// caused too many rows.
    fn note_holder(&mut self, kind: ListKind, (holder, key): (&Arc<str>, &str), server: &Arc<str>) {
        if self.uris.have_room(server, true) && self.name(kind, holder, key).is_none() {
            self.note(kind, (holder, key), key, false);
        }
    }

    /// Records that a server has URIs that must carry the server's name. No other server then gets requests for
    /// such URIs, even while the server is away. One row is enough for all these URIs; it looks like a row about an
    /// empty URI, which no server lists.
    fn note_marking(&mut self, server: &Arc<str>, key: &str) {
        let item: ItemOf = (ListKind::Resources, server.clone(), "".into());
        if self.names.contains_key(&item) || marked(server, key).is_none() {
            return;
        }
        if let Some(name) = marked(server, "") {
            self.insert(item, name.into());
        }
    }

    fn see(&mut self, server: &Arc<str>, digest: u64) {
        let seen = self.seen.entry(server.clone()).or_default();
        // If a server lists more URIs than this, only its own URIs are forgotten.
        if seen.len() >= MOST {
            seen.clear();
        }
        seen.insert(digest);
    }

    /// Finds the server that has a URI in its plain form. If that is another server, a row in the book records this
    /// from then on.
    fn holder_of(&mut self, kind: ListKind, (server, key): (&Arc<str>, &str), digest: u64) -> PlainUri {
        if self.uris.count() > 0 && self.holder(kind, key).is_some_and(|(holder, _)| *holder != **server) {
            return PlainUri::Firm;
        }
        let mut others = self.seen.iter().filter(|(other, seen)| *other != server && seen.contains(&digest));
        let Some(other) = others.next().map(|(other, _)| other.clone()) else { return PlainUri::None };
        self.note_holder(kind, (&other, key), server);
        PlainUri::Firm
    }

    /// The servers that have URIs with the server's name in them, and the URIs of absent servers that other servers
    /// list as well. A server is absent if `is_present` is false for it.
    pub(in crate::catalogue) fn contested_uris(
        &self,
        is_present: impl Fn(&str) -> bool,
    ) -> (HashSet<Arc<str>>, HashSet<String>) {
        let (mut marking, mut withheld) = (HashSet::new(), HashSet::new());
        if self.uris.count() == 0 {
            return (marking, withheld);
        }
        for ((_, server, key), name) in self.names.iter().filter(|((kind, ..), _)| has_uris(*kind)) {
            if key != name {
                marking.insert(server.clone());
            } else if !is_present(server) {
                withheld.insert(key.to_string());
            }
        }
        (marking, withheld)
    }
}
