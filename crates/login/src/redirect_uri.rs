//! Redirect URIs: the addresses at which a client gets the browser back (OAuth 2.1, 2.3; RFC 8252, 7). This module
//! must not know clients.

use std::net::IpAddr;

use http::Uri;

/// The maximum length of an address, in bytes.
const LONGEST: usize = 2048;

/// Forbidden schemes: a browser would run or show such an address itself, or no program claims the scheme for
/// itself.
const NEVER: &[&str] = &[
    "about",
    "blob",
    "chrome",
    "data",
    "file",
    "filesystem",
    "ftp",
    "intent",
    "javascript",
    "mailto",
    "resource",
    "tel",
    "vbscript",
    "view-source",
    "ws",
    "wss",
];

/// Checks the redirect URI of a client: `https`, `http` on the person's own machine, or a scheme that a program on
/// that machine has claimed.
///
/// # Errors
/// Returns the reason why browsers are not sent there.
pub(crate) fn check(uri: &str) -> Result<(), &'static str> {
    if uri.len() > LONGEST || !uri.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("a redirect URI must consist of at most 2048 visible ASCII characters");
    }
    if uri.contains(['#', '"', '<', '>', '\\']) {
        return Err("a redirect URI must not contain a fragment, quotes or backslashes");
    }
    let (scheme, rest) = uri.split_once(':').ok_or("a redirect URI must be an absolute URL")?;
    let scheme = scheme.to_ascii_lowercase();
    match scheme.as_str() {
        "https" | "http" => {
            let parsed: Uri = uri.parse().map_err(|_| "this redirect URI is not a URL")?;
            let authority = parsed.authority().ok_or("this redirect URI has no host")?;
            if authority.as_str().contains('@') {
                return Err("a redirect URI must not contain a user name");
            }
            if scheme == "http" && !is_loopback(authority.host()) {
                return Err("a redirect URI must use https, unless it is on the person's own machine");
            }
            Ok(())
        }
        own if NEVER.contains(&own) || !is_scheme(own) => {
            Err("this scheme cannot be used for a redirect URI")
        }
        _ if rest.is_empty() => Err("this redirect URI is not a URL"),
        _ => Ok(()),
    }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '+' | '-' | '.'))
}

fn is_loopback(host: &str) -> bool {
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    host.eq_ignore_ascii_case("localhost")
        || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Returns true if a client that registered one address may receive the browser at the other. The addresses must be
/// equal, or differ only in the port on the person's own machine, because programs choose a new port at each start
/// (RFC 8252, 7.3).
pub(crate) fn is_same(registered: &str, requested: &str) -> bool {
    registered == requested
        || matches!((on_this_machine(registered), on_this_machine(requested)), (Some(a), Some(b)) if a == b)
}

/// Returns the host, and the path with the query, of an `http` address on the person's own machine; omits the port.
fn on_this_machine(uri: &str) -> Option<(String, String)> {
    let parsed: Uri = uri.parse().ok()?;
    let host = parsed.host().filter(|host| parsed.scheme_str() == Some("http") && is_loopback(host))?;
    let path = parsed.path_and_query().map(ToString::to_string).unwrap_or_default();
    Some((host.to_ascii_lowercase(), path))
}

/// Returns a description, for people, of the final destination of the browser.
pub(crate) fn shown(uri: &str) -> String {
    let parsed = uri.parse::<Uri>().ok().filter(|uri| matches!(uri.scheme_str(), Some("http" | "https")));
    match parsed.as_ref().and_then(Uri::host) {
        Some(host) if is_loopback(host) => "a program on this computer".to_owned(),
        Some(host) => host.to_owned(),
        None => format!("the program for {} links", uri.split(':').next().unwrap_or_default()),
    }
}

/// Returns the address with parameters added to its query.
pub(crate) fn with(uri: &str, parameters: &[(&str, &str)]) -> String {
    let joint = if uri.contains('?') { '&' } else { '?' };
    format!("{uri}{joint}{}", upstream::oauth::form::joined(parameters))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_is_sent_only_where_a_client_can_be() {
        for good in [
            "https://claude.ai/api/mcp/auth_callback",
            "http://localhost:33418/",
            "http://127.0.0.1:1234/callback?x=1",
            "http://[::1]:9/",
            "cursor://anysphere.cursor-retrieval/oauth/user-agent/callback",
            "com.example.app:/oauth",
        ] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        for bad in [
            "",
            "/callback",
            "http://example.com/",
            "http://127.0.0.1.example.com/",
            "http://localhost@example.com/",
            "https://user@example.com/",
            "https://example.com/#x",
            "javascript:alert(1)",
            "JavaScript:alert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "https://example.com/\"><script>",
            "https://example.com/a b",
            "x",
            "cursor:",
            "1a:b",
        ] {
            assert!(check(bad).is_err(), "{bad}");
        }
        assert!(check(&format!("https://example.com/{}", "a".repeat(LONGEST))).is_err());
    }

    #[test]
    fn only_the_port_of_this_machine_may_differ() {
        assert!(is_same("http://127.0.0.1/cb", "http://127.0.0.1:4711/cb"));
        assert!(is_same("http://localhost:1/cb?a=b", "http://LOCALHOST:2/cb?a=b"));
        for (registered, requested) in [
            ("https://example.com/cb", "https://example.com:8443/cb"),
            ("https://example.com/cb", "https://example.com/cb/x"),
            ("http://127.0.0.1/cb", "http://localhost/cb"),
            ("http://127.0.0.1/cb", "http://127.0.0.1/other"),
            ("http://127.0.0.1/cb?a=1", "http://127.0.0.1/cb"),
            ("http://127.0.0.1/cb", "https://127.0.0.1/cb"),
        ] {
            assert!(!is_same(registered, requested), "{requested}");
        }
    }

    #[test]
    fn people_are_told_where_they_go() {
        assert_eq!(shown("https://claude.ai/cb"), "claude.ai");
        assert_eq!(shown("http://127.0.0.1:99/"), "a program on this computer");
        assert_eq!(shown("cursor://x/y"), "the program for cursor links");
    }
}
