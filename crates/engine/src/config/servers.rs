//! Reads the `mcpServers` block, as clients write it.
//!
//! Entries are pasted from the settings of many clients. What those clients know and we do not need is accepted and
//! noted, so that a pasted block works; what looks like a mistyped key of ours is a fault.

use std::time::Duration;

use indexmap::{IndexMap, IndexSet};

use super::check;
use super::links;
use super::model::{Affinity, HttpTransport, Link, Server};
use super::native;
use super::parse::{Entry, Kind, Node};
use super::read::{CHANGE_FILLED, Fields, Reader, clip};
use super::server_tools;
use super::suggest;
use super::units;

/// The keys of a server entry that mean something here.
const OWN_KEYS: &[&str] = &[
    "command",
    "args",
    "env",
    "cwd",
    "url",
    "headers",
    "oauth",
    "type",
    "native",
    "site",
    "phases",
    "sources",
    "unknownArguments",
    "disabled",
    "timeout",
    "startTimeout",
    "affinity",
    "description",
];

/// Keys that go with `command` or with `url` only.
const LINK_KEYS: &[&str] = &["args", "env", "cwd", "headers", "oauth"];

/// All keys that say more about how a server is reached.
fn link_keys() -> impl Iterator<Item = &'static str> {
    LINK_KEYS.iter().chain(native::KEYS).copied()
}

/// Other clients' names for `url`, and what they say about the transport.
const URL_ALIASES: &[(&str, HttpTransport)] =
    &[("serverUrl", HttpTransport::Auto), ("httpUrl", HttpTransport::Streamable)];

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
#[derive(Default)]
pub(super) struct Servers {
    pub(super) servers: IndexMap<String, Server>,
    pub(super) names: IndexSet<String>,
}

/// The servers of a block, each on top of that of the same name in `base`.
pub(super) fn read(reader: &mut Reader<'_>, node: &Node, base: &IndexMap<String, Server>) -> Servers {
    let mut found = Servers::default();
    let Some(fields) = reader.fields(node, "a mapping of servers by name") else { return found };
    for entry in fields.rest() {
        found.names.insert(entry.key.clone());
        let server = reader.within(&entry.key, |reader| {
            reader.sound(&entry.key_at, check::server_name(&entry.key));
            read_server(reader, entry, base.get(&entry.key))
        });
        if let Some(server) = server {
            found.servers.insert(entry.key.clone(), server);
        }
    }
    found
}

fn read_server(reader: &mut Reader<'_>, entry: &Entry, base: Option<&Server>) -> Option<Server> {
    let what = "a mapping with `command`, `url` or `native`";
    let mut fields = reader.fields(&entry.value, what)?;
    let disabled = read_disabled(reader, &mut fields, base.is_some_and(|base| base.disabled));
    reader.switched_off = disabled;
    let server = read_enabled(reader, &mut fields, entry, base);
    let server = server.map(|server| Server { disabled, ..server });
    reader.switched_off = false;
    note_foreign(reader, fields);
    server
}

fn read_disabled(reader: &mut Reader<'_>, fields: &mut Fields<'_>, base: bool) -> bool {
    let mut flag = |key: &str| {
        let entry = fields.take(key)?;
        reader.within(key, |reader| reader.flag(&entry.value))
    };
    match (flag("disabled"), flag("enabled")) {
        (None, None) => base,
        (disabled, enabled) => disabled.unwrap_or(false) || !enabled.unwrap_or(true),
    }
}

