//! The configuration as the rest of Dragoman sees it: checked, complete, with every default filled in. The doc comments of
//! these types are what `dragoman.schema.json` says to an editor. This module knows nothing of YAML, files or faults; `read`
//! makes these values out of what somebody wrote.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use http::HeaderName;
use indexmap::IndexMap;
use schemars::JsonSchema;

use super::access::AccessRule;
use super::audit::Audit;
use super::auth::Auth;
use super::consent::OAuthClient;
pub use super::endpoint::{Endpoint, EndpointAuth, EndpointTransport};
use super::glob::Glob;
use super::limits::Limits;
use super::management::Management;
use super::native::NativeLink;
use super::proxies::TrustedProxies;
use super::rates::RateLimit;
use super::server_tools::ServerTools;
use super::settings::ToolSettings;
use super::text::Text;
use super::tls::Tls;
use super::written;
use crate::dialect_rows::Dialect;

/// The profile that is served at `/mcp`; when nobody writes one, it has all servers in file order.
pub const DEFAULT_PROFILE: &str = "default";

/// Where Dragoman listens when nobody says otherwise: loopback only.
pub const DEFAULT_LISTEN: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 8808);

/// What Dragoman serves, where, to whom and within which limits.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
#[schemars(title = "Dragoman configuration", rename_all = "camelCase", deny_unknown_fields)]
#[schemars(transform = written::allow_schema_key)]
pub struct Config {
    /// The address, or the addresses, to listen on: `127.0.0.1:8808`, `[::1]:8808`, or a port alone, which means
    /// loopback.
    #[schemars(with = "Option<written::OneOrMany<written::Listen>>", extend("default" = "127.0.0.1:8808"))]
    pub listen: Vec<SocketAddr>,
    /// Speak TLS at all of these addresses, with a certificate from files.
    #[schemars(with = "Option<Tls>")]
    pub tls: Option<Tls>,
    /// The servers behind Dragoman, by name, as every MCP client writes them. A name has 1 to 32 of
    /// `A-Z a-z 0-9 _ . -` and no `__`.
    #[schemars(with = "Option<std::collections::BTreeMap<String, Server>>")]
    pub mcp_servers: IndexMap<String, Server>,
    /// Named views on some of the servers, each served at `/mcp/{name}`; the one named `default` also at `/mcp`.
    /// Without a `default` there is one with all servers.
    #[schemars(with = "Option<std::collections::BTreeMap<String, Profile>>")]
    pub profiles: IndexMap<String, Profile>,
    /// Further paths at which a profile is served.
    #[schemars(with = "Option<Vec<Endpoint>>")]
    pub endpoints: Vec<Endpoint>,
    /// How much of everything is too much.
    #[schemars(with = "Option<Limits>")]
    pub limits: Limits,
    /// Names besides the listening addresses that a `Host` header may carry: `mcp.example.com` or
    /// `mcp.example.com:8443`.
    #[schemars(with = "Option<Vec<String>>")]
    pub allowed_hosts: Vec<String>,
    /// Web origins besides our own that a browser may call from: `https://app.example.com`.
    #[schemars(with = "Option<Vec<String>>")]
    pub allowed_origins: Vec<String>,
    /// Whom Dragoman knows, and how they show who they are. Without it nobody is asked.
    #[schemars(with = "Option<Auth>")]
    pub auth: Auth,
    /// Who may use which tools, prompts and resources. Rules that deny always count; as soon as there is one that allows,
    /// only what is allowed may be used.
    #[schemars(with = "Option<Vec<AccessRule>>")]
    pub access: Vec<AccessRule>,
    /// A limit on how many requests may come in a time.
    #[schemars(with = "Option<Vec<RateLimit>>")]
    pub rate_limits: Vec<RateLimit>,
    /// A record of all calls: `true`, or a mapping. None is kept when left out.
    #[schemars(with = "Option<written::OrFlag<Audit>>")]
    pub audit: Option<Audit>,
    /// Let servers and profiles be changed over HTTP while Dragoman serves: `true`, or a mapping. Whoever may do that can
    /// start programs.
    #[schemars(with = "Option<written::OrFlag<Management>>")]
    pub management: Option<Management>,
    /// How profiles behave that do not say it themselves: `standard`, another built-in dialect, or one of `dialects`.
    #[schemars(with = "Option<String>")]
    pub dialect: Option<String>,
    /// Dialects of one's own: a `base`, and what differs from it.
    #[schemars(with = "Option<std::collections::BTreeMap<String, super::columns::DialectDifference>>")]
    pub dialects: IndexMap<String, Dialect>,
    /// The folder of what is kept (keys, the record of calls, consents); `dragoman` in the user's folder for data when left out.
    #[schemars(with = "Option<String>")]
    pub state_folder: Option<Text>,
    /// Where browsers find Dragoman, without the path of an endpoint: `https://mcp.example.com`. Users are sent back there
    /// when they have given consent to a server. The host of `auth.oauth.resource`, or the listening address, when left
    /// out.
    pub public_url: Option<String>,
    /// The proxies that are trusted to name the client in `X-Forwarded-For`: `true` for one, a number for so many in a row, or
    /// a list of the networks that they are in. It counts for `access` rules with `ip`, limits, quotas and the record of calls.
    /// Only behind such proxies: anybody else may write there what they like.
    #[schemars(with = "Option<TrustedProxies>", extend("default" = false))]
    pub trust_forwarded_for: TrustedProxies,
}

