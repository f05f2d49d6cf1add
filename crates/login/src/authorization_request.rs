//! The request with which a client sends a browser to the gateway (OAuth 2.1, 4.1.1; RFC 7636; RFC 8707; RFC 9207).
//! A fault in the client or in its redirect URI is shown to the person; every other fault is returned to the
//! client.

use std::sync::Arc;

use store::grants::ProfileNames;

use crate::client_metadata::ClientMetadata;
use crate::redirect_uri;
use crate::resource::{RequestedResources, ResourceAt};

/// The maximum length of a value, in bytes.
const LONGEST: usize = 4096;
/// The length of a SHA-256 digest in Base64 for URLs (RFC 7636, 4.2).
const CHALLENGE: usize = 43;

/// The parameters of a request, each at most once.
pub(crate) struct RequestParameters(Vec<(String, String)>);

/// A valid request.
#[derive(Debug, Clone)]
pub(crate) struct AuthorizationRequest {
    pub(crate) client: Arc<ClientMetadata>,
    pub(crate) redirect_uri: String,
    /// A text that the client gets back.
    pub(crate) state: Option<String>,
    /// The digest of a secret that the client keeps to itself until it exchanges the code.
    pub(crate) challenge: String,
    /// The profiles for which the client requests tokens; `None` for all.
    pub(crate) profiles: Option<ProfileNames>,
}

/// An error that is returned to the client (OAuth 2.1, 4.1.2.1; RFC 8707, 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ReturnedError(pub(crate) &'static str, pub(crate) &'static str);

impl RequestParameters {
    /// Reads the parameters.
    ///
    /// # Errors
    /// Returns the reason if a parameter occurs twice or is too long.
    pub(crate) fn read(query: &str) -> Result<Self, &'static str> {
        let all = upstream::oauth::form::pairs(query);
        for (at, (name, value)) in all.iter().enumerate() {
            if value.len() > LONGEST {
                return Err("a parameter of this request is too long");
            }
            // A client may name several resources (RFC 8707, 2).
            if name != "resource" && all[..at].iter().any(|(other, _)| other == name) {
                return Err("a parameter of this request occurs twice");
            }
        }
        Ok(Self(all))
    }

    /// Returns the value of a parameter; an empty value is treated as missing.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(own, value)| own == name && !value.is_empty()).map(|(_, value)| value.as_str())
    }

    pub(crate) fn resources(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter(|(name, _)| name == "resource").map(|(_, value)| value.as_str())
    }
}

/// Returns the redirect URI, if the browser may be sent back to it.
///
/// # Errors
/// Returns the reason, for the person.
pub(crate) fn return_address(
    parameters: &RequestParameters,
    client: &ClientMetadata,
) -> Result<String, &'static str> {
    match parameters.get("redirect_uri") {
        Some(uri) if client.may_receive_at(uri) => Ok(uri.to_owned()),
        Some(_) => Err("the redirect URI of this request does not belong to the client"),
        None => match client.redirect_uris.as_slice() {
            [only] => Ok(only.clone()),
            _ => Err("the request has no redirect URI"),
        },
    }
}

