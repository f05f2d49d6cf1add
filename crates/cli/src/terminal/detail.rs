//! One entry of a server's lists in full: its description, its arguments, and an example of its use.

use std::fmt::Write as _;

use engine::catalogue::{Item, ListKind};
use engine::tokens::tokens_of_tool;
use serde_json::Value;

use super::parameters::Parameters;
use crate::output::console::{Console, message, one_line};
use crate::output::layout::{cut, wrap, wrap_command};

/// The maximum length of a line that names an entry, in columns.
const LONGEST: usize = 200;

/// Formats an entry for people. `target` contains the words with which the user named the server: those after
/// `dragoman call`, and those at the end of the command line.
pub(crate) fn of_item(kind: ListKind, item: &Item, target: (&str, &str), console: &Console) -> String {
    let entry: Value = serde_json::from_slice(&item.text).unwrap_or_default();
    let key = cut(&one_line(&item.key[..item.key.floor_char_boundary(LONGEST * 4)]), LONGEST);
    let width = console.out_width;
    let mut text = format!("{}\n", console.out.bold(&key));
    let notes = notes(kind, item, &entry).join(", ");
    if !notes.is_empty() {
        let notes = format!("  {notes}");
        let notes = width.map_or(notes.clone(), |width| wrap(&notes, width, 0, 0));
        let _ = writeln!(text, "{}", console.out.dim(&notes));
    }
    let mut paragraph = |value: &Value| {
        let value = value.as_str().map(str::trim).filter(|text| !text.is_empty() && *text != item.key);
        if let Some(value) = value {
            let value = message(value);
            let shown = format!("  {}", value.replace('\n', "\n  "));
            let shown = width.map_or(shown.clone(), |width| wrap(&shown, width, 0, 0));
            text.extend([shown.trim_end(), "\n"]);
        }
    };
    paragraph(&entry["title"]);
    paragraph(&entry["description"]);
    if matches!(kind, ListKind::Tools | ListKind::Prompts) {
        let parameters = parameters(item);
        let lines = parameters.lines(2, width, true);
        let head = if lines.is_empty() { "It takes no arguments." } else { "Arguments" };
        let _ = writeln!(text, "\n{}", console.out.bold(head));
        for line in lines {
            let _ = writeln!(text, "{line}");
        }
        let command = if kind == ListKind::Tools { "call" } else { "prompt" };
        let words = ["dragoman", command, target.0, &quoted(&key)];
        let words = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        let example = format!("{words}{}{}", parameters.example(), target.1);
        let example = width.map_or(example.clone(), |width| wrap_command(&example, width, 2));
        let _ = writeln!(text, "\n{}\n  {}", console.out.bold("Example"), console.out.cyan(&example));
    }
    text
}

/// Quotes a word for a shell, if necessary.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Returns the arguments of a tool or a prompt.
pub(crate) fn parameters(item: &Item) -> Parameters {
    let member = |key| item.member(key).and_then(|text| serde_json::from_slice::<Value>(&text).ok());
    match (member("inputSchema"), member("arguments")) {
        (Some(schema), _) => Parameters::of_schema(&schema),
        (None, Some(arguments)) => Parameters::of_prompt(&arguments),
        (None, None) => Parameters::default(),
    }
}

/// Returns short notes about an entry: the cost and the hints of a tool, the type of a resource.
fn notes(kind: ListKind, item: &Item, entry: &Value) -> Vec<String> {
    let mut notes = Vec::new();
    if kind == ListKind::Tools {
        notes.push(format!("about {} tokens", tokens_of_tool(&item.key, &item.text)));
        for (hint, value, note) in [
            ("readOnlyHint", true, "only reads"),
            ("destructiveHint", true, "may destroy data"),
            ("idempotentHint", true, "may be repeated"),
            ("openWorldHint", false, "works only within its server"),
        ] {
            if entry["annotations"][hint] == value {
                notes.push(note.to_owned());
            }
        }
    }
    if let Some(mime) = entry["mimeType"].as_str() {
        notes.push(cut(&one_line(&mime[..mime.floor_char_boundary(LONGEST)]), 60));
    }
    notes
}
