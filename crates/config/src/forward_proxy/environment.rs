//! The environment variables that name proxies, and the choice of a proxy for one host. This module must not know how a
//! variable is read.

use std::sync::Arc;

use super::address::{ForwardProxy, ProxyUrlFault};
use super::exemptions::{ProxyExemptions, is_loopback_host};

/// The proxies that the environment names: `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`.
#[derive(Debug, Clone, Default)]
pub struct EnvironmentProxies {
    http: Option<Result<Arc<ForwardProxy>, UnusableProxy>>,
    https: Option<Result<Arc<ForwardProxy>, UnusableProxy>>,
    exempt: ProxyExemptions,
}

/// A variable that does not name a usable proxy. Requests to which the variable applies fail, because the person who set it did not
/// want them to be sent without a proxy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the environment variable {variable} does not name a usable proxy: {fault}")]
pub struct UnusableProxy {
    /// The variable.
    pub variable: &'static str,
    /// The fault in the variable's value.
    pub fault: ProxyUrlFault,
}

impl EnvironmentProxies {
    /// Reads the variables through `env`: names in lower case come first, and an empty variable is treated as
    /// unset. `HTTP_PROXY` is ignored in a CGI program, because a client can set it there with the header `Proxy`
    /// (CVE-2016-5385).
    pub fn read(env: &dyn Fn(&str) -> Option<String>) -> Self {
        let set = |name: &'static str| {
            env(name).filter(|value| !value.trim().is_empty()).map(|value| (name, value))
        };
        let is_cgi = set("REQUEST_METHOD").is_some();
        let proxy = |names: &[&'static str]| {
            let (variable, url) = names.iter().find_map(|name| set(name))?;
            Some(ForwardProxy::parse(&url).map(Arc::new).map_err(|fault| UnusableProxy { variable, fault }))
        };
        let http = if is_cgi { proxy(&["http_proxy"]) } else { proxy(&["http_proxy", "HTTP_PROXY"]) };
        let all = proxy(&["all_proxy", "ALL_PROXY"]);
        let exempt = set("no_proxy").or_else(|| set("NO_PROXY"));
        Self {
            http: http.or_else(|| all.clone()),
            https: proxy(&["https_proxy", "HTTPS_PROXY"]).or(all),
            exempt: exempt.map(|(_, list)| ProxyExemptions::parse(&list)).unwrap_or_default(),
        }
    }

    /// The proxy for requests to this host; `None` if they need none. Hosts on this machine never need one.
    ///
    /// # Errors
    /// Returns the variable that does not name a usable proxy.
    pub fn choose(
        &self,
        is_secure: bool,
        host: &str,
        port: u16,
    ) -> Result<Option<Arc<ForwardProxy>>, UnusableProxy> {
        let named = if is_secure { &self.https } else { &self.http };
        match named {
            Some(named) if !is_loopback_host(host) && !self.exempt.covers(host, port) => {
                named.clone().map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The proxies that may be used, for messages.
    pub fn proxies(&self) -> impl Iterator<Item = &ForwardProxy> {
        [&self.http, &self.https].into_iter().flatten().flatten().map(|proxy| &**proxy)
    }

    /// The variables that do not name a usable proxy.
    pub fn unusable(&self) -> Vec<UnusableProxy> {
        let mut all = Vec::new();
        for one in [&self.http, &self.https].into_iter().flatten().filter_map(|named| named.as_ref().err()) {
            if !all.contains(one) {
                all.push(one.clone());
            }
        }
        all
    }
}
