//! The rules of a profile for the names of its tools and prompts: which are shown, under which names, how clients find
//! tools, and in which form the tools' schemas are shown. This module must not know how a view applies them.

use std::collections::HashMap;

use indexmap::IndexMap;
use schemars::{Schema, json_schema};

use super::overrides::{PromptOverride, ToolOverride};
use crate::reading::reader::Reader;
use crate::reading::rows::section;
use crate::reading::spellings::{
    Mapping, Optional, Parsed, ReplacedSection, Spelling, SpellingWithSchema, Word, globs,
};
use crate::syntax::parse::Entry;
use crate::values::check::{self, Flaw, MAX_PUBLIC_NAME};
use crate::values::glob::Glob;
use crate::values::text::Text;
use crate::values::wording::clip;
use crate::values::words::words;

section! {
    /// The tools that are shown, their new names, and how clients find them. Patterns and old names refer to the names that
    /// clients would see without `rename` (`server__tool` with `names: prefix`).
    pub struct ToolRules: "a mapping with `allow`, `deny`, `rename` or `mode`" {
        fn check(&mut self, reader: &mut Reader<'_>, entry: &Entry, _: bool) {
            refuse_repeated(reader, entry, &self.rename);
            self.check_direct(reader, entry);
        }
    } [
        /// Shows only names that match one of these patterns (`*` matches any characters, `?` one).
        "allow" allow: Option<Vec<Glob>> = Optional(globs()), absent "everything";
        /// Never shows names that match one of these patterns, even if `allow` matches them.
        "deny" deny: Vec<Glob> = globs();
        /// Maps old names to new ones; a new name has 1 to 64 characters from `A-Z a-z 0-9 _ - . /`.
        "rename" rename: IndexMap<String, String> = new_names();
        /// Changes to individual tools, by `server__tool`, where `tool` is the server's own name for the tool.
        "overrides" overrides: IndexMap<String, ToolOverride> = Mapping {
            what: "a mapping from tools to changes",
            key: |name| Ok(name.to_owned()),
            value: ReplacedSection,
        }, absent "no changes", see "[a tool](#changes-to-tools)";
        /// The way in which clients find the tools. `direct`: all tools are listed. `search`: only `find_tools` and
        /// `call_tool` are listed; with these two, a client can find and call all tools. `hybrid`: like `search`, but the
        /// tools of `direct` are also listed.
        "mode" mode: ToolMode = Word, see "[many-tools.md](many-tools.md)";
        /// The tools that `mode: hybrid` lists (patterns).
        "direct" direct: Vec<Glob> = globs();
        /// The form of input schemas and names, for clients that accept only certain forms. `as-received`: each schema as its
        /// server wrote it. `gemini`, `openai`, `anthropic`, `vscode`, `cursor`: the form that this family of clients
        /// accepts.
        /// `portable`: a form that clients of all these families accept, except that Cursor refuses arguments with
        /// alternatives. Calls are always checked against the server's own schema.
        "schemas" schemas: SchemaForm = Word;
    ]
}

words! {
    /// The way in which clients find the tools of a profile.
    #[derive(Default)]
    pub enum ToolMode {
        /// All tools are listed.
        #[default]
        Direct = "direct",
        /// Only `find_tools` and `call_tool` are listed.
        Search = "search",
        /// `find_tools`, `call_tool` and the tools of `direct` are listed.
        Hybrid = "hybrid",
    }
}

words! {
    /// The form of the tools' input schemas.
    #[derive(Default)]
    pub enum SchemaForm {
        /// Each schema as its server wrote it.
        #[default]
        AsReceived = "as-received",
        /// The form for the Gemini API and Vertex AI.
        Gemini = "gemini",
        /// The form for functions of the Chat Completions and Responses APIs, also in Azure.
        Openai = "openai",
        /// The form for the Claude API, Claude Desktop and Claude Code.
        Anthropic = "anthropic",
        /// The form for GitHub Copilot in VS Code.
        Vscode = "vscode",
        /// The form for Cursor.
        Cursor = "cursor",
        /// The form that all of these clients accept, except that Cursor refuses alternatives.
        Portable = "portable",
    }
}

