//! The configuration compiled once: what exchanges look things up in. An exchange keeps the snapshot it started with; another
//! one that takes over means the same profiles and servers by the same numbers.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use proto::json::quote;
use proto::rpc::FrameLimits;

use crate::access::{Asker, Class, Guard, Rules};
use crate::catalogue::UpstreamId;
use crate::config::{Affinity, Config, Limits, Link, Profile, ServerTools, StdioLink, Text, TrustedProxies};
use crate::dialect_rows::Dialect;
use crate::exchange::Timeouts;
use crate::places::{Place, Places};

/// A configured server behind the gateway.
#[derive(Debug, Clone)]
pub struct UpstreamSpec {
    /// Its place.
    pub id: UpstreamId,
    /// Its name.
    pub name: Arc<str>,
    /// How it is reached.
    pub link: Link,
    /// Who shares a connection to it.
    pub affinity: Affinity,
    /// Which of its tools are served.
    pub tools: ServerTools,
    /// The time that its calls may take.
    pub timeouts: Timeouts,
    /// The time that it may take from its start to its first answer.
    pub start_timeout: Duration,
    /// True if each caller gives a consent of its own, if the server wants any: then nothing that one caller's consent
    /// opened is another's.
    pub apart: bool,
}

/// A profile with its servers looked up.
#[derive(Debug, Clone)]
pub struct ProfileSpec {
    /// Its name.
    pub slug: Arc<str>,
    /// Its rules.
    pub rules: Profile,
    /// Its servers that are not disabled, in order; none where it is no longer configured.
    pub upstreams: Vec<UpstreamId>,
    /// True if one of them keeps callers apart, if it wants their consent.
    pub apart: bool,
    /// What the gateway says of itself there, a JSON object.
    pub server_info: String,
    /// How it behaves; `None` as the protocol says.
    pub dialect: Option<Arc<Dialect>>,
    /// True if it is configured; of one that was before only the place is kept.
    pub is_there: bool,
}

/// The number of profiles that there may have been since the start, under different names: each keeps its number.
const MOST_PROFILES: usize = 10_000;

/// The reason why a configuration cannot take over without a restart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Crowded {
    /// Too many names were used up.
    #[error("more than {MOST_PROFILES} profiles were configured since the start; restart to go on")]
    Profiles,
    /// Too many servers came and went.
    #[error("too many servers were configured since the start; restart to go on")]
    Servers,
}

/// Everything that is configured, ready for use.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// The servers, in the order of their ids.
    pub upstreams: Vec<UpstreamSpec>,
    /// The profiles, and those that were there before.
    pub profiles: Vec<ProfileSpec>,
    /// The caps.
    pub limits: Limits,
    /// Who may use what; `None` where all may use all.
    pub rules: Option<Arc<Rules>>,
    /// True if only this machine can connect.
    pub local: bool,
    /// True if callers say who they are, anywhere.
    pub asks: bool,
    /// The proxies that are trusted to name the client.
    pub proxies: TrustedProxies,
    /// Counts the changes of who is let in, and to what: what was decided under another one is to be decided again.
    pub regime: u64,
    /// The number of the next server.
    next_upstream: u32,
    places: Places,
}

impl Snapshot {
    /// Compiles a checked configuration. `version` is the gateway's own.
    pub fn compile(config: &Config, version: &str) -> Self {
        let nothing = Numbers { upstreams: &[], profiles: &[], next: 0 };
        Self::numbered(config, version, &nothing, 0)
    }

    /// Compiles the configuration that takes over from this one, which was made of `old`: profiles keep their numbers by
    /// their names, servers as long as nothing about them changes.
    ///
    /// # Errors
    /// When there have been too many.
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
        // The number of a profile that was there before is taken, but leads nowhere.
        let number = |slug: &str| numbers.get(slug).copied().filter(|_| config.profiles.contains_key(slug));
        let places = Places::compile(config, &number);
        for (slug, rules) in &config.profiles {
            let shown = rules.servers.iter();
            let shown: Vec<UpstreamId> = shown.filter_map(|name| ids.get(name.as_str()).copied()).collect();
            let spec = ProfileSpec {
                slug: slug.as_str().into(),
                apart: upstreams.iter().any(|spec| spec.apart && shown.contains(&spec.id)),
                upstreams: shown,
                server_info: server_info(rules, version),
                dialect: places.at(&format!("/mcp/{slug}")).and_then(|place| place.dialect.clone()),
                rules: rules.clone(),
                is_there: true,
            };
            match numbers.get(slug).and_then(|at| profiles.get_mut(*at)) {
                Some(own) => *own = spec,
                None => profiles.push(spec),
            }
        }
        Self {
            upstreams,
            profiles,
            limits: config.limits.clone(),
            rules,
            local,
            asks: config.auth.asks(),
            proxies: config.trust_forwarded_for.clone(),
            regime,
            next_upstream,
            places,
        }
    }

    /// What is served at a path; a trailing slash does not matter.
    pub fn at(&self, path: &str) -> Option<&Place> {
        self.places.at(path)
    }

    /// How profiles behave that are not there; `None` as the protocol says.
    pub fn stranger(&self) -> Option<&Arc<Dialect>> {
        self.places.stranger()
    }

    /// The class of an asker, by which views are told apart; the same for all where there are no rules.
    pub fn class(&self, asker: &Asker<'_>) -> Class {
        self.rules.as_ref().map(|rules| rules.class(asker)).unwrap_or_default()
    }

    /// What a class of askers may use of a profile; `None` where all may use all.
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

    /// A configured server; `None` when it is no longer.
    pub fn upstream(&self, id: UpstreamId) -> Option<&UpstreamSpec> {
        self.upstreams.iter().find(|spec| spec.id == id)
    }

    /// The time that introductions over HTTP and lists may take, in all.
    pub fn opening_time(&self) -> Duration {
        self.limits.connect_timeout.max(Duration::from_secs(10)) * 3
    }
}

