//! Changes to servers.

use config::DEFAULT_PROFILE;
use serde_json::{Map, Value, json};

use super::server_form::{PreviousServer, add_key, says_link, shown, written};
use super::standing::Standing;
use super::{Refusal, names, server_settings};

/// Returns all servers in the form that the API shows.
pub fn servers(standing: &Standing) -> Value {
    let all: Vec<Value> = standing.config.mcp_servers.keys().filter_map(|id| one(standing, id)).collect();
    json!({ "servers": all })
}

/// Returns one server in the form that the API shows.
pub fn server(standing: &Standing, id: &str) -> Result<Value, Refusal> {
    one(standing, id).ok_or_else(|| Refusal::no_server(id))
}

fn one(standing: &Standing, id: &str) -> Option<Value> {
    let entry = kept(standing, id);
    let mut value = shown(id, standing.config.mcp_servers.get(id)?, entry.is_some_and(says_link));
    if let Some(entry) = entry.filter(|entry| server_settings::of_entry(entry).next().is_some()) {
        let in_force = &standing.config.shown()["mcpServers"][id];
        value["settings"] = server_settings::shown(entry, in_force).into();
    }
    Some(value)
}

/// Returns a server's entry among the changes.
fn kept<'s>(standing: &'s Standing, id: &str) -> Option<&'s Map<String, Value>> {
    standing.changes.servers.get(id)?.as_ref()
}

/// Adds a server. Returns the server's id, and the resulting state.
pub fn add_server(standing: &Standing, body: &Value) -> Result<(String, Standing), Refusal> {
    let name = body.get("name").and_then(Value::as_str);
    let Some(name) = name else { return Err(Refusal::config("`name` is missing")) };
    let server = written(body, None)?;
    let id = names::new_id(name, |id| standing.config.mcp_servers.contains_key(id))?;
    let then = standing.changed(|changes| drop(changes.servers.insert(id.clone(), Some(server))))?;
    check_settings(&then, &id)?;
    Ok((id, then))
}

/// Replaces a server. Fields that are missing, or equal to the values that the API shows, stay unchanged.
pub fn change_server(standing: &Standing, id: &str, body: &Value) -> Result<Standing, Refusal> {
    let shown = server(standing, id)?;
    let link = &standing.config.mcp_servers[id].link;
    let server = written(body, Some(&PreviousServer { shown: &shown, entry: kept(standing, id), link }))?;
    let then = standing.changed(|changes| drop(changes.servers.insert(id.to_owned(), Some(server))))?;
    check_settings(&then, id)?;
    Ok(then)
}

/// Refuses settings that no server has. A configuration ignores them with a note, because other programs' entries have keys of their own.
fn check_settings(then: &Standing, id: &str) -> Result<(), Refusal> {
    let Some(entry) = kept(then, id).filter(|entry| server_settings::of_entry(entry).next().is_some()) else {
        return Ok(());
    };
    let in_force = &then.config.shown()["mcpServers"][id];
    match server_settings::of_entry(entry).find(|(key, _)| in_force.get(key).is_none()) {
        Some((key, _)) => Err(Refusal::config(format!("`settings` has no key {key:?}"))),
        None => Ok(()),
    }
}

/// Sets a server's API key.
pub fn set_api_key(standing: &Standing, id: &str, key: &Value) -> Result<Standing, Refusal> {
    server(standing, id)?;
    let mut server = kept(standing, id).cloned().unwrap_or_default();
    add_key(&mut server, key)?;
    standing.changed(|changes| drop(changes.servers.insert(id.to_owned(), Some(server))))
}

/// Removes a server that no profile lists.
pub fn remove_server(standing: &Standing, id: &str) -> Result<Standing, Refusal> {
    server(standing, id)?;
    // A default profile that contains all servers does not list them explicitly.
    let nobody_chose = standing.config.default_has_all();
    let names = |slug: &str| match standing.changes.profiles.get(slug) {
        Some(Some(change)) => change.servers.iter().any(|member| member.server == id),
        _ => standing.config.profiles[slug].servers.iter().any(|name| name == id),
    };
    let slugs = standing.config.profiles.keys().map(String::as_str);
    let using: Vec<&str> =
        slugs.filter(|slug| !(nobody_chose && *slug == DEFAULT_PROFILE)).filter(|slug| names(slug)).collect();
    if !using.is_empty() {
        return Err(Refusal::in_use(id, &using));
    }
    standing.changed(|changes| {
        if standing.base.mcp_servers.contains_key(id) {
            changes.servers.insert(id.to_owned(), None);
        } else {
            changes.servers.remove(id);
        }
    })
}
