//! The configuration keys of any server, regardless of its link.

use std::time::Duration;

use indexmap::IndexMap;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use super::links::{HttpLink, StdioLink};
use super::native::NativeLink;
use super::route::{ClientTls, ProxyRule};
use super::server_tools::ServerTools;
use super::tool_calls::{LONGEST_CALL, ToolCalls, refuse_contradiction};
use crate::reading::reader::{CHANGE_FILLED, Reader};
use crate::reading::rows::section;
use crate::reading::section;
use crate::reading::spellings::{
    Bytes, Flag, Mapping, Number, Optional, ReplacedSection, Spelling, Word, any_text,
};
use crate::syntax::parse::{Entry, Node, NodeKind};
use crate::values::check::Flaw;
use crate::values::glob::Glob;
use crate::values::text::Text;
use crate::values::units;
use crate::values::wording::clip;
use crate::values::words::words;

section! {
    /// A server behind Dragoman: a command to start, a URL to call, or Dragoman's own tools.
    pub struct Server: "a mapping with `command`, `url` or `native`" {
        /// Adds the keys of one kind of link to those of any server.
        fn adapt(schema: &mut Schema, generator: &mut SchemaGenerator) {
            schema.remove("additionalProperties");
            let tools = ServerTools::json_schema(generator);
            if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
                properties.extend(tools.get("properties").and_then(Value::as_object).cloned().unwrap_or_default());
            }
            let link = |about: &str, mut link: Schema| {
                link.insert("description".to_owned(), about.trim().into());
                link.to_value()
            };
            let links = [
                link(StdioLink::ABOUT, generator.subschema_for::<StdioLink>()),
                link(HttpLink::ABOUT, generator.subschema_for::<HttpLink>()),
                link(NativeLink::ABOUT, generator.subschema_for::<NativeLink>()),
            ];
            schema.insert("anyOf".to_owned(), links.to_vec().into());
        }

        fn show_rest(&self, shown: &mut Map<String, Value>) {
            let link = match &self.link {
                Link::Stdio(stdio) => section::shown(stdio),
                Link::Http(http) => section::shown(http),
                Link::Native(native) => section::shown(native),
            };
            for part in [link, section::shown(&self.tools)] {
                if let Value::Object(part) = part {
                    shown.extend(part);
                }
            }
        }

        fn check(&mut self, reader: &mut Reader<'_>, entry: &Entry, _: bool) {
            refuse_contradiction(reader, entry, (self.timeout, self.call_timeout));
            self.refuse_single_of_many(reader, entry);
        }
    } [
        /// Keeps the server in the file without serving it.
        "disabled" disabled: bool = Flag;
        /// Makes `/ready` ignore this server.
        "optional" optional: bool = Flag;
        /// The time that a call may go without an answer or a sign of progress, at most `1h`: `30s`, `2m`, or a number,
        /// which means seconds below 1000 and milliseconds otherwise.
        "timeout" timeout: Option<Duration> = Optional(Timeout::IDLE), absent "`limits.callIdleTimeout`";
        /// The total time that a call may take, even if it reports progress, at most `24h`, written like `timeout`.
        "callTimeout" call_timeout: Option<Duration> = Optional(Timeout::WHOLE), absent "`limits.callTimeout`";
        /// Rules for calls to individual tools, by the server's own names for them (`*` matches any characters, `?`
        /// one). The first rule whose name matches applies.
        "toolCalls" tool_calls: IndexMap<String, ToolCalls> = Mapping {
            what: "a mapping from tool names to rules",
            key: tool_name,
            value: ReplacedSection,
        }, see "[a tool's calls](#calls-to-a-tool)";
        /// The time that the server may take from its start to its first answer, written like `timeout`. Dragoman does
        /// not stop a running child process before this time has passed.
        "startTimeout" start_timeout: Option<Duration> = Optional(Timeout::IDLE), absent "`limits.startTimeout`";
        /// Decides whether Dragoman resends requests that may have been executed before a connection broke: `auto` resends
        /// requests that only read, and calls to tools that the server marks as read-only or idempotent; `never` resends
        /// nothing; `always` resends every tool call.
        "resend" resend: ResendRule = Word, see "[reliability.md](reliability.md#restarts)";
        /// The clients that share a connection: `shared` (all), `session` (each client session has its own) or `caller` (each
        /// authenticated caller has its own).
        "affinity" affinity: Affinity = AffinityWord, see "[sessions.md](sessions.md)";
        /// The handling of the server's questions to clients: `auto` passes the questions to clients that can be asked;
        /// `never` tells the server, if it uses sessions, that no client can be asked.
        "asks" asks: QuestionPolicy = Word;
        /// The maximum number of dedicated connections, in addition to the shared ones. With `0`, all clients take turns on a
        /// single connection.
        "dedicatedConnections" dedicated_connections: Option<usize> = Optional(Number { least: 0, most: 10_000 }),
            absent "4 child processes (16 with `affinity: session` or `caller`) or 256 sessions; `0` for some known servers",
            see "[sessions.md](sessions.md#one-connection-for-all)";
        /// The maximum number of calls that run on the server at once. Calls above this number wait for their turn.
        "concurrentCalls" concurrent_calls: usize = Number { least: 1, most: 1_000_000 }, default 10_000,
            see "[sessions.md](sessions.md#calls-at-once)";
        /// The maximum number of calls that wait for their turn. Calls above this number are refused, and clients may send
        /// refused calls again.
        "waitingCalls" waiting_calls: usize = Number { least: 0, most: 1_000_000 }, default 1000;
        /// The maximum size of a tool's result. If a result is longer, clients get its beginning and a link to the rest.
        /// Choose a size that fits into the context window of your models, for instance `100KiB`, which is about 25,000
        /// tokens of English text.
        "maxResult" max_result: Option<usize> = Optional(Bytes { least: 4 << 10, most: 1 << 30 }), absent "none",
            see "[long results](#long-results)";
        /// The handling of tools whose definitions change, and of new tools: `warn` serves them and logs a warning; `hold`
        /// hides them until somebody approves them; `allow` does not compare definitions.
        "definitions" definitions: Option<DefinitionPolicy> = Optional(Word), absent "the `definitions` of the configuration",
            see "[security.md](security.md#when-a-server-changes-its-tools)";
        /// A description of the server, for people.
        "description" description: Option<Text> = Optional(any_text("a string"));
        beside:
            /// The way to reach the server.
            link: Link = Link::Stdio(StdioLink::default());
            /// The server's tools that Dragoman serves.
            tools: ServerTools;
    ]
}

