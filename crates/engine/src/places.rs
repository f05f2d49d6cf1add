//! What is served at which path: profiles, each as a dialect has it or as the protocol says. It must not know requests.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::config::{Config, DEFAULT_PROFILE, EndpointAuth, EndpointTransport};
use crate::dialect::Dialect;

/// What is served at a path.
#[derive(Debug, Clone)]
pub struct Place {
    /// The profile.
    pub profile: usize,
    /// How it behaves; `None` as the protocol says.
    pub dialect: Option<Arc<Dialect>>,
    /// Which of the transports over HTTP.
    pub transport: EndpointTransport,
    /// Where clients of an event stream send their messages, and where the stream is.
    pub messages: Option<Messages>,
    /// Whether callers have to show who they are, where anybody has to.
    pub asks: bool,
}

/// Where the messages for an event stream go.
#[derive(Debug, Clone)]
pub struct Messages {
    /// The path to post to.
    pub path: Arc<str>,
    /// Whether this is that path alone, and the stream is at another.
    pub only: bool,
}

/// All places, by path.
#[derive(Debug, Clone, Default)]
pub(crate) struct Places {
    /// Few: comparing finds one sooner than hashing.
    all: Vec<(Box<str>, Place)>,
    /// How a profile that does not exist is told of.
    stranger: Option<Arc<Dialect>>,
}

impl Places {
    /// The places of a checked configuration; `number` is that of a profile.
    pub(crate) fn compile(config: &Config, number: &dyn Fn(&str) -> Option<usize>) -> Self {
        let mut dialects = Dialects { config, made: BTreeMap::new() };
        let mut all = BTreeMap::new();
        for slug in config.profiles.keys() {
            let Some(at) = number(slug) else { continue };
            let dialect = config.dialect_of(slug).and_then(|name| dialects.get(name));
            let transport = EndpointTransport::Both;
            // Messages are posted here, whatever else the dialect has: a path beside it belongs to an endpoint alone.
            let place = Place { profile: at, dialect, transport, messages: None, asks: true };
            enter(&mut all, &format!("/mcp/{slug}"), place.clone(), None);
            if slug == DEFAULT_PROFILE {
                enter(&mut all, "/mcp", place, None);
            }
        }
        for endpoint in &config.endpoints {
            let Some(profile) = number(&endpoint.profile) else { continue };
            let name = endpoint.dialect.as_deref().or_else(|| config.dialect_of(&endpoint.profile));
            let place = Place {
                profile,
                dialect: name.and_then(|name| dialects.get(name)),
                transport: endpoint.transport,
                messages: None,
                asks: endpoint.auth == EndpointAuth::Inherit,
            };
            enter(&mut all, &endpoint.path, place, config.messages_of(endpoint).as_deref());
        }
        let stranger = config.dialect.as_deref().and_then(|name| dialects.get(name));
        Self { all: all.into_iter().map(|(path, place)| (path.into_boxed_str(), place)).collect(), stranger }
    }

    /// What is served at a path; a trailing slash does not matter.
    pub(crate) fn at(&self, path: &str) -> Option<&Place> {
        let bare = path.strip_suffix('/').unwrap_or(path);
        let is_it = |known: &str| known == path || known == bare;
        self.all.iter().find(|(known, _)| is_it(known)).map(|(_, place)| place)
    }

    /// The paths, in order.
    pub(crate) fn paths(&self) -> Vec<&str> {
        let is_endpoint = |place: &Place| place.messages.as_ref().is_none_or(|messages| !messages.only);
        self.all.iter().filter(|(_, place)| is_endpoint(place)).map(|(path, _)| &**path).collect()
    }

    /// How profiles behave that are not there.
    pub(crate) fn stranger(&self) -> Option<&Arc<Dialect>> {
        self.stranger.as_ref()
    }
}

/// Enters a place, and beside it the one where its messages go, if they go elsewhere.
fn enter(all: &mut BTreeMap<String, Place>, path: &str, mut place: Place, beside: Option<&str>) {
    if let Some(beside) = beside {
        let messages: Arc<str> = beside.into();
        let only = Messages { path: messages.clone(), only: true };
        all.insert(beside.to_owned(), Place { messages: Some(only), ..place.clone() });
        place.messages = Some(Messages { path: messages, only: false });
    }
    all.insert(path.to_owned(), place);
}

/// The dialects of a configuration, each made once.
struct Dialects<'c> {
    config: &'c Config,
    made: BTreeMap<&'c str, Option<Arc<Dialect>>>,
}

impl<'c> Dialects<'c> {
    /// `None` for the standard.
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
    use crate::dialect::Streams;

    fn places(text: &str) -> Places {
        let nothing = crate::config::Lookup { env: &|_| None, file: &|_| Err("no files".to_owned()) };
        let loaded = crate::config::load(text, "test", &nothing).unwrap();
        Places::compile(&loaded.config, &|slug| loaded.config.profiles.get_index_of(slug))
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
        assert!(posted.messages.as_ref().unwrap().only && !stream.messages.as_ref().unwrap().only);
        assert!(!places.paths().contains(&"/message"));
    }
}
