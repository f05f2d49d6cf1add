//! One request for a page: its transport, its session, and whether one of our own pages sent it. This module must not know
//! what is on a page.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, ORIGIN};
use http::{Request, Response, Uri};
use transport::net::{Body, Incoming};
use upstream::oauth::form::form_pairs;

use super::cookie::CookieKind;
use super::page_request::Fields;
use super::{cookie, page_reply};
use gateway::admission::admin::AdminDoor;
use gateway::admission::admin::sessions::{FormNotice, FoundSession};
use gateway::front::http::{body, guard};
use gateway::management::logins;
use gateway::process::Shard;
use transport::net::Arrived;

/// A transport over which passwords and cookies may travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transport {
    /// TLS, up to Dragoman or up to the proxy at `publicUrl`.
    Https,
    /// Plain http that does not leave this machine.
    Loopback,
}

/// The headers that proxies add to the requests that they forward.
const PROXIES: [HeaderName; 6] = [
    HeaderName::from_static("forwarded"),
    HeaderName::from_static("via"),
    HeaderName::from_static("x-forwarded-for"),
    HeaderName::from_static("x-forwarded-host"),
    HeaderName::from_static("x-forwarded-proto"),
    HeaderName::from_static("x-real-ip"),
];

/// The properties of a connection that determine whether its transport is acceptable.
struct VisitorConnection<'a> {
    has_tls: bool,
    /// The configured public address.
    public: Option<Uri>,
    /// True if the peer may be the proxy at `public`: it is on this machine, or in `trustForwardedFor`.
    is_proxy: bool,
    /// The host to which the request is addressed, with its port.
    authority: Option<&'a str>,
    peer: IpAddr,
    headers: &'a HeaderMap,
}

impl VisitorConnection<'_> {
    fn transport(&self) -> Option<Transport> {
        if self.has_tls {
            return Some(Transport::Https);
        }
        let public = self.public.as_ref().filter(|url| url.scheme_str() == Some("https"));
        let public = public.and_then(Uri::authority).map(http::uri::Authority::as_str);
        if public.zip(self.authority).is_some_and(|(public, own)| public.eq_ignore_ascii_case(own)) {
            // Without a proxy, the name alone would let plain http in.
            return (self.is_proxy && !self.came_to_proxy_over_http()).then_some(Transport::Https);
        }
        let is_passed_on = PROXIES.iter().any(|name| self.headers.contains_key(name));
        let is_here = self.peer.to_canonical().is_loopback() && self.authority.is_some_and(is_loopback);
        (is_here && !is_passed_on).then_some(Transport::Loopback)
    }

    /// Returns the reason why the pages do not open, and what to do about it.
    fn refusal(&self) -> String {
        let ways = "These pages open only over https, or on the machine on which Dragoman runs.";
        if self.public.is_some() && !self.is_proxy {
            let peer = self.peer.to_canonical();
            return format!("{ways} If {peer} is your proxy with https, add it to `trustForwardedFor`.");
        }
        format!(
            "{ways} Configure `tls`, or open them through a proxy with https whose address is `publicUrl`."
        )
    }

    /// Returns true if the proxy reports that it was reached over plain http.
    fn came_to_proxy_over_http(&self) -> bool {
        let mut stated = self.headers.get_all("x-forwarded-proto").iter();
        let mut forwarded = self.headers.get_all("forwarded").iter();
        let says_http = |value: &HeaderValue| {
            let text = value.to_str().unwrap_or_default().to_ascii_lowercase();
            text.replace(['"', ' '], "").split([';', ',']).any(|part| part == "proto=http")
        };
        stated.any(|value| {
            value
                .as_bytes()
                .split(|byte| *byte == b',')
                .any(|one| one.trim_ascii().eq_ignore_ascii_case(b"http"))
        }) || forwarded.any(says_http)
    }
}

/// Returns true if a host with its port names this machine.
fn is_loopback(authority: &str) -> bool {
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    };
    let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    host.eq_ignore_ascii_case("localhost")
        || inner.parse::<IpAddr>().is_ok_and(|ip| ip.to_canonical().is_loopback())
}

