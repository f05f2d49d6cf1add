//! Edits the text of a configuration file: adds and removes servers, and keeps every comment and every other byte.
//!
//! An edit inserts or removes whole lines, or parts of a line, at positions that the parser reports. Afterwards,
//! the new text is parsed and compared with the old one: the edit is refused if it changed anything else, or if it
//! lost a comment that does not belong to the removed element.
//!
//! | file | is for |
//! |---|---|
//! | `comments` | the comments of a text, which an edit must keep |
//! | `container` | inserts and removes elements of one mapping or list |
//! | `members` | reads, adds and removes the members of one mapping |
//! | `render` | a value in the notation of its surroundings: YAML blocks, flow style, JSON |
//! | `differences` | the lines that an edit changed, without secrets |
//!
//! This module must not know files, or what a server's settings mean.

mod comments;
mod container;
mod differences;
mod members;
mod render;

#[cfg(test)]
mod tests;

use std::rc::Rc;

use serde_json::Value;

use self::container::{Container, Element};
use crate::syntax::json_comments::without_comments;
use crate::syntax::mask;
use crate::syntax::parse::{Entry, Node, NodeKind, parse};
use crate::syntax::source::Source;

pub use differences::{ChangedLine, changed_lines};
pub use members::{put_member, read_value, remove_member};

/// The reason why a text cannot be edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditFault {
    /// The reason.
    pub message: String,
    /// The suggested fix.
    pub help: String,
}

impl EditFault {
    fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: help.into() }
    }

    /// Returns the fault for a valid text that cannot be edited safely because of its form.
    fn by_hand() -> Self {
        Self::new("the file is written in a form that cannot be edited safely", "edit the file by hand")
    }
}

/// A text without one of its servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removal {
    /// The new text.
    pub text: String,
    /// The profiles whose lists contained the server.
    pub profiles: Vec<String>,
}

/// The names of the key that contains the servers.
const SERVERS: [&str; 2] = ["mcpServers", "servers"];

/// Returns the text with one more server. `entry` is the server's mapping.
///
/// # Errors
/// Fails if the text is not a mapping, already has a server with this name, or cannot be edited safely.
pub fn add_server(text: &str, name: &str, entry: &Value) -> Result<String, EditFault> {
    let Some(root) = tree(text)? else { return Ok(started(text, SERVERS[0], name, entry)) };
    let servers = root.entries().iter().find(|entry| SERVERS.contains(&entry.key.as_str()));
    if servers.is_some_and(|servers| servers.value.entries().iter().any(|one| one.key == name)) {
        let message = format!("the file already has a server {name:?}");
        return Err(EditFault::new(
            message,
            format!("choose another name, or remove it first: dragoman remove {name}"),
        ));
    }
    let key = servers.map_or(SERVERS[0], |servers| servers.key.as_str());
    members::insert_member(text, key, name, entry)
}

/// Returns the text in which a profile's list of servers names one more server.
///
/// # Errors
/// Fails if the text has no such profile with a list, or cannot be edited safely.
pub fn add_to_profile(text: &str, profile: &str, server: &str) -> Result<String, EditFault> {
    let root = tree(text)?.ok_or_else(EditFault::by_hand)?;
    let Some(list) = servers_of(&root, profile) else {
        let message = format!("the file has no profile {profile:?} with a list of `servers`");
        return Err(EditFault::new(message, "add the server to a profile by hand"));
    };
    let edited = Container::of(text, list).and_then(|list| list.insert(&Element::Item(server)));
    let edited = edited.ok_or_else(EditFault::by_hand)?;
    let new = tree(&edited).ok().flatten().ok_or_else(EditFault::by_hand)?;
    let wanted = [names(list), vec![server]].concat();
    let is_right = servers_of(&new, profile).is_some_and(|new| names(new) == wanted)
        && same_but(&root, &new, &|key, _, _| key == "profiles");
    if is_right { Ok(edited) } else { Err(EditFault::by_hand()) }
}

