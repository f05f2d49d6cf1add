//! Each authentication method.

use std::net::Ipv4Addr;

use serde_json::{Value, json};
use testkit::site::{Options, accounts, serve};

use crate::rig::*;
use crate::support::*;

#[tokio::test]
async fn the_one_token() {
    let gateway = gateway("{ bearer: the-one-token }").await;
    assert_eq!(status(gateway.http(), &bearer("the-one-token")).await, 200);
    for other in ["the-one-toke", "the-one-token2", "THE-ONE-TOKEN"] {
        let mut refused = visit(gateway.http(), "/mcp", &bearer(other)).await;
        assert_eq!(refused.status, 401);
        let challenge = refused.header("www-authenticate").to_owned();
        assert!(challenge.starts_with("Bearer error=\"invalid_token\""), "{challenge}");
        let text = refused.text().await;
        assert!(!text.contains(other) && !challenge.contains(other), "{text}");
    }
    let refused = gateway.http().post("/mcp", &[], "{}").await;
    assert_eq!((refused.status, refused.header("www-authenticate")), (401, "Bearer realm=\"dragoman\""));
}

#[tokio::test]
async fn only_one_header_and_never_the_query() {
    let gateway = gateway("{ bearer: the-one-token }").await;
    let body = request(1, "ping", &json!({})).to_string();
    let good = ("Authorization", "Bearer the-one-token");
    assert_ne!(gateway.http().post("/mcp", &[good], &body).await.status, 401);
    assert_eq!(gateway.http().post("/mcp", &[good, good], &body).await.status, 401);
    assert_eq!(gateway.http().post("/mcp", &[good, ("authorization", "Bearer x")], &body).await.status, 401);
    for query in ["access_token=the-one-token", "token=the-one-token", "Authorization=Bearer%20the-one-token"]
    {
        assert_eq!(gateway.http().post(&format!("/mcp?{query}"), &[], &body).await.status, 401);
    }
    for name in ["X-Authorization", "X-API-Key", "Cookie", "Proxy-Authorization"] {
        assert_eq!(gateway.http().post("/mcp", &[(name, "Bearer the-one-token")], &body).await.status, 401);
    }
}

#[tokio::test]
async fn names_with_passwords() {
    let gateway = gateway(&format!("{{ users: {{ ann: '{HASH}' }} }}")).await;
    assert_eq!(status(gateway.http(), &basic("ann", "battery staple")).await, 200);
    assert_eq!(status(gateway.http(), &basic("ann", "battery staple")).await, 200);
    for (user, password) in [("ann", "battery"), ("bob", "battery staple"), ("", "battery staple")] {
        let refused = visit(gateway.http(), "/mcp", &basic(user, password)).await;
        assert_eq!(refused.status, 401, "{user}");
        assert_eq!(refused.header("www-authenticate"), "Basic realm=\"dragoman\", charset=\"UTF-8\"");
    }
    assert_eq!(status(gateway.http(), &bearer("battery staple")).await, 401);
}

#[tokio::test]
async fn keys_of_the_command_line() {
    let state = State::new();
    let gateway = Gateway::start(&format!("{}{}", config("{ keys: true }"), state.line())).await;
    let (one, other) = (state.new_key(&["one"]).await, state.new_key(&["other"]).await);
    assert_eq!(status(gateway.http(), &bearer(&one)).await, 200);
    assert_eq!(status(gateway.http(), &bearer(&other)).await, 200);
    let end = if one.ends_with('A') { 'B' } else { 'A' };
    assert_eq!(status(gateway.http(), &bearer(&format!("{}{end}", &one[..one.len() - 1]))).await, 401);
    let list = state.key(&["list", "--json"]).await;
    assert!(list.contains("one") && !list.contains(&one[12..]), "{list}");
    state.key(&["revoke", "one"]).await;
    until_refused(gateway.http(), &bearer(&one)).await;
    assert_eq!(status(gateway.http(), &bearer(&other)).await, 200);
    let brief = state.new_key(&["brief", "--expires", "3s"]).await;
    assert_eq!(status(gateway.http(), &bearer(&brief)).await, 200);
    until_refused(gateway.http(), &bearer(&brief)).await;
}

