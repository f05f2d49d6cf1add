//! The playground: it can test the rules for a caller, but it calls as the operator and never with the caller's consent.

use serde_json::json;

use crate::admin_browser::{Browser, with_ann};
use crate::apart::{ANN, by, page_for, users};
use crate::browser::begin;
use crate::rig::*;
use crate::support::*;

#[tokio::test]
async fn a_call_by_hand_uses_no_consent_of_the_caller_whose_rules_it_tests() {
    let locked = Locked::start(Habits { lists_freely: true, ..Habits::default() }).await;
    let state = State::new("played");
    let server = format!("locked: {}, demo:", locked.puppet.config());
    let config = with_ann(&format!("{}\n{}\n", users(), state.line())).replacen("demo:", &server, 1);
    let gateway = Gateway::start(&config).await;
    let ann = Legacy::open(by(&gateway, "ann")).await;
    let url = begin(gateway.http(), &page_for(&ann, "ann").await, ANN).await;
    assert_eq!(come_back(&gateway, &locked.agree(&url)).await.0, 200);
    soon("an answer of the server's tool", async {
        while ann.call("locked__ok", &json!({"by": "ann"})).await["result"]["content"][0]["text"] != "ok" {}
    })
    .await;
    let tokens = locked.shown_by("ann");
    assert!(!tokens.is_empty());

    let mut browser = Browser::new(gateway.http());
    assert_eq!(browser.log_in("battery staple").await.status, 303);
    let token = browser.get("/admin").await.form_token();
    let before = locked.puppet.count("tools/call");
    let form = format!(
        "csrf={token}&profile=default&tool=locked__ok&caller=user:ann&arguments=%7B%22by%22%3A%22played%22%7D"
    );
    let begun = browser.post("/admin/playground-run", &form).await;
    assert_eq!(begun.status, 303, "{}", begun.text);
    let path = begun.header("location").split('#').next().expect("a path").to_owned();
    let page = soon("the end of the call", async {
        loop {
            let page = browser.get(&path).await.text;
            // The operator is asked to consent, or gets the refusal.
            if page.contains("asks you")
                || page.contains("<h3>Error</h3>")
                || page.contains("<h3>Result</h3>")
            {
                break page;
            }
        }
    })
    .await;
    assert!(!page.contains("<h3>Result</h3>"), "{page}");
    assert!(locked.puppet.count("tools/call") > before, "the server was asked");
    assert_eq!(locked.shown_by("played"), Vec::<String>::new(), "and saw no token");
    assert_eq!(locked.token_requests().len(), 1);
}