/// The numbers that were given before.
struct Numbers<'a> {
    upstreams: &'a [UpstreamSpec],
    profiles: &'a [ProfileSpec],
    next: u32,
}

impl ProfileSpec {
    /// What is left of it where nothing else is configured: its number stays taken.
    fn left(&self) -> Self {
        let rules = Profile::default();
        let (slug, server_info) = (self.slug.clone(), self.server_info.clone());
        Self { slug, rules, upstreams: Vec::new(), apart: false, server_info, dialect: None, is_there: false }
    }
}

impl UpstreamSpec {
    /// One that stands for servers that are no longer configured, and to which nothing must be opened.
    pub fn nobody() -> Self {
        let link = StdioLink {
            command: Text::plain(""),
            args: Vec::new(),
            env: indexmap::IndexMap::new(),
            cwd: None,
        };
        let timeouts = Timeouts { idle: Duration::ZERO, overall: Duration::ZERO };
        let (id, name) = (UpstreamId(u32::MAX), "(removed)".into());
        let (affinity, tools, start_timeout) = (Affinity::Shared, ServerTools::default(), Duration::ZERO);
        Self { id, name, link: Link::Stdio(link), affinity, tools, timeouts, start_timeout, apart: false }
    }

    /// Returns true if links to the one serve for the other as well.
    fn is_like(&self, other: &Self) -> bool {
        self.name == other.name
            && self.link == other.link
            && self.affinity == other.affinity
            && self.tools == other.tools
            && self.timeouts == other.timeouts
            && self.start_timeout == other.start_timeout
            && self.apart == other.apart
    }
}

/// The servers that are not disabled, and the number of the next one.
fn upstreams(config: &Config, before: &Numbers<'_>) -> (Vec<UpstreamSpec>, u32) {
    let mut next = before.next;
    let mut upstreams = Vec::new();
    for (name, server) in config.mcp_servers.iter().filter(|(_, server)| !server.disabled) {
        let idle = server.timeout.unwrap_or(config.limits.call_idle_timeout);
        let timeouts = Timeouts { idle, overall: config.limits.call_timeout.max(idle) };
        let (id, apart) = (UpstreamId(next), config.auth.asks() && takes_own_consent(&server.link));
        let (name, link) = (name.as_str().into(), server.link.clone());
        let start_timeout = server.start_timeout.unwrap_or(config.limits.start_timeout);
        let (affinity, tools) = (server.affinity, server.tools.clone());
        let new = UpstreamSpec { id, name, link, affinity, tools, timeouts, start_timeout, apart };
        if let Some(known) = before.upstreams.iter().find(|known| known.is_like(&new)) {
            upstreams.push(known.clone());
        } else {
            next = next.saturating_add(1);
            upstreams.push(new);
        }
    }
    upstreams.sort_by_key(|spec| spec.id);
    (upstreams, next)
}

/// Returns true if a server may want the consent of users, and that of one does not count for all.
fn takes_own_consent(link: &Link) -> bool {
    let Link::Http(http) = link else { return false };
    !http.headers.contains_key(&http::header::AUTHORIZATION)
        && !http.oauth.as_ref().is_some_and(|own| own.shared)
}

fn server_info(profile: &Profile, version: &str) -> String {
    let title = profile
        .title
        .as_ref()
        .map(|title| format!(",\"title\":{}", quote(title.expose())))
        .unwrap_or_default();
    format!("{{\"name\":\"dragoman\"{title},\"version\":{}}}", quote(version))
}

