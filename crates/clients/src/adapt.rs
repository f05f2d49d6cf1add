//! Converts the entries of each client: its keys, values and units become those that Dragoman reads. This module
//! must not know where an entry comes from, or what happens to it.

use serde_json::{Map, Value};

use crate::foreign_entry::ForeignEntry;
use crate::variables;

/// Converts an entry into one that Dragoman reads. The error is the reason why the server cannot be imported.
pub(crate) type EntryConverter = fn(&mut ForeignEntry<'_>) -> Result<(), String>;

/// Keys without a meaning for Dragoman. They concern only the client's own user interface.
const IGNORED: &[&str] = &[
    "alwaysAllow",
    "alwaysLoad",
    "autoApprove",
    "autoStart",
    "description",
    "dev",
    "gallery",
    "icon",
    "iconUrl",
    "id",
    "isActive",
    "label",
    "metadata",
    "name",
    "provider",
    "scope",
    "source",
    "tags",
    "title",
    "trust",
    "version",
    "watchPaths",
];

/// Entries in the form of Claude Desktop, which most clients use.
pub(crate) fn common(entry: &mut ForeignEntry<'_>) -> Result<(), String> {
    for key in IGNORED {
        entry.members.shift_remove(*key);
    }
    if let Some(kind) = entry.text("type") {
        match kind.as_str() {
            "stdio" => drop(entry.members.shift_remove("type")),
            "streamableHttp" | "streamable_http" | "streamable-http" => entry.put("type", "http".into()),
            "http" | "sse" => {}
            "ws" | "websocket" => return Err("it uses WebSockets, which MCP does not define".to_owned()),
            other => return Err(format!("Dragoman does not support its type {other:?}")),
        }
    }
    if let Some(Value::Object(headers)) = entry.members.get_mut("headers") {
        headers.retain(|name, _| !config::is_protocol_header(name));
    }
    entry.note_if("envFile", "it read variables from envFile; write them under `env`");
    entry.note_if("headersHelper", "it got its headers from a program; write a token under `headers`");
    entry.note_if("auth", "it had settings for OAuth; write oauth: { clientId: … }");
    entry.note_if("authProviderType", "it got its token from a provider; write it under `headers`");
    for key in ["sandbox", "sandboxEnabled"] {
        if entry.members.get(key).is_some_and(|value| *value != Value::Bool(false)) {
            entry.note_if(key, "it ran in a sandbox, and Dragoman starts it without one");
        }
    }
    if !["command", "url", "serverUrl", "httpUrl"].iter().any(|key| entry.members.contains_key(*key)) {
        return Err("it has no command and no URL".to_owned());
    }
    variables::resolve(entry)
}

/// Gemini CLI: `url` means HTTP+SSE, times are milliseconds, and `$NAME` is a variable.
pub(crate) fn gemini(entry: &mut ForeignEntry<'_>) -> Result<(), String> {
    if entry.members.contains_key("url") && !entry.members.contains_key("type") {
        entry.put("type", "sse".into());
    }
    entry.milliseconds("timeout");
    let name = entry.name;
    let listed = |key: &str| {
        let names = entry.document.get("mcp").and_then(|rules| rules.get(key)).and_then(Value::as_array);
        names.map(|names| names.iter().any(|one| one == name))
    };
    if listed("excluded") == Some(true) || listed("allowed") == Some(false) {
        entry.put("disabled", true.into());
    }
    for value in entry.members.values_mut() {
        variables::brace_plain(value);
    }
    common(entry)
}

/// Codex: its own keys for headers and variables, and times in seconds.
pub(crate) fn codex(entry: &mut ForeignEntry<'_>) -> Result<(), String> {
    let mut headers = take_map(entry, "http_headers");
    for (header, variable) in take_map(entry, "env_http_headers") {
        headers.insert(header, format!("${{{}}}", variable.as_str().unwrap_or_default()).into());
    }
    if let Some(variable) = entry.take_text("bearer_token_env_var") {
        headers.insert("Authorization".to_owned(), format!("Bearer ${{{variable}}}").into());
    }
    if !headers.is_empty() {
        entry.put("headers", headers.into());
    }
    pass_variables(entry, "env_vars");
    if let Some(timeout) = entry.members.shift_remove("tool_timeout_sec") {
        entry.put("timeout", timeout);
    }
    for key in
        ["startup_timeout_sec", "startup_timeout_ms", "required", "default_tools_approval_mode", "tools"]
    {
        entry.members.shift_remove(key);
    }
    entry.note_if("oauth", "it had settings for OAuth; write oauth: { clientId: … }");
    common(entry)
}

/// Goose: its own keys for everything; extensions inside Goose are not servers.
pub(crate) fn goose(entry: &mut ForeignEntry<'_>) -> Result<(), String> {
    let kind = entry.take_text("type").unwrap_or_default();
    match kind.as_str() {
        "stdio" => {}
        "sse" => entry.put("type", "sse".into()),
        "streamable_http" => entry.put("type", "http".into()),
        other => return Err(format!("it is part of Goose ({other:?}), not a server")),
    }
    for (theirs, ours) in
        [("cmd", "command"), ("envs", "env"), ("uri", "url"), ("available_tools", "includeTools")]
    {
        if let Some(value) = entry.members.shift_remove(theirs) {
            // An empty list of tools means all of them.
            if theirs != "available_tools" || value.as_array().is_some_and(|tools| !tools.is_empty()) {
                entry.put(ours, value);
            }
        }
    }
    pass_variables(entry, "env_keys");
    for key in ["bundled", "display_name", "socket"] {
        entry.members.shift_remove(key);
    }
    common(entry)
}

/// Zed: an older form of the command, and servers that are extensions.
pub(crate) fn zed(entry: &mut ForeignEntry<'_>) -> Result<(), String> {
    if let Some(Value::Object(mut command)) = entry.members.get("command").cloned() {
        entry.members.shift_remove("command");
        for (theirs, ours) in [("path", "command"), ("args", "args"), ("env", "env")] {
            if let Some(value) = command.shift_remove(theirs).filter(|value| !value.is_null()) {
                entry.put(ours, value);
            }
        }
    }
    let has_settings = entry.members.shift_remove("settings").is_some();
    let is_reachable = entry.members.contains_key("command") || entry.members.contains_key("url");
    if entry.text("source").as_deref() == Some("extension") || (has_settings && !is_reachable) {
        return Err("it is installed as an extension of Zed, so its command is not in the file".to_owned());
    }
    common(entry)
}

fn take_map(entry: &mut ForeignEntry<'_>, key: &str) -> Map<String, Value> {
    match entry.members.shift_remove(key) {
        Some(Value::Object(map)) => map,
        _ => Map::new(),
    }
}

/// Adds variables that the client passes on under their own names.
fn pass_variables(entry: &mut ForeignEntry<'_>, key: &str) {
    let Some(Value::Array(names)) = entry.members.shift_remove(key) else { return };
    let mut env = take_map(entry, "env");
    for name in names.iter().filter_map(Value::as_str) {
        env.entry(name).or_insert_with(|| format!("${{{name}}}").into());
    }
    if !env.is_empty() {
        entry.put("env", env.into());
    }
}
