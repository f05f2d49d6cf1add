//! The identity of a tool or prompt: `server__name`, with the server's own name for the item. An identity never depends on
//! renaming, on other servers, or on a maximum length, so access rules and records can rely on it. This module must not know
//! public names.

use smallvec::SmallVec;

use config::Naming;

/// The separator between a server's name and its tool's name. No server's name contains it.
pub(in crate::catalogue) const SEPARATOR: &str = "__";

/// The separator that is used only if names clash (`names: plain-first`).
pub(super) const CLASH_SEPARATOR: &str = ":";

/// The identity of a server's item.
pub(in crate::catalogue) fn identity(server: &str, own: &str) -> String {
    format!("{server}{SEPARATOR}{own}")
}

/// The texts by which access rules may refer to an item, in addition to its identity. If a profile's names have no
/// server prefix, these include the server's own name for the item.
pub(in crate::catalogue) fn meant(naming: Naming, server: &str, own: &str) -> SmallVec<[String; 2]> {
    match naming {
        Naming::Prefix => SmallVec::new(),
        Naming::Plain | Naming::First => SmallVec::from_iter([own.to_owned()]),
        Naming::PlainFirst => {
            SmallVec::from_iter([own.to_owned(), format!("{server}{CLASH_SEPARATOR}{own}")])
        }
    }
}
