//! Single values, without their position in a file: what is allowed, and what a mistyped name probably means. This module must
//! not know files or keys.
//!
//! | file | is for |
//! |---|---|
//! | [`text`] | a text that may contain secrets, together with the form that people may see |
//! | [`check`] | checks of server names, URLs, headers, commands, paths |
//! | [`glob`], [`ip`] | patterns for names and URIs; ranges of IP addresses |
//! | [`units`] | sizes and times as people write them |
//! | [`words`] | values that a configuration expresses by words |
//! | [`wording`] | parts of messages: shortened texts, lists of words |
//! | [`nearest`], [`suggest`] | the known name that is nearest to a mistyped one; advice that names it |

pub(crate) mod check;
pub(crate) mod glob;
pub(crate) mod ip;
pub mod nearest;
pub(crate) mod suggest;
pub(crate) mod text;
pub(crate) mod units;
pub(crate) mod wording;
pub(crate) mod words;
