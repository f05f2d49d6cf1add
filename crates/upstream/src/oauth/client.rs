//! Dragoman's client at an authorization server (configured, or registered as in RFC 7591), and the client's
//! authentication (RFC 6749, 2.3). This module must not know tokens.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use config::OAuthClient;
use http::HeaderValue;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::fetcher::{FetchRules, OAuthFetcher};
use super::form::encoded;
use super::metadata::Service;
use super::secret::Secret;

/// The method by which a client authenticates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Method {
    /// The client only states its id.
    #[serde(rename = "none")]
    Public,
    /// The client sends its id and secret in a header.
    #[serde(rename = "client_secret_basic")]
    Basic,
    /// The client sends its id and secret in the form.
    #[serde(rename = "client_secret_post")]
    Post,
}

/// A client of one authorization server.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Registered {
    /// The issuer that registered the client; the registration is not valid for other issuers.
    pub(super) issuer: String,
    /// The redirect URI with which the client is registered.
    pub(super) redirect: String,
    pub(super) id: String,
    pub(super) secret: Option<Secret>,
    pub(super) method: Method,
    /// The time at which the secret expires, in seconds since 1970; 0 if it never does.
    #[serde(default)]
    pub(super) secret_ends: u64,
}

impl Method {
    const ALL: [(&'static str, Self); 3] =
        [("none", Self::Public), ("client_secret_basic", Self::Basic), ("client_secret_post", Self::Post)];

    fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, method)| *method)
    }

    /// Returns the simplest method that `service` accepts, according to its metadata. If the metadata names no method,
    /// returns the method to request at registration.
    fn wanted(service: &Service) -> &'static str {
        let takes = |name: &str| service.methods.iter().any(|method| method == name);
        Self::ALL.iter().map(|(name, _)| *name).find(|name| takes(name)).unwrap_or("none")
    }
}

impl Registered {
    /// Returns the configured client; `None` if the configuration contains none.
    pub(super) fn configured(config: &OAuthClient, service: &Service, redirect: &str) -> Option<Self> {
        let id = config.client_id.as_ref()?.expose().to_owned();
        let secret = config.client_secret.as_ref().map(|secret| Secret::new(secret.expose()));
        let post = !service.methods.is_empty() && !service.methods.iter().any(|m| m == "client_secret_basic");
        let method = match secret {
            None => Method::Public,
            Some(_) if post => Method::Post,
            Some(_) => Method::Basic,
        };
        let (issuer, redirect) = (service.issuer.clone(), redirect.to_owned());
        Some(Self { issuer, redirect, id, secret, method, secret_ends: 0 })
    }

    /// Returns the client whose id is the URL of the client's metadata; `None` if `service` does not accept such
    /// clients.
    pub(super) fn described(service: &Service, document: String, redirect: &str) -> Option<Self> {
        let is_public = service.methods.is_empty() || service.methods.iter().any(|method| method == "none");
        (service.takes_documents && is_public).then(|| Self {
            issuer: service.issuer.clone(),
            redirect: redirect.to_owned(),
            id: document,
            secret: None,
            method: Method::Public,
            secret_ends: 0,
        })
    }

    /// Returns true if the client is registered at `service` with `redirect`, and valid at `now` (seconds since 1970).
    pub(super) fn fits(&self, service: &Service, redirect: &str, now: u64) -> bool {
        self.issuer == service.issuer
            && self.redirect == redirect
            && (self.secret_ends == 0 || now < self.secret_ends)
    }

