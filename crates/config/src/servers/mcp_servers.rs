//! Reads the `mcpServers` block, as clients write it.
//!
//! Entries are pasted from the settings of many clients. Keys that only those clients use are accepted with a note, so that a
//! pasted block works. A key that looks like a misspelling of one of Dragoman's keys is a fault.

use indexmap::{IndexMap, IndexSet};

use super::links::{self, HttpLink, HttpTransport, StdioLink};
use super::native::{self, NativeLink};
use super::server::{Link, Server};
use super::server_tools;
use crate::reading::reader::{Fields, Reader};
use crate::reading::section::{self, Section, keys};
use crate::syntax::parse::{Entry, Node, NodeKind};
use crate::values::check;
use crate::values::nearest::{MAX_COMPARED, plain};
use crate::values::suggest;
use crate::values::wording::clip;
use crate::values::words::is_word_of;

/// All keys of a server's entry that Dragoman itself defines.
fn own_keys() -> impl Iterator<Item = &'static str> {
    keys::<Server>().into_iter().chain(LINKS).chain(link_keys())
}

/// The keys that select how a server is reached; other keys refine the selection.
const LINKS: [&str; 5] = ["command", "bundle", "url", "native", "type"];

/// All keys with further settings for reaching a server.
fn link_keys() -> impl Iterator<Item = &'static str> {
    let all = keys::<StdioLink>().into_iter().chain(keys::<HttpLink>()).chain(keys::<NativeLink>());
    all.filter(|key| !LINKS.contains(key))
}

/// Names for `url` in other clients, and the transport that each implies.
const URL_ALIASES: &[(&str, HttpTransport)] =
    &[("serverUrl", HttpTransport::Auto), ("httpUrl", HttpTransport::Streamable)];

/// Keys that concern only the client that wrote them.
const FOREIGN_KEYS: &str = "alwaysAllow alwaysLoad auth authProviderType autoApprove autoStart category chatIds dev envFile \
    gallery headersHelper icon iconUrl id initTimeout isActive label metadata name networkTimeout \
    provider restart sandbox sandboxEnabled scope source tags title transportType trust version \
    watchPaths";

/// The `type` of an entry.
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

/// The servers in file order, and the names of all entries. The names include entries that could not be read, so
/// that references to them are not reported as unknown.
#[derive(Default)]
pub(crate) struct Servers {
    pub(crate) servers: IndexMap<String, Server>,
    pub(crate) names: IndexSet<String>,
}

/// Reads the servers of a block. Each entry is merged onto the server with the same name in `base`.
pub(crate) fn read(reader: &mut Reader<'_>, node: &Node, base: &IndexMap<String, Server>) -> Servers {
    let mut found = Servers::default();
    let Some(fields) = reader.fields(node, "a mapping of servers by name") else { return found };
    for entry in fields.rest() {
        let twin =
            found.names.iter().chain(base.keys()).find(|other| shares_names(other, &entry.key)).cloned();
        found.names.insert(entry.key.clone());
        let server = reader.within(&entry.key, |reader| {
            reader.sound(&entry.key_at, check::server_name(&entry.key));
            if let Some(twin) = twin {
                let message =
                    format!("`{}` and `{twin}` could give different tools the same name", entry.key);
                reader.fault(
                    &entry.key_at,
                    message,
                    "rename one of them; the names must not differ only in trailing underscores",
                );
            }
            read_server(reader, entry, base.get(&entry.key))
        });
        if let Some(server) = server {
            found.servers.insert(entry.key.clone(), server);
        }
    }
    found
}

/// Returns true if the names of two servers differ only in the underscores at their ends; `SERVER__TOOL` could then mean a tool
/// of either.
fn shares_names(one: &str, other: &str) -> bool {
    one != other && one.trim_end_matches('_') == other.trim_end_matches('_')
}

fn read_server(reader: &mut Reader<'_>, entry: &Entry, base: Option<&Server>) -> Option<Server> {
    let mut fields = reader.fields(&entry.value, Server::WHAT)?;
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
    let mut server = base.cloned().unwrap_or_default();
    section::take(reader, fields, entry, &mut server);
    server.tools = server_tools::read(reader, fields, &entry.key, base.map(|base| &base.tools));
    Some(Server { link: link?, ..server })
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
    let chosen: Vec<&Entry> = [fields.take("command"), fields.peek("bundle"), url, fields.take("native")]
        .into_iter()
        .flatten()
        .collect();
    let first = chosen.first().copied();
    let (stdio, http, native) = match base {
        Some(Link::Stdio(base)) => (Some(base), None, None),
        Some(Link::Http(base)) => (None, Some(base), None),
        Some(Link::Native(base)) => (None, None, Some(base)),
        None => (None, None, None),
    };
    let of_base = stdio
        .map(|base| if base.bundle.is_some() { "bundle" } else { "command" })
        .or(http.map(|_| "url"))
        .or(native.map(|_| "native"));
    let Some(kind) = first.map(|first| first.key.as_str()).or(of_base) else {
        // A misspelled `comand` is reported once, not twice.
        if !fields.has_nearly(&["command", "bundle", "url", "native"]) {
            let help = "write `command` (a program), `url` (a server on the network) or `native: demo`";
            reader.fault(&entry.key_at, "this server has no address and no command", help);
        }
        fields.drop_all(&link_keys().collect::<Vec<_>>());
        return None;
    };
    check_type(reader, given_type, kind);
    let link = match kind {
        "command" | "bundle" => links::read_stdio(reader, fields, first, entry, stdio).map(Link::Stdio),
        "native" => native::read_link(reader, fields, first, entry, native).map(Link::Native),
        _ => {
            let transport = said_transport(given_type).or(aliased);
            links::read_http(reader, fields, first, entry, transport, http).map(Link::Http)
        }
    };
    if let Some(second) = chosen.get(1) {
        let message = format!("a server has `{kind}` or `{}`, not both", second.key);
        reader.fault(&second.key_at, message, "keep one of the two, or define two servers");
        fields.drop_all(&link_keys().collect::<Vec<_>>());
        return None;
    }
    refuse_other_links(reader, fields, kind);
    link
}

