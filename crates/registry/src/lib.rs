//! Servers in an MCP registry (API v0.1, `server.json` of 2025-12-11): their documents, and the configuration entry for each way
//! to run or reach them.
//!
//! Pure: the caller fetches documents and writes files. A document is hostile: nothing in it becomes an option of a runner, a reference to a
//! file or a variable of this machine, except as described in [`offer`]. This crate must not know where a configuration is.
//!
//! | module | is for |
//! |---|---|
//! | [`server_name`] | the name of a server in a registry, and the address of its document |
//! | [`document`] | the document: its data about the server, and its offers |
//! | [`offer`] | one way to run or reach a server, as an entry of a configuration |
//! | `package`, `remote` | the offers of packages, by their registries; the offers on the network |
//! | `input` | the values that a document asks for |

pub mod document;
mod input;
pub mod offer;
mod package;
mod remote;
pub mod server_name;
