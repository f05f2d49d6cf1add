//! The top level of the configuration as the rest of Dragoman sees it: checked and complete, with all defaults filled
//! in.

use std::net::{Ipv4Addr, SocketAddr};

use indexmap::IndexMap;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use crate::callers::access::AccessRule;
use crate::callers::auth::Auth;
use crate::callers::rates::{MAX_LIMITS, RateLimit};
use crate::callers::trusted_proxies::{Proxies, TrustedProxies};
use crate::dialects::columns::DialectDifference;
use crate::dialects::dialect_rows::Dialect;
use crate::operation::admin::Admin;
use crate::operation::audit::Audit;
use crate::operation::cluster::Cluster;
use crate::operation::log_format::LogFormat;
use crate::operation::management::Management;
use crate::operation::metrics::Metrics;
use crate::operation::readiness::Readiness;
use crate::profiles::profile::{DEFAULT_PROFILE, Profile};
use crate::reading::known::ReferenceKind;
use crate::reading::rows::section;
use crate::reading::section::{self, Section};
use crate::reading::spellings::{
    KnownName, MergedSection, Optional, Parsed, SchemaOnly, SectionOrFlag, Sections, Word, path, texts,
};
use crate::servers::consent::site;
use crate::servers::server::{DefinitionPolicy, Server};
use crate::serving::endpoints::{Endpoint, EndpointAuth};
use crate::serving::limits::Limits;
use crate::serving::listen::Addresses;
use crate::serving::tls::Tls;
use crate::values::check::{allowed_host, allowed_origin};
use crate::values::text::Text;

/// The default address: loopback only.
pub const DEFAULT_LISTEN: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 8808);

/// The maximum number of rules; there is a maximum because each call checks every rule.
const MAX_RULES: usize = 1000;