impl Link {
    /// Resolves the relative paths of files against `folder`.
    pub fn resolve_files(&mut self, folder: &std::path::Path) {
        let tls = match self {
            Self::Http(http) => &mut http.tls,
            Self::Native(native) => &mut native.tls,
            Self::Stdio(stdio) => {
                stdio.bundle = stdio.bundle.take().map(|file| file.in_folder(folder));
                return;
            }
        };
        if let Some(tls) = tls {
            *tls = tls.from_folder(folder);
        }
    }

    /// The proxy and the TLS files for an HTTP server, or for the hosts that an embedded server queries.
    pub fn route(&self) -> Option<(&ProxyRule, Option<&ClientTls>)> {
        match self {
            Self::Http(http) => Some((&http.proxy, http.tls.as_ref())),
            Self::Native(native) => Some((&native.proxy, native.tls.as_ref())),
            Self::Stdio(_) => None,
        }
    }
}

impl Server {
    /// Rejects `dedicatedConnections: 0` together with an `affinity` that requires separate connections.
    fn refuse_single_of_many(&self, reader: &mut Reader<'_>, entry: &Entry) {
        let is_many = self.affinity != Affinity::Shared && self.dedicated_connections == Some(0);
        let Some(written) = entry.value.entry("dedicatedConnections").filter(|_| is_many) else { return };
        reader.within("dedicatedConnections", |reader| {
            let message = "a single connection for all clients contradicts `affinity`".to_owned();
            reader.fault(&written.value.at, message, "remove `affinity`, or allow dedicated connections");
        });
    }
}

fn tool_name(name: &str) -> Result<String, Flaw> {
    let help = "write the server's own name for the tool";
    Glob::parse(name).map(|_| name.to_owned()).map_err(|why| Flaw::new(why, help))
}

