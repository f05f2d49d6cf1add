//! Secrets that must outlive the process, such as tokens for other servers. They are sealed texts, each stored under a
//! name, in a file that is unreadable without the key beside it. This module must not know what a secret is for.
//!
//! | file | is for |
//! |---|---|
//! | `key` | the key, in a separate file that only its owner can read |
//! | `sealed` | the file of sealed texts |

mod key;
mod sealed;

pub(crate) use key::VaultKey;
pub use sealed::Vault;

#[cfg(test)]
mod tests;
