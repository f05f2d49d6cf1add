//! A configured server as exchanges look it up, and the numbers of servers across changes to the configuration. This module
//! must not know profiles.

use std::sync::Arc;
use std::time::Duration;

use config::{
    Affinity, Config, DefinitionPolicy, Link, PassedHeader, QuestionPolicy, Server, ServerTools, StdioLink,
};
use http::header::AUTHORIZATION;

use super::Numbers;
use crate::call_rules::CallRules;
use crate::catalogue::UpstreamId;
use crate::known_servers;

/// A configured server behind the gateway.
#[derive(Debug, Clone)]
pub struct UpstreamSpec {
    /// The server's id, which stays the same until the server is changed.
    pub id: UpstreamId,
    /// The server's name in the configuration.
    pub name: Arc<str>,
    /// The link by which the server is reached.
    pub link: Link,
    /// The clients that share a connection to the server.
    pub affinity: Affinity,
    /// The handling of the server's questions to clients.
    pub asks: QuestionPolicy,
    /// The maximum number of dedicated connections; `None` for the default of the server's transport.
    pub dedicated_connections: Option<usize>,
    /// The tools of the server that are served.
    pub tools: ServerTools,
    /// The handling of the server's tools whose definitions change.
    pub definitions: DefinitionPolicy,
    /// The rules for requests to the server.
    pub calls: CallRules,
    /// The maximum time from the server's start to its first answer.
    pub start_timeout: Duration,
    /// True if each caller gives a separate consent, provided that the server requires consent. Access that was
    /// granted with one caller's consent is then not available to others.
    pub own_consent: bool,
    /// True if authenticated callers never share a connection.
    pub own_links: bool,
}

impl UpstreamSpec {
    /// A placeholder for removed servers, to which no link may be opened.
    pub fn nobody() -> Self {
        let link = StdioLink::default();
        let (id, name) = (UpstreamId(u32::MAX), "(removed)".into());
        let (tools, start_timeout) = (ServerTools::default(), Duration::ZERO);
        Self {
            id,
            name,
            link: Link::Stdio(link),
            affinity: Affinity::Shared,
            asks: QuestionPolicy::Auto,
            dedicated_connections: None,
            tools,
            definitions: DefinitionPolicy::Allow,
            calls: CallRules::nothing(),
            start_timeout,
            own_consent: false,
            own_links: false,
        }
    }

    /// Returns true if callers may have separate links to the server, or give it separate consents.
    pub fn per_caller(&self) -> bool {
        self.own_consent || self.own_links || !self.passed_headers().is_empty()
    }

    /// The headers of requests that are passed on to the server.
    pub fn passed_headers(&self) -> &[PassedHeader] {
        match &self.link {
            Link::Http(http) => &http.pass_headers,
            Link::Stdio(_) | Link::Native(_) => &[],
        }
    }

    /// Returns true if all clients take turns on one link.
    pub fn is_single(&self) -> bool {
        self.dedicated_connections == Some(0)
    }

    /// Returns true if links to one server can also be used for the other. Time limits do not matter, because they
    /// are looked up for each operation.
    fn is_like(&self, other: &Self) -> bool {
        self.name == other.name
            && self.link == other.link
            && self.affinity == other.affinity
            && self.tools == other.tools
            && self.asks == other.asks
            && self.dedicated_connections == other.dedicated_connections
            && self.own_consent == other.own_consent
            && self.own_links == other.own_links
    }
}

/// The handling of a server's tools whose definitions change. Servers that live in the binary change with its version.
fn definitions(config: &Config, server: &Server) -> DefinitionPolicy {
    match server.link {
        Link::Native(_) => DefinitionPolicy::Allow,
        _ => server.definitions.unwrap_or(config.definitions),
    }
}

/// The enabled servers, and the number for the next one.
pub(super) fn upstreams(config: &Config, before: &Numbers<'_>) -> (Vec<UpstreamSpec>, u32) {
    let mut next = before.next;
    let mut upstreams = Vec::new();
    for (name, server) in config.mcp_servers.iter().filter(|(_, server)| !server.disabled) {
        let own_consent = gives_own_consent(config, &server.link);
        let own_links = config.auth.asks() && server.affinity != Affinity::Shared && !is_native(&server.link);
        let (name, link) = (name.as_str().into(), server.link.clone());
        let start_timeout = server.start_timeout.unwrap_or(config.limits.start_timeout);
        let new = UpstreamSpec {
            id: UpstreamId(next),
            name,
            link,
            affinity: server.affinity,
            asks: server.asks,
            dedicated_connections: server.dedicated_connections.or_else(|| known_connections(server)),
            tools: server.tools.clone(),
            definitions: definitions(config, server),
            calls: CallRules::of(config, server),
            start_timeout,
            own_consent,
            own_links,
        };
        if let Some(known) = before.upstreams.iter().find(|known| known.is_like(&new)) {
            upstreams.push(UpstreamSpec { id: known.id, name: known.name.clone(), ..new });
        } else {
            next = next.saturating_add(1);
            upstreams.push(new);
        }
    }
    upstreams.sort_by_key(|spec| spec.id);
    (upstreams, next)
}

/// Returns zero dedicated connections for a server that is known to support only one process; `None` for any other
/// server.
fn known_connections(server: &Server) -> Option<usize> {
    let Link::Stdio(link) = &server.link else { return None };
    (server.affinity == Affinity::Shared && known_servers::is_single(link)).then_some(0)
}

/// Returns true for a server that runs in this process and therefore has no connections.
fn is_native(link: &Link) -> bool {
    matches!(link, Link::Native(_))
}

/// Returns true if a server may require the consent of its users, and each caller gives a separate consent.
pub fn gives_own_consent(config: &Config, link: &Link) -> bool {
    config.auth.asks() && takes_own_consent(link)
}

/// Returns true if a server may require the consent of its users, and one user's consent is not valid for other
/// users.
fn takes_own_consent(link: &Link) -> bool {
    let Link::Http(http) = link else { return false };
    let passes = http.pass_headers.iter().any(|passed| passed.to == AUTHORIZATION);
    !passes
        && !http.headers.contains_key(&AUTHORIZATION)
        && !http.oauth.as_ref().is_some_and(|own| own.shared || own.is_machine())
}
