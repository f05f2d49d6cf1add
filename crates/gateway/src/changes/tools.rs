//! Tools of a server in a profile: their visibility, names and descriptions.

use bytes::Bytes;
use config::ToolSetting;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

use super::Refusal;
use super::profiles::{change_of, members_of};
use super::standing::{ProfileChange, Standing};

/// The maximum number of tools whose settings one request can change.
const MOST: usize = 1000;

/// The settings of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Setting {
    #[serde(default = "yes")]
    is_enabled: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    custom_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    custom_description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    custom_input_schema: Option<Map<String, Value>>,
}

fn yes() -> bool {
    true
}

/// A setting together with the tool's name.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NamedSetting {
    tool_name: String,
    #[serde(flatten)]
    setting: SettingFields,
}

/// A setting as the request contains it; a missing field and `null` mean the same.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SettingFields {
    is_enabled: Option<bool>,
    custom_name: Option<String>,
    custom_description: Option<String>,
    custom_input_schema: Option<Map<String, Value>>,
}

/// A tool as its server lists it.
pub struct ListedTool {
    /// The server's own name for the tool.
    pub name: String,
    /// The description for models.
    pub description: Option<String>,
    /// The schema of the arguments.
    pub input_schema: Option<Value>,
    /// The estimated number of tokens in the tool's definition.
    pub tokens: u64,
}

impl Setting {
    pub(super) fn compiled(&self) -> ToolSetting {
        let schema = self.custom_input_schema.as_ref().and_then(|schema| serde_json::to_vec(schema).ok());
        ToolSetting {
            disabled: !self.is_enabled,
            name: self.custom_name.clone(),
            description: self.custom_description.clone(),
            input_schema: schema.map(Bytes::from),
            ..ToolSetting::default()
        }
    }

    /// Returns true if the setting leaves the server's tool unchanged.
    fn says_nothing(&self) -> bool {
        self.is_enabled
            && self.custom_name.is_none()
            && self.custom_description.is_none()
            && self.custom_input_schema.is_none()
    }
}

/// Returns the tools of a server in a profile: the server's list combined with the profile's settings.
pub fn profile_tools(
    standing: &Standing,
    slug: &str,
    server: &str,
    known: &[ListedTool],
) -> Result<Value, Refusal> {
    let change = change_of(standing, slug)?;
    members_of(&change, slug, server)?;
    let none = BTreeMap::new();
    let set = change.tools.get(server).unwrap_or(&none);
    let listed = known.iter().map(|tool| shown(&tool.name, set.get(&tool.name), Some(tool)));
    // Settings remain listed even if their tool, or its server, is currently missing.
    let missing = set.iter().filter(|(name, _)| !known.iter().any(|tool| tool.name == **name));
    let all: Vec<Value> = listed.chain(missing.map(|(name, set)| shown(name, Some(set), None))).collect();
    Ok(json!({ "tools": all }))
}

fn shown(name: &str, set: Option<&Setting>, tool: Option<&ListedTool>) -> Value {
    json!({
        "toolName": name,
        "isEnabled": set.is_none_or(|set| set.is_enabled),
        "customName": set.and_then(|set| set.custom_name.as_deref()),
        "customDescription": set.and_then(|set| set.custom_description.as_deref()),
        "customInputSchema": set.and_then(|set| set.custom_input_schema.as_ref()),
        "description": tool.and_then(|tool| tool.description.as_deref()),
        "inputSchema": tool.and_then(|tool| tool.input_schema.as_ref()),
        "tokens": tool.map(|tool| tool.tokens),
    })
}

/// Changes the settings of a server's tools in a profile; tools that are not named stay unchanged.
pub fn set_profile_tools(
    standing: &Standing,
    slug: &str,
    server: &str,
    body: &Value,
) -> Result<Standing, Refusal> {
    let mut change = change_of(standing, slug)?;
    members_of(&change, slug, server)?;
    let list = body.get("tools").unwrap_or(body);
    let named: Vec<NamedSetting> = serde_json::from_value(list.clone()).map_err(|e| {
        Refusal::request(format!("send a list of {{\"toolName\", \"isEnabled\", \"customName\", …}}: {e}"))
    })?;
    if named.len() > MOST {
        return Err(Refusal::request(format!("at most {MOST} tools can be changed at once")));
    }
    let set = change.tools.entry(server.to_owned()).or_default();
    for NamedSetting { tool_name, setting } in named {
        let setting = sound(&tool_name, setting)?;
        if setting.says_nothing() {
            set.remove(&tool_name);
        } else {
            set.insert(tool_name, setting);
        }
    }
    if set.len() > MOST {
        return Err(Refusal::request(format!("at most {MOST} tools of one server can have settings")));
    }
    refuse_same_names(&change)?;
    standing.changed(|changes| drop(changes.profiles.insert(slug.to_owned(), Some(change))))
}

fn sound(tool: &str, sent: SettingFields) -> Result<Setting, Refusal> {
    if tool.is_empty() {
        return Err(Refusal::request("`toolName` is empty"));
    }
    let custom_name = sent.custom_name.filter(|name| !name.is_empty() && name != tool);
    if let Some(name) = &custom_name {
        let is_plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-' | '.' | '/');
        let most = config::MAX_PUBLIC_NAME;
        if name.chars().count() > most || !name.chars().all(is_plain) {
            return Err(Refusal::request(format!(
                "{name:?}: a tool name must have 1 to {most} of the characters A-Z a-z 0-9 _ - . /"
            )));
        }
    }
    if let Some(schema) = &sent.custom_input_schema
        && schema.get("type").is_none_or(|kind| kind != "object")
    {
        return Err(Refusal::request(format!("{tool:?}: an input schema must have \"type\": \"object\"")));
    }
    Ok(Setting {
        is_enabled: sent.is_enabled.unwrap_or(true),
        custom_name,
        custom_description: sent.custom_description,
        custom_input_schema: sent.custom_input_schema,
    })
}

/// Refuses two tools with the same name in a profile: a call could not distinguish them.
fn refuse_same_names(change: &ProfileChange) -> Result<(), Refusal> {
    let mut taken = std::collections::HashSet::new();
    for set in change.tools.values().flat_map(|tools| tools.values()).filter(|set| set.is_enabled) {
        if let Some(name) = &set.custom_name
            && !taken.insert(name)
        {
            return Err(Refusal::request(format!("two tools of this profile would be named {name:?}")));
        }
    }
    Ok(())
}
