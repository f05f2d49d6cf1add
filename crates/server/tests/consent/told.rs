//! Messages about consent: their recipients, and information that nobody gets.

use serde_json::json;

use crate::browser::{begin, cookie};
use crate::rig::*;
use crate::support::*;

#[tokio::test]
async fn a_client_that_opens_pages_is_given_the_page() {
    let locked = Locked::start(Habits::default()).await;
    let gateway = gateway(&locked, "").await;
    let can = json!({"elicitation": {"form": {}, "url": {}}});
    let client = Legacy::open_at(gateway.http(), "/mcp", LEGACY, &can).await;
    let answer = client.call("locked__ok", &json!({})).await;
    assert_eq!(error_code(&answer), -32042, "{answer}");
    let asked = &answer["error"]["data"]["elicitations"][0];
    assert_eq!((&asked["mode"], asked["elicitationId"].is_string()), (&json!("url"), true), "{answer}");
    let url = asked["url"].as_str().expect("a page");
    let url = begin(gateway.http(), url, "").await;
    assert_eq!(come_back(&gateway, &locked.agree(&url)).await.0, 200);
    until_it_answers(&client).await;
    // A client that supports only forms reads the URL in a text.
    let locked = Locked::start(Habits::default()).await;
    let gateway = self::gateway(&locked, "").await;
    let can = json!({"elicitation": {"form": {}}});
    let client = Legacy::open_at(gateway.http(), "/mcp", LEGACY, &can).await;
    let answer = client.call("locked__ok", &json!({})).await;
    assert_ne!(error_code(&answer), -32042, "{answer}");
    assert!(error_message(&answer).contains("/oauth/consent/"), "{answer}");
}

#[tokio::test]
async fn all_who_ask_are_shown_the_same_page() {
    let locked = Locked::start(Habits::default()).await;
    let gateway = gateway(&locked, "").await;
    let (one, two) = (Legacy::open(gateway.http()).await, Legacy::open(gateway.http()).await);
    assert_eq!(page(&one).await, page(&two).await);
    let registered = locked.puppet.received().iter().filter(|sent| sent.path == "/register").count();
    assert_eq!(registered, 1);
    consent(&locked, &gateway, &one).await;
    until_it_answers(&two).await;
}

#[tokio::test]
async fn nothing_secret_is_written_anywhere() {
    // A server that repeats the credentials that it received.
    fn loud(sent: &Received) -> Said {
        let shown = sent.headers.get("authorization").cloned().unwrap_or_default();
        match sent.method() {
            "tools/call" => Said::Status(500, "text/plain", format!("I was shown {shown}")),
            _ => Said::Proper,
        }
    }
    let locked = Locked::start(Habits { answers: Some(loud), ..Habits::default() }).await;
    let state = State::new("told");
    let url = locked.puppet.url();
    let issuer = url.replace("/mcp", "");
    let client = format!("clientId: by-hand, clientSecret: 'se-cret-1234', issuer: '{issuer}'");
    let text =
        format!("mcpServers: {{ locked: {{ url: '{url}', oauth: {{ {client} }} }} }}\n{}\n", state.line());
    let env = [("DRAGOMAN_LOG", "trace")];
    let gateway = Gateway::start_with(&Start { config: &text, env: &env, ..Start::default() }).await;
    let client = Legacy::open(gateway.http()).await;
    let page = page(&client).await;
    let back = locked.agree(&page);
    let (status, mut seen) = come_back(&gateway, &back).await;
    assert_eq!(status, 200, "{seen}");
    let said = soon("what the server says", async {
        loop {
            let answer = client.call("locked__ok", &json!({})).await;
            if error_message(&answer).contains("I was shown") {
                return answer.to_string();
            }
        }
    })
    .await;
    seen.push_str(&said);
    let ended = gateway.stop().await;
    assert!(ended.err.contains("consent was given"), "{}", ended.err);
    let state = params(page.split_once('?').expect("a query").1)["state"].clone();
    let verifier = locked.token_requests()[0]["code_verifier"].clone();
    let mut secrets = locked.secrets();
    let mark = cookie(&back).and_then(|cookie| Some(cookie.split_once('=')?.1.to_owned()));
    secrets.extend([state, verifier, mark.expect("a cookie with a value"), "se-cret-1234".to_owned()]);
    for secret in secrets {
        for (what, text) in [("log", &ended.err), ("output", &ended.out), ("answers", &seen)] {
            assert!(!text.contains(&secret), "{secret} in the {what}:\n{text}");
        }
    }
}

#[tokio::test]
async fn a_server_over_an_event_stream_wants_consent_too() {
    let locked = Locked::start(Habits::default()).await;
    let text = format!("mcpServers: {{ locked: {{ type: sse, url: '{}' }} }}\n", locked.puppet.url());
    let gateway = Gateway::start(&text).await;
    let back = locked.agree(&page(&Legacy::open(gateway.http()).await).await);
    assert_eq!(come_back(&gateway, &back).await.0, 200);
    locked
        .puppet
        .heard("the token on the stream", |one| {
            one.verb == "GET" && one.headers.contains_key("authorization")
        })
        .await;
}

#[tokio::test]
async fn a_token_of_the_configuration_is_nobodys_consent() {
    let locked = Locked::start(Habits::default()).await;
    let url = locked.puppet.url();
    let text =
        format!("mcpServers: {{ locked: {{ url: '{url}', headers: {{ Authorization: 'Bearer own' }} }} }}\n");
    let gateway = Gateway::start(&text).await;
    let answer = Legacy::open(gateway.http()).await.call("locked__ok", &json!({})).await;
    assert!(error_message(&answer).contains("answered HTTP 401"), "{answer}");
    assert!(locked.puppet.received().iter().all(|sent| sent.path == "/mcp"));
}

#[tokio::test]
async fn without_a_gateway_that_serves_a_browser_cannot_come_back() {
    let locked = Locked::start(Habits::default()).await;
    let mut client = Stdio::open(&config(&locked, "")).await;
    let answer = client.call("locked__ok", &json!({})).await;
    assert!(error_message(&answer).contains("dragoman serve"), "{answer}");
}
