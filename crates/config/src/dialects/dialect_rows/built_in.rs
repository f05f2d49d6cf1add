//! The built-in dialects, one file for each system. A row names only its differences from `plain`, and explains those
//! that are not obvious. This module must not know which code uses a column.

use super::cell::Text;
use super::parts::text;
use super::row::Dialect;
use super::{bb, buddyboss, gateway, kulturarv, wordpress};

/// A built-in dialect: its name, and how its row is built.
struct Row {
    name: fn() -> Text,
    aliases: &'static [&'static str],
    make: fn() -> Dialect,
}

const ROWS: &[Row] = &[
    Row { name: || text("standard"), aliases: &[], make: standard },
    Row { name: || text("bb-1.0"), aliases: &["bb"], make: bb::first },
    Row { name: bb::later_name, aliases: &["bb-later"], make: bb::later },
    Row { name: || text("buddyboss"), aliases: &[], make: buddyboss::row },
    Row { name: || text("wordpress-v1"), aliases: &["wordpress"], make: wordpress::first },
    Row { name: || text("wordpress-saas"), aliases: &[], make: wordpress::hosted },
    Row { name: || text("gateway"), aliases: &[], make: gateway::row },
    Row { name: || text("kulturarv"), aliases: &[], make: kulturarv::row },
];

impl Row {
    /// Builds the row under its name.
    fn built(&self) -> Dialect {
        Dialect { name: (self.name)(), ..(self.make)() }
    }
}

impl Dialect {
    /// The built-in dialect of this name.
    pub fn base(name: &str) -> Option<Self> {
        let row = ROWS.iter().find(|row| row.aliases.contains(&name) || (row.name)() == name)?;
        Some(row.built())
    }

    /// All built-in dialects, in the order of the documentation.
    pub fn all() -> impl Iterator<Item = Self> {
        ROWS.iter().map(Row::built)
    }

    /// The names of all built-in dialects, each followed by its aliases.
    pub fn names() -> Vec<Text> {
        let of = |row: &Row| std::iter::once((row.name)()).chain(row.aliases.iter().copied().map(text));
        ROWS.iter().flat_map(of).collect()
    }
}

/// The row of an endpoint that follows the published protocol, in every version.
fn standard() -> Dialect {
    Dialect {
        about: text("The published protocol, in every version"),
        interpreted: false,
        ..Dialect::plain()
    }
}
