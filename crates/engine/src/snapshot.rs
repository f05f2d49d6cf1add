//! The compiled configuration, in which exchanges look things up. An exchange keeps the snapshot that it started
//! with; in later snapshots, the same numbers refer to the same profiles and servers.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use http::HeaderName;
use http::header::AUTHORIZATION;
use indexmap::IndexSet;
use proto::rpc::FrameLimits;

use crate::access::{Asker, Class, Guard, Rules};
use crate::call_rules::CallRules;
use crate::catalogue::{NameLimit, UpstreamId};
use crate::config::{
    Affinity, Config, DefinitionPolicy, Limits, Link, PassedHeader, Profile, QuestionPolicy, Server,
    ServerTools, StdioLink, Text, TrustedProxies,
};
use crate::dialect_rows::Dialect;
use crate::known_servers;
use crate::places::{ServedPath, ServedPaths};
use crate::schema_family::SchemaFamily;

/// A configured server behind the gateway.
#[derive(Debug, Clone)]
pub struct UpstreamSpec {
    /// The server's id, which stays the same until the server is changed.
    pub id: UpstreamId,
    /// The server's name in the configuration.
    pub name: Arc<str>,
    /// The link by which the server is reached.
    pub link: Link,
    /// The clients that share a connection to the server.
    pub affinity: Affinity,
    /// The handling of the server's questions to clients.
    pub asks: QuestionPolicy,
    /// The maximum number of dedicated connections; `None` for the default of the server's transport.
    pub dedicated_connections: Option<usize>,
    /// The tools of the server that are served.
    pub tools: ServerTools,
    /// The handling of the server's tools whose definitions change.
    pub definitions: DefinitionPolicy,
    /// The rules for requests to the server.
    pub calls: CallRules,
    /// The maximum time from the server's start to its first answer.
    pub start_timeout: Duration,
    /// True if each caller gives a separate consent, provided that the server requires consent. Access that was
    /// granted with one caller's consent is then not available to others.
    pub own_consent: bool,
    /// True if authenticated callers never share a connection.
    pub own_links: bool,
}

/// A profile with its servers looked up.
#[derive(Debug, Clone)]
pub struct ProfileSpec {
    /// The profile's name.
    pub slug: Arc<str>,
    /// The profile's configuration, including its rules.
    pub rules: Profile,
    /// The profile's enabled servers, in order; none if the profile is no longer configured.
    pub upstreams: Vec<UpstreamId>,
    /// True if one of the profile's servers separates callers, or would do so if it required their consent.
    pub per_caller: bool,
    /// The gateway's name and version at this profile, a JSON object. Results repeat it.
    pub server_info: String,
    /// The dialect; `None` for the protocol's own behavior.
    pub dialect: Option<Arc<Dialect>>,
    /// True if the profile is configured; a removed profile only keeps its number.
    pub is_there: bool,
}

impl ProfileSpec {
    /// The gateway's introduction at this profile, a JSON object: its name and version, and what else describes it.
    pub fn introduction(&self) -> String {
        self.rules.server_info.whole(&self.server_info)
    }

    /// The maximum length of the names of its tools and prompts: clients put a prefix before each name.
    pub fn name_limit(&self) -> NameLimit {
        let limit = match (&self.rules.client_prefix, &self.dialect) {
            (Some(prefix), _) => NameLimit::behind(prefix),
            (None, Some(_)) => NameLimit::of_dialect(),
            (None, None) => NameLimit::behind(&format!("mcp__{}__", self.slug)),
        };
        limit.for_family(SchemaFamily::of(self.rules.tools.schemas))
    }
}

/// The maximum number of profiles with different names since the start; each keeps its number.
const MOST_PROFILES: usize = 10_000;

/// The reason why a configuration cannot be applied without a restart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Crowded {
    /// Too many profile names have been used.
    #[error(
        "more than {MOST_PROFILES} profiles have been configured since the start; restart Dragoman to add another"
    )]
    Profiles,
    /// Too many servers have been added and removed.
    #[error("too many servers have been configured since the start; restart Dragoman to add another")]
    Servers,
}