#[tokio::test]
async fn users_of_a_site() {
    let site = serve((Ipv4Addr::LOCALHOST, 0).into(), Options::default()).await.expect("a site");
    let auth = |more: &str| format!("{{ site: {{ url: '{}'{more} }} }}", site.url());
    let admins = gateway(&auth("")).await;
    let (admin, editor) = (accounts::ADMIN, accounts::EDITOR);
    for password in [admin.password, &admin.password.replace(' ', "")] {
        assert_eq!(status(admins.http(), &basic(admin.user, password)).await, 200);
    }
    assert_eq!(status(admins.http(), &basic(admin.user, "wrong")).await, 401);
    assert_eq!(status(admins.http(), &editor.basic()).await, 403, "an editor does not administer");
    let asked = site.received().len();
    assert_eq!(status(admins.http(), &admin.basic()).await, 200);
    assert_eq!(site.received().len(), asked, "the site's word holds for a while");
    let editors = gateway(&auth(", capability: edit_posts")).await;
    assert_eq!(status(editors.http(), &editor.basic()).await, 200);
    let away = site.url();
    drop(site);
    let refused = visit(admins.http(), "/mcp", &basic("somebody", "else")).await;
    assert_eq!(refused.status, 503, "nobody is at {away}");
    assert!(!refused.header("retry-after").is_empty());
}

#[tokio::test]
async fn several_ways_at_once() {
    let state = State::new();
    let auth = format!("{{ bearer: the-one-token, keys: true, users: {{ ann: '{HASH}' }} }}");
    let gateway = Gateway::start(&format!("{}{}", config(&auth), state.line())).await;
    let key = state.new_key(&["one"]).await;
    for value in [bearer("the-one-token"), bearer(&key), basic("ann", "battery staple")] {
        assert_eq!(status(gateway.http(), &value).await, 200);
    }
    let refused = gateway.http().post("/mcp", &[], "{}").await;
    assert_eq!(
        refused.header("www-authenticate"),
        "Bearer realm=\"dragoman\", Basic realm=\"dragoman\", charset=\"UTF-8\""
    );
}

#[tokio::test]
async fn a_protected_resource_tells_where_tokens_come_from() {
    let auth = "{ jwt: { issuer: 'https://id.example.com' }, \
                oauth: { resource: 'https://mcp.example.com/mcp', requiredScopes: [mcp] } }";
    let gateway = gateway(auth).await;
    let expected = json!({
        "resource": "https://mcp.example.com/mcp",
        "authorization_servers": ["https://id.example.com"],
        "bearer_methods_supported": ["header"],
        "scopes_supported": ["mcp"],
    });
    for place in ["/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"] {
        let mut reply = gateway.http().get(place, &[]).await;
        assert_eq!((reply.status, reply.header("content-type")), (200, "application/json"), "{place}");
        assert_eq!(reply.json().await, expected);
    }
    for elsewhere in
        ["/.well-known/oauth-protected-resource/other", "/.well-known/oauth-authorization-server"]
    {
        assert_eq!(gateway.http().get(elsewhere, &[]).await.status, 404, "{elsewhere}");
    }
    let refused = gateway.http().post("/mcp", &[], "{}").await;
    assert_eq!(
        refused.header("www-authenticate"),
        "Bearer resource_metadata=\"https://mcp.example.com/.well-known/oauth-protected-resource/mcp\", scope=\"mcp\""
    );
    let form = gateway.http().post("/mcp", &[("Authorization", "Bearer eyJ.eyJ.x")], "{}").await;
    assert_eq!(form.status, 401);
}

#[tokio::test]
async fn without_authentication_a_header_means_nothing() {
    let gateway = gateway("{}").await;
    for value in ["Bearer x", "Basic x", "???"] {
        let mut reply = visit(gateway.http(), "/mcp", value).await;
        assert_eq!((reply.status, reply.json().await["error"].clone()), (200, Value::Null));
    }
}
