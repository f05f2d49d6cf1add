//! Notes on names of tools and prompts that match nothing, in profiles, access rules and rate limits: names without the required
//! server prefix, names of unknown servers, and names that an embedded server does not have. The items of other servers are unknown
//! until those servers are asked.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::advice::{texts, there_are};
use super::model::Config;
use crate::profiles::profile::{Naming, Profile};
use crate::reading::reader::Reader;
use crate::servers::native::NativeLink;
use crate::servers::server::Link;
use crate::syntax::parse::{Entry, Node};
use crate::syntax::source::Span;
use crate::values::check::MAX_PUBLIC_NAME;
use crate::values::suggest;
use crate::values::wording::clip;

/// The tools and prompts of an embedded server, by its own names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EmbeddedItems {
    /// The names of the server's tools.
    pub tools: Vec<String>,
    /// The names of the server's prompts.
    pub prompts: Vec<String>,
}

/// Returns the items of an embedded server; `None` if they cannot be known without a request.
pub type Offers<'a> = dyn Fn(&NativeLink) -> Option<EmbeddedItems> + 'a;

/// The kind of item that a name refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NamedItemKind {
    Tool,
    Prompt,
    Either,
}

impl NamedItemKind {
    fn word(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Prompt => "prompt",
            Self::Either => "tool or prompt",
        }
    }

    fn of(self, offered: &EmbeddedItems) -> impl Iterator<Item = &str> + Clone {
        let tools = offered.tools.iter().filter(move |_| self != Self::Prompt);
        let prompts = offered.prompts.iter().filter(move |_| self != Self::Tool);
        tools.chain(prompts).map(String::as_str)
    }
}

/// The checks of names against the items of embedded servers.
pub(crate) struct Names<'a> {
    config: &'a Config,
    offers: &'a Offers<'a>,
    /// The items of the embedded servers that have been looked up so far.
    known: RefCell<HashMap<String, Option<Rc<EmbeddedItems>>>>,
}

impl<'a> Names<'a> {
    pub(crate) fn new(config: &'a Config, offers: &'a Offers<'a>) -> Self {
        Self { config, offers, known: RefCell::default() }
    }

