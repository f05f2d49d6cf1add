//! The stored changes, and the configuration that results from them.

use cluster::DocumentVersion;
use config::{Config, Endpoint, Lookup, Profile, Text, ToolSettings, load_over};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

use super::Refusal;
use super::server_form::says_link;
use super::tools::Setting;

/// The maximum number of servers with stored changes, and the maximum number of profiles with stored changes.
const MOST: usize = 1000;

/// The maximum size of the stored text, in bytes.
const LONGEST: usize = 4 << 20;

/// All changes. Servers and profiles that are not named here remain as configured in the file.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Changes {
    /// The version of these changes in the cluster; `None` if the cluster does not have them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    version: Option<DocumentVersion>,
    /// Servers in the form of a configuration, or amendments to servers from the file; `null` for a removed server.
    #[serde(default)]
    pub(super) servers: BTreeMap<String, Option<Map<String, Value>>>,
    /// Profiles; `null` for a removed profile.
    #[serde(default)]
    pub(super) profiles: BTreeMap<String, Option<ProfileChange>>,
}

/// A profile as it was changed through the API.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ProfileChange {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<String>,
    /// The profile from which this profile was cloned. Both have the same rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) from: Option<String>,
    pub(super) servers: Vec<Member>,
    /// Settings by server and tool.
    #[serde(default)]
    pub(super) tools: BTreeMap<String, BTreeMap<String, Setting>>,
}

/// A server of a profile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Member {
    pub(super) server: String,
    pub(super) active: bool,
}

/// The configuration from the file, the changes, and the configuration that results from both.
#[derive(Debug, Clone)]
pub struct Standing {
    pub(super) base: Config,
    pub(super) changes: Changes,
    pub(super) config: Config,
}

impl Standing {
    /// # Errors
    /// Returns the reason why the changes do not fit the configuration.
    pub(crate) fn new(base: Config, changes: Changes) -> Result<Self, Refusal> {
        let config = changes.over(&base)?;
        Ok(Self { base, changes, config })
    }

    /// Returns the configuration in force.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns the configuration from the file.
    pub fn base(&self) -> &Config {
        &self.base
    }

    /// Returns notes for the operator about configured paths that lead to profiles removed through the API.
    pub(crate) fn notes(&self) -> Vec<String> {
        let gone = |slug: &str| matches!(self.changes.profiles.get(slug), Some(None));
        let endpoints = self.base.endpoints.iter().filter(|endpoint| gone(&endpoint.profile));
        let note = |endpoint: &Endpoint| {
            let Endpoint { path, profile, .. } = endpoint;
            format!(
                "nothing is served at {path}: the profile {profile:?} was removed through the management API; create the profile \
                 again (POST /api/profiles), or remove the endpoint from the configuration file"
            )
        };
        endpoints.map(note).collect()
    }

    /// Returns the changes.
    pub(crate) fn changes(&self) -> &Changes {
        &self.changes
    }

    /// Returns the same changes with another version.
    pub(crate) fn versioned(mut self, version: Option<DocumentVersion>) -> Self {
        self.changes.version = version;
        self
    }

    /// Returns the same changes, applied to another configuration.
    ///
    /// # Errors
    /// Returns the reason why the changes do not fit that configuration.
    pub(crate) fn over(&self, base: Config) -> Result<Self, Refusal> {
        Self::new(base, self.changes.clone())
    }

    /// Returns the same configuration with other changes.
    pub(super) fn changed(&self, how: impl FnOnce(&mut Changes)) -> Result<Self, Refusal> {
        let mut changes = self.changes.clone();
        how(&mut changes);
        if changes.servers.len() > MOST || changes.profiles.len() > MOST {
            return Err(Refusal::request(format!("cannot store more than {MOST} servers or profiles")));
        }
        Self::new(self.base.clone(), changes)
    }
}