/// The whole configuration, ready for use.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// The servers, in the order of their ids.
    pub upstreams: Vec<UpstreamSpec>,
    /// The profiles, including removed ones.
    pub profiles: Vec<ProfileSpec>,
    /// The configured upper bounds.
    pub limits: Limits,
    /// The access rules; `None` if everything is allowed.
    pub rules: Option<Arc<Rules>>,
    /// True if only this machine can connect.
    pub local: bool,
    /// True if callers must authenticate at one endpoint or more.
    pub asks: bool,
    /// The proxies that are trusted to name the client.
    pub proxies: TrustedProxies,
    /// The names of all headers of requests that are passed on to some server.
    pub passed_names: Arc<[HeaderName]>,
    /// The version of the access configuration: decisions made under another version must be made again.
    pub regime: u64,
    /// The number of the next server.
    next_upstream: u32,
    places: ServedPaths,
}

impl Snapshot {
    /// Compiles a checked configuration. `version` is the gateway's own version.
    pub fn compile(config: &Config, version: &str) -> Self {
        let nothing = Numbers { upstreams: &[], profiles: &[], next: 0 };
        Self::numbered(config, version, &nothing, 0)
    }

    /// Compiles the configuration `new`, which replaces this one; `old` is the one that this snapshot was compiled
    /// from. Profiles with the same name keep their numbers, and so do servers that have not changed.
    ///
    /// # Errors
    /// Fails if there have been too many profiles or servers.
    pub fn followed_by(&self, old: &Config, new: &Config, version: &str) -> Result<Self, Crowded> {
        let same = old.auth == new.auth && old.access == new.access && old.endpoints == new.endpoints;
        let same = same && old.trust_forwarded_for == new.trust_forwarded_for;
        let numbers =
            Numbers { upstreams: &self.upstreams, profiles: &self.profiles, next: self.next_upstream };
        let next = Self::numbered(new, version, &numbers, self.regime + u64::from(!same));
        if next.profiles.len() > MOST_PROFILES {
            return Err(Crowded::Profiles);
        }
        if next.next_upstream == u32::MAX { Err(Crowded::Servers) } else { Ok(next) }
    }

    fn numbered(config: &Config, version: &str, before: &Numbers<'_>, regime: u64) -> Self {
        let rules = Rules::compile(&config.access);
        let rules = (!rules.is_empty()).then(|| Arc::new(rules));
        let local = config.listen.iter().all(|address| address.ip().is_loopback());
        let (upstreams, next_upstream) = upstreams(config, before);
        let ids: HashMap<&str, UpstreamId> = upstreams.iter().map(|spec| (&*spec.name, spec.id)).collect();
        let mut profiles: Vec<ProfileSpec> = before.profiles.iter().map(ProfileSpec::left).collect();
        let mut numbers: HashMap<String, usize> =
            profiles.iter().enumerate().map(|(at, profile)| (profile.slug.to_string(), at)).collect();
        for slug in config.profiles.keys() {
            let next = numbers.len();
            numbers.entry(slug.clone()).or_insert(next);
        }
        // The number of an earlier profile stays assigned, but no longer refers to a profile.
        let number = |slug: &str| numbers.get(slug).copied().filter(|_| config.profiles.contains_key(slug));
        let places = ServedPaths::compile(config, &number);
        for (slug, rules) in &config.profiles {
            let shown = rules.servers.iter();
            let shown: Vec<UpstreamId> = shown.filter_map(|name| ids.get(name.as_str()).copied()).collect();
            let spec = ProfileSpec {
                slug: slug.as_str().into(),
                per_caller: upstreams.iter().any(|spec| spec.per_caller() && shown.contains(&spec.id)),
                upstreams: shown,
                server_info: server_info(rules, version),
                dialect: places.at(&format!("/mcp/{slug}")).and_then(|place| place.dialect.clone()),
                rules: with_overrides(rules),
                is_there: true,
            };
            match numbers.get(slug).and_then(|at| profiles.get_mut(*at)) {
                Some(own) => *own = spec,
                None => profiles.push(spec),
            }
        }
        let passed = upstreams.iter().flat_map(UpstreamSpec::passed_headers);
        let passed_names =
            passed.map(|rule| rule.from.clone()).collect::<IndexSet<_>>().into_iter().collect();
        Self {
            upstreams,
            profiles,
            limits: config.limits.clone(),
            rules,
            local,
            asks: config.auth.asks(),
            proxies: config.trust_forwarded_for.clone(),
            passed_names,
            regime,
            next_upstream,
            places,
        }
    }

