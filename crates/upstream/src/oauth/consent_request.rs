//! Consent requests that are still open: the page on which consent is given (RFC 6749, 4.1.1; RFC 7636; RFC 8707), and
//! the parameters with which the browser returns (RFC 6749, 4.1.2; RFC 9207). This module must not know how codes
//! become tokens.

use std::sync::Arc;
use std::time::Duration;

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use subtle::ConstantTimeEq as _;
use tokio::time::Instant;

use super::client::Registered;
use super::form::joined;
use super::metadata::Service;
use super::secret::{Secret, random};

/// The time for which a page is valid.
pub(super) const LIFE: Duration = Duration::from_mins(15);
/// The time for which all users who ask for a consent page get the same page.
pub(super) const FRESH: Duration = Duration::from_mins(5);

/// The target for which consent is requested: the resource, its authorization server, Dragoman's client at that
/// authorization server, and the scopes.
#[derive(Debug, Clone)]
pub(super) struct ConsentTarget {
    pub(super) service: Arc<Service>,
    pub(super) client: Arc<Registered>,
    pub(super) resource: String,
    pub(super) scopes: Vec<String>,
}

/// One request for consent.
#[derive(Debug)]
pub(super) struct ConsentRequest {
    pub(super) wanted: ConsentTarget,
    /// The page of the authorization server.
    pub(super) url: String,
    /// A name for the request that reveals nothing about it.
    pub(super) name: String,
    pub(super) verifier: Secret,
    /// The last segment of the address at which the flow begins.
    pub(super) entry: Secret,
    /// The secret that identifies the browser in which the flow began.
    pub(super) mark: Secret,
    /// The number of times that users failed to prove that they own the consent.
    pub(super) doubts: u32,
    state: Secret,
    at: Instant,
}

impl ConsentRequest {
    /// Creates a request that begins now, in the process with this number.
    ///
    /// # Errors
    /// Fails if the operating system's random number generator fails.
    pub(super) fn new(wanted: ConsentTarget, now: Instant, process: u32) -> Result<Self, String> {
        let numbered = || random().map(|text| Secret::new(numbered(process, &text)));
        let (state, verifier, name) = (numbered()?, Secret::new(random()?), random()?);
        let (entry, mark) = (numbered()?, Secret::new(random()?));
        let challenge = BASE64_URL_SAFE_NO_PAD.encode(digest(&SHA256, verifier.expose().as_bytes()));
        let mut scopes = wanted.scopes.join(" ");
        let mut form = vec![
            ("response_type", "code"),
            ("client_id", &*wanted.client.id),
            ("redirect_uri", &*wanted.client.redirect),
            ("state", state.expose()),
            ("code_challenge", &*challenge),
            ("code_challenge_method", "S256"),
            ("resource", &*wanted.resource),
        ];
        // Without this scope, users would have to consent again every hour or so.
        if wanted.service.offline {
            if !wanted.scopes.iter().any(|scope| scope == "offline_access") {
                scopes.push_str(if scopes.is_empty() { "offline_access" } else { " offline_access" });
            }
            form.push(("prompt", "consent"));
        }
        if !scopes.is_empty() {
            form.push(("scope", &*scopes));
        }
        let page = &wanted.service.authorization;
        let sign = if page.contains('?') { '&' } else { '?' };
        let url = format!("{page}{sign}{}", joined(&form));
        Ok(Self { wanted, url, name, verifier, entry, mark, doubts: 0, state, at: now })
    }

    /// Returns true if the `state` that a browser returned belongs to this request.
    pub(super) fn is_named(&self, state: &str) -> bool {
        self.state.expose().as_bytes().ct_eq(state.as_bytes()).into()
    }

    /// Returns true if the request begins at this address.
    pub(super) fn begins_at(&self, entry: &str) -> bool {
        self.entry.expose().as_bytes().ct_eq(entry.as_bytes()).into()
    }

    /// Returns the name of the cookie that contains the request's secret. Each request has its own cookie, because
    /// several requests may be open.
    pub(super) fn cookie(&self, is_secure: bool) -> String {
        let name = self.name.get(..12).unwrap_or(&self.name);
        // Browsers accept this prefix only from the host itself, and only over TLS (RFC 6265bis, 4.1.3).
        format!("{}dragoman-consent-{name}", if is_secure { "__Host-" } else { "" })
    }

