//! The paths that are served: profiles, each with a dialect or with the protocol's own behavior. This module must not
//! know requests.

use std::collections::BTreeMap;
use std::sync::Arc;

use config::dialect_rows::Dialect;
use config::{Config, DEFAULT_PROFILE, EndpointAuth, EndpointTransport};

/// The profile at a path, and its behavior.
#[derive(Debug, Clone)]
pub struct ServedPath {
    /// The number of the profile that is served.
    pub profile: usize,
    /// The dialect; `None` for the protocol's own behavior.
    pub dialect: Option<Arc<Dialect>>,
    /// The path for messages from clients with an event stream; `None` unless a dialect's stream has a separate path
    /// for them.
    pub messages: Option<Arc<str>>,
    /// True if an event stream can be opened here.
    pub streams: bool,
    /// True if messages are posted here.
    pub posts: bool,
    /// True if callers must authenticate, provided that authentication is configured.
    pub asks: bool,
}

/// First path segments that are reserved for other purposes. No second path of a profile starts with one of them.
const RESERVED: &[&str] =
    &["admin", "api", "health", "mcp", "message", "messages", "metrics", "oauth", "ready", "sse"];

/// The name of the profile if `path` has the form of a second path, `/NAME/mcp`. Second paths are for clients that
/// accept only a path that ends in `/mcp`.
pub fn second_path(path: &str) -> Option<&str> {
    let bare = path.strip_suffix('/').unwrap_or(path);
    let slug = bare.strip_prefix('/')?.strip_suffix("/mcp")?;
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    (!slug.is_empty() && slug.chars().all(is_name) && !RESERVED.contains(&slug)).then_some(slug)
}

/// All served paths.
#[derive(Debug, Clone, Default)]
pub(crate) struct ServedPaths {
    /// A list, because there are only a few paths, and comparing them is faster than hashing.
    all: Vec<(Box<str>, ServedPath)>,
    /// The second paths of profiles, which `paths` does not list.
    unlisted: Vec<Box<str>>,
    /// The dialect for answers about a profile that does not exist.
    stranger: Option<Arc<Dialect>>,
}

impl ServedPaths {
    /// Compiles the paths of a checked configuration; `number` returns a profile's number.
    pub(crate) fn compile(config: &Config, number: &dyn Fn(&str) -> Option<usize>) -> Self {
        let mut dialects = Dialects { config, made: BTreeMap::new() };
        let mut all = BTreeMap::new();
        for slug in config.profiles.keys() {
            let Some(at) = number(slug) else { continue };
            let dialect = config.dialect_of(slug).and_then(|name| dialects.get(name));
            // In any dialect, messages are posted to this path; only an endpoint can have a separate path for them.
            let place =
                ServedPath { profile: at, dialect, messages: None, streams: false, posts: true, asks: true };
            enter(&mut all, &format!("/mcp/{slug}"), place.clone(), None);
            if slug == DEFAULT_PROFILE {
                enter(&mut all, "/mcp", place, None);
            }
        }
        for endpoint in &config.endpoints {
            let Some(profile) = number(&endpoint.profile) else { continue };
            let name = endpoint.dialect.as_deref().or_else(|| config.dialect_of(&endpoint.profile));
            let place = ServedPath {
                profile,
                dialect: name.and_then(|name| dialects.get(name)),
                messages: None,
                streams: false,
                posts: true,
                asks: endpoint.auth == EndpointAuth::Inherit,
            };
            let beside = config.messages_of(endpoint);
            let posts = endpoint.transport != Some(EndpointTransport::Sse) || beside.is_none();
            enter(&mut all, &endpoint.path, ServedPath { posts, ..place }, beside.as_deref());
        }
        // Endpoints take precedence over second paths.
        let seconds: Vec<_> = config.profiles.keys().filter_map(|slug| second_of(&all, slug)).collect();
        let unlisted = seconds.iter().map(|(path, _)| path.clone().into_boxed_str()).collect();
        all.extend(seconds);
        let stranger = config.dialect.as_deref().and_then(|name| dialects.get(name));
        Self {
            all: all.into_iter().map(|(path, place)| (path.into_boxed_str(), place)).collect(),
            unlisted,
            stranger,
        }
    }

