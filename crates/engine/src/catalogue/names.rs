//! Public names for the things of several servers, stable when servers join or leave, and never two alike.

use std::collections::{HashMap, HashSet};

/// What stands between a server's name and that of its tool.
pub(super) const SEPARATOR: &str = "__";

/// The longest public name, in characters: what clients and model APIs accept.
pub(super) const MAX_NAME: usize = 64;

/// `server__name`, shortened when it is over [`MAX_NAME`]: its head and eight digits of a hash of the whole, so that the
/// same thing always gets the same name.
pub(super) fn prefixed(server: &str, name: &str) -> String {
    let full = format!("{server}{SEPARATOR}{name}");
    if full.chars().count() <= MAX_NAME {
        return full;
    }
    let head: String = full.chars().take(MAX_NAME - 9).collect();
    format!("{head}_{:08x}", fold(&full))
}

/// FNV-1a, folded to 32 bits: stable over versions and machines, which `Hash` does not promise.
fn fold(text: &str) -> u32 {
    let hash =
        text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
    u32::try_from((hash >> 32) ^ (hash & 0xffff_ffff)).unwrap_or(u32::MAX)
}

/// Which plain names are taken by more than one server.
pub(super) fn clashes<'a>(names: impl Iterator<Item = (&'a str, &'a str)>) -> HashSet<&'a str> {
    let mut owner: HashMap<&str, &str> = HashMap::new();
    let mut clashing = HashSet::new();
    for (server, name) in names {
        if owner.insert(name, server).is_some_and(|other| other != server) {
            clashing.insert(name);
        }
    }
    clashing
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn only_different_servers_clash() {
        let names = [("a", "x"), ("a", "x"), ("a", "y"), ("b", "y")];
        assert_eq!(clashes(names.into_iter()), HashSet::from(["y"]));
    }
}
