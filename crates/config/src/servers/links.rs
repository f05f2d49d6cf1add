//! The ways to reach a server outside of Dragoman: a program with its arguments and environment variables, or a URL with
//! its headers.

use http::HeaderName;
use http::header::AUTHORIZATION;
use indexmap::IndexMap;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};

use super::consent::OAuthClient;
use super::pass_headers::{PassedHeader, PassedHeaderList};
use super::route::{ClientTls, ProxyRule, ProxySpelling};
use crate::reading::reader::{Fields, Reader};
use crate::reading::rows::section;
use crate::reading::section;
use crate::reading::spellings::{
    Bytes, CheckedText, List, Mapping, Number, Optional, ReplacedSection, SchemaOnly, ServerText, Spelling,
};
use crate::syntax::parse::Entry;
use crate::values::check;
use crate::values::text::Text;

/// The expected form of a value, such as that of a variable or a header.
const VALUE: &str = "a value as a string, such as \"\" or \"${NAME}\"";

section! {
    /// A child process that communicates over its standard input and output.
    pub struct StdioLink: "a mapping with `command`" {
        /// Allows `type: stdio`, which selects this kind of link. There is either a command or a bundle.
        fn adapt(schema: &mut Schema, _: &mut SchemaGenerator) {
            schema.remove("additionalProperties");
            schema.insert("required".to_owned(), Value::Array(Vec::new()));
            schema.insert("oneOf".to_owned(), serde_json::json!([{ "required": ["command"] }, { "required": ["bundle"] }]));
            if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
                let stdio = json_schema!({ "const": "stdio", "description": "The transport. Optional." });
                properties.insert("type".to_owned(), stdio.to_value());
            }
        }

        fn check(&mut self, reader: &mut Reader<'_>, entry: &Entry, _: bool) {
            let (wrong, why): (&[&str], _) = match &self.bundle {
                Some(_) => (&["args"], "the manifest of the bundle contains the arguments"),
                None => (&["sha256", "config"], "only a `bundle` has such a key"),
            };
            for written in wrong.iter().filter_map(|key| entry.value.entry(key)) {
                let message = format!("`{}` has no effect here", written.key);
                reader.within(&written.key, |reader| reader.fault(&written.key_at, message, format!("remove it: {why}")));
            }
        }
    } [
        /// A program: a path, or a name that is looked up in `PATH`. No shell is involved.
        "command" command: Text = CheckedText("the program's name as a string", check::command), default Text::plain(""),
            needed "command: npx";
        /// A file with an MCPB bundle, instead of a command. Dragoman unpacks the bundle into the cache folder, and starts
        /// the server in the bundle.
        "bundle" bundle: Option<Text> = Optional(CheckedText("a file", check::no_nul_text)), absent "none",
            see "[upstreams.md](upstreams.md#bundles)";
        /// The SHA-256 checksum of the bundle. A bundle with another checksum is not started.
        "sha256" sha256: Option<Text> = Optional(CheckedText("64 hexadecimal digits", sha256)), absent "not checked";
        /// The settings that the bundle asks for: names with a value or a list of values.
        "config" config: IndexMap<String, Vec<Text>> = Mapping {
            what: "a mapping of settings and values",
            key: setting,
            value: List {
                what: "a value or a list of values",
                item: ServerText { what: VALUE, secret: true, check: check::no_nul_text },
                or_one: true,
            },
        };
        /// The program's arguments, each as a separate item.
        "args" args: Vec<Text> = List {
            what: "a list of arguments",
            item: ServerText { what: "an argument as a string", secret: false, check: check::no_nul_text },
            or_one: false,
        };
        /// Environment variables, in addition to the few that every child process gets.
        "env" env: IndexMap<String, Text> = Mapping {
            what: "a mapping of variables and values",
            key: check::variable,
            value: ServerText { what: VALUE, secret: true, check: check::no_nul_text },
        }, see "[security.md](security.md)";
        /// The working folder.
        "cwd" cwd: Option<Text> = Optional(CheckedText("a folder", check::no_nul_text)), absent "Dragoman's own";
        /// The memory that the process and its descendants may use: a number of bytes or `512MiB`. Linux only.
        "maxMemory" max_memory: Option<usize> = Optional(Bytes { least: 16 << 20, most: 1 << 44 }), absent "no limit",
            see "[reliability.md](reliability.md#caps-of-a-child-process)";
        /// The maximum number of processes at the same time: the program and its descendants. Linux only.
        "maxProcesses" max_processes: Option<usize> = Optional(Number { least: 1, most: 100_000 }), absent "no limit",
            see "[reliability.md](reliability.md#caps-of-a-child-process)";
    ]
}

