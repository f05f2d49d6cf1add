//! Changes to profiles and to their servers. A profile's id is its slug.

use config::{Config, DEFAULT_PROFILE, Profile};
use serde_json::{Value, json};

use super::Refusal;
use super::names::check_slug;
use super::standing::{Member, ProfileChange, Standing};

/// The maximum length of a name or description, in bytes.
const LONGEST: usize = 4096;

/// Returns all profiles in the form that the API shows.
pub fn profiles(standing: &Standing) -> Value {
    let all: Vec<Value> =
        standing.config.profiles.keys().filter_map(|slug| profile(standing, slug).ok()).collect();
    json!({ "profiles": all })
}

/// Returns one profile in the form that the API shows.
pub fn profile(standing: &Standing, slug: &str) -> Result<Value, Refusal> {
    let change = change_of(standing, slug)?;
    Ok(json!({
        "id": slug,
        "slug": slug,
        "name": change.name,
        "description": change.description,
        "servers": members(standing, &change),
        "endpoint": format!("/mcp/{slug}"),
    }))
}

/// Returns the servers of a profile in order, in the form that the API shows.
pub fn profile_servers(standing: &Standing, slug: &str) -> Result<Value, Refusal> {
    let change = change_of(standing, slug)?;
    Ok(json!({ "servers": members(standing, &change) }))
}

fn members(standing: &Standing, change: &ProfileChange) -> Vec<Value> {
    let there =
        change.servers.iter().filter(|member| standing.config.mcp_servers.contains_key(&member.server));
    let shown = |(order, member): (usize, &Member)| json!({ "mcpServerId": member.server, "order": order, "isActive": member.active });
    there.enumerate().map(shown).collect()
}

/// Returns the stored changes to a profile, or the changes that would produce the profile.
pub(super) fn change_of(standing: &Standing, slug: &str) -> Result<ProfileChange, Refusal> {
    let known: &Profile = standing.config.profiles.get(slug).ok_or_else(|| Refusal::no_profile(slug))?;
    let change = standing.changes.profiles.get(slug).cloned().flatten();
    Ok(change.unwrap_or_else(|| ProfileChange::of(known)))
}

/// Returns the index of a server among the servers of a profile.
pub(super) fn members_of(change: &ProfileChange, slug: &str, server: &str) -> Result<usize, Refusal> {
    let at = change.servers.iter().position(|member| member.server == server);
    at.ok_or_else(|| Refusal::not_in_profile(server, slug))
}

/// Adds a profile. Returns the profile's slug, and the resulting state.
pub fn add_profile(standing: &Standing, body: &Value) -> Result<(String, Standing), Refusal> {
    let slug = match (text(body, "slug")?, text(body, "name")?) {
        (Some(slug), _) | (None, Some(slug)) => slug.to_owned(),
        (None, None) => return Err(Refusal::slug("`slug` is missing")),
    };
    check_slug(&slug)?;
    if standing.config.profiles.contains_key(&slug) {
        return Err(Refusal::slug_exists(&slug));
    }
    let mut change = ProfileChange::default();
    describe(&mut change, body)?;
    if let Some(servers) = body.get("servers").filter(|servers| !servers.is_null()) {
        let list =
            servers.as_array().ok_or_else(|| Refusal::request("`servers` must be a list of server ids"))?;
        for server in list {
            let id = server.as_str().or_else(|| server.get("mcpServerId").and_then(Value::as_str));
            join(standing, &slug, &mut change, id.unwrap_or_default(), None)?;
        }
    }
    let then = standing.changed(|changes| drop(changes.profiles.insert(slug.clone(), Some(change))))?;
    Ok((slug, then))
}

/// Adds a profile with the servers, rules and settings of another one. Returns the profile's slug, and the resulting state.
pub fn clone_profile(
    standing: &Standing,
    from: &str,
    slug: &str,
    title: Option<String>,
) -> Result<(String, Standing), Refusal> {
    let mut change = change_of(standing, from)?;
    check_slug(slug)?;
    if standing.config.profiles.contains_key(slug) {
        return Err(Refusal::slug_exists(slug));
    }
    // A clone of a clone has the rules of the profile in the file.
    change.from = change.from.or_else(|| Some(from.to_owned()));
    change.name = title.or(change.name);
    let then = standing.changed(|changes| drop(changes.profiles.insert(slug.to_owned(), Some(change))))?;
    Ok((slug.to_owned(), then))
}

/// Changes a profile's name, description or slug. Returns the profile's slug, and the resulting state.
pub fn change_profile(standing: &Standing, slug: &str, body: &Value) -> Result<(String, Standing), Refusal> {
    let mut change = change_of(standing, slug)?;
    describe(&mut change, body)?;
    let new = text(body, "slug")?.unwrap_or(slug).to_owned();
    if new == slug {
        let then = standing.changed(|changes| drop(changes.profiles.insert(new.clone(), Some(change))))?;
        return Ok((new, then));
    }
    check_slug(&new)?;
    if standing.config.profiles.contains_key(&new) {
        return Err(Refusal::slug_exists(&new));
    }
    refuse_named(&standing.base, slug)?;
    // Other settings of the profile in the file, such as the rules for who may call which tool, would still name the
    // old slug.
    if standing.base.profiles.contains_key(slug) {
        return Err(Refusal::profile_in_use(format!(
            "the profile {slug:?} is defined in the configuration file, whose rules use this slug; change \
             the slug there"
        )));
    }
    let then = standing.changed(|changes| {
        changes.profiles.remove(slug);
        changes.profiles.insert(new.clone(), Some(change));
    })?;
    Ok((new, then))
}

