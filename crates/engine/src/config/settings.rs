//! Settings of single tools of a profile, made while serving. It must not know how it is kept.

use bytes::Bytes;
use indexmap::IndexMap;

/// The settings of one tool.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolSetting {
    /// It is not shown.
    pub disabled: bool,
    /// The name under which it is shown; the profile's rules say it when there is none.
    pub name: Option<String>,
    /// The description in place of the server's.
    pub description: Option<String>,
    /// The schema of its arguments instead of its server's, a JSON object: what is shown, and what calls are held against.
    pub input_schema: Option<Bytes>,
}

/// Settings by server, and by the name that the server itself gives the tool.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolSettings(pub IndexMap<String, IndexMap<String, ToolSetting>>);

impl ToolSettings {
    /// The settings of a tool.
    pub fn of(&self, server: &str, tool: &str) -> Option<&ToolSetting> {
        self.0.get(server)?.get(tool)
    }

    /// Is anything set for tools of this server?
    pub fn concern(&self, server: &str) -> bool {
        self.0.get(server).is_some_and(|tools| !tools.is_empty())
    }
}
