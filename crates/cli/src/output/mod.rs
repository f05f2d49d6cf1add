//! Printing for commands and the terminal's client: common options, the console, failures, times. This module must not
//! know any command.
//!
//! | file | is for |
//! |---|---|
//! | [`options`] | the options of every command |
//! | [`console`] | stdout, stderr, colors |
//! | [`failure`] | a command's failure |
//! | [`layout`] | the width of text, and lines that fit a terminal |
//! | [`status_line`] | the line on a terminal that shows what a command waits for |
//! | [`table`] | tables that fit a terminal |
//! | [`log`], `log_format`, `log_ring` | the filters of the log; the format of the log; its last lines, kept for operators |
//! | [`moment`] | times and spans |

pub(crate) mod console;
pub(crate) mod failure;
pub(crate) mod layout;
pub(crate) mod log;
mod log_format;
mod log_ring;
pub(crate) mod moment;
pub(crate) mod options;
pub(crate) mod status_line;
pub(crate) mod table;

/// Dragoman's version.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");
