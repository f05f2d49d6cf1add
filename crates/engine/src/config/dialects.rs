//! `dialects`: dialects of one's own, as differences from others.

use indexmap::IndexMap;

use super::text::Text;

/// A dialect of one's own: another one, and what differs.
#[derive(Debug, Clone, PartialEq)]
pub struct DialectSpec {
    /// The dialect that it starts from: a built-in one, or one that stands further up.
    pub base: String,
    /// What differs, by column; mappings in mappings are columns with a `.` in their names.
    pub columns: IndexMap<String, Text>,
}
