//! The built-in dialects, one file a system. A row differs from `plain` in what it names, and says why where that is not
//! plain. It must not know what acts on a column.

mod bb;
mod buddyboss;
mod gateway;
mod kulturarv;
mod wordpress;

use std::borrow::Cow;

use proto::era::Era;

use super::cell::{Object, Text};
use super::row::Dialect;
use super::say::Template;

/// A built-in dialect: its names, the usual one first, and its row.
type Row = (&'static [&'static str], fn() -> Dialect);

const ROWS: &[Row] = &[
    (&["standard"], standard),
    (&["bb-1.0", "bb"], bb::first),
    // Its other name has the protocol version in it, which is not written here.
    (&["bb-later"], bb::later),
    (&["buddyboss"], buddyboss::row),
    (&["wordpress-v1", "wordpress"], wordpress::first),
    (&["wordpress-saas"], wordpress::hosted),
    (&["gateway"], gateway::row),
    (&["kulturarv"], kulturarv::row),
];

impl Dialect {
    /// The built-in dialect of this name.
    pub fn base(name: &str) -> Option<Self> {
        let named = |(names, row): &Row| names.contains(&name).then(row);
        ROWS.iter().find_map(named).or_else(|| Self::all().find(|row| row.name == name))
    }

    /// All built-in dialects, in the order of the documentation.
    pub fn all() -> impl Iterator<Item = Self> {
        ROWS.iter().map(|(_, row)| row())
    }

    /// All names of built-in dialects, other names included.
    pub fn names() -> Vec<Text> {
        Self::all()
            .flat_map(|row| row.aliases().map(text).chain([row.name.clone()]).collect::<Vec<_>>())
            .collect()
    }

    /// Other names of a built-in dialect.
    pub fn aliases(&self) -> impl Iterator<Item = &'static str> {
        let own = self.name.clone();
        let row = ROWS.iter().find(move |(_, row)| row().name == own);
        let own = self.name.clone();
        row.into_iter().flat_map(|(names, _)| names.iter().copied()).filter(move |name| *name != own)
    }
}

/// The endpoint does what the protocol says, in each of its versions.
fn standard() -> Dialect {
    Dialect {
        name: text("standard"),
        about: text("The protocol as it is published, each version in its own way"),
        interpreted: false,
        ..Dialect::plain()
    }
}

/// A text that is built in.
fn text(text: &'static str) -> Text {
    Cow::Borrowed(text)
}

fn texts(list: &[&'static str]) -> Vec<Text> {
    list.iter().copied().map(text).collect()
}

fn versions(eras: &[&'static Era]) -> Vec<Text> {
    eras.iter().map(|era| text(era.version)).collect()
}

fn object(json: &'static str) -> Object {
    Object(text(json))
}

fn template(json: &'static str) -> Template {
    Template(text(json))
}
