//! The address of a client: the peer of the connection, or the address that trusted proxies name in `X-Forwarded-For`.
//! This module must not know what the address is used for.
//!
//! Each proxy appends the address of its own peer, so only the entries on the right were written by trusted proxies;
//! everything further left may come from the client.

use std::net::{IpAddr, SocketAddr};

use http::{HeaderMap, HeaderValue};

use config::{MAX_HOPS, TrustedProxies};

/// The header in which proxies name their peers.
const FORWARDED_FOR: &str = "x-forwarded-for";

/// The address of a client, and how it was determined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClientAddress {
    /// The address of the client; never an IPv4-mapped IPv6 address.
    pub address: IpAddr,
    /// The address of the connection's peer.
    pub peer: IpAddr,
    /// True if the connection comes from a trusted proxy that names no client: `address` is then the proxy's own address.
    pub is_proxy: bool,
}

impl ClientAddress {
    /// Treats the peer of the connection as the client.
    pub fn direct(peer: IpAddr) -> Self {
        let peer = peer.to_canonical();
        Self { address: peer, peer, is_proxy: false }
    }

    /// Determines the client of a request. An entry that is not an address ends the search, because no trusted proxy
    /// has confirmed the entries to its left.
    pub fn of(peer: IpAddr, headers: &HeaderMap, trusted: &TrustedProxies) -> Self {
        let direct = Self::direct(peer);
        let address = match trusted {
            TrustedProxies::Nobody => return direct,
            TrustedProxies::Hops(hops) => entries(headers).take(usize::from(*hops)).last(),
            TrustedProxies::Networks(networks) => {
                let is_proxy = |address: IpAddr| networks.iter().any(|network| network.contains(address));
                if !is_proxy(direct.peer) {
                    return direct;
                }
                let mut named = None;
                for address in entries(headers).take(usize::from(MAX_HOPS)) {
                    named = Some(address);
                    if !is_proxy(address) {
                        break;
                    }
                }
                named
            }
        };
        Self { address: address.unwrap_or(direct.peer), is_proxy: address.is_none(), ..direct }
    }

    /// Returns true if the client's address is a loopback address.
    pub fn is_local(&self) -> bool {
        self.address.is_loopback()
    }
}

/// The addresses that proxies have named, from the last one to the first, up to an entry that is not an address.
fn entries(headers: &HeaderMap) -> impl Iterator<Item = IpAddr> {
    let lines = headers.get_all(FORWARDED_FOR).iter().rev();
    let texts = lines.flat_map(|line: &HeaderValue| line.as_bytes().rsplit(|byte| *byte == b','));
    texts.map_while(|text| parse(std::str::from_utf8(text).ok()?))
}