section! {
    /// A server that is reached over HTTP.
    pub struct HttpLink: "a mapping with `url`" {
        fn check(&mut self, reader: &mut Reader<'_>, entry: &Entry, _: bool) {
            self.refuse_headers_twice(reader, entry);
            if let Some(oauth) = entry.value.entry("oauth").filter(|_| self.headers.contains_key(&AUTHORIZATION)) {
                let help = "keep `headers` to send a token of your own, or `oauth` to ask users for their consent";
                let message = "`oauth` cannot be combined with an `Authorization` header";
                reader.within("oauth", |reader| reader.fault(&oauth.key_at, message, help));
            }
        }

        fn adapt(schema: &mut Schema, _: &mut SchemaGenerator) {
            schema.remove("additionalProperties");
        }

        fn show_rest(&self, shown: &mut Map<String, Value>) {
            let transport = match self.transport {
                HttpTransport::Auto => return,
                HttpTransport::Streamable => "http",
                HttpTransport::Sse => "sse",
            };
            shown.insert("type".to_owned(), transport.into());
        }
    } [
        /// The server's MCP endpoint: `https://…` or `http://…`, without a user name or a password in it.
        "url" url: Text = CheckedText("a URL", check::url), default Text::plain(""), needed "url: https://docs.example.com/mcp";
        /// The HTTP transport: `http` or `streamable-http`, or `sse`. Dragoman always detects the protocol version itself.
        "type" transport: HttpTransport = SchemaOnly(|_| json_schema!({ "enum": ["http", "streamable-http", "sse"] })),
            absent "Streamable HTTP, then HTTP+SSE";
        /// Headers to send with every request, except those of the protocol and of the connection.
        "headers" headers: IndexMap<HeaderName, Text> = Mapping {
            what: "a mapping of header names and values",
            key: check::header_name,
            value: ServerText { what: VALUE, secret: true, check: check::header_value },
        };
        /// Dragoman's client registration at the server's authorization server, for servers that require consent but do
        /// not let clients register themselves.
        "oauth" oauth: Option<OAuthClient> = Optional(ReplacedSection), see "[consent.md](consent.md#optional-settings)";
        /// Headers of clients' requests that are passed on to the server: names, or `{ from: NAME, to: NAME }` to rename
        /// one. Callers whose headers have different values never share connections or lists.
        "passHeaders" pass_headers: Vec<PassedHeader> = PassedHeaderList, see "[upstreams.md](upstreams.md#headers-of-clients)";
        /// The proxy for requests to the server and to its authorization server: `http://proxy.example.com:3128`, with a
        /// user name and a password if the proxy needs them; `none`, for no proxy; or `environment`, for the proxy that the
        /// environment names.
        "proxy" proxy: ProxyRule = ProxySpelling, absent "the proxy that the environment names", see "[upstreams.md](upstreams.md#proxies)";
        /// The files for TLS connections to the server: `ca`, `cert`, `key`.
        "tls" tls: Option<ClientTls> = Optional(ReplacedSection), absent "the system's certificate authorities, no client certificate",
            see "[upstreams.md](upstreams.md#certificates)";
    ]
}

impl HttpLink {
    /// Rejects passed headers that `headers` or `oauth` also sets.
    fn refuse_headers_twice(&self, reader: &mut Reader<'_>, entry: &Entry) {
        let Some(written) = entry.value.entry("passHeaders") else { return };
        let twice = self.pass_headers.iter().map(|passed| &passed.to);
        let mut twice = twice
            .filter(|to| self.headers.contains_key(*to) || (**to == AUTHORIZATION && self.oauth.is_some()));
        if let Some(to) = twice.next() {
            let by = if self.headers.contains_key(to) { "headers" } else { "oauth" };
            let message = format!("`{by}` already sets the header `{to}`");
            let help = format!("use only one of `passHeaders` and `{by}` for this header");
            reader.within("passHeaders", |reader| reader.fault(&written.key_at, message, help));
        }
    }

