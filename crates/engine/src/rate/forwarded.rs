//! For whom a proxy says that it asks. It must not know whether a limit believes that.

use std::net::{IpAddr, SocketAddr};

use http::HeaderMap;

/// The header in which proxies name who asked them.
const FORWARDED: &str = "x-forwarded-for";

/// The first address that a proxy names, with or without its port; `None` where it is none.
pub fn forwarded(headers: &HeaderMap) -> Option<IpAddr> {
    let text = headers.get(FORWARDED)?.to_str().ok()?;
    let first = text.split(',').next()?.trim();
    let with_port = || first.parse::<SocketAddr>().ok().map(|address| address.ip());
    let bracketed = || first.strip_prefix('[')?.strip_suffix(']')?.parse().ok().map(IpAddr::V6);
    first.parse().ok().or_else(with_port).or_else(bracketed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_address_counts_however_it_is_written() {
        let of = |value: &str| {
            let headers =
                HeaderMap::from_iter([(http::HeaderName::from_static(FORWARDED), value.parse().unwrap())]);
            forwarded(&headers).map(|address| address.to_string())
        };
        for (value, address) in [
            ("192.0.2.1", "192.0.2.1"),
            (" 192.0.2.1 , 203.0.113.9", "192.0.2.1"),
            ("192.0.2.1:4711, 203.0.113.9", "192.0.2.1"),
            ("2001:db8::1", "2001:db8::1"),
            ("[2001:db8::1]:4711", "2001:db8::1"),
            ("[2001:db8::1]", "2001:db8::1"),
        ] {
            assert_eq!(of(value).as_deref(), Some(address), "{value}");
        }
        for none in ["", "unknown", "192.0.2.1:x", "[192.0.2.1]", "_hidden, 192.0.2.1"] {
            assert_eq!(of(none), None, "{none}");
        }
    }
}
