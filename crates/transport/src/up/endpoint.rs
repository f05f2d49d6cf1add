//! The address to which messages are sent (POST) in HTTP+SSE. An event stream begins with a reference to this address,
//! which is resolved and restricted to the stream's own origin (MCP 2024-11-05, transports: HTTP with SSE; RFC 3986,
//! section 5). This module must not know what is sent to the address.

use http::Uri;
use http::uri::{Authority, PathAndQuery, Scheme};

use super::LinkError;

/// The maximum length of a reference, in bytes.
pub(super) const LONGEST: usize = 8 << 10;

/// The minimum length of a query value that is treated as a secret, in bytes.
const SECRET: usize = 6;

/// The length of the part of a text that is searched for secrets before the text is shown, in bytes.
const SHOWN: usize = 16 << 10;

/// An address to which messages are sent (POST). Its query identifies the session and is therefore secret: it is never
/// shown, not even by `Debug`.
#[derive(Clone)]
pub(super) struct Endpoint(Uri);

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Endpoint").field(&self.0.path()).finish()
    }
}

impl Endpoint {
    /// Resolves a reference from the stream that was opened at `base`.
    ///
    /// # Errors
    /// Returns [`LinkError::EventStream`] unless the reference is an HTTP one with the same origin: scheme, host and
    /// port.
    pub(super) fn resolve(base: &Uri, said: &[u8]) -> Result<Self, LinkError> {
        let said = said.trim_ascii();
        if said.len() > LONGEST {
            return Err(fault(format!("its endpoint event is longer than {LONGEST} bytes")));
        }
        // Some parsers treat a backslash as a slash, so a backslash could lead to another host.
        let text = std::str::from_utf8(said)
            .ok()
            .filter(|text| text.bytes().all(|b| b.is_ascii_graphic() && b != b'\\'))
            .ok_or_else(|| fault("its endpoint event is not a URI".to_owned()))?;
        let text = text.split('#').next().unwrap_or_default();
        if text.is_empty() {
            return Err(fault("its endpoint event is empty".to_owned()));
        }
        let reference = match scheme(text) {
            Some((name, rest)) => {
                let rest = rest.strip_prefix("//").filter(|_| is_http(name));
                let rest = rest.ok_or_else(|| fault("its endpoint is not an HTTP URL".to_owned()))?;
                on_same_origin(base, name, rest)?
            }
            None => match text.strip_prefix("//") {
                Some(rest) => on_same_origin(base, base.scheme_str().unwrap_or_default(), rest)?,
                None => text.to_owned(),
            },
        };
        let mut parts = http::uri::Parts::default();
        parts.scheme = base.scheme().cloned();
        parts.authority = base.authority().cloned();
        parts.path_and_query = Some(
            PathAndQuery::try_from(within(base, &reference))
                .map_err(|_| fault("its endpoint event is not a URI".to_owned()))?,
        );
        let uri = Uri::from_parts(parts).map_err(|_| fault("its endpoint event is not a URI".to_owned()))?;
        Ok(Self(uri))
    }

    /// Returns the address. Never show it.
    pub(super) fn uri(&self) -> &Uri {
        &self.0
    }

    /// Returns the server's text after removing the secrets of the address from it; long texts are truncated.
    pub(super) fn without_secrets(&self, text: &[u8]) -> String {
        let mut shown = String::from_utf8_lossy(&text[..text.len().min(SHOWN)]).into_owned();
        let query = self.0.query().unwrap_or_default();
        let values = query.split('&').map(|pair| pair.split_once('=').map_or(pair, |(_, value)| value));
        for secret in std::iter::once(query).chain(values).filter(|secret| secret.len() >= SECRET) {
            shown = shown.replace(secret, "…");
        }
        shown
    }
}

fn fault(why: String) -> LinkError {
    LinkError::EventStream(why)
}

/// Returns the scheme of an absolute reference, and the text after the colon.
fn scheme(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.split_once(':')?;
    let is_name = name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
        && name.as_bytes().first().is_some_and(u8::is_ascii_alphabetic);
    is_name.then_some((name, rest))
}

fn is_http(scheme: &str) -> bool {
    scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
}

/// Checks the origin of an absolute reference, whose authority is at the beginning of `rest`; returns the path and
/// query.
fn on_same_origin(base: &Uri, scheme: &str, rest: &str) -> Result<String, LinkError> {
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let there: Authority =
        authority.parse().map_err(|_| fault("its endpoint is not an HTTP URL".to_owned()))?;
    let same = base.authority().is_some_and(|here| {
        let here_scheme = base.scheme_str().unwrap_or_default();
        !authority.contains('@')
            && scheme.eq_ignore_ascii_case(here_scheme)
            && there.host().eq_ignore_ascii_case(here.host())
            && port(scheme, &there) == port(here_scheme, here)
    });
    if !same {
        return Err(fault(format!(
            "it asks clients to send messages to another origin, {}://{}{}, which is not allowed",
            scheme.to_ascii_lowercase(),
            there.host(),
            there.port().map(|port| format!(":{port}")).unwrap_or_default(),
        )));
    }
    Ok(if path.starts_with('/') { path.to_owned() } else { format!("/{path}") })
}