/// Removes a profile.
pub fn remove_profile(standing: &Standing, slug: &str) -> Result<Standing, Refusal> {
    change_of(standing, slug)?;
    refuse_named(&standing.base, slug)?;
    standing.changed(|changes| forget(standing, changes, slug))
}

fn forget(standing: &Standing, changes: &mut super::Changes, slug: &str) {
    if standing.base.profiles.contains_key(slug) {
        changes.profiles.insert(slug.to_owned(), None);
    } else {
        changes.profiles.remove(slug);
    }
}

/// Refuses to modify a profile if the configuration file depends on it.
fn refuse_named(base: &Config, slug: &str) -> Result<(), Refusal> {
    if slug == DEFAULT_PROFILE {
        return Err(Refusal::profile_in_use("the default profile cannot be removed; it is served at /mcp"));
    }
    match base.endpoints.iter().find(|endpoint| endpoint.profile == slug) {
        Some(endpoint) => {
            let path = &endpoint.path;
            Err(Refusal::profile_in_use(format!(
                "the configuration file has an endpoint at {path} that serves this profile; change the endpoint there"
            )))
        }
        None => Ok(()),
    }
}

fn describe(change: &mut ProfileChange, body: &Value) -> Result<(), Refusal> {
    if !body.is_object() {
        return Err(Refusal::request("send a JSON object"));
    }
    for (key, place) in [("name", &mut change.name), ("description", &mut change.description)] {
        match text(body, key)? {
            Some(text) if text.len() > LONGEST => {
                return Err(Refusal::request(format!("`{key}` is longer than {LONGEST} bytes")));
            }
            Some(text) => *place = Some(text.to_owned()).filter(|text| !text.is_empty()),
            None if body.get(key).is_some() => *place = None,
            None => {}
        }
    }
    Ok(())
}

fn text<'v>(body: &'v Value, key: &str) -> Result<Option<&'v str>, Refusal> {
    match body.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(Refusal::request(format!("`{key}` must be a string"))),
    }
}

fn order(body: &Value) -> Result<Option<usize>, Refusal> {
    match body.get("order") {
        None | Some(Value::Null) => Ok(None),
        Some(order) => {
            let order = order.as_u64().and_then(|order| usize::try_from(order).ok());
            order.map(Some).ok_or_else(|| Refusal::request("`order` must be a whole number, 0 or greater"))
        }
    }
}

fn join(
    standing: &Standing,
    slug: &str,
    change: &mut ProfileChange,
    id: &str,
    order: Option<usize>,
) -> Result<(), Refusal> {
    if !standing.config.mcp_servers.contains_key(id) {
        return Err(Refusal::no_server(id));
    }
    if change.servers.iter().any(|member| member.server == id) {
        return Err(Refusal::already_added(id, slug));
    }
    let at = order.unwrap_or(usize::MAX).min(change.servers.len());
    change.servers.insert(at, Member { server: id.to_owned(), active: true });
    Ok(())
}

fn with(standing: &Standing, slug: &str, change: ProfileChange) -> Result<Standing, Refusal> {
    standing.changed(|changes| drop(changes.profiles.insert(slug.to_owned(), Some(change))))
}

/// Adds a server to a profile, at the given position or at the end.
pub fn add_server_to_profile(standing: &Standing, slug: &str, body: &Value) -> Result<Standing, Refusal> {
    let mut change = change_of(standing, slug)?;
    let id = text(body, "mcpServerId")?.ok_or_else(|| Refusal::request("`mcpServerId` is missing"))?;
    join(standing, slug, &mut change, id, order(body)?)?;
    if body.get("isActive") == Some(&Value::Bool(false)) {
        let at = members_of(&change, slug, id)?;
        change.servers[at].active = false;
    }
    with(standing, slug, change)
}

/// Changes a server's position in a profile, or shows or hides the server in that profile.
pub fn change_profile_server(
    standing: &Standing,
    slug: &str,
    id: &str,
    body: &Value,
) -> Result<Standing, Refusal> {
    let mut change = change_of(standing, slug)?;
    let at = members_of(&change, slug, id)?;
    match body.get("isActive") {
        None | Some(Value::Null) => {}
        Some(Value::Bool(active)) => change.servers[at].active = *active,
        Some(_) => return Err(Refusal::request("`isActive` must be true or false")),
    }
    if let Some(order) = order(body)? {
        let member = change.servers.remove(at);
        let to = order.min(change.servers.len());
        change.servers.insert(to, member);
    }
    with(standing, slug, change)
}

/// Shows or hides a server in a profile.
pub fn toggle_profile_server(standing: &Standing, slug: &str, id: &str) -> Result<Standing, Refusal> {
    let mut change = change_of(standing, slug)?;
    let at = members_of(&change, slug, id)?;
    change.servers[at].active ^= true;
    with(standing, slug, change)
}

/// Removes a server from a profile, together with its tools' settings there.
pub fn remove_server_from_profile(standing: &Standing, slug: &str, id: &str) -> Result<Standing, Refusal> {
    let mut change = change_of(standing, slug)?;
    let at = members_of(&change, slug, id)?;
    change.servers.remove(at);
    change.tools.remove(id);
    with(standing, slug, change)
}
