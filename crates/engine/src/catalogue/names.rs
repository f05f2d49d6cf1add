//! Public names for the items of several servers: stable when servers join or leave, and always unique.

use std::collections::HashMap;

use crate::config::{ListedNames, Naming};

/// The separator between a server's name and its tool's name.
pub(super) const SEPARATOR: &str = "__";

/// The separator for clashes only (`names: plain-first`).
const CLASH_SEPARATOR: &str = ":";

/// The maximum length of a public name, in characters: clients and model APIs reject longer names.
pub(super) const MAX_NAME: usize = 64;

/// Builds `server__name`. If that exceeds [`MAX_NAME`], the name is its beginning plus eight digits of a hash of the
/// whole, so the same item always gets the same name.
pub(super) fn prefixed(server: &str, name: &str) -> String {
    joined(server, SEPARATOR, name)
}

fn joined(server: &str, separator: &str, name: &str) -> String {
    let full = format!("{server}{separator}{name}");
    if full.chars().count() <= MAX_NAME {
        return full;
    }
    let head: String = full.chars().take(MAX_NAME - 9).collect();
    format!("{head}_{:08x}", fold(&full))
}

/// FNV-1a, folded to 32 bits: stable across versions and machines, which `Hash` does not guarantee.
fn fold(text: &str) -> u32 {
    let hash =
        text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
    u32::try_from((hash >> 32) ^ (hash & 0xffff_ffff)).unwrap_or(u32::MAX)
}

/// The owner of a plain name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Owner<'a> {
    /// The first server that has the name, in the order of the profile.
    first: &'a str,
    /// True if another server also has the name.
    clashes: bool,
}

/// The names for the items of a profile's servers.
#[derive(Debug)]
pub(super) struct PublicNames<'a> {
    naming: Naming,
    owners: HashMap<&'a str, Owner<'a>>,
}

impl<'a> PublicNames<'a> {
    /// Collects all items in the order of the profile. Each is given by its server and by its name at that server.
    pub(super) fn new(naming: Naming, all: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let mut owners: HashMap<&str, Owner<'_>> = HashMap::new();
        for (server, name) in all {
            let owner = owners.entry(name).or_insert(Owner { first: server, clashes: false });
            owner.clashes |= owner.first != server;
        }
        Self { naming, owners }
    }

    /// The name of an item before renaming. Patterns and renaming rules refer to this name.
    pub(super) fn given(&self, server: &str, name: &str) -> String {
        let owner = self.owners.get(name).copied().unwrap_or(Owner { first: server, clashes: false });
        let is_plain = match self.naming {
            Naming::Prefix => false,
            Naming::Plain => !owner.clashes,
            Naming::PlainFirst => owner.first == server,
            Naming::First => true,
        };
        match self.naming {
            _ if is_plain => name.to_owned(),
            Naming::PlainFirst => joined(server, CLASH_SEPARATOR, name),
            _ => prefixed(server, name),
        }
    }

    /// The name under which an item is shown; `None` if it is not shown.
    pub(super) fn shown(&self, server: &str, name: &str, rules: ListedNames<'_>) -> Option<String> {
        let given = self.given(server, name);
        if !rules.admits(&given) {
            return None;
        }
        // If all names are plain, the server name shows which of two items is meant.
        if self.naming == Naming::First
            && !rules.rename.is_empty()
            && let Some(own) = rules.rename.get(&prefixed(server, name))
        {
            return Some(own.clone());
        }
        Some(rules.shown_name(&given).to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::NameRules;

    #[test]
    fn long_names_are_shortened_the_same_way_each_time() {
        let long = "x".repeat(80);
        let a = prefixed("files", &long);
        assert_eq!(a, prefixed("files", &long));
        assert_eq!(a.chars().count(), MAX_NAME);
        assert!(a.starts_with("files__xxx"));
        assert_ne!(a, prefixed("files", &format!("{long}y")));
        assert_eq!(prefixed("files", "read"), "files__read");
    }

    fn all(naming: Naming) -> Vec<String> {
        let all = [("a", "x"), ("a", "y"), ("b", "y"), ("b", "z"), ("c", "y"), ("a", "x")];
        let public = PublicNames::new(naming, all.into_iter());
        all[..5].iter().map(|(server, name)| public.given(server, name)).collect()
    }

    #[test]
    fn only_what_different_servers_have_clashes() {
        assert_eq!(all(Naming::Prefix), ["a__x", "a__y", "b__y", "b__z", "c__y"]);
        assert_eq!(all(Naming::Plain), ["x", "a__y", "b__y", "z", "c__y"]);
        assert_eq!(all(Naming::PlainFirst), ["x", "y", "b:y", "z", "c:y"]);
        assert_eq!(all(Naming::First), ["x", "y", "y", "z", "y"]);
    }

    #[test]
    fn one_of_two_alike_is_renamed_by_its_server() {
        let names = PublicNames::new(Naming::First, [("a", "y"), ("b", "y")].into_iter());
        let mut rules = NameRules::default();
        rules.rename.insert("b__y".to_owned(), "mine".to_owned());
        let shown = |server| names.shown(server, "y", rules.names());
        assert_eq!([shown("a"), shown("b")], [Some("y".to_owned()), Some("mine".to_owned())]);
        rules.rename.insert("y".to_owned(), "yours".to_owned());
        let shown = |server| names.shown(server, "y", rules.names());
        assert_eq!([shown("a"), shown("b")], [Some("yours".to_owned()), Some("mine".to_owned())]);
        let denied = NameRules { deny: vec![crate::config::Glob::parse("y").unwrap()], ..rules };
        assert_eq!(names.shown("b", "y", denied.names()), None);
    }

    #[test]
    fn long_clashes_are_shortened_too() {
        let long = "x".repeat(80);
        let names = PublicNames::new(Naming::PlainFirst, [("a", &*long), ("b", &*long)].into_iter());
        let given = names.given("b", &long);
        assert!(given.starts_with("b:xxx") && given.chars().count() == MAX_NAME);
        assert_ne!(given, prefixed("b", &long));
    }
}
