//! Reads the `mcpServers` block, as clients write it.
//!
//! Entries are pasted from the settings of many clients. What those clients know and we do not need is accepted and
//! noted, so that a pasted block works; what looks like a mistyped key of ours is a fault.

use std::collections::HashSet;
use std::rc::Rc;
use std::time::Duration;

use http::HeaderName;
use indexmap::IndexMap;

use super::check;
use super::model::{Affinity, HttpLink, HttpTransport, Link, Native, NativeLink, Server, StdioLink};
use super::parse::{Entry, Node};
use super::read::{Fields, Reader, clip};
use super::suggest;
use super::text::Text;
use super::units;

/// The keys of a server entry that mean something here.
const OWN_KEYS: &[&str] = &[
    "command",
    "args",
    "env",
    "cwd",
    "url",
    "headers",
    "type",
    "native",
    "disabled",
    "timeout",
    "affinity",
    "description",
];

/// Other clients' names for `url`, and what they say about the transport.
const URL_ALIASES: &[(&str, HttpTransport)] =
    &[("serverUrl", HttpTransport::Auto), ("httpUrl", HttpTransport::Streamable)];

/// Keys with which other clients choose tools; a person who wrote one counts on it.
const TOOL_CHOICE_KEYS: &[&str] =
    &["allowedTools", "disabledTools", "enabledTools", "excludeTools", "includeTools", "tools"];

/// Keys that only concern the client that wrote them.
const FOREIGN_KEYS: &[&str] = &[
    "alwaysAllow",
    "alwaysLoad",
    "auth",
    "authProviderType",
    "autoApprove",
    "autoStart",
    "category",
    "chatIds",
    "dev",
    "envFile",
    "gallery",
    "headersHelper",
    "icon",
    "iconUrl",
    "id",
    "initTimeout",
    "isActive",
    "label",
    "metadata",
    "name",
    "networkTimeout",
    "oauth",
    "provider",
    "restart",
    "sandbox",
    "sandboxEnabled",
    "scope",
    "source",
    "tags",
    "title",
    "transportType",
    "trust",
    "version",
    "watchPaths",
];

/// From this number on a bare timeout is milliseconds: nobody waits a quarter of an hour for one answer.
const BARE_MILLISECONDS_FROM: f64 = 1000.0;
const LONGEST_TIMEOUT: Duration = Duration::from_hours(1);

/// What the `type` of an entry says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    Stdio,
    Http(HttpTransport),
}

const TYPES: &[(&str, Type)] = &[
    ("stdio", Type::Stdio),
    ("http", Type::Http(HttpTransport::Streamable)),
    ("streamable-http", Type::Http(HttpTransport::Streamable)),
    ("sse", Type::Http(HttpTransport::Sse)),
];

/// The servers in file order, with the names of those that could not be read, so that nobody calls them unknown.
pub(super) struct Servers {
    pub(super) servers: IndexMap<String, Server>,
    pub(super) names: Vec<String>,
}

pub(super) fn read(reader: &mut Reader<'_>, node: &Node) -> Servers {
    let mut found = Servers { servers: IndexMap::new(), names: Vec::new() };
    let Some(fields) = reader.fields(node, "a mapping of servers by name") else { return found };
    for entry in fields.rest() {
        found.names.push(entry.key.clone());
        let server = reader.within(&entry.key, |reader| {
            reader.sound(&entry.key_at, check::server_name(&entry.key));
            read_server(reader, entry)
        });
        if let Some(server) = server {
            found.servers.insert(entry.key.clone(), server);
        }
    }
    found
}

fn read_server(reader: &mut Reader<'_>, entry: &Entry) -> Option<Server> {
    let what = "a mapping with `command`, `url` or `native`";
    let mut fields = reader.fields(&entry.value, what)?;
    let disabled = read_disabled(reader, &mut fields);
    reader.switched_off = disabled;
    let server = read_enabled(reader, &mut fields, entry, disabled);
    reader.switched_off = false;
    note_foreign(reader, fields);
    server
}

