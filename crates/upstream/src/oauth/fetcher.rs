//! The HTTP port to authorization servers, whose addresses are chosen by others: it limits hosts, times and sizes. This
//! module must not know the requests.

use std::net::IpAddr;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION, USER_AGENT};
use http::{Method, Request, StatusCode, Uri};
use tokio::time::{Instant, timeout_at};
use transport::budget::Part;
use transport::net::client::{Client, ClientLimits, Reach, Route, Trust, is_public};
use transport::net::collect;

use crate::web::{is_local, is_safe};

/// The maximum size of an accepted response, in bytes.
const LONGEST: usize = 256 * 1024;
/// The maximum number of redirects that a GET follows.
const REDIRECTS: usize = 3;

/// Sends requests. A host outside the public network is contacted only on behalf of a server that is outside the public
/// network as well.
pub(super) struct OAuthFetcher {
    any: Client,
    /// The client for hosts other than this machine.
    others: Client,
    public: Client,
}

/// The response to a request.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) body: Bytes,
}

/// The networks that a host named by a server may be in. Such a host must not be closer to the gateway than the
/// server itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum AllowedNetwork {
    /// The public network only.
    Public,
    /// The public network, and private networks over TLS.
    Private,
    /// All networks, including this machine.
    Machine,
}

/// The rules for requests to hosts that a server names.
#[derive(Debug, Clone, Copy)]
pub(super) struct FetchRules<'a> {
    /// The networks in which the hosts may be.
    pub(super) within: AllowedNetwork,
    /// The deadline for the response.
    pub(super) until: Instant,
    /// The proxy and the TLS settings on the way to the hosts.
    pub(super) route: &'a Route,
}

impl OAuthFetcher {
    pub(super) fn new(connect_timeout: Duration) -> Self {
        // Idle connections are not kept, because the next request may be sent by another thread, or never.
        let limits = ClientLimits { connect_timeout, max_idle: 0, max_in_use: 16, ..ClientLimits::default() };
        let client = |reach| Client::new(ClientLimits { reach, ..limits }, Trust::default());
        Self { any: client(Reach::All), others: client(Reach::Others), public: client(Reach::Public) }
    }

    pub(super) fn set_connect_timeout(&self, within: Duration) {
        for client in [&self.any, &self.others, &self.public] {
            client.set_connect_timeout(within);
        }
    }

    /// Fetches a document, and follows redirects.
    ///
    /// # Errors
    /// Returns the human-readable reason why there is no response.
    pub(super) async fn get(&self, url: &Uri, way: FetchRules<'_>) -> Result<Answer, String> {
        let mut url = url.clone();
        for _ in 0..=REDIRECTS {
            let request = Request::get(url.clone()).header(ACCEPT, "application/json");
            let request = request.body(Bytes::new()).map_err(|error| error.to_string())?;
            let (answer, headers) = self.send(request, way).await?;
            if !answer.status.is_redirection() {
                return Ok(answer);
            }
            url =
                moved(&url, headers.get(LOCATION)).ok_or("the address redirects, but not to a valid URL")?;
        }
        Err("the address redirects too often".to_owned())
    }

    /// Sends a request once. A redirect is not followed but returned as the response, because the body is meant
    /// only for this address.
    ///
    /// # Errors
    /// The same as for [`OAuthFetcher::get`].
    pub(super) async fn post(
        &self,
        url: &Uri,
        kind: &'static str,
        authorization: Option<HeaderValue>,
        body: String,
        way: FetchRules<'_>,
    ) -> Result<Answer, String> {
        let mut request = Request::new(Bytes::from(body));
        (*request.method_mut(), *request.uri_mut()) = (Method::POST, url.clone());
        let headers = request.headers_mut();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        if let Some(mut value) = authorization {
            value.set_sensitive(true);
            headers.insert(http::header::AUTHORIZATION, value);
        }
        self.send(request, way).await.map(|(answer, _)| answer)
    }

