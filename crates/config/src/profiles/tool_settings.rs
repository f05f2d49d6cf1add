//! A profile's changes to individual tools, from its configuration and from settings made at run time. This module must not
//! know how the settings are stored.

use std::time::Duration;

use bytes::Bytes;
use indexmap::IndexMap;

use super::overrides::{PromptOverride, ToolOverride};
use super::server_info::Icon;
use crate::callers::access::AnnotationHint;
use crate::values::text::Text;

/// The changes to one argument of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ArgumentSetting {
    /// The value that every call gets, JSON text; it may be a secret.
    pub value: Option<Text>,
    /// True if clients neither see the argument nor set it.
    pub hidden: bool,
    /// The description that replaces the server's.
    pub description: Option<String>,
}

/// The changes to one tool or prompt. A prompt uses only some of the fields.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolSetting {
    /// True if the tool is not shown.
    pub disabled: bool,
    /// The name under which the tool is shown; `None` if the profile's rules determine the name.
    pub name: Option<String>,
    /// The title that replaces the server's.
    pub title: Option<String>,
    /// The description that replaces the server's.
    pub description: Option<String>,
    /// The icons that replace the server's.
    pub icons: Vec<Icon>,
    /// The hints that clients see instead of the server's. Access rules do not use these hints.
    pub annotations: Vec<(AnnotationHint, bool)>,
    /// The changes to arguments, by name.
    pub arguments: IndexMap<String, ArgumentSetting>,
    /// The input schema that replaces the server's, a JSON object. Clients see this schema, and calls are checked against it.
    pub input_schema: Option<Bytes>,
    /// The maximum total time of a call.
    pub timeout: Option<Duration>,
    /// The maximum number of calls that run at the same time.
    pub at_once: Option<usize>,
    /// The time for which results are kept.
    pub keep_for: Option<Duration>,
}

impl ToolSetting {
    /// The changes that a configuration describes.
    fn of(written: &ToolOverride) -> Self {
        let text = |text: &Option<Text>| text.as_ref().map(|text| text.expose().to_owned());
        let arguments = written.arguments.iter().map(|(name, own)| {
            let (value, description) = (own.value.clone(), text(&own.description));
            let hidden = own.hidden || value.is_some();
            (name.clone(), ArgumentSetting { value, hidden, description })
        });
        Self {
            name: written.name.clone(),
            title: text(&written.title),
            description: text(&written.description),
            icons: written.icons.clone(),
            annotations: written.annotations.iter().map(|(hint, value)| (*hint, *value)).collect(),
            arguments: arguments.collect(),
            timeout: written.timeout,
            at_once: written.at_once,
            keep_for: written.cache.as_ref().map(|cache| cache.keep_for),
            ..Self::default()
        }
    }

    /// The changes to a prompt that a configuration describes.
    fn of_prompt(written: &PromptOverride) -> Self {
        let text = |text: &Option<Text>| text.as_ref().map(|text| text.expose().to_owned());
        let (title, description) = (text(&written.title), text(&written.description));
        Self { title, description, icons: written.icons.clone(), ..Self::default() }
    }

    /// Applies a setting made at run time, which takes precedence over the configuration.
    fn overridden_by(self, set: Self) -> Self {
        Self {
            disabled: set.disabled,
            name: set.name.or(self.name),
            description: set.description.or(self.description),
            input_schema: set.input_schema.or(self.input_schema),
            ..self
        }
    }
}

/// Settings by server, and by the server's own name for the tool.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolSettings(pub IndexMap<String, IndexMap<String, ToolSetting>>);

impl ToolSettings {
    /// The settings of a tool.
    pub fn of(&self, server: &str, tool: &str) -> Option<&ToolSetting> {
        self.0.get(server)?.get(tool)
    }

    /// Returns true if there are settings for tools of this server.
    pub fn concern(&self, server: &str) -> bool {
        self.0.get(server).is_some_and(|tools| !tools.is_empty())
    }

    /// Adds the changes that a profile's configuration describes, by `server__tool`. Keys that do not begin with the name of one of
    /// these servers are ignored.
    pub fn add(&mut self, servers: &[String], written: &IndexMap<String, ToolOverride>) {
        self.add_all(servers, written.iter().map(|(identity, change)| (identity, ToolSetting::of(change))));
    }

    /// Adds the changes to prompts that a profile's configuration describes, by `server__prompt`.
    pub fn add_prompts(&mut self, servers: &[String], written: &IndexMap<String, PromptOverride>) {
        let settings = written.iter().map(|(identity, change)| (identity, ToolSetting::of_prompt(change)));
        self.add_all(servers, settings);
    }

    fn add_all<'w>(&mut self, servers: &[String], settings: impl Iterator<Item = (&'w String, ToolSetting)>) {
        for (identity, setting) in settings {
            let own = |server: &String| identity.strip_prefix(&**server)?.strip_prefix("__");
            // A server's name may be the beginning of another one's.
            let mut parts: Vec<(&String, &str)> =
                servers.iter().filter_map(|server| Some((server, own(server)?))).collect();
            parts.sort_by_key(|(server, _)| std::cmp::Reverse(server.len()));
            let Some((server, tool)) = parts.first() else { continue };
            let tools = self.0.entry((*server).clone()).or_default();
            let setting = match tools.shift_remove(*tool) {
                Some(set) => setting.overridden_by(set),
                None => setting,
            };
            tools.insert((*tool).to_owned(), setting);
        }
    }
}
