//! The selection of the tools that a server serves, in the spellings of many clients. If a client's file excludes a
//! tool, the tool must not reappear when the file is pasted into a configuration. Therefore, an unknown key that
//! looks like such a selection is a fault. This module must not know profiles; the names are the server's own,
//! without any prefix.

use std::rc::Rc;

use crate::reading::reader::{Fields, Reader};
use crate::reading::rows::section;
use crate::reading::spellings::{Optional, globs};
use crate::syntax::parse::{Entry, Node, NodeKind};
use crate::values::glob::Glob;
use crate::values::suggest;
use crate::values::wording::clip;

section! {
    /// The tools of a server that are served, in every profile, by the names that the server itself gives them.
    pub struct ServerTools: "a mapping" [
        /// Serves only these tools of the server, in every profile (by the server's own names; `*` matches any
        /// characters, `?` one). An empty list serves none. Also written `allowedTools`, `enabledTools`,
        /// `enabled_tools`, `tools`.
        "includeTools" only: Option<Vec<Glob>> = Optional(globs()), absent "all";
        /// Removes these tools from every profile, even if another setting includes them. Also written `disabledTools`,
        /// `disabled_tools`.
        "excludeTools" never: Vec<Glob> = globs();
    ]
}

impl ServerTools {
    /// Returns true if a tool is served; `name` is the server's own.
    pub fn admits(&self, name: &str) -> bool {
        let listed = |globs: &[Glob]| globs.iter().any(|glob| glob.matches(name));
        self.only.as_deref().is_none_or(listed) && !listed(&self.never)
    }
}

/// The meaning of a list under a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ListedTools {
    Only,
    Never,
}

/// The keys that select tools, each with the meaning of the list below it. The comments name the clients that write
/// these keys.
const KEYS: &[(&str, ListedTools)] = &[
    // Gemini CLI, Qwen Code, Amp
    ("includeTools", ListedTools::Only),
    ("excludeTools", ListedTools::Never),
    // Roo Code, Windsurf, Kiro, Cherry Studio
    ("disabledTools", ListedTools::Never),
    ("enabledTools", ListedTools::Only),
    ("allowedTools", ListedTools::Only),
    // Codex
    ("enabled_tools", ListedTools::Only),
    ("disabled_tools", ListedTools::Never),
    // Copilot: a list; MCPHub: a mapping of tools with `enabled`
    ("tools", ListedTools::Only),
];

/// Words in a key that mark it as a selection.
const CHOOSING_WORDS: &[&str] = &[
    "exclude", "include", "disable", "enable", "deny", "denied", "allow", "filter", "block", "forbid",
    "hide", "hidden",
];

/// Reads the selection of tools in a server entry; missing keys keep their values from `base`.
pub(crate) fn read(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
    server: &str,
    base: Option<&ServerTools>,
) -> ServerTools {
    let mut only: Option<(&str, Vec<Glob>)> = None;
    let mut never: Option<Vec<Glob>> = None;
    for (key, says) in KEYS {
        let Some(entry) = fields.take(key) else { continue };
        reader.within(key, |reader| {
            if let (&NodeKind::Map(_), "tools") = (&entry.value.kind, *key) {
                never.get_or_insert_default().extend(switched_off(reader, &entry.value, server));
                return;
            }
            let Some(globs) = names(reader, &entry.value) else { return };
            match (says, &only) {
                (ListedTools::Never, _) => never.get_or_insert_default().extend(globs),
                (ListedTools::Only, Some((other, _))) => {
                    let message = format!("`{key}` and `{other}` both select the tools to serve");
                    reader.fault(&entry.key_at, message, "keep one of the two");
                }
                (ListedTools::Only, None) => {
                    if globs.is_empty() {
                        let help = "list tools, or remove the key to serve all";
                        reader.note(&entry.key_at, "no tool of this server is served", help);
                    }
                    only = Some((key, globs));
                }
            }
        });
    }
    ServerTools {
        only: only.map(|(_, globs)| globs).or_else(|| base.and_then(|base| base.only.clone())),
        never: never.or_else(|| base.map(|base| base.never.clone())).unwrap_or_default(),
    }
}

/// A list of names, or a single name.
fn names(reader: &mut Reader<'_>, node: &Rc<Node>) -> Option<Vec<Glob>> {
    let mut globs = Vec::new();
    for (index, item) in reader.items(node, "a list of tools by their names", true)?.into_iter().enumerate() {
        reader.within(&format!("[{index}]"), |reader| {
            let text = reader.text(item, "a tool's name")?;
            // Gemini CLI also writes `name(arguments)`, which means the tool.
            let name = text.expose().split('(').next().unwrap_or_default();
            globs.extend(glob(reader, item, name));
            Some(())
        });
    }
    Some(globs)
}

fn glob(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Glob> {
    let refused = |reader: &mut Reader<'_>, reason: &str| {
        reader.fault(&node.at, reason, "write the server's own name for the tool");
    };
    Glob::parse(name).map_err(|reason| refused(reader, reason)).ok()
}

/// The disabled tools of a mapping (`NAME: false`, `NAME: { enabled: false }`). `MCPHub` prefixes some names with the server's
/// name and a `-`.
fn switched_off(reader: &mut Reader<'_>, node: &Node, server: &str) -> Vec<Glob> {
    let mut off = Vec::new();
    let Some(fields) = reader.fields(node, "a mapping of tools") else { return off };
    for entry in fields.rest() {
        let is_off = reader.within(&entry.key, |reader| match &entry.value.kind {
            NodeKind::Null => false,
            NodeKind::Map(_) => {
                let Some(mut fields) = reader.fields(&entry.value, "a mapping with `enabled`") else {
                    return false;
                };
                let enabled = reader.flag_in(&mut fields, "enabled", true);
                let disabled = reader.flag_in(&mut fields, "disabled", false);
                disabled || !enabled
            }
            _ => reader.flag(&entry.value) == Some(false),
        });
        if !is_off {
            continue;
        }
        let own = entry.key.strip_prefix(server).and_then(|rest| rest.strip_prefix('-'));
        for name in own.into_iter().chain([entry.key.as_str()]) {
            off.extend(glob(reader, &entry.value, name));
        }
    }
    off
}

/// Rejects a remaining key that looks like a selection of tools, here or one level deeper. Returns false for any other key.
pub(crate) fn refuse(reader: &mut Reader<'_>, entry: &Entry) -> bool {
    if !looks_like_choice(&entry.key) {
        let NodeKind::Map(inner) = &entry.value.kind else { return false };
        let Some(inner) = inner.iter().find(|inner| looks_like_choice(&inner.key)) else { return false };
        reader.within(&inner.key, |reader| fault(reader, inner));
        return true;
    }
    fault(reader, entry);
    true
}

fn fault(reader: &mut Reader<'_>, entry: &Entry) {
    let known = KEYS.iter().map(|(key, _)| *key);
    let help = suggest::or(&entry.key, known, || {
        "write `excludeTools` or `includeTools` with a list of the server's own names, or remove the key"
            .to_owned()
    });
    let message = format!(
        "`{}` looks like a selection of tools in a form that Dragoman does not support",
        clip(&entry.key)
    );
    reader.fault(&entry.key_at, message, help);
}

fn looks_like_choice(key: &str) -> bool {
    let plain: String =
        key.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    plain.contains("tool") && CHOOSING_WORDS.iter().any(|word| plain.contains(word))
}
