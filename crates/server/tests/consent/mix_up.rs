//! Mix-up attacks (RFC 9700, 4.4): a hostile authorization server redirects a user's browser to an honest one, which does not
//! name itself in its answer, so the honest one's code arrives with the hostile one's `state`.

use serde_json::json;

use crate::browser::{begin, told};
use crate::rig::*;
use crate::support::*;

/// Calls a server's tool until the client gets the URL for consent, and begins there.
async fn page_of(client: &Legacy, server: &str) -> String {
    soon("a page where consent is given", async {
        loop {
            let answer = client.call(&format!("{server}__ok"), &json!({})).await;
            if let Some(url) = told(&answer) {
                return begin(client.http, &url, "").await;
            }
        }
    })
    .await
}

fn query(page: &str) -> std::collections::HashMap<String, String> {
    params(page.split_once('?').expect("a query").1)
}

/// The URL at the honest authorization server to which the hostile one redirects a browser that has opened `evil_page`.
fn redirected(honest: &Locked, honest_page: &str, evil_page: &str) -> String {
    let (own, evil) = (query(honest_page), query(evil_page));
    format!(
        "{}?response_type=code&client_id={}&redirect_uri={}&state={}&code_challenge={}&code_challenge_method=S256&resource={}",
        honest.puppet.url().replace("/mcp", "/authorize"),
        own["client_id"],
        own["redirect_uri"],
        evil["state"],
        evil["code_challenge"],
        own["resource"],
    )
}

fn is_untouched(evil: &Locked) -> bool {
    evil.puppet.received().iter().all(|sent| sent.path != "/token")
}

#[tokio::test]
async fn a_code_never_reaches_another_issuer() {
    let (honest, evil) = (Locked::start(Habits::default()).await, Locked::start(Habits::default()).await);
    let text =
        format!("mcpServers: {{ locked: {}, evil: {} }}\n", honest.puppet.config(), evil.puppet.config());
    let gateway = Gateway::start(&text).await;
    let client = Legacy::open(gateway.http()).await;
    let honest_page = page(&client).await;
    let evil_page = page_of(&client, "evil").await;
    let back = honest.agree(&redirected(&honest, &honest_page, &evil_page));
    let (status, said) = come_back(&gateway, &back).await;
    assert!(is_untouched(&evil), "the code and its verifier were sent: {:?}", evil.token_requests());
    assert_eq!(status, 400, "{said}");
    assert!(said.contains("another authorization server"), "{said}");
    // Nothing else is affected: consent to both works as it should.
    assert_ne!(redirect_path(&honest_page), redirect_path(&evil_page));
    assert_eq!(come_back(&gateway, &honest.agree(&honest_page)).await.0, 200);
    until_it_answers(&client).await;
    let again = page_of(&client, "evil").await;
    assert_eq!(redirect_path(&again), redirect_path(&evil_page), "an issuer's path is always the same");
    assert_eq!(come_back(&gateway, &evil.agree(&again)).await.0, 200);
}

/// Nested paths would be unsafe: some authorization servers redirect a client to any path below the registered URL.
#[tokio::test]
async fn no_redirect_is_below_another() {
    let (honest, evil) = (Locked::start(Habits::default()).await, Locked::start(Habits::default()).await);
    let text =
        format!("mcpServers: {{ locked: {}, evil: {} }}\n", honest.puppet.config(), evil.puppet.config());
    let gateway = Gateway::start(&text).await;
    let client = Legacy::open(gateway.http()).await;
    let own = [redirect_path(&page(&client).await), redirect_path(&page_of(&client, "evil").await)];
    assert!(!own[0].starts_with(&own[1]) && !own[1].starts_with(&own[0]), "{own:?}");
    assert!(own.iter().all(|path| !path.starts_with("/oauth/callback")), "{own:?}");
    // Paths of unknown issuers lead nowhere, and do not consume an open request.
    let asked = page(&client).await;
    let good = honest.agree(&asked);
    let at = good.find('?').expect("a query");
    for path in ["/oauth/issuer/x/callback", "/oauth/issuer//callback", "/oauth/issuer/", "/oauth/callbacks"]
    {
        let (status, said) = come_back(&gateway, &format!("{path}{}", &good[at..])).await;
        assert_eq!(status, 404, "{path}: {said}");
    }
    assert_eq!(come_back(&gateway, &good).await.0, 200);
}

#[tokio::test]
async fn clients_registered_by_hand_need_iss_where_there_are_several() {
    let (honest, evil) = (Locked::start(Habits::default()).await, Locked::start(Habits::default()).await);
    let issuer = honest.puppet.url().replace("/mcp", "");
    let text = format!(
        "mcpServers:\n  locked: {{ url: '{}', oauth: {{ clientId: one, issuer: '{issuer}' }} }}\n  \
         evil: {{ url: '{}', oauth: {{ clientId: two }} }}\n",
        honest.puppet.url(),
        evil.puppet.url()
    );
    let gateway = Gateway::start(&text).await;
    let client = Legacy::open(gateway.http()).await;
    let honest_page = page(&client).await;
    assert_eq!(redirect_path(&honest_page), "/oauth/callback");
    for named in [String::new(), format!("&iss={issuer}")] {
        let evil_page = page_of(&client, "evil").await;
        let back = honest.agree(&redirected(&honest, &honest_page, &evil_page));
        let (status, said) = come_back(&gateway, &format!("{back}{named}")).await;
        assert!(is_untouched(&evil), "the code and its verifier were sent: {:?}", evil.token_requests());
        assert_eq!(status, 400, "{said}");
        if named.is_empty() {
            assert!(said.contains("iss") && said.contains("issuerCallback"), "{said}");
        }
    }
    // The honest server without `iss` is also refused; with `iss`, it is accepted.
    assert_eq!(come_back(&gateway, &honest.agree(&honest_page)).await.0, 400);
    assert!(honest.token_requests().is_empty());
    let back = honest.agree(&page(&client).await);
    assert_eq!(come_back(&gateway, &format!("{back}&iss={issuer}")).await.0, 200);
}

#[tokio::test]
async fn a_client_registered_by_hand_can_have_its_issuers_path() {
    let (one, two) = (Locked::start(Habits::default()).await, Locked::start(Habits::default()).await);
    let text = format!(
        "mcpServers:\n  locked: {{ url: '{}', oauth: {{ clientId: one, issuerCallback: true }} }}\n  \
         other: {{ url: '{}', oauth: {{ clientId: two }} }}\n",
        one.puppet.url(),
        two.puppet.url()
    );
    let gateway = Gateway::start(&text).await;
    let client = Legacy::open(gateway.http()).await;
    let (first, second) = (page(&client).await, page_of(&client, "other").await);
    assert!(redirect_path(&first).starts_with("/oauth/issuer/"), "{first}");
    assert_eq!(redirect_path(&second), "/oauth/callback");
    assert_eq!(come_back(&gateway, &one.agree(&first)).await.0, 200);
    assert_eq!(come_back(&gateway, &two.agree(&second)).await.0, 200);
}