/// Parses an address with or without a port, in brackets or not.
fn parse(text: &str) -> Option<IpAddr> {
    let text = text.trim_matches([' ', '\t']);
    let with_port = || text.parse::<SocketAddr>().ok().map(|address| address.ip());
    let bracketed = || text.strip_prefix('[')?.strip_suffix(']')?.parse().ok().map(IpAddr::V6);
    let address = text.parse().ok().or_else(with_port).or_else(bracketed)?;
    Some(address.to_canonical())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use config::IpRange;

    fn headers(lines: &[&str]) -> HeaderMap {
        let line =
            |line: &&str| (FORWARDED_FOR.parse().unwrap(), HeaderValue::from_bytes(line.as_bytes()).unwrap());
        lines.iter().map(line).collect()
    }

    fn networks(texts: &[&str]) -> TrustedProxies {
        TrustedProxies::Networks(texts.iter().map(|text| IpRange::parse(text).unwrap()).collect())
    }

    fn client(peer: &str, lines: &[&str], trusted: &TrustedProxies) -> (String, bool) {
        let client = ClientAddress::of(peer.parse().unwrap(), &headers(lines), trusted);
        (client.address.to_string(), client.is_proxy)
    }

    #[test]
    fn hops_are_counted_from_the_right() {
        let chain = ["6.6.6.6, 203.0.113.9, 10.0.0.2", "10.0.0.1"];
        for (hops, lines, address, is_proxy) in [
            (1, &chain[..], "10.0.0.1", false),
            (2, &chain[..], "10.0.0.2", false),
            (3, &chain[..], "203.0.113.9", false),
            // There are fewer entries than hops: the client bypassed some proxies, and the first entry was written by
            // the proxy that it connected to.
            (9, &chain[2..], "192.0.2.1", true),
            (9, &["198.51.100.1"], "198.51.100.1", false),
            (1, &[], "192.0.2.1", true),
            (1, &["6.6.6.6, unknown"], "192.0.2.1", true),
            (1, &["6.6.6.6,"], "192.0.2.1", true),
            (1, &["6.6.6.6", ""], "192.0.2.1", true),
            (2, &["6.6.6.6, _hidden, 10.0.0.1"], "10.0.0.1", false),
            (1, &["6.6.6.6\u{e9}, 203.0.113.9"], "203.0.113.9", false),
        ] {
            let found = client("192.0.2.1", lines, &TrustedProxies::Hops(hops));
            assert_eq!(found, (address.to_owned(), is_proxy), "{hops} hops of {lines:?}");
        }
    }

    #[test]
    fn networks_count_only_where_the_peer_is_in_one_of_them() {
        let trusted = networks(&["10.0.0.0/8", "2001:db8::/32"]);
        for (peer, lines, address, is_proxy) in [
            ("10.0.0.1", &["6.6.6.6, 203.0.113.9, 10.0.0.2"][..], "203.0.113.9", false),
            ("::ffff:10.0.0.1", &["6.6.6.6", "203.0.113.9", "::ffff:10.0.0.2"], "203.0.113.9", false),
            ("2001:db8::7", &["6.6.6.6, 2001:db9::1, [2001:db8::1]:443"], "2001:db9::1", false),
            ("192.0.2.1", &["203.0.113.9"], "192.0.2.1", false),
            ("::ffff:192.0.2.1", &[], "192.0.2.1", false),
            ("10.0.0.1", &[], "10.0.0.1", true),
            ("10.0.0.1", &["unknown"], "10.0.0.1", true),
            ("10.0.0.1", &["6.6.6.6, junk, 10.0.0.2"], "10.0.0.2", false),
            // A client inside the trusted networks is the first address of the chain.
            ("10.0.0.1", &["10.9.9.9, 10.0.0.2"], "10.9.9.9", false),
        ] {
            assert_eq!(client(peer, lines, &trusted), (address.to_owned(), is_proxy), "{peer} {lines:?}");
        }
        assert_eq!(client("10.0.0.1", &["6.6.6.6"], &TrustedProxies::Nobody).0, "10.0.0.1");
    }

    #[test]
    fn an_entry_counts_however_it_is_written() {
        for (entry, address) in [
            ("192.0.2.1", Some("192.0.2.1")),
            ("  192.0.2.1\t", Some("192.0.2.1")),
            ("192.0.2.1:4711", Some("192.0.2.1")),
            ("2001:db8::1", Some("2001:db8::1")),
            ("[2001:db8::1]:4711", Some("2001:db8::1")),
            ("[2001:db8::1]", Some("2001:db8::1")),
            ("::ffff:192.0.2.1", Some("192.0.2.1")),
            ("[::ffff:192.0.2.1]:80", Some("192.0.2.1")),
            ("", None),
            ("unknown", None),
            ("192.0.2.1:x", None),
            ("[192.0.2.1]", None),
            ("192.0.2.1 203.0.113.9", None),
            ("\"192.0.2.1\"", None),
        ] {
            assert_eq!(parse(entry).map(|found| found.to_string()).as_deref(), address, "{entry}");
        }
    }

    proptest! {
        #[test]
        fn what_the_client_writes_never_counts(
            own in proptest::collection::vec("[ -~]{0,40}", 0..4),
            chain in proptest::collection::vec(0..=255_u8, 0..5),
            client_at in any::<[u8; 4]>(),
        ) {
            let trusted = networks(&["10.0.0.0/8"]);
            let real = IpAddr::from(client_at);
            prop_assume!(client_at[0] != 10);
            let proxies: Vec<String> = chain.iter().map(|last| format!("10.0.0.{last}")).collect();
            let appended: Vec<String> = std::iter::once(real.to_string()).chain(proxies).collect();
            let hops = u8::try_from(appended.len()).unwrap();
            let appended = appended.join(", ");
            let apart: Vec<&str> = own.iter().map(String::as_str).chain([appended.as_str()]).collect();
            let joined = apart.join(", ");
            for lines in [&apart[..], &[joined.as_str()]] {
                for trusted in [&trusted, &TrustedProxies::Hops(hops)] {
                    let found = ClientAddress::of("10.1.1.1".parse().unwrap(), &headers(lines), trusted);
                    prop_assert_eq!((found.address, found.is_proxy), (real, false), "{:?}", lines);
                }
                let direct = ClientAddress::of(real, &headers(lines), &trusted);
                prop_assert_eq!(direct, ClientAddress::direct(real));
            }
        }

        #[test]
        fn any_bytes_have_an_answer(line in proptest::collection::vec(32_u8..=255, 0..200), hops in 1..40_u8) {
            let mut headers = HeaderMap::new();
            if let Ok(value) = HeaderValue::from_bytes(&line) {
                headers.insert(FORWARDED_FOR, value);
            }
            let peer = IpAddr::from([192, 0, 2, 1]);
            let found = ClientAddress::of(peer, &headers, &TrustedProxies::Hops(hops));
            prop_assert_eq!(found.address.to_canonical(), found.address);
            prop_assert!(!found.is_proxy || found.address == peer);
        }
    }
}
