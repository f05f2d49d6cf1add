//! Reads the top level of a configuration and its limits.

use std::net::SocketAddr;

use indexmap::{IndexMap, IndexSet};

use super::access;
use super::advice;
use super::audit;
use super::auth;
use super::check;
use super::claims::{self, Written};
use super::consent;
use super::dialects;
use super::endpoints;
use super::limits::{LimitRow, Limits, Unit};
use super::management;
use super::model::{Config, DEFAULT_LISTEN, DEFAULT_PROFILE};
use super::names::Offers;
use super::parse::{Entry, Kind, Node};
use super::pieces::{self, Known};
use super::profiles;
use super::proxies;
use super::rates;
use super::read::{Fields, Reader, clip};
use super::servers;
use super::source::Span;
use super::suggest;
use super::tls;
use super::units;

const KEYS: &[&str] = &[
    "listen",
    "tls",
    "mcpServers",
    "profiles",
    "endpoints",
    "dialect",
    "dialects",
    "auth",
    "access",
    "rateLimits",
    "audit",
    "management",
    "limits",
    "allowedHosts",
    "allowedOrigins",
    "stateFolder",
    "publicUrl",
    "trustForwardedFor",
    "$schema",
];

/// The most addresses to listen on.
const MAX_LISTEN: usize = 64;

/// Keys beside `mcpServers` in the files of clients; they concern those clients alone.
const FOREIGN_KEYS: &[&str] = &[
    "advanced",
    "context",
    "experimental",
    "general",
    "globalShortcut",
    "hooks",
    "ide",
    "inputs",
    "isUsingBuiltInNodeForMcp",
    "mcp",
    "model",
    "output",
    "preferences",
    "privacy",
    "sandbox",
    "security",
    "selectedAuthType",
    "telemetry",
    "theme",
    "tools",
    "ui",
    "version",
];

/// The configuration on top of `base`: what the file does not say stays as it is there.
pub(super) fn read(reader: &mut Reader<'_>, root: &Node, base: Config, offers: &Offers<'_>) -> Config {
    let mut config = base;
    let what = "a mapping with `mcpServers`, `listen`, …";
    let Some(mut fields) = reader.fields(root, what) else { return config };
    fields.take("$schema");
    let default_has_all = config.default_has_all();
    let names = read_servers(reader, &mut fields, &mut config);
    if let Some(entry) = fields.take("listen") {
        config.listen = reader.within("listen", |reader| read_listen(reader, entry)).unwrap_or_default();
    }
    if let Some(entry) = fields.take("tls") {
        config.tls = reader.within("tls", |reader| tls::read(reader, entry));
    }
    if let Some(entry) = fields.take("dialects") {
        reader.within("dialects", |reader| dialects::read(reader, entry, &mut config.dialects));
    }
    read_views(reader, &mut fields, &mut config, &names, default_has_all);
    read_guards(reader, &mut fields, &mut config, &names);
    if let Some(entry) = fields.take("limits") {
        let base = config.limits.clone();
        config.limits = reader.within("limits", |reader| read_limits(reader, entry, base));
    }
    if let Some(entry) = fields.take("allowedHosts") {
        config.allowed_hosts = pieces::texts(reader, entry, check::allowed_host);
    }
    if let Some(entry) = fields.take("allowedOrigins") {
        config.allowed_origins = pieces::texts(reader, entry, check::allowed_origin);
    }
    if let Some(entry) = fields.take("stateFolder") {
        config.state_folder = reader.within("stateFolder", |reader| pieces::path(reader, entry));
    }
    if let Some(entry) = fields.take("publicUrl") {
        config.public_url = reader.within("publicUrl", |reader| consent::public_url(reader, entry));
    }
    if let Some(entry) = fields.take("trustForwardedFor") {
        let read = reader.within("trustForwardedFor", |reader| proxies::read(reader, &entry.value));
        config.trust_forwarded_for = read.unwrap_or_default();
    }
    // A server that is switched off may lack a value and so be missing; a profile names only servers that are there.
    for profile in config.profiles.values_mut() {
        profile.servers.retain(|name| config.mcp_servers.contains_key(name));
    }
    refuse_rest(reader, fields);
    if reader.faults_so_far() == 0 {
        advice::give(reader, root, &config, offers);
    }
    config
}

impl Config {
    /// Does the default profile have all servers, because nobody chose some? One that names them all has been chosen.
    pub fn default_has_all(&self) -> bool {
        self.profiles.get(DEFAULT_PROFILE).is_some_and(|profile| !profile.chosen)
    }
}