section! {
    /// The prompts that are shown, and their new names. Patterns and old names refer to the names that clients would see
    /// without `rename` (`server__prompt` with `names: prefix`).
    pub struct NameRules: "a mapping with `allow`, `deny`, `rename` or `overrides`" {
        fn check(&mut self, reader: &mut Reader<'_>, entry: &Entry, _: bool) {
            refuse_repeated(reader, entry, &self.rename);
        }
    } [
        /// Shows only names that match one of these patterns (`*` matches any characters, `?` one).
        "allow" allow: Option<Vec<Glob>> = Optional(globs()), absent "everything";
        /// Never shows names that match one of these patterns, even if `allow` matches them.
        "deny" deny: Vec<Glob> = globs();
        /// Maps old names to new ones; a new name has 1 to 64 characters from `A-Z a-z 0-9 _ - . /`.
        "rename" rename: IndexMap<String, String> = new_names();
        /// Changes to individual prompts, by `server__prompt`, where `prompt` is the server's own name for the prompt.
        "overrides" overrides: IndexMap<String, PromptOverride> = Mapping {
            what: "a mapping from prompts to changes",
            key: |name| Ok(name.to_owned()),
            value: ReplacedSection,
        }, absent "no changes", see "[a prompt](#changes-to-prompts)";
    ]
}

/// The rules for the names of one list, of tools or of prompts.
#[derive(Debug, Clone, Copy)]
pub struct ListedNames<'a> {
    allow: Option<&'a [Glob]>,
    deny: &'a [Glob],
    /// The new names, by the old ones.
    pub rename: &'a IndexMap<String, String>,
}

impl ToolRules {
    /// The rules for the names of tools.
    pub fn names(&self) -> ListedNames<'_> {
        ListedNames { allow: self.allow.as_deref(), deny: &self.deny, rename: &self.rename }
    }

    /// Returns true if clients find tools by searching.
    pub fn is_searched(&self) -> bool {
        self.mode != ToolMode::Direct
    }

    /// Checks that `direct` and `mode` agree.
    fn check_direct(&self, reader: &mut Reader<'_>, entry: &Entry) {
        let written = |key| entry.value.entry(key);
        if let Some(direct) =
            written("direct").filter(|_| !self.direct.is_empty() && self.mode != ToolMode::Hybrid)
        {
            let message = format!("`direct` has no effect with `mode: {}`", self.mode.name());
            reader.within("direct", |r| {
                r.fault(&direct.key_at, message, "write `mode: hybrid`, or remove `direct`");
            });
        }
        if let Some(mode) =
            written("mode").filter(|_| self.direct.is_empty() && self.mode == ToolMode::Hybrid)
        {
            let message =
                "`mode: hybrid` without `direct` lists no tools besides `find_tools` and `call_tool`";
            let help = "name the tools to list under `direct`, or write `mode: search`";
            reader.within("mode", |r| r.note(&mode.value.at, message, help));
        }
    }
}

impl NameRules {
    /// The rules for the names of prompts.
    pub fn names(&self) -> ListedNames<'_> {
        ListedNames { allow: self.allow.as_deref(), deny: &self.deny, rename: &self.rename }
    }
}

impl<'a> ListedNames<'a> {
    /// Returns true if an item is shown. `given` is the name that clients would see without renaming; `identity` is
    /// `server__name` with the server's own name for the item. A pattern may match either.
    pub fn admits(self, given: &str, identity: &str) -> bool {
        let is_among =
            |globs: &[Glob]| globs.iter().any(|glob| glob.matches(given) || glob.matches(identity));
        self.allow.is_none_or(is_among) && !is_among(self.deny)
    }

    /// The name under which `name` is shown.
    pub fn shown_name(self, name: &'a str) -> &'a str {
        self.rename.get(name).map_or(name, String::as_str)
    }
}

/// The spelling of `rename`.
fn new_names() -> impl Spelling<IndexMap<String, String>> {
    Mapping {
        what: "a mapping from old names to new names",
        key: |name| Ok(name.to_owned()),
        value: new_name(),
    }
}

/// The spelling of a new name.
pub(crate) fn new_name() -> SpellingWithSchema<Parsed> {
    SpellingWithSchema { spelling: Parsed("the new name", checked_name), schema: new_name_schema }
}

fn checked_name(name: &Text) -> Result<String, Flaw> {
    check::public_name(name.expose()).map(|()| name.expose().to_owned())
}

fn new_name_schema() -> Schema {
    json_schema!({
        "type": "string", "minLength": 1, "maxLength": MAX_PUBLIC_NAME, "pattern": "^[A-Za-z0-9_./-]+$",
    })
}

fn refuse_repeated(reader: &mut Reader<'_>, rules: &Entry, renamed: &IndexMap<String, String>) {
    let Some(rename) = rules.value.entry("rename") else { return };
    let mut taken: HashMap<&str, &str> = HashMap::new();
    for entry in rename.value.entries().iter().filter(|entry| !entry.repeated) {
        let Some(new) = renamed.get(&entry.key) else { continue };
        if let Some(other) = taken.insert(new, &entry.key) {
            let message = format!("`{}` already has this new name", clip(other));
            reader.within("rename", |reader| {
                reader.within(&entry.key, |r| r.fault(&entry.value.at, message, "choose another name"));
            });
        }
    }
}
