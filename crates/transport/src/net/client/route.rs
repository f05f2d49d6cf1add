//! The route from this machine to an origin: the proxy, if any, and the TLS settings. This module must not know who
//! chose the route.

use std::sync::{Arc, LazyLock};

use config::forward_proxy::{EnvironmentProxies, ForwardProxy, UnusableProxy};
use http::uri::{Authority, Scheme};

use super::limits::Protocol;
use super::tls::Trust;

/// The properties that requests over the same connections have in common.
pub(super) type OriginKey = (Scheme, Authority, Protocol, Route);

/// The proxies that this process's environment names.
static ENVIRONMENT: LazyLock<EnvironmentProxies> =
    LazyLock::new(|| EnvironmentProxies::read(&|name| std::env::var(name).ok()));

/// Returns the proxies that this process's environment names. The environment is read only once.
pub fn environment_proxies() -> &'static EnvironmentProxies {
    &ENVIRONMENT
}

/// The route to an origin. Connections are shared only by requests with equal routes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Route {
    /// The proxy, or the rule that selects it.
    pub proxy: ProxyUse,
    /// The trusted authorities and the client's certificate; if `None`, those of the [`Client`](super::Client) are
    /// used.
    pub trust: Option<Trust>,
}

/// The proxy for an origin.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum ProxyUse {
    /// The proxy that the environment names for the origin, if any.
    #[default]
    Environment,
    /// No proxy.
    Direct,
    /// This proxy, whatever the origin.
    Through(Arc<ForwardProxy>),
}

impl ProxyUse {
    /// The proxy for this host.
    ///
    /// # Errors
    /// Returns the environment variable that names no usable proxy.
    pub(super) fn choose(
        &self,
        is_secure: bool,
        host: &str,
        port: u16,
    ) -> Result<Option<Arc<ForwardProxy>>, UnusableProxy> {
        match self {
            Self::Environment => ENVIRONMENT.choose(is_secure, host, port),
            Self::Direct => Ok(None),
            Self::Through(proxy) => Ok(Some(proxy.clone())),
        }
    }
}