section! {
    /// The configuration of Dragoman: servers, views of servers, callers and limits.
    pub struct Config: "a mapping with `mcpServers`, `listen`, …" {
        /// Allows a file to name its own schema, and to keep anchors under `x-…`.
        fn adapt(schema: &mut Schema, _: &mut SchemaGenerator) {
            if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
                let own = json!({ "type": "string", "description": "This schema, for editors." });
                properties.insert("$schema".to_owned(), own);
            }
            schema.insert("patternProperties".to_owned(), json!({ "^x-": true }));
            schema.insert("title".to_owned(), "Dragoman configuration".into());
        }

        fn show_rest(&self, shown: &mut Map<String, Value>) {
            shown.insert("mcpServers".to_owned(), shown_by_name(&self.mcp_servers));
            shown.insert("profiles".to_owned(), shown_by_name(&self.profiles));
            if !self.endpoints.is_empty() {
                shown.insert("endpoints".to_owned(), self.endpoints.iter().map(section::shown).collect());
            }
            if !self.dialects.is_empty() {
                shown.insert("dialects".to_owned(), self.dialects.keys().cloned().collect());
            }
        }
    } [
        /// The address, or the addresses, to listen on: `127.0.0.1:8808`, `"[::1]:8808"`, or only a port, for the loopback
        /// address.
        "listen" listen: Vec<SocketAddr> = Addresses, default vec![DEFAULT_LISTEN];
        /// The path of a Unix socket at which clients and proxies on this machine can also connect. The owner and the group
        /// of the socket's file may connect. Clients at the socket count as clients at 127.0.0.1.
        "listenSocket" listen_socket: Option<Text> = Optional(path()), absent "none",
            see "[deploy.md](deploy.md#behind-a-proxy)";
        /// The files for TLS at the addresses in `listen`: `cert`, `key`, `clientCa`.
        "tls" tls: Option<Tls> = Optional(MergedSection), absent "no TLS", see "[tls.md](tls.md)";
        /// The servers behind Dragoman, by name, in the format of MCP clients. A name has 1 to 32 characters from
        /// `A-Z a-z 0-9 _ . -` and no `__`.
        "mcpServers" mcp_servers: IndexMap<String, Server> = SchemaOnly(by_name::<Server>), absent "none";
        /// Named views of some of the servers, each served at `/mcp/NAME`. The profile `default` is also served at `/mcp`.
        "profiles" profiles: IndexMap<String, Profile> = SchemaOnly(by_name::<Profile>),
            default IndexMap::from([(DEFAULT_PROFILE.to_owned(), Profile::default())]), absent "`default` with all servers";
        /// Additional paths that serve a profile.
        "endpoints" endpoints: Vec<Endpoint> =
            SchemaOnly(|generator| json_schema!({ "type": "array", "items": generator.subschema_for::<Endpoint>() })),
            absent "none";
        /// Upper bounds on sizes, counts and times.
        "limits" limits: Limits = MergedSection, see "[below](#limits)";
        /// Host names that a `Host` header may contain, in addition to the listening addresses: `mcp.example.com` or
        /// `mcp.example.com:8443`.
        "allowedHosts" allowed_hosts: Vec<String> = texts(allowed_host), absent "none";
        /// Web origins that may call from a browser, besides local ones: `https://app.example.com`.
        "allowedOrigins" allowed_origins: Vec<String> = texts(allowed_origin), absent "none";
        /// The accepted ways to authenticate.
        "auth" auth: Auth = MergedSection, absent "no authentication";
        /// Rules on who may use which tools, prompts and resources. Rules with `deny` always apply. If there is any
        /// rule with `allow`, everything that no rule allows is denied.
        "access" access: Vec<AccessRule> = Sections {
            what: "a list of rules",
            items: "rules",
            least: 0,
            most: MAX_RULES,
            help: "write at most 1000; one pattern can match many tools",
        }, absent "everyone may use everything", see "[access.md](access.md)";
        /// Limits on the number of requests within a period.
        "rateLimits" rate_limits: Vec<RateLimit> = Sections {
            what: "a list of limits",
            items: "limits",
            least: 0,
            most: MAX_LIMITS,
            help: "write at most 64",
        }, absent "none", see "[access.md](access.md)";
        /// A record of calls: `true`, or a mapping.
        "audit" audit: Option<Audit> = SectionOrFlag, absent "none", see "[audit.md](audit.md)";
        /// The condition on which `/ready` answers 200: `started` (each server was tried once, or its lists are known
        /// from an earlier run), `any` (at least one server can be used) or `all` (every server can be used). Servers with
        /// `optional` do not affect the answer.
        "ready" ready: Readiness = Word, see "[reliability.md](reliability.md#ready)";
        /// Allows servers and profiles to be changed over HTTP while Dragoman is running: `true`, or a mapping. Callers
        /// that may make such changes can start programs.
        "management" management: Option<Management> = SectionOrFlag, absent "off", see "[management.md](management.md)";
        /// Serves pages at `/admin` on which operators can see and manage Dragoman: `true`, or a mapping. Operators can
        /// start programs.
        "admin" admin: Option<Admin> = SectionOrFlag, absent "off", see "[admin.md](admin.md)";
        /// Metrics for Prometheus at `/metrics`: `true`, or a mapping.
        "metrics" metrics: Option<Metrics> = SectionOrFlag, absent "off", see "[telemetry.md](telemetry.md)";
        /// The format of the log of `dragoman serve`: `pretty` (lines for people), `json` (one object per line) or `auto`
        /// (`pretty` on a terminal, `json` everywhere else). `--log-format` and the variable `DRAGOMAN_LOG_FORMAT` take
        /// precedence.
        "logFormat" log_format: LogFormat = Word, see "[telemetry.md](telemetry.md#the-log)";
        /// The handling of tools whose definitions change, and of new tools, for servers that do not set their own: `warn`
        /// (serve them and log a warning), `hold` (hide them until somebody approves them) or `allow` (do not compare).
        "definitions" definitions: DefinitionPolicy = Word,
            see "[security.md](security.md#when-a-server-changes-its-tools)";
        /// The dialect of profiles that do not set their own: `standard`, another built-in dialect, or one of `dialects`.
        "dialect" dialect: Option<String> = Optional(KnownName(ReferenceKind::Dialect)), absent "`standard`",
            see "[dialects.md](dialects.md)";
        /// Your own dialects, each with a `base` and the differences from that base.
        "dialects" dialects: IndexMap<String, Dialect> = SchemaOnly(by_name::<DialectDifference>), absent "none";
        /// The folder for keys, records and consents.
        "stateFolder" state_folder: Option<Text> = Optional(path()), absent "`dragoman` in the user's data folder";
        /// The file with the keys that seal session ids and other data which clients hold and send back. Processes that
        /// share the file accept each other's data.
        "keyRing" key_ring: Option<Text> = Optional(path()), absent "`keyring` in the state folder",
            see "[keyring.md](keyring.md)";
        /// Lets several gateways share sessions and API keys through a store (Valkey or Redis).
        "cluster" cluster: Option<Cluster> = Optional(MergedSection), absent "none; this gateway works alone",
            see "[cluster.md](cluster.md)";
        /// The URL at which browsers reach Dragoman, without an endpoint's path: `https://mcp.example.com`. Browsers return
        /// to this URL after users have given consent to a server.
        "publicUrl" public_url: Option<String> = Optional(Parsed("a URL", site)),
            absent "the host of `auth.oauth.resource`, or else the listening address", see "[consent.md](consent.md)";
        /// The proxies that Dragoman trusts to name the client in `X-Forwarded-For`: `true` for one proxy, the number of
        /// proxies, or the networks of the proxies. This setting applies to `access` rules with `ip`, limits, quotas and
        /// the audit log. Set this key only if clients reach Dragoman through such proxies; a client that reaches Dragoman
        /// directly can write any address into the header.
        "trustForwardedFor" trust_forwarded_for: TrustedProxies = Proxies, see "[access.md](access.md#behind-a-proxy)";
    ]
}