    /// Checks names in the rules of a profile, which refer to the names before renaming.
    pub(crate) fn of_profile(&self, reader: &mut Reader<'_>, node: &Node, profile: &Profile) {
        let servers: Vec<&str> = profile.servers.iter().map(String::as_str).collect();
        for (kind, what) in [("tools", NamedItemKind::Tool), ("prompts", NamedItemKind::Prompt)] {
            let Some(rules) = node.entry(kind) else { continue };
            let judge = |reader: &mut Reader<'_>, at: &Span, name: &str| match profile.names {
                Naming::Prefix => self.prefixed(reader, at, name, &servers, what),
                _ => self.plain(reader, at, name, &servers, what),
            };
            reader.within(kind, |reader| {
                for key in ["allow", "deny", "direct"] {
                    if let Some(entry) = rules.value.entry(key) {
                        texts(reader, entry, |reader, node, name| judge(reader, &node.at, name));
                    }
                }
                let entries =
                    |key: &str| rules.value.entry(key).map_or(&[][..], |entry| entry.value.entries());
                for old in entries("rename") {
                    reader.within("rename", |reader| judge(reader, &old.key_at, &old.key));
                }
                for old in entries("overrides") {
                    let judge = |reader: &mut Reader<'_>| {
                        self.prefixed(reader, &old.key_at, &old.key, &servers, what);
                    };
                    reader.within("overrides", judge);
                }
            });
        }
    }

    /// Checks names in access rules and rate limits. An access rule refers to an item by the server's own name for
    /// the item, so a renamed item still matches the rule.
    pub(crate) fn public(&self, reader: &mut Reader<'_>, entry: &Entry, what: NamedItemKind) {
        let profiles = &self.config.profiles;
        let old = |name: &str| profiles.values().find_map(|profile| old_name(profile, name));
        let servers: Vec<&str> = self.config.mcp_servers.keys().map(String::as_str).collect();
        let all_begin_alike = profiles.values().all(|profile| profile.names == Naming::Prefix);
        texts(reader, entry, |reader, node, name| {
            if let Some(old) = old(name) {
                if what == NamedItemKind::Either {
                    let message =
                        "rules use the server's own name for an item, but this name comes from a profile";
                    reader.note(&node.at, message, format!("write {}", clip(&old)));
                }
                return;
            }
            if all_begin_alike {
                self.prefixed(reader, &node.at, name, &servers, what);
            } else {
                self.plain(reader, &node.at, name, &servers, what);
            }
        });
    }

    /// Adds a note for a name that no item of these servers can have, where each name starts with the name of its
    /// server.
    fn prefixed(
        &self,
        reader: &mut Reader<'_>,
        at: &Span,
        name: &str,
        servers: &[&str],
        what: NamedItemKind,
    ) {
        if is_open(name) || servers.is_empty() {
            return;
        }
        let Some((server, own)) = name.split_once("__") else {
            let server = if let [one] = servers { one } else { "*" };
            let help = format!("write {server}__{}", clip(name));
            reader.note(at, "names start with the server's name here, so nothing has this name", help);
            return;
        };
        if !servers.contains(&server) {
            let message = format!("there is no server `{}` here, so nothing has this name", clip(server));
            reader.note(at, message, there_are(server, servers.iter().copied()));
            return;
        }
        let Some(offered) = self.offered(server).filter(|all| !what.of(all).any(|one| one == own)) else {
            return;
        };
        let message = format!("the server `{server}` has no {} `{}`", what.word(), clip(own));
        let help = match suggest::nearest(own, what.of(&offered)) {
            Some(near) => format!("did you mean `{server}__{near}`?"),
            None => format!("`dragoman list {server}` lists its tools and prompts"),
        };
        reader.note(at, message, help);
    }

    /// Adds a note for a name that no item of these servers can have, where names need not start with the name of a
    /// server. This is possible only if the items of all these servers are known.
    fn plain(&self, reader: &mut Reader<'_>, at: &Span, name: &str, servers: &[&str], what: NamedItemKind) {
        if is_open(name) || servers.is_empty() {
            return;
        }
        let all: Option<Vec<Rc<EmbeddedItems>>> = servers.iter().map(|server| self.offered(server)).collect();
        let Some(all) = all else { return };
        let has = |server: &str, offered: &EmbeddedItems| {
            let own = name.strip_prefix(server).and_then(|rest| rest.strip_prefix("__"));
            what.of(offered).any(|one| one == name || own == Some(one))
        };
        if servers.iter().zip(&all).any(|(server, offered)| has(server, offered)) {
            return;
        }
        let message = format!("no server here has a {} `{}`", what.word(), clip(name));
        let help = suggest::or(name, all.iter().flat_map(|offered| what.of(offered)), || {
            format!("`dragoman list {}` lists the available names", servers[0])
        });
        reader.note(at, message, help);
    }

    /// The tools and prompts of an embedded server; `None` for other servers, or if one of the prefixed names would
    /// be shortened.
    fn offered(&self, server: &str) -> Option<Rc<EmbeddedItems>> {
        if let Some(known) = self.known.borrow().get(server) {
            return known.clone();
        }
        let link = self.config.mcp_servers.get(server).map(|server| &server.link);
        let offered = match link {
            Some(Link::Native(link)) => (self.offers)(link),
            _ => None,
        };
        let fits = |name: &str| server.len() + 2 + name.len() <= MAX_PUBLIC_NAME;
        let offered = offered.filter(|all| NamedItemKind::Either.of(all).all(fits)).map(Rc::new);
        self.known.borrow_mut().insert(server.to_owned(), offered.clone());
        offered
    }
}

/// The old name of the item to which a profile gives the name `new`.
fn old_name(profile: &Profile, new: &str) -> Option<String> {
    let renamed = profile.tools.rename.iter().chain(&profile.prompts.rename);
    let overridden = profile.tools.overrides.iter().filter_map(|(old, own)| Some((old, own.name.as_ref()?)));
    renamed.chain(overridden).find(|(_, own)| *own == new).map(|(old, _)| old.clone())
}

/// Returns true if the text may match more than one name: it is a pattern, or it contains a colon and is therefore a
/// URI.
fn is_open(name: &str) -> bool {
    name.contains(['*', '?', ':'])
}
