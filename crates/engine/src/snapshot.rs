//! The compiled configuration, from which exchanges get servers, profiles and rules. An exchange keeps the snapshot that it started
//! with; in later snapshots, the same numbers refer to the same profiles and servers.

mod upstream_spec;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use config::dialect_rows::Dialect;
use config::{Config, Limits, Profile, TrustedProxies};
use http::HeaderName;
use indexmap::IndexSet;
use proto::rpc::FrameLimits;

use crate::access::{Asker, Class, Guard, Rules};
use crate::call_rules::CallRules;
use crate::catalogue::{NameLimit, UpstreamId};
use crate::places::{ServedPath, ServedPaths};
use crate::schema_family::SchemaFamily;
use upstream_spec::upstreams;
pub use upstream_spec::{UpstreamSpec, gives_own_consent};

/// A profile with its servers looked up.
#[derive(Debug, Clone)]
pub struct ProfileSpec {
    /// The profile's name.
    pub slug: Arc<str>,
    /// The profile's configuration, including its rules.
    pub rules: Profile,
    /// The profile's enabled servers, in order; none if the profile is no longer configured.
    pub upstreams: Vec<UpstreamId>,
    /// True if callers may have separate links to one of the profile's servers, or give it separate consents.
    pub per_caller: bool,
    /// The gateway's name and version at this profile, a JSON object. Results repeat this object.
    pub server_info: String,
    /// The dialect; `None` for the protocol's own behavior.
    pub dialect: Option<Arc<Dialect>>,
    /// True if the profile is configured; a removed profile only keeps its number.
    pub is_there: bool,
}

impl ProfileSpec {
    /// The gateway's introduction at this profile, a JSON object: its name, its version, and the other fields that describe it.
    pub fn introduction(&self) -> String {
        self.rules.server_info.whole(&self.server_info)
    }

    /// The maximum length of the names of the profile's tools and prompts: clients put a prefix before each name.
    pub fn name_limit(&self) -> NameLimit {
        let limit = match (&self.rules.client_prefix, &self.dialect) {
            (None, Some(_)) => NameLimit::of_dialect(),
            _ => NameLimit::behind(&self.rules.prefix_of_clients(&self.slug)),
        };
        limit.for_family(SchemaFamily::of(self.rules.tools.schemas))
    }
}

/// The maximum number of profiles with different names since startup; each keeps its number.
const MOST_PROFILES: usize = 10_000;

/// The reason why a configuration cannot be applied without a restart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CapacityError {
    /// Too many profile names have been used.
    #[error(
        "more than {MOST_PROFILES} profiles have been configured since startup; restart Dragoman to add another"
    )]
    Profiles,
    /// Too many servers have been added and removed.
    #[error("too many servers have been configured since startup; restart Dragoman to add another")]
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

    /// Compiles the configuration `new`, which replaces this one; `old` is the configuration that this snapshot was compiled from.
    /// Profiles with the same name keep their numbers, and so do servers that have not changed.
    ///
    /// # Errors
    /// Fails if there have been too many profiles or servers.
    pub fn followed_by(&self, old: &Config, new: &Config, version: &str) -> Result<Self, CapacityError> {
        let same = old.auth == new.auth && old.access == new.access && old.endpoints == new.endpoints;
        let same = same && old.trust_forwarded_for == new.trust_forwarded_for;
        let numbers =
            Numbers { upstreams: &self.upstreams, profiles: &self.profiles, next: self.next_upstream };
        let next = Self::numbered(new, version, &numbers, self.regime + u64::from(!same));
        if next.profiles.len() > MOST_PROFILES {
            return Err(CapacityError::Profiles);
        }
        if next.next_upstream == u32::MAX { Err(CapacityError::Servers) } else { Ok(next) }
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
            let dialect = places.at(&format!("/mcp/{slug}")).and_then(|place| place.dialect.clone());
            let shortens = |spec: &UpstreamSpec| spec.calls.max_result.is_some() && shown.contains(&spec.id);
            let is_plain = numbers.get(slug).is_some_and(|profile| places.serve_plainly(*profile));
            let has_rests = is_plain && upstreams.iter().any(shortens);
            let spec = ProfileSpec {
                slug: slug.as_str().into(),
                per_caller: upstreams.iter().any(|spec| spec.per_caller() && shown.contains(&spec.id)),
                upstreams: shown,
                server_info: server_info(rules, version),
                dialect,
                rules: Profile { has_rests, ..with_overrides(rules) },
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

    /// The class of an asker, which selects the view. Without rules, all askers have the same class.
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

    /// The maximum total time for the introduction to a server over HTTP, and for fetching the server's lists.
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
