//! The configuration compiled once: what exchanges look things up in. An exchange keeps the snapshot it started with.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use proto::json::quote;

use crate::access::{Asker, Class, Guard, Rules};
use crate::catalogue::UpstreamId;
use crate::config::{Affinity, Config, Limits, Link, Profile};
use crate::dialect::Dialect;
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
    /// How long its calls may take.
    pub timeouts: Timeouts,
}

/// A profile with its servers looked up.
#[derive(Debug, Clone)]
pub struct ProfileSpec {
    /// Its name.
    pub slug: String,
    /// Its rules.
    pub rules: Profile,
    /// Its servers that are not disabled, in order.
    pub upstreams: Vec<UpstreamId>,
    /// What the gateway says of itself there, a JSON object.
    pub server_info: String,
    /// How it behaves; `None` as the protocol says.
    pub dialect: Option<Arc<Dialect>>,
}

/// Everything that is configured, ready for use.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// The servers; an [`UpstreamId`] is an index.
    pub upstreams: Vec<UpstreamSpec>,
    /// The profiles.
    pub profiles: Vec<ProfileSpec>,
    /// The caps.
    pub limits: Limits,
    /// Who may use what; `None` where all may use all.
    pub rules: Option<Arc<Rules>>,
    /// Whether only this machine can connect.
    pub local: bool,
    /// Whether callers say who they are, anywhere.
    pub asks: bool,
    places: Places,
}

impl Snapshot {
    /// Compiles a checked configuration. `version` is the gateway's own.
    pub fn compile(config: &Config, version: &str) -> Self {
        let rules = Rules::compile(&config.access);
        let rules = (!rules.is_empty()).then(|| Arc::new(rules));
        let local = config.listen.iter().all(|address| address.ip().is_loopback());
        let mut upstreams = Vec::new();
        let mut ids = HashMap::new();
        for (name, server) in config.mcp_servers.iter().filter(|(_, server)| !server.disabled) {
            let id = UpstreamId(u32::try_from(upstreams.len()).unwrap_or(u32::MAX));
            let idle = server.timeout.unwrap_or(config.limits.call_idle_timeout);
            let timeouts = Timeouts { idle, overall: config.limits.call_timeout.max(idle) };
            let (link, affinity) = (server.link.clone(), server.affinity);
            upstreams.push(UpstreamSpec { id, name: name.as_str().into(), link, affinity, timeouts });
            ids.insert(name.as_str(), id);
        }
        let places = Places::compile(config);
        let mut profiles = Vec::new();
        for (slug, rules) in &config.profiles {
            profiles.push(ProfileSpec {
                slug: slug.clone(),
                upstreams: rules.servers.iter().filter_map(|name| ids.get(name.as_str()).copied()).collect(),
                server_info: server_info(rules, version),
                dialect: places.at(&format!("/mcp/{slug}")).and_then(|place| place.dialect.clone()),
                rules: rules.clone(),
            });
        }
        Self {
            upstreams,
            profiles,
            limits: config.limits.clone(),
            rules,
            local,
            asks: config.auth.asks(),
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
        let profile = self.profiles[profile].slug.as_str().into();
        Some(Guard { rules, class: class.clone(), profile })
    }

    /// The profile with this name.
    pub fn profile_named(&self, slug: &str) -> Option<usize> {
        self.profiles.iter().position(|p| p.slug == slug)
    }

    /// The paths that are served, in order.
    pub fn paths(&self) -> Vec<&str> {
        self.places.paths()
    }

    /// A configured server.
    pub fn upstream(&self, id: UpstreamId) -> &UpstreamSpec {
        &self.upstreams[id.0 as usize]
    }

    /// How long introductions and lists may take, in all.
    pub fn opening_time(&self) -> Duration {
        self.limits.connect_timeout.max(Duration::from_secs(10)) * 3
    }
}

fn server_info(profile: &Profile, version: &str) -> String {
    let title = profile
        .title
        .as_ref()
        .map(|title| format!(",\"title\":{}", quote(title.expose())))
        .unwrap_or_default();
    format!("{{\"name\":\"dragoman\"{title},\"version\":{}}}", quote(version))
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
        assert_eq!(&*s.upstream(s.profiles[one].upstreams[0]).name, "a");
    }
}
