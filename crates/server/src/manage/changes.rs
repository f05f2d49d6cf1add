//! What was changed, as it is kept, and what a configuration becomes by it.

use engine::config::{Config, Endpoint, Lookup, Profile, Text, ToolSettings, load_over};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

use super::Refusal;
use super::server_form::says_link;
use super::tools::Setting;

/// The most servers and the most profiles that can be kept.
const MOST: usize = 1000;

/// The longest text that is kept, in bytes.
const LONGEST: usize = 4 << 20;

/// All changes. What is not named here is as the configuration has it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Changes {
    /// Servers as a configuration has them, or what is said over those of the file; `null` for one that was removed.
    #[serde(default)]
    pub(super) servers: BTreeMap<String, Option<Map<String, Value>>>,
    /// Profiles; `null` for one that was removed.
    #[serde(default)]
    pub(super) profiles: BTreeMap<String, Option<ProfileChange>>,
}

/// A profile as it was made here.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ProfileChange {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<String>,
    pub(super) servers: Vec<Member>,
    /// By server and tool.
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

/// How things stand: the configuration as it comes from its file, what was changed, and what both make.
#[derive(Debug, Clone)]
pub(crate) struct Standing {
    pub(super) base: Config,
    pub(super) changes: Changes,
    pub(super) config: Config,
}

impl Standing {
    /// # Errors
    /// Why the changes cannot be laid over the configuration.
    pub(crate) fn new(base: Config, changes: Changes) -> Result<Self, Refusal> {
        let config = changes.over(&base)?;
        Ok(Self { base, changes, config })
    }

    /// What counts.
    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    /// The configuration as it comes from its file.
    pub(crate) fn base(&self) -> &Config {
        &self.base
    }

    /// What is worth knowing: paths of the configuration that lead to profiles which were removed over the API.
    pub(crate) fn notes(&self) -> Vec<String> {
        let gone = |slug: &str| matches!(self.changes.profiles.get(slug), Some(None));
        let endpoints = self.base.endpoints.iter().filter(|endpoint| gone(&endpoint.profile));
        let note = |endpoint: &Endpoint| {
            let Endpoint { path, profile, .. } = endpoint;
            format!(
                "nothing is served at {path}: its profile {profile:?} was removed over the management API; make it again \
                 there (POST /api/profiles), or take the endpoint out of the configuration file"
            )
        };
        endpoints.map(note).collect()
    }

    /// What was changed.
    pub(crate) fn changes(&self) -> &Changes {
        &self.changes
    }

    /// The same changes over another configuration.
    ///
    /// # Errors
    /// Why they cannot be laid over it.
    pub(crate) fn over(&self, base: Config) -> Result<Self, Refusal> {
        Self::new(base, self.changes.clone())
    }

    /// With other changes.
    pub(super) fn changed(&self, how: impl FnOnce(&mut Changes)) -> Result<Self, Refusal> {
        let mut changes = self.changes.clone();
        how(&mut changes);
        if changes.servers.len() > MOST || changes.profiles.len() > MOST {
            return Err(Refusal::request(format!("more than {MOST} servers or profiles cannot be kept")));
        }
        Self::new(self.base.clone(), changes)
    }
}

impl Changes {
    /// Reads what was kept.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|e| e.to_string())
    }

    /// As it is kept.
    ///
    /// # Errors
    /// When it is too much.
    pub(crate) fn text(&self) -> Result<String, Refusal> {
        let text = serde_json::to_string(self).map_err(|e| Refusal::internal(e.to_string()))?;
        if text.len() > LONGEST {
            return Err(Refusal::request(format!("what is changed has more than {LONGEST} bytes")));
        }
        Ok(text)
    }

    /// What a configuration becomes.
    fn over(&self, base: &Config) -> Result<Config, Refusal> {
        let mut config = base.clone();
        let default_has_all = config.default_has_all();
        let mut written = Map::new();
        for (name, change) in &self.servers {
            match change {
                // It only said more about a server of the file, which is gone.
                Some(server) if !says_link(server) && !config.mcp_servers.contains_key(name) => {}
                Some(server) => drop(written.insert(name.clone(), literal(&Value::Object(server.clone())))),
                None => drop(config.mcp_servers.shift_remove(name)),
            }
        }
        let known = config.mcp_servers.clone();
        for profile in config.profiles.values_mut() {
            profile.servers.retain(|name| known.contains_key(name));
        }
        if default_has_all && let Some(default) = config.profiles.get_mut(engine::config::DEFAULT_PROFILE) {
            default.servers = known.keys().cloned().collect();
        }
        if !written.is_empty() {
            let text = json!({ "mcpServers": written }).to_string();
            // What comes in this way means what it says, and nothing of this machine.
            let nothing = Lookup { env: &|_| None, file: &|_| Err("no files are read here".to_owned()) };
            let loaded = load_over(config, &text, "what was changed", &nothing);
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
    /// A profile of a configuration as it would have been made here.
    pub(super) fn of(profile: &Profile) -> Self {
        let servers = profile.servers.iter();
        Self {
            name: profile.title.as_ref().map(|title| title.expose().to_owned()),
            description: None,
            servers: servers.map(|server| Member { server: server.clone(), active: true }).collect(),
            tools: BTreeMap::new(),
        }
    }

    /// What was not changed stays as the configuration has it; servers that are gone are left out.
    fn apply(&self, slug: &str, config: &mut Config) {
        let mut profile = config.profiles.get(slug).cloned().unwrap_or_default();
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

/// The same where nothing stands for something else: `${` is written `$${` in a configuration.
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
