//! The settings files of MCP clients: where they are, how servers are written in them, and how they are edited.
//!
//! Pure: the caller reads and writes the files. A client is one row in [`client_app`]; a function in `adapt`
//! handles the peculiarities of its entries. This crate must not know the meaning of a server's settings, or how
//! Dragoman serves.
//!
//! | module | is for |
//! |---|---|
//! | [`client_app`] | the clients, as rows |
//! | [`settings_text`] | reads, adds and removes servers in the text of a settings file |
//! | [`import`] | the servers of a client, as entries of a Dragoman configuration |
//! | [`own_entry`] | the entry by which a client reaches Dragoman |
//! | [`connection`] | the change to a file by `connect`, and its reversal |

mod adapt;
pub mod client_app;
pub mod connection;
mod foreign_entry;
pub mod import;
pub mod own_entry;
mod secrets;
pub mod settings_text;
mod toml_text;
mod variables;