    /// The profile at a path; a trailing slash does not matter.
    pub(crate) fn at(&self, path: &str) -> Option<&ServedPath> {
        let bare = path.strip_suffix('/').unwrap_or(path);
        let is_it = |known: &str| known == path || known == bare;
        self.all.iter().find(|(known, _)| is_it(known)).map(|(_, place)| place)
    }

    /// Returns true if a profile is served with the protocol's own behavior at one or more paths.
    pub(crate) fn serve_plainly(&self, profile: usize) -> bool {
        self.all.iter().any(|(_, place)| place.profile == profile && place.dialect.is_none())
    }

    /// The paths in order.
    pub(crate) fn paths(&self) -> Vec<&str> {
        let is_endpoint = |place: &ServedPath| place.messages.is_none() || place.streams;
        let is_listed = |path: &str| self.unlisted.iter().all(|other| **other != *path);
        self.all
            .iter()
            .filter(|(path, place)| is_endpoint(place) && is_listed(path))
            .map(|(path, _)| &**path)
            .collect()
    }

    /// The dialect for answers about profiles that do not exist.
    pub(crate) fn stranger(&self) -> Option<&Arc<Dialect>> {
        self.stranger.as_ref()
    }
}

/// The second path of a profile and its entry, unless the path is taken.
fn second_of(all: &BTreeMap<String, ServedPath>, slug: &str) -> Option<(String, ServedPath)> {
    let path = format!("/{slug}/mcp");
    second_path(&path)?;
    if all.keys().any(|known| known.trim_end_matches('/') == path) {
        return None;
    }
    let place = all.get(&format!("/mcp/{slug}")).filter(|place| place.messages.is_none())?.clone();
    Some((path, place))
}

/// Adds a path, and the separate path for its messages if there is one.
fn enter(all: &mut BTreeMap<String, ServedPath>, path: &str, mut place: ServedPath, messages: Option<&str>) {
    if let Some(messages) = messages {
        place.messages = Some(messages.into());
        if messages == path {
            place.posts = true;
        } else {
            all.insert(messages.to_owned(), ServedPath { posts: true, ..place.clone() });
        }
        place.streams = true;
    }
    all.insert(path.to_owned(), place);
}

/// The dialects of a configuration, each built once.
struct Dialects<'c> {
    config: &'c Config,
    made: BTreeMap<&'c str, Option<Arc<Dialect>>>,
}

