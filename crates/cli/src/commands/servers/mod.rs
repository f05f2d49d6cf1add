//! Servers in the configuration file. This module must not know the running gateway.
//!
//! | file | is for |
//! |---|---|
//! | [`add`], [`remove`] | a server written into the file, or taken out of it |
//! | `download` | documents and files from the network |
//! | [`run_bundle`] | the start of a server in a bundle, by the gateway |

pub(crate) mod add;
mod download;
pub(crate) mod remove;
pub(crate) mod run_bundle;
