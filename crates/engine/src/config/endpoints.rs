//! Reads `endpoints`: further paths, and how each behaves.

use std::collections::HashSet;

use super::check;
use super::claims::Written;
use super::model::{DEFAULT_PROFILE, Endpoint, EndpointAuth, EndpointTransport};
use super::parse::{Entry, Node};
use super::pieces::{self, Known};
use super::read::{Reader, clip};

const KEYS: &[&str] = &["path", "profile", "dialect", "transport", "message", "auth"];

/// What endpoints may name.
pub(super) struct Around<'k> {
    pub(super) profiles: Known<'k>,
    pub(super) dialects: Known<'k>,
    /// Says whether there are event streams where a profile is served by a dialect, or by its own.
    pub(super) streams: &'k dyn Fn(Option<&str>, &str) -> bool,
}

/// The further paths, on top of those of the base: one with the same path takes its place. And where the file has its own.
pub(super) fn read(
    reader: &mut Reader<'_>,
    entry: &Entry,
    around: &Around<'_>,
    base: Vec<Endpoint>,
) -> (Vec<Endpoint>, Written) {
    let mut endpoints = base;
    let mut paths = HashSet::new();
    let mut written = Written::new();
    reader.within("endpoints", |reader| {
        for (index, item) in reader.items(&entry.value, "a list of endpoints", false)?.into_iter().enumerate()
        {
            let endpoint =
                reader.within(&format!("[{index}]"), |reader| read_one(reader, item, around, &mut paths));
            let Some(endpoint) = endpoint else { continue };
            written.insert(endpoint.path.clone(), (index, item.at.start..item.at.start));
            match endpoints.iter_mut().find(|other| other.path == endpoint.path) {
                Some(other) => *other = endpoint,
                None => endpoints.push(endpoint),
            }
        }
        Some(())
    });
    (endpoints, written)
}

fn read_one(
    reader: &mut Reader<'_>,
    node: &Node,
    around: &Around<'_>,
    paths: &mut HashSet<String>,
) -> Option<Endpoint> {
    let mut fields = reader.fields(node, "a mapping with `path` and `profile`")?;
    let at = fields.at.start..fields.at.start;
    let may_be_own = fields.has("dialect");
    let path = if let Some(entry) = fields.take("path") {
        reader.within("path", |reader| read_path(reader, &entry.value, may_be_own, paths))
    } else {
        reader.fault(&at, "this endpoint has no `path`", "add it: path: /tools/mcp");
        None
    };
    let profile = if fields.has("profile") {
        pieces::known_name(reader, &mut fields, "profile", &around.profiles)
    } else {
        None
    };
    let dialect = pieces::known_name(reader, &mut fields, "dialect", &around.dialects);
    let transport = fields.take("transport").and_then(|entry| {
        reader.within("transport", |reader| reader.word(&entry.value, EndpointTransport::ALL))
    });
    let profile = profile.unwrap_or_else(|| DEFAULT_PROFILE.to_owned());
    let streams = match transport {
        None => (around.streams)(dialect.as_deref(), &profile),
        Some(transport) => transport != EndpointTransport::Http,
    };
    let message = match fields.take("message") {
        Some(entry) if !streams => {
            let mend = "remove it, or write transport: sse";
            reader.within("message", |r| {
                r.fault(&entry.key_at, "`message` goes with event streams only", mend);
            });
            None
        }
        Some(entry) => reader.within("message", |reader| {
            let text = reader.text(&entry.value, "a path")?;
            let checked = check::endpoint_path(text.expose(), true);
            reader.sound_text(&entry.value.at, &text, checked).map(|()| text.expose().to_owned())
        }),
        None => None,
    };
    let auth = fields
        .take("auth")
        .and_then(|entry| reader.within("auth", |reader| reader.word(&entry.value, EndpointAuth::ALL)));
    reader.refuse(&fields.rest(), KEYS);
    Some(Endpoint { path: path?, profile, dialect, transport, message, auth: auth.unwrap_or_default() })
}

fn read_path(
    reader: &mut Reader<'_>,
    node: &Node,
    may_be_own: bool,
    paths: &mut HashSet<String>,
) -> Option<String> {
    let text = reader.text(node, "a path")?;
    reader.sound_text(&node.at, &text, check::endpoint_path(text.expose(), may_be_own))?;
    // With a slash at the end it is the same path.
    if !paths.insert(text.expose().trim_end_matches('/').to_owned()) {
        let message = format!("another endpoint already has the path `{}`", clip(text.shown()));
        reader.fault(&node.at, message, "write another path, or remove one of the two");
        return None;
    }
    Some(text.expose().to_owned())
}
