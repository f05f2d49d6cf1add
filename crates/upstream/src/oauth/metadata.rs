//! The metadata of protected resources and authorization servers (RFC 9728, 2 and 3; RFC 8414, 2 and 3; `OpenID`
//! Connect Discovery 1.0, 4), and the checks that it has to pass. This module must not know how metadata is fetched.

use config::OAuthGrant;
use engine::credential::challenge::scopes;
use http::Uri;
use serde::{Deserialize, Serialize};

use super::fetcher::{AllowedNetwork, may_ask};

/// The maximum number of authorization servers that are tried for one resource.
const MOST_SERVERS: usize = 3;

/// A usable authorization server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Service {
    /// The issuer: the name that the server gives itself.
    pub(super) issuer: String,
    /// The endpoint for browsers; empty if there is none.
    pub(super) authorization: String,
    /// The endpoint that exchanges codes and refresh tokens for access tokens.
    pub(super) token: String,
    /// The endpoint for registration, if there is one.
    pub(super) registration: Option<String>,
    /// The authentication methods that `token` accepts; empty if the metadata names none.
    pub(super) methods: Vec<String>,
    /// True if the server states its issuer in redirects (RFC 9207, 3).
    pub(super) names_itself: bool,
    /// True if the server accepts the URL of a client's metadata as the client's id (Client ID Metadata Documents).
    #[serde(default)]
    pub(super) takes_documents: bool,
    /// True if the server issues refresh tokens on request (`OpenID` Connect Core 1.0, 11).
    pub(super) offline: bool,
}

/// A resource and its authorization servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Protected {
    /// The resource's name, which token requests contain (RFC 8707).
    pub(super) resource: String,
    /// The issuers whose tokens the resource accepts.
    pub(super) issuers: Vec<String>,
    /// The scopes that the resource supports.
    pub(super) scopes: Vec<String>,
}

/// Returns the origin of a URL.
fn origin(url: &Uri) -> String {
    let authority = url.authority().map(http::uri::Authority::as_str).unwrap_or_default();
    format!("{}://{authority}", url.scheme_str().unwrap_or_default())
}

/// Returns the name of a resource whose metadata states none: the resource's URL, without the parts that vary.
pub(super) fn canonical(url: &Uri) -> String {
    let path = url.path().trim_end_matches('/');
    format!("{}{path}", origin(url).to_ascii_lowercase())
}

/// Returns the addresses of a resource's metadata, in the order in which they are tried.
pub(super) fn resource_places(url: &Uri) -> Vec<String> {
    let (origin, path) = (origin(url), url.path().trim_end_matches('/'));
    let root = format!("{origin}/.well-known/oauth-protected-resource");
    if path.is_empty() { vec![root] } else { vec![format!("{root}{path}"), root] }
}

/// Reads the metadata of the resource at `url`.
///
/// # Errors
/// Returns the problem: the metadata may describe another resource, or name no issuer.
pub(super) fn read_resource(body: &[u8], url: &Uri) -> Result<Protected, String> {
    #[derive(Deserialize)]
    struct ProtectedJson {
        resource: String,
        #[serde(default)]
        authorization_servers: Vec<String>,
        #[serde(default)]
        scopes_supported: Vec<String>,
    }
    let written: ProtectedJson =
        serde_json::from_slice(body).map_err(|_| "the answer is not the metadata of a resource")?;
    // Otherwise this server could obtain a token for another resource.
    if !covers(&written.resource, url) {
        return Err("the metadata describes another resource".to_owned());
    }
    let issuers: Vec<String> = written.authorization_servers.into_iter().take(MOST_SERVERS).collect();
    if issuers.is_empty() {
        return Err("the metadata does not name an authorization server".to_owned());
    }
    let scopes = scopes(&written.scopes_supported.join(" "));
    Ok(Protected { resource: written.resource, issuers, scopes })
}

/// Returns true if `url` belongs to the resource with this name: both have the same origin, and the URL's path is
/// the resource's path or below it. If the resource's name has a query, the URL has the same query.
fn covers(resource: &str, url: &Uri) -> bool {
    let Ok(named) = resource.parse::<Uri>() else { return false };
    let port =
        |url: &Uri| url.port_u16().or(if url.scheme_str() == Some("https") { Some(443) } else { Some(80) });
    let host = |url: &Uri| url.host().map(str::to_ascii_lowercase);
    let has_user = named.authority().is_none_or(|authority| authority.as_str().contains('@'));
    let path = named.path().trim_end_matches('/');
    let below = url.path().strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let asks = named.query().is_none_or(|query| url.query() == Some(query));
    named.scheme() == url.scheme()
        && host(&named) == host(url)
        && port(&named) == port(url)
        && !has_user
        && below
        && asks
}

