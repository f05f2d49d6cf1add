//! `Host` and `Origin` (MCP transports, security: DNS rebinding), and what browsers of allowed origins may do (CORS).

use std::borrow::Cow;

use engine::access::Hosts;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN,
    VARY,
};
use http::{Request, Response, StatusCode};
use transport::net::{Body, Incoming};

use super::answer;

/// The door that every request comes to first.
#[derive(Debug)]
pub(crate) struct Guard(Hosts);

impl Guard {
    /// `loopback` when all listeners are on loopback addresses; the lists are the configured ones.
    pub(crate) fn new(loopback: bool, hosts: &[String], origins: &[String]) -> Self {
        Self(Hosts::new(loopback, hosts, origins))
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
        if !self.0.knows(&host) {
            let message = format!(
                "this server does not answer to the host name {host:?}; if it should, add it to `allowedHosts` in the \
                 configuration"
            );
            return Err(forbidden(&message));
        }
        let Some(origin) = origin else { return Ok(None) };
        let text = lower(Some(origin.to_str().unwrap_or("null")));
        if !self.0.knows_origin(&text, &host) {
            let message = format!(
                "web pages of {text} may not call this server; if they should, add it to `allowedOrigins` in the \
                 configuration"
            );
            return Err(forbidden(&message));
        }
        Ok(Some(origin.clone()))
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

fn forbidden(message: &str) -> Box<Response<Body>> {
    Box::new(answer::refusal(StatusCode::FORBIDDEN, message))
}

/// What such a page may read of a response's head.
const EXPOSED: &str = "Mcp-Session-Id, WWW-Authenticate, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, \
                       X-RateLimit-Reset";

/// Lets a page of an allowed origin read the response.
pub(super) fn allow_origin(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(VARY, HeaderValue::from_static("Origin"));
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
}

/// The answer to a browser that asks whether it may.
pub(super) fn preflight() -> Response<Body> {
    let mut response = answer::empty(StatusCode::NO_CONTENT);
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, PUT, DELETE"));
    // A wildcard does not cover Authorization; Mcp-Param-* have names that cannot be listed.
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("*, Authorization"));
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    response
}