    /// Returns true if a browser with these cookies is the one in which the request began.
    pub(super) fn began_with(&self, cookies: &[&str], is_secure: bool) -> bool {
        let name = self.cookie(is_secure);
        let pairs =
            cookies.iter().flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let own = pairs.filter(|(key, _)| *key == name);
        own.fold(false, |is, (_, value)| {
            is | bool::from(self.mark.expose().as_bytes().ct_eq(value.as_bytes()))
        })
    }

    /// Returns true if the request has expired at `now`.
    pub(super) fn is_over(&self, now: Instant) -> bool {
        now.duration_since(self.at) >= LIFE
    }

    /// Returns true if the request's page can be given out again at `now` for the target `wanted`.
    pub(super) fn serves(&self, wanted: &ConsentTarget, now: Instant) -> bool {
        now.duration_since(self.at) < FRESH
            && self.wanted.scopes == wanted.scopes
            && Arc::ptr_eq(&self.wanted.service, &wanted.service)
            && Arc::ptr_eq(&self.wanted.client, &wanted.client)
    }
}

/// The number of digits of a process's number in the texts of its requests.
const DIGITS: usize = 8;

/// Adds the number of a process to a random text; 0 stands for a process without a number.
pub(super) fn numbered(process: u32, text: &str) -> String {
    if process == 0 { text.to_owned() } else { format!("{process:08x}{text}") }
}

/// Returns the number of the process in a text that a browser has brought. Anybody can make up such a text.
fn process_in(text: &str) -> Option<u32> {
    // Without a number, a random text has 43 characters.
    let digits = text.get(..DIGITS).filter(|_| text.len() == 43 + DIGITS)?;
    let are_digits = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    u32::from_str_radix(digits, 16).ok().filter(|_| are_digits)
}

/// Returns the number of the process in which a consent request began: from the last segment of the address at which the
/// consent begins, or else from the query with which a browser returns.
pub fn process_of(entry: Option<&str>, query: &str) -> Option<u32> {
    match entry {
        Some(entry) => process_in(entry),
        None => process_in(&CallbackParameters::read(query)?.state?),
    }
}

/// The parameters with which a browser returned to the callback.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct CallbackParameters {
    pub(super) state: Option<String>,
    pub(super) code: Option<String>,
    pub(super) issuer: Option<String>,
    pub(super) error: Option<String>,
    pub(super) description: Option<String>,
}

impl CallbackParameters {
    /// Reads a query; returns `None` if a parameter occurs twice (RFC 6749, 3.1).
    pub(super) fn read(query: &str) -> Option<Self> {
        let mut callback = Self::default();
        for (name, value) in super::form::pairs(query) {
            let place = match name.as_str() {
                "state" => &mut callback.state,
                "code" => &mut callback.code,
                "iss" => &mut callback.issuer,
                "error" => &mut callback.error,
                "error_description" => &mut callback.description,
                _ => continue,
            };
            if place.replace(value).is_some() {
                return None;
            }
        }
        Some(callback)
    }

