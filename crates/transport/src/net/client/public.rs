//! Recognizes addresses of the public network. If an untrusted party chooses the host, requests may go only to
//! public addresses, to prevent server-side request forgery. The ranges come from the registries of special
//! addresses (RFC 6890 and later IANA entries). This module must not know why a request is made.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::Ipv4Net;

/// IPv4 ranges that do not belong to the public network.
const SPECIAL_V4: &[Ipv4Net] = &[
    Ipv4Net::new_assert(Ipv4Addr::UNSPECIFIED, 8),
    Ipv4Net::new_assert(Ipv4Addr::new(10, 0, 0, 0), 8),
    Ipv4Net::new_assert(Ipv4Addr::new(100, 64, 0, 0), 10),
    Ipv4Net::new_assert(Ipv4Addr::new(127, 0, 0, 0), 8),
    Ipv4Net::new_assert(Ipv4Addr::new(169, 254, 0, 0), 16),
    Ipv4Net::new_assert(Ipv4Addr::new(172, 16, 0, 0), 12),
    Ipv4Net::new_assert(Ipv4Addr::new(192, 0, 0, 0), 24),
    Ipv4Net::new_assert(Ipv4Addr::new(192, 0, 2, 0), 24),
    Ipv4Net::new_assert(Ipv4Addr::new(192, 88, 99, 0), 24),
    Ipv4Net::new_assert(Ipv4Addr::new(192, 168, 0, 0), 16),
    Ipv4Net::new_assert(Ipv4Addr::new(198, 18, 0, 0), 15),
    Ipv4Net::new_assert(Ipv4Addr::new(198, 51, 100, 0), 24),
    Ipv4Net::new_assert(Ipv4Addr::new(203, 0, 113, 0), 24),
    // Multicast, reserved and broadcast.
    Ipv4Net::new_assert(Ipv4Addr::new(224, 0, 0, 0), 3),
];

/// The addresses to which connections may lead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// All addresses.
    #[default]
    All,
    /// All addresses except those of this machine and link-local addresses (`169.254.0.0/16`, `fe80::/10`), at
    /// which clouds serve a machine's secrets.
    Others,
    /// Addresses of the public network only.
    Public,
}

impl Reach {
    /// Returns true if this address is allowed.
    pub fn covers(self, address: IpAddr) -> bool {
        match self {
            Self::All => true,
            Self::Others => is_another(address),
            Self::Public => is_public(address),
        }
    }
}

/// Returns true if an address may belong to another machine.
fn is_another(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => {
            let [first, ..] = v4.octets();
            !v4.is_loopback() && !v4.is_link_local() && !v4.is_multicast() && first != 0 && !v4.is_broadcast()
        }
        IpAddr::V6(v6) => match v6.segments() {
            [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
                is_another(joined(high, low).into())
            }
            [first, ..] => {
                !v6.is_loopback() && !v6.is_unspecified() && !v6.is_multicast() && first & 0xffc0 != 0xfe80
            }
        },
    }
}

/// Returns true if an address belongs to the public network.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => is_public_v6(v6),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    !SPECIAL_V4.iter().any(|network| network.contains(&address))
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    match parts {
        // For mapped and translated IPv4 (RFC 4291, 2.5.5.2; RFC 6052), the embedded address counts.
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            is_public_v4(joined(high, low))
        }
        // 6to4 (RFC 3056).
        [0x2002, high, low, ..] => is_public_v4(joined(high, low)),
        // Teredo, benchmarks, ORCHID and other protocol assignments; documentation.
        [0x2001, second, ..] if second < 0x200 || second == 0xdb8 => false,
        [0x3fff, second, ..] if second < 0x1000 => false,
        // Apart from these, the public network consists only of global unicast (RFC 4291, 2.4).
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

fn joined(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from((u32::from(high) << 16) | u32::from(low))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_addresses_are_not_public_in_any_spelling() {
        for address in [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "127.0.0.1",
            "127.255.255.254",
            "169.254.169.254",
            "172.31.255.255",
            "192.168.0.1",
            "198.19.255.255",
            "203.0.113.9",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::7f00:1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::1",
            "2002:7f00:1::1",
            "2001:0:7f00:1::1",
            "2001:db8::1",
            "3fff::1",
            "100::1",
            "fc00::1",
            "fdab::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn public_addresses_are_public() {
        for address in [
            "1.1.1.1",
            "100.63.255.255",
            "100.128.0.1",
            "172.15.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "198.17.255.255",
            "223.255.255.254",
            "2606:4700::1111",
            "2a00:1450::1",
            "2001:4860:4860::8888",
            "::ffff:8.8.8.8",
            "64:ff9b::808:808",
            "2002:808:808::1",
        ] {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn other_machines_are_neither_this_one_nor_below_its_routers() {
        for address in
            ["10.0.0.1", "192.168.1.1", "100.64.0.1", "1.1.1.1", "fd00::1", "2606:4700::1", "::ffff:10.0.0.1"]
        {
            assert!(Reach::Others.covers(address.parse().unwrap()), "{address}");
        }
        for address in [
            "127.0.0.1",
            "127.9.9.9",
            "0.0.0.0",
            "0.1.2.3",
            "169.254.169.254",
            "255.255.255.255",
            "224.0.0.1",
            "::",
            "::1",
            "fe80::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "64:ff9b::7f00:1",
        ] {
            assert!(!Reach::Others.covers(address.parse().unwrap()), "{address}");
            assert!(!Reach::Public.covers(address.parse().unwrap()), "{address}");
            assert!(Reach::All.covers(address.parse().unwrap()), "{address}");
        }
    }
}
