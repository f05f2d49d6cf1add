//! The memory of who has which URI. A URI that several servers have stays with the first one, whichever server joins, leaves or
//! lists it later. This module must not know what a public URI looks like to clients.

use std::collections::HashSet;
use std::hash::{Hash as _, Hasher as _};
use std::sync::Arc;

use super::book::{MOST, NameBook};
use crate::catalogue::uris::marked;
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

impl NameBook {
    /// Decides if a server's URI is public as it is, and notes the decision. `key` is the URI, or the shape of a template;
    /// `is_reserved` is true if it must not be public as it is.
    pub(in crate::catalogue) fn gives_plain(
        &mut self,
        kind: ListKind,
        server: &Arc<str>,
        key: &str,
        is_reserved: bool,
    ) -> bool {
        let kept = if self.uris == 0 { None } else { self.name(kind, server, key) };
        let is_plain = !is_reserved
            && match kept {
                Some(kept) => **kept == *key,
                None => !self.is_anothers(kind, server, key),
            };
        if is_plain {
            let seen = self.seen.entry(server.clone()).or_default();
            // A server that lists this many URIs forgets only its own.
            if seen.len() >= MOST {
                seen.clear();
            }
            seen.insert(digest(kind, key));
        } else if let Some(name) = marked(server, key) {
            self.note(kind, (server, key), &name, false);
        }
        is_plain
    }

    /// Returns true if another server has a URI as it is. From then on, the book contains a row about that.
    fn is_anothers(&mut self, kind: ListKind, server: &Arc<str>, key: &str) -> bool {
        if self.uris > 0 && self.holder(kind, key).is_some_and(|(holder, _)| *holder != **server) {
            return true;
        }
        let digest = digest(kind, key);
        let mut others = self.seen.iter().filter(|(other, seen)| *other != server && seen.contains(&digest));
        let Some(other) = others.next().map(|(other, _)| other.clone()) else { return false };
        self.note(kind, (&other, key), key, false);
        true
    }

    /// The servers that have URIs with their names in them, and the URIs that servers compete for, but none of those that
    /// `is_present` has.
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