type GivenType<'n> = Option<(&'n Entry, Option<Type>)>;

fn said_transport(given: GivenType<'_>) -> Option<HttpTransport> {
    if let Some((_, Some(Type::Http(transport)))) = given { Some(transport) } else { None }
}

/// Rejects keys that belong to other kinds of links, because they have no effect together with `chosen`.
fn refuse_other_links(reader: &mut Reader<'_>, fields: &mut Fields<'_>, chosen: &str) {
    for key in link_keys() {
        let Some(entry) = fields.take(key) else { continue };
        reader.within(key, |reader| {
            let help = format!("remove it; it has no effect together with `{chosen}`");
            reader.fault(&entry.key_at, format!("`{key}` cannot be combined with `{chosen}`"), help);
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
            let message = format!("`{alias}` and `{}` mean the same thing", url.key);
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
        "command" | "bundle" => kind == Type::Stdio,
        "native" => false,
        _ => kind != Type::Stdio,
    };
    if !fits {
        let help = match chosen {
            "command" | "bundle" => "write `type: stdio`, or remove the line",
            "native" => "remove `type`",
            _ => "write `type: http` or `type: sse`, or remove the line",
        };
        let message = format!("this `type` cannot be combined with `{chosen}`");
        reader.within("type", |reader| reader.fault(&entry.value.at, message, help));
    }
}

/// Adds notes for ignored keys; rejects misspellings of Dragoman's keys.
fn note_foreign(reader: &mut Reader<'_>, fields: Fields<'_>) {
    for entry in fields.rest() {
        let key = entry.key.as_str();
        if reader.within(key, |reader| server_tools::refuse(reader, entry)) {
            continue;
        }
        let known_elsewhere = is_word_of(key, FOREIGN_KEYS);
        let near = suggest::nearest(key, own_keys()).filter(|_| !known_elsewhere);
        reader.within(key, |reader| match near {
            Some(near) => {
                let message = format!("unknown key `{}`", clip(key));
                reader.fault(&entry.key_at, message, format!("did you mean `{near}`?"));
            }
            None => reader.note(
                &entry.key_at,
                format!("`{}` is not used by Dragoman", clip(key)),
                foreign_help(key, &entry.value),
            ),
        });
    }
}

/// Key names from other gateways, in lower case and without `-` and `_`, each with advice that names Dragoman's
/// equivalent key.
const SYNONYMS: [(&[&str], &str); 3] = [
    (
        &[
            "concurrency",
            "maxconcurrency",
            "concurrencylimit",
            "maxconcurrent",
            "maxconcurrentcalls",
            "maxconcurrentrequests",
            "maxparallel",
            "parallelism",
        ],
        "did you mean `concurrentCalls`?",
    ),
    (
        &["queue", "queuesize", "maxqueue", "maxqueuesize", "queuelimit", "maxwaiting", "maxpending"],
        "did you mean `waitingCalls`?",
    ),
    (
        &["ratelimit", "ratelimits", "ratelimiting", "requestsperminute", "rpm", "maxrequestsperminute"],
        "did you mean `rateLimits`? It is at the top of the file: rateLimits: [{ rate: 60/1m, tools: 'NAME__*' }]",
    ),
];

fn foreign_help(key: &str, value: &Node) -> &'static str {
    let wanted = plain(&key[..key.floor_char_boundary(MAX_COMPARED)]);
    if let Some((_, help)) = SYNONYMS.iter().find(|(words, _)| words.contains(&wanted.as_str())) {
        return help;
    }
    let is_off = matches!(&value.kind, NodeKind::Scalar { text, .. } if text == "false");
    match key {
        "envFile" => "write the variables under `env`, or a secret as \"${file:path}\"",
        // Cursor's key: the client that is registered at the server's authorization server.
        "auth" if matches!(value.kind, NodeKind::Map(_)) => {
            "write oauth: { clientId: …, clientSecret: …, scopes: […] }"
        }
        "auth" | "headersHelper" => "send a token under `headers`: Authorization: \"Bearer ${TOKEN}\"",
        "authProviderType" => {
            "Dragoman gets no token that way, so the server may answer 401: send one under `headers`: Authorization: \"Bearer \
             ${TOKEN}\", or write oauth: { clientId: …, clientSecret: …, scopes: […] }"
        }
        "sandbox" | "sandboxEnabled" if !is_off => {
            "Dragoman starts the server without a sandbox, so this protection is lost: let `command` start the server in one, \
             such as a container"
        }
        _ => "no change needed; you can keep it",
    }
}
