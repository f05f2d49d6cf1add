//! Dialects: the behavior of endpoints where systems differ. This module must not know the code that reads a column
//! of a dialect.
//!
//! | file | is for |
//! |---|---|
//! | [`dialect_rows`] | the table of columns, and the built-in rows |
//! | [`custom`] | `dialects`: rows of the configuration, as differences from others |
//! | [`columns`] | the schema of such a row |

pub(crate) mod columns;
pub(crate) mod custom;
pub mod dialect_rows;
