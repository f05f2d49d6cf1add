//! The port to kept state: API keys, the record of calls, secrets and changes, in embedded `SQLite`, one file each.
//!
//! | module | is for |
//! |---|---|
//! | [`keys`] | API keys: their text, and the file that knows their digests |
//! | [`audit`] | the record of calls: appended to, asked, pruned |
//! | [`changes`] | what was changed while serving |
//! | [`vault`] | secrets for other servers, sealed |
//! | [`Error`] | what can go wrong with a file, and what a person does about it |
//!
//! Everything here blocks: a server calls it from a thread that may wait. Several processes may have a file open at
//! once. Times are milliseconds since 1970 (UTC) and come from the caller; so does randomness. It must not know what a
//! call is about, nor how anything is configured.

pub mod audit;
pub mod changes;
mod database;
mod error;
pub mod keys;
pub mod vault;

pub use error::Error;
