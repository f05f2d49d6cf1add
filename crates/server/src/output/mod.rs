//! Printing for commands and the terminal's client: common options, the console, failures, times. This module must not
//! know any command.
//!
//! | file | is for |
//! |---|---|
//! | [`options`] | the options of every command |
//! | [`console`] | stdout, stderr, colours |
//! | [`failure`] | a command's failure |
//! | [`moment`] | times and spans |

pub(crate) mod console;
pub(crate) mod failure;
pub(crate) mod moment;
pub(crate) mod options;

/// Dragoman's version.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");
