//! `profiles`: named views of the servers.

use indexmap::IndexMap;
use schemars::json_schema;
use serde_json::{Map, Value, json};

use super::name_rules::{NameRules, ToolRules};
use super::server_info::ServerInfo;
use super::tool_settings::ToolSettings;
use crate::reading::known::ReferenceKind;
use crate::reading::reader::Reader;
use crate::reading::rows::section;
use crate::reading::section;
use crate::reading::spellings::{
    CustomSpelling, KnownName, MergedSection, Optional, Parsed, Word, any_text, globs,
};
use crate::syntax::parse::Entry;
use crate::values::check::{self, Flaw};
use crate::values::glob::{Glob, admits};
use crate::values::text::Text;
use crate::values::wording::clip;
use crate::values::words::words;

/// The maximum length of a client's prefix: names need the rest of the 64 characters.
pub(crate) const MAX_CLIENT_PREFIX: usize = 40;

/// The profile that is served at `/mcp`. If none is configured, it has all servers in file order.
pub const DEFAULT_PROFILE: &str = "default";

section! {
    /// A named view of some of the servers.
    pub struct Profile: "a mapping with `servers`, `tools`, …" {
        fn check(&mut self, _: &mut Reader<'_>, entry: &Entry, _: bool) {
            self.chosen |= entry.value.entry("servers").is_some();
        }

        fn show_rest(&self, shown: &mut Map<String, Value>) {
            shown.insert("servers".to_owned(), json!(self.servers));
        }
    } [
        /// The profile's servers. Their tools are listed in this order.
        "servers" servers: Vec<String> = CustomSpelling(read_servers, |_| json_schema!({ "type": "array", "items": { "type": "string" } })),
            absent "all";
        /// The names of tools and prompts. `prefix`: always `server__tool`. `plain`: `tool`, or `server__tool` if several
        /// servers offer a tool of this name. `plain-first`: `tool` for the first server that offers a tool of this name,
        /// and `server:tool` for the others. `first`: always `tool`; if several servers offer a tool of this name, only the
        /// first server's tool is shown.
        "names" names: Naming = Word;
        /// The tools that are shown, their new names, and how clients find them.
        "tools" tools: ToolRules = MergedSection, absent "everything, unchanged";
        /// The prompts that are shown, and their new names.
        "prompts" prompts: NameRules = MergedSection, absent "everything, unchanged";
        /// The resources that are shown. The rules apply to listing, reading, subscribing and completing, even for URIs
        /// that are not listed.
        "resources" resources: UriRules = MergedSection, absent "everything";
        /// The prefix that clients put before the names of tools and prompts. Together with this prefix, a name has at most
        /// 64 characters; longer names are shortened. Only names that you give yourself, with `rename` or `overrides`, stay
        /// as you write them: `dragoman check` reports names of your own that are too long.
        "clientPrefix" client_prefix: Option<String> = Optional(Parsed("a prefix", client_prefix)),
            absent "`mcp__PROFILE__`, or `mcp__dragoman__` if that is longer; no prefix with a dialect, because a dialect's names are fixed";
        /// The name that clients display.
        "title" title: Option<Text> = Optional(any_text("a string"));
        /// The description of the profile as one server: name, version, icons.
        "serverInfo" server_info: ServerInfo = MergedSection, absent "Dragoman's name and version", see "[below](#server-info)";
        /// Instructions for the model, placed before the instructions of the servers.
        "instructions" instructions: Option<Text> = Optional(any_text("a string"));
        /// The dialect at `/mcp/NAME` and over standard input and output: `standard`, another built-in dialect, or one of
        /// `dialects`.
        "dialect" dialect: Option<String> = Optional(KnownName(ReferenceKind::Dialect)), absent "the top-level `dialect`";
        beside:
            /// True if `servers` is set. Otherwise, new servers are added to a default profile.
            chosen: bool;
            /// The settings of individual tools, made at run time.
            tool_settings: ToolSettings;
            /// True if results of one of the profile's servers are shortened, and clients must therefore be able to read
            /// the rest of such a result.
            has_rests: bool;
            /// The changes to individual prompts.
            prompt_settings: ToolSettings;
    ]
}

words! {
    /// The naming of a profile's tools and prompts.
    #[derive(Default)]
    pub enum Naming {
        /// `server__tool`, always.
        #[default]
        Prefix = "prefix",
        /// `tool`, or `server__tool` if several servers offer a tool of this name.
        Plain = "plain",
        /// `tool` for the first server that offers a tool of this name, and `server:tool` for the others.
        PlainFirst = "plain-first",
        /// `tool`, always; if several servers offer a tool of this name, only the first server's tool is shown, unless
        /// another is renamed: `rename: { server__tool: name }`.
        First = "first",
    }
}