fn by_name<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object", "additionalProperties": generator.subschema_for::<T>() })
}

fn shown_by_name<S: Section>(sections: &IndexMap<String, S>) -> Value {
    Value::Object(sections.iter().map(|(name, one)| (name.clone(), section::shown(one))).collect())
}

impl Config {
    /// Resolves the relative path of `listenSocket` against the folder of the configuration.
    pub fn resolve_files(&mut self, folder: &std::path::Path) {
        self.listen_socket = self.listen_socket.take().map(|path| path.in_folder(folder));
    }

    /// Returns the whole configuration in force as JSON: defaults are filled in, and secrets are masked. Of dialects, only
    /// the names are shown.
    pub fn shown(&self) -> Value {
        section::shown(self)
    }

    /// Returns true if changes that operators make at run time are stored.
    pub fn keeps_changes(&self) -> bool {
        self.management.is_some() || self.admin.is_some()
    }

    /// Returns true if the default profile contains all servers because none were chosen. An explicit list of all
    /// servers is a choice, too.
    pub fn default_has_all(&self) -> bool {
        self.profiles.get(DEFAULT_PROFILE).is_some_and(|profile| !profile.chosen)
    }

    /// Returns true if every caller has to authenticate at every endpoint.
    pub fn asks_everybody(&self) -> bool {
        self.auth.asks() && self.endpoints.iter().all(|endpoint| endpoint.auth == EndpointAuth::Inherit)
    }

    /// The dialect of a profile unless an endpoint overrides it; `None` for the standard.
    pub fn dialect_of(&self, profile: &str) -> Option<&str> {
        let own = self.profiles.get(profile).and_then(|profile| profile.dialect.as_deref());
        own.or(self.dialect.as_deref())
    }

    /// The custom or built-in dialect with this name.
    pub fn dialect_named(&self, name: &str) -> Option<Dialect> {
        self.dialects.get(name).cloned().or_else(|| Dialect::base(name))
    }
}
