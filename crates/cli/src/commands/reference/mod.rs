//! The program described for other programs: editors, shells, `man`. This module must not know what a command does.
//!
//! | file | is for |
//! |---|---|
//! | [`schema`] | the JSON Schema of the configuration file |
//! | [`completions`] | completions for a shell |
//! | [`man`] | manual pages |

pub(crate) mod completions;
pub(crate) mod man;
pub(crate) mod schema;
