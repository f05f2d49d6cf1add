//! Settings of individual tools in a profile, made at run time. This module must not know how they are stored.

use bytes::Bytes;
use indexmap::IndexMap;

/// The settings of one tool.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolSetting {
    /// True if the tool is not shown.
    pub disabled: bool,
    /// The name under which the tool is shown; if there is none, the profile's rules determine the name.
    pub name: Option<String>,
    /// The description that replaces the server's.
    pub description: Option<String>,
    /// The input schema that replaces the server's, a JSON object. It is shown to clients, and calls are checked against
    /// it.
    pub input_schema: Option<Bytes>,
}

/// Settings by server, and by the server's own name of the tool.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
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
}
