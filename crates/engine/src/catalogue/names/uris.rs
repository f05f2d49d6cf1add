//! The memory of which server has which URI. A URI that several servers have stays with the first of them, whichever servers
//! join, leave or list the URI later. This module must not know what a public URI looks like to clients.

use std::collections::{HashMap, HashSet};
use std::hash::{Hash as _, Hasher as _};
use std::sync::Arc;

use super::book::{MOST, NameBook};
use crate::catalogue::uri_mark::marked;
use crate::list_kind::ListKind;

/// The maximum number of rows about URIs in one book.
pub(super) const MOST_URIS: usize = MOST / 4;

/// Returns true if items of this kind have URIs.
pub(super) const fn has_uris(kind: ListKind) -> bool {
    matches!(kind, ListKind::Resources | ListKind::Templates)
}

fn digest(kind: ListKind, key: &str) -> u64 {
    let mut digest = std::hash::DefaultHasher::new();
    (kind, key).hash(&mut digest);
    digest.finish()
}

/// The time after startup, in seconds, in which a server that starts slowly still takes precedence over later servers of the
/// profile.
const SETTLING: u64 = 60;

/// The URIs that a present server has only until a server before it in the profile has started and lists the same URI.
pub(in crate::catalogue) type Provisional = HashMap<u64, Arc<str>>;

/// The server that already has a URI without a server's name in it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PlainUri {
    None,
    /// Another server, until a server before it has started.
    Provisional,
    /// Another server, permanently.
    Firm,
}

/// The rule by which one server's URI may be public as it is.
#[derive(Clone, Copy)]
pub(in crate::catalogue) enum PlainRule<'a> {
    /// The URI must carry its server's name.
    Never,
    /// The URI may be public as it is, unless another server has it already. The claimant is a server that had a matching
    /// template before; it has the URI if no other server has it.
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

    /// Decides whether a server's URI is public as it is, and records the decision. `key` is the URI, or the shape of a
    /// template. With `is_provisional`, a server that is still starting comes before this one, so the decision may change.
    pub(in crate::catalogue) fn gives_plain(
        &mut self,
        kind: ListKind,
        (server, key): (&Arc<str>, &str),
        rule: PlainRule<'_>,
        (all, is_provisional): (&mut Provisional, bool),
    ) -> bool {
        let digest = digest(kind, key);
        let kept =
            if self.uris == 0 { None } else { self.name(kind, server, key).map(|name| **name == *key) };
        let holder = match (kept, rule) {
            (Some(_), PlainRule::Never) | (Some(false), _) => PlainUri::Firm,
            (Some(true), _) => PlainUri::None,
            (None, _) if all.get(&digest).is_some_and(|other| other != server) => PlainUri::Provisional,
            (None, rule) => match (self.holder_of(kind, (server, key), digest), rule) {
                (_, PlainRule::Never) => PlainUri::Firm,
                (PlainUri::None, PlainRule::UnlessHeld { claimant: Some(claimant) }) => {
                    self.give_to(kind, (claimant, key))
                }
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

    /// Returns true if a server had this URI or template in an earlier view, or if a row says how clients see it.
    pub(in crate::catalogue) fn knows_uri(&self, kind: ListKind, server: &Arc<str>, key: &str) -> bool {
        let is_seen = self.seen.get(server).is_some_and(|seen| seen.contains(&digest(kind, key)));
        is_seen || (self.uris > 0 && self.name(kind, server, key).is_some())
    }

    /// Records that a server has a URI that only its template matches.
    fn give_to(&mut self, kind: ListKind, (claimant, key): (&Arc<str>, &str)) -> PlainUri {
        if self.name(kind, claimant, key).is_none() {
            self.note(kind, (claimant, key), key, false);
        }
        PlainUri::Firm
    }

    fn see(&mut self, server: &Arc<str>, digest: u64) {
        let seen = self.seen.entry(server.clone()).or_default();
        // A server that lists this many URIs displaces only its own.
        if seen.len() >= MOST {
            seen.clear();
        }
        seen.insert(digest);
    }

    /// The server that has a URI as it is. If that is another server, a row in the book records this from then on.
    fn holder_of(&mut self, kind: ListKind, (server, key): (&Arc<str>, &str), digest: u64) -> PlainUri {
        if self.uris > 0 && self.holder(kind, key).is_some_and(|(holder, _)| *holder != **server) {
            return PlainUri::Firm;
        }
        let mut others = self.seen.iter().filter(|(other, seen)| *other != server && seen.contains(&digest));
        let Some(other) = others.next().map(|(other, _)| other.clone()) else { return PlainUri::None };
        self.note(kind, (&other, key), key, false);
        PlainUri::Firm
    }

    /// The servers some of whose URIs carry the server's name, and the URIs that several servers have and that belong to a
    /// server for which `is_present` is false.
    pub(in crate::catalogue) fn contested_uris(
        &self,
        is_present: impl Fn(&str) -> bool,
    ) -> (HashSet<Arc<str>>, HashSet<String>) {
        let (mut marking, mut withheld) = (HashSet::new(), HashSet::new());
        if self.uris == 0 {
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
