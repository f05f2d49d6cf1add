//! `Host`, `Origin` and `X-Forwarded-For`: who is known is known by another reading of the same text, too.

use std::net::IpAddr;

use engine::access::Hosts;
use engine::rate::forwarded;
use http::uri::Authority;
use http::{HeaderMap, HeaderValue, Uri};

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

/// Any host: where only this machine can connect, a name that is known is one of this machine.
pub fn host(text: &str) {
    let hosts = Hosts::new(true, &["known.example".to_owned()], &[]);
    if hosts.knows(text) {
        let authority = text.parse::<Authority>().ok();
        let name = authority.as_ref().map_or(text, Authority::host);
        assert!(name == "known.example" || is_local(name), "{text:?} is {name:?}");
    }
}

/// Any origin: pages that may call are of this machine, or of this server.
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

/// Any value of `X-Forwarded-For`: the first address, if it is one, as it stands or with the port that some proxies write.
pub fn address(value: &[u8]) {
    let Ok(value) = HeaderValue::from_bytes(value) else { return };
    let mut headers = HeaderMap::new();
    headers.insert("x-forwarded-for", value.clone());
    let text = value.to_str().unwrap_or_default();
    let first = text.split(',').next().unwrap_or_default().trim();
    let Some(found) = forwarded(&headers) else {
        assert!(first.parse::<IpAddr>().is_err(), "{first:?}");
        return;
    };
    let in_brackets = first.strip_prefix('[').and_then(|rest| rest.split([']', '%']).next());
    let bare =
        in_brackets.unwrap_or(if found.is_ipv4() { first.split(':').next().unwrap_or(first) } else { first });
    assert_eq!(bare.parse(), Ok(found), "{first:?}");
}

fn is_local(name: &str) -> bool {
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    name == "localhost" || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}
