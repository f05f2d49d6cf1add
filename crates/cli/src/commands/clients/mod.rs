//! The settings files of MCP clients on this machine. This module must not know a client's notation: that is the crate `clients`.
//!
//! | file | is for |
//! |---|---|
//! | [`client_files`] | where these files are |
//! | [`import`] | servers taken from them into the configuration file |
//! | [`connect`], [`disconnect`] | Dragoman's entry in them, added and removed |
//! | `connection_records` | what `connect` changed |

pub(crate) mod client_files;
pub(crate) mod connect;
mod connection_records;
pub(crate) mod disconnect;
pub(crate) mod import;
