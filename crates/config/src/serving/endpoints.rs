//! `endpoints`: additional paths at which a profile is served, and the behavior of each.

use std::collections::{HashMap, HashSet};

use crate::profiles::profile::DEFAULT_PROFILE;
use crate::reading::known::ReferenceKind;
use crate::reading::reader::Reader;
use crate::reading::rows::section;
use crate::reading::section;
use crate::reading::spellings::{KnownName, Optional, Parsed, Spelling, Word, item};
use crate::syntax::parse::Entry;
use crate::syntax::source::Span;
use crate::values::check::{Flaw, endpoint_path};
use crate::values::text::Text;
use crate::values::wording::clip;
use crate::values::words::words;

section! {
    /// An additional path at which a profile is served.
    pub struct Endpoint: "a mapping with `path` and `profile`" {
        fn check(&mut self, reader: &mut Reader<'_>, entry: &Entry, _: bool) {
            // With a dialect, the path may be one at which Dragoman itself serves a profile.
            let Some(path) = entry.value.entry("path").filter(|_| entry.value.entry("dialect").is_none()) else { return };
            if !self.path.is_empty() {
                reader.within("path", |reader| Parsed("a path", further_path).read(reader, path, None));
            }
        }
    } [
        /// An absolute path without a query: `/tools/mcp`. With `dialect`, the path can also be one that already exists: `/mcp`,
        /// `/mcp/NAME`, `/sse`.
        "path" path: String = Parsed("a path", any_path), needed "path: /tools/mcp";
        /// The profile to serve.
        "profile" profile: String = KnownName(ReferenceKind::Profile), default DEFAULT_PROFILE.to_owned();
        /// The dialect at this path: `standard`, another built-in dialect, or one of `dialects`.
        "dialect" dialect: Option<String> = Optional(KnownName(ReferenceKind::Dialect)), absent "the profile's";
        /// The transport: `http`, `sse` (an event stream by GET, messages by POST) or `both`.
        "transport" transport: Option<EndpointTransport> = Optional(Word),
            absent "the dialect's transport, or `http` without a dialect";
        /// The path to which clients of an event stream send their messages by POST. No other endpoint or profile may use this
        /// path.
        "message" message: Option<String> = Optional(Parsed("a path", any_path)),
            absent "`/message` for `/sse`; `/message` below the path for dialects whose streams have their own path (unless \
                    `messagePath` names another); otherwise the path itself";
        /// The authentication at this path: `inherit` applies the top-level `auth`; `none` requires no authentication.
        "auth" auth: EndpointAuth = Word;
    ]
}

fn any_path(path: &Text) -> Result<String, Flaw> {
    endpoint_path(path.expose(), true).map(|()| path.expose().to_owned())
}

fn further_path(path: &Text) -> Result<String, Flaw> {
    endpoint_path(path.expose(), false).map(|()| path.expose().to_owned())
}

words! {
    /// The transport at an endpoint.
    pub enum EndpointTransport {
        /// Streamable HTTP, or the dialect's answers to messages sent by POST.
        Http = "http",
        /// HTTP+SSE of 2024: an event stream by GET, messages by POST.
        Sse = "sse",
        /// Both at one path.
        Both = "both",
    }
}

words! {
    /// Authentication at an endpoint.
    #[derive(Default)]
    pub enum EndpointAuth {
        /// The top-level `auth` applies.
        #[default]
        Inherit = "inherit",
        /// No authentication is required.
        None = "none",
    }
}

/// The endpoints in the current file: for each path, the endpoint's index in the list and its position in the file.
pub(crate) type EndpointPositions = HashMap<String, (usize, Span)>;

/// Reads the additional paths. An endpoint replaces the endpoint with the same path in the base. `streams` returns
/// true if a profile has event streams in a dialect; `None` stands for the standard behavior.
pub(crate) fn read(
    reader: &mut Reader<'_>,
    entry: &Entry,
    base: Vec<Endpoint>,
    streams: &dyn Fn(Option<&str>, &str) -> bool,
) -> (Vec<Endpoint>, EndpointPositions) {
    let mut endpoints = base;
    let mut paths = HashSet::new();
    let mut written = EndpointPositions::new();
    let items = reader.items(&entry.value, "a list of endpoints", false).unwrap_or_default();
    for (index, node) in items.into_iter().enumerate() {
        let item = item(index, node);
        let Some(endpoint) = reader.within(&item.key, |reader| read_one(reader, &item, streams, &mut paths))
        else {
            continue;
        };
        written.insert(endpoint.path.clone(), (index, item.key_at));
        match endpoints.iter_mut().find(|other| other.path == endpoint.path) {
            Some(other) => *other = endpoint,
            None => endpoints.push(endpoint),
        }
    }
    (endpoints, written)
}

fn read_one(
    reader: &mut Reader<'_>,
    item: &Entry,
    streams: &dyn Fn(Option<&str>, &str) -> bool,
    paths: &mut HashSet<String>,
) -> Option<Endpoint> {
    let mut endpoint: Endpoint = section::read(reader, item, Endpoint::default())?;
    // A trailing slash does not make a different path.
    if let Some(path) = item.value.entry("path")
        && !paths.insert(endpoint.path.trim_end_matches('/').to_owned())
    {
        let shown = reader.text(&path.value, "a path")?;
        let message = format!("another endpoint already has the path `{}`", clip(shown.shown()));
        let help = "choose another path, or remove one of the two";
        reader.within("path", |reader| reader.fault(&path.value.at, message, help));
    }
    let has_streams = match endpoint.transport {
        None => streams(endpoint.dialect.as_deref(), &endpoint.profile),
        Some(transport) => transport != EndpointTransport::Http,
    };
    if let Some(message) = item.value.entry("message").filter(|_| !has_streams) {
        endpoint.message = None;
        reader.within("message", |reader| {
            let help = "remove it, or write transport: sse";
            reader.fault(&message.key_at, "`message` applies only to event streams", help);
        });
    }
    Some(endpoint)
}