impl Config {
    /// Returns true if everybody who can log in may change servers, because nobody says who may. A file that says so is refused;
    /// parts of two may come to it.
    pub fn is_managed_by_every_login(&self) -> bool {
        super::management::is_for_every_login(self.management.as_ref(), &self.auth)
    }

    /// Does everybody, everywhere, have to show who they are?
    pub fn asks_everybody(&self) -> bool {
        self.auth.asks() && self.endpoints.iter().all(|endpoint| endpoint.auth == EndpointAuth::Inherit)
    }

    /// The dialect of a profile where no endpoint says otherwise; `None` for the standard.
    pub fn dialect_of(&self, profile: &str) -> Option<&str> {
        let own = self.profiles.get(profile).and_then(|profile| profile.dialect.as_deref());
        own.or(self.dialect.as_deref())
    }

    /// The dialect of this name: one's own, or a built-in one.
    pub fn dialect_named(&self, name: &str) -> Option<Dialect> {
        self.dialects.get(name).cloned().or_else(|| Dialect::base(name))
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: vec![DEFAULT_LISTEN],
            tls: None,
            mcp_servers: IndexMap::new(),
            profiles: IndexMap::from([(DEFAULT_PROFILE.to_owned(), Profile::default())]),
            endpoints: Vec::new(),
            limits: Limits::default(),
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            auth: Auth::default(),
            access: Vec::new(),
            rate_limits: Vec::new(),
            audit: None,
            management: None,
            dialect: None,
            dialects: IndexMap::new(),
            state_folder: None,
            public_url: None,
            trust_forwarded_for: TrustedProxies::Nobody,
        }
    }
}

/// One server behind Dragoman: a command to start, a URL to call, or tools of Dragoman's own.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub struct Server {
    /// How the server is reached.
    #[schemars(flatten)]
    pub link: Link,
    /// Kept in the file, but not served.
    #[schemars(with = "Option<bool>", extend("default" = false))]
    pub disabled: bool,
    /// The time for which a call may go without an answer or a sign of progress, as `30s`, `2m` or a number of seconds
    /// (a bare number from 1000 on is read as milliseconds, which is what some clients write). Without it
    /// `limits.callIdleTimeout` counts.
    #[schemars(with = "Option<written::Time>")]
    pub timeout: Option<Duration>,
    /// The time that the server may take from its start to its first answer, written like `timeout`; a child process
    /// that is alive is not stopped before. Without it `limits.startTimeout` counts.
    #[schemars(with = "Option<written::Time>")]
    pub start_timeout: Option<Duration>,
    /// Who shares one connection to this server.
    #[schemars(with = "Option<Affinity>")]
    pub affinity: Affinity,
    /// Which of its tools are served.
    #[schemars(flatten)]
    pub tools: ServerTools,
    /// What the server is for; shown on Dragoman's own pages.
    #[schemars(with = "Option<String>")]
    pub description: Option<Text>,
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
#[schemars(untagged)]
pub enum Link {
    /// A child process that speaks over its standard input and output.
    Stdio(StdioLink),
    /// A server that is reached over HTTP.
    Http(HttpLink),
    /// Tools that live in Dragoman itself.
    Native(NativeLink),
}

/// A child process that speaks over its standard input and output.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
#[schemars(transform = written::stdio_type)]
pub struct StdioLink {
    /// The program to start: a path, or a name that is looked up in `PATH`. No shell reads it.
    #[schemars(with = "String")]
    pub command: Text,
    /// The program's arguments, one by one.
    #[schemars(with = "Option<Vec<written::Scalar>>")]
    pub args: Vec<Text>,
    /// Environment variables of the child, besides the few that it always gets.
    #[schemars(with = "Option<std::collections::BTreeMap<String, written::Scalar>>")]
    pub env: IndexMap<String, Text>,
    /// The folder that the child starts in; Dragoman's own when left out.
    #[schemars(with = "Option<String>")]
    pub cwd: Option<Text>,
}

/// A server that is reached over HTTP.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
pub struct HttpLink {
    /// The server's MCP endpoint: `https://…` or `http://…`, without a user name or a password in it.
    #[schemars(with = "String")]
    pub url: Text,
    /// Which of the two HTTP transports the server speaks; found out when left out.
    #[schemars(rename = "type", with = "Option<written::HttpType>")]
    pub transport: HttpTransport,
    /// Headers to send with every request. Those of the protocol and of the connection cannot be set here.
    #[schemars(with = "Option<std::collections::BTreeMap<String, written::Scalar>>")]
    pub headers: IndexMap<HeaderName, Text>,
    /// Who Dragoman is where the server's users give their consent (OAuth). Only for servers that want it and that let
    /// nobody register.
    pub oauth: Option<OAuthClient>,
}

