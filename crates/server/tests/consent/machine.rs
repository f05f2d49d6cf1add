//! Tokens for the gateway itself: requested when the server refuses, shared by all callers, renewed, and refused.

use serde_json::json;

use crate::apart::{by, users};
use crate::browser::told;
use crate::rig::*;
use crate::support::*;

/// The secret of the gateway's client.
const SECRET: &str = "a-client-secret-0123456789";

/// A configuration in which the gateway is the client `robot` of the server's authorization server.
fn machine(locked: &Locked, more: &str) -> String {
    let issuer = locked.puppet.url().replace("/mcp", "");
    let oauth = format!(
        "oauth: {{ grant: clientCredentials, clientId: robot, clientSecret: '{SECRET}', issuer: '{issuer}', scopes: [read] }}"
    );
    format!(
        "mcpServers: {{ locked: {{ url: '{}', {oauth} }}, demo: {{ native: demo }} }}\n{more}\n",
        locked.puppet.url()
    )
}

async fn called(client: &Legacy) -> String {
    let answer = client.call("locked__ok", &json!({})).await;
    assert_eq!(told(&answer), None, "nobody is asked for consent");
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| error_message(&answer)).to_owned()
}

#[tokio::test]
async fn one_token_for_all_callers_and_no_user_is_asked() {
    for (methods, header) in [(json!(null), true), (json!(["client_secret_post"]), false)] {
        let service = json!({
            "token_endpoint_auth_methods_supported": methods, "authorization_endpoint": null,
            "code_challenge_methods_supported": null, "registration_endpoint": null,
        });
        let locked = Locked::start(Habits { service, ..Habits::default() }).await;
        let config = machine(&locked, &users());
        let gateway = Gateway::start(&config).await;
        let (ann, bob) = (Legacy::open(by(&gateway, "ann")).await, Legacy::open(by(&gateway, "bob")).await);
        assert_eq!((called(&ann).await, called(&bob).await), ("ok".to_owned(), "ok".to_owned()));
        let requests = locked.token_requests();
        assert_eq!(requests.len(), 1, "{requests:?}");
        let form = &requests[0];
        assert_eq!(form["grant_type"], "client_credentials");
        assert_eq!((&form["scope"], &form["resource"]), (&"read".to_owned(), &locked.puppet.url()));
        let shown = locked.puppet.received().into_iter().find(|one| one.path == "/token").expect("a request");
        let authorization = shown.header("authorization").unwrap_or_default();
        if header {
            assert_eq!(authorization, basic("robot", SECRET));
            assert!(!form.contains_key("client_secret"), "{form:?}");
        } else {
            assert_eq!((&*form["client_id"], &*form["client_secret"], authorization), ("robot", SECRET, ""));
        }
        // The terminal gets a token of its own.
        let listed =
            run_to_end("list", &Start { config: &config, args: &["locked"], ..Start::default() }).await;
        assert!(listed.out.contains("ok"), "{} {}", listed.out, listed.err);
        assert_eq!(locked.token_requests().len(), 2);
        let log = gateway.log().text();
        for secret in locked.secrets().iter().map(String::as_str).chain([SECRET]) {
            assert!(!log.contains(secret), "{log}");
        }
    }
}

#[tokio::test]
async fn each_process_gets_a_token_of_its_own() {
    let locked = Locked::start(Habits::default()).await;
    let state = State::new("machine");
    let config = machine(&locked, &state.line());
    for process in 1..=2 {
        let gateway = Gateway::start(&config).await;
        assert_eq!(called(&Legacy::open(gateway.http()).await).await, "ok");
        assert_eq!(locked.token_requests().len(), process);
        gateway.stop().await;
        // Tokens are not stored, not even sealed.
        assert_eq!(state.sealed_texts(), 0);
        let secrets = locked.secrets();
        assert!(!secrets.is_empty(), "a token was issued");
        state.is_without(&secrets.iter().map(String::as_str).chain([SECRET]).collect::<Vec<_>>());
    }
    let given = locked.shown();
    assert!(given.iter().all(|token| token.starts_with("Bearer access-")), "{given:?}");
}

#[tokio::test]
async fn a_token_is_renewed_before_its_end_although_nobody_calls() {
    let locked = Locked::start(Habits { life: 4, ..Habits::default() }).await;
    let gateway = Gateway::start(&machine(&locked, "")).await;
    let client = Legacy::open(gateway.http()).await;
    assert_eq!(called(&client).await, "ok");
    soon("two more tokens", async {
        while locked.token_requests().len() < 3 {
            locked.puppet.was_sent("POST", 3).await;
        }
    })
    .await;
    assert!(locked.token_requests().iter().all(|form| form["grant_type"] == "client_credentials"));
    assert_eq!(called(&client).await, "ok");
}

#[tokio::test]
async fn a_server_that_no_token_satisfies_is_not_asked_without_end() {
    let refusal = raw(401, "WWW-Authenticate: Bearer error=\"invalid_token\"\r\n", "");
    let locked = Locked::start(Habits { instead: [("/mcp", refusal)].into(), ..Habits::default() }).await;
    let gateway = Gateway::start(&machine(&locked, "")).await;
    let client = Legacy::open(gateway.http()).await;
    for _ in 0..5 {
        assert!(called(&client).await.contains("HTTP 401"), "it stays refused");
    }
    assert_eq!(locked.token_requests().len(), 1);
}

#[tokio::test]
async fn what_the_authorization_server_says_is_told() {
    let refused = json!({"error": "invalid_client", "error_description": "no such robot"}).to_string();
    let said = Said::Status(401, "application/json", refused);
    let locked = Locked::start(Habits { instead: [("/token", said)].into(), ..Habits::default() }).await;
    let gateway = Gateway::start(&machine(&locked, "")).await;
    let client = Legacy::open(gateway.http()).await;
    for _ in 0..3 {
        let message = called(&client).await;
        assert!(message.contains("Dragoman got none: authorization server"), "{message}");
        assert!(message.contains("invalid_client: no such robot") && !message.contains(SECRET), "{message}");
    }
    assert_eq!(locked.token_requests().len(), 1, "a failed request is not repeated at once");
}

#[tokio::test]
async fn the_secret_goes_to_no_other_authorization_server() {
    let other = Locked::start(Habits::default()).await;
    let evil = other.puppet.url().replace("/mcp", "");
    let resource = json!({"authorization_servers": [evil]});
    let locked = Locked::start(Habits { resource, ..Habits::default() }).await;
    let gateway = Gateway::start(&machine(&locked, "")).await;
    let message = called(&Legacy::open(gateway.http()).await).await;
    assert!(message.contains("other than the configured"), "{message}");
    assert!(other.puppet.received().is_empty() && locked.token_requests().is_empty());
}
