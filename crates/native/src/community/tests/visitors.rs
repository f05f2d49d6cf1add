//! Tests of the hint for accounts that a site treats as visitors: it appears only in the right cases, and the site
//! is asked only once.

use std::sync::Arc;

use serde_json::{Value, json};

use super::settings;
use crate::ToolServer;
use crate::community::{buddyboss, buddypress};
use crate::port::{HttpRequest, HttpResponse};
use crate::rest::tests::{Fake, asked, content, reply};

const HINT: &str = "treats the account as a visitor";

/// A site that refuses groups, and gives this answer to the question about visitors.
fn refusing(question: &'static str, status: u16, answer: Value) -> Arc<Fake> {
    Fake::replying(move |request: &HttpRequest| -> HttpResponse {
        if request.url.contains(question) {
            return reply(status, &answer);
        }
        let code = if request.url.contains("/members/") {
            "rest_user_invalid_id"
        } else {
            "bp_rest_authorization_required"
        };
        reply(403, &json!({"code": code, "message": "Sorry.", "data": {"status": 403}}))
    })
}

fn boss(fake: Arc<Fake>) -> ToolServer {
    buddyboss::server(&settings(), buddyboss::Phases::default(), fake).unwrap()
}

fn press(fake: Arc<Fake>) -> ToolServer {
    buddypress::server(&settings(), buddypress::Version::First, false, fake).unwrap()
}

fn words(server: &ToolServer, tool: &str) -> String {
    let (text, is_error) = content(&asked(server, tool, &json!({"id": 1})));
    assert!(is_error, "{text}");
    text
}

fn questions(fake: &Fake, question: &str) -> usize {
    fake.lines().iter().filter(|line| line.contains(question)).count()
}

#[test]
fn buddyboss_shows_it_by_the_addresses_of_the_members_menu() {
    let menu = |url: &str| json!([{"url": url, "_links": {}}]);
    for (answer, hinted) in [
        (menu("http://profile/"), true),
        (menu("https://community.example.com/members/ann/profile/"), false),
        (json!([]), false),
        (json!({"url": 7}), false),
    ] {
        let fake = refusing("profile-dropdown", 200, answer.clone());
        let server = boss(fake.clone());
        for _ in 0..3 {
            assert_eq!(words(&server, "buddyboss_get_group").contains(HINT), hinted, "{answer}");
        }
        assert_eq!(questions(&fake, "profile-dropdown"), 1, "{answer}");
        fake.pass(std::time::Duration::from_secs(601));
        words(&server, "buddyboss_get_group");
        assert_eq!(questions(&fake, "profile-dropdown"), 2, "the site may be repaired: {answer}");
    }
}

#[test]
fn buddypress_shows_it_by_refusing_a_members_own_notifications() {
    for (status, hinted) in [(403, true), (200, false), (404, false)] {
        let fake = refusing("notifications?user_id=1&", status, json!([]));
        let server = press(fake.clone());
        for _ in 0..2 {
            // Without notifications, messages decide.
            let hinted = hinted || status == 404;
            assert_eq!(words(&server, "buddypress_get_group").contains(HINT), hinted, "{status}");
        }
        assert_eq!(questions(&fake, "notifications?user_id=1&"), 1, "{status}");
    }
}

#[test]
fn other_refusals_ask_nothing() {
    let fake = refusing("profile-dropdown", 200, json!([{"url": "http://profile/"}]));
    assert!(!words(&boss(fake.clone()), "buddyboss_get_member").contains(HINT));
    assert_eq!(questions(&fake, "profile-dropdown"), 0);
}
