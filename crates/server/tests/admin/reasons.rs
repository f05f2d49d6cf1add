//! Tests that pages show the reason that was recorded with a call, and the requests that were turned away before they became calls.

use serde_json::{Value, json};

use crate::callers::Office;
use crate::support::*;

const RULES: &str =
    "access: [{ deny: '*add', who: { key: ci-bot } }]\nrateLimits: [{ rate: 2/1h, per: principal }]\n";

/// Calls a tool; returns the HTTP status.
async fn called(office: &Office, key: &str, arguments: &Value) -> u16 {
    let call = json!({"name": "demo__add", "arguments": arguments});
    let mut reply = Modern::new(office.by(key)).begin("tools/call", &call).await;
    reply.response().await;
    reply.status
}

#[tokio::test]
async fn a_call_has_the_reason_of_its_time_and_no_reason_if_it_succeeded() {
    let mut office = Office::new(RULES).await;
    let (bot, boss) = (office.key("ci-bot").await, office.key("boss").await);
    called(&office, &bot, &json!({"a": 1, "b": 2})).await;
    assert_eq!(called(&office, &boss, &json!({"a": 1, "b": 2})).await, 200);
    called(&office, &boss, &json!({"a": "x", "b": 2})).await;
    assert_eq!(called(&office, &boss, &json!({"a": 1, "b": 2})).await, 429);
    office.page_with("/admin/calls?principal=boss&outcome=denied", "a rate limit stopped the call").await;
    let calls = office.api(&boss, "GET", "/api/calls?tool=demo__add", &Value::Null).await;
    let mut reasons: Vec<(String, String, bool)> = Vec::new();
    for call in calls["calls"].as_array().expect("calls") {
        let word = |key: &str| call[key].as_str().unwrap_or("-").to_owned();
        reasons.push((word("principalName"), word("reason"), call["reasonText"].is_string()));
    }
    reasons.sort();
    let row = |who: &str, reason: &str, has_text| (who.to_owned(), reason.to_owned(), has_text);
    assert_eq!(reasons.len(), 4, "{calls}");
    assert!(reasons.contains(&row("boss", "-", false)), "the call that succeeded: {reasons:?}");
    assert!(reasons.contains(&row("boss", "rateLimit", true)), "{reasons:?}");
    assert!(reasons.contains(&row("ci-bot", "rule", false)), "{reasons:?}");
    let invalid =
        |(who, reason, has_text): &(String, String, bool)| who == "boss" && reason == "request" && *has_text;
    assert!(reasons.iter().any(invalid), "{reasons:?}");
    // Beside the recorded reason of a rule stands what today's rules would do.
    let denied = office.page_with("/admin/calls?principal=ci-bot", "an access rule did not allow it").await;
    let (_, rest) = denied.split_once("href=\"/admin/calls/").expect("a call");
    let call = format!("/admin/calls/{}", rest.split_once('"').expect("its end").0);
    let page = office.page_with(&call, "rule 1 of `access` denies it").await;
    assert!(page.contains("today") && page.contains("Check the access of this caller"), "{page}");
    let csv = office.browser.get("/admin/calls.csv?principal=boss").await.text;
    assert!(csv.contains("a rate limit stopped the call: too many requests"), "{csv}");
}

#[tokio::test]
async fn requests_that_are_turned_away_are_on_the_overview() {
    let mut office =
        Office::new("profiles: { default: { servers: [demo] }, team: { servers: [demo] } }\n").await;
    let list = request(1, "tools/list", &json!({})).to_string();
    let from = [("User-Agent", "wrong-client/1")];
    for _ in 0..3 {
        assert_eq!(office.by("dgm_wrong").post("/mcp/team", &from, &list).await.status, 401);
    }
    let key = office.key("ci-bot").await;
    assert_eq!(office.by(&key).post("/mcp/nowhere", &from, &list).await.status, 404);
    let page = office.page_with("/admin", "Requests turned away").await;
    assert!(page.contains("POST /mcp/team") && page.contains("wrong-client/1"), "{page}");
    let (_, row) = page.split_once("POST /mcp/team").expect("its row");
    let row = row.split_once("</tr>").expect("its end").0;
    assert!(row.contains(">401<") && row.contains(">3<"), "{row}");
    let (_, row) = page.split_once("POST /mcp/nowhere").expect("its row");
    let row = row.split_once("</tr>").expect("its end").0;
    assert!(row.contains(">404<") && row.contains("ci-bot"), "{row}");
}

#[tokio::test]
async fn the_access_check_counts_the_tools_of_a_caller() {
    let mut office = Office::new(RULES).await;
    office.key("ci-bot").await;
    let path = "/admin/access?caller=key%3Aci-bot&profile=default";
    let page = office.page_with(path, "of the profile. To see which rule").await;
    assert!(page.contains("5 of 6 tools") && page.contains("demo__add"), "{page}");
    let played = "/admin/playground?caller=key%3Aci-bot&tool=demo__add";
    let page = office.page_with(played, "do not allow this call").await;
    assert!(!page.contains("Call the tool"), "nothing to press: {page}");
    let (first, rest) = page.split_once("Not for").expect("the denied tools");
    assert!(rest.contains("demo__add") && first.contains("demo__echo"), "{page}");
}
