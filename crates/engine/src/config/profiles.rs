//! Reads `profiles`: who sees what.

use std::collections::HashMap;
use std::rc::Rc;

use indexmap::{IndexMap, IndexSet};

use super::check;
use super::model::{DEFAULT_PROFILE, NameRules, Naming, Profile, UriRules};
use super::parse::{Entry, Node};
use super::pieces::{self, Known, globs};
use super::read::{Fields, Reader, clip};
use super::text::Text;

const PROFILE_KEYS: &[&str] =
    &["servers", "names", "tools", "prompts", "resources", "title", "instructions", "dialect"];
const NAME_RULE_KEYS: &[&str] = &["allow", "deny", "rename"];
const URI_RULE_KEYS: &[&str] = &["allow", "deny"];

/// What profiles may name, and what there is already.
pub(super) struct Around<'k> {
    /// All servers.
    pub(super) servers: &'k IndexSet<String>,
    pub(super) dialects: Known<'k>,
    /// True if the default profile of the base has all servers, so that new ones join it.
    pub(super) default_has_all: bool,
}

/// The profiles on top of those of the base, in file order, with the default one even where nobody wrote it.
pub(super) fn read(
    reader: &mut Reader<'_>,
    entry: Option<&Entry>,
    around: &Around<'_>,
    base: IndexMap<String, Profile>,
) -> IndexMap<String, Profile> {
    let mut profiles = base;
    if let Some(default) = profiles.get_mut(DEFAULT_PROFILE).filter(|_| around.default_has_all) {
        default.servers = around.servers.iter().cloned().collect();
    }
    let fields = entry.and_then(|entry| {
        reader.within("profiles", |reader| reader.fields(&entry.value, "a mapping of profiles by name"))
    });
    for entry in fields.map(Fields::rest).unwrap_or_default() {
        let all = || Profile { servers: around.servers.iter().cloned().collect(), ..Profile::default() };
        let base = profiles.get(&entry.key).cloned().unwrap_or_else(all);
        let profile = reader.within("profiles", |reader| {
            reader.within(&entry.key, |reader| {
                reader.sound(&entry.key_at, check::slug(&entry.key));
                read_profile(reader, &entry.value, around, base)
            })
        });
        // Even an unreadable profile exists: an endpoint that names it is not wrong.
        profiles.insert(entry.key.clone(), profile.unwrap_or_default());
    }
    if !profiles.contains_key(DEFAULT_PROFILE) {
        let all = Profile { servers: around.servers.iter().cloned().collect(), ..Profile::default() };
        profiles.insert(DEFAULT_PROFILE.to_owned(), all);
    }
    profiles
}

fn read_profile(reader: &mut Reader<'_>, node: &Node, around: &Around<'_>, base: Profile) -> Option<Profile> {
    let mut profile = base;
    let mut fields = reader.fields(node, "a mapping with `servers`, `tools`, …")?;
    if let Some(entry) = fields.take("servers") {
        let chosen = reader.within("servers", |reader| read_servers(reader, &entry.value, around.servers));
        profile.servers = chosen.unwrap_or_default().into_iter().collect();
        profile.chosen = true;
    }
    if let Some(entry) = fields.take("names") {
        let names = reader.within("names", |reader| reader.word(&entry.value, Naming::ALL));
        profile.names = names.unwrap_or_default();
    }
    name_rules(reader, &mut fields, "tools", &mut profile.tools);
    name_rules(reader, &mut fields, "prompts", &mut profile.prompts);
    uri_rules(reader, &mut fields, &mut profile.resources);
    profile.title = text(reader, &mut fields, "title").or(profile.title);
    profile.instructions = text(reader, &mut fields, "instructions").or(profile.instructions);
    let dialect = pieces::known_name(reader, &mut fields, "dialect", &around.dialects);
    profile.dialect = dialect.or(profile.dialect);
    reader.refuse(&fields.rest(), PROFILE_KEYS);
    Some(profile)
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
                let known = Known { what: "server", names: known.iter().map(String::as_str).collect() };
                pieces::refuse_unknown(reader, item, &name, &known);
                return None;
            }
            Some(chosen.insert(name.expose().to_owned()))
        });
    }
    Some(chosen)
}

fn name_rules(reader: &mut Reader<'_>, parent: &mut Fields<'_>, key: &str, rules: &mut NameRules) {
    let Some(entry) = parent.take(key) else { return };
    reader.within(key, |reader| {
        let what = "a mapping with `allow`, `deny` or `rename`";
        let mut fields = reader.fields(&entry.value, what)?;
        rules.allow = globs(reader, &mut fields, "allow").or(rules.allow.take());
        if let Some(deny) = globs(reader, &mut fields, "deny") {
            rules.deny = deny;
        }
        rename(reader, &mut fields, &mut rules.rename);
        reader.refuse(&fields.rest(), NAME_RULE_KEYS);
        Some(())
    });
}

fn uri_rules(reader: &mut Reader<'_>, parent: &mut Fields<'_>, rules: &mut UriRules) {
    let Some(entry) = parent.take("resources") else { return };
    reader.within("resources", |reader| {
        let mut fields = reader.fields(&entry.value, "a mapping with `allow` or `deny`")?;
        rules.allow = globs(reader, &mut fields, "allow").or(rules.allow.take());
        if let Some(deny) = globs(reader, &mut fields, "deny") {
            rules.deny = deny;
        }
        reader.refuse(&fields.rest(), URI_RULE_KEYS);
        Some(())
    });
}

fn rename(reader: &mut Reader<'_>, fields: &mut Fields<'_>, renamed: &mut IndexMap<String, String>) {
    let Some(entry) = fields.take("rename") else { return };
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
}
