//! Secrets that must outlive the process, such as tokens for other servers. Each is stored under a name as a sealed
//! text, in a file that nobody can decrypt without the key, which is in a separate file. This module must not know
//! what a secret is for.
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
