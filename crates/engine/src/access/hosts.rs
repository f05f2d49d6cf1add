//! The names by which this server may be addressed, and the web pages that may call it (MCP transports, security: DNS
//! rebinding). This module must not know requests.

use std::net::IpAddr;
use std::sync::OnceLock;

/// The names by which this server may be addressed, and the origins of web pages that may call it.
#[derive(Debug)]
pub struct Hosts {
    /// True if only this machine can connect, so any other host name indicates an attack.
    loopback: bool,
    names: Vec<String>,
    origins: Vec<String>,
    /// The names under which the first requests came, as the clients wrote them. Almost all requests name one of them.
    known: [OnceLock<Box<str>>; REMEMBERED],
}

/// The maximum number of names that are remembered.
const REMEMBERED: usize = 4;

impl Hosts {
    /// Creates the check. `loopback` is true if all listeners are on loopback addresses; `hosts` and `origins` are the configured
    /// lists.
    pub fn new(loopback: bool, hosts: &[String], origins: &[String]) -> Self {
        let lower = |list: &[String]| list.iter().map(|item| item.to_ascii_lowercase()).collect();
        Self { loopback, names: lower(hosts), origins: lower(origins), known: Default::default() }
    }

    /// Returns true if [`Self::knows`] has already accepted this host, with this port. It is a short cut: false says nothing.
    pub fn has_known(&self, host: &str) -> bool {
        self.known.iter().map_while(OnceLock::get).any(|known| **known == *host)
    }

    /// Returns true if a request to this host (in lower case) is addressed to this server; the port does not
    /// matter.
    pub fn knows(&self, host: &str) -> bool {
        let is_known = self.is_served(host);
        if is_known && !self.has_known(host) {
            // If all places are taken, the name is not remembered.
            let _ = self.known.iter().find(|place| place.get().is_none()).map(|place| place.set(host.into()));
        }
        is_known
    }

    fn is_served(&self, host: &str) -> bool {
        let name = without_port(host);
        // The most frequent names are checked before a name is parsed.
        if matches!(name, "localhost" | "127.0.0.1" | "[::1]")
            || self.names.iter().any(|known| known == host || known == name)
        {
            return true;
        }
        // An IP address cannot be rebound by DNS. On a loopback listener, only loopback addresses make sense.
        literal(name).is_some_and(|address| address.is_loopback() || !self.loopback)
    }

    /// Returns true if pages of this origin may call this server under the name `host`; both in lower case.
    pub fn knows_origin(&self, origin: &str, host: &str) -> bool {
        if self.origins.iter().any(|known| known == origin) {
            return true;
        }
        let Some((scheme, authority)) = origin.split_once("://") else { return false };
        if !matches!(scheme, "http" | "https") {
            return false;
        }
        let name = without_port(authority);
        authority == host || name == "localhost" || literal(name).is_some_and(|address| address.is_loopback())
    }
}

fn without_port(host: &str) -> &str {
    if let Some(end) = host.strip_prefix('[').and_then(|rest| rest.find(']')) {
        let behind = &host[end + 2..];
        let is_port = behind.strip_prefix(':').is_some_and(|port| port.bytes().all(|b| b.is_ascii_digit()));
        return if behind.is_empty() || is_port { &host[..end + 2] } else { host };
    }
    match host.rsplit_once(':') {
        Some((name, port)) if !name.contains(':') && port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    }
}

/// Parses a host name that is an IP address.
fn literal(name: &str) -> Option<IpAddr> {
    let inner = name.strip_prefix('[').and_then(|n| n.strip_suffix(']')).unwrap_or(name);
    inner.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_loopback_only_loopback_names_are_known() {
        let hosts = Hosts::new(true, &["MCP.example.com".to_owned()], &[]);
        for host in [
            "localhost",
            "localhost:8808",
            "127.0.0.1:1",
            "127.9.9.9",
            "[::1]:80",
            "[::1]",
            "mcp.example.com:443",
        ] {
            assert!(hosts.knows(&host.to_ascii_lowercase()), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "localhost.evil.example",
            "10.0.0.1",
            "[::1].evil.example",
            "[::1]x",
            "127.0.0.1.evil.example",
            "a:b:c",
        ] {
            assert!(!hosts.knows(host), "{host}");
        }
        assert!(Hosts::new(false, &[], &[]).knows("10.0.0.1:8808"));
        assert!(!Hosts::new(false, &[], &[]).knows("evil.example"));
    }

    #[test]
    fn the_first_accepted_hosts_are_remembered_and_no_others() {
        let hosts = Hosts::new(true, &[], &[]);
        assert!(!hosts.knows("evil.example") && !hosts.has_known("evil.example"));
        let ports = (1..=REMEMBERED + 1).map(|port| format!("localhost:{port}")).collect::<Vec<_>>();
        assert!(ports.iter().all(|host| !hosts.has_known(host) && hosts.knows(host)));
        assert_eq!(ports.iter().filter(|host| hosts.has_known(host)).count(), REMEMBERED);
        assert!(!hosts.has_known("localhost") && !hosts.has_known(""));
    }

    #[test]
    fn only_local_own_and_configured_pages_may_call() {
        let hosts =
            Hosts::new(true, &["mcp.example.com".to_owned()], &["https://app.example.com".to_owned()]);
        let host = "mcp.example.com";
        for origin in [
            "http://localhost:5173",
            "http://127.0.0.1",
            "https://[::1]:3",
            "https://app.example.com",
            "https://mcp.example.com",
        ] {
            assert!(hosts.knows_origin(origin, host), "{origin}");
        }
        for origin in [
            "null",
            "",
            "https://evil.example",
            "http://localhost.evil.example",
            "file://localhost",
            "https://app.example.com.evil.example",
        ] {
            assert!(!hosts.knows_origin(origin, host), "{origin}");
        }
    }
}