fn read_enabled(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
    entry: &Entry,
    base: Option<&Server>,
) -> Option<Server> {
    let link = read_link(reader, fields, entry, base.map(|base| &base.link));
    let mut time =
        |key: &str| fields.take(key).and_then(|entry| reader.within(key, |r| read_timeout(r, &entry.value)));
    let (timeout, start_timeout) = (time("timeout"), time("startTimeout"));
    let affinity = fields.take("affinity").and_then(|entry| {
        let words = &[("auto", Affinity::Auto), ("shared", Affinity::Shared), ("session", Affinity::Session)];
        reader.within("affinity", |reader| reader.word(&entry.value, words))
    });
    let description = fields
        .take("description")
        .and_then(|entry| reader.within("description", |reader| reader.text(&entry.value, "a text")));
    let tools = server_tools::read(reader, fields, &entry.key, base.map(|base| &base.tools));
    Some(Server {
        link: link?,
        disabled: false,
        timeout: timeout.or(base.and_then(|base| base.timeout)),
        start_timeout: start_timeout.or(base.and_then(|base| base.start_timeout)),
        affinity: affinity.or(base.map(|base| base.affinity)).unwrap_or_default(),
        tools,
        description: description.or(base.and_then(|base| base.description.clone())),
    })
}

fn read_link(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
    entry: &Entry,
    base: Option<&Link>,
) -> Option<Link> {
    let given_type = fields
        .take("type")
        .map(|entry| (entry, reader.within("type", |reader| reader.word(&entry.value, TYPES))));
    let (url, aliased) = take_url(reader, fields);
    let chosen: Vec<&Entry> =
        [fields.take("command"), url, fields.take("native")].into_iter().flatten().collect();
    if let (None, Some(base)) = (chosen.first(), base) {
        return join_link(reader, fields, entry, given_type, base);
    }
    let Some(first) = chosen.first() else {
        // A mistyped `comand` is one fault, not two.
        if !fields.has_nearly(&["command", "url", "native"]) {
            let mend = "write `command` (a program), `url` (a server on the net) or `native: demo`";
            reader.fault(&entry.key_at, "nothing says how to reach this server", mend);
        }
        fields.drop_all(&link_keys().collect::<Vec<_>>());
        return None;
    };
    check_type(reader, given_type, &first.key);
    let link = match (first.key.as_str(), base) {
        ("command", base) => {
            let base = if let Some(Link::Stdio(base)) = base { Some(base) } else { None };
            links::read_stdio(reader, fields, Some(first), base).map(Link::Stdio)
        }
        ("native", base) => {
            let base = if let Some(Link::Native(base)) = base { Some(base) } else { None };
            native::read_link(reader, fields, Some(first), entry, base).map(Link::Native)
        }
        (_, base) => {
            let base = if let Some(Link::Http(base)) = base { Some(base) } else { None };
            let transport = said_transport(given_type).or(aliased);
            links::read_http(reader, fields, Some(first), transport, base).map(Link::Http)
        }
    };
    if let Some(second) = chosen.get(1) {
        let mend = "keep one of the two, or make two servers";
        reader.fault(
            &second.key_at,
            format!("a server has `{}` or `{}`, not both", first.key, second.key),
            mend,
        );
        fields.drop_all(&link_keys().collect::<Vec<_>>());
        return None;
    }
    refuse_other_links(reader, fields, &first.key);
    link
}

type GivenType<'n> = Option<(&'n Entry, Option<Type>)>;

/// The link of the base, with what the file says beside it.
fn join_link(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
    entry: &Entry,
    given_type: GivenType<'_>,
    base: &Link,
) -> Option<Link> {
    let (key, link) = match base {
        Link::Stdio(base) => {
            ("command", links::read_stdio(reader, fields, None, Some(base)).map(Link::Stdio))
        }
        Link::Http(base) => {
            let transport = said_transport(given_type);
            ("url", links::read_http(reader, fields, None, transport, Some(base)).map(Link::Http))
        }
        Link::Native(base) => {
            ("native", native::read_link(reader, fields, None, entry, Some(base)).map(Link::Native))
        }
    };
    check_type(reader, given_type, key);
    refuse_other_links(reader, fields, key);
    link
}

fn said_transport(given: GivenType<'_>) -> Option<HttpTransport> {
    if let Some((_, Some(Type::Http(transport)))) = given { Some(transport) } else { None }
}