/// Returns true if a browser sent the form from one of our own pages. Because of our referrer policy, browsers may send
/// `null` as the origin of our own pages; but requests from other pages never carry `same-origin`.
fn is_own_page(headers: &HeaderMap, authority: Option<&str>) -> bool {
    let is_own = |origin: &HeaderValue| {
        let host = origin.to_str().ok().and_then(|origin| origin.split_once("://")).map(|(_, host)| host);
        host.zip(authority).is_some_and(|(host, own)| host.eq_ignore_ascii_case(own))
    };
    let mut sites = headers.get_all("sec-fetch-site").iter().peekable();
    let mut origins = headers.get_all(ORIGIN).iter().peekable();
    if sites.peek().is_some() {
        return sites.all(|site| site == "same-origin")
            && origins.all(|origin| origin == "null" || is_own(origin));
    }
    origins.peek().is_some() && origins.all(is_own)
}

/// A request over an acceptable transport.
pub(super) struct Visit<'a> {
    pub(super) shard: &'a Arc<Shard>,
    pub(super) door: &'a AdminDoor,
    pub(super) transport: Transport,
    /// True if the request came from one of our own pages.
    pub(super) is_own_page: bool,
    /// The host with its port, as the browser sees it.
    pub(super) authority: String,
    /// The address of the client as trusted proxies report it, or else the address of the connection's peer.
    pub(super) address: IpAddr,
    cookie: Option<String>,
    /// The cookie with the result of the last form submission.
    notice: Option<String>,
}

impl<'a> Visit<'a> {
    /// Examines the connection and the headers of a request.
    ///
    /// # Errors
    /// Returns the refusal of a request over a transport on which others could read passwords and cookies.
    pub(super) fn new(
        shard: &'a Arc<Shard>,
        door: &'a AdminDoor,
        request: &Request<Incoming>,
        peer: SocketAddr,
    ) -> Result<Self, Box<Response<Body>>> {
        let (headers, gateway) = (request.headers(), &shard.gateway);
        let authority = guard::authority(headers, request.uri());
        let connection = VisitorConnection {
            has_tls: gateway
                .process
                .serving
                .as_ref()
                .is_some_and(|serving| serving.limits.get().tls.is_some()),
            public: gateway.standing.config().public_url.as_ref().and_then(|url| url.parse().ok()),
            authority,
            is_proxy: peer.ip().to_canonical().is_loopback()
                || gateway.standing.config().trust_forwarded_for.contains(peer.ip()),
            peer: peer.ip(),
            headers,
        };
        let Some(transport) = connection.transport() else {
            return Err(Box::new(page_reply::refused(&connection.refusal())));
        };
        Ok(Self {
            shard,
            door,
            transport,
            is_own_page: is_own_page(headers, authority),
            authority: authority.unwrap_or_default().to_owned(),
            address: gateway.client_of(peer.ip(), headers).address,
            cookie: cookie::read(CookieKind::Session, headers, transport),
            notice: cookie::read(CookieKind::Notice, headers, transport),
        })
    }

    /// Returns the session of the request with the value of its cookie.
    pub(super) fn session(&self) -> Option<(String, FoundSession)> {
        let cookie = self.cookie.clone()?;
        let found = logins::find(&self.shard.gateway, self.door, &cookie)?;
        Some((cookie, found))
    }

    /// Returns the result of the last form submission, which a cookie carries.
    pub(super) fn carried_notice(&self, session: &FoundSession) -> Option<FormNotice> {
        logins::notice(&self.shard.gateway, session, self.notice.as_deref()?)
    }
}