    /// Adds the client's id and secret to a request: to the form, or as a header.
    pub(super) fn enter<'a>(&'a self, form: &mut Vec<(&'a str, &'a str)>) -> Option<HeaderValue> {
        let Some(secret) = self.secret.as_ref().filter(|_| self.method != Method::Public) else {
            form.push(("client_id", &self.id));
            return None;
        };
        if self.method == Method::Post {
            form.extend([("client_id", &*self.id), ("client_secret", secret.expose())]);
            return None;
        }
        let pair = Secret::new(format!("{}:{}", encoded(&self.id), encoded(secret.expose())));
        let value = Secret::new(format!("Basic {}", BASE64_STANDARD.encode(pair.expose())));
        let mut value = HeaderValue::from_str(value.expose()).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

/// Returns the metadata of Dragoman's client, which is the document at `url` (Client ID Metadata Documents; RFC 7591,
/// 2).
pub(super) fn document(url: &str, redirect: &str, home: &str) -> String {
    let metadata = json!({
        "client_id": url,
        "client_name": "Dragoman",
        "client_uri": home,
        "redirect_uris": [redirect],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "application_type": "web",
    });
    metadata.to_string()
}

/// Registers Dragoman at `service`.
///
/// # Errors
/// Returns the reason why registration failed, and what to do.
pub(super) async fn register(
    outside: &OAuthFetcher,
    service: &Service,
    redirect: &str,
    way: FetchRules<'_>,
) -> Result<Registered, String> {
    let help = "register a client there by hand and set `oauth: { clientId: … }` for the server";
    let Some(place) = &service.registration else {
        return Err(format!("{} does not support client registration; {help}", service.issuer));
    };
    let place = place.parse().map_err(|_| "the registration endpoint is not a URL".to_owned())?;
    let is_local = redirect.starts_with("http:");
    let asked = json!({
        "client_name": "Dragoman",
        "redirect_uris": [redirect],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": Method::wanted(service),
        "application_type": if is_local { "native" } else { "web" },
    });
    let answer = outside.post(&place, "application/json", None, asked.to_string(), way).await?;
    if !answer.status.is_success() {
        let status = answer.status.as_u16();
        return Err(format!("{} refused to register a client (HTTP {status}); {help}", service.issuer));
    }
    taken(&answer.body, service, redirect).ok_or_else(|| {
        format!("{} answered the registration with an invalid response; {help}", service.issuer)
    })
}

/// Reads the result of a registration (RFC 7591, 3.2.1).
fn taken(body: &[u8], service: &Service, redirect: &str) -> Option<Registered> {
    #[derive(Deserialize)]
    struct RegistrationJson {
        client_id: String,
        client_secret: Option<Secret>,
        token_endpoint_auth_method: Option<String>,
        #[serde(default)]
        client_secret_expires_at: Option<u64>,
    }
    let written: RegistrationJson = serde_json::from_slice(body).ok()?;
    let is_sound =
        |text: &str| (1..=4096).contains(&text.len()) && text.bytes().all(|b| matches!(b, 0x20..=0x7e));
    if !is_sound(&written.client_id) || written.client_secret.as_ref().is_some_and(|s| !is_sound(s.expose()))
    {
        return None;
    }
    let unsaid = if written.client_secret.is_some() { Method::Basic } else { Method::Public };
    let method = match &written.token_endpoint_auth_method {
        Some(name) => Method::named(name)?,
        None => unsaid,
    };
    if method != Method::Public && written.client_secret.is_none() {
        return None;
    }
    Some(Registered {
        issuer: service.issuer.clone(),
        redirect: redirect.to_owned(),
        id: written.client_id,
        secret: written.client_secret,
        method,
        secret_ends: written.client_secret_expires_at.unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service(methods: &[&str]) -> Service {
        Service {
            issuer: "https://id".to_owned(),
            authorization: "https://id/a".to_owned(),
            token: "https://id/t".to_owned(),
            registration: None,
            methods: methods.iter().map(|&method| method.to_owned()).collect(),
            names_itself: false,
            takes_documents: false,
            offline: false,
        }
    }

    #[test]
    fn a_registration_is_taken_as_it_was_made() {
        let taken = |text: &str| taken(text.as_bytes(), &service(&[]), "http://127.0.0.1:1/oauth/callback");
        let method = |text: &str| taken(text).map(|client| client.method);
        assert_eq!(method(r#"{"client_id":"a"}"#), Some(Method::Public));
        assert_eq!(
            method(r#"{"client_id":"a","client_secret":"b","client_secret_expires_at":0}"#),
            Some(Method::Basic)
        );
        let post =
            r#"{"client_id":"a","client_secret":"b","token_endpoint_auth_method":"client_secret_post"}"#;
        assert_eq!(method(post), Some(Method::Post));
        for bad in [
            "",
            "{}",
            r#"{"client_id":""}"#,
            r#"{"client_id":"a\nb"}"#,
            r#"{"client_id":"a","token_endpoint_auth_method":"client_secret_basic"}"#,
            r#"{"client_id":"a","token_endpoint_auth_method":"private_key_jwt"}"#,
        ] {
            assert!(taken(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn a_document_is_an_id_where_the_server_takes_it() {
        let takes = |methods: &[&str], takes_documents| {
            let service = Service { takes_documents, ..service(methods) };
            Registered::described(&service, "https://g/d".to_owned(), "https://g/r").map(|client| client.id)
        };
        assert_eq!(takes(&[], true).as_deref(), Some("https://g/d"));
        assert_eq!(takes(&["client_secret_basic", "none"], true).as_deref(), Some("https://g/d"));
        assert_eq!(takes(&["client_secret_basic"], true), None, "it has no public clients");
        assert_eq!(takes(&["none"], false), None);
        let written: serde_json::Value =
            serde_json::from_str(&document("https://g/d", "https://g/r", "https://g")).unwrap();
        assert_eq!(
            (&written["client_id"], &written["redirect_uris"][0]),
            (&json!("https://g/d"), &json!("https://g/r"))
        );
    }

    #[test]
    fn a_client_shows_who_it_is_as_it_was_registered() {
        let client = |method| Registered {
            issuer: "https://id".to_owned(),
            redirect: "https://g/oauth/callback".to_owned(),
            id: "a b".to_owned(),
            secret: Some(Secret::new("c:d")),
            method,
            secret_ends: 9,
        };
        let shown = |method| {
            let client = client(method);
            let mut form = Vec::new();
            let header = client.enter(&mut form);
            (header.map(|h| h.to_str().unwrap().to_owned()), super::super::form::joined(&form))
        };
        assert_eq!(shown(Method::Public), (None, "client_id=a%20b".to_owned()));
        assert_eq!(shown(Method::Post), (None, "client_id=a%20b&client_secret=c%3Ad".to_owned()));
        let basic = format!("Basic {}", BASE64_STANDARD.encode("a%20b:c%3Ad"));
        assert_eq!(shown(Method::Basic), (Some(basic), String::new()));
        let one = client(Method::Basic);
        let other = Service { issuer: "https://evil".to_owned(), ..service(&[]) };
        assert!(one.fits(&service(&[]), "https://g/oauth/callback", 8));
        assert!(!one.fits(&other, "https://g/oauth/callback", 8));
        assert!(!one.fits(&service(&[]), "https://h/oauth/callback", 8));
        assert!(!one.fits(&service(&[]), "https://g/oauth/callback", 9));
        assert!(!format!("{one:?}").contains("c:d"));
    }
}