    /// The profile at a path; a trailing slash does not matter.
    pub fn at(&self, path: &str) -> Option<&ServedPath> {
        self.places.at(path)
    }

    /// The dialect for answers about profiles that do not exist; `None` for the protocol's own behavior.
    pub fn stranger(&self) -> Option<&Arc<Dialect>> {
        self.places.stranger()
    }

    /// The class of an asker, which selects the view; the same for all if there are no rules.
    pub fn class(&self, asker: &Asker<'_>) -> Class {
        self.rules.as_ref().map(|rules| rules.class(asker)).unwrap_or_default()
    }

    /// The access of a class of askers to a profile; `None` if everything is allowed.
    pub fn guard(&self, profile: usize, class: &Class) -> Option<Guard> {
        let rules = self.rules.clone()?;
        let profile = self.profiles[profile].slug.clone();
        Some(Guard { rules, class: class.clone(), profile })
    }

    /// The profile with this name.
    pub fn profile_named(&self, slug: &str) -> Option<usize> {
        self.profiles.iter().position(|p| p.is_there && *p.slug == *slug)
    }

    /// The paths that are served, in order.
    pub fn paths(&self) -> Vec<&str> {
        self.places.paths()
    }

    /// A configured server; `None` if it has been removed.
    pub fn upstream(&self, id: UpstreamId) -> Option<&UpstreamSpec> {
        let found = self.upstreams.binary_search_by_key(&id, |spec| spec.id).ok()?;
        self.upstreams.get(found)
    }

    /// The current rules for requests to a server; `spec` may be from an earlier snapshot.
    pub fn calls<'a>(&'a self, spec: &'a UpstreamSpec) -> &'a CallRules {
        &self.upstream(spec.id).unwrap_or(spec).calls
    }

    /// The currently configured maximum time from a server's start to its first answer; `spec` may be from an earlier
    /// snapshot.
    pub fn start_timeout(&self, spec: &UpstreamSpec) -> Duration {
        self.upstream(spec.id).unwrap_or(spec).start_timeout
    }

    /// The maximum total time for an introduction over HTTP, and for fetching lists.
    pub fn opening_time(&self) -> Duration {
        self.limits.connect_timeout.max(Duration::from_secs(10)) * 3
    }
}

/// The numbers that are already assigned.
struct Numbers<'a> {
    upstreams: &'a [UpstreamSpec],
    profiles: &'a [ProfileSpec],
    next: u32,
}

impl ProfileSpec {
    /// A removed profile, which keeps its number.
    fn left(&self) -> Self {
        let (rules, upstreams) = (Profile::default(), Vec::new());
        let (slug, server_info) = (self.slug.clone(), self.server_info.clone());
        Self { slug, rules, upstreams, per_caller: false, server_info, dialect: None, is_there: false }
    }
}

impl UpstreamSpec {
    /// A placeholder for removed servers, to which no link may be opened.
    pub fn nobody() -> Self {
        let link = StdioLink {
            command: Text::plain(""),
            args: Vec::new(),
            env: indexmap::IndexMap::new(),
            cwd: None,
            max_memory: None,
            max_processes: None,
        };
        let (id, name) = (UpstreamId(u32::MAX), "(removed)".into());
        let (tools, start_timeout) = (ServerTools::default(), Duration::ZERO);
        Self {
            id,
            name,
            link: Link::Stdio(link),
            affinity: Affinity::Shared,
            asks: QuestionPolicy::Auto,
            dedicated_connections: None,
            tools,
            definitions: DefinitionPolicy::Allow,
            calls: CallRules::nothing(),
            start_timeout,
            own_consent: false,
            own_links: false,
        }
    }

    /// Returns true if callers may have separate links to the server, or give it separate consents.
    pub fn per_caller(&self) -> bool {
        self.own_consent || self.own_links || !self.passed_headers().is_empty()
    }

