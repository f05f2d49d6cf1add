//! `NO_PROXY`: the hosts that are reached without a proxy, by curl's rules. This module must not know any proxy.

use std::net::IpAddr;

use ipnet::IpNet;

/// The hosts that are reached without a proxy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProxyExemptions {
    all: bool,
    hosts: Vec<ExemptHost>,
}

/// One entry of the list. With a port, it applies to this port only.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ExemptHost {
    /// A name, and all names below it.
    Domain(Box<str>, Option<u16>),
    Address(IpAddr, Option<u16>),
    Network(IpNet),
}

impl ProxyExemptions {
    /// Reads a list of names, addresses and networks, separated by commas or spaces. `*` stands for all hosts. A leading dot, or
    /// `*.`, has no meaning: `example.com` and `.example.com` both include `example.com` and all names below it. Entries that are
    /// none of these match nothing.
    pub fn parse(list: &str) -> Self {
        let mut exempt = Self::default();
        for entry in list.split(|c: char| c == ',' || c.is_whitespace()).filter(|entry| !entry.is_empty()) {
            match entry {
                "*" => exempt.all = true,
                entry => exempt.hosts.extend(ExemptHost::parse(entry)),
            }
        }
        exempt
    }

    /// Returns true if this host is reached without a proxy. Names are compared as they are written: they are not resolved, so a
    /// network only includes hosts that are written as addresses.
    pub fn covers(&self, host: &str, port: u16) -> bool {
        let host = plain(host);
        let address = host.parse::<IpAddr>().ok().map(|address| address.to_canonical());
        self.all || self.hosts.iter().any(|entry| entry.covers(&host, address, port))
    }
}

impl ExemptHost {
    fn parse(entry: &str) -> Option<Self> {
        if entry.contains('/') {
            return entry.parse().ok().map(Self::Network);
        }
        if let Ok(address) = plain(entry).parse::<IpAddr>() {
            return Some(Self::Address(address.to_canonical(), None));
        }
        let (host, port) = match entry.rsplit_once(':') {
            Some((host, port)) => (host, Some(port.parse().ok()?)),
            None => (entry, None),
        };
        if let Ok(address) = plain(host).parse::<IpAddr>() {
            return Some(Self::Address(address.to_canonical(), port));
        }
        let name = host.strip_prefix('*').unwrap_or(host).trim_start_matches('.');
        let name = plain(name);
        (!name.is_empty()).then(|| Self::Domain(name.into(), port))
    }

    fn covers(&self, host: &str, address: Option<IpAddr>, port: u16) -> bool {
        let fits = |own: &Option<u16>| own.is_none_or(|own| own == port);
        match self {
            Self::Domain(name, own) => {
                let above = host.strip_suffix(&**name);
                let is_below = above.is_some_and(|above| above.is_empty() || above.ends_with('.'));
                address.is_none() && is_below && fits(own)
            }
            Self::Address(own_address, own) => address == Some(*own_address) && fits(own),
            Self::Network(network) => address.is_some_and(|address| network.contains(&address)),
        }
    }
}

/// A host as it is compared: in lower case, without brackets and without the dot of the root.
fn plain(host: &str) -> String {
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    bare.strip_suffix('.').unwrap_or(bare).to_ascii_lowercase()
}

/// Returns true for hosts that are always on this machine: loopback addresses, and names that must resolve to one (RFC 6761, 6.3).
pub fn is_loopback_host(host: &str) -> bool {
    let host = plain(host);
    let is_here = |address: IpAddr| {
        let address = address.to_canonical();
        address.is_loopback() || address.is_unspecified()
    };
    host == "localhost" || host.ends_with(".localhost") || host.parse().is_ok_and(is_here)
}
