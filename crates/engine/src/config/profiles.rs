//! Reads `profiles` and `endpoints`: who sees what, and where.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use indexmap::{IndexMap, IndexSet};

use super::check;
use super::glob::Glob;
use super::model::{
    DEFAULT_PROFILE, Endpoint, EndpointAuth, EndpointTransport, NameRules, Naming, Profile, UriRules,
};
use super::parse::{Entry, Node};
use super::read::{Fields, Reader, clip};
use super::suggest;
use super::text::Text;

const PROFILE_KEYS: &[&str] = &["servers", "names", "tools", "prompts", "resources", "title", "instructions"];
const NAME_RULE_KEYS: &[&str] = &["allow", "deny", "rename"];
const URI_RULE_KEYS: &[&str] = &["allow", "deny"];
const ENDPOINT_KEYS: &[&str] = &["path", "profile"];

/// The profiles in file order, with the default one even where nobody wrote it.
pub(super) fn read(
    reader: &mut Reader<'_>,
    entry: Option<&Entry>,
    servers: &IndexSet<String>,
) -> IndexMap<String, Profile> {
    let mut profiles = IndexMap::new();
    let fields = entry.and_then(|entry| {
        reader.within("profiles", |reader| reader.fields(&entry.value, "a mapping of profiles by name"))
    });
    for entry in fields.map(Fields::rest).unwrap_or_default() {
        let profile = reader.within("profiles", |reader| {
            reader.within(&entry.key, |reader| {
                reader.sound(&entry.key_at, check::slug(&entry.key));
                read_profile(reader, &entry.value, servers)
            })
        });
        // Even an unreadable profile exists: an endpoint that names it is not wrong.
        profiles.insert(entry.key.clone(), profile.unwrap_or_default());
    }
    if !profiles.contains_key(DEFAULT_PROFILE) {
        let all = Profile { servers: servers.iter().cloned().collect(), ..Profile::default() };
        profiles.insert(DEFAULT_PROFILE.to_owned(), all);
    }
    profiles
}

fn read_profile(reader: &mut Reader<'_>, node: &Node, servers: &IndexSet<String>) -> Option<Profile> {
    let mut fields = reader.fields(node, "a mapping with `servers`, `tools`, …")?;
    let chosen = match fields.take("servers") {
        Some(entry) => reader.within("servers", |reader| read_servers(reader, &entry.value, servers)),
        None => Some(servers.clone()),
    };
    let names = fields
        .take("names")
        .and_then(|entry| reader.within("names", |reader| reader.word(&entry.value, Naming::ALL)));
    let tools = name_rules(reader, &mut fields, "tools");
    let prompts = name_rules(reader, &mut fields, "prompts");
    let resources = uri_rules(reader, &mut fields);
    let title = text(reader, &mut fields, "title");
    let instructions = text(reader, &mut fields, "instructions");
    reader.refuse(&fields.rest(), PROFILE_KEYS);
    let names = names.unwrap_or_default();
    let servers = chosen.unwrap_or_default().into_iter().collect();
    Some(Profile { servers, names, tools, prompts, resources, title, instructions, dialect: None })
}

fn text(reader: &mut Reader<'_>, fields: &mut Fields<'_>, key: &str) -> Option<Text> {
    let entry = fields.take(key)?;
    reader.within(key, |reader| reader.text(&entry.value, "a text"))
}

fn read_servers(
    reader: &mut Reader<'_>,
    node: &Rc<Node>,
    known: &IndexSet<String>,
) -> Option<IndexSet<String>> {
    let mut chosen = IndexSet::new();
    let items = reader.items(node, "a list of server names", true)?;
    if items.is_empty() {
        reader.note(
            &node.at,
            "this profile has no servers, so it offers nothing",
            "name servers, or remove `servers`",
        );
    }
    for (index, item) in items.into_iter().enumerate() {
        reader.within(&format!("[{index}]"), |reader| {
            let name = reader.text(item, "a server's name")?;
            if chosen.contains(name.expose()) {
                let message = format!("the server `{}` stands twice", clip(name.shown()));
                reader.fault(&item.at, message, "keep one of the two");
                return None;
            }
            if !known.contains(name.expose()) {
                unknown(reader, item, &name, "server", known.iter().map(String::as_str));
                return None;
            }
            Some(chosen.insert(name.expose().to_owned()))
        });
    }
    Some(chosen)
}

/// Says that there is no such server or profile, and which one may be meant.
fn unknown<'k>(
    reader: &mut Reader<'_>,
    node: &Node,
    name: &Text,
    what: &str,
    known: impl Iterator<Item = &'k str> + Clone,
) {
    let mend = if let Some(near) = suggest::nearest(name.expose(), known.clone()) {
        format!("did you mean `{near}`?")
    } else {
        let names: Vec<&str> = known.take(12).collect();
        if names.is_empty() {
            format!("there is no {what} yet: add it, or remove this")
        } else {
            format!("there are: {}", clip(&names.join(", ")))
        }
    };
    reader.fault(&node.at, format!("there is no {what} `{}`", clip(name.shown())), mend);
}