/// Profiles and the places at which they are served.
fn read_views(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
    config: &mut Config,
    servers: &IndexSet<String>,
    default_has_all: bool,
) {
    let faults = reader.faults_so_far();
    let names = dialects::names(&config.dialects);
    let dialects = dialects::known(&names);
    if let Some(name) = pieces::known_name(reader, fields, "dialect", &dialects) {
        config.dialect = Some(name);
    }
    let around = profiles::Around { servers, dialects: dialects.clone(), default_has_all };
    let base = std::mem::take(&mut config.profiles);
    config.profiles = profiles::read(reader, fields.take("profiles"), &around, base);
    let mut written = Written::new();
    let mut at = fields.at.start..fields.at.start;
    if let Some(entry) = fields.take("endpoints") {
        let profiles = known_keys("profile", &config.profiles);
        let base = std::mem::take(&mut config.endpoints);
        let (all, own, every) = (&config.profiles, &config.dialects, config.dialect.as_deref());
        let streams = |dialect: Option<&str>, profile: &str| {
            let of_profile = || all.get(profile).and_then(|profile| profile.dialect.as_deref()).or(every);
            dialect.or_else(of_profile).is_some_and(|name| dialects::has_streams(name, own))
        };
        let around = endpoints::Around { profiles, dialects, streams: &streams };
        (config.endpoints, written) = endpoints::read(reader, entry, &around, base);
        at = entry.key_at.clone();
    }
    // A profile or a dialect that could not be read would make endpoints look other than they are.
    if reader.faults_so_far() == faults {
        claims::check(reader, config, &written, &at);
    }
}

/// Who may do what, how often, and what is written down of it.
fn read_guards(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
    config: &mut Config,
    servers: &IndexSet<String>,
) {
    let mut opens_to_all = None;
    if let Some(entry) = fields.take("auth") {
        opens_to_all = Some(entry.key_at.clone());
        let base = std::mem::take(&mut config.auth);
        config.auth = reader.within("auth", |reader| auth::read(reader, entry, base));
    }
    let profiles = known_keys("profile", &config.profiles);
    if let Some(entry) = fields.take("rateLimits") {
        config.rate_limits = reader.within("rateLimits", |reader| rates::read(reader, entry, &profiles));
    }
    if let Some(entry) = fields.take("access") {
        let servers = Known { what: "server", names: servers.iter().map(String::as_str).collect() };
        let names = access::Names { profiles, servers };
        config.access = reader.within("access", |reader| access::read(reader, entry, &names));
    }
    if let Some(entry) = fields.take("audit") {
        let base = config.audit.take();
        config.audit = reader.within("audit", |reader| audit::read(reader, entry, base));
    }
    if let Some(entry) = fields.take("management") {
        opens_to_all = Some(entry.key_at.clone());
        let base = config.management.take();
        config.management = reader.within("management", |reader| management::read(reader, entry, base));
    }
    if let Some(at) = opens_to_all {
        let Config { management, auth, .. } = &*config;
        reader.within("management", |reader| management::check(reader, management.as_ref(), auth, &at));
    }
}

fn known_keys<'k, T>(what: &'static str, map: &'k IndexMap<String, T>) -> Known<'k> {
    Known { what, names: map.keys().map(String::as_str).collect() }
}

/// `mcpServers`, or `servers` as one editor calls it, on top of those that there are; the names of all, even of those that
/// could not be read, so that nobody calls them unknown.
fn read_servers(reader: &mut Reader<'_>, fields: &mut Fields<'_>, config: &mut Config) -> IndexSet<String> {
    let own = fields.take("mcpServers");
    let other = fields.take("servers");
    if let (Some(_), Some(other)) = (own, other) {
        let mend = "move its servers under `mcpServers`";
        reader.within("servers", |r| {
            r.fault(&other.key_at, "`mcpServers` and `servers` say the same thing", mend);
        });
    }
    let base = &config.mcp_servers;
    let read = |entry: &Entry| reader.within(&entry.key, |reader| servers::read(reader, &entry.value, base));
    let found = own.or(other).map(read);
    if found.is_none() && config.mcp_servers.is_empty() {
        note_no_servers(reader, fields.at.start);
    }
    let found = found.unwrap_or_default();
    let mut names: IndexSet<String> = config.mcp_servers.keys().cloned().collect();
    names.extend(found.names);
    config.mcp_servers.extend(found.servers);
    names
}

/// A file that says nothing.
pub(super) fn nothing(reader: &mut Reader<'_>, base: Config) -> Config {
    if base.mcp_servers.is_empty() {
        note_no_servers(reader, 0);
    }
    let profiles = if base.profiles.is_empty() { Config::default().profiles } else { base.profiles };
    Config { profiles, ..base }
}

/// Allowed, but hardly what somebody wants.
fn note_no_servers(reader: &mut Reader<'_>, at: usize) {
    let mend = "add `mcpServers:` with one entry or more";
    reader.note(&(at..at), "there are no servers, so nothing is offered", mend);
}