/// How messages are read under these limits.
pub fn frame_limits(limits: &Limits) -> FrameLimits {
    let depth = u32::try_from(limits.json_depth).unwrap_or(u32::MAX).min(proto::json::MAX_DEPTH);
    FrameLimits { depth, batch: limits.batch }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(text: &str) -> Snapshot {
        let nothing = crate::config::Lookup { env: &|_| None, file: &|_| Err("no files".to_owned()) };
        let loaded = crate::config::load(text, "test", &nothing).unwrap();
        Snapshot::compile(&loaded.config, "1.2.3")
    }

    #[test]
    fn paths_lead_to_profiles_and_disabled_servers_are_gone() {
        let s = snapshot(
            "mcpServers:\n  a: { url: 'http://a.example/mcp' }\n  b: { command: x, disabled: true }\n\
             profiles:\n  one: { servers: [a, b], title: 'T' }\nendpoints:\n  - { path: /x/mcp, profile: one }\n",
        );
        let one = s.profile_named("one").unwrap();
        let at = |path| s.at(path).map(|place| place.profile);
        assert_eq!([at("/x/mcp"), at("/mcp/one/"), at("/nope")], [Some(one), Some(one), None]);
        assert!(at("/mcp").is_some());
        assert_eq!(s.profiles[one].upstreams.len(), 1);
        assert_eq!(s.profiles[one].server_info, r#"{"name":"dragoman","title":"T","version":"1.2.3"}"#);
        assert_eq!(&*s.upstream(s.profiles[one].upstreams[0]).unwrap().name, "a");
    }

    #[test]
    fn callers_are_apart_where_they_are_known_and_a_server_may_want_their_consent() {
        let servers = "mcpServers:\n  a: { url: 'http://a.example/mcp' }\n  b: { command: x }\n  c: { native: demo }\n  \
                       d: { url: 'http://a.example/mcp', headers: { Authorization: x } }\n  \
                       e: { url: 'http://a.example/mcp', oauth: { shared: true } }\n\
                       profiles: { one: { servers: [a, b] }, two: { servers: [b, c, d, e] } }\n";
        let known = snapshot(&format!("{servers}auth: {{ keys: true }}\n"));
        let apart = |s: &Snapshot| s.upstreams.iter().map(|one| one.apart).collect::<Vec<_>>();
        assert_eq!(apart(&known), [true, false, false, false, false]);
        let profile = |name| known.profiles[known.profile_named(name).unwrap()].apart;
        assert!(profile("one") && !profile("two"));
        let unknown = snapshot(servers);
        assert_eq!(apart(&unknown), [false; 5]);
        // Who is asked from now on uses nothing that was opened before.
        let config = |text: &str| {
            let nothing = crate::config::Lookup { env: &|_| None, file: &|_| Err("no files".to_owned()) };
            crate::config::load(text, "test", &nothing).unwrap().config
        };
        let (old, new) = (config(servers), config(&format!("{servers}auth: {{ keys: true }}\n")));
        let then = unknown.followed_by(&old, &new, "1").unwrap();
        let id = |s: &Snapshot, name: &str| s.upstreams.iter().find(|u| &*u.name == name).unwrap().id;
        assert_ne!(id(&unknown, "a"), id(&then, "a"));
        assert_eq!(id(&unknown, "e"), id(&then, "e"));
    }

    #[test]
    fn what_takes_over_means_the_same_by_the_same_numbers() {
        let config = |text: &str| {
            let nothing = crate::config::Lookup { env: &|_| None, file: &|_| Err("no files".to_owned()) };
            crate::config::load(text, "test", &nothing).unwrap().config
        };
        let old = config(
            "mcpServers:\n  a: { command: a }\n  b: { command: b }\n\
             profiles:\n  one: { servers: [a] }\n  two: { servers: [b] }\n",
        );
        let new = config(
            "mcpServers:\n  c: { command: c }\n  b: { command: b, args: [x] }\n  a: { command: a }\n\
             profiles:\n  three: { servers: [c, b] }\n  one: { servers: [b, a] }\n",
        );
        let first = Snapshot::compile(&old, "1");
        let second = first.followed_by(&old, &new, "1").unwrap();
        let id = |s: &Snapshot, name: &str| s.upstreams.iter().find(|u| &*u.name == name).unwrap().id;
        assert_eq!(id(&first, "a"), id(&second, "a"));
        assert_ne!(id(&first, "b"), id(&second, "b"), "it is another one now");
        assert!(second.upstream(id(&first, "b")).is_none());
        assert!(second.upstreams.is_sorted_by_key(|u| u.id));
        assert_eq!(first.profile_named("one"), second.profile_named("one"));
        assert_eq!(second.profile_named("two"), None);
        let two = first.profile_named("two").unwrap();
        assert!(!second.profiles[two].is_there && second.profiles[two].upstreams.is_empty());
        let three = second.profile_named("three").unwrap();
        assert_eq!(second.at("/mcp/three").unwrap().profile, three);
        assert!(second.at("/mcp/two").is_none());
        assert_eq!(second.profiles[three].upstreams, [id(&second, "c"), id(&second, "b")]);
        assert_eq!(second.regime, first.regime);
        let back = second.followed_by(&new, &old, "1").unwrap();
        assert_eq!(back.profile_named("two"), Some(two));
        let stricter = Config {
            access: Vec::new(),
            auth: crate::config::Auth { keys: true, ..old.auth.clone() },
            ..old.clone()
        };
        assert!(back.followed_by(&old, &stricter, "1").unwrap().regime > back.regime);
    }
}
