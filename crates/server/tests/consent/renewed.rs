//! Expiring tokens: they are renewed before they expire, and after a refusal; and the reaction if a renewal
//! is impossible.

use serde_json::json;

use crate::browser::{begin, told};
use crate::rig::*;
use crate::support::*;

#[tokio::test]
async fn a_refused_token_is_exchanged_and_each_refresh_token_is_used_once() {
    let locked = Locked::start(Habits::default()).await;
    let state = State::new("exchanged");
    let more = state.line();
    let first = gateway(&locked, &more).await;
    consent(&locked, &first, &Legacy::open(first.http()).await).await;
    first.stop().await;
    for _ in 0..3 {
        // A token that was granted long ago: a new process does not know its age.
        locked.expire_tokens();
        let gateway = gateway(&locked, &more).await;
        let client = Legacy::open(gateway.http()).await;
        let answer = client.call("locked__ok", &json!({})).await;
        assert_eq!(answer["result"]["content"][0]["text"], "ok", "{answer}");
        gateway.stop().await;
    }
    let requests = locked.token_requests();
    let mut used: Vec<&String> = requests.iter().filter_map(|form| form.get("refresh_token")).collect();
    assert_eq!(used.len(), 3, "{requests:?}");
    used.sort();
    used.dedup();
    assert_eq!(used.len(), 3, "{requests:?}");
    assert!(requests.iter().all(|form| form["resource"] == locked.puppet.url()));
}

#[tokio::test]
async fn a_token_is_exchanged_before_its_end_although_nobody_calls() {
    let locked = Locked::start(Habits { life: 4, ..Habits::default() }).await;
    let gateway = gateway(&locked, "").await;
    let client = Legacy::open(gateway.http()).await;
    consent(&locked, &gateway, &client).await;
    locked.puppet.heard("two exchanges", |one| one.path == "/token" && one.text.contains("refresh-5-")).await;
    let requests = locked.token_requests();
    assert_eq!(requests.len(), 3, "{requests:?}");
    until_it_answers(&client).await;
}

#[tokio::test]
async fn a_consent_that_was_taken_back_is_asked_for_again() {
    let locked = Locked::start(Habits::default()).await;
    let state = State::new("taken");
    let more = state.line();
    let first = gateway(&locked, &more).await;
    consent(&locked, &first, &Legacy::open(first.http()).await).await;
    first.stop().await;
    locked.take_back();
    let second = gateway(&locked, &more).await;
    let client = Legacy::open(second.http()).await;
    consent(&locked, &second, &client).await;
    let given = locked.token_requests();
    let kinds: Vec<&str> = given.iter().map(|form| &*form["grant_type"]).collect();
    assert_eq!(kinds, ["authorization_code", "refresh_token", "authorization_code"]);
    // The registered client is reused as long as browsers are redirected to the same URL.
    let registered = locked.puppet.received().iter().filter(|one| one.path == "/register").count();
    assert!(registered <= 2, "{registered}");
}

#[tokio::test]
async fn more_is_asked_for_when_more_is_needed_and_nothing_is_lost() {
    let locked = Locked::start(Habits { scope: "write", ..Habits::default() }).await;
    let gateway = gateway(&locked, "").await;
    let client = Legacy::open(gateway.http()).await;
    let back = locked.agree(&page(&client).await);
    assert_eq!(come_back(&gateway, &back).await.0, 200);
    let more = soon("the wish for more", async {
        loop {
            let answer = client.call("locked__ok", &json!({})).await;
            if let Some(url) = told(&answer) {
                let url = begin(gateway.http(), &url, "").await;
                if url.contains("write") {
                    return url;
                }
            }
        }
    })
    .await;
    assert_eq!(params(more.split_once('?').expect("a query").1)["scope"], "write read");
    assert_eq!(come_back(&gateway, &locked.agree(&more)).await.0, 200);
    until_it_answers(&client).await;
}
