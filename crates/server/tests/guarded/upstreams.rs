//! The recipients of a caller's credentials: no server, unless the configuration maps them to the site behind it.

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

/// Calls a tool of the site with a name and a password there; returns the answer, and the requests that the site
/// received.
async fn asked(
    site: &Site,
    settings: &str,
    value: &str,
    more: Headers<'_>,
    params: &Value,
) -> (Value, Vec<Received>) {
    let server = format!("blog: {{ native: wordpress, site: {{ url: '{}'{settings} }} }}", site.url());
    let state = State::new();
    let config = config(&server, &state, "")
        .replace(&format!("users: {{ ann: '{HASH}' }}"), &format!("site: {{ url: '{}' }}", site.url()));
    let start = Start { config: &config, env: &[("TOKEN", TOKEN)], ..Start::default() };
    let gateway = Gateway::start_with(&start).await;
    let http = gateway.http().showing(value);
    let call = request(1, "tools/call", params);
    let before = site.received().len();
    let answer = http.post("/gateway", more, &call.to_string()).await.bytes().await;
    let answer = serde_json::from_slice(&answer).unwrap_or_default();
    (answer, site.received().split_off(before))
}

/// The requests to the site for a call.
async fn called(
    site: &Site,
    settings: &str,
    value: &str,
    more: Headers<'_>,
    params: &Value,
) -> Vec<Received> {
    asked(site, settings, value, more, params).await.1
}

/// The credentials that the site received in a call.
async fn shown(site: &Site, settings: &str, value: &str, more: Headers<'_>) -> Vec<String> {
    let call = json!({"name": "blog__wp_get_posts", "arguments": {"per_page": 1}});
    let received = called(site, settings, value, more, &call).await;
    let seen: Vec<_> = received.iter().filter(|one| !one.path.contains("users/me")).collect();
    assert!(!seen.is_empty(), "the site is asked");
    seen.iter().map(|one| one.header("authorization").to_owned()).collect()
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
    // Without a mapping, the site sees the configured account, whatever credentials the caller sends.
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

/// A caller that sends unreadable credentials is not treated as the operator.
#[tokio::test]
async fn an_account_that_cannot_be_read_is_not_another_one() {
    let site = site().await;
    let operator = accounts::ADMIN;
    let server = format!(
        "blog: {{ native: wordpress, site: {{ url: '{}', username: '{}', password: '{}', basic: true }} }}",
        site.url(),
        operator.user,
        operator.password,
    );
    let endpoints = "endpoints: [{ path: /gateway, dialect: gateway }]";
    let config = format!("mcpServers: {{ {server} }}\n{endpoints}\n");
    let gateway = Gateway::start_with(&Start { config: &config, ..Start::default() }).await;
    let call = json!({"name": "blog__wp_get_posts", "arguments": {"per_page": 1}});
    let call = request(1, "tools/call", &call).to_string();
    // Not base64, no colon, Latin-1.
    for odd in ["Basic ???", "Basic YW5u", "Basic YW5uOukg"] {
        let answer = gateway.http().showing(odd).post("/gateway", &[], &call).await.text().await;
        assert!(answer.contains("no WordPress credentials: the Authorization header"), "{odd}: {answer}");
    }
    assert!(site.received().is_empty(), "{:?}", site.received());
}

/// A picture of the site itself.
const PICTURE: &str = "/wp-content/uploads/picture.gif";

#[tokio::test]
async fn a_site_is_asked_for_files_only_where_the_configuration_says_so() {
    let site = site().await;
    let own = format!(", username: '{}', password: '{}'", accounts::ADMIN.user, accounts::ADMIN.password);
    let call = json!({"name": "blog__wp_upload_media_from_url", "arguments": {"url": format!("{}{PICTURE}", site.url())}});
    let is_fetch = |one: &&Received| (one.method.as_str(), one.path.as_str()) == ("GET", PICTURE);
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

#[tokio::test]
async fn an_image_is_put_on_its_host_with_a_key_of_its_own() {
    let site = site().await;
    let own = format!(", username: '{}', password: '{}'", accounts::ADMIN.user, accounts::ADMIN.password);
    let there = format!("{own}, headers: true, imageHost: '{}/images/1/'", site.url());
    let call = json!({"name": "blog__upload_to_imgbb", "arguments": {"base64": "R0lGODlh", "name": "dot"}});
    let carried = [("X-Imgbb-Api-Key", "key-of-images")];
    for (settings, more, is_taken) in [
        (format!("{there}, imageKey: key-of-images"), &[][..], true),
        (format!("{there}, imageKey: another"), &carried[..], true),
        (format!("{there}, imageKey: another"), &[][..], false),
        (there.clone(), &[][..], false),
    ] {
        let (answer, received) = asked(&site, &settings, &bearer(TOKEN), more, &call).await;
        let image = answer["result"]["structuredContent"].clone();
        assert_eq!(image.is_object(), is_taken, "{settings}: {answer}");
        let keyless = !settings.contains("imageKey") && more.is_empty();
        let uploads: Vec<_> = received.iter().filter(|one| one.path == "/images/1/upload").collect();
        assert_eq!(
            (uploads.len(), received.len()),
            (usize::from(!keyless), usize::from(!keyless)),
            "{received:?}"
        );
        if is_taken {
            let at = |path: &str| json!(format!("{}{path}", site.url()));
            assert_eq!(image["originalContentUrl"], at("/i/full.png"));
            assert_eq!(image["previewImageUrl"], at("/i/small.png"));
            assert_eq!(image["displayUrl"], at("/i/shown.png"));
            assert!(image["deleteUrl"].as_str().is_some_and(|url| url.contains("2ndCYJK")), "{image}");
            assert!(uploads[0].body.contains("R0lGODlh") && uploads[0].body.contains("dot"));
        } else if !keyless {
            assert!(answer.to_string().contains("Invalid API v1 key."), "{answer}");
        }
        assert!(!answer.to_string().contains("key-of-images"), "{answer}");
        assert!(uploads.iter().all(|one| one.header("authorization").is_empty()), "{uploads:?}");
    }
}

/// A decoded account, with or without the spaces in its password.
fn decoded(value: &str) -> String {
    use base64::Engine as _;
    let encoded = value.strip_prefix("Basic ").unwrap_or_default();
    let bytes = base64::prelude::BASE64_STANDARD.decode(encoded).unwrap_or_default();
    String::from_utf8_lossy(&bytes).replace(' ', "")
}
