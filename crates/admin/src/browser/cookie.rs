//! The cookies of an operator's browser: of the session, and of the result of the last form submission. This module must not
//! know sessions.

use http::HeaderMap;
use http::header::{COOKIE, HeaderValue};

use super::visit::Transport;

/// The purpose of a cookie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CookieKind {
    /// The session.
    Session,
    /// The result of the last form submission, if the session is carried from one gateway of a cluster to another.
    Notice,
}

/// Returns the name of a cookie. Browsers accept a cookie with the prefix `__Host-` only over https, only from
/// this host, and do not send it to any other host.
fn name(kind: CookieKind, transport: Transport) -> &'static str {
    match (kind, transport) {
        (CookieKind::Session, Transport::Https) => "__Host-dragoman-admin",
        (CookieKind::Session, Transport::Loopback) => "dragoman-admin",
        (CookieKind::Notice, Transport::Https) => "__Host-dragoman-notice",
        (CookieKind::Notice, Transport::Loopback) => "dragoman-notice",
    }
}

/// Returns the attributes of the cookie. Over plain http, other programs of this machine may serve pages on other ports of the
/// same host, so the cookie is limited to the path of our pages.
fn attributes(transport: Transport) -> &'static str {
    match transport {
        Transport::Https => "Path=/; Secure; HttpOnly; SameSite=Strict",
        Transport::Loopback => "Path=/admin; HttpOnly; SameSite=Strict",
    }
}

/// Returns the value of the cookie in a request. Returns `None` if there are several such cookies, because an
/// attacker may have set one of them.
pub(super) fn read(kind: CookieKind, headers: &HeaderMap, transport: Transport) -> Option<String> {
    let pairs = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
    let pairs = pairs.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let mut own = pairs.filter(|(key, _)| *key == name(kind, transport)).map(|(_, value)| value);
    let value = own.next()?;
    (own.next().is_none() && !value.is_empty()).then(|| value.to_owned())
}

/// Returns the header that sets the cookie.
pub(super) fn set(kind: CookieKind, value: &str, transport: Transport) -> Option<HeaderValue> {
    let line = format!("{}={value}; {}", name(kind, transport), attributes(transport));
    let mut line = HeaderValue::from_str(&line).ok()?;
    line.set_sensitive(true);
    Some(line)
}

/// Returns the header that removes the cookie.
pub(super) fn removed(kind: CookieKind, transport: Transport) -> Option<HeaderValue> {
    HeaderValue::from_str(&format!("{}=; {}; Max-Age=0", name(kind, transport), attributes(transport))).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_from(lines: &[&str], transport: Transport) -> Option<String> {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(COOKIE, HeaderValue::from_str(line).unwrap());
        }
        read(CookieKind::Session, &headers, transport)
    }

    #[test]
    fn each_transport_has_a_cookie_of_its_own() {
        let both = ["a=1; __Host-dragoman-admin=x; dragoman-admin=y"];
        assert_eq!(read_from(&both, Transport::Https).as_deref(), Some("x"));
        assert_eq!(read_from(&both, Transport::Loopback).as_deref(), Some("y"));
        assert_eq!(read_from(&["dragoman-admin="], Transport::Loopback), None);
        assert_eq!(read_from(&[], Transport::Loopback), None);
    }

    #[test]
    fn of_two_cookies_neither_counts() {
        assert_eq!(read_from(&["dragoman-admin=x; dragoman-admin=y"], Transport::Loopback), None);
        assert_eq!(read_from(&["dragoman-admin=x", "dragoman-admin=x"], Transport::Loopback), None);
    }

    #[test]
    fn cookies_are_for_this_host_and_no_script() {
        let line = |value: HeaderValue| value.to_str().unwrap().to_owned();
        assert_eq!(
            line(set(CookieKind::Session, "v", Transport::Https).unwrap()),
            "__Host-dragoman-admin=v; Path=/; Secure; HttpOnly; SameSite=Strict"
        );
        assert_eq!(
            line(set(CookieKind::Session, "v", Transport::Loopback).unwrap()),
            "dragoman-admin=v; Path=/admin; HttpOnly; SameSite=Strict"
        );
        assert_eq!(
            line(set(CookieKind::Notice, "v", Transport::Loopback).unwrap()),
            "dragoman-notice=v; Path=/admin; HttpOnly; SameSite=Strict"
        );
        assert!(line(removed(CookieKind::Session, Transport::Https).unwrap()).ends_with("; Max-Age=0"));
        assert!(set(CookieKind::Session, "a\nb", Transport::Https).is_none());
    }
}
