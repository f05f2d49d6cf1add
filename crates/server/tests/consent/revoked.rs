//! Consents that an operator revokes on the pages: only after a question, with and without scripts.

use serde_json::json;

use crate::admin_browser::{Browser, with_ann};
use crate::rig::*;
use crate::support::*;

#[tokio::test]
async fn a_consent_is_revoked_only_after_a_question() {
    let locked = Locked::start(Habits::default()).await;
    let state = State::new("revoked-on-pages");
    let server = format!("locked: {}, demo:", locked.puppet.config());
    let config = with_ann(&state.line()).replacen("demo:", &server, 1);
    let gateway = Gateway::start(&config).await;
    let client = Legacy::open(gateway.http()).await;
    consent(&locked, &gateway, &client).await;
    let mut browser = Browser::new(gateway.http());
    assert_eq!(browser.log_in("battery staple").await.status, 303);
    let page = browser.get("/admin/logins").await;
    let token = page.form_token();
    let (_, rest) = page.text.split_once("name=\"consent\" value=\"").expect("a consent");
    let id = rest.split_once('"').expect("its end").0.to_owned();
    let form = |rest: &str| format!("csrf={token}&consent={id}{rest}");
    let names_it = format!("name=\"consent\" value=\"{id}\"");
    let asks = ["Revoke the consent?", "locked for all callers", names_it.as_str()];
    browser.is_asked_first("/admin/logins-revoke", &form(""), &asks).await;
    let answer = client.call("locked__ok", &json!({})).await;
    assert_eq!(answer["result"]["content"][0]["text"], "ok", "nothing was revoked: {answer}");
    let done = browser.post("/admin/logins-revoke", &form("&sure=yes")).await;
    assert_eq!(done.status, 303, "{}", done.text);
    assert!(browser.get(done.header("location")).await.text.contains("The consent was revoked."));
    soon("a refusal", async { while client.call("locked__ok", &json!({})).await["error"].is_null() {} })
        .await;
}
