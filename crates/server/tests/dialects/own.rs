//! The part of `docs/dialects.md` about custom dialects, printed from the table of columns and the built-in rows.

use std::fmt::Write as _;

use engine::dialect::{CellKind, Choice, Column, Dialect};
use serde_json::Value;

/// The text before the tables.
const INTRODUCTION: &str = include_str!("own.md");

/// The row whose values the table of columns shows.
const PLAIN: &str = "standard";

/// The whole part.
pub(crate) fn print() -> String {
    let mut text = INTRODUCTION.to_owned();
    let plain = Dialect::base(PLAIN).expect("it is built in");
    text.push_str("\n### Columns\n\n| column | meaning | accepts | in `standard` |\n|---|---|---|---|\n");
    for column in Dialect::COLUMNS {
        let value = shown(column, &plain);
        let _ = writeln!(text, "| `{}` | {} | {} | {value} |", column.name, about(column), takes(column));
    }
    for row in Dialect::all().filter(|row| row.name != PLAIN) {
        text.push_str(&built_in(&row, &plain));
    }
    text
}

/// A built-in row: its differences from the plain one, and its variants.
fn built_in(row: &Dialect, plain: &Dialect) -> String {
    let mut text = format!("\n### `{}`\n\n{}.", row.name, row.about);
    if let Some(alias) = Dialect::names().iter().find(|name| is_alias(name, row)) {
        let _ = write!(text, " It is also called `{alias}`.");
    }
    let _ = write!(text, " It differs from `{PLAIN}` in:\n\n| column | value |\n|---|---|\n");
    let differs = |column: &&Column| row.get(column.name) != plain.get(column.name);
    for column in Dialect::COLUMNS.iter().filter(differs).filter(|column| column.name != "interpreted") {
        let _ = writeln!(text, "| `{}` | {} |", column.name, shown(column, row));
    }
    if row.variants.is_empty() {
        return text;
    }
    text.push_str("\n| variant | what it is | sets |\n|---|---|---|\n");
    for variant in row.variants {
        let sets: Vec<String> =
            variant.changes.iter().map(|(column, json)| code(&format!("{column}: {json}"))).collect();
        let _ = writeln!(text, "| `{}` | {} | {} |", variant.name, variant.about, sets.join(" "));
    }
    text
}

fn is_alias(name: &str, row: &Dialect) -> bool {
    name != row.name && Dialect::base(name).is_some_and(|found| found.name == row.name)
}

fn about(column: &Column) -> String {
    let named: Vec<String> = column.placeholders().iter().map(|name| format!("`{{{name}}}`")).collect();
    // The table of failures already shows those.
    if named.is_empty() || column.kind == CellKind::FaultText {
        column.about.to_owned()
    } else {
        format!("{} Placeholders: {}", column.about, named.join(", "))
    }
}

/// The allowed values; each word with its meaning.
fn takes(column: &Column) -> String {
    let words = |before: &str, choices: &[Choice]| {
        let all: Vec<String> = choices
            .iter()
            .map(|choice| format!("`{}`: {}", choice.word, choice.about.trim_end_matches('.')))
            .collect();
        format!("{before}{}", all.join("; "))
    };
    match column.kind {
        CellKind::Word(choices) => words("", choices),
        CellKind::Words(choices) => words("a list of any of these words: ", choices),
        CellKind::Order(choices) => words("a list of all of these words, in any order: ", choices),
        CellKind::FaultText => "an error, see above".to_owned(),
        _ => column.allowed(),
    }
}

/// The value in a row; for failures, the messages that it sets.
fn shown(column: &Column, row: &Dialect) -> String {
    let value = row.get(column.name).unwrap_or_default();
    match &value {
        Value::Object(members) if column.kind == CellKind::FaultText => {
            let there = members.iter().filter(|(_, value)| **value != Value::Bool(false));
            let all: Vec<String> = there.map(|(name, value)| code(&format!("{name}: {value}"))).collect();
            all.join(" ")
        }
        value => code(&value.to_string()),
    }
}

/// A text as code in a table cell.
fn code(text: &str) -> String {
    format!("`{}`", text.replace('|', "\\|"))
}
