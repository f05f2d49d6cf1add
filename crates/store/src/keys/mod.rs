//! API keys: their text, and the file `keys.db` that knows their digests.
//!
//! | file | is for |
//! |---|---|
//! | `text` | a key as its owner holds it: mark, random body, checksum; pure |
//! | `checksum` | CRC-32, and numbers in base 62 |
//! | `book` | the file: adding, listing, finding, revoking |
//! | `uses` | when keys were last used, gathered between writes |
//!
//! A key's text is never kept, only its SHA-256: with 256 random bits there is nothing to guess, so a slow hash would
//! only cost the server. It must not know how a key comes in or what it opens.

mod book;
mod checksum;
mod text;
mod uses;

#[cfg(test)]
mod tests;

pub use book::{Key, KeyState, Keys, MAX_NAME, MAX_PROFILES, NewKey, Revocation};
pub use text::{Digest, KEY_LEN, KeyText, KeyTextError, MARK, PREFIX_LEN};
pub use uses::LastUses;
