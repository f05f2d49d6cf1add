//! Reads how a server is reached: a program with its arguments and variables, or a URL with its headers.

use std::collections::HashSet;
use std::rc::Rc;

use http::HeaderName;
use indexmap::IndexMap;

use super::check;
use super::model::{HttpLink, HttpTransport, StdioLink};
use super::parse::{Entry, Node};
use super::read::{Fields, Reader};
use super::text::Text;

pub(super) fn read_stdio(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
    entry: &Entry,
) -> Option<StdioLink> {
    let command = reader.within("command", |reader| {
        let text = reader.text(&entry.value, "the program's name as a text")?;
        reader.sound(&entry.value.at, check::command(&text))?;
        note_shell_line(reader, &entry.value, &text, fields.has("args"));
        Some(text)
    });
    let args = read_args(reader, fields);
    let env = read_env(reader, fields);
    let cwd = match fields.take("cwd") {
        None => Some(None),
        Some(entry) => reader.within("cwd", |reader| {
            let text = reader.text(&entry.value, "a folder")?;
            reader.sound(&entry.value.at, check::no_nul(text.expose()))?;
            Some(Some(text))
        }),
    };
    Some(StdioLink { command: command?, args: args?, env: env?, cwd: cwd? })
}

/// A whole command line in `command` is a frequent slip; a path with blanks is not one.
fn note_shell_line(reader: &mut Reader<'_>, node: &Node, command: &Text, has_args: bool) {
    let text = command.expose().trim();
    let program = text.split_whitespace().next().unwrap_or_default();
    if !has_args && program != text && !program.contains(['/', '\\']) {
        let mend = "if these are arguments, write them one by one: command: npx, args: [-y, package]";
        reader.note(&node.at, "no shell reads this: it is taken as the name of one program", mend);
    }
}

fn read_args(reader: &mut Reader<'_>, fields: &mut Fields<'_>) -> Option<Vec<Text>> {
    let Some(entry) = fields.take("args") else { return Some(Vec::new()) };
    reader.within("args", |reader| {
        let items = reader.items(&entry.value, "a list of arguments", false)?;
        let read = |(index, node): (usize, &Rc<Node>)| {
            reader.within(&format!("[{index}]"), |reader| {
                let text = reader.text(node, "an argument as a text")?;
                reader.sound(&node.at, check::no_nul(text.expose())).map(|()| text)
            })
        };
        let args: Vec<Option<Text>> = items.into_iter().enumerate().map(read).collect();
        args.into_iter().collect()
    })
}

fn read_env(reader: &mut Reader<'_>, fields: &mut Fields<'_>) -> Option<IndexMap<String, Text>> {
    let Some(entry) = fields.take("env") else { return Some(IndexMap::new()) };
    reader.within("env", |reader| {
        let mut env = IndexMap::new();
        for entry in reader.fields(&entry.value, "a mapping of variables and values")?.rest() {
            reader.within(&entry.key, |reader| {
                reader.sound(&entry.key_at, check::variable(&entry.key))?;
                let text =
                    reader.secret_text(&entry.value, "a value as a text, such as \"\" or \"${NAME}\"")?;
                reader.sound(&entry.value.at, check::no_nul(text.expose()))?;
                env.insert(entry.key.clone(), text)
            });
        }
        Some(env)
    })
}

pub(super) fn read_http(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
    entry: &Entry,
    transport: HttpTransport,
) -> Option<HttpLink> {
    let url = reader.within(&entry.key, |reader| {
        let text = reader.text(&entry.value, "a URL")?;
        reader.sound(&entry.value.at, check::url(&text))?;
        // A query often carries a key; nobody needs it in a log.
        let shown = text.shown().split_once('?').map(|(address, _)| format!("{address}?***"));
        Some(shown.map_or(text.clone(), |shown| text.clone().shown_as(&shown)))
    });
    let headers = read_headers(reader, fields);
    Some(HttpLink { url: url?, transport, headers: headers? })
}

fn read_headers(reader: &mut Reader<'_>, fields: &mut Fields<'_>) -> Option<IndexMap<HeaderName, Text>> {
    let Some(entry) = fields.take("headers") else { return Some(IndexMap::new()) };
    reader.within("headers", |reader| {
        let mut headers = IndexMap::new();
        let mut seen = HashSet::new();
        for entry in reader.fields(&entry.value, "a mapping of header names and values")?.rest() {
            reader.within(&entry.key, |reader| {
                let name = reader.sound(&entry.key_at, check::header_name(&entry.key))?;
                if !seen.insert(name.clone()) {
                    let message = format!("the header `{name}` stands twice; case does not count");
                    reader.fault(&entry.key_at, message, "keep one of the two");
                }
                let text = reader.secret_text(&entry.value, "a value as a text")?;
                reader.sound(&entry.value.at, check::header_value(&text))?;
                headers.insert(name, text)
            });
        }
        Some(headers)
    })
}
