//! The documents that clients read first: about the authorization server (RFC 8414) and the resource (RFC 9728). This module must not know grants.

use http::Uri;
use serde_json::{Value, json};

/// The only scope. It covers everything that the person's account may do at the site.
pub(crate) const SCOPE: &str = "mcp";

/// The prefixes of the metadata paths; the path of the server or the resource follows.
pub(crate) const SERVER: &str = "/.well-known/oauth-authorization-server";
pub(crate) const RESOURCE: &str = "/.well-known/oauth-protected-resource";

/// The paths of the endpoints.
pub(crate) const AUTHORIZE: &str = "/oauth/authorize";
pub(crate) const TOKEN: &str = "/oauth/token";
pub(crate) const REGISTER: &str = "/oauth/register";
pub(crate) const REVOKE: &str = "/oauth/revoke";

/// Describes the server at `base`, the public address without a slash at the end.
pub(crate) fn server(base: &str) -> Value {
    let at = |path: &str| format!("{base}{path}");
    json!({
        "issuer": base,
        "authorization_endpoint": at(AUTHORIZE),
        "token_endpoint": at(TOKEN),
        "registration_endpoint": at(REGISTER),
        "revocation_endpoint": at(REVOKE),
        "scopes_supported": [SCOPE],
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "code_challenge_methods_supported": ["S256"],
        "client_id_metadata_document_supported": true,
        "authorization_response_iss_parameter_supported": true,
    })
}

/// Describes the resource at this path of the public address.
pub(crate) fn resource(base: &str, path: &str) -> Value {
    json!({
        "resource": format!("{base}{path}"),
        "authorization_servers": [base],
        "scopes_supported": [SCOPE],
        "bearer_methods_supported": ["header"],
    })
}

/// Returns the address of the metadata of the resource at this path. The well-known part is inserted between host
/// and path (RFC 9728, 3.1).
pub(crate) fn resource_address(base: &str, path: &str) -> String {
    match base.parse::<Uri>().ok().and_then(|uri| Some((uri.scheme_str()?.to_owned(), uri))) {
        Some((scheme, uri)) => {
            let authority = uri.authority().map(ToString::to_string).unwrap_or_default();
            format!("{scheme}://{authority}{RESOURCE}{}{path}", uri.path().trim_end_matches('/'))
        }
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_well_known_part_goes_behind_the_host() {
        for (base, address) in [
            ("https://mcp.example.com", "https://mcp.example.com/.well-known/oauth-protected-resource/mcp"),
            ("https://example.com/ai", "https://example.com/.well-known/oauth-protected-resource/ai/mcp"),
        ] {
            assert_eq!(resource_address(base, "/mcp"), address);
        }
    }
}
