//! Ranges of IP addresses.

use std::fmt;
use std::net::IpAddr;

use super::check::Flaw;
use ipnet::IpNet;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// A range of addresses: `10.0.0.0/8`, `2001:db8::/32`, or one address. An IPv4 address and its IPv4-mapped IPv6
/// form are treated as equal (RFC 4291 section 2.5.5.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IpRange(IpNet);

impl IpRange {
    /// Reads a range of addresses, or a single address.
    ///
    /// # Errors
    /// Returns the problem and a suggested fix.
    pub fn parse(text: &str) -> Result<Self, Flaw> {
        let refused = |reason| Flaw::new(reason, "write it like 10.0.0.0/8, 2001:db8::/32 or 192.0.2.7");
        let (address, bits) =
            text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
        let written: IpAddr = address.parse().map_err(|_| refused("this is not an IP address"))?;
        let first = written.to_canonical();
        let no_bits = || refused("the number after the `/` is not a valid prefix length for this address");
        let range = match bits {
            None => IpNet::from(first),
            Some(bits) => {
                let is_number = bits.bytes().all(|byte| byte.is_ascii_digit());
                let bits: u8 = bits.parse().ok().filter(|_| is_number).ok_or_else(no_bits)?;
                // The mapped addresses are ::ffff:0:0/96; a wider range contains more than IPv4 addresses.
                let is_mapped = written.is_ipv6() && first.is_ipv4();
                let bits = if is_mapped {
                    bits.checked_sub(96).ok_or_else(|| {
                        refused("a range of IPv4-mapped addresses needs a prefix length of at least 96")
                    })?
                } else {
                    bits
                };
                IpNet::new(first, bits).map_err(|_| no_bits())?
            }
        };
        if range.trunc() != range {
            let help = format!("write {}", range.trunc());
            return Err(Flaw::telling("the address has bits set beyond the prefix length", help));
        }
        Ok(Self(range))
    }

    /// Returns true if this address is in the range.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.contains(&address.to_canonical())
    }
}

/// The network of `ipv6_bits` bits that contains an IPv6 address; an IPv4 address, mapped or not, is returned as an
/// IPv4 address.
pub fn address_block(address: IpAddr, ipv6_bits: u8) -> IpAddr {
    let address = address.to_canonical();
    let bits = if address.is_ipv4() { 32 } else { ipv6_bits };
    IpNet::new(address, bits).map_or(address, |block| block.network())
}

impl fmt::Display for IpRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl JsonSchema for IpRange {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "IpRange".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "A range of IP addresses, `10.0.0.0/8` or `2001:db8::/32`, or one address.",
            "minLength": 2,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_hold_their_addresses_however_they_come() {
        let cases = [
            ("10.0.0.0/8", "10.255.0.1", true),
            ("10.0.0.0/8", "11.0.0.1", false),
            ("10.0.0.0/8", "::ffff:10.1.2.3", true),
            ("::ffff:10.0.0.0/104", "10.1.2.3", true),
            ("::ffff:10.0.0.0/104", "::ffff:11.1.2.3", false),
            ("0.0.0.0/0", "203.0.113.9", true),
            ("0.0.0.0/0", "2001:db8::1", false),
            ("::/0", "2001:db8::1", true),
            ("::/0", "127.0.0.1", false),
            ("2001:db8::/32", "2001:db8:ffff::1", true),
            ("2001:db8::/32", "2001:db9::1", false),
            ("127.0.0.1", "127.0.0.1", true),
            ("127.0.0.1", "127.0.0.2", false),
            ("::1", "::1", true),
        ];
        for (range, address, wanted) in cases {
            let range = IpRange::parse(range).unwrap();
            assert_eq!(range.contains(address.parse().unwrap()), wanted, "{address} in {range}");
        }
    }

    #[test]
    fn odd_ranges_are_refused() {
        for text in ["", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/+8", "::/129", "h/8", "10.1/16"]
        {
            assert!(IpRange::parse(text).is_err(), "{text}");
        }
        assert!(!IpRange::parse("::ffff:10.0.0.0/64").unwrap_err().tells_value);
        assert_eq!(IpRange::parse("10.0.0.7/8").unwrap_err().help, "write 10.0.0.0/8");
    }
}
