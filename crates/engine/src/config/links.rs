//! Reads how a server is reached: a program with its arguments and variables, or a URL with its headers.

use std::collections::HashSet;
use std::rc::Rc;

use http::HeaderName;
use http::header::AUTHORIZATION;
use indexmap::IndexMap;

use super::check;
use super::consent;
use super::model::{HttpLink, HttpTransport, StdioLink};
use super::parse::{Entry, Node};
use super::read::{Fields, Reader};
use super::text::Text;

/// A program: one that `entry` names, or that of the base. What is not said beside it is as in the base, if that has the
/// same program.
pub(super) fn read_stdio(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
    entry: Option<&Entry>,
    base: Option<&StdioLink>,
) -> Option<StdioLink> {
    let command = match entry {
        None => base.map(|base| base.command.clone()),
        Some(entry) => reader.within("command", |reader| {
            let text = reader.text(&entry.value, "the program's name as a text")?;
            reader.sound(&entry.value.at, check::command(&text))?;
            note_shell_line(reader, &entry.value, &text, fields.has("args"));
            Some(text)
        }),
    };
    let same = |base: &&StdioLink| command.as_ref().is_some_and(|own| own.expose() == base.command.expose());
    let base = base.filter(same);
    let args = read_args(reader, fields, base.map(|base| &base.args[..]).unwrap_or_default());
    let env = read_env(reader, fields, base.map(|base| base.env.clone()).unwrap_or_default());
    let cwd = match fields.take("cwd") {
        None => Some(base.and_then(|base| base.cwd.clone())),
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

fn read_args(reader: &mut Reader<'_>, fields: &mut Fields<'_>, base: &[Text]) -> Option<Vec<Text>> {
    let Some(entry) = fields.take("args") else { return Some(base.to_vec()) };
    reader.within("args", |reader| {
        let items = reader.items(&entry.value, "a list of arguments", false)?;
        let read = |(index, node): (usize, &Rc<Node>)| {
            reader.within(&format!("[{index}]"), |reader| {
                let text = reader.server_text(node, "an argument as a text", false)?;
                reader.sound(&node.at, check::no_nul(text.expose())).map(|()| text)
            })
        };
        let args: Vec<Option<Text>> = items.into_iter().enumerate().map(read).collect();
        args.into_iter().collect()
    })
}

fn read_env(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
    base: IndexMap<String, Text>,
) -> Option<IndexMap<String, Text>> {
    let Some(entry) = fields.take("env") else { return Some(base) };
    reader.within("env", |reader| {
        let mut env = base;
        for entry in reader.fields(&entry.value, "a mapping of variables and values")?.rest() {
            reader.within(&entry.key, |reader| {
                reader.sound(&entry.key_at, check::variable(&entry.key))?;
                let what = "a value as a text, such as \"\" or \"${NAME}\"";
                let text = reader.server_text(&entry.value, what, true)?;
                reader.sound(&entry.value.at, check::no_nul(text.expose()))?;
                env.insert(entry.key.clone(), text)
            });
        }
        Some(env)
    })
}

/// A URL: one that `entry` names, or that of the base. What is not said beside it is as in the base, if that has the same
/// URL: headers for one server are no other's business.
pub(super) fn read_http(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
    entry: Option<&Entry>,
    transport: Option<HttpTransport>,
    base: Option<&HttpLink>,
) -> Option<HttpLink> {
    let url = match entry {
        None => base.map(|base| base.url.clone()),
        Some(entry) => reader.within(&entry.key, |reader| {
            let text = reader.server_text(&entry.value, "a URL", false)?;
            reader.sound(&entry.value.at, check::url(&text))?;
            // A query often carries a key; nobody needs it in a log.
            let shown = text.shown().split_once('?').map(|(address, _)| format!("{address}?***"));
            Some(shown.map_or(text.clone(), |shown| text.clone().shown_as(&shown)))
        }),
    };
    let same = |base: &&HttpLink| url.as_ref().is_some_and(|own| own.expose() == base.url.expose());
    let base = base.filter(same);
    let headers = read_headers(reader, fields, base.map(|base| base.headers.clone()).unwrap_or_default());
    let oauth = match fields.take("oauth") {
        None => base.and_then(|base| base.oauth.clone()),
        Some(entry) => {
            let sends_own = headers.as_ref().is_some_and(|headers| headers.contains_key(&AUTHORIZATION));
            reader.within("oauth", |reader| {
                if sends_own {
                    let mend =
                        "keep `headers` for a token of your own, or `oauth` to ask users for their consent";
                    reader.fault(&entry.key_at, "`oauth` does not go with a header `Authorization`", mend);
                }
                consent::read(reader, entry)
            })
        }
    };
    let transport = transport.or(base.map(|base| base.transport)).unwrap_or(HttpTransport::Auto);
    Some(HttpLink { url: url?, transport, headers: headers?, oauth })
}

fn read_headers(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
    base: IndexMap<HeaderName, Text>,
) -> Option<IndexMap<HeaderName, Text>> {
    let Some(entry) = fields.take("headers") else { return Some(base) };
    reader.within("headers", |reader| {
        let mut headers = base;
        let mut seen = HashSet::new();
        for entry in reader.fields(&entry.value, "a mapping of header names and values")?.rest() {
            reader.within(&entry.key, |reader| {
                let name = reader.sound(&entry.key_at, check::header_name(&entry.key))?;
                if !seen.insert(name.clone()) {
                    let message = format!("the header `{name}` stands twice; case does not count");
                    reader.fault(&entry.key_at, message, "keep one of the two");
                }
                let text = reader.server_text(&entry.value, "a value as a text", true)?;
                reader.sound(&entry.value.at, check::header_value(&text))?;
                headers.insert(name, text)
            });
        }
        Some(headers)
    })
}
