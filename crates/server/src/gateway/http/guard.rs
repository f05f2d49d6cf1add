//! `Host` and `Origin` (MCP transports, security: DNS rebinding), and what browsers of allowed origins may do (CORS).

use std::borrow::Cow;
use std::net::IpAddr;

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN,
    VARY,
};
use http::{Request, Response, StatusCode};
use transport::net::{Body, Incoming};

use super::answer;

/// Who may be addressed, and from which web pages.
#[derive(Debug)]
pub(crate) struct Guard {
    /// Whether only this machine can connect, so that any other name is a trick.
    loopback: bool,
    hosts: Vec<String>,
    origins: Vec<String>,
}

impl Guard {
    /// `loopback` when all listeners are on loopback addresses; the lists are the configured ones.
    pub(crate) fn new(loopback: bool, hosts: &[String], origins: &[String]) -> Self {
        let lower = |list: &[String]| list.iter().map(|item| item.to_ascii_lowercase()).collect();
        Self { loopback, hosts: lower(hosts), origins: lower(origins) }
    }

    /// Checks a request; returns its origin when it came from a web page that is allowed.
    pub(crate) fn check(
        &self,
        request: &Request<Incoming>,
    ) -> Result<Option<HeaderValue>, Box<Response<Body>>> {
        let headers = request.headers();
        let host = only(headers, &HOST)?.and_then(|host| host.to_str().ok());
        let origin = only(headers, &ORIGIN)?;
        let host = lower(host.or_else(|| request.uri().authority().map(http::uri::Authority::as_str)));
        if !self.knows_host(&host) {
            let message = format!(
                "this server does not answer to the host name {host:?}; if it should, add it to `allowedHosts` in the \
                 configuration"
            );
            return Err(forbidden(&message));
        }
        let Some(origin) = origin else { return Ok(None) };
        let text = lower(Some(origin.to_str().unwrap_or("null")));
        if !self.knows_origin(&text, &host) {
            let message = format!(
                "web pages of {text} may not call this server; if they should, add it to `allowedOrigins` in the \
                 configuration"
            );
            return Err(forbidden(&message));
        }
        Ok(Some(origin.clone()))
    }

    fn knows_host(&self, host: &str) -> bool {
        let name = without_port(host);
        if self.hosts.iter().any(|known| known == host || known == name) {
            return true;
        }
        match literal(name) {
            // An address cannot be rebound; on a loopback listener only loopback makes sense.
            Some(address) => address.is_loopback() || !self.loopback,
            None => name == "localhost",
        }
    }

    fn knows_origin(&self, origin: &str, host: &str) -> bool {
        if self.origins.iter().any(|known| known == origin) {
            return true;
        }
        let Some((scheme, authority)) = origin.split_once("://") else { return false };
        if !matches!(scheme, "http" | "https") {
            return false;
        }
        let name = without_port(authority);
        authority == host || name == "localhost" || literal(name).is_some_and(|address| address.is_loopback())
    }
}

/// A header that may stand once: of two, whoever else looks may take the other one.
fn only<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
) -> Result<Option<&'a HeaderValue>, Box<Response<Body>>> {
    let mut all = headers.get_all(name).iter();
    let first = all.next();
    if all.next().is_some() {
        return Err(forbidden(&format!("the header {name} stands twice")));
    }
    Ok(first)
}

/// Without capitals; copied only where there are some, which is seldom.
fn lower(text: Option<&str>) -> Cow<'_, str> {
    let text = text.unwrap_or_default();
    if text.bytes().any(|b| b.is_ascii_uppercase()) { text.to_ascii_lowercase().into() } else { text.into() }
}

fn without_port(host: &str) -> &str {
    if let Some(end) = host.strip_prefix('[').and_then(|rest| rest.find(']')) {
        let behind = &host[end + 2..];
        let is_port = behind.strip_prefix(':').is_some_and(|port| port.bytes().all(|b| b.is_ascii_digit()));
        return if behind.is_empty() || is_port { &host[..end + 2] } else { host };
    }
    match host.rsplit_once(':') {
        Some((name, port)) if !name.contains(':') && port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    }
}

/// The address that a host name is written as.
fn literal(name: &str) -> Option<IpAddr> {
    let inner = name.strip_prefix('[').and_then(|n| n.strip_suffix(']')).unwrap_or(name);
    inner.parse().ok()
}

fn forbidden(message: &str) -> Box<Response<Body>> {
    Box::new(answer::refusal(StatusCode::FORBIDDEN, message))
}

/// Lets a page of an allowed origin read the response.
pub(super) fn allow_origin(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(VARY, HeaderValue::from_static("Origin"));
    headers
        .insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("Mcp-Session-Id, WWW-Authenticate"));
}

/// The answer to a browser that asks whether it may.
pub(super) fn preflight() -> Response<Body> {
    let mut response = answer::empty(StatusCode::NO_CONTENT);
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, DELETE"));
    // A wildcard does not cover Authorization; Mcp-Param-* have names that cannot be listed.
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("*, Authorization"));
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_loopback_only_loopback_names_are_known() {
        let guard = Guard::new(true, &["MCP.example.com".to_owned()], &[]);
        for host in [
            "localhost",
            "localhost:8808",
            "127.0.0.1:1",
            "127.9.9.9",
            "[::1]:80",
            "[::1]",
            "mcp.example.com:443",
        ] {
            assert!(guard.knows_host(&host.to_ascii_lowercase()), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "localhost.evil.example",
            "10.0.0.1",
            "[::1].evil.example",
            "[::1]x",
            "127.0.0.1.evil.example",
            "a:b:c",
        ] {
            assert!(!guard.knows_host(host), "{host}");
        }
        assert!(Guard::new(false, &[], &[]).knows_host("10.0.0.1:8808"));
        assert!(!Guard::new(false, &[], &[]).knows_host("evil.example"));
    }

    #[test]
    fn only_local_own_and_configured_pages_may_call() {
        let guard =
            Guard::new(true, &["mcp.example.com".to_owned()], &["https://app.example.com".to_owned()]);
        let host = "mcp.example.com";
        for origin in [
            "http://localhost:5173",
            "http://127.0.0.1",
            "https://[::1]:3",
            "https://app.example.com",
            "https://mcp.example.com",
        ] {
            assert!(guard.knows_origin(origin, host), "{origin}");
        }
        for origin in [
            "null",
            "",
            "https://evil.example",
            "http://localhost.evil.example",
            "file://localhost",
            "https://app.example.com.evil.example",
        ] {
            assert!(!guard.knows_origin(origin, host), "{origin}");
        }
    }
}
