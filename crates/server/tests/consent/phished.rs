//! The user that begins a consent must finish it: attacks that make another user finish it.

use crate::apart::{ANN, by, page_for, users};
use crate::browser::{begin, cookie, path, send};
use crate::rig::*;
use crate::support::*;

#[tokio::test]
async fn a_browser_that_did_not_begin_cannot_finish() {
    let locked = Locked::start(Habits::default()).await;
    let gateway = gateway(&locked, "").await;
    let client = Legacy::open(gateway.http()).await;
    let other = locked.agree(&page(&client).await);
    let foreign = cookie(&other).expect("a cookie");
    assert_eq!(come_back(&gateway, &other).await.0, 200);
    locked.take_back();
    for cookies in ["", "a=b", &foreign] {
        let back = locked.agree(&page(&client).await);
        let mut reply = gateway.http().get(&back, &[("Cookie", cookies)]).await;
        let said = reply.text().await;
        assert_eq!(
            (reply.status, said.contains("this browser did not start the request")),
            (403, true),
            "{cookies}: {said}"
        );
        // This ends the consent, even for the browser that began it.
        assert_eq!(come_back(&gateway, &back).await.0, 400, "{cookies}");
    }
    assert_eq!(
        locked.token_requests().iter().filter(|form| form["grant_type"] == "authorization_code").count(),
        1
    );
    consent(&locked, &gateway, &client).await;
}

#[tokio::test]
async fn the_first_page_says_who_asks_for_what_and_is_shown_by_nobody_else() {
    let locked = Locked::start(Habits::default()).await;
    let gateway = gateway(&locked, &users()).await;
    let ann = Legacy::open(by(&gateway, "ann")).await;
    let url = page_for(&ann, "ann").await;
    let mut shown = gateway.http().get(&path(&url), &[]).await;
    assert_eq!((shown.status, shown.header("cache-control")), (200, "no-store"));
    assert!(shown.header("content-security-policy").contains("frame-ancestors 'none'"));
    assert!(!shown.headers.contains_key("set-cookie"), "only who goes on is known again");
    let text = shown.text().await;
    for part in
        ["The user ann", "locked", "read", &locked.puppet.url().replace("http://", "").replace("/mcp", "")]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    // Forms of other pages, and of no page.
    let form = [("Content-Type", "application/x-www-form-urlencoded")];
    let own = format!("http://{}", gateway.http().address);
    for more in [
        vec![],
        vec![("Origin", "http://localhost:1")],
        vec![("Origin", "null")],
        vec![("Origin", &*own), ("Sec-Fetch-Site", "cross-site")],
        vec![("Origin", &*own), ("Sec-Fetch-Site", "none")],
    ] {
        let headers = [&form[..], &more[..]].concat();
        let sent = gateway.http().post(&path(&url), &headers, ANN).await;
        assert_eq!((sent.status, sent.headers.contains_key("set-cookie")), (403, false), "{more:?}");
    }
    assert_eq!(gateway.http().get("/oauth/consent/x", &[]).await.status, 404);
}

#[tokio::test]
async fn nobody_begins_in_the_name_of_another() {
    let locked = Locked::start(Habits::default()).await;
    let gateway = gateway(&locked, &users()).await;
    let ann = Legacy::open(by(&gateway, "ann")).await;
    let url = page_for(&ann, "ann").await;
    for form in ["", "name=ann", "name=ann&secret=wrong", "name=bob&secret=battery+staple"] {
        let mut refused = send(gateway.http(), &url, form).await;
        assert_eq!((refused.status, refused.headers.contains_key("set-cookie")), (403, false), "{form}");
        let said = refused.text().await;
        assert!(said.contains("do not belong to this caller"), "{form}: {said}");
    }
    assert!(!begin(gateway.http(), &url, ANN).await.is_empty(), "it may still be begun");
    assert_eq!(send(gateway.http(), &url, "name=ann&secret=guess").await.status, 403);
    // The limit of guesses is reached.
    assert_eq!(send(gateway.http(), &url, ANN).await.status, 404);
    assert_ne!(page_for(&ann, "ann").await, url);
}

#[tokio::test]
async fn whoever_shows_a_token_shows_it_to_begin() {
    let locked = Locked::start(Habits::default()).await;
    let gateway = gateway(&locked, "auth: { bearer: to-ken-1111 }").await;
    let client = Legacy::open(gateway.http().showing("Bearer to-ken-1111")).await;
    let url = page_for(&client, "one").await;
    assert_eq!(send(gateway.http(), &url, "secret=to-ken-2222").await.status, 403);
    let url = begin(gateway.http(), &url, "secret=to-ken-1111").await;
    assert_eq!(come_back(&gateway, &locked.agree(&url)).await.0, 200);
    until_it_answers(&client).await;
}