/// What goes with a program does nothing for a URL, and the other way round.
fn refuse_other_links(reader: &mut Reader<'_>, fields: &mut Fields<'_>, chosen: &str) {
    for key in link_keys() {
        let Some(entry) = fields.take(key) else { continue };
        reader.within(key, |reader| {
            let mend = format!("remove it; it does nothing beside `{chosen}`");
            reader.fault(&entry.key_at, format!("`{key}` does not go with `{chosen}`"), mend);
        });
    }
}

fn take_url<'n>(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'n>,
) -> (Option<&'n Entry>, Option<HttpTransport>) {
    let mut url = fields.take("url");
    let mut transport = None;
    for (alias, means) in URL_ALIASES {
        let Some(entry) = fields.take(alias) else { continue };
        if let Some(url) = url {
            let message = format!("`{alias}` and `{}` say the same thing", url.key);
            reader.within(alias, |reader| reader.fault(&entry.key_at, message, "keep `url`"));
            continue;
        }
        (url, transport) = (Some(entry), Some(*means));
    }
    (url, transport)
}

fn check_type(reader: &mut Reader<'_>, given: GivenType<'_>, chosen: &str) {
    let Some((entry, Some(kind))) = given else { return };
    let fits = match chosen {
        "command" => kind == Type::Stdio,
        "native" => false,
        _ => kind != Type::Stdio,
    };
    if !fits {
        let mend = match chosen {
            "command" => "write `type: stdio`, or remove the line",
            "native" => "remove `type`",
            _ => "write `type: http` or `type: sse`, or remove the line",
        };
        let message = format!("this `type` does not go with `{chosen}`");
        reader.within("type", |reader| reader.fault(&entry.value.at, message, mend));
    }
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
    let shown = if text.hides() { clip(text.shown()) } else { units::show_time(time) };
    if time.is_zero() || time > LONGEST_TIMEOUT {
        reader.fault(
            &node.at,
            format!("a timeout of {shown} is out of bounds"),
            "write a time from 1ms to 1h",
        );
        return None;
    }
    if bare.is_some() {
        let mend = if text.hides() { CHANGE_FILLED.to_owned() } else { format!("write `{shown}` to say so") };
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
        if reader.within(key, |reader| server_tools::refuse(reader, entry)) {
            continue;
        }
        let known_elsewhere = FOREIGN_KEYS.contains(&key);
        let near = suggest::nearest(key, OWN_KEYS.iter().copied()).filter(|_| !known_elsewhere);
        reader.within(key, |reader| match near {
            Some(near) => {
                let message = format!("unknown key `{}`", clip(key));
                reader.fault(&entry.key_at, message, format!("did you mean `{near}`?"));
            }
            None => reader.note(
                &entry.key_at,
                format!("`{}` is not used by Dragoman", clip(key)),
                foreign_mend(key, &entry.value),
            ),
        });
    }
}

fn foreign_mend(key: &str, value: &Node) -> &'static str {
    let is_off = matches!(&value.kind, Kind::Scalar { text, .. } if text == "false");
    match key {
        "envFile" => "write the variables under `env`, or a secret as \"${file:path}\"",
        // Cursor's: the client that is registered at the server's authorization server.
        "auth" if matches!(value.kind, Kind::Map(_)) => {
            "write oauth: { clientId: …, clientSecret: …, scopes: […] }"
        }
        "auth" | "headersHelper" => "send a token under `headers`: Authorization: \"Bearer ${TOKEN}\"",
        "authProviderType" => {
            "Dragoman gets no token that way, so the server may answer 401: send one under `headers`: Authorization: \"Bearer \
             ${TOKEN}\", or write oauth: { clientId: …, clientSecret: …, scopes: […] }"
        }
        "sandbox" | "sandboxEnabled" if !is_off => {
            "Dragoman starts the server without a sandbox, so that protection is gone: let `command` start it in one, such as a \
             container"
        }
        _ => "nothing to do; it may stay",
    }
}