    async fn send(
        &self,
        mut request: Request<Bytes>,
        way: FetchRules<'_>,
    ) -> Result<(Answer, HeaderMap), String> {
        let url = request.uri();
        if !may_ask(url, way.within) {
            return Err(format!("{url} is not allowed: it must be an https URL on the public network"));
        }
        let host = url.authority().map(ToString::to_string).unwrap_or_default();
        let agent = HeaderValue::from_static(concat!("dragoman/", env!("CARGO_PKG_VERSION")));
        request.headers_mut().insert(USER_AGENT, agent);
        let client = match way.within {
            AllowedNetwork::Public => &self.public,
            AllowedNetwork::Private => &self.others,
            AllowedNetwork::Machine => &self.any,
        };
        let late = |_| format!("{host} did not answer in time");
        let answer = timeout_at(way.until, client.request_by(way.route, request)).await.map_err(late)?;
        let (head, body) = answer.map_err(|error| error.to_string())?.into_parts();
        let body = collect(body, Part::Answers, LONGEST, way.until)
            .await
            .map_err(|error| format!("{host}: {error}"))?;
        Ok((Answer { status: head.status, body }, head.headers))
    }
}

/// Returns true if requests may be sent to this address: over TLS, or on this machine if the server is on this machine
/// as well.
pub(super) fn may_ask(url: &Uri, within: AllowedNetwork) -> bool {
    is_safe(url) && (within == AllowedNetwork::Machine || !is_local(url))
}

/// Returns the target of a redirect (RFC 9110, 10.2.2): an absolute URL, or a path on the same server.
fn moved(from: &Uri, location: Option<&HeaderValue>) -> Option<Uri> {
    let to = location?.to_str().ok()?;
    match to.strip_prefix('/') {
        Some(path) if !path.starts_with(['/', '\\']) => {
            format!("{}://{}{to}", from.scheme_str()?, from.authority()?).parse().ok()
        }
        Some(_) => None,
        None => to.parse().ok().filter(|url: &Uri| url.scheme().is_some() && url.authority().is_some()),
    }
}

/// Returns the networks that are allowed for the hosts that a server at `url` names. The server counts as local
/// only if its URL names this machine: the owner of a host name decides to which address the name resolves, and may
/// change that at any time. For the same reason, a host name counts as private only if all connections to it led to
/// addresses outside the public network (`is_near`); one DNS lookup is not enough.
pub(super) fn within(url: &Uri, is_near: bool) -> AllowedNetwork {
    let Some(host) = url.host() else { return AllowedNetwork::Public };
    if is_local(url) {
        return AllowedNetwork::Machine;
    }
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    let is_near = bare.parse::<IpAddr>().map_or(is_near, |address| !is_public(address));
    if is_near { AllowedNetwork::Private } else { AllowedNetwork::Public }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_safe_addresses_are_asked() {
        let may = |url: &str, within| may_ask(&url.parse().unwrap(), within);
        assert!(may("https://id.example.com/token", AllowedNetwork::Public));
        assert!(may("https://10.0.0.1/token", AllowedNetwork::Private));
        for url in ["http://127.0.0.1:9/x", "http://localhost/x", "https://[::1]/x", "https://127.0.0.1/x"] {
            assert!(may(url, AllowedNetwork::Machine), "{url}");
            // A server in a private network, or one whose host name resolves to one, may not name hosts on this machine.
            assert!(!may(url, AllowedNetwork::Private) && !may(url, AllowedNetwork::Public), "{url}");
        }
        for url in ["http://id.example.com/x", "ftp://127.0.0.1/x", "https://a@id.example.com/x", "/token"] {
            assert!(!may(url, AllowedNetwork::Machine), "{url}");
        }
    }

    #[test]
    fn where_an_answer_sends_us() {
        let from: Uri = "https://a.example/x?y".parse().unwrap();
        let to = |text: &'static str| {
            moved(&from, Some(&HeaderValue::from_static(text))).map(|url| url.to_string())
        };
        assert_eq!(to("/b?c").as_deref(), Some("https://a.example/b?c"));
        assert_eq!(to("https://b.example/").as_deref(), Some("https://b.example/"));
        for text in ["//b.example/", "/\\b.example", "b", "", "javascript:alert(1)"] {
            assert_eq!(to(text), None, "{text}");
        }
    }

    #[test]
    fn who_is_where() {
        for (url, is_near, place) in [
            ("http://127.0.0.1:1/mcp", false, AllowedNetwork::Machine),
            ("https://localhost/mcp", false, AllowedNetwork::Machine),
            ("https://[fd00::1]/mcp", false, AllowedNetwork::Private),
            ("https://10.0.0.1/mcp", false, AllowedNetwork::Private),
            ("https://1.1.1.1/mcp", true, AllowedNetwork::Public),
            ("https://mcp.example/mcp", false, AllowedNetwork::Public),
            // A host name never counts as this machine.
            ("https://mcp.example/mcp", true, AllowedNetwork::Private),
        ] {
            assert_eq!(within(&url.parse().unwrap(), is_near), place, "{url}");
        }
    }
}
