//! The text of a configuration file: from characters to a tree of nodes with positions, and back to the lines that a report
//! quotes. This module must not know any key.
//!
//! | file | is for |
//! |---|---|
//! | [`source`] | positions in a text, and lines that may be shown to people |
//! | [`parse`] | YAML as a tree of nodes; only this file uses the YAML library |
//! | [`json_comments`] | the comments that editors allow in JSON |
//! | [`mask`] | the secret parts of a file, which no report quotes |
//! | [`substitute`] | `${…}`, filled in after parsing |
//! | [`fault`] | errors with their position, and their display |

pub(crate) mod fault;
pub(crate) mod json_comments;
pub(crate) mod mask;
pub(crate) mod parse;
pub(crate) mod source;
pub(crate) mod substitute;
