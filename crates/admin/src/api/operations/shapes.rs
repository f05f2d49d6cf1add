//! The types that describe, in the `OpenAPI` document, the forms of requests, and of answers that `changes` and
//! `definitions` build as JSON. This module must not know how a value is built or read.

#![expect(dead_code, reason = "most of these types are read by the generator of schemas only")]

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

/// All servers.
#[derive(JsonSchema)]
pub(super) struct ServerForms {
    servers: Vec<ServerForm>,
}

/// A server.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(super) struct ServerForm {
    id: String,
    name: String,
    #[schemars(rename = "type")]
    kind: ServerType,
    /// The address or the command of the server. Secrets are shown as `***`.
    config: Map<String, Value>,
    description: Option<String>,
    is_active: bool,
    /// Other keys of the configuration that were set over the API, such as `timeout`. Secrets are shown as `***`.
    #[schemars(skip_serializing_if = "Option::is_none")]
    settings: Option<Map<String, Value>>,
    source: ServerSource,
}

/// The type of a server.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
enum ServerType {
    RemoteHttp,
    RemoteSse,
    External,
    Builtin,
}

/// The place where a server is defined.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
enum ServerSource {
    Api,
    File,
}

/// A server to be added.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(super) struct NewServer {
    /// The name, from which the id is derived.
    name: String,
    #[schemars(rename = "type")]
    kind: ServerType,
    /// The keys of the configuration: `url` and `headers`; or `command`, `args`, `cwd` and `env`; or `native`.
    config: Option<Map<String, Value>>,
    description: Option<String>,
    api_key: Option<HeaderKey>,
    is_active: Option<bool>,
    /// Other keys of the configuration, such as `timeout`.
    settings: Option<Map<String, Value>>,
}

/// The changes to a server; omitted fields stay unchanged.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(super) struct ChangedServer {
    #[schemars(rename = "type")]
    kind: Option<ServerType>,
    config: Option<Map<String, Value>>,
    description: Option<String>,
    api_key: Option<HeaderKey>,
    is_active: Option<bool>,
    /// Other keys of the configuration, such as `timeout`; they apply on top of the file. They replace those that were sent before: the
    /// file or the default applies again to a key that is missing.
    settings: Option<Map<String, Value>>,
}

/// An API key that is sent to a server.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(super) struct HeaderKey {
    key: String,
    /// The header; `Authorization` if omitted.
    header_name: Option<String>,
    /// The text before the key; `Bearer` if omitted.
    prefix: Option<String>,
}

/// All profiles.
#[derive(JsonSchema)]
pub(super) struct ProfileForms {
    profiles: Vec<ProfileForm>,
}

/// A profile.
#[derive(JsonSchema)]
pub(super) struct ProfileForm {
    id: String,
    slug: String,
    name: Option<String>,
    description: Option<String>,
    servers: Vec<ProfileMember>,
    /// The path at which clients connect.
    endpoint: String,
}

/// The servers of a profile, in order.
#[derive(JsonSchema)]
pub(super) struct ProfileMembers {
    servers: Vec<ProfileMember>,
}

/// A server of a profile.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
struct ProfileMember {
    mcp_server_id: String,
    order: usize,
    is_active: bool,
}

/// A profile to be added.
#[derive(JsonSchema)]
pub(super) struct NewProfile {
    /// 3 to 50 characters from `a-z 0-9 -`, starting with a letter.
    slug: String,
    name: Option<String>,
    description: Option<String>,
    /// The ids of servers.
    servers: Option<Vec<String>>,
}

/// The changes to a profile; omitted fields stay unchanged.
#[derive(JsonSchema)]
pub(super) struct ChangedProfile {
    slug: Option<String>,
    name: Option<String>,
    description: Option<String>,
}

/// A server to be added to a profile.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(super) struct NewMember {
    mcp_server_id: String,
    order: Option<usize>,
    is_active: Option<bool>,
}

/// The changes to a server in a profile; omitted fields stay unchanged.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(super) struct ChangedMember {
    order: Option<usize>,
    is_active: Option<bool>,
}

/// The tools of a server in a profile.
#[derive(JsonSchema)]
pub(super) struct ProfileTools {
    tools: Vec<ProfileTool>,
}

/// A tool with its settings in a profile.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
struct ProfileTool {
    tool_name: String,
    is_enabled: bool,
    custom_name: Option<String>,
    custom_description: Option<String>,
    custom_input_schema: Option<Map<String, Value>>,
    /// The server's own description; `null` if the server does not list the tool.
    description: Option<String>,
    input_schema: Option<Value>,
    tokens: Option<u64>,
}

/// Settings of tools.
#[derive(JsonSchema)]
pub(super) struct ToolSettings {
    tools: Vec<ToolSetting>,
}

/// The settings of a tool; for omitted fields, the server's own values apply.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
struct ToolSetting {
    tool_name: String,
    is_enabled: Option<bool>,
    custom_name: Option<String>,
    custom_description: Option<String>,
    custom_input_schema: Option<Map<String, Value>>,
}

/// The servers with tools that await approval.
#[derive(JsonSchema)]
pub(super) struct ChangedServers {
    servers: Vec<ChangedDefinitions>,
}

/// A server with tools that await approval.
#[derive(JsonSchema)]
struct ChangedDefinitions {
    id: String,
    policy: String,
    changed: usize,
    new: usize,
    vanished: usize,
}

/// The changes to a server's tools that await approval.
#[derive(JsonSchema)]
pub(super) struct DefinitionReview {
    id: String,
    policy: String,
    /// The revision of this review: a text that is different once a reviewed definition has changed again.
    revision: String,
    tools: Vec<ChangedTool>,
}

/// A change to one tool.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
struct ChangedTool {
    tool: String,
    /// `changed`, `new` or `vanished`.
    state: String,
    /// The parts of the definition that changed.
    changes: Vec<String>,
    fingerprint: String,
    first_seen_ms: u64,
    /// The time at which the server stopped listing a vanished tool; `null` if it is not known.
    vanished_ms: Option<u64>,
    /// The differences as lines of text.
    diff: Vec<String>,
    /// The approved definition as JSON text, if whole definitions were asked for.
    #[schemars(skip_serializing_if = "Option::is_none")]
    before: Option<String>,
    /// The new definition as JSON text, if whole definitions were asked for.
    #[schemars(skip_serializing_if = "Option::is_none")]
    after: Option<String>,
}

/// The tools to approve: those in `tools`, or all of them.
#[derive(Deserialize, JsonSchema)]
pub(super) struct WantedApproval {
    pub(super) tools: Option<Vec<String>>,
    pub(super) all: Option<bool>,
    /// Approves only if nothing has changed since the review with this revision.
    pub(super) revision: Option<String>,
}

/// The approved tools.
#[derive(JsonSchema)]
pub(super) struct Approved {
    id: String,
    approved: Vec<String>,
}
