//! A service that requires a user's consent first: it refuses every caller, and announces where consent is given,
//! as OAuth 2.1 requires (RFC 9728 for the resource, RFC 8414 for the server, RFC 7591 for its clients).

use serde_json::json;

use super::answer::Answer;
use super::request::Request;

/// The path of the service.
const PATH: &str = "/locked";

/// Answers if the path belongs to the service on the site at `base`.
pub(super) fn answer(request: &Request, base: &str) -> Option<Answer> {
    let resource = format!("{base}{PATH}");
    match request.path.as_str() {
        PATH => {
            let metadata = format!("{base}/.well-known/oauth-protected-resource{PATH}");
            let challenge = format!("Bearer resource_metadata=\"{metadata}\"");
            let body = json!({"error": "invalid_token", "error_description": "Authorization is required"});
            Some(Answer::json(401, &body).with("WWW-Authenticate", &challenge))
        }
        "/.well-known/oauth-protected-resource" | "/.well-known/oauth-protected-resource/locked" => {
            Some(Answer::ok(&json!({"resource": resource, "authorization_servers": [base]})))
        }
        "/.well-known/oauth-authorization-server" => Some(Answer::ok(&json!({
            "issuer": base, "authorization_endpoint": format!("{base}/authorize"),
            "token_endpoint": format!("{base}/token"), "registration_endpoint": format!("{base}/register"),
            "response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
        }))),
        "/register" if request.method == "POST" => {
            let redirects = request.body.get("redirect_uris").cloned().unwrap_or_default();
            let client = json!({"client_id": "registered", "redirect_uris": redirects});
            Some(Answer::json(201, &client))
        }
        _ => None,
    }
}