/// Returns the text without a server, also in the lists of profiles.
///
/// # Errors
/// Fails if the text has no such server, or cannot be edited safely.
pub fn remove_server(text: &str, name: &str) -> Result<Removal, EditFault> {
    let root = tree(text)?.ok_or_else(|| unknown(name, &[]))?;
    let servers = root.entries().iter().find(|entry| SERVERS.contains(&entry.key.as_str()));
    let servers = servers.ok_or_else(|| unknown(name, &[]))?;
    let entries = servers.value.entries();
    let at = entries.iter().position(|one| one.key == name);
    let at = at.ok_or_else(|| unknown(name, &entries.iter().map(|one| &*one.key).collect::<Vec<_>>()))?;
    let container = Container::of(text, &servers.value).ok_or_else(EditFault::by_hand)?;
    let mut edited = container.remove(at, &servers.key_at).ok_or_else(EditFault::by_hand)?;
    let mut profiles = Vec::new();
    // Each edit moves what follows it, so the text is read again.
    while let Some((profile, without)) = without_in_a_profile(&edited, name)? {
        edited = without;
        profiles.push(profile);
    }
    let new = tree(&edited).ok().flatten().ok_or_else(EditFault::by_hand)?;
    let is_right = same_but(&root, &new, &|key, old, new| {
        let lost_it = || old.is_some_and(|old| has_one_less(old, new, name));
        (SERVERS.contains(&key) && lost_it()) || (key == "profiles" && !profiles.is_empty())
    });
    if is_right { Ok(Removal { text: edited, profiles }) } else { Err(EditFault::by_hand()) }
}

/// Removes a server from the list of the first profile that names it.
fn without_in_a_profile(text: &str, name: &str) -> Result<Option<(String, String)>, EditFault> {
    let Some(root) = tree(text)? else { return Ok(None) };
    let profiles = root.entries().iter().find(|entry| entry.key == "profiles");
    for profile in profiles.iter().flat_map(|profiles| profiles.value.entries()) {
        let Some(list) = profile.value.entry("servers") else { continue };
        let NodeKind::List(items) = &list.value.kind else { continue };
        let Some(at) = items.iter().position(|item| scalar(item) == Some(name)) else { continue };
        let container = Container::of(text, &list.value).ok_or_else(EditFault::by_hand)?;
        let edited = container.remove(at, &list.key_at).ok_or_else(EditFault::by_hand)?;
        let before = names(&list.value);
        let new = tree(&edited).ok().flatten().ok_or_else(EditFault::by_hand)?;
        let after = servers_of(&new, &profile.key).map(|list| names(list)).unwrap_or_default();
        let wanted: Vec<&str> = before.into_iter().filter(|one| *one != name).collect();
        if after != wanted {
            return Err(EditFault::by_hand());
        }
        return Ok(Some((profile.key.clone(), edited)));
    }
    Ok(None)
}

/// Returns the text in which every secret is written as asterisks.
pub fn masked(text: &str) -> String {
    let secrets = match parse(&without_comments(text)) {
        Ok(Some(root)) => mask::secrets_of(&Source::new(text), &root),
        Ok(None) => Vec::new(),
        Err(_) => mask::secrets_of_broken(text),
    };
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    let mut secrets = secrets;
    secrets.sort_by_key(|span| span.start);
    for span in secrets.into_iter().filter(|span| !span.is_empty()) {
        if span.start >= at {
            out.push_str(&text[at..span.start]);
            out.push_str("***");
        }
        at = at.max(span.end);
    }
    out.push_str(&text[at..]);
    out
}

/// Returns a mapping as YAML.
pub(super) fn yaml(value: &Value) -> String {
    let members = value.as_object().into_iter().flatten();
    members.map(|(key, value)| render::block_member(key, value, 0, "\n")).collect()
}

/// The text of a first configuration, after the comments of the old text, if there are any.
fn started(text: &str, key: &str, name: &str, entry: &Value) -> String {
    let mut out = text.trim_end().to_owned();
    if !out.is_empty() {
        out.push_str("\n\n");
    }
    let servers = serde_json::json!({ name: entry });
    out.push_str(&render::block_member(key, &servers, 0, "\n"));
    out
}

fn tree(text: &str) -> Result<Option<Rc<Node>>, EditFault> {
    let root = parse(&without_comments(text)).map_err(|broken| {
        EditFault::new(broken.message, "`dragoman check` shows where; repair the file first")
    })?;
    match root {
        Some(root) if !matches!(root.kind, NodeKind::Map(_)) => {
            Err(EditFault::new("the file is not a mapping with `mcpServers`", "`dragoman check` shows more"))
        }
        root => Ok(root),
    }
}

