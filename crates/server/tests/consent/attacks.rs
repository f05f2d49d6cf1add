//! Attacks by hostile browsers, servers and authorization servers, and their results.

use serde_json::{Value, json};
use tokio::sync::watch;

use crate::browser::{begin, told};
use crate::rig::*;
use crate::support::*;

/// Checks that no page for consent is offered for a server with these habits, that the reason is reported, and
/// that the other servers are available.
async fn nobody_is_asked(habits: Habits, why: &str) -> (Locked, Gateway) {
    let locked = Locked::start(habits).await;
    let gateway = gateway(&locked, "").await;
    let client = Legacy::open(gateway.http()).await;
    let answer = client.call("locked__ok", &json!({})).await;
    assert!(error_message(&answer).contains(why), "{why}: {answer}");
    assert_eq!(answer["error"]["data"].get("authorizationUrl"), None, "{answer}");
    let sum = client.call("demo__add", &json!({"a": 1, "b": 2})).await;
    assert!(sum.get("result").is_some(), "{sum}");
    (locked, gateway)
}

#[tokio::test]
async fn browsers_that_bring_what_was_not_asked_for() {
    let locked = Locked::start(Habits::default()).await;
    let gateway = gateway(&locked, "").await;
    let client = Legacy::open(gateway.http()).await;
    let page = page(&client).await;
    let good = locked.agree(&page);
    let state = &params(good.split_once('?').expect("a query").1)["state"];
    let path = redirect_path(&page);
    let (shorter, other) = (&state[1..], state.chars().rev().collect::<String>());
    for bad in [
        String::new(),
        "?".to_owned(),
        "?code=x".to_owned(),
        "?code=x&state=".to_owned(),
        format!("?code=x&state={shorter}"),
        format!("?code=x&state={state}x"),
        format!("?code=x&state={other}"),
        format!("?code=x&state={state}&state={state}"),
        format!("?code=x&code=y&state={state}"),
        format!("?code={}&state=x", "y".repeat(20_000)),
    ] {
        let (status, said) = come_back(&gateway, &format!("{path}{bad}")).await;
        assert_eq!(status, 400, "{bad}: {said}");
        assert!(said.contains("is unknown"), "{bad}: {said}");
    }
    assert_eq!(gateway.http().post(&good, &[], "").await.status, 405);
    assert_eq!(locked.token_requests().len(), 0);
    assert_eq!(come_back(&gateway, &good).await.0, 200);
    // The second use is refused.
    assert_eq!(come_back(&gateway, &good).await.0, 400);
    assert_eq!(locked.token_requests().len(), 1);
}

#[tokio::test]
async fn a_user_who_says_no() {
    let locked = Locked::start(Habits::default()).await;
    let gateway = gateway(&locked, "").await;
    let client = Legacy::open(gateway.http()).await;
    let first = page(&client).await;
    let path = redirect_path(&first);
    let state = params(first.split_once('?').expect("a query").1)["state"].clone();
    let evil = "%3Cscript%3Ealert(1)%3C%2Fscript%3E";
    let back = format!("{path}?error=access_denied&error_description={evil}&state={state}");
    let (status, said) = come_back(&gateway, &back).await;
    assert_eq!(status, 403);
    assert!(said.contains("access_denied") && !said.contains("<script>"), "{said}");
    assert_eq!(come_back(&gateway, &format!("{path}?state={state}&code=x")).await.0, 400);
    let second = page(&client).await;
    assert_ne!(first, second);
    let state = params(second.split_once('?').expect("a query").1)["state"].clone();
    let (status, said) = come_back(&gateway, &format!("{path}?state={state}")).await;
    assert_eq!((status, said.contains("no authorization code")), (400, true), "{said}");
    assert_eq!(locked.token_requests().len(), 0);
    consent(&locked, &gateway, &client).await;
}