fn port(scheme: &str, authority: &Authority) -> Option<u16> {
    // A port that is not a number cannot be equal.
    if authority.port().is_none() && authority.as_str().ends_with(':') {
        return None;
    }
    let usual = if scheme.eq_ignore_ascii_case(Scheme::HTTPS.as_str()) { 443 } else { 80 };
    Some(authority.port_u16().unwrap_or(usual))
}

/// Resolves a reference that has no authority (RFC 3986, section 5.2.2).
fn within(base: &Uri, reference: &str) -> String {
    let (path, query) = match reference.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (reference, None),
    };
    let path = if path.is_empty() {
        base.path().to_owned()
    } else if path.starts_with('/') {
        without_dots(path)
    } else {
        let folder = base.path().rfind('/').map_or("/", |end| &base.path()[..=end]);
        without_dots(&format!("{folder}{path}"))
    };
    match query {
        Some(query) => format!("{path}?{query}"),
        None => path,
    }
}

/// Returns an absolute path without the segments `.` and `..` (RFC 3986, section 5.2.4).
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let last = segments.peek().is_none();
        match segment {
            "." => {}
            ".." => {
                kept.pop();
            }
            _ => {
                kept.push(segment);
                continue;
            }
        }
        if last {
            kept.push("");
        }
    }
    format!("/{}", kept.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(base: &str, said: &str) -> Result<String, String> {
        let endpoint = Endpoint::resolve(&base.parse().unwrap(), said.as_bytes());
        endpoint.map(|endpoint| endpoint.uri().to_string()).map_err(|e| e.to_string())
    }

    #[test]
    fn references_are_resolved_against_the_stream() {
        let base = "http://127.0.0.1:9000/api/v1/sse?key=1";
        for (said, want) in [
            ("/message?sessionId=1", "http://127.0.0.1:9000/message?sessionId=1"),
            ("message?sessionId=1", "http://127.0.0.1:9000/api/v1/message?sessionId=1"),
            ("./message", "http://127.0.0.1:9000/api/v1/message"),
            ("../message", "http://127.0.0.1:9000/api/message"),
            ("../../../../message", "http://127.0.0.1:9000/message"),
            ("/a/./b/../c/..", "http://127.0.0.1:9000/a/"),
            ("?sessionId=1", "http://127.0.0.1:9000/api/v1/sse?sessionId=1"),
            ("http://127.0.0.1:9000/m?s=1#x", "http://127.0.0.1:9000/m?s=1"),
            ("HTTP://127.0.0.1:9000", "http://127.0.0.1:9000/"),
            ("//127.0.0.1:9000?s=1", "http://127.0.0.1:9000/?s=1"),
            (" /message?a=b:c \r", "http://127.0.0.1:9000/message?a=b:c"),
            ("/to/http://x/", "http://127.0.0.1:9000/to/http://x/"),
        ] {
            assert_eq!(resolved(base, said).as_deref(), Ok(want), "{said}");
        }
        for (base, said) in [
            ("https://a.example/sse", "https://A.example:443/m"),
            ("http://a.example:80/sse", "http://a.example/m"),
            ("http://[::1]:3/sse", "http://[::1]:3/m"),
        ] {
            assert!(resolved(base, said).unwrap().ends_with("/m"), "{said}");
        }
    }

    #[test]
    fn other_origins_are_refused() {
        let base = "http://127.0.0.1:9000/sse";
        for (said, named) in [
            ("http://169.254.169.254/latest", "http://169.254.169.254,"),
            ("//evil.example/m", "http://evil.example,"),
            ("https://127.0.0.1:9000/m", "https://127.0.0.1:9000,"),
            ("http://127.0.0.1:9001/m", "http://127.0.0.1:9001,"),
            ("http://127.0.0.1/m", "http://127.0.0.1,"),
            ("http://localhost:9000/m", "http://localhost:9000,"),
            ("http://127.0.0.1:9000@evil.example/m", "http://evil.example,"),
            ("http://me@127.0.0.1:9000/m", "http://127.0.0.1:9000,"),
            ("http://127.0.0.1:9000.evil.example/m", ""),
        ] {
            let refusal = resolved(base, said).unwrap_err();
            assert!(refusal.contains(named), "{said}: {refusal}");
        }
        for said in [
            "",
            "#x",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "http:message",
            "/\\evil.example/m",
            "\\\\evil.example/m",
            "/a b",
            "/ä",
            "/a\u{0}",
            "http://",
            "http:///m",
        ] {
            assert!(resolved(base, said).is_err(), "{said:?}");
        }
        assert!(resolved(base, &format!("/{}", "x".repeat(LONGEST))).unwrap_err().contains("longer"));
    }

    #[test]
    fn the_session_is_not_shown() {
        let base = "http://127.0.0.1:9000/sse".parse().unwrap();
        let endpoint = Endpoint::resolve(&base, b"/message?sessionId=0123456789abcdef&v=1").unwrap();
        assert_eq!(format!("{endpoint:?}"), "Endpoint(\"/message\")");
        let said = endpoint.without_secrets(b"no session 0123456789abcdef on version 1");
        assert_eq!(said, "no session … on version 1");
    }
}