fn unknown(name: &str, known: &[&str]) -> EditFault {
    let help = match crate::values::suggest::nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean {near:?}?"),
        None if known.is_empty() => "the file has no servers".to_owned(),
        None => format!("its servers are {}", known.join(", ")),
    };
    EditFault::new(format!("the file has no server {name:?}"), help)
}

fn servers_of<'n>(root: &'n Node, profile: &str) -> Option<&'n Rc<Node>> {
    let list = &root.entry("profiles")?.value.entry(profile)?.value.entry("servers")?.value;
    matches!(list.kind, NodeKind::List(_)).then_some(list)
}

fn names(list: &Node) -> Vec<&str> {
    let NodeKind::List(items) = &list.kind else { return Vec::new() };
    items.iter().filter_map(|item| scalar(item)).collect()
}

fn scalar(node: &Node) -> Option<&str> {
    match &node.kind {
        NodeKind::Scalar { text, .. } => Some(text),
        _ => None,
    }
}

/// Returns true if two mappings are the same except for members that `differs` accepts.
fn same_but(old: &Node, new: &Node, differs: &dyn Fn(&str, Option<&Node>, &Node) -> bool) -> bool {
    let is_kept = |entry: &Entry| new.entries().iter().any(|other| other.key == entry.key);
    let is_right = |entry: &Entry| {
        let before = old.entries().iter().find(|other| other.key == entry.key).map(|other| &*other.value);
        before.is_some_and(|before| same(before, &entry.value)) || differs(&entry.key, before, &entry.value)
    };
    old.entries().iter().all(is_kept) && new.entries().iter().all(is_right)
}

fn same(one: &Node, other: &Node) -> bool {
    match (&one.kind, &other.kind) {
        (NodeKind::Null, NodeKind::Null) => true,
        (NodeKind::Scalar { text, quoted }, NodeKind::Scalar { text: other, quoted: also }) => {
            text == other && quoted == also
        }
        (NodeKind::List(one), NodeKind::List(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (NodeKind::Map(one), NodeKind::Map(other)) => {
            let pair =
                |(one, other): (&Entry, &Entry)| one.key == other.key && same(&one.value, &other.value);
            one.len() == other.len() && one.iter().zip(other).all(pair)
        }
        _ => false,
    }
}

/// Returns true if `new` has the members of `old`, and also one with this name and value.
fn has_one_more(old: Option<&Node>, new: &Node, name: &str, value: &Value) -> bool {
    let before = old.map_or(&[][..], Node::entries);
    let (added, kept): (Vec<&Entry>, Vec<&Entry>) = new.entries().iter().partition(|one| one.key == name);
    let is_kept = |(one, other): (&Entry, &&Entry)| one.key == other.key && same(&one.value, &other.value);
    kept.len() == before.len()
        && before.iter().zip(&kept).all(is_kept)
        && matches!(&added[..], [one] if is_value(&one.value, value))
}

/// Returns true if `new` has the members of `old` except for one.
fn has_one_less(old: &Node, new: &Node, name: &str) -> bool {
    let kept: Vec<&Entry> = old.entries().iter().filter(|one| one.key != name).collect();
    let is_kept = |(one, other): (&&Entry, &Entry)| one.key == other.key && same(&one.value, &other.value);
    kept.len() == new.entries().len() && kept.iter().zip(new.entries()).all(is_kept)
}

/// Returns true if a node has this value.
fn is_value(node: &Node, value: &Value) -> bool {
    match (&node.kind, value) {
        (NodeKind::Null, Value::Null) => true,
        (NodeKind::Scalar { text, quoted }, Value::String(wanted)) => {
            text == wanted && (*quoted || render::is_bare_text(wanted))
        }
        (NodeKind::Scalar { text, quoted: false }, Value::Bool(wanted)) => text.parse() == Ok(*wanted),
        (NodeKind::Scalar { text, quoted: false }, Value::Number(wanted)) => {
            text.parse().ok() == wanted.as_i64()
        }
        (NodeKind::List(items), Value::Array(wanted)) => {
            items.len() == wanted.len()
                && items.iter().zip(wanted).all(|(item, wanted)| is_value(item, wanted))
        }
        (NodeKind::Map(entries), Value::Object(wanted)) => {
            entries.len() == wanted.len()
                && entries
                    .iter()
                    .all(|one| wanted.get(&one.key).is_some_and(|wanted| is_value(&one.value, wanted)))
        }
        _ => false,
    }
}
