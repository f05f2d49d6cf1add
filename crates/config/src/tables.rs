//! The tables of keys for the documentation. This module must not know on which pages they appear.

use super::access::{AccessRule, When, Who};
use super::admin::Admin;
use super::audit::Audit;
use super::auth::{Auth, Jwt, Login, OAuth, SiteCheck};
use super::cluster::Cluster;
use super::consent::OAuthClient;
use super::endpoints::Endpoint;
use super::limits::Limits;
use super::links::{HttpLink, StdioLink};
use super::management::Management;
use super::metrics::Metrics;
use super::model::Config;
use super::name_rules::{NameRules, ToolRules};
use super::native::{NativeLink, Requests, Site};
use super::overrides::{ArgumentOverride, PromptOverride, ToolCache, ToolOverride};
use super::profiles::{Profile, UriRules};
use super::rates::RateLimit;
use super::route::ClientTls;
use super::section::{KeyRow, documented};
use super::server::Server;
use super::server_info::{Icon, ServerInfo};
use super::server_tools::ServerTools;
use super::tls::Tls;
use super::tool_calls::ToolCalls;

/// The tables of all sections, each under the name that marks its position in the documentation.
pub fn key_tables() -> Vec<(&'static str, Vec<KeyRow>)> {
    vec![
        ("the top level", documented::<Config>()),
        ("a program", documented::<StdioLink>()),
        ("a URL", documented::<HttpLink>()),
        ("tls of a server", documented::<ClientTls>()),
        ("an embedded server", documented::<NativeLink>()),
        ("any server", [documented::<Server>(), documented::<ServerTools>()].concat()),
        ("calls of a tool", documented::<ToolCalls>()),
        ("a site", documented::<Site>()),
        ("requests", documented::<Requests>()),
        ("a profile", documented::<Profile>()),
        ("tool rules", documented::<ToolRules>()),
        ("changes to a tool", documented::<ToolOverride>()),
        ("changes to an argument", documented::<ArgumentOverride>()),
        ("cache of a tool", documented::<ToolCache>()),
        ("changes to a prompt", documented::<PromptOverride>()),
        ("server info", documented::<ServerInfo>()),
        ("an icon", documented::<Icon>()),
        ("name rules", documented::<NameRules>()),
        ("URI rules", documented::<UriRules>()),
        ("an endpoint", documented::<Endpoint>()),
        ("auth", documented::<Auth>()),
        ("auth.site", documented::<SiteCheck>()),
        ("auth.login", documented::<Login>()),
        ("auth.jwt", documented::<Jwt>()),
        ("auth.oauth", documented::<OAuth>()),
        ("tls", documented::<Tls>()),
        ("a rule", documented::<AccessRule>()),
        ("callers", documented::<Who>()),
        ("conditions", documented::<When>()),
        ("a rate limit", documented::<RateLimit>()),
        ("limits", documented::<Limits>()),
        ("audit", documented::<Audit>()),
        ("management", documented::<Management>()),
        ("admin", documented::<Admin>()),
        ("metrics", documented::<Metrics>()),
        ("cluster", documented::<Cluster>()),
        ("oauth of a server", documented::<OAuthClient>()),
    ]
}