#[tokio::test]
async fn an_answer_from_another_authorization_server() {
    let service = json!({"authorization_response_iss_parameter_supported": true});
    let locked = Locked::start(Habits { service, ..Habits::default() }).await;
    let gateway = gateway(&locked, "").await;
    let client = Legacy::open(gateway.http()).await;
    let issuer = locked.puppet.url().replace("/mcp", "");
    for bad in ["", "&iss=https%3A%2F%2Fevil.example", "&iss=", &format!("&iss={issuer}/")] {
        let back = locked.agree(&page(&client).await);
        let (status, said) = come_back(&gateway, &format!("{back}{bad}")).await;
        assert_eq!(status, 400, "{bad}");
        assert!(said.contains("does not come from the authorization server"), "{bad}: {said}");
    }
    assert_eq!(locked.token_requests().len(), 0);
    let back = locked.agree(&page(&client).await);
    assert_eq!(come_back(&gateway, &format!("{back}&iss={issuer}")).await.0, 200);
}

#[tokio::test]
async fn metadata_that_do_not_fit() {
    let resource = |value: Value| Habits { resource: value, ..Habits::default() };
    let service = |value: Value| Habits { service: value, ..Habits::default() };
    for (habits, why) in [
        (resource(json!({"resource": "https://mail.example.com/mcp"})), "another resource"),
        (resource(json!({"resource": null})), "not the metadata of a resource"),
        (resource(json!({"authorization_servers": []})), "does not name an authorization server"),
        (
            resource(json!({"authorization_servers": ["http://169.254.169.254/latest"]})),
            "must be an https URL",
        ),
        (service(json!({"issuer": "https://evil.example"})), "another issuer"),
        (service(json!({"code_challenge_methods_supported": null})), "PKCE"),
        (service(json!({"token_endpoint": "http://10.0.0.1/token"})), "not an https URL"),
        (service(json!({"authorization_endpoint": "javascript:alert(1)"})), "not an https URL"),
        (service(json!({"registration_endpoint": null})), "does not support client registration"),
    ] {
        let (locked, _gateway) = nobody_is_asked(habits, why).await;
        assert!(locked.shown().is_empty());
    }
}

#[tokio::test]
async fn addresses_that_lead_elsewhere() {
    let elsewhere = Puppet::start(|_, _| Said::Status(200, "application/json", "{}".to_owned())).await;
    let place = "/.well-known/oauth-protected-resource/mcp";
    let to = |url: &str| raw(302, &format!("Location: {url}\r\n"), "");
    for (said, why) in [
        (to("http://169.254.169.254/latest/meta-data"), "must be an https URL"),
        (to("ftp://127.0.0.1/x"), "must be an https URL"),
        (to("//evil.example/x"), "not to a valid URL"),
        (to(place), "redirects too often"),
    ] {
        nobody_is_asked(Habits { instead: [(place, said)].into(), ..Habits::default() }, why).await;
    }
    // A form with a code is valid for a single address.
    let instead = [("/token", raw(307, &format!("Location: {}\r\n", elsewhere.url()), ""))];
    let locked = Locked::start(Habits { instead: instead.into(), ..Habits::default() }).await;
    let gateway = gateway(&locked, "").await;
    let back = locked.agree(&page(&Legacy::open(gateway.http()).await).await);
    let (status, said) = come_back(&gateway, &back).await;
    assert_eq!((status, said.contains("status 307")), (502, true), "{said}");
    assert!(elsewhere.received().is_empty());
}

