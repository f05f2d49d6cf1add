//! API keys: their text, and the file `keys.db` with their digests.
//!
//! | file | is for |
//! |---|---|
//! | `text` | the text of a key: prefix, random body, checksum; pure |
//! | `checksum` | CRC-32, and numbers in base 62 |
//! | `book` | the file: adding, listing, finding, revoking |
//! | `merge` | keys that several machines share |
//! | `uses` | times of last use, collected between writes |
//!
//! A key's text is never stored, only its SHA-256: 256 random bits cannot be guessed, so a slow hash would only burden
//! the server. This module must not know how a key arrives or what it gives access to.

mod book;
mod checksum;
mod merge;
mod text;
mod uses;

#[cfg(test)]
mod tests;

pub use book::{ApiKey, KeyState, Keys, MAX_NAME, MAX_PROFILES, NewKey, Revocation, check_name};
pub use merge::KeyRecord;
pub use text::{Digest, KEY_LEN, KeyText, KeyTextError, MARK, PREFIX_LEN};
pub use uses::LastUses;