    /// The headers of requests that are passed on to it.
    pub fn passed_headers(&self) -> &[PassedHeader] {
        match &self.link {
            Link::Http(http) => &http.pass_headers,
            Link::Stdio(_) | Link::Native(_) => &[],
        }
    }

    /// Returns true if all clients take turns on one link.
    pub fn is_single(&self) -> bool {
        self.dedicated_connections == Some(0)
    }

    /// Returns true if links to one server can also be used for the other. Time limits do not matter, because they
    /// are looked up for each operation.
    fn is_like(&self, other: &Self) -> bool {
        self.name == other.name
            && self.link == other.link
            && self.affinity == other.affinity
            && self.tools == other.tools
            && self.asks == other.asks
            && self.dedicated_connections == other.dedicated_connections
            && self.own_consent == other.own_consent
            && self.own_links == other.own_links
    }
}

/// The handling of a server's tools whose definitions change. Servers that live in the binary change with its version.
fn definitions(config: &Config, server: &Server) -> DefinitionPolicy {
    match server.link {
        Link::Native(_) => DefinitionPolicy::Allow,
        _ => server.definitions.unwrap_or(config.definitions),
    }
}

/// The enabled servers, and the number for the next one.
fn upstreams(config: &Config, before: &Numbers<'_>) -> (Vec<UpstreamSpec>, u32) {
    let mut next = before.next;
    let mut upstreams = Vec::new();
    for (name, server) in config.mcp_servers.iter().filter(|(_, server)| !server.disabled) {
        let own_consent = config.auth.asks() && takes_own_consent(&server.link);
        let own_links = config.auth.asks() && server.affinity != Affinity::Shared && !is_native(&server.link);
        let (name, link) = (name.as_str().into(), server.link.clone());
        let start_timeout = server.start_timeout.unwrap_or(config.limits.start_timeout);
        let new = UpstreamSpec {
            id: UpstreamId(next),
            name,
            link,
            affinity: server.affinity,
            asks: server.asks,
            dedicated_connections: server.dedicated_connections.or_else(|| known_connections(server)),
            tools: server.tools.clone(),
            definitions: definitions(config, server),
            calls: CallRules::of(config, server),
            start_timeout,
            own_consent,
            own_links,
        };
        if let Some(known) = before.upstreams.iter().find(|known| known.is_like(&new)) {
            upstreams.push(UpstreamSpec { id: known.id, name: known.name.clone(), ..new });
        } else {
            next = next.saturating_add(1);
            upstreams.push(new);
        }
    }
    upstreams.sort_by_key(|spec| spec.id);
    (upstreams, next)
}

/// Allows no dedicated connection to a server that is known to support only one process.
fn known_connections(server: &Server) -> Option<usize> {
    let Link::Stdio(link) = &server.link else { return None };
    (server.affinity == Affinity::Shared && known_servers::is_single(link)).then_some(0)
}

/// Returns true for a server that runs in this process, so that it has no connections.
fn is_native(link: &Link) -> bool {
    matches!(link, Link::Native(_))
}

/// Returns true if a server may require the consent of its users, and one user's consent does not count for all.
fn takes_own_consent(link: &Link) -> bool {
    let Link::Http(http) = link else { return false };
    let passes = http.pass_headers.iter().any(|passed| passed.to == AUTHORIZATION);
    !passes
        && !http.headers.contains_key(&AUTHORIZATION)
        && !http.oauth.as_ref().is_some_and(|own| own.shared || own.is_machine())
}

/// The rules of a profile with the changes to tools and prompts that its configuration describes.
fn with_overrides(rules: &Profile) -> Profile {
    let mut rules = rules.clone();
    rules.tool_settings.add(&rules.servers, &rules.tools.overrides);
    rules.prompt_settings.add_prompts(&rules.servers, &rules.prompts.overrides);
    rules
}

fn server_info(profile: &Profile, version: &str) -> String {
    profile.server_info.short(profile.title.as_ref(), version)
}

/// The limits for reading messages.
pub fn frame_limits(limits: &Limits) -> FrameLimits {
    let depth = u32::try_from(limits.json_depth).unwrap_or(u32::MAX).min(proto::json::MAX_DEPTH);
    FrameLimits { depth, batch: limits.batch }
}

#[cfg(test)]
mod tests;