#[tokio::test]
async fn token_endpoints_that_answer_badly() {
    let (_flood, endless) = watch::channel((b"x".repeat(300 * 1024), false));
    let json = |body: &str| Said::Status(200, "application/json", body.to_owned());
    for (said, why) in [
        (Said::Status(200, "text/html", "<html>login</html>".to_owned()), "no token"),
        (json("{\"access_token\":\"a\\r\\nX-Evil: 1\",\"token_type\":\"Bearer\"}"), "no token"),
        (json("{\"access_token\":\"a\",\"token_type\":\"mac\"}"), "not bearer tokens"),
        (Said::Status(500, "text/plain", "boom".to_owned()), "status 500"),
        (Said::Status(400, "application/json", "{\"error\":\"invalid_grant\"}".to_owned()), "invalid_grant"),
        (raw(200, "Content-Length: 2147483648\r\n", ""), "127.0.0.1"),
        (Said::Stream(endless), "127.0.0.1"),
        (Said::Raw(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{".to_vec()), "127.0.0.1"),
    ] {
        let locked = Locked::start(Habits { instead: [("/token", said)].into(), ..Habits::default() }).await;
        let gateway = gateway(&locked, "").await;
        let client = Legacy::open(gateway.http()).await;
        let (status, text) = come_back(&gateway, &locked.agree(&page(&client).await)).await;
        assert_eq!(status, 502, "{why}: {text}");
        assert!(text.contains(why), "{why}: {text}");
        assert!(peak_memory(gateway.pid()) < 200 << 20);
        // Consent is still required.
        page(&client).await;
        assert!(locked.shown().is_empty(), "{:?}", locked.shown());
    }
}

#[tokio::test]
async fn a_token_endpoint_that_never_answers_holds_up_nobody() {
    let instead = [("/token", Said::Hold(Vec::new()))];
    let locked = Locked::start(Habits { instead: instead.into(), ..Habits::default() }).await;
    let gateway = gateway(&locked, "").await;
    let client = Legacy::open(gateway.http()).await;
    let back = locked.agree(&page(&client).await);
    let waiting = come_back(&gateway, &back);
    let others = async {
        locked.puppet.heard("the code", |one| one.path == "/token").await;
        let sum = client.call("demo__add", &json!({"a": 1, "b": 2})).await;
        assert!(sum.get("result").is_some(), "{sum}");
    };
    let ((status, said), ()) = tokio::join!(waiting, others);
    assert_eq!((status, said.contains("in time")), (502, true), "{said}");
}

#[tokio::test]
async fn a_token_is_shown_to_the_server_that_it_is_for_and_to_no_other() {
    let one = Locked::start(Habits::default()).await;
    // Another server names the same authorization server.
    let issuer = one.puppet.url().replace("/mcp", "");
    let resource = json!({"authorization_servers": [issuer]});
    let other = Locked::start(Habits { resource, ..Habits::default() }).await;
    let text =
        format!("mcpServers: {{ locked: {}, other: {} }}\n", one.puppet.config(), other.puppet.config());
    let gateway = Gateway::start(&text).await;
    let client = Legacy::open(gateway.http()).await;
    consent(&one, &gateway, &client).await;
    let answer = client.call("other__ok", &json!({})).await;
    let url = begin(gateway.http(), &told(&answer).expect("a page of its own"), "").await;
    assert_eq!(params(url.split_once('?').expect("a query").1)["resource"], other.puppet.url());
    assert!(other.shown().is_empty(), "{:?}", other.shown());
    assert!(other.puppet.received().iter().all(|sent| !sent.headers.contains_key("authorization")));
}

#[tokio::test]
async fn a_secret_of_the_configuration_is_for_one_authorization_server_alone() {
    let curious = Puppet::start(|_, _| Said::Status(200, "application/json", "{}".to_owned())).await;
    let resource = json!({"authorization_servers": [curious.url().replace("/mcp", "")]});
    let locked = Locked::start(Habits { resource, ..Habits::default() }).await;
    let url = locked.puppet.url();
    let issuer = url.replace("/mcp", "");
    let client = format!("clientId: by-hand, clientSecret: 'se-cret-1234', issuer: '{issuer}'");
    let text = format!("mcpServers: {{ locked: {{ url: '{url}', oauth: {{ {client} }} }} }}\n");
    let gateway = Gateway::start(&text).await;
    let answer = Legacy::open(gateway.http()).await.call("locked__ok", &json!({})).await;
    assert!(error_message(&answer).contains("oauth.issuer"), "{answer}");
    assert_eq!(answer["error"]["data"].get("authorizationUrl"), None, "{answer}");
    assert!(curious.received().is_empty(), "{:?}", curious.received());
}

#[tokio::test]
async fn a_server_that_refuses_every_token_is_not_asked_for_ever() {
    let locked = Locked::start(Habits { no_refresh: true, ..Habits::default() }).await;
    let gateway = gateway(&locked, "").await;
    let client = Legacy::open(gateway.http()).await;
    let back = locked.agree(&page(&client).await);
    let waiting = come_back(&gateway, &back);
    let spoiling = async {
        locked.puppet.heard("the code", |one| one.path == "/token").await;
        locked.expire_tokens();
    };
    let ((status, _), ()) = tokio::join!(waiting, spoiling);
    assert_eq!(status, 200);
    page(&client).await;
    assert_eq!(locked.token_requests().len(), 1);
}
