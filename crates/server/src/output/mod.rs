//! What commands and the terminal's client print with: options of every command, the console, failures, points in time. It
//! must not know any command.
//!
//! | file | is for |
//! |---|---|
//! | [`options`] | the options of every command |
//! | [`console`] | stdout, stderr, colours |
//! | [`failure`] | how a command ends badly |
//! | [`moment`] | points in time and spans of it |

pub(crate) mod console;
pub(crate) mod failure;
pub(crate) mod moment;
pub(crate) mod options;

/// Dragoman's version.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");
