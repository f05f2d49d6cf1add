//! A configuration as a whole: all sections, read, compared with one another, and described. This module must not know how a
//! single key is spelled.
//!
//! | file | is for |
//! |---|---|
//! | [`load`] | from a file's text to the model, or to all of its faults |
//! | [`model`] | the top level, as the rest of Dragoman sees it |
//! | [`top_level`] | the top level, read: first the keys that other keys refer to |
//! | [`claims`] | the paths that endpoints claim |
//! | [`advice`], [`names`] | notes on settings without effect; notes on names of tools that match nothing |
//! | [`effective`] | the configuration as it takes effect, for people and scripts |
//! | [`schema`], [`tables`] | the JSON Schema for editors; the tables of keys for the documentation |

pub(crate) mod advice;
pub(crate) mod claims;
pub(crate) mod effective;
pub(crate) mod load;
pub(crate) mod model;
pub(crate) mod names;
pub(crate) mod schema;
pub(crate) mod tables;
pub(crate) mod top_level;
