//! The tables of keys for the documentation. This module must not know on which pages they appear.

use super::model::Config;
use crate::callers::access::{AccessRule, CallerSelection, RuleConditions};
use crate::callers::auth::{Auth, Jwt, Login, OAuth, SiteCheck};
use crate::callers::rates::RateLimit;
use crate::operation::admin::Admin;
use crate::operation::audit::Audit;
use crate::operation::cluster::Cluster;
use crate::operation::management::Management;
use crate::operation::metrics::Metrics;
use crate::profiles::name_rules::{NameRules, ToolRules};
use crate::profiles::overrides::{ArgumentOverride, PromptOverride, ToolCache, ToolOverride};
use crate::profiles::profile::{Profile, UriRules};
use crate::profiles::server_info::{Icon, ServerInfo};
use crate::reading::section::{KeyRow, documented};
use crate::servers::consent::OAuthClient;
use crate::servers::links::{HttpLink, StdioLink};
use crate::servers::native::{NativeLink, Requests, Site};
use crate::servers::route::ClientTls;
use crate::servers::server::Server;
use crate::servers::server_tools::ServerTools;
use crate::servers::tool_calls::ToolCalls;
use crate::serving::endpoints::Endpoint;
use crate::serving::limits::Limits;
use crate::serving::tls::Tls;

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
        ("callers", documented::<CallerSelection>()),
        ("conditions", documented::<RuleConditions>()),
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
