//! Rules of a profile about tools or arguments that the server does not list, because of a typo or because the
//! server has renamed them. Such a rule may have no effect, so it is reported to people. Servers may list more for
//! other clients, so a note covers only the lists that these clients see. This module must not know what a rule
//! does.

use std::collections::HashSet;

use config::{Glob, Profile, ToolSetting};
use proto::json::{Members, Span};

use super::names::SEPARATOR;
use super::part::Part;
use super::{Item, ListKind};

/// The maximum number of notes about one server.
const MOST: usize = 8;

/// Notes on the rules that refer to nothing, for all servers whose lists are up to date.
pub(super) fn unused_rules(profile: &Profile, parts: &[Part<'_>]) -> Vec<String> {
    let is_current =
        |part: &&Part<'_>| part.catalogue.is_confirmed && part.catalogue.failure(ListKind::Tools).is_none();
    let each = parts.iter().filter(is_current).flat_map(|part| {
        let found = of_tools(profile, part).into_iter().chain(of_arguments(profile, part));
        found.take(MOST).collect::<Vec<_>>()
    });
    each.collect()
}

/// Rules about tools that the server does not list.
fn of_tools(profile: &Profile, part: &Part<'_>) -> Vec<String> {
    let (server, rules) = (&*part.upstream.name, &profile.tools);
    let exact = rules.deny.iter().map(Glob::as_str).filter(|name| !name.contains(['*', '?']));
    let denied = exact.map(|name| ("deny", name));
    let renamed = rules.rename.keys().map(|name| ("rename", name.as_str()));
    let own = |name| -> Option<&str> { str::strip_prefix(name, server)?.strip_prefix(SEPARATOR) };
    let named = denied.chain(renamed).filter_map(|(key, name)| Some((key, own(name)?)));
    let settings = profile.tool_settings.0.get(server).into_iter().flatten();
    let all: Vec<(&str, &str)> =
        named.chain(settings.map(|(tool, _)| ("overrides", tool.as_str()))).collect();
    if all.is_empty() {
        return Vec::new();
    }
    let listed: HashSet<&str> = tools(part).map(|tool| tool.key.as_str()).collect();
    let unused = all.into_iter().filter(|(_, tool)| !listed.contains(tool));
    unused
        .map(|(key, tool)| {
            format!("tools.{key}: server {server} lists no tool {tool:?} to these clients; check the name")
        })
        .collect()
}

/// Changes to arguments that the server's tool does not have.
fn of_arguments(profile: &Profile, part: &Part<'_>) -> Vec<String> {
    let server = &*part.upstream.name;
    let Some(settings) = profile.tool_settings.0.get(server) else { return Vec::new() };
    let changed = settings.iter().filter(|(_, setting)| !setting.arguments.is_empty());
    let mut notes = Vec::new();
    for (tool, setting) in changed {
        let Some(item) = tools(part).find(|item| item.key == *tool) else { continue };
        notes.extend(unknown(item, setting).map(|argument| {
            format!("tools.overrides: tool {tool:?} of server {server} has no argument {argument:?}")
        }));
    }
    notes
}

/// The changed arguments that are not in the tool's input schema.
fn unknown<'s>(tool: &Item, setting: &'s ToolSetting) -> impl Iterator<Item = &'s str> {
    let schema = tool.member("inputSchema");
    let has = move |argument: &str| {
        let known = schema.as_deref().and_then(|schema| {
            let properties =
                Members::of_value(schema, Span::new(0, schema.len()))?.get(schema, "properties")?;
            Members::of_value(schema, properties)?.get(schema, argument)
        });
        known.is_some()
    };
    setting.arguments.keys().map(String::as_str).filter(move |argument| !has(argument))
}

fn tools<'p>(part: &'p Part<'_>) -> impl Iterator<Item = &'p Item> {
    part.catalogue.list(ListKind::Tools).iter().chain(part.catalogue.held())
}
