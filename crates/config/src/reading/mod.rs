//! The mechanism by which keys are read: a section is a table of keys, and each key has a spelling. This module must not know any
//! key.
//!
//! | file | is for |
//! |---|---|
//! | [`rows`] | the macro that declares a section as a table, one row for each key |
//! | [`section`] | a section read by its rows, its JSON Schema, and its table in the documentation |
//! | [`spellings`] | the spellings of values: texts, amounts, patterns, lists, nested sections |
//! | [`reader`] | a node read as a mapping, a text or a number; faults are recorded with their positions |
//! | [`known`] | the servers, profiles and dialects that other keys refer to |

pub(crate) mod known;
pub(crate) mod reader;
pub(crate) mod rows;
pub(crate) mod section;
pub(crate) mod spellings;
