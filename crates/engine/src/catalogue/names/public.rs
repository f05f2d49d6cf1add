//! Public names for the items of several servers: always unique, and stable when servers join or leave. This module
//! must not know what an item is.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use config::{ListedNames, Naming};

use super::book::NameBook;
use super::identity::{CLASH_SEPARATOR, SEPARATOR, identity};
use super::length::NameLimit;
use crate::list_kind::ListKind;

/// The number of short forms that are tried for one name.
const TURNS: u32 = 16;

/// The owner of a plain name: a server's own name for an item, without a prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Owner<'a> {
    /// The first server that has the name, in the order of the profile.
    first: &'a str,
    /// True if another server also has the name.
    clashes: bool,
}

/// The names for the items of one list of a profile's servers.
#[derive(Debug)]
pub(in crate::catalogue) struct PublicNames<'a> {
    kind: ListKind,
    naming: Naming,
    limit: NameLimit,
    /// The profile's servers, including those that are not present.
    servers: &'a [String],
    owners: HashMap<&'a str, Owner<'a>>,
    /// The identities of all items, collected only if characters of names may have to be replaced. No item gets
    /// another item's identity as its name.
    identities: HashSet<String>,
}

impl<'a> PublicNames<'a> {
    /// Collects all items in the order of the profile. `all` contains each item's server and the item's name at that server.
    pub(in crate::catalogue) fn new(
        kind: ListKind,
        (naming, limit): (Naming, NameLimit),
        servers: &'a [String],
        all: impl Iterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        let mut owners: HashMap<&str, Owner<'_>> = HashMap::new();
        let mut identities = HashSet::new();
        let all = all.inspect(|(server, name)| {
            if limit.is_spelled() {
                identities.insert(identity(server, name));
            }
        });
        // If all names have their server's prefix, nothing clashes.
        for (server, name) in all.filter(|_| naming != Naming::Prefix) {
            let owner = owners.entry(name).or_insert(Owner { first: server, clashes: false });
            owner.clashes |= owner.first != server;
        }
        Self { kind, naming, limit, servers, owners, identities }
    }

    /// Returns true if a name starts with the prefix of another server (`OTHER__`). If such names were allowed,
    /// `server` could receive the calls to the other server's items, or the access that rules grant to those items.
    fn is_anothers(&self, server: &str, name: &str) -> bool {
        let is_prefix =
            |other: &str| name.strip_prefix(other).is_some_and(|rest| rest.starts_with(SEPARATOR));
        self.servers.iter().any(|other| other != server && is_prefix(other))
    }

    /// Returns true if an item without a public name gets the server's own name for it, without a prefix.
    fn is_plain(&self, (server, own): (&str, &str), plain: &str, book: &NameBook) -> bool {
        let owner = self.owners.get(own).copied().unwrap_or(Owner { first: server, clashes: false });
        let is_free = || book.holder(self.kind, plain).is_none_or(|holder| holder == (server, own));
        match self.naming {
            Naming::Prefix => false,
            Naming::Plain | Naming::PlainFirst if self.is_anothers(server, plain) => false,
            Naming::Plain => !owner.clashes && is_free(),
            Naming::PlainFirst => owner.first == server && is_free(),
            Naming::First => true,
        }
    }

    /// Returns true if a name is one of the alternative short forms, which are used if the first short form of an
    /// item's name belongs to another item.
    fn is_short_form(&self, server: &str, own: &str, name: &str) -> bool {
        self.short_forms(server, own).any(|form| form == name)
    }

    fn short_forms(&self, server: &str, own: &str) -> impl Iterator<Item = String> {
        let (limit, full) = (self.limit, identity(server, own));
        (1..TURNS).map(move |turn| limit.fit_again(&full, turn))
    }

    /// The name of an item before renaming. Patterns and renaming rules refer to this name. An item keeps its first
    /// name, so the name does not depend on which other servers are present.
    pub(in crate::catalogue) fn given<'o>(
        &self,
        server: &Arc<str>,
        own: &'o str,
        book: &NameBook,
    ) -> Cow<'o, str> {
        let plain = self.limit.fit_plain(own);
        let full = match self.naming {
            Naming::PlainFirst => format!("{server}{CLASH_SEPARATOR}{own}"),
            _ => identity(server, own),
        };
        let fitting = self.limit.fit(full);
        let kept = book.name(self.kind, server, own).filter(|_| self.naming != Naming::First);
        let is_plain = match kept {
            Some(kept) if **kept == *plain => self.naming != Naming::Prefix,
            Some(kept) if **kept == *fitting => false,
            Some(kept) if self.is_short_form(server, own, kept) => return Cow::Owned(kept.to_string()),
            _ => self.is_plain((server, own), &plain, book),
        };
        if is_plain {
            return plain;
        }
        let is_anothers = |name: &str| name != identity(server, own) && self.identities.contains(name);
        let is_free = |name: &str| {
            book.holder(self.kind, name).is_none_or(|holder| holder == (&**server, own)) && !is_anothers(name)
        };
        if is_free(&fitting) {
            return Cow::Owned(fitting);
        }
        // Another item has this name: two short forms are equal, or the other item was renamed.
        Cow::Owned(self.short_forms(server, own).find(|name| is_free(name)).unwrap_or(fitting))
    }

    /// The name under which an item is shown; `None` if it is not shown.
    pub(in crate::catalogue) fn shown(
        &self,
        server: &Arc<str>,
        own: &str,
        rules: ListedNames<'_>,
        book: &NameBook,
    ) -> Option<String> {
        let (given, identity) = (self.given(server, own, book), identity(server, own));
        if !rules.admits(&given, &identity) {
            return None;
        }
        // The identity always shows which of two items is meant.
        if let Some(new) = rules.rename.get(&identity) {
            return Some(new.clone());
        }
        let is_meant = !self.is_anothers(server, &given);
        Some(if is_meant { rules.shown_name(&given).to_owned() } else { given.into_owned() })
    }
}
