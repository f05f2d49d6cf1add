//! Grants: accounts at sites with which people have signed in, the tokens that clients received for them, and the clients
//! that have registered. Passwords are sealed under the vault's key; of tokens, only digests are stored. This module must
//! not know what a token gives access to, or how people sign in.
//!
//! | file | is for |
//! |---|---|
//! | `file` | the file: opened, and its limits |
//! | `clients` | registered clients |
//! | `accounts` | grants: begun, listed, ended |
//! | `tokens` | tokens of grants: issued, looked up, replaced |

mod accounts;
mod clients;
mod file;
mod tokens;

pub use accounts::{NewGrant, StoredGrant};
pub use clients::MAX_CLIENTS;
pub use file::{Grants, MAX_GRANTS};
pub use tokens::{FoundToken, NewToken, TokenDigest, TokenUse};

#[cfg(test)]
mod tests;