impl Changes {
    /// Reads stored changes.
    ///
    /// # Errors
    /// Returns the reason why the changes cannot be read.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|e| e.to_string())
    }

    /// Returns the version of the changes in the cluster.
    pub(crate) fn version(&self) -> Option<DocumentVersion> {
        self.version
    }

    /// Returns true if nothing was changed.
    pub(crate) fn is_empty(&self) -> bool {
        self.servers.is_empty() && self.profiles.is_empty()
    }

    /// Returns the text to store.
    ///
    /// # Errors
    /// Fails if the text would be too long.
    pub(crate) fn text(&self) -> Result<String, Refusal> {
        let text = serde_json::to_string(self).map_err(|e| Refusal::internal(e.to_string()))?;
        if text.len() > LONGEST {
            return Err(Refusal::request(format!("the changes are larger than {LONGEST} bytes")));
        }
        Ok(text)
    }

    /// Returns the configuration that results from the changes.
    fn over(&self, base: &Config) -> Result<Config, Refusal> {
        let mut config = base.clone();
        let default_has_all = config.default_has_all();
        let mut written = Map::new();
        for (name, change) in &self.servers {
            match change {
                // The entry only amended a server from the file, and that server is gone.
                Some(server) if !says_link(server) && !config.mcp_servers.contains_key(name) => {}
                Some(server) => drop(written.insert(name.clone(), literal(&Value::Object(server.clone())))),
                None => drop(config.mcp_servers.shift_remove(name)),
            }
        }
        let known = config.mcp_servers.clone();
        for profile in config.profiles.values_mut() {
            profile.servers.retain(|name| known.contains_key(name));
        }
        if default_has_all && let Some(default) = config.profiles.get_mut(config::DEFAULT_PROFILE) {
            default.servers = known.keys().cloned().collect();
        }
        if !written.is_empty() {
            let text = json!({ "mcpServers": written }).to_string();
            // Values from the API are literal: they must not read this machine's environment or files.
            let nothing = Lookup {
                env: &|_| None,
                file: &|_| Err("changes made through the API cannot read files".to_owned()),
            };
            let loaded = load_over(config, &text, "the changes", &nothing);
            config = loaded.map_err(|faults| Refusal::faults(&faults))?.config;
        }
        for (slug, change) in &self.profiles {
            match change {
                Some(change) => change.apply(slug, &mut config),
                None => drop(config.profiles.shift_remove(slug)),
            }
        }
        Ok(config)
    }
}

impl ProfileChange {
    /// Returns the changes that would produce this profile.
    pub(super) fn of(profile: &Profile) -> Self {
        let servers = profile.servers.iter();
        Self {
            name: profile.title.as_ref().map(|title| title.expose().to_owned()),
            description: None,
            from: None,
            servers: servers.map(|server| Member { server: server.clone(), active: true }).collect(),
            tools: BTreeMap::new(),
        }
    }

    /// Applies the changes to a configuration. Fields that were not changed stay as they are, and servers that no longer
    /// exist are left out.
    fn apply(&self, slug: &str, config: &mut Config) {
        let origin = self.from.as_ref().and_then(|from| config.profiles.get(from));
        let mut profile = config.profiles.get(slug).or(origin).cloned().unwrap_or_default();
        let active = self.servers.iter().filter(|member| member.active);
        let there = active.filter(|member| config.mcp_servers.contains_key(&member.server));
        profile.servers = there.map(|member| member.server.clone()).collect();
        profile.chosen = true;
        profile.title = self.name.as_deref().map(Text::plain);
        let tools = self.tools.iter().map(|(server, tools)| {
            (server.clone(), tools.iter().map(|(tool, set)| (tool.clone(), set.compiled())).collect())
        });
        profile.tool_settings = ToolSettings(tools.collect());
        config.profiles.insert(slug.to_owned(), profile);
    }
}

/// Returns the value with `${` written as `$${`, so the configuration substitutes nothing.
fn literal(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(text.replace("${", "$${")),
        Value::Array(items) => Value::Array(items.iter().map(literal).collect()),
        Value::Object(members) => {
            Value::Object(members.iter().map(|(key, value)| (key.clone(), literal(value))).collect())
        }
        other => other.clone(),
    }
}