    /// Returns true if requests to this server leave this machine unencrypted.
    pub fn is_in_the_clear(&self) -> bool {
        check::is_readable_on_the_way(self.url.expose())
    }
}

/// The HTTP transport of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HttpTransport {
    /// Not configured: try Streamable HTTP, then HTTP+SSE.
    #[default]
    Auto,
    /// Streamable HTTP (`http` or `streamable-http`).
    Streamable,
    /// HTTP+SSE of 2024 (`sse`).
    Sse,
}

/// Reads a program from `chosen`, or else takes it from the base. Missing keys keep their values from the base if
/// both have the same program.
pub(crate) fn read_stdio(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
    chosen: Option<&Entry>,
    entry: &Entry,
    base: Option<&StdioLink>,
) -> Option<StdioLink> {
    let command = match chosen {
        None => base.map(|base| base.command.clone()),
        // The key itself is read below, with the other keys.
        Some(entry) if entry.key == "bundle" => Some(Text::plain("")),
        Some(entry) => reader.within("command", |reader| {
            let spelling = CheckedText("the program's name as a string", check::command);
            let command = spelling.read(reader, entry, None)?;
            note_shell_line(reader, entry, &command, fields.has("args"));
            Some(command)
        }),
    };
    let is_bundle = chosen.is_some_and(|chosen| chosen.key == "bundle");
    // A bundle is never mixed with the settings of another, or of a command.
    let base = base.filter(|base| !is_bundle && (chosen.is_none() || base.bundle.is_none()));
    let base = base.filter(|base| command.as_ref().is_some_and(|own| own.expose() == base.command.expose()));
    let mut link = base.cloned().unwrap_or_default();
    section::take(reader, fields, entry, &mut link);
    Some(StdioLink { command: command?, ..link })
}

/// Adds a note for a whole command line in `command`, a frequent mistake. A path with spaces is not reported.
fn note_shell_line(reader: &mut Reader<'_>, entry: &Entry, command: &Text, has_args: bool) {
    let text = command.expose().trim();
    let program = text.split_whitespace().next().unwrap_or_default();
    if !has_args && program != text && !program.contains(['/', '\\']) {
        let help = "if the text contains arguments, write them separately: command: npx, args: [-y, package]";
        reader.note(
            &entry.value.at,
            "no shell interprets this text: all of it is used as the name of one program",
            help,
        );
    }
}

/// Reads a URL from `chosen`, or else takes it from the base. Missing keys keep their values from the base only if
/// the two URLs are equal, because headers for one server must not be sent to another.
pub(crate) fn read_http(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
    chosen: Option<&Entry>,
    entry: &Entry,
    transport: Option<HttpTransport>,
    base: Option<&HttpLink>,
) -> Option<HttpLink> {
    let url = match chosen {
        None => base.map(|base| base.url.clone()),
        Some(entry) => reader.within(&entry.key, |reader| {
            let spelling = ServerText { what: "a URL", secret: false, check: check::url };
            let text = spelling.read(reader, entry, None)?;
            // A query often contains a key, which is not needed in a log.
            let shown = text.shown().split_once('?').map(|(address, _)| format!("{address}?***"));
            Some(shown.map_or(text.clone(), |shown| text.clone().shown_as(&shown)))
        }),
    };
    let base = base.filter(|base| url.as_ref().is_some_and(|own| own.expose() == base.url.expose()));
    let mut link = base.cloned().unwrap_or_default();
    section::take(reader, fields, entry, &mut link);
    let transport = transport.unwrap_or(link.transport);
    Some(HttpLink { url: url?, transport, ..link })
}

/// Checks the form of a bundle's checksum.
fn sha256(text: &Text) -> Result<(), check::Flaw> {
    let digits = text.expose();
    if digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(());
    }
    Err(check::Flaw::new(
        "this is not a SHA-256 checksum",
        "write 64 hexadecimal digits, as `sha256sum FILE` prints them",
    ))
}

/// Checks the name of a bundle's setting.
fn setting(name: &str) -> Result<String, check::Flaw> {
    if name.is_empty() || name.len() > 200 || name.contains(char::is_control) {
        return Err(check::Flaw::new(
            "this is not the name of a setting",
            "write a name from the manifest of the bundle",
        ));
    }
    Ok(name.to_owned())
}