/// Reads the fields of a form.
///
/// # Errors
/// Returns the refusal if the body is not a form, or is too long.
pub(super) async fn form(shard: &Shard, request: Arrived) -> Result<Fields, Response<Body>> {
    const FORM: &[u8] = b"application/x-www-form-urlencoded";
    let media =
        request.headers().get(CONTENT_TYPE).map(|value| value.as_bytes().to_vec()).unwrap_or_default();
    if !media
        .split(|byte| *byte == b';')
        .next()
        .is_some_and(|media| media.trim_ascii().eq_ignore_ascii_case(FORM))
    {
        return Err(page_reply::refused("This is not a form."));
    }
    let mut body = request.into_body();
    let text = body::read(shard, &mut body).await.map_err(|refused| *refused)?;
    Ok(Fields(form_pairs(&String::from_utf8_lossy(&text))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(all: &[(&'static str, &'static str)]) -> HeaderMap {
        let pairs =
            all.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(name, value);
        }
        headers
    }

    /// The address of a trusted proxy.
    const PROXY: &str = "10.0.0.7";

    fn transport(
        tls: bool,
        public: Option<&str>,
        authority: &str,
        peer: &str,
        head: &HeaderMap,
    ) -> Option<Transport> {
        let public = public.map(|url| url.parse().unwrap());
        let (authority, peer) = (Some(authority), peer.parse::<IpAddr>().unwrap());
        let is_proxy = peer.is_loopback() || peer.to_string() == PROXY;
        VisitorConnection { has_tls: tls, public, is_proxy, authority, peer, headers: head }.transport()
    }

    #[test]
    fn passwords_travel_over_tls_or_not_at_all() {
        let none = headers(&[]);
        assert_eq!(transport(true, None, "h.example", "203.0.113.1", &none), Some(Transport::Https));
        for here in ["127.0.0.1:8808", "localhost", "[::1]:8808", "127.8.8.8"] {
            assert_eq!(transport(false, None, here, "127.0.0.1", &none), Some(Transport::Loopback), "{here}");
        }
        assert_eq!(
            transport(false, None, "127.0.0.1:8808", "::ffff:127.0.0.1", &none),
            Some(Transport::Loopback)
        );
        assert_eq!(
            transport(false, None, "h.example", "127.0.0.1", &none),
            None,
            "a proxy that keeps the host"
        );
        assert_eq!(transport(false, None, "127.0.0.1:8808", "203.0.113.1", &none), None, "another machine");
        assert_eq!(transport(false, None, "localhost.evil.example", "127.0.0.1", &none), None);
        for name in
            ["x-forwarded-for", "forwarded", "via", "x-forwarded-proto", "x-forwarded-host", "x-real-ip"]
        {
            let passed_on = headers(&[(name, "x")]);
            assert_eq!(transport(false, None, "127.0.0.1:8808", "127.0.0.1", &passed_on), None, "{name}");
        }
    }

    #[test]
    fn behind_a_proxy_with_tls_the_public_address_counts() {
        let (none, public) = (headers(&[]), Some("https://mcp.example.com"));
        let behind = |public, authority| transport(false, public, authority, "127.0.0.1", &none);
        assert_eq!(behind(public, "mcp.example.com"), Some(Transport::Https));
        assert_eq!(behind(public, "MCP.example.com"), Some(Transport::Https));
        assert_eq!(behind(public, "mcp.example.com:80"), None);
        assert_eq!(behind(Some("http://mcp.example.com"), "mcp.example.com"), None);
    }

    #[test]
    fn the_public_name_alone_is_no_proof_of_https() {
        let from = |peer, head: &[(&'static str, &'static str)]| {
            transport(false, Some("https://mcp.example.com"), "mcp.example.com", peer, &headers(head))
        };
        assert_eq!(from(PROXY, &[]), Some(Transport::Https));
        assert_eq!(from("203.0.113.1", &[]), None, "a browser that came directly");
        assert_eq!(from(PROXY, &[("x-forwarded-proto", "https")]), Some(Transport::Https));
        for over_http in [
            ("x-forwarded-proto", "http"),
            ("x-forwarded-proto", "https, HTTP"),
            ("forwarded", "for=1.2.3.4;proto=\"http\""),
            ("forwarded", "proto=http, for=1.2.3.4; Proto=https"),
        ] {
            assert_eq!(from("127.0.0.1", &[over_http]), None, "{over_http:?}");
        }
    }

    #[test]
    fn forms_come_from_our_own_pages() {
        let own = |all: &[(&'static str, &'static str)]| is_own_page(&headers(all), Some("h:1"));
        assert!(
            own(&[("sec-fetch-site", "same-origin"), ("origin", "null")]),
            "our referrer policy hides the origin"
        );
        assert!(own(&[("sec-fetch-site", "same-origin"), ("origin", "https://h:1")]));
        assert!(own(&[("sec-fetch-site", "same-origin")]));
        assert!(own(&[("origin", "http://h:1")]), "an old browser");
        for site in ["cross-site", "same-site", "none", ""] {
            assert!(!own(&[("sec-fetch-site", site), ("origin", "http://h:1")]), "{site}");
        }
        assert!(!own(&[("sec-fetch-site", "same-origin"), ("sec-fetch-site", "cross-site")]));
        assert!(!own(&[("sec-fetch-site", "same-origin"), ("origin", "https://evil.example")]));
        assert!(!own(&[("origin", "null")]) && !own(&[("origin", "http://h:2")]) && !own(&[]));
    }
}
