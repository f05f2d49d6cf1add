//! Granted consent: the request for it, the access that it gives, and its persistence.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use crate::browser::{begin, cookie, told};
use crate::rig::*;
use crate::support::*;

#[tokio::test]
async fn a_user_consents_and_the_server_is_there() {
    let locked = Locked::start(Habits::default()).await;
    let gateway = gateway(&locked, "").await;
    let client = Legacy::open(gateway.http()).await;
    let answer = client.call("locked__ok", &json!({})).await;
    let url = told(&answer).expect("a page");
    assert!(error_message(&answer).contains("requires the user's consent"), "{answer}");
    assert!(error_message(&answer).contains(&url), "{answer}");
    let url = begin(gateway.http(), &url, "").await;
    assert_eq!(answer["error"]["data"]["server"], "locked");
    // The other servers are available meanwhile.
    let names = tool_names(&client.ask("tools/list", &json!({})).await);
    assert!(names.iter().any(|name| name.starts_with("demo__")), "{names:?}");
    assert!(!names.iter().any(|name| name.starts_with("locked__")), "{names:?}");

    let asked = params(url.split_once('?').expect("a query").1);
    let address = gateway.http().address;
    let own = format!("http://{address}/oauth/issuer/");
    assert!(
        asked["redirect_uri"].starts_with(&own) && asked["redirect_uri"].ends_with("/callback"),
        "{asked:?}"
    );
    assert_eq!((&*asked["client_id"], &*asked["scope"]), ("made-here", "read"));
    assert_eq!(asked["resource"], locked.puppet.url());
    let registered = locked.puppet.heard("a registration", |one| one.path == "/register").await;
    assert_eq!(registered.body["redirect_uris"], json!([asked["redirect_uri"]]));
    assert_eq!(registered.body["application_type"], "native");

    let back = locked.agree(&url);
    let mut reply = gateway.http().get(&back, &[("Cookie", &cookie(&back).expect("a cookie"))]).await;
    assert_eq!((reply.status, reply.header("cache-control")), (200, "no-store"));
    assert_eq!(reply.header("referrer-policy"), "no-referrer");
    assert!(reply.header("content-security-policy").contains("default-src 'none'"));
    let page = reply.text().await;
    assert!(page.contains("locked"), "{page}");
    until_it_answers(&client).await;
    let names = tool_names(&client.ask("tools/list", &json!({})).await);
    assert!(names.contains(&"locked__ok".to_owned()), "{names:?}");

    let requests = locked.token_requests();
    assert_eq!(requests.len(), 1, "{requests:?}");
    let request = &requests[0];
    assert_eq!((&*request["grant_type"], &*request["client_id"]), ("authorization_code", "made-here"));
    assert_eq!(
        (&request["redirect_uri"], &request["resource"]),
        (&asked["redirect_uri"], &asked["resource"])
    );
    assert!(locked.shown().iter().all(|shown| shown.starts_with("Bearer access-")));
}

#[tokio::test]
async fn a_client_without_a_session_is_told_as_well() {
    let locked = Locked::start(Habits::default()).await;
    let gateway = gateway(&locked, "").await;
    let client = Modern::new(gateway.http());
    let answer = client.call("locked__ok", &json!({})).await;
    let url = begin(gateway.http(), &told(&answer).expect("a page"), "").await;
    assert_eq!(come_back(&gateway, &locked.agree(&url)).await.0, 200);
    soon("an answer of the server's tool", async {
        while client.call("locked__ok", &json!({})).await["result"]["content"][0]["text"] != "ok" {}
    })
    .await;
}

#[tokio::test]
async fn consent_outlives_the_gateway_sealed() {
    let locked = Locked::start(Habits::default()).await;
    let state = State::new("outlives");
    let more = state.line();
    let first = gateway(&locked, &more).await;
    consent(&locked, &first, &Legacy::open(first.http()).await).await;
    first.stop().await;
    let mut seen = 0;
    for entry in std::fs::read_dir(state.folder()).expect("the state folder") {
        let path = entry.expect("a file").path();
        let rights = path.metadata().unwrap().permissions().mode();
        assert_eq!(rights & 0o777, 0o600, "{}", path.display());
        seen += 1;
    }
    assert!(seen >= 2, "a file of secrets and one of its key");
    let secrets = locked.secrets();
    state.is_without(&secrets.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(state.sealed_texts() > 0, "the tokens are sealed");
    let second = gateway(&locked, &more).await;
    let client = Legacy::open(second.http()).await;
    until_it_answers(&client).await;
    assert_eq!(locked.token_requests().len(), 1);
}

#[tokio::test]
async fn a_client_that_was_registered_by_hand() {
    let service = json!({"registration_endpoint": null, "token_endpoint_auth_methods_supported": ["client_secret_basic"]});
    let locked = Locked::start(Habits { service, ..Habits::default() }).await;
    let url = locked.puppet.url();
    let issuer = url.replace("/mcp", "/");
    let client = format!("clientId: by-hand, clientSecret: 'se-cret', issuer: '{issuer}', scopes: [a, b]");
    let text = format!(
        "mcpServers: {{ locked: {{ url: '{url}', oauth: {{ {client} }} }} }}\n\
         publicUrl: 'http://localhost:1/gate'\n"
    );
    let gateway = Gateway::start(&text).await;
    let client = Legacy::open(gateway.http()).await;
    let page = page(&client).await;
    let asked = params(page.split_once('?').expect("a query").1);
    assert_eq!((&*asked["client_id"], &*asked["scope"]), ("by-hand", "a b"));
    assert_eq!(asked["redirect_uri"], "http://localhost:1/gate/oauth/callback");
    let back = locked.agree(&page).replace("/gate/", "/");
    assert_eq!(come_back(&gateway, &back).await.0, 200);
    until_it_answers(&client).await;
    let request = locked.puppet.heard("an exchange", |one| one.path == "/token").await;
    assert_eq!(request.headers["authorization"], basic("by-hand", "se-cret"));
    assert!(!request.text.contains("se-cret") && !request.text.contains("client_id"), "{}", request.text);
}

#[tokio::test]
async fn a_server_that_is_its_own_authorization_server_without_saying_so() {
    let instead =
        [("/.well-known/oauth-protected-resource/mcp", Said::Status(404, "text/plain", String::new()))];
    let habits = Habits { challenge: "realm=\"x\"".to_owned(), instead: instead.into(), ..Habits::default() };
    let locked = Locked::start(habits).await;
    let gateway = gateway(&locked, "").await;
    consent(&locked, &gateway, &Legacy::open(gateway.http()).await).await;
}