fn read_disabled(reader: &mut Reader<'_>, fields: &mut Fields<'_>) -> bool {
    let mut flag = |key: &str| {
        let entry = fields.take(key)?;
        reader.within(key, |reader| reader.flag(&entry.value))
    };
    let disabled = flag("disabled").unwrap_or(false);
    let enabled = flag("enabled").unwrap_or(true);
    disabled || !enabled
}

fn read_enabled(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
    entry: &Entry,
    disabled: bool,
) -> Option<Server> {
    let link = read_link(reader, fields, entry);
    let timeout =
        fields.take("timeout").and_then(|entry| reader.within("timeout", |r| read_timeout(r, &entry.value)));
    let affinity = fields.take("affinity").and_then(|entry| {
        let words = &[("auto", Affinity::Auto), ("shared", Affinity::Shared), ("session", Affinity::Session)];
        reader.within("affinity", |reader| reader.word(&entry.value, words))
    });
    let description = fields
        .take("description")
        .and_then(|entry| reader.within("description", |reader| reader.text(&entry.value, "a text")));
    Some(Server { link: link?, disabled, timeout, affinity: affinity.unwrap_or_default(), description })
}

fn read_link(reader: &mut Reader<'_>, fields: &mut Fields<'_>, entry: &Entry) -> Option<Link> {
    let given_type = fields
        .take("type")
        .map(|entry| (entry, reader.within("type", |reader| reader.word(&entry.value, TYPES))));
    let (url, aliased) = take_url(reader, fields);
    let command = fields.take("command");
    let native = fields.take("native");
    let chosen: Vec<&Entry> = [command, url, native].into_iter().flatten().collect();
    if let [first, second, ..] = chosen[..] {
        let mend = "keep one of the two, or make two servers";
        reader.fault(
            &second.key_at,
            format!("a server has `{}` or `{}`, not both", first.key, second.key),
            mend,
        );
    }
    let Some(first) = chosen.first() else {
        let mend = "write `command` (a program), `url` (a server on the net) or `native: demo`";
        reader.fault(&entry.key_at, "nothing says how to reach this server", mend);
        check_leftovers(reader, fields, &["args", "env", "cwd", "headers"]);
        return None;
    };
    check_type(reader, given_type, first);
    let kind = given_type.and_then(|(_, kind)| kind);
    let link = if command.is_some_and(|entry| std::ptr::eq(entry, *first)) {
        read_stdio(reader, fields, first).map(Link::Stdio)
    } else if native.is_some_and(|entry| std::ptr::eq(entry, *first)) {
        reader
            .within("native", |reader| reader.word(&first.value, Native::ALL))
            .map(|native| Link::Native(NativeLink { native }))
    } else {
        let transport = match kind {
            Some(Type::Http(transport)) => transport,
            _ => aliased,
        };
        read_http(reader, fields, first, transport).map(Link::Http)
    };
    let foreign_to = first.key.clone();
    for key in ["args", "env", "cwd", "headers"] {
        if let Some(entry) = fields.take(key) {
            let mend = format!("remove it; it does nothing beside `{foreign_to}`");
            reader.within(key, |r| {
                r.fault(&entry.key_at, format!("`{key}` does not go with `{foreign_to}`"), mend)
            });
        }
    }
    (chosen.len() == 1).then_some(link).flatten()
}

/// Nothing says what the entry is; its other keys are not to be called unknown on top of that.
fn check_leftovers(_: &mut Reader<'_>, fields: &mut Fields<'_>, keys: &[&str]) {
    for key in keys {
        fields.take(key);
    }
}

