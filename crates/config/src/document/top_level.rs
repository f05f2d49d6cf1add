//! Reads the top level of a configuration: first the keys that other keys refer to, then the rest according
//! to the table.

use std::rc::Rc;

use super::advice;
use super::claims;
use super::model::Config;
use super::names::Offers;
use crate::dialects;
use crate::operation::management;
use crate::profiles::profile;
use crate::reading::known::ReferenceKind;
use crate::reading::reader::{Fields, Reader};
use crate::reading::section::{self, Section};
use crate::servers::mcp_servers;
use crate::serving::endpoints;
use crate::syntax::parse::{Entry, Node, NodeKind};
use crate::values::suggest;
use crate::values::wording::clip;
use crate::values::words::is_word_of;

/// Keys that occur beside `mcpServers` in the files of clients; they concern only those clients.
const FOREIGN_KEYS: &str = "advanced context experimental general globalShortcut hooks ide inputs isUsingBuiltInNodeForMcp mcp \
    model output preferences privacy sandbox security selectedAuthType telemetry theme tools ui version";

/// Reads the configuration on top of `base`: keys that are missing in the file keep their values from `base`.
pub(crate) fn read(reader: &mut Reader<'_>, root: &Rc<Node>, base: Config, offers: &Offers<'_>) -> Config {
    let mut config = base;
    let Some(mut fields) = reader.fields(root, Config::WHAT) else { return config };
    fields.take("$schema");
    let default_has_all = config.default_has_all();
    read_servers(reader, &mut fields, &mut config);
    if let Some(entry) = fields.take("dialects") {
        reader.within("dialects", |reader| dialects::custom::read(reader, entry, &mut config.dialects));
    }
    reader.known.add(ReferenceKind::Dialect, dialects::custom::names(&config.dialects));
    let before = reader.faults_so_far();
    let profiles = fields.take("profiles");
    let base = std::mem::take(&mut config.profiles);
    config.profiles =
        reader.within("profiles", |reader| profile::read(reader, profiles, default_has_all, base));
    reader.known.add(ReferenceKind::Profile, config.profiles.keys().cloned());
    section::take_key(reader, &mut fields, "dialect", &mut config);
    read_endpoints(reader, &mut fields, &mut config, before);
    section::take(reader, &mut fields, &Entry::whole(root), &mut config);
    // A disabled server may lack a value, and is then left out; profiles must name only existing servers.
    for profile in config.profiles.values_mut() {
        profile.servers.retain(|name| config.mcp_servers.contains_key(name));
    }
    if let Some(opens) = root.entry("management").or(root.entry("auth")) {
        let Config { management, auth, .. } = &config;
        reader.within("management", |reader| {
            management::check(reader, management.as_ref(), auth, &opens.key_at);
        });
    }
    refuse_rest(reader, fields);
    if reader.faults_so_far() == 0 {
        advice::give(reader, root, &config, offers);
    }
    config
}

/// Reads the endpoints at which profiles are served.
fn read_endpoints(reader: &mut Reader<'_>, fields: &mut Fields<'_>, config: &mut Config, before: usize) {
    let mut written = endpoints::EndpointPositions::new();
    let mut at = 0..0;
    if let Some(entry) = fields.take("endpoints") {
        let base = std::mem::take(&mut config.endpoints);
        let streams = |dialect: Option<&str>, profile: &str| {
            let name = dialect.or_else(|| config.dialect_of(profile));
            name.is_some_and(|name| dialects::custom::has_streams(name, &config.dialects))
        };
        let read = reader.within("endpoints", |reader| endpoints::read(reader, entry, base, &streams));
        (config.endpoints, written) = read;
        at = entry.key_at.clone();
    }
    // If a profile or a dialect could not be read, the check of endpoints would report false faults.
    if reader.faults_so_far() == before {
        claims::check(reader, config, &written, &at);
    }
}

/// Reads `mcpServers`, or `servers` as one editor calls it, on top of the existing servers. The result contains the
/// names of all servers, including those that could not be read; otherwise, these would be reported as unknown.
fn read_servers(reader: &mut Reader<'_>, fields: &mut Fields<'_>, config: &mut Config) {
    let own = fields.take("mcpServers");
    let other = fields.take("servers");
    if let (Some(_), Some(other)) = (own, other) {
        let help = "move the servers of `servers` to `mcpServers`";
        reader.within("servers", |r| {
            r.fault(&other.key_at, "`mcpServers` and `servers` mean the same thing", help);
        });
    }
    let base = &config.mcp_servers;
    let read =
        |entry: &Entry| reader.within(&entry.key, |reader| mcp_servers::read(reader, &entry.value, base));
    let found = own.or(other).map(read);
    if found.is_none() && config.mcp_servers.is_empty() {
        note_no_servers(reader, fields.at.start);
    }
    let found = found.unwrap_or_default();
    reader.known.add(ReferenceKind::Server, config.mcp_servers.keys().cloned().chain(found.names));
    config.mcp_servers.extend(found.servers);
}

/// The configuration of an empty file.
pub(crate) fn nothing(reader: &mut Reader<'_>, base: Config) -> Config {
    if base.mcp_servers.is_empty() {
        note_no_servers(reader, 0);
    }
    let profiles = if base.profiles.is_empty() { Config::default().profiles } else { base.profiles };
    Config { profiles, ..base }
}

/// Adds a note for a configuration without servers, which is valid but hardly intended.
fn note_no_servers(reader: &mut Reader<'_>, at: usize) {
    let help = "add `mcpServers:` with at least one entry";
    reader.note(&(at..at), "there are no servers, so there is nothing to serve", help);
}

fn refuse_rest(reader: &mut Reader<'_>, fields: Fields<'_>) {
    let known: Vec<&str> = section::keys::<Config>().into_iter().chain(["$schema"]).collect();
    let mut unknown = Vec::new();
    for entry in fields.rest() {
        let key = entry.key.as_str();
        if is_word_of(key, FOREIGN_KEYS) {
            let help = match key {
                "inputs" => "write ${NAME} instead of ${input:…}, and set that variable",
                // Gemini's key, under which servers may be excluded.
                "mcp" => "choose servers per profile: profiles.default.servers",
                "sandbox" => "Dragoman starts servers without a sandbox: let `command` start them in one",
                _ => "no change needed; you can keep it",
            };
            reader.within(key, |r| r.note(&entry.key_at, format!("`{key}` is not used by Dragoman"), help));
        } else if key.starts_with("x-") {
            // A key for anchors that are used elsewhere in the file.
        } else if looks_like_server(&entry.value)
            && suggest::nearest(key, section::keys::<Config>()).is_none()
        {
            let message = format!("unknown key `{}`, which looks like a server", clip(key));
            reader.within(key, |r| r.fault(&entry.key_at, message, "put it under `mcpServers:`"));
        } else {
            unknown.push(entry);
        }
    }
    reader.refuse(&unknown, &known);
}

fn looks_like_server(node: &Node) -> bool {
    let NodeKind::Map(entries) = &node.kind else { return false };
    entries.iter().any(|entry| matches!(entry.key.as_str(), "command" | "url" | "native"))
}