section! {
    /// The resources that are shown, by the URIs that their servers give them.
    pub struct UriRules: "a mapping with `allow` or `deny`" [
        /// Shows only URIs that match one of these patterns (`*` matches any characters, `?` one).
        "allow" allow: Option<Vec<Glob>> = Optional(globs()), absent "everything";
        /// Never shows URIs that match one of these patterns, even if `allow` matches them.
        "deny" deny: Vec<Glob> = globs();
    ]
}

impl UriRules {
    /// Returns true if the resource or resource template with this URI is shown.
    pub fn admits(&self, uri: &str) -> bool {
        admits(self.allow.as_deref(), &self.deny, uri)
    }
}

/// The prefix of clients whose entry for the gateway is named `dragoman`, as the hints at startup suggest.
const USUAL_PREFIX: &str = "mcp__dragoman__";

impl Profile {
    /// The prefix that counts towards the maximum length of names in a profile without a dialect: `clientPrefix`,
    /// or else the longer one of the two usual prefixes.
    pub fn prefix_of_clients(&self, slug: &str) -> String {
        let by_name = || format!("mcp__{slug}__");
        let usual = || Some(by_name()).filter(|own| own.len() > USUAL_PREFIX.len());
        self.client_prefix.clone().or_else(usual).unwrap_or_else(|| USUAL_PREFIX.to_owned())
    }
}

fn client_prefix(prefix: &Text) -> Result<String, Flaw> {
    let prefix = prefix.expose();
    if prefix.chars().all(|c| c.is_ascii_graphic()) && prefix.len() <= MAX_CLIENT_PREFIX {
        return Ok(prefix.to_owned());
    }
    let message = format!("a client's prefix has at most {MAX_CLIENT_PREFIX} printable ASCII characters");
    Err(Flaw::new(message, "write the prefix as the client shows it, such as `mcp__work__`"))
}

/// Reads the profiles on top of those of the base, in file order. A default profile is added if the file has none. If
/// `default_has_all` is true, the base's default profile contains all servers, so new servers are added to it.
pub(crate) fn read(
    reader: &mut Reader<'_>,
    entry: Option<&Entry>,
    default_has_all: bool,
    base: IndexMap<String, Profile>,
) -> IndexMap<String, Profile> {
    let mut profiles = base;
    let servers = reader.known.all(ReferenceKind::Server).iter().cloned().collect();
    let all = Profile { servers, ..Profile::default() };
    if let Some(default) = profiles.get_mut(DEFAULT_PROFILE).filter(|_| default_has_all) {
        default.servers.clone_from(&all.servers);
    }
    let fields = entry.and_then(|entry| reader.fields(&entry.value, "a mapping of profiles by name"));
    for entry in fields.map(crate::reading::reader::Fields::rest).unwrap_or_default() {
        let base = profiles.get(&entry.key).unwrap_or(&all).clone();
        let profile = reader.within(&entry.key, |reader| {
            reader.sound(&entry.key_at, check::slug(&entry.key));
            section::read(reader, entry, base)
        });
        // A profile that could not be read still exists, so an endpoint that names it is not at fault.
        profiles.insert(entry.key.clone(), profile.unwrap_or_default());
    }
    profiles.entry(DEFAULT_PROFILE.to_owned()).or_insert(all);
    profiles
}

fn read_servers(reader: &mut Reader<'_>, entry: &Entry, _: Option<&Vec<String>>) -> Option<Vec<String>> {
    let mut chosen: Vec<String> = Vec::new();
    let items = reader.items(&entry.value, "a list of server names", true)?;
    if items.is_empty() {
        let help = "list servers, or remove `servers`";
        reader.note(&entry.value.at, "this profile has no servers, so it offers nothing", help);
    }
    for (index, item) in items.into_iter().enumerate() {
        reader.within(&format!("[{index}]"), |reader| {
            let name = reader.text(item, "a server's name")?;
            if chosen.iter().any(|other| other == name.expose()) {
                let message = format!("the server `{}` occurs twice", clip(name.shown()));
                reader.fault(&item.at, message, "keep one of the two");
                return None;
            }
            reader.refuse_unknown(item, &name, ReferenceKind::Server);
            chosen.push(name.expose().to_owned());
            Some(())
        });
    }
    Some(chosen)
}