/// Reads the metadata of `issuer`.
///
/// # Errors
/// Returns the problem: the metadata may belong to another issuer, or be too insecure to use.
pub(super) fn read_service(
    body: &[u8],
    issuer: &str,
    (within, grant): (AllowedNetwork, OAuthGrant),
) -> Result<Service, String> {
    #[derive(Deserialize)]
    struct ServiceJson {
        issuer: String,
        authorization_endpoint: Option<String>,
        token_endpoint: String,
        registration_endpoint: Option<String>,
        #[serde(default)]
        code_challenge_methods_supported: Vec<String>,
        #[serde(default)]
        token_endpoint_auth_methods_supported: Vec<String>,
        #[serde(default)]
        authorization_response_iss_parameter_supported: bool,
        #[serde(default)]
        client_id_metadata_document_supported: bool,
        #[serde(default)]
        scopes_supported: Vec<String>,
    }
    let written: ServiceJson = serde_json::from_slice(body)
        .map_err(|_| "the answer is not the metadata of an authorization server")?;
    // Otherwise one issuer could impersonate another (RFC 8414, 3.3). A trailing slash does not count, because
    // libraries append one to URLs.
    if written.issuer.trim_end_matches('/') != issuer.trim_end_matches('/') {
        return Err("the metadata belongs to another issuer".to_owned());
    }
    let asks_users = grant == OAuthGrant::AuthorizationCode;
    if asks_users && written.authorization_endpoint.is_none() {
        return Err("it has no endpoint at which users give consent".to_owned());
    }
    if asks_users && !written.code_challenge_methods_supported.iter().any(|method| method == "S256") {
        return Err(
            "the authorization server does not support PKCE with S256, which protects codes from theft"
                .to_owned(),
        );
    }
    let others = written.authorization_endpoint.iter().chain(&written.registration_endpoint);
    for url in others.chain([&written.token_endpoint]) {
        if !url.parse().is_ok_and(|url| may_ask(&url, within)) || url.contains('#') {
            return Err("an endpoint in the metadata is not an https URL that is allowed here".to_owned());
        }
    }
    Ok(Service {
        issuer: written.issuer,
        authorization: written.authorization_endpoint.unwrap_or_default(),
        token: written.token_endpoint,
        registration: written.registration_endpoint,
        methods: written.token_endpoint_auth_methods_supported,
        names_itself: written.authorization_response_iss_parameter_supported,
        takes_documents: written.client_id_metadata_document_supported,
        offline: written.scopes_supported.iter().any(|scope| scope == "offline_access"),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_resource_is_this_server_or_what_it_is_part_of() {
        let url: Uri = "https://h.example/a/mcp?key=1".parse().unwrap();
        for name in [
            "https://h.example/a/mcp",
            "https://H.example:443/a/mcp/",
            "https://h.example/a",
            "https://h.example",
            "https://h.example/",
            "https://h.example/a/mcp?key=1",
        ] {
            assert!(covers(name, &url), "{name}");
        }
        for name in [
            "https://h.example/a/mc",
            "https://h.example/a/mcp/x",
            "https://h.example/b",
            "http://h.example/a/mcp",
            "https://h.example:444/a/mcp",
            "https://evil.example/a/mcp",
            "https://h.example.evil.example/a/mcp",
            "https://h.example@evil.example/a/mcp",
            "https://me@h.example/a/mcp",
            "https://h.example/a/mcp?key=2",
            "/a/mcp",
            "",
        ] {
            assert!(!covers(name, &url), "{name}");
        }
    }

    #[test]
    fn metadata_of_a_resource() {
        let url: Uri = "https://h.example/mcp".parse().unwrap();
        let good = json!({"resource": "https://h.example/mcp", "authorization_servers": ["https://a/", "https://b"],
            "scopes_supported": ["x", "y z"], "more": 1});
        let read = read_resource(good.to_string().as_bytes(), &url).unwrap();
        assert_eq!((read.issuers.len(), read.scopes.join(",")), (2, "x,y,z".to_owned()));
        for (bad, why) in [
            (
                json!({"resource": "https://evil.example/mcp", "authorization_servers": ["https://a"]}),
                "another resource",
            ),
            (json!({"resource": "https://h.example/mcp"}), "name an authorization server"),
            (json!({"authorization_servers": ["https://a"]}), "not the metadata"),
            (json!("x"), "not the metadata"),
        ] {
            assert!(read_resource(bad.to_string().as_bytes(), &url).unwrap_err().contains(why), "{bad}");
        }
    }

    fn service() -> Value {
        json!({
            "issuer": "https://id.example/t", "authorization_endpoint": "https://id.example/authorize?t=1",
            "token_endpoint": "https://id.example/token", "code_challenge_methods_supported": ["plain", "S256"],
        })
    }

    #[test]
    fn metadata_of_an_authorization_server() {
        let read = |value: &Value, issuer| {
            read_service(
                value.to_string().as_bytes(),
                issuer,
                (AllowedNetwork::Public, OAuthGrant::AuthorizationCode),
            )
        };
        for issuer in ["https://id.example/t", "https://id.example/t/"] {
            assert!(read(&service(), issuer).is_ok(), "{issuer}");
        }
        assert!(read(&service(), "https://id.example").unwrap_err().contains("another issuer"));
        assert!(
            read_service(
                b"<html>",
                "https://id.example/t",
                (AllowedNetwork::Public, OAuthGrant::AuthorizationCode)
            )
            .is_err()
        );
        for (member, value, why) in [
            ("code_challenge_methods_supported", json!(["plain"]), "PKCE"),
            ("code_challenge_methods_supported", json!([]), "PKCE"),
            ("authorization_endpoint", json!("javascript:alert(1)"), "an endpoint"),
            ("authorization_endpoint", json!("http://id.example/authorize"), "an endpoint"),
            ("token_endpoint", json!("http://127.0.0.1:1/token"), "an endpoint"),
            ("token_endpoint", json!("http://169.254.169.254/token"), "an endpoint"),
            ("token_endpoint", json!("https://id.example/token#x"), "an endpoint"),
            ("registration_endpoint", json!("https://localhost/register"), "an endpoint"),
            ("token_endpoint", json!(7), "not the metadata"),
        ] {
            let mut bad = service();
            bad[member] = value;
            let why_not = read(&bad, "https://id.example/t").unwrap_err();
            assert!(why_not.contains(why), "{bad}: {why_not}");
        }
    }

    #[test]
    fn a_client_without_users_needs_only_the_endpoint_for_tokens() {
        let mut machine = service();
        let members = machine.as_object_mut().unwrap();
        members.retain(|member, _| ["issuer", "token_endpoint"].contains(&member.as_str()));
        let read = |grant| {
            read_service(
                machine.to_string().as_bytes(),
                "https://id.example/t",
                (AllowedNetwork::Public, grant),
            )
        };
        assert_eq!(read(OAuthGrant::ClientCredentials).unwrap().token, "https://id.example/token");
        assert!(read(OAuthGrant::AuthorizationCode).unwrap_err().contains("users give consent"));
    }

    #[test]
    fn places_are_below_the_origin() {
        let places = |url: &str| {
            (resource_places(&url.parse().unwrap()), crate::web::issuer_places(&url.parse().unwrap()))
        };
        let (resource, service) = places("https://h.example:8443/a/mcp/?k=1");
        assert_eq!(
            resource,
            [
                "https://h.example:8443/.well-known/oauth-protected-resource/a/mcp",
                "https://h.example:8443/.well-known/oauth-protected-resource",
            ]
        );
        assert_eq!(
            service,
            [
                "https://h.example:8443/.well-known/oauth-authorization-server/a/mcp",
                "https://h.example:8443/.well-known/openid-configuration/a/mcp",
                "https://h.example:8443/a/mcp/.well-known/openid-configuration",
            ]
        );
        let (resource, service) = places("https://h.example/");
        assert_eq!((resource.len(), service.len()), (1, 2));
        assert_eq!(canonical(&"HTTPS://H.Example/Mcp/?k=1".parse().unwrap()), "https://h.example/Mcp");
    }
}
