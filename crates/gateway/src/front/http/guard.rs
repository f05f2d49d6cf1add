//! The checks that every request passes first: its authority and origin (MCP transports, security: DNS rebinding), its
//! framing, and what web pages of allowed origins may do (CORS, Fetch metadata).

use engine::access::Hosts;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN,
    VARY,
};
use http::{Request, Response, StatusCode, Uri};
use transport::net::fields::{AdmissionFields, FieldLines, field, fields, has_field, lower, text};
use transport::net::{Body, Incoming};

use super::{answer, header_names};

/// Checks a request's host and origin; returns the origin if the request came from an allowed web page.
pub fn check(hosts: &Hosts, request: &Request<Incoming>) -> Result<Option<HeaderValue>, Box<Response<Body>>> {
    let fields = AdmissionFields::of(request.headers());
    admit(hosts, &fields, request.uri())?;
    let Some(origin) = only(&fields.origin, &ORIGIN)? else { return Ok(None) };
    let host = lower(authority_of(&fields, request.uri()).unwrap_or_default());
    let text = lower(origin.to_str().unwrap_or("null"));
    if !hosts.knows_origin(&text, &host) {
        let message = format!(
            "web pages from {text} may not call this server; to allow this origin, add it to `allowedOrigins` in the \
                 configuration"
        );
        return Err(forbidden(&message));
    }
    Ok(Some(origin.clone()))
}

/// Checks the host to which a request is addressed, and the request's framing.
pub(super) fn check_host(hosts: &Hosts, request: &Request<Incoming>) -> Result<(), Box<Response<Body>>> {
    admit(hosts, &AdmissionFields::of(request.headers()), request.uri())
}

fn admit(hosts: &Hosts, fields: &AdmissionFields<'_>, uri: &Uri) -> Result<(), Box<Response<Body>>> {
    only(&fields.host, &HOST)?;
    if !is_plainly_framed(&fields.transfer_encoding) {
        let message = "the `Transfer-Encoding` header must be a single `chunked`: other parsers could see a \
                       different end of this request";
        return Err(Box::new(answer::refusal(StatusCode::BAD_REQUEST, message)));
    }
    if !names_one_host(fields.host.first, uri) {
        let message = "the `Host` header differs from the host in the request's target; send the same \
                       host in both";
        return Err(Box::new(answer::refusal(StatusCode::BAD_REQUEST, message)));
    }
    let host = authority_of(fields, uri).unwrap_or_default();
    if !hosts.has_known(host) && !hosts.knows(&lower(host)) {
        let host = lower(host);
        let message = format!(
            "this server does not answer to the host name {host:?}; to allow this name, add it to `allowedHosts` in the \
                 configuration"
        );
        return Err(forbidden(&message));
    }
    Ok(())
}

/// Returns the host to which a request is addressed, with its port if given: the host in the request's target
/// (absolute form in HTTP/1.1, `:authority` in HTTP/2), or else in its `Host` header (RFC 9112, 3.2.2; RFC 9113,
/// 8.3.1). All decisions by host use this function.
pub fn authority<'a>(headers: &'a HeaderMap, uri: &'a Uri) -> Option<&'a str> {
    named_by(uri).or_else(|| field(headers, &HOST).and_then(text))
}

/// Returns the same as [`authority`], from fields that have been read.
fn authority_of<'a>(fields: &AdmissionFields<'a>, uri: &'a Uri) -> Option<&'a str> {
    named_by(uri).or_else(|| fields.host.first.and_then(text))
}

fn named_by(uri: &Uri) -> Option<&str> {
    uri.authority().map(http::uri::Authority::as_str)
}

/// Returns false if the target and `Host` name different hosts. A proxy in front may have based its decision on
/// either of them.
fn names_one_host(host: Option<&HeaderValue>, uri: &Uri) -> bool {
    let (Some(target), Some(host)) = (uri.authority(), host) else { return true };
    let usual = match uri.scheme_str() {
        Some("http") => ":80",
        Some("https") => ":443",
        _ => "",
    };
    let plain = |text: &str| text.strip_suffix(usual).unwrap_or(text).to_ascii_lowercase();
    let target = target.as_str();
    text(host).is_some_and(|host| host == target || plain(host) == plain(target))
}

/// Returns true if the end of the body is unambiguous for every program that reads the request. hyper only requires
/// that the last encoding in the last header is `chunked`, and refuses the header in HTTP/1.0 and HTTP/2.
fn is_plainly_framed(encoding: &FieldLines<'_>) -> bool {
    let is_chunked = |first: &HeaderValue| first.as_bytes().eq_ignore_ascii_case(b"chunked");
    encoding.first.is_none_or(is_chunked) && !encoding.is_repeated
}

/// Returns the refusal of a request that a foreign page caused a browser to send without an allowed `Origin` (Fetch
/// metadata). Such requests carry the browser's credentials and need no preflight. Requests with an `Origin` are
/// checked by [`check`].
pub fn refuse_foreign_page(headers: &HeaderMap) -> Option<Response<Body>> {
    let mut sites = fields(headers, &header_names::SEC_FETCH_SITE).iter();
    let is_foreign = sites.any(|site| matches!(site.as_bytes(), b"cross-site" | b"same-site"));
    if !is_foreign || has_field(headers, &ORIGIN) {
        return None;
    }
    let message = "web pages from other sites may call this server only with an `Origin` in \
                   `allowedOrigins`; according to `Sec-Fetch-Site`, this request comes from such a page";
    Some(answer::refusal(StatusCode::FORBIDDEN, message))
}

/// Returns a header that may occur only once. If it occurred twice, another program could use a different value
/// than Dragoman does.
fn only<'a>(
    lines: &FieldLines<'a>,
    name: &HeaderName,
) -> Result<Option<&'a HeaderValue>, Box<Response<Body>>> {
    if lines.is_repeated {
        return Err(forbidden(&format!("the {name} header occurs twice")));
    }
    Ok(lines.first)
}

fn forbidden(message: &str) -> Box<Response<Body>> {
    Box::new(answer::refusal(StatusCode::FORBIDDEN, message))
}

/// The response headers that a page of an allowed origin may read.
const EXPOSED: &str = "Mcp-Session-Id, WWW-Authenticate, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, \
                       X-RateLimit-Reset";

/// Allows a page of an allowed origin to read the response.
pub(super) fn allow_origin(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(VARY, HeaderValue::from_static("Origin"));
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
}

/// Returns the answer to a CORS preflight request.
pub fn preflight() -> Response<Body> {
    let mut response = answer::empty(StatusCode::NO_CONTENT);
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, PUT, DELETE"));
    // A wildcard does not include Authorization, and the names of Mcp-Param-* headers cannot be listed.
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("*, Authorization"));
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    response
}