fn read_listen(reader: &mut Reader<'_>, entry: &Entry) -> Option<Vec<SocketAddr>> {
    let mut addresses: Vec<SocketAddr> = Vec::new();
    let items = reader.items(&entry.value, "an address such as 127.0.0.1:8808, or a list of them", true)?;
    if items.is_empty() || items.len() > MAX_LISTEN {
        let mend = format!("write {DEFAULT_LISTEN}, or a list of 1 to {MAX_LISTEN} addresses");
        reader.fault(&entry.value.at, format!("a list of {} addresses to listen on", items.len()), mend);
        return None;
    }
    for item in items {
        let Some(text) = reader.text(item, "an address such as 127.0.0.1:8808") else { continue };
        let Some(address) = reader.sound_text(&item.at, &text, check::listen(text.expose())) else {
            continue;
        };
        if address.port() != 0 && addresses.contains(&address) {
            reader.fault(&item.at, format!("`{}` stands twice", clip(text.shown())), "keep one of the two");
            continue;
        }
        addresses.push(address);
    }
    Some(addresses)
}

fn read_limits(reader: &mut Reader<'_>, entry: &Entry, base: Limits) -> Limits {
    let mut limits = base;
    let Some(mut fields) = reader.fields(&entry.value, "a mapping of limits") else { return limits };
    let mut idle_at = None;
    let mut whole_is_set = false;
    for row in Limits::ROWS {
        let Some(entry) = fields.take(row.key) else { continue };
        if let Some(value) = reader.within(row.key, |reader| read_limit(reader, row, &entry.value)) {
            (row.set)(&mut limits, value);
        }
        match row.key {
            "callIdleTimeout" => idle_at = Some(entry.value.at.clone()),
            "callTimeout" => whole_is_set = true,
            _ => {}
        }
    }
    reconcile_timeouts(reader, &mut limits, idle_at.filter(|_| whole_is_set));
    let known: Vec<&str> = Limits::ROWS.iter().map(|row| row.key).collect();
    reader.refuse(&fields.rest(), &known);
    limits
}

/// A default gives way to what somebody set; two values that somebody set must agree.
fn reconcile_timeouts(reader: &mut Reader<'_>, limits: &mut Limits, both_set: Option<Span>) {
    let (idle, whole) = (limits.call_idle_timeout, limits.call_timeout);
    if idle <= whole {
        return;
    }
    if let Some(at) = both_set {
        let (idle, whole) = (units::show_time(idle), units::show_time(whole));
        let message = format!("a call may be silent for {idle}, but last only {whole}");
        reader
            .within("callIdleTimeout", |r| r.fault(&at, message, "make callIdleTimeout at most callTimeout"));
    } else if whole < Limits::default().call_timeout {
        limits.call_idle_timeout = whole;
    } else {
        limits.call_timeout = idle;
    }
}

fn read_limit(reader: &mut Reader<'_>, row: &LimitRow, node: &Node) -> Option<u64> {
    let what = match row.unit {
        Unit::Bytes => "bytes such as 65536, 64KiB or 4MiB",
        Unit::Count => "a whole number",
        Unit::Time => "a time such as 500ms, 30s, 10m, 1h or a number of seconds",
    };
    let text = reader.text(node, what)?;
    let value = match row.unit {
        Unit::Bytes => units::parse_bytes(text.expose()),
        Unit::Count => text.expose().parse().ok(),
        Unit::Time => {
            units::parse_time(text.expose()).map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
        }
    };
    let Some(value) = value else {
        reader.wrong_kind(node, what);
        return None;
    };
    if !(row.least..=row.most).contains(&value) {
        let (least, most) = (row.unit.show(row.least), row.unit.show(row.most));
        let message = format!(
            "{} is out of bounds",
            if text.hides() { clip(text.shown()) } else { row.unit.show(value) }
        );
        reader.fault(
            &node.at,
            message,
            format!("write a value from {least} to {most}; the default is {}", row.unit.show(row.default)),
        );
        return None;
    }
    Some(value)
}

fn refuse_rest(reader: &mut Reader<'_>, fields: Fields<'_>) {
    let mut unknown = Vec::new();
    for entry in fields.rest() {
        let key = entry.key.as_str();
        if FOREIGN_KEYS.contains(&key) {
            let mend = match key {
                "inputs" => "write ${NAME} for ${input:…} and set that variable",
                // Gemini's, which may leave servers out.
                "mcp" => "choose servers per profile: profiles.default.servers",
                "sandbox" => "Dragoman starts servers without a sandbox: let `command` start them in one",
                _ => "nothing to do; it may stay",
            };
            reader.within(key, |r| r.note(&entry.key_at, format!("`{key}` is not used by Dragoman"), mend));
        } else if key.starts_with("x-") {
            // A place for anchors that are used elsewhere in the file.
        } else if looks_like_server(&entry.value) && suggest::nearest(key, KEYS.iter().copied()).is_none() {
            let message = format!("unknown key `{}`, which looks like a server", clip(key));
            reader.within(key, |r| r.fault(&entry.key_at, message, "put it under `mcpServers:`"));
        } else {
            unknown.push(entry);
        }
    }
    reader.refuse(&unknown, KEYS);
}

fn looks_like_server(node: &Node) -> bool {
    let Kind::Map(entries) = &node.kind else { return false };
    entries.iter().any(|entry| matches!(entry.key.as_str(), "command" | "url" | "native"))
}
