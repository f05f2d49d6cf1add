//! The route to a server, from the server's configuration: the proxy, and the files for TLS. This module must not know
//! what is requested.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use config::forward_proxy::ForwardProxy;
use config::{ClientTls, Config, Link, ProxyRule};
use transport::net::client::{ProxyUse, Route, TlsFiles, Trust, environment_proxies};

/// The routes to a server, and to other hosts that are contacted on its behalf.
#[derive(Debug, Clone, Default)]
pub struct Routes {
    /// The route to the server itself.
    pub server: Route,
    /// The route to hosts that the server or a caller names, such as the server's authorization server. It uses the
    /// same proxy, and trusts the system's certificate authorities in addition to the configured ones. It does not
    /// use the client certificate, which is meant only for the server itself.
    pub others: Route,
}

impl Routes {
    /// Returns the routes to the server of this link.
    ///
    /// # Errors
    /// Returns a human-readable message about an invalid proxy.
    pub fn of(link: &Link) -> Result<Self, String> {
        let Some((rule, tls)) = link.route() else { return Ok(Self::default()) };
        let proxy = match rule {
            ProxyRule::Environment => ProxyUse::Environment,
            ProxyRule::Direct => ProxyUse::Direct,
            ProxyRule::Through(url) => {
                let proxy = ForwardProxy::parse(url.expose()).map_err(|why| format!("`proxy`: {why}"))?;
                ProxyUse::Through(Arc::new(proxy))
            }
        };
        let server = Route { proxy: proxy.clone(), trust: tls.map(|tls| Trust::from_files(files(tls))) };
        let ca = tls.and_then(|tls| tls.ca.clone());
        let trust =
            ca.map(|ca| Trust::from_files(TlsFiles { ca: Some(ca), system_too: true, identity: None }));
        Ok(Self { server, others: Route { proxy, trust } })
    }
}

fn files(tls: &ClientTls) -> TlsFiles {
    let identity = tls.cert.clone().zip(tls.key.clone());
    TlsFiles { ca: tls.ca.clone(), system_too: false, identity }
}

/// Returns warnings about the routes to a configuration's servers: unusable files, keys that other users can read,
/// and environment variables that do not name a usable proxy. This function blocks.
pub fn warnings(config: &Config) -> Vec<String> {
    let mut warnings: Vec<String> = environment_proxies()
        .unusable()
        .iter()
        .map(|why| format!("{why}; requests that would go through it fail"))
        .collect();
    for (name, server) in config.mcp_servers.iter().filter(|(_, server)| !server.disabled) {
        let Some((_, Some(tls))) = server.link.route() else { continue };
        if let Err(fault) = files(tls).check() {
            warnings.push(format!("the server `{name}` cannot be reached: {fault}"));
        }
        let key = tls.key.as_deref();
        let mode = key.and_then(|key| Some(std::fs::metadata(key).ok()?.permissions().mode() & 0o777));
        if let Some((key, mode)) = key.zip(mode).filter(|(_, mode)| mode & 0o004 != 0) {
            let file = key.display();
            warnings.push(format!(
                "`tls.key` of the server `{name}`: other users can read {file} (mode {mode:03o}); run `chmod 600 {file}`, as the user \
                 that runs Dragoman"
            ));
        }
    }
    warnings
}
