//! The profiles for which a grant or a token is valid. They are stored as one text, with a space between two names.

use rusqlite::Row;
use serde::{Deserialize, Serialize};

/// Names of profiles, each of them once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileNames(String);

impl ProfileNames {
    /// Collects names, in order and each of them once. Names of profiles contain no space.
    pub fn new<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        let mut all: Vec<&str> = names.into_iter().collect();
        all.sort_unstable();
        all.dedup();
        Self(all.join(" "))
    }

    /// Returns the names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.split_ascii_whitespace()
    }

    /// Returns true if the set contains every name of `other`.
    pub fn contains_all(&self, other: &Self) -> bool {
        other.names().all(|name| self.names().any(|own| own == name))
    }

    pub(super) fn text(&self) -> &str {
        &self.0
    }
}

/// Reads the names in a column.
pub(super) fn profiles(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<ProfileNames>> {
    Ok(row.get::<_, Option<String>>(column)?.map(ProfileNames))
}
