//! Redirect URIs: the paths to which authorization servers send browsers back, one for each issuer (RFC 9700, 2.1 and 4.4),
//! and the cases in which a manually registered client needs no separate path. This module must not know the parameters
//! of a redirect.

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use config::OAuthClient;

use super::metadata::Service;

/// The path for manually registered clients.
const CALLBACK: &str = "/oauth/callback";
/// The end of the path of an issuer's client document; the path begins like the issuer's redirect path.
const DOCUMENT: &str = "/client.json";
/// The beginning and the end of an issuer's path. The path is not below [`CALLBACK`]: some authorization servers accept any
/// path below the registered one, and would send a code to another issuer's path.
const ISSUER: (&str, &str) = ("/oauth/issuer/", "/callback");
/// The number of bytes in the digest of an issuer's name: enough to make it infeasible to find another name with the
/// same digest.
const DIGEST: usize = 18;
/// The number of characters in the text form of a digest.
const DIGEST_LENGTH: usize = DIGEST / 3 * 4;

/// Returns true for paths to which authorization servers redirect browsers.
pub fn is_callback(path: &str) -> bool {
    path == CALLBACK || digest_in(path, ISSUER.1).is_some()
}

/// Returns the digest of the issuer in an issuer's path that ends with `end`; `None` for any other path.
fn digest_in<'p>(path: &'p str, end: &str) -> Option<&'p str> {
    let digest = path.strip_prefix(ISSUER.0)?.strip_suffix(end)?;
    let is_digest = digest.len() == DIGEST_LENGTH
        && digest.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
    is_digest.then_some(digest)
}

/// Returns the path of the document that describes Dragoman's client at one issuer.
pub(super) fn document_path(issuer: &str) -> String {
    issuer_path(issuer).replace(ISSUER.1, DOCUMENT)
}

/// Returns the redirect path that belongs to the document at this path; `None` if there is no document at this
/// path.
pub(super) fn redirect_of_document(path: &str) -> Option<String> {
    digest_in(path, DOCUMENT).map(|digest| format!("{}{digest}{}", ISSUER.0, ISSUER.1))
}

/// Returns the path of one issuer. This path never changes, because clients are registered with it.
pub(super) fn issuer_path(issuer: &str) -> String {
    let name = digest(&SHA256, issuer.trim_end_matches('/').as_bytes());
    let name = BASE64_URL_SAFE_NO_PAD.encode(&name.as_ref()[..DIGEST]);
    format!("{}{name}{}", ISSUER.0, ISSUER.1)
}

/// Returns the path to which `service` redirects browsers for the client with this configuration.
pub(super) fn path(config: &OAuthClient, service: &Service) -> String {
    if is_shared(config) { CALLBACK.to_owned() } else { issuer_path(&service.issuer) }
}

/// Returns the old redirect path, which all issuers shared before each got a path of its own.
pub(super) fn former_path() -> &'static str {
    CALLBACK
}

/// Returns true if another issuer may use the redirect path of this client as well.
pub(super) fn is_shared(config: &OAuthClient) -> bool {
    config.client_id.is_some() && !config.issuer_callback
}

/// Returns true if codes of several issuers can arrive at the shared path; in this case, only `iss` (RFC 9207)
/// identifies the issuer. A server without a configured issuer can name any issuer.
pub(super) fn is_ambiguous<'a>(clients: impl IntoIterator<Item = &'a OAuthClient>) -> bool {
    let mut issuers = clients.into_iter().filter(|client| is_shared(client)).map(|c| c.issuer.as_deref());
    let Some(first) = issuers.next() else { return false };
    issuers.any(|other| match (first, other) {
        (Some(first), Some(other)) => !super::discovery::is_same(first, other),
        _ => true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_issuer_has_a_path_of_its_own() {
        let path = issuer_path("https://id.example.com");
        assert_eq!(path, issuer_path("https://id.example.com/"), "libraries add a slash");
        assert_ne!(path, issuer_path("https://id.example.com/other"));
        assert!(is_callback(&path) && is_callback("/oauth/callback"), "{path}");
        for other in [
            "/oauth/callback/",
            "/oauth/callback/x",
            "/oauth/issuer/x/callback",
            &path[..40],
            "/oauth/issuer/",
        ] {
            assert!(!is_callback(other), "{other}");
        }
    }

    #[test]
    fn the_document_of_a_client_names_the_issuers_own_path() {
        let (issuer, path) = ("https://id.example.com", document_path("https://id.example.com/"));
        assert_eq!(redirect_of_document(&path), Some(issuer_path(issuer)));
        assert_ne!(path, document_path("https://id.example.com/other"));
        assert!(!is_callback(&path));
        for other in
            [&issuer_path(issuer), "/oauth/issuer/x/client.json", "/oauth/client.json", &path[1..], "/"]
        {
            assert_eq!(redirect_of_document(other), None, "{other}");
        }
    }

    #[test]
    fn a_shared_path_is_ambiguous_where_several_issuers_are_in_play() {
        let client = |issuer: Option<&str>, own| OAuthClient {
            client_id: Some(config::Text::plain("me")),
            issuer: issuer.map(str::to_owned),
            issuer_callback: own,
            ..OAuthClient::default()
        };
        let (a, b) = (client(Some("https://a"), false), client(Some("https://b"), false));
        let (any, own) = (client(None, false), client(None, true));
        for (clients, expected) in [
            (vec![], false),
            (vec![&any], false),
            (vec![&a, &a, &OAuthClient::default(), &own], false),
            (vec![&a, &b], true),
            (vec![&a, &any], true),
            (vec![&any, &any], true),
        ] {
            assert_eq!(is_ambiguous(clients.iter().copied()), expected, "{clients:?}");
        }
    }
}
