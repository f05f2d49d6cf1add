//! Tests of the management of consents, with an authorization server on a socket.

use std::net::Ipv4Addr;
use std::time::Duration;

use config::{OAuthClient, OAuthGrant, Text};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use transport::net::client::Route;
use transport::up::CredentialRefusal;

use super::*;

/// A server that is its own authorization server. It grants every request; each token has a different number.
pub(super) async fn server() -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let own = base.clone();
    tokio::spawn(async move {
        for number in 1.. {
            let Ok((stream, _)) = listener.accept().await else { return };
            answer(stream, &own, number).await;
        }
    });
    base
}

async fn answer(mut stream: TcpStream, base: &str, number: u32) -> Option<()> {
    let (mut text, mut chunk) = (String::new(), [0; 4096]);
    let is_whole = |text: &str| {
        let (head, body) = text.split_once("\r\n\r\n")?;
        let length = head.to_ascii_lowercase().split("content-length: ").nth(1)?.lines().next()?.parse().ok();
        Some(body.len() >= length.unwrap_or(0))
    };
    while !(is_whole(&text) == Some(true) || (text.starts_with("GET") && text.ends_with("\r\n\r\n"))) {
        let count = stream.read(&mut chunk).await.ok().filter(|count| *count > 0)?;
        text.push_str(std::str::from_utf8(&chunk[..count]).ok()?);
    }
    let path = text.split(' ').nth(1)?;
    let body = match path {
        "/.well-known/oauth-authorization-server" => json!({
            "issuer": base, "authorization_endpoint": format!("{base}/authorize"), "token_endpoint": format!("{base}/token"),
            "registration_endpoint": format!("{base}/register"), "code_challenge_methods_supported": ["S256"],
        }),
        "/register" => json!({"client_id": "me"}),
        "/token" => json!({
            "access_token": format!("a{number}"), "token_type": "Bearer", "refresh_token": format!("r{number}"), "expires_in": 60,
            "scope": "read",
        }),
        _ => {
            stream
                .write_all(b"HTTP/1.1 404 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                .await
                .ok()?;
            return None;
        }
    };
    let (body, head) =
        (body.to_string(), "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close");
    let length = body.len();
    stream.write_all(format!("{head}\r\nContent-Length: {length}\r\n\r\n{body}").as_bytes()).await.ok()
}

/// The settings of a grant for a server at `url`.
pub(super) fn settings(url: &str, client: OAuthClient) -> GrantSettings {
    GrantSettings { url: format!("{url}/mcp").parse().unwrap(), client, route: Route::default() }
}

/// The path to which browsers return from this server.
pub(super) fn own_path(issuer: &str) -> String {
    redirect::issuer_path(issuer)
}

/// Opens the page; returns the URL of the authorization server's page, the `state` in that URL, and the cookie.
pub(super) fn begin(consents: &Consents, page: &Page) -> (String, String, String) {
    let onward = consents.go_on(page.entry()).unwrap();
    let pairs = form::pairs(onward.url.split_once('?').unwrap().1);
    let state = pairs.into_iter().find(|(name, _)| name == "state").unwrap().1;
    (onward.url, state, onward.cookie)
}

#[tokio::test]
async fn a_consent_is_begun_looked_at_renewed_and_taken_back() {
    let url = server().await;
    let consents = Consents::new(None, Duration::from_secs(5));
    let name: Arc<str> = "tickets".into();
    let grant = consents.enter(&name, None, settings(&url, OAuthClient::default()));
    assert_eq!(consents.start("other", None).await, Err(ConsentFault::NoServer));
    // Without an address to return to, no browser is redirected.
    let Err(ConsentFault::NobodyAsked(why)) = consents.start("tickets", None).await else {
        panic!("somebody was asked")
    };
    assert!(why.contains("dragoman serve"), "{why}");

    consents.serve_at(Some("http://127.0.0.1:1".to_owned()));
    let none = Status { given: false, wanted: false, scopes: Vec::new(), ends: None, renewable: false };
    assert_eq!(consents.status("tickets", None).await, Ok(none));
    // A failed search is not repeated so soon; the grant of a reconfigured server does not know of the failure.
    let fresh = Grant::new((&name, None), settings(&url, OAuthClient::default()), grant.around.clone());
    let fresh = Arc::new(fresh);
    consents.grants.lock().push(Arc::downgrade(&fresh));
    let page = consents.start("tickets", None).await.unwrap();
    assert!(page.url.starts_with("http://127.0.0.1:1/oauth/consent/"), "{}", page.url);
    let (onward, state, cookie) = begin(&consents, &page);
    assert!(onward.starts_with(&format!("{url}/authorize?")), "{onward}");
    assert!(consents.status("tickets", None).await.unwrap().wanted);
    assert_eq!(consents.refresh("tickets", None).await, Err(ConsentFault::NoRefreshToken));

    assert_eq!(
        consents.finish((&own_path(&url), &format!("code=c&state={state}")), &[&cookie]).await,
        Ok((name, None))
    );
    let status = consents.status("tickets", None).await.unwrap();
    assert_eq!((status.given, status.wanted, status.renewable), (true, false, true));
    assert_eq!(status.scopes, ["read"]);
    assert!(status.ends.is_some_and(|ends| ends > grant::unix()));
    let first = fresh.credential().get().unwrap();
    assert!(first.to_str().unwrap().starts_with("Bearer a"));
    consents.refresh("tickets", None).await.unwrap();
    assert_ne!(fresh.credential().get().unwrap(), first);

    assert_eq!(consents.forget("tickets", None).await, Ok(true));
    assert_eq!(consents.forget("tickets", None).await, Ok(false));
    assert_eq!(fresh.credential().get(), None);
    assert!(!consents.status("tickets", None).await.unwrap().given);
}

#[tokio::test]
async fn a_grant_whose_server_is_configured_otherwise_leaves_what_is_kept_to_the_next() {
    let url = server().await;
    let consents = Consents::new(None, Duration::from_secs(5));
    consents.serve_at(Some("http://127.0.0.1:1".to_owned()));
    let name: Arc<str> = "tickets".into();
    let enter = |config| consents.enter(&name, None, settings(&url, config));
    let old = enter(OAuthClient::default());
    let (_, first, cookie) = begin(&consents, &consents.start("tickets", None).await.unwrap());
    let finished = consents.finish((&own_path(&url), &format!("code=c&state={first}")), &[&cookie]).await;
    assert_eq!(finished, Ok((name.clone(), None)));
    let shown = old.credential().get();
    assert!(shown.is_some());
    old.known.lock().held.as_mut().unwrap().tokens.renew = Some(0);
    assert!(old.is_due(grant::unix()));
    // A page that is open when the grant is retired is no longer valid.
    let (_, second, cookie) = begin(&consents, &consents.start("tickets", None).await.unwrap());

    let new = enter(OAuthClient { scopes: vec!["read".to_owned()], ..OAuthClient::default() });
    old.leave();
    assert!(!old.is_due(grant::unix()));
    assert!(matches!(old.renew().await, Err(ConsentFault::RefreshFailed { for_good: false, .. })));
    let finished = consents.finish((&own_path(&url), &format!("code=c&state={second}")), &[&cookie]).await;
    assert_eq!(finished, Err((ConsentFault::UnknownState, None)));
    assert_eq!(old.credential().get(), shown, "what runs may end with it");
    assert!(old.drop_tokens().await);
    // The new grant has the stored tokens, and only it exchanges them.
    assert!(consents.status("tickets", None).await.unwrap().given);
    assert_eq!(new.credential().get(), shown);
    assert_eq!(consents.refresh("tickets", None).await, Ok(()));
    assert_ne!(new.credential().get(), shown);
}

#[tokio::test]
async fn what_another_authorization_server_gave_is_nothing_to_the_one_of_the_configuration() {
    let url = server().await;
    let consents = Consents::new(None, Duration::from_secs(5));
    consents.serve_at(Some("http://127.0.0.1:1".to_owned()));
    let name: Arc<str> = "tickets".into();
    let enter = |issuer: &str| {
        let config = OAuthClient { issuer: Some(issuer.to_owned()), ..OAuthClient::default() };
        consents.enter(&name, None, settings(&url, config))
    };
    let _own = enter(&url);
    let page = consents.start("tickets", None).await.unwrap();
    let (_, state, cookie) = begin(&consents, &page);
    let finished = consents.finish((&own_path(&url), &format!("code=c&state={state}")), &[&cookie]).await;
    assert_eq!(finished, Ok((name.clone(), None)));
    let _other = enter("https://id.example.com");
    assert!(!consents.status("tickets", None).await.unwrap().given);
    let Err(ConsentFault::NobodyAsked(why)) = consents.start("tickets", None).await else {
        panic!("somebody was asked")
    };
    assert!(why.contains("oauth.issuer"), "{why}");
    let _again = enter(&url);
    assert!(consents.status("tickets", None).await.unwrap().given);
}

#[tokio::test]
async fn a_client_of_its_own_gets_a_token_and_replaces_one_that_was_good_before() {
    let url = server().await;
    let consents = Consents::new(None, Duration::from_secs(5));
    let client = OAuthClient {
        grant: OAuthGrant::ClientCredentials,
        client_id: Some(Text::plain("me")),
        client_secret: Some(Text::plain("mine")),
        issuer: Some(url.clone()),
        ..OAuthClient::default()
    };
    let grant = consents.enter(&"tickets".into(), None, settings(&url, client));
    let refusal = |shown| CredentialRefusal {
        status: 401,
        challenge: "Bearer".to_owned(),
        body: String::new(),
        shown,
        is_from_near: false,
    };
    assert!(grant.answer(&refusal(None)).await);
    let first = grant.credential().get();
    assert!(first.is_some());
    // A request that was sent without a token can be sent again with this one.
    assert!(grant.answer(&refusal(None)).await);
    assert_eq!(grant.credential().get(), first);
    // The server refuses a token that was just issued: another one would not help.
    assert!(!grant.answer(&refusal(first.clone())).await);
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(11)).await;
    tokio::time::resume();
    assert!(grant.answer(&refusal(first.clone())).await);
    assert_ne!(grant.credential().get(), first);
    assert!(!grant.is_wanted() && grant.page().is_none(), "no user is asked");
}