fn take_url<'n>(reader: &mut Reader<'_>, fields: &mut Fields<'n>) -> (Option<&'n Entry>, HttpTransport) {
    let mut url = fields.take("url");
    let mut transport = HttpTransport::Auto;
    for (alias, means) in URL_ALIASES {
        let Some(entry) = fields.take(alias) else { continue };
        if let Some(url) = url {
            let message = format!("`{alias}` and `{}` say the same thing", url.key);
            reader.within(alias, |reader| reader.fault(&entry.key_at, message, "keep `url`"));
            continue;
        }
        (url, transport) = (Some(entry), *means);
    }
    (url, transport)
}

fn check_type(reader: &mut Reader<'_>, given: Option<(&Entry, Option<Type>)>, chosen: &Entry) {
    let Some((entry, Some(kind))) = given else { return };
    let fits = match chosen.key.as_str() {
        "command" => kind == Type::Stdio,
        "native" => false,
        _ => kind != Type::Stdio,
    };
    if !fits {
        let mend = match chosen.key.as_str() {
            "command" => "write `type: stdio`, or remove the line",
            "native" => "remove `type`",
            _ => "write `type: http` or `type: sse`, or remove the line",
        };
        let message = format!("this `type` does not go with `{}`", chosen.key);
        reader.within("type", |reader| reader.fault(&entry.value.at, message, mend));
    }
}

fn read_stdio(reader: &mut Reader<'_>, fields: &mut Fields<'_>, entry: &Entry) -> Option<StdioLink> {
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

fn read_http(
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
        Some(shown.map_or(text.clone(), |shown| Text::hidden(text.expose(), &shown)))
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

fn read_timeout(reader: &mut Reader<'_>, node: &Node) -> Option<Duration> {
    let what = "a time such as 30s, 2m or a number of seconds";
    let text = reader.text(node, what)?;
    let bare = text.expose().parse::<f64>().ok().filter(|number| *number >= BARE_MILLISECONDS_FROM);
    let time = match bare {
        Some(_) => units::parse_time(&format!("{}ms", text.expose().split('.').next().unwrap_or_default())),
        None => units::parse_time(text.expose()),
    };
    let Some(time) = time else {
        reader.wrong_kind(node, what);
        return None;
    };
    let shown = units::show_time(time);
    if time.is_zero() || time > LONGEST_TIMEOUT {
        reader.fault(
            &node.at,
            format!("a timeout of {shown} is out of bounds"),
            "write a time from 1ms to 1h",
        );
        return None;
    }
    if bare.is_some() {
        let mend = format!("write `{shown}` to say so");
        reader.note(
            &node.at,
            "a number from 1000 on is read as milliseconds, as some clients write it",
            mend,
        );
    }
    Some(time)
}

/// Notes what is ignored; refuses what looks like a key of ours.
fn note_foreign(reader: &mut Reader<'_>, fields: Fields<'_>) {
    for entry in fields.rest() {
        let key = entry.key.as_str();
        let known_elsewhere = FOREIGN_KEYS.contains(&key) || TOOL_CHOICE_KEYS.contains(&key);
        let near = suggest::nearest(key, OWN_KEYS.iter().copied()).filter(|_| !known_elsewhere);
        reader.within(key, |reader| match near {
            Some(near) => {
                let message = format!("unknown key `{}`", clip(key));
                reader.fault(&entry.key_at, message, format!("did you mean `{near}`?"));
            }
            None => reader.note(
                &entry.key_at,
                format!("`{}` is not used by Dragoman", clip(key)),
                foreign_mend(key),
            ),
        });
    }
}

fn foreign_mend(key: &str) -> &'static str {
    match key {
        "envFile" => "write the variables under `env`, or a secret as \"${file:path}\"",
        "auth" | "oauth" | "headersHelper" => {
            "send a token under `headers`: Authorization: \"Bearer ${TOKEN}\""
        }
        _ if TOOL_CHOICE_KEYS.contains(&key) => {
            "choose tools per profile: profiles.default.tools.allow or .deny"
        }
        _ => "nothing to do; it may stay",
    }
}
