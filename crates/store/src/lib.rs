//! The stored state: API keys, the audit log, secrets, changes, catalogues and definitions, in embedded `SQLite`, one file
//! each; and the key ring, a file of text.
//!
//! | module | is for |
//! |---|---|
//! | [`keys`] | API keys: their text, and the file of their digests |
//! | [`audit`] | the audit log: appended, queried, pruned |
//! | [`catalogues`] | the lists that servers returned when they were last asked |
//! | [`changes`] | changes made at run time |
//! | [`definitions`] | definitions of servers' tools, and who approved them |
//! | [`grants`] | accounts with which people have signed in, and the tokens of their clients |
//! | [`keyring`] | keys that seal data that clients carry for the gateway |
//! | [`random_key`] | the hash of ids and numbers of sessions |
//! | [`sessions`] | data that clients have sent in their sessions, and the ended sessions |
//! | [`vault`] | secrets for other servers, sealed |
//! | [`Error`] | errors of the files, and their remedies |
//!
//! All functions block, so a server calls them from a thread that may block. Several processes may open a file at
//! the same time. Times are in milliseconds since 1970 (UTC). The caller supplies times and random numbers. This
//! crate must not know the content of a call, nor the configuration.

pub mod audit;
pub mod catalogues;
pub mod changes;
mod database;
pub mod definitions;
mod error;
pub mod grants;
pub mod keyring;
pub mod keys;
mod private_file;
pub mod random_key;
pub mod sessions;
pub mod vault;

pub use error::Error;