/// The way to reach a server.
#[derive(Debug, Clone, PartialEq)]
pub enum Link {
    /// A child process that communicates over its standard input and output.
    Stdio(StdioLink),
    /// A server that is reached over HTTP.
    Http(HttpLink),
    /// Tools that are part of Dragoman itself.
    Native(NativeLink),
}

words! {
    /// The clients that share one connection to a server.
    #[derive(Default)]
    pub enum Affinity {
        /// All clients share the connections on which servers cannot ask questions; clients that can be asked take turns on
        /// dedicated connections.
        #[default]
        Shared = "shared",
        /// Each client session has a connection of its own.
        Session = "session",
        /// Each authenticated caller has a connection of its own.
        Caller = "caller",
    }
}

words! {
    /// The handling of a server's questions to clients.
    #[derive(Default)]
    pub enum QuestionPolicy {
        /// The questions are passed to clients that can be asked.
        #[default]
        Auto = "auto",
        /// The server is told that no client can be asked.
        Never = "never",
    }
}

words! {
    /// The handling of tools whose definitions changed after they were first seen.
    #[derive(Default)]
    pub enum DefinitionPolicy {
        /// Changed and new tools are served, and a warning is logged.
        #[default]
        Warn = "warn",
        /// Changed and new tools are hidden until they are approved.
        Hold = "hold",
        /// Definitions are not compared.
        Allow = "allow",
    }
}

words! {
    /// Decides whether Dragoman resends requests that may have been executed.
    #[derive(Default)]
    pub enum ResendRule {
        /// Requests that only read, and calls to tools that are marked as read-only or idempotent, are sent again.
        #[default]
        Auto = "auto",
        /// No request is sent again.
        Never = "never",
        /// Every tool call is sent again.
        Always = "always",
    }
}

/// Reads and writes an affinity. The former word `auto` is accepted as well.
struct AffinityWord;

impl Spelling<Affinity> for AffinityWord {
    fn read(&self, reader: &mut Reader<'_>, entry: &Entry, before: Option<&Affinity>) -> Option<Affinity> {
        let is_former = matches!(&entry.value.kind, NodeKind::Scalar { text, .. } if text == "auto");
        if is_former {
            let message = "`affinity: auto` is read as `affinity: shared`";
            reader.note(&entry.value.at, message, "write `shared`, or remove the key");
            return Some(Affinity::Shared);
        }
        Word.read(reader, entry, before)
    }

    fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        let word = Spelling::<Affinity>::schema(&Word, generator);
        json_schema!({ "anyOf": [word, { "const": "auto", "deprecated": true }] })
    }

    fn written(&self, value: &Affinity) -> Value {
        Word.written(value)
    }
}

/// The smallest number without a unit that is read as milliseconds; smaller numbers are read as seconds. A time
/// limit of 1000 seconds or more is unlikely, because nobody waits that long for one answer.
const BARE_MILLISECONDS_FROM: f64 = 1000.0;

/// The spelling of a time limit, which is at most this long.
pub(crate) struct Timeout(Duration);

impl Timeout {
    /// The time that a call may go without an answer or a sign of progress.
    pub(crate) const IDLE: Self = Self(Duration::from_hours(1));

    /// The time for a whole call.
    pub(crate) const WHOLE: Self = Self(LONGEST_CALL);
}

impl Spelling<Duration> for Timeout {
    fn read(&self, reader: &mut Reader<'_>, entry: &Entry, _: Option<&Duration>) -> Option<Duration> {
        read_timeout(reader, &entry.value, self.0)
    }

    fn schema(&self, _: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["number", "string"], "pattern": units::TIME_PATTERN })
    }

    fn shown(&self, time: &Duration) -> Value {
        json!(units::show_time(*time))
    }
}

fn read_timeout(reader: &mut Reader<'_>, node: &Node, longest: Duration) -> Option<Duration> {
    let what = "a time such as 30s or 2m, or a number of seconds";
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
    if time.is_zero() || time > longest {
        reader.fault(
            &node.at,
            format!("a timeout of {shown} is out of range"),
            format!("write a time from 1ms to {}", units::show_time(longest)),
        );
        return None;
    }
    if bare.is_some() {
        let help =
            if text.hides() { CHANGE_FILLED.to_owned() } else { format!("write `{shown}` to be explicit") };
        reader.note(&node.at, "a number of 1000 or more is read as milliseconds, as in some clients", help);
    }
    Some(time)
}