impl HttpLink {
    /// Returns true where what goes to this server crosses another network unencrypted.
    pub fn is_in_the_clear(&self) -> bool {
        super::check::is_readable_on_the_way(self.url.expose())
    }
}

/// Which of the two HTTP transports a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HttpTransport {
    /// Nobody said: try Streamable HTTP, then HTTP+SSE.
    #[default]
    Auto,
    /// Streamable HTTP (`http` or `streamable-http`).
    Streamable,
    /// HTTP+SSE of 2024 (`sse`).
    Sse,
}

/// Who shares one connection to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, JsonSchema)]
#[schemars(rename_all = "kebab-case")]
pub enum Affinity {
    /// Dragoman decides by what the server and the client can do.
    #[default]
    Auto,
    /// All clients share.
    Shared,
    /// Each client session has its own.
    Session,
}

/// A named view on some of the servers.
#[derive(Debug, Clone, PartialEq, Default, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct Profile {
    /// The servers of this view, in the order in which their tools are listed; all of them when left out.
    #[schemars(with = "Option<Vec<String>>")]
    pub servers: Vec<String>,
    /// True if somebody named them. Of a default profile nobody did so for, new servers become part.
    #[schemars(skip)]
    pub chosen: bool,
    /// How tools and prompts are named.
    #[schemars(with = "Option<Naming>")]
    pub names: Naming,
    /// Which tools are shown, and under which names.
    #[schemars(with = "Option<NameRules>")]
    pub tools: NameRules,
    /// Which prompts are shown, and under which names.
    #[schemars(with = "Option<NameRules>")]
    pub prompts: NameRules,
    /// Which resources are shown.
    #[schemars(with = "Option<UriRules>")]
    pub resources: UriRules,
    /// The name that clients show to people.
    #[schemars(with = "Option<String>")]
    pub title: Option<Text>,
    /// What the model is told about this view, ahead of what the servers themselves say.
    #[schemars(with = "Option<String>")]
    pub instructions: Option<Text>,
    /// What is set for single tools while serving.
    #[schemars(skip)]
    pub tool_settings: ToolSettings,
    /// How this view behaves at `/mcp/{name}` and over standard input and output: `standard`, another built-in dialect,
    /// or one of `dialects`.
    #[schemars(with = "Option<String>")]
    pub dialect: Option<String>,
}

/// How the tools and prompts of a profile are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, JsonSchema)]
#[schemars(rename_all = "kebab-case")]
pub enum Naming {
    /// `server__tool`, always.
    #[default]
    Prefix,
    /// `tool`; the server's name goes in front only where two servers clash.
    Plain,
    /// `tool`; where servers clash the first one's keeps its name, and the others' are `server:tool`.
    PlainFirst,
    /// `tool`, always; where servers clash only the first one's is shown, unless another one is renamed:
    /// `rename: { server__tool: name }`.
    First,
}

impl Naming {
    /// The words of a configuration.
    pub const ALL: &[(&str, Self)] = &[
        ("prefix", Self::Prefix),
        ("plain", Self::Plain),
        ("plain-first", Self::PlainFirst),
        ("first", Self::First),
    ];
}

/// Which tools or prompts are shown, and under which names. Patterns and old names are the names that clients see
/// (`server__tool` with `names: prefix`), before they are renamed here.
#[derive(Debug, Clone, PartialEq, Eq, Default, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct NameRules {
    /// Only names that match one of these patterns (`*` any characters, `?` one); everything when left out.
    pub allow: Option<Vec<Glob>>,
    /// Never these, whatever `allow` says.
    #[schemars(with = "Option<Vec<Glob>>")]
    pub deny: Vec<Glob>,
    /// New names by old: 1 to 64 of `A-Z a-z 0-9 _ - . /`.
    #[schemars(with = "Option<std::collections::BTreeMap<String, written::NewName>>")]
    pub rename: IndexMap<String, String>,
}

impl NameRules {
    /// Is `name` (as clients would see it without any renaming) shown?
    pub fn admits(&self, name: &str) -> bool {
        admits(self.allow.as_deref(), &self.deny, name)
    }

    /// The name under which `name` is shown.
    pub fn shown_name<'a>(&'a self, name: &'a str) -> &'a str {
        self.rename.get(name).map_or(name, String::as_str)
    }
}

/// Which resources are shown, by the URIs that their servers give them.
#[derive(Debug, Clone, PartialEq, Eq, Default, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct UriRules {
    /// Only URIs that match one of these patterns (`*` any characters, `?` one); everything when left out.
    pub allow: Option<Vec<Glob>>,
    /// Never these, whatever `allow` says.
    #[schemars(with = "Option<Vec<Glob>>")]
    pub deny: Vec<Glob>,
}

impl UriRules {
    /// Is the resource or resource template with this URI shown?
    pub fn admits(&self, uri: &str) -> bool {
        admits(self.allow.as_deref(), &self.deny, uri)
    }
}

fn admits(allow: Option<&[Glob]>, deny: &[Glob], name: &str) -> bool {
    allow.is_none_or(|globs| globs.iter().any(|glob| glob.matches(name)))
        && !deny.iter().any(|glob| glob.matches(name))
}
