//! Servers that require their users' consent: errors that direct clients to the consent page, and lists that are
//! fetched again once consent has been given. This module must not know how consent is obtained.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use config::{Config, Link as LinkConfig, OAuthClient};
use engine::exchange::ExchangeAnswer;
use engine::snapshot::UpstreamSpec;
use engine::{Condition, Fault};
use proto::json::{MAX_DEPTH, Members, quote};
use proto::rpc::code;

use crate::admission::identity::Identity;
use crate::call::CallContext;
use crate::call::call::Call;
use crate::call::caller::Caller;
use upstream::Upstream;
use upstream::oauth::{CallerId, Page};

/// Returns the address at which browsers reach a gateway that listens on `addrs`: the configured public address, or
/// else an address of this machine; `None` for a gateway that does not listen.
pub fn base(config: &Config, addrs: &[SocketAddr]) -> Option<String> {
    let first = addrs.first()?;
    if let Some(url) = &config.public_url {
        return Some(url.clone());
    }
    let resource =
        config.auth.oauth.as_ref().and_then(|oauth| oauth.resource.expose().parse::<http::Uri>().ok());
    if let Some(resource) = resource
        && let (Some(scheme), Some(authority)) = (resource.scheme_str(), resource.authority())
    {
        return Some(format!("{scheme}://{authority}"));
    }
    let here = match first.ip() {
        IpAddr::V4(address) if address.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(address) if address.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        address => address,
    };
    Some(crate::tls::origin(config, SocketAddr::new(here, first.port())))
}

/// Returns the OAuth client that is configured for a server's authorization server.
pub(crate) fn client(spec: &UpstreamSpec) -> Option<&OAuthClient> {
    match &spec.link {
        LinkConfig::Http(http) => http.oauth.as_ref(),
        LinkConfig::Native(_) | LinkConfig::Stdio(_) => None,
    }
}

impl CallContext {
    /// Returns the servers of a profile that require this caller's consent, each with the address of its consent page.
    pub(crate) fn consents_wanted(&self, profile: usize, identity: &Identity) -> Vec<(String, String)> {
        let all = self.egress.snapshot().profiles[profile]
            .upstreams
            .iter()
            .map(|id| self.view.state.upstream_of(*id, identity));
        all.filter_map(|upstream| Some((upstream.name().to_string(), page(&upstream)?.url))).collect()
    }

    /// Adds the address of the consent page to a fault, if the server that the fault names requires this caller's
    /// consent. The form of the fault depends on the caller's era and capabilities.
    pub(crate) fn pointing(&self, fault: Fault, caller: &Caller, identity: &Identity) -> Fault {
        let Some(name) = fault.subject.as_deref().filter(|_| fault.condition == Condition::UpstreamDown)
        else {
            return fault;
        };
        let wanting = self
            .upstream_named(name)
            .map(|upstream| self.view.state.upstream_of(upstream.server.spec.id, identity));
        let Some(page) = wanting.as_ref().and_then(|upstream| page(upstream)) else { return fault };
        let told = Fault { status: fault.status, ..Fault::wants_consent(name, &page.url) };
        if !caller.era().shapes.url_error || !opens_pages(caller.capabilities()) {
            return told;
        }
        // The client itself opens the page, once the client's user has agreed (MCP 2025-11-25, elicitation: URL mode).
        let data = format!(
            "{{\"elicitations\":[{{\"mode\":\"url\",\"elicitationId\":{},\"url\":{},\"message\":{}}}]}}",
            quote(&page.name),
            quote(&page.url),
            quote(&format!("The server {name} requires your consent."))
        );
        Fault { code: code::URL_ELICITATION_REQUIRED, ..told.with_data(data) }
    }

    /// Returns the server with this name in the current configuration.
    fn upstream_named(&self, name: &str) -> Option<Arc<Upstream>> {
        let all = self.view.state.upstreams.all();
        let is_it = |one: &&Arc<Upstream>| &**one.name() == name && !one.server.shutdown.begun.is_stopped();
        all.iter().rev().map(|one| &one.common).find(is_it).cloned()
    }
}

impl Call {
    /// Ends the call, and returns the answer for the client. If consent is missing, the answer points to the
    /// consent page.
    pub(crate) fn end_pointing(&mut self, mut answer: ExchangeAnswer) -> ExchangeAnswer {
        if let Some(fault) = answer.fault.take_if(|fault| fault.condition == Condition::UpstreamDown) {
            let fault = self.context.pointing(*fault, &self.caller, self.caller.identity());
            answer = ExchangeAnswer::fault(answer.status, fault, self.exchange.id());
        }
        self.end(answer)
    }
}

/// Returns true if a client with these capabilities can open pages for its user.
fn opens_pages(capabilities: &[u8]) -> bool {
    let modes = Members::of_document(capabilities, MAX_DEPTH).ok().and_then(|all| {
        let elicitation = all.get(capabilities, "elicitation")?;
        Members::of_value(capabilities, elicitation)
    });
    modes.is_some_and(|modes| modes.get(capabilities, "url").is_some())
}

fn page(upstream: &Upstream) -> Option<Page> {
    upstream.server.grant.as_ref()?.page()
}

/// Fetches a server's lists again, because its user has granted or withdrawn access.
pub(crate) fn changed(context: &Arc<CallContext>, server: &str, caller: Option<&CallerId>) {
    if let Some(upstream) = context.upstream_named(server) {
        context.view.state.upstream_by(upstream.server.spec.id, caller).ask_again(&context.egress);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> Config {
        let lookup = config::Lookup { env: &|_| None, file: &|_| Err("none".to_owned()) };
        config::load(text, "test", &lookup).unwrap().config
    }

    #[test]
    fn browsers_find_the_gateway_where_it_says() {
        let at = |text: &str, addr: &str| base(&config(text), &[addr.parse().unwrap()]).unwrap();
        assert_eq!(at("{}", "127.0.0.1:8808"), "http://127.0.0.1:8808");
        assert_eq!(at("{}", "0.0.0.0:80"), "http://127.0.0.1:80");
        assert_eq!(at("{}", "[::]:9"), "http://[::1]:9");
        assert_eq!(at("{}", "10.0.0.7:9"), "http://10.0.0.7:9");
        let tls = "tls: { cert: /nowhere/c, key: /nowhere/k }";
        assert_eq!(at(tls, "0.0.0.0:8443"), "https://127.0.0.1:8443");
        let oauth = "auth: { oauth: { resource: 'https://mcp.example.com:8443/mcp' }, jwt: { issuer: 'https://id.example.com' } }";
        assert_eq!(at(oauth, "127.0.0.1:1"), "https://mcp.example.com:8443");
        let both = format!("publicUrl: 'https://gate.example.com/dragoman/'\n{oauth}");
        assert_eq!(at(&both, "127.0.0.1:1"), "https://gate.example.com/dragoman");
        assert_eq!(base(&config(&both), &[]), None);
    }
}
