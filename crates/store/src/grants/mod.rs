//! Grants: the accounts at sites with which people have signed in, the tokens that clients received for these
//! accounts, and the registered clients. Passwords are sealed with the vault's key. Tokens are stored only as
//! digests. This module must not know what a token gives access to, or how people sign in.
//!
//! | file | is for |
//! |---|---|
//! | `file` | opening the file, and its limits |
//! | `clients` | registered clients |
//! | `accounts` | creating, listing and ending grants |
//! | `profile_names` | the profiles for which tokens are valid |
//! | `records` | grants with their tokens, as several gateways share them |
//! | `tokens` | issuing, finding and replacing the tokens of grants |

mod accounts;
mod clients;
mod file;
mod profile_names;
mod records;
mod tokens;

pub use accounts::{NewGrant, StoredGrant};
pub use clients::MAX_CLIENTS;
pub use file::{Grants, MAX_GRANTS};
pub use profile_names::ProfileNames;
pub use records::GrantRecord;
pub use tokens::{FoundToken, NewToken, TokenDigest, TokenUse};

#[cfg(test)]
mod tests;