/// Checks the rest of a request; `base` is the public address of the gateway.
///
/// # Errors
/// Returns the error for the client.
pub(crate) fn checked(
    parameters: &RequestParameters,
    (client, redirect_uri): (Arc<ClientMetadata>, String),
    (base, at): (&str, ResourceAt<'_>),
) -> Result<AuthorizationRequest, ReturnedError> {
    if parameters.get("response_type") != Some("code") {
        return Err(ReturnedError("unsupported_response_type", "only response_type=code is supported"));
    }
    let challenge = parameters.get("code_challenge").unwrap_or_default();
    let is_digest = challenge.len() == CHALLENGE
        && challenge.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    if !is_digest || parameters.get("code_challenge_method") != Some("S256") {
        return Err(ReturnedError("invalid_request", "PKCE with code_challenge_method=S256 is required"));
    }
    let resources = RequestedResources::read(parameters, base, at)?;
    Ok(AuthorizationRequest {
        client,
        redirect_uri,
        state: parameters.get("state").map(str::to_owned),
        challenge: challenge.to_owned(),
        profiles: resources.granted(),
    })
}

impl AuthorizationRequest {
    /// Returns the address to which the browser returns at the end of the sign-in, with parameters for the client.
    pub(crate) fn answer(&self, issuer: &str, parameters: &[(&str, &str)]) -> String {
        answer(&self.redirect_uri, self.state.as_deref(), issuer, parameters)
    }
}

/// Returns a redirect URI with parameters for the client.
pub(crate) fn answer(uri: &str, state: Option<&str>, issuer: &str, parameters: &[(&str, &str)]) -> String {
    let state = state.map(|state| ("state", state));
    let all: Vec<(&str, &str)> = parameters.iter().copied().chain(state).chain([("iss", issuer)]).collect();
    redirect_uri::with(uri, &all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::Resource;

    const BASE: &str = "https://mcp.example.com";
    const GOOD: &str = "response_type=code&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256";

    fn client(redirects: &[&str]) -> ClientMetadata {
        serde_json::from_value(serde_json::json!({ "client_id": "x", "redirect_uris": redirects })).unwrap()
    }

    fn asked(query: &str) -> Result<AuthorizationRequest, ReturnedError> {
        let parameters = RequestParameters::read(query).unwrap();
        checked(
            &parameters,
            (Arc::new(client(&["https://a.example/"])), "https://a.example/?x=1".to_owned()),
            (BASE, &|path| path.strip_prefix("/mcp/").map(|name| Resource::Profile(name.to_owned()))),
        )
    }

    #[test]
    fn a_sound_request_is_read() {
        let request =
            asked(&format!("{GOOD}&state=a%26b&resource=https%3A%2F%2FMCP.example.com%3A443%2Fmcp%2Fblog"))
                .unwrap();
        assert_eq!(request.state.as_deref(), Some("a&b"));
        assert_eq!(request.profiles, Some(ProfileNames::new(["blog"])));
        let answer = request.answer(BASE, &[("code", "c")]);
        assert_eq!(answer, "https://a.example/?x=1&code=c&state=a%26b&iss=https%3A%2F%2Fmcp.example.com");
    }

    #[test]
    fn faults_are_told_to_the_client() {
        let code = |query: &str| asked(query).unwrap_err().0;
        assert_eq!(code(""), "unsupported_response_type");
        assert_eq!(code(&GOOD.replace("=code&", "=token&")), "unsupported_response_type");
        assert_eq!(code(&GOOD.replace("S256", "plain")), "invalid_request");
        assert_eq!(code(&GOOD.replace("cM&", "c&")), "invalid_request");
        assert_eq!(code(&format!("{GOOD}&resource=https://other.example/mcp/blog")), "invalid_target");
        assert_eq!(code(&format!("{GOOD}&resource={BASE}/mcp/a&resource={BASE}/other")), "invalid_target");
        assert_eq!(asked(GOOD).unwrap().profiles, None);
    }

    #[test]
    fn a_parameter_that_occurs_twice_is_refused() {
        assert!(RequestParameters::read("client_id=a&client_id=b").is_err());
        assert!(RequestParameters::read(&format!("state={}", "x".repeat(LONGEST + 1))).is_err());
    }

    #[test]
    fn the_browser_returns_only_to_the_client() {
        let to = |query: &str, redirects: &[&str]| {
            return_address(&RequestParameters::read(query).unwrap(), &client(redirects))
        };
        assert_eq!(to("", &["https://a.example/"]).unwrap(), "https://a.example/");
        assert!(to("", &["https://a.example/", "https://b.example/"]).is_err());
        assert!(to("redirect_uri=https://c.example/", &["https://a.example/"]).is_err());
        assert_eq!(
            to("redirect_uri=http://127.0.0.1:9/", &["http://127.0.0.1/"]).unwrap(),
            "http://127.0.0.1:9/"
        );
    }
}
