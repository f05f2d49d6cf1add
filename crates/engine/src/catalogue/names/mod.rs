//! The names of a profile's tools and prompts: how they are formed, how long they may be, and which names they had before.
//! This module also remembers which server has which URI. Rules and records refer to a tool or prompt by its
//! [`identity`](mod@identity), which does not depend on names. This module must not know what is shown to whom.

mod book;
mod identity;
mod length;
mod public;
mod uris;

#[cfg(test)]
mod tests;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub use book::{FormerNames, NameBook};
pub(super) use identity::{SEPARATOR, identity, meant};
pub use length::NameLimit;
pub(super) use public::PublicNames;
pub(super) use uris::{PlainRule, Provisional};

/// Locks the book, to give names or look them up. A panic under the lock leaves the book usable: at worst, it remembers fewer
/// names.
pub(super) fn opened(book: &Mutex<NameBook>) -> MutexGuard<'_, NameBook> {
    book.lock().unwrap_or_else(PoisonError::into_inner)
}
