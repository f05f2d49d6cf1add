//! The port to authorization servers, whose addresses others name: what may be asked, under deadlines and caps. It must not
//! know what is asked.

use std::net::IpAddr;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION, USER_AGENT};
use http::{Method, Request, StatusCode, Uri};
use tokio::time::{Instant, timeout_at};
use transport::net::client::{Client, ClientLimits, Reach, Trust, is_public};
use transport::net::collect;

use crate::web::{is_local, is_safe};

/// Longer answers are refused, in bytes.
const LONGEST: usize = 256 * 1024;
/// The number of times that a GET is sent on.
const REDIRECTS: usize = 3;

/// Asks others. What is not on the public network is asked only on behalf of a server that is not there either.
pub(super) struct Outside {
    any: Client,
    /// Not this machine.
    others: Client,
    public: Client,
}

/// What was answered.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) body: Bytes,
}

/// What a server may name: nothing that is nearer to us than it is itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Within {
    /// The public network alone.
    Public,
    /// Private networks, too, through TLS.
    Private,
    /// This machine, too.
    Machine,
}

/// How others may be asked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way {
    /// Where they may be.
    pub(super) within: Within,
    /// The end of all waiting.
    pub(super) until: Instant,
}

impl Outside {
    pub(super) fn new(connect_timeout: Duration) -> Self {
        // Connections are not kept: the next question may come on another thread, or never.
        let limits = ClientLimits { connect_timeout, max_idle: 0, max_in_use: 16, ..ClientLimits::default() };
        let client = |reach| Client::new(ClientLimits { reach, ..limits }, Trust::default());
        Self { any: client(Reach::All), others: client(Reach::Others), public: client(Reach::Public) }
    }

    /// Asks for a document, and for where it has moved to.
    ///
    /// # Errors
    /// Says why there is no answer, for a person.
    pub(super) async fn get(&self, url: &Uri, way: Way) -> Result<Answer, String> {
        let mut url = url.clone();
        for _ in 0..=REDIRECTS {
            let request = Request::get(url.clone()).header(ACCEPT, "application/json");
            let request = request.body(Bytes::new()).map_err(|error| error.to_string())?;
            let (answer, headers) = self.send(request, way).await?;
            if !answer.status.is_redirection() {
                return Ok(answer);
            }
            url = moved(&url, headers.get(LOCATION)).ok_or("it sends us on to no address")?;
        }
        Err("it sends us on again and again".to_owned())
    }

    /// Sends something, once. An answer that sends us elsewhere is an answer like others: what is in the body is for this
    /// address alone.
    ///
    /// # Errors
    /// As [`Outside::get`].
    pub(super) async fn post(
        &self,
        url: &Uri,
        kind: &'static str,
        authorization: Option<HeaderValue>,
        body: String,
        way: Way,
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

    async fn send(&self, mut request: Request<Bytes>, way: Way) -> Result<(Answer, HeaderMap), String> {
        let url = request.uri();
        if !may_ask(url, way.within) {
            return Err(format!("{url} is not asked: it must be an https URL on the public network"));
        }
        let host = url.authority().map(ToString::to_string).unwrap_or_default();
        let agent = HeaderValue::from_static(concat!("dragoman/", env!("CARGO_PKG_VERSION")));
        request.headers_mut().insert(USER_AGENT, agent);
        let client = match way.within {
            Within::Public => &self.public,
            Within::Private => &self.others,
            Within::Machine => &self.any,
        };
        let late = |_| format!("{host} has not answered in time");
        let answer = timeout_at(way.until, client.request(request)).await.map_err(late)?;
        let (head, body) = answer.map_err(|error| error.to_string())?.into_parts();
        let body = collect(body, LONGEST, way.until).await.map_err(|error| format!("{host}: {error}"))?;
        Ok((Answer { status: head.status, body }, head.headers))
    }
}

/// Returns true if this address may be asked: through TLS, or on this machine where the server is there, too.
pub(super) fn may_ask(url: &Uri, within: Within) -> bool {
    is_safe(url) && (within == Within::Machine || !is_local(url))
}

/// Where an answer sends us (RFC 9110, 10.2.2): an absolute URL, or a path of the same server.
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

/// Where the server at this address is, so that those that it names may be there, too. Only what the configuration itself
/// calls this machine is here: what a name stands for is the word of whoever owns the name, and may be another one each time.
/// So a name is in a private network where all connections to it went there (`is_near`), not where a look-up says so.
pub(super) fn within(url: &Uri, is_near: bool) -> Within {
    let Some(host) = url.host() else { return Within::Public };
    if is_local(url) {
        return Within::Machine;
    }
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    let is_near = bare.parse::<IpAddr>().map_or(is_near, |address| !is_public(address));
    if is_near { Within::Private } else { Within::Public }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_safe_addresses_are_asked() {
        let may = |url: &str, within| may_ask(&url.parse().unwrap(), within);
        assert!(may("https://id.example.com/token", Within::Public));
        assert!(may("https://10.0.0.1/token", Within::Private));
        for url in ["http://127.0.0.1:9/x", "http://localhost/x", "https://[::1]/x", "https://127.0.0.1/x"] {
            assert!(may(url, Within::Machine), "{url}");
            // Who is in a private network, or says so by what its name stands for, names nothing on this machine.
            assert!(!may(url, Within::Private) && !may(url, Within::Public), "{url}");
        }
        for url in ["http://id.example.com/x", "ftp://127.0.0.1/x", "https://a@id.example.com/x", "/token"] {
            assert!(!may(url, Within::Machine), "{url}");
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
            ("http://127.0.0.1:1/mcp", false, Within::Machine),
            ("https://localhost/mcp", false, Within::Machine),
            ("https://[fd00::1]/mcp", false, Within::Private),
            ("https://10.0.0.1/mcp", false, Within::Private),
            ("https://1.1.1.1/mcp", true, Within::Public),
            ("https://mcp.example/mcp", false, Within::Public),
            // A name is never this machine.
            ("https://mcp.example/mcp", true, Within::Private),
        ] {
            assert_eq!(within(&url.parse().unwrap(), is_near), place, "{url}");
        }
    }
}