    /// Returns true if the parameters name `service` as the issuer, or name no issuer and `service` does not
    /// promise to name itself (RFC 9207, 2.4). A server must not be able to present another server's code as its
    /// own.
    pub(super) fn is_from(&self, service: &Service) -> bool {
        match &self.issuer {
            Some(issuer) => *issuer == service.issuer,
            None => !service.names_itself,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::client::Method;
    use super::super::form::pairs;
    use super::*;

    fn wanted(authorization: &str, offline: bool) -> ConsentTarget {
        let service = Service {
            issuer: "https://id".to_owned(),
            authorization: authorization.to_owned(),
            token: "https://id/t".to_owned(),
            registration: None,
            methods: Vec::new(),
            names_itself: false,
            takes_documents: false,
            offline,
        };
        let client = Registered {
            issuer: "https://id".to_owned(),
            redirect: "http://127.0.0.1:8808/oauth/callback".to_owned(),
            id: "me & you".to_owned(),
            secret: None,
            method: Method::Public,
            secret_ends: 0,
        };
        let scopes = vec!["a".to_owned(), "b".to_owned()];
        ConsentTarget {
            service: service.into(),
            client: client.into(),
            resource: "https://h/mcp".to_owned(),
            scopes,
        }
    }

    #[test]
    fn a_page_says_all_that_it_must() {
        let asked = ConsentRequest::new(wanted("https://id/a?tenant=1", true), Instant::now(), 0).unwrap();
        let (page, query) = asked.url.split_once('?').unwrap();
        assert_eq!(page, "https://id/a");
        let said = pairs(query);
        let get =
            |name: &str| said.iter().find(|(n, _)| n == name).map(|(_, value)| &**value).unwrap_or_default();
        let challenge = BASE64_URL_SAFE_NO_PAD.encode(digest(&SHA256, asked.verifier.expose().as_bytes()));
        for (name, value) in [
            ("tenant", "1"),
            ("response_type", "code"),
            ("client_id", "me & you"),
            ("redirect_uri", "http://127.0.0.1:8808/oauth/callback"),
            ("code_challenge", &*challenge),
            ("code_challenge_method", "S256"),
            ("resource", "https://h/mcp"),
            ("scope", "a b offline_access"),
            ("prompt", "consent"),
        ] {
            assert_eq!(get(name), value, "{name}");
        }
        assert!(get("state").len() >= 43 && asked.verifier.expose().len() >= 43);
        assert!(!asked.url.contains(asked.verifier.expose()));
        assert!(!asked.url.contains(asked.mark.expose()) && !asked.url.contains(asked.entry.expose()));
        assert!(asked.is_named(get("state")) && !asked.is_named("") && !asked.is_named(&get("state")[1..]));
        let other = ConsentRequest::new(wanted("https://id/a", false), Instant::now(), 0).unwrap();
        assert!(
            !other.is_named(get("state"))
                && !other.url.contains("prompt=")
                && other.url.contains("scope=a%20b")
        );
    }

    #[test]
    fn a_page_is_shown_again_while_it_is_fresh_and_ends() {
        let (now, want) = (Instant::now(), wanted("https://id/a", false));
        let asked = ConsentRequest::new(want.clone(), now, 0).unwrap();
        let more = ConsentTarget { scopes: vec!["c".to_owned()], ..want.clone() };
        assert!(asked.serves(&want, now) && !asked.serves(&more, now) && !asked.serves(&want, now + FRESH));
        assert!(!asked.is_over(now + LIFE - Duration::from_nanos(1)) && asked.is_over(now + LIFE));
    }

    #[test]
    fn the_browser_in_which_it_began_is_known_by_its_cookie() {
        let asked = ConsentRequest::new(wanted("https://id/a", false), Instant::now(), 0).unwrap();
        let other = ConsentRequest::new(wanted("https://id/a", false), Instant::now(), 0).unwrap();
        let (name, mark) = (asked.cookie(false), asked.mark.expose().to_owned());
        let own = format!("a=b; {name}={mark}; c");
        assert!(asked.began_with(&["x=y", &own], false) && !other.began_with(&[&own], false));
        assert!(!asked.began_with(&[&own], true), "through TLS only a host's own cookie counts");
        assert!(asked.began_with(&[&format!("__Host-{name}={mark}")], true));
        for cookies in ["", &name, &format!("{name}="), &format!("{name}={}", other.mark.expose())] {
            assert!(!asked.began_with(&[cookies], false), "{cookies}");
        }
    }

    #[test]
    fn what_a_browser_brings_is_read_strictly() {
        let read = CallbackParameters::read(
            "code=a%2Bb&state=c&iss=https%3A%2F%2Fid&session_state=d&session_state=e",
        )
        .unwrap();
        assert_eq!((read.code.as_deref(), read.state.as_deref()), (Some("a+b"), Some("c")));
        let want = wanted("https://id/a", false);
        assert!(read.is_from(&want.service));
        let strict = Service { names_itself: true, ..(*want.service).clone() };
        let silent = CallbackParameters { issuer: None, ..read.clone() };
        assert!(silent.is_from(&want.service) && !silent.is_from(&strict));
        for issuer in ["https://evil", "https://id/", ""] {
            assert!(
                !CallbackParameters { issuer: Some(issuer.to_owned()), ..read.clone() }
                    .is_from(&want.service),
                "{issuer}"
            );
        }
        for twice in ["state=a&state=a", "code=a&code=b&state=c", "iss=a&iss=b"] {
            assert_eq!(CallbackParameters::read(twice), None, "{twice}");
        }
    }
}
