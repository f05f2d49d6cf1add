//! Invalid settings are named in errors, and OAuth settings are published.

use config::{Auth, Bearer, Text};
use http::HeaderMap;
use serde_json::{Value, json};

use super::super::Authenticator;
use super::rig::{World, at, config, open};

fn fault(config: &Auth) -> String {
    Authenticator::new(config, (None, None), World::new()).unwrap_err().to_string()
}

#[test]
fn what_cannot_be_is_named() {
    let sound =
        "{ jwt: { issuer: 'https://id.example.com' }, oauth: { resource: 'https://mcp.example.com/mcp' } }";
    assert!(open(sound, &World::new()).asks());
    let mut with_keys = config(sound);
    with_keys.keys = true;
    assert_eq!(fault(&with_keys), "API keys are enabled, but there is no key store");
    let mut without = config(sound);
    without.oauth = None;
    assert_eq!(
        fault(&without),
        "the issuer https://id.example.com: neither an audience of the issuer nor this gateway's resource is configured"
    );
    let mut lonely = config(sound);
    lonely.jwt.clear();
    assert_eq!(fault(&lonely), "a protected resource needs an issuer of tokens for it");
    for bad in [
        "http://id.example.com",
        "id.example.com",
        "https://me:pw@id.example.com",
        "https://id.example.com?x",
        "ftp://127.0.0.1",
        "",
    ] {
        let mut changed = config(sound);
        changed.jwt[0].issuer = Text::plain(bad);
        assert!(fault(&changed).starts_with("the issuer "), "{bad}");
        let mut changed = config(sound);
        changed.jwt[0].jwks = Some(Text::plain(bad));
        assert!(bad.ends_with("?x") || fault(&changed).starts_with("the issuer "), "{bad}");
    }
    let mut nothing = config(sound);
    nothing.jwt[0].algorithms.clear();
    assert_eq!(fault(&nothing), "the issuer https://id.example.com: no algorithm is allowed");
    for bad in ["with space", "", "ümlaut", "line\nbreak", "tab\t"] {
        let bearer = Auth { bearer: Some(Bearer { token: Text::hidden(bad, "***") }), ..Auth::default() };
        assert_eq!(fault(&bearer), "the bearer token must be visible ASCII without spaces");
    }
    let mut odd = config(sound);
    odd.oauth.as_mut().unwrap().required_scopes = vec!["a b".to_owned()];
    assert_eq!(fault(&odd), "\"a b\" is not a scope (RFC 6749, 3.3)");
}

#[tokio::test]
async fn the_resource_says_where_tokens_come_from() {
    let authenticator = open(
        "{ jwt: [{ issuer: 'https://id.example.com' }, { issuer: 'https://two.example.com/x' }], \
           oauth: { resource: 'https://mcp.example.com/mcp', scopes: [read], requiredScopes: [mcp] } }",
        &World::new(),
    );
    let body = authenticator.metadata("/.well-known/oauth-protected-resource/mcp").unwrap();
    let said: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(
        said,
        json!({
            "resource": "https://mcp.example.com/mcp",
            "authorization_servers": ["https://id.example.com", "https://two.example.com/x"],
            "bearer_methods_supported": ["header"],
            "scopes_supported": ["read"],
        })
    );
    let denied = authenticator.identify_at(&HeaderMap::new(), at(0)).await.unwrap_err();
    assert_eq!(
        denied.challenge.unwrap(),
        "Bearer resource_metadata=\"https://mcp.example.com/.well-known/oauth-protected-resource/mcp\", scope=\"mcp\""
    );
}
