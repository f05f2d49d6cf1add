//! Where a caller's credentials go: to no server, unless the configuration maps them to the site behind it.

use std::net::Ipv4Addr;

use serde_json::{Value, json};
use testkit::site::{Options, Received, Site, accounts, serve};

use crate::place::*;
use crate::support::*;

#[tokio::test]
async fn no_credential_goes_to_a_server() {
    let puppet = Puppet::start(|_, _| Said::Proper).await;
    let state = State::new();
    let key = state.new_key(&["ann"]).await;
    let config = config(&format!("good: {}", puppet.config()), &state, "");
    let start = Start { config: &config, env: &[("TOKEN", TOKEN)], ..Start::default() };
    let gateway = Gateway::start_with(&start).await;
    let shown = [bearer(TOKEN), bearer(&key), basic("ann", "battery staple")];
    let more =
        [("Cookie", "session=coo-kie-1"), ("X-WordPress-Password", "site-9999"), ("X-Api-Key", "api-key-1")];
    for value in &shown {
        for way in Way::all(gateway.http().showing(value)).await {
            assert!(is_fine(&way.call("good__ok", &json!({})).await), "{}", way.name());
        }
        let call = request(1, "tools/call", &json!({"name": "good__ok", "arguments": {}})).to_string();
        for path in DIALECTS {
            assert_eq!(gateway.http().showing(value).post(path, &more, &call).await.status, 200);
        }
    }
    let received = puppet.received();
    assert!(received.iter().filter(|one| one.method() == "tools/call").count() >= 24);
    let parts = shown.iter().filter_map(|value| value.split(' ').nth(1));
    let secrets: Vec<&str> = parts.chain(["battery staple", "coo-kie-1", "site-9999", "api-key-1"]).collect();
    for one in &received {
        assert!(!one.headers.contains_key("authorization") && !one.headers.contains_key("cookie"), "{one:?}");
        let all = format!("{one:?}");
        assert!(secrets.iter().all(|secret| !all.contains(secret)), "{all}");
    }
}

#[tokio::test]
async fn none_is_in_what_a_server_is_told() {
    let place = Place::start("").await;
    let key = place.state.new_key(&["ann"]).await;
    for way in Way::all(place.by(&key)).await {
        assert!(is_fine(&way.call("good__echo", &json!({})).await), "{}", way.name());
    }
    let wire = place.wire();
    assert!(wire.contains("tools/call"));
    assert!(!wire.contains(&key[..12]) && !wire.contains("Bearer"), "{wire}");
}

async fn site() -> Site {
    serve((Ipv4Addr::LOCALHOST, 0).into(), Options::default()).await.expect("a site")
}

/// Calls a tool of the site as somebody with a name and a password there; what the site was asked since.
async fn called(
    site: &Site,
    settings: &str,
    value: &str,
    more: Headers<'_>,
    params: &Value,
) -> Vec<Received> {
    let server = format!("blog: {{ native: wordpress, site: {{ url: '{}'{settings} }} }}", site.url());
    let state = State::new();
    let config = config(&server, &state, "")
        .replace(&format!("users: {{ ann: '{HASH}' }}"), &format!("site: {{ url: '{}' }}", site.url()));
    let start = Start { config: &config, env: &[("TOKEN", TOKEN)], ..Start::default() };
    let gateway = Gateway::start_with(&start).await;
    let http = gateway.http().showing(value);
    let call = request(1, "tools/call", params);
    let before = site.received().len();
    http.post("/gateway", more, &call.to_string()).await.bytes().await;
    site.received().split_off(before)
}

/// What the site was shown in a call.
async fn shown(site: &Site, settings: &str, value: &str, more: Headers<'_>) -> Vec<String> {
    let call = json!({"name": "blog__wp_get_posts", "arguments": {"per_page": 1}});
    let received = called(site, settings, value, more, &call).await;
    let asked: Vec<_> = received.iter().filter(|one| !one.path.contains("users/me")).collect();
    assert!(!asked.is_empty(), "the site is asked");
    asked.iter().map(|one| one.header("authorization").to_owned()).collect()
}

#[tokio::test]
async fn a_site_gets_what_the_configuration_maps() {
    let site = site().await;
    let (admin, editor) = (accounts::ADMIN, accounts::EDITOR);
    let own = format!(", username: '{}', password: '{}'", editor.user, editor.password);
    let mine = admin.basic();
    let carried = [
        ("X-WordPress-URL", &*site.url()),
        ("X-WordPress-Username", admin.user),
        ("X-WordPress-Password", admin.password),
    ];
    let all = |values: &[String], wanted: &str| values.iter().all(|value| decoded(value) == decoded(wanted));
    // Without a word of it the site sees the configured account, whatever the caller shows.
    for value in [&*mine, &bearer(TOKEN)] {
        let seen = shown(&site, &own, value, &carried).await;
        assert!(all(&seen, &editor.basic()), "{seen:?}");
    }
    let seen = shown(&site, &format!("{own}, basic: true"), &mine, &[]).await;
    assert!(all(&seen, &mine), "{seen:?}");
    let seen = shown(&site, &format!("{own}, basic: true"), &bearer(TOKEN), &carried).await;
    assert!(all(&seen, &editor.basic()), "a token is no account: {seen:?}");
    let seen = shown(&site, &format!("{own}, headers: true"), &bearer(TOKEN), &carried).await;
    assert!(all(&seen, &mine), "its own site may be named, too: {seen:?}");
    let seen = shown(&site, &format!("{own}, headers: true"), &mine, &[]).await;
    assert!(all(&seen, &editor.basic()), "its headers, not the caller's own account: {seen:?}");
}

#[tokio::test]
async fn a_site_is_asked_for_files_only_where_the_configuration_says_so() {
    let site = site().await;
    let own = format!(", username: '{}', password: '{}'", accounts::ADMIN.user, accounts::ADMIN.password);
    let call = json!({"name": "blog__wp_upload_media_from_url", "arguments": {"url": format!("{}/wp-json", site.url())}});
    let is_fetch = |one: &&Received| (one.method.as_str(), one.path.as_str()) == ("GET", "/wp-json");
    let received = called(&site, &own, &bearer(TOKEN), &[], &call).await;
    assert!(!received.iter().any(|one| is_fetch(&one)), "an address on this machine: {received:?}");
    let received = called(&site, &format!("{own}, privateFiles: true"), &bearer(TOKEN), &[], &call).await;
    let fetch = received.iter().find(is_fetch).expect("the file is fetched");
    assert_eq!(fetch.header("authorization"), "");
    assert!(received.iter().any(|one| one.method == "POST" && one.path.ends_with("/media")), "{received:?}");
    for one in &received {
        let agents = one.headers.iter().filter(|(name, _)| name == "user-agent");
        let agents: Vec<&str> = agents.map(|(_, value)| value.as_str()).collect();
        assert_eq!(agents, [concat!("dragoman/", env!("CARGO_PKG_VERSION"))], "{one:?}");
    }
}

/// An account as it is written with or without the spaces in its password.
fn decoded(value: &str) -> String {
    use base64::Engine as _;
    let encoded = value.strip_prefix("Basic ").unwrap_or_default();
    let bytes = base64::prelude::BASE64_STANDARD.decode(encoded).unwrap_or_default();
    String::from_utf8_lossy(&bytes).replace(' ', "")
}
