//! Ranges of IP addresses.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// A range of addresses: `10.0.0.0/8`, `2001:db8::/32`, or one address. An IPv4 address is the same whether it comes as
/// itself or mapped into IPv6 (RFC 4291 section 2.5.5.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IpRange {
    first: IpAddr,
    bits: u8,
}

impl IpRange {
    /// Reads a range.
    ///
    /// # Errors
    /// Says what is wrong, and how to write it where that can be told.
    pub fn parse(text: &str) -> Result<Self, (&'static str, Option<String>)> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let written: IpAddr = address.parse().map_err(|_| ("this is no IP address", None))?;
        let width = if written.is_ipv4() { 32 } else { 128 };
        let is_number = |bits: &&str| bits.bytes().all(|byte| byte.is_ascii_digit());
        let bits: u8 = match bits {
            None => width,
            Some(bits) => Some(bits)
                .filter(is_number)
                .and_then(|bits| bits.parse().ok())
                .filter(|bits| *bits <= width)
                .ok_or(("what stands behind the `/` is no number of bits of this address", None))?,
        };
        let first = written.to_canonical();
        // The mapped addresses are ::ffff:0:0/96; a wider range holds more than IPv4.
        let bits = match (written.is_ipv6() && first.is_ipv4(), bits) {
            (false, bits) => bits,
            (true, 96..) => bits - 96,
            (true, _) => return Err(("a range of mapped addresses has at least 96 bits", None)),
        };
        let start = mask(first, bits);
        if start != first {
            let mend = format!("{start}/{bits}");
            return Err(("the address has bits beyond those that count", Some(mend)));
        }
        Ok(Self { first, bits })
    }

    /// Is this address in the range?
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        address.is_ipv4() == self.first.is_ipv4() && mask(address, self.bits) == self.first
    }
}

/// The network of `ipv6_bits` bits that an IPv6 address is in; an IPv4 address, mapped or not, stays itself.
pub fn address_block(address: IpAddr, ipv6_bits: u8) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => address.into(),
        address @ IpAddr::V6(_) => mask(address, ipv6_bits),
    }
}

/// The first `bits` bits of an address, the rest zero.
fn mask(address: IpAddr, bits: u8) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            let kept = u32::MAX.checked_shl(32 - u32::from(bits.min(32))).unwrap_or(0);
            Ipv4Addr::from_bits(address.to_bits() & kept).into()
        }
        IpAddr::V6(address) => {
            let kept = u128::MAX.checked_shl(128 - u32::from(bits.min(128))).unwrap_or(0);
            Ipv6Addr::from_bits(address.to_bits() & kept).into()
        }
    }
}

impl fmt::Display for IpRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.first, self.bits)
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
        assert_eq!(IpRange::parse("::ffff:10.0.0.0/64").unwrap_err().1, None);
        assert_eq!(IpRange::parse("10.0.0.7/8").unwrap_err().1.as_deref(), Some("10.0.0.0/8"));
    }
}
