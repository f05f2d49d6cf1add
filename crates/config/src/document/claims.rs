//! The paths that endpoints claim: their own paths, and those to which the clients of their event streams send
//! messages. Each path has only one purpose. This module must not know what is served there.

use super::model::Config;
use crate::dialects::dialect_rows::Streams;
use crate::profiles::profile::DEFAULT_PROFILE;
use crate::reading::reader::Reader;
use crate::serving::endpoints::{Endpoint, EndpointPositions, EndpointTransport};
use crate::syntax::source::Span;

/// The path of the default profile's event stream.
const STREAM: &str = "/sse";
/// The path to which clients of the default profile's event stream send their messages.
const MESSAGES: &str = "/message";

impl Config {
    /// The path to which clients of an endpoint's event stream send their messages; `None` if the endpoint has no
    /// stream with a separate path for messages.
    pub fn messages_of(&self, endpoint: &Endpoint) -> Option<String> {
        if let Some(path) = &endpoint.message {
            return Some(path.clone());
        }
        let name = endpoint.dialect.as_deref().or_else(|| self.dialect_of(&endpoint.profile));
        let row = name.and_then(|name| self.dialect_named(name)).filter(|row| row.interpreted);
        let Some(row) = row else {
            let is_stream = endpoint.transport == Some(EndpointTransport::Sse) && endpoint.path == STREAM;
            return is_stream.then(|| MESSAGES.to_owned());
        };
        if row.events.streams != Streams::Beside || endpoint.transport == Some(EndpointTransport::Http) {
            return None;
        }
        let path = row.events.message_path;
        let above = bare(&endpoint.path);
        // Clients expect this pair of paths.
        Some(if above == STREAM { path.into_owned() } else { format!("{above}{path}") })
    }
}

/// Reports a fault for each endpoint that claims a path which already has another purpose. `all` is the position to
/// report for endpoints that the file itself does not contain.
pub(crate) fn check(reader: &mut Reader<'_>, config: &Config, written: &EndpointPositions, all: &Span) {
    for (at, endpoint) in config.endpoints.iter().enumerate() {
        let Some((message, help)) = clash(config, at, endpoint) else { continue };
        reader.within("endpoints", |reader| match written.get(&endpoint.path) {
            Some((index, place)) => {
                reader.within(&format!("[{index}]"), |reader| reader.fault(place, message, help));
            }
            None => reader.fault(all, message, help),
        });
    }
}

/// A fault in the paths of one endpoint, and its fix. No path is quoted, because it may contain a secret.
fn clash(config: &Config, at: usize, endpoint: &Endpoint) -> Option<(&'static str, &'static str)> {
    let own = bare(&endpoint.path);
    let has_stream = config.profiles.contains_key(DEFAULT_PROFILE)
        && !config.endpoints.iter().any(|other| bare(&other.path) == STREAM);
    if has_stream && own == MESSAGES {
        return Some((
            "the clients of `/sse` send their messages to this path",
            "choose another path, or add an endpoint for `/sse`",
        ));
    }
    let beside = config.messages_of(endpoint)?;
    let beside = Some(bare(&beside)).filter(|beside| *beside != own)?;
    let elsewhere = has_stream && beside == MESSAGES
        || is_profile(config, beside)
        || config.endpoints.iter().enumerate().any(|(index, other)| {
            index != at
                && (bare(&other.path) == beside
                    // If two endpoints have the same path, the later one is reported.
                    || index < at && config.messages_of(other).is_some_and(|path| bare(&path) == beside))
        });
    elsewhere.then_some((
        "this endpoint's clients would send their messages to a path that is already in use",
        "set another path: transport: sse, message: /team/message",
    ))
}

/// Returns true if a profile is served at this path without an endpoint.
fn is_profile(config: &Config, path: &str) -> bool {
    let slug = if path == "/mcp" { Some(DEFAULT_PROFILE) } else { path.strip_prefix("/mcp/") };
    slug.is_some_and(|slug| config.profiles.contains_key(slug))
}

fn bare(path: &str) -> &str {
    path.strip_suffix('/').unwrap_or(path)
}
