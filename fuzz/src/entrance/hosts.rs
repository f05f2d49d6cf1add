//! `Host`, `Origin` and `X-Forwarded-For`: names and addresses that are accepted are also accepted by a second,
//! independent parser.

use std::net::{IpAddr, Ipv4Addr};

use config::TrustedProxies;
use engine::ClientAddress;
use engine::access::Hosts;
use http::uri::Authority;
use http::{HeaderMap, HeaderValue, Uri};

/// The address of the machine that opens the connections.
const PEER: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));

/// The fuzzer's entry.
pub fn fuzz(input: &[u8]) {
    let text = String::from_utf8_lossy(input).to_ascii_lowercase();
    host(&text);
    for behind in ["", ":80", ":", ".evil.example", "@evil.example"] {
        for name in ["localhost", "127.0.0.1", "[::1]"] {
            host(&format!("{name}{text}{behind}"));
            host(&format!("{text}{name}{behind}"));
            origin(&format!("http://{name}{text}{behind}"));
            origin(&format!("https://{text}{name}{behind}"));
        }
    }
    origin(&text);
    address(input);
}

/// Checks any host: if only this machine can connect, an accepted name is configured or belongs to this machine.
pub fn host(text: &str) {
    let hosts = Hosts::new(true, &["known.example".to_owned()], &[]);
    if hosts.knows(text) {
        let authority = text.parse::<Authority>().ok();
        let name = authority.as_ref().map_or(text, Authority::host);
        assert!(name == "known.example" || is_local(name), "{text:?} is {name:?}");
    }
}

/// Checks any origin: an accepted origin belongs to this machine or to this server.
pub fn origin(text: &str) {
    let hosts = Hosts::new(true, &[], &["https://page.example".to_owned()]);
    if !hosts.knows_origin(text, "known.example") || text == "https://page.example" {
        return;
    }
    if let Ok(uri) = text.parse::<Uri>() {
        assert!(matches!(uri.scheme_str(), Some("http" | "https")), "{text:?}");
        let host = uri.host().expect("an origin has a host");
        assert!(host == "known.example" || is_local(host), "{text:?} is of {host:?}");
        assert!(uri.path_and_query().is_none_or(|path| path == "/"), "{text:?}");
    }
}

/// Checks any value of `X-Forwarded-For`: its last address counts if it is valid, with or without the port that some
/// proxies add.
pub fn address(value: &[u8]) {
    let Ok(value) = HeaderValue::from_bytes(value) else { return };
    let mut headers = HeaderMap::new();
    headers.insert("x-forwarded-for", value.clone());
    let last = value.as_bytes().rsplit(|byte| *byte == b',').next().unwrap_or_default();
    let last = std::str::from_utf8(last).unwrap_or_default().trim_matches([' ', '\t']);
    let found = ClientAddress::of(PEER, &headers, &TrustedProxies::Hops(1));
    if found.is_proxy {
        assert!(found.address == PEER && last.parse::<IpAddr>().is_err(), "{last:?}");
        return;
    }
    let in_brackets = last.strip_prefix('[').and_then(|rest| rest.split([']', '%']).next());
    let is_v4 = last.starts_with(|first: char| first.is_ascii_digit()) && last.contains('.');
    let bare = in_brackets.unwrap_or(if is_v4 { last.split(':').next().unwrap_or(last) } else { last });
    let bare: IpAddr = bare.parse().unwrap_or_else(|_| last.parse().expect("an address"));
    assert_eq!(bare.to_canonical(), found.address, "{last:?}");
}

fn is_local(name: &str) -> bool {
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    name == "localhost" || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}