fn name_rules(reader: &mut Reader<'_>, parent: &mut Fields<'_>, key: &str) -> NameRules {
    let Some(entry) = parent.take(key) else { return NameRules::default() };
    reader.within(key, |reader| {
        let Some(mut fields) = reader.fields(&entry.value, "a mapping with `allow`, `deny` or `rename`")
        else {
            return NameRules::default();
        };
        let allow = globs(reader, &mut fields, "allow");
        let deny = globs(reader, &mut fields, "deny").unwrap_or_default();
        let rename = rename(reader, &mut fields);
        reader.refuse(&fields.rest(), NAME_RULE_KEYS);
        NameRules { allow, deny, rename }
    })
}

fn uri_rules(reader: &mut Reader<'_>, parent: &mut Fields<'_>) -> UriRules {
    let Some(entry) = parent.take("resources") else { return UriRules::default() };
    reader.within("resources", |reader| {
        let Some(mut fields) = reader.fields(&entry.value, "a mapping with `allow` or `deny`") else {
            return UriRules::default();
        };
        let allow = globs(reader, &mut fields, "allow");
        let deny = globs(reader, &mut fields, "deny").unwrap_or_default();
        reader.refuse(&fields.rest(), URI_RULE_KEYS);
        UriRules { allow, deny }
    })
}

fn globs(reader: &mut Reader<'_>, fields: &mut Fields<'_>, key: &str) -> Option<Vec<Glob>> {
    let entry = fields.take(key)?;
    reader.within(key, |reader| {
        let mut globs = Vec::new();
        for (index, item) in reader.items(&entry.value, "a list of patterns", true)?.into_iter().enumerate() {
            reader.within(&format!("[{index}]"), |reader| {
                let text = reader.text(item, "a pattern as a text")?;
                match Glob::parse(text.expose()) {
                    Ok(glob) => globs.push(glob),
                    Err(reason) => {
                        let mend = "write a name with `*` for any characters and `?` for one; what is not to be \
                                    shown goes under `deny`";
                        reader.fault(&item.at, reason, mend);
                    }
                }
                Some(())
            });
        }
        Some(globs)
    })
}

fn rename(reader: &mut Reader<'_>, fields: &mut Fields<'_>) -> IndexMap<String, String> {
    let mut renamed: IndexMap<String, String> = IndexMap::new();
    let Some(entry) = fields.take("rename") else { return renamed };
    reader.within("rename", |reader| {
        let fields = reader.fields(&entry.value, "a mapping of new names by old")?;
        let mut taken: HashMap<String, &str> = HashMap::new();
        for entry in fields.rest() {
            reader.within(&entry.key, |reader| {
                let text = reader.text(&entry.value, "the new name")?;
                let new = text.expose();
                reader.sound_text(&entry.value.at, &text, check::public_name(new))?;
                if let Some(other) = taken.get(new) {
                    let message = format!("`{}` already has this new name", clip(other));
                    reader.fault(&entry.value.at, message, "write another new name");
                    return None;
                }
                taken.insert(new.to_owned(), &entry.key);
                renamed.insert(entry.key.clone(), new.to_owned())
            });
        }
        Some(())
    });
    renamed
}

/// The further paths, each with a profile that exists.
pub(super) fn read_endpoints(
    reader: &mut Reader<'_>,
    entry: &Entry,
    profiles: &IndexMap<String, Profile>,
) -> Vec<Endpoint> {
    let mut endpoints = Vec::new();
    let mut paths = HashSet::new();
    reader.within("endpoints", |reader| {
        for (index, item) in reader.items(&entry.value, "a list of endpoints", false)?.into_iter().enumerate()
        {
            let endpoint = reader
                .within(&format!("[{index}]"), |reader| read_endpoint(reader, item, profiles, &mut paths));
            endpoints.extend(endpoint);
        }
        Some(())
    });
    endpoints
}

fn read_endpoint(
    reader: &mut Reader<'_>,
    node: &Node,
    profiles: &IndexMap<String, Profile>,
    paths: &mut HashSet<String>,
) -> Option<Endpoint> {
    let mut fields = reader.fields(node, "a mapping with `path` and `profile`")?;
    let at = fields.at.start..fields.at.start;
    let path = if let Some(entry) = fields.take("path") {
        reader.within("path", |reader| read_path(reader, &entry.value, paths))
    } else {
        reader.fault(&at, "this endpoint has no `path`", "add it: path: /tools/mcp");
        None
    };
    let profile = match fields.take("profile") {
        Some(entry) => reader.within("profile", |reader| {
            let name = reader.text(&entry.value, "a profile's name")?;
            if !profiles.contains_key(name.expose()) {
                unknown(reader, &entry.value, &name, "profile", profiles.keys().map(String::as_str));
                return None;
            }
            Some(name.expose().to_owned())
        }),
        None => Some(DEFAULT_PROFILE.to_owned()),
    };
    reader.refuse(&fields.rest(), ENDPOINT_KEYS);
    Some(Endpoint {
        path: path?,
        profile: profile?,
        dialect: None,
        transport: EndpointTransport::Http,
        message: None,
        auth: EndpointAuth::Inherit,
    })
}

fn read_path(reader: &mut Reader<'_>, node: &Node, paths: &mut HashSet<String>) -> Option<String> {
    let text = reader.text(node, "a path")?;
    reader.sound_text(&node.at, &text, check::endpoint_path(text.expose()))?;
    if !paths.insert(text.expose().to_owned()) {
        let message = format!("another endpoint already has the path `{}`", clip(text.shown()));
        reader.fault(&node.at, message, "write another path, or remove one of the two");
        return None;
    }
    Some(text.expose().to_owned())
}