impl<'c> Dialects<'c> {
    /// The dialect with this name; `None` for the standard.
    fn get(&mut self, name: &'c str) -> Option<Arc<Dialect>> {
        if let Some(made) = self.made.get(name) {
            return made.clone();
        }
        let made = self.config.dialect_named(name).filter(|row| row.interpreted).map(Arc::new);
        self.made.insert(name, made.clone());
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use config::dialect_rows::Streams;

    fn places(text: &str) -> ServedPaths {
        let nothing = config::Lookup { env: &|_| None, file: &|_| Err("no files".to_owned()) };
        let loaded = config::load(text, "test", &nothing).unwrap();
        ServedPaths::compile(&loaded.config, &|slug| loaded.config.profiles.get_index_of(slug))
    }

    const SERVERS: &str = "mcpServers: { a: { url: 'http://a.example/mcp' } }\n";

    #[test]
    fn paths_lead_to_profiles() {
        let places = places(&format!(
            "{SERVERS}profiles: {{ one: {{ servers: [a] }} }}\nendpoints: [{{ path: /x/mcp, profile: one }}]\n"
        ));
        let at = |path| places.at(path).map(|place| place.profile);
        assert_eq!(at("/x/mcp"), at("/mcp/one/"));
        assert!(at("/mcp").is_some() && at("/mcp") != at("/x/mcp") && at("/nope").is_none());
        assert!(places.at("/mcp").unwrap().dialect.is_none());
        assert_eq!(places.paths(), ["/mcp", "/mcp/default", "/mcp/one", "/x/mcp"]);
    }

    #[test]
    fn a_profile_has_a_second_path_that_ends_in_mcp() {
        let profiles = "profiles: { one: { servers: [a] }, two: { servers: [a] }, api: { servers: [a] }, mcp: { servers: [a] } }";
        let places = places(&format!(
            "{SERVERS}{profiles}\nendpoints: [{{ path: /two/mcp, profile: one }}, {{ path: /x, profile: one }}]\n"
        ));
        let at = |path| places.at(path).map(|place| place.profile);
        assert!(
            at("/one/mcp").is_some() && at("/one/mcp") == at("/mcp/one") && at("/one/mcp/") == at("/mcp/one")
        );
        assert_eq!(at("/default/mcp"), at("/mcp"));
        // Configured paths take precedence, and all other paths stay.
        assert_eq!(at("/two/mcp"), at("/mcp/one"));
        assert!(at("/api/mcp").is_none() && at("/mcp/api").is_some() && at("/mcp/mcp").is_some());
        assert!(at("/none/mcp").is_none());
        assert_eq!(
            places.paths(),
            ["/mcp", "/mcp/api", "/mcp/default", "/mcp/mcp", "/mcp/one", "/mcp/two", "/two/mcp", "/x"]
        );
        for path in ["/mcp", "/a/b/mcp", "/A/mcp", "//mcp", "/sse/mcp", "/.well-known/mcp", "/one/mcpx"] {
            assert_eq!(second_path(path), None, "{path}");
        }
    }

    #[test]
    fn a_dialect_works_at_any_path_by_its_name_alone() {
        let places =
            |rest: &str| places(&format!("{SERVERS}endpoints: [{{ path: /k, dialect: kulturarv{rest} }}]\n"));
        let at = |places: &ServedPaths, path: &str| {
            let place = places.at(path)?;
            let messages = place.messages.as_ref().map(ToString::to_string);
            Some((messages, place.streams, place.posts))
        };
        let (here, beneath) = (Some("/k".to_owned()), Some("/k/message".to_owned()));
        for (rest, stream, posted) in [
            ("", (beneath.clone(), true, true), Some((beneath.clone(), false, true))),
            (", transport: both", (beneath.clone(), true, true), Some((beneath.clone(), false, true))),
            (", transport: sse", (beneath.clone(), true, false), Some((beneath, false, true))),
            (", transport: http", (None, false, true), None),
            (", message: /k", (here, true, true), None),
        ] {
            let places = places(rest);
            assert_eq!(at(&places, "/k"), Some(stream), "{rest}");
            assert_eq!(at(&places, "/k/message"), posted, "{rest}");
            assert!(places.at("/message").is_none(), "{rest}");
        }
        let places = places(", message: /elsewhere");
        assert_eq!(at(&places, "/k").map(|found| found.0), Some(Some("/elsewhere".to_owned())));
    }

    #[test]
    fn a_profile_takes_messages_at_its_own_path() {
        let places =
            places(&format!("{SERVERS}dialect: kulturarv\nprofiles: {{ one: {{ servers: [a] }} }}\n"));
        assert_eq!(places.paths(), ["/mcp", "/mcp/default", "/mcp/one"]);
        assert!(places.paths().iter().all(|path| places.at(path).unwrap().messages.is_none()));
        assert!(places.at("/message").is_none());
    }

    #[test]
    fn a_dialect_of_ones_own_differs_from_its_base() {
        let places = places(&format!(
            "{SERVERS}dialects: {{ mine: {{ base: kulturarv, serverName: mine }} }}\n\
             endpoints: [{{ path: /sse, dialect: mine }}]\n"
        ));
        let stream = places.at("/sse").unwrap();
        let row = stream.dialect.as_ref().unwrap();
        assert_eq!((&*row.name, &*row.hello.server_name), ("mine", "mine"));
        assert_eq!(row.events.streams, Streams::Beside);
        let posted = places.at("/message").unwrap();
        assert!(posted.posts && !posted.streams && stream.streams);
        assert!(!places.paths().contains(&"/message"));
    }
}
