//! The record of changes: the callers that made them, and the callers that were refused.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::process::Command;

use crate::place::{Place, ask};
use crate::support::*;

/// Users ann and bob with the password `battery staple`, hashed by another program (Node's `crypto.argon2Sync`).
fn users() -> String {
    let hash =
        "$argon2id$v=19$m=64,t=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$gbf/SFxMMbGdacBN7IhMnP5qQZ1Lml+OVTsOtCvCWWc";
    format!("auth: {{ users: {{ ann: '{hash}', bob: '{hash}' }} }}\n")
}

fn showing(place: &Place, user: &str) -> Http {
    let pair = BASE64_STANDARD.encode(format!("{user}:battery staple"));
    place.gateway.http().showing(&format!("Basic {pair}"))
}

/// The output of `dragoman audit`, one JSON object per call, oldest first.
async fn audit(place: &Place) -> Vec<Value> {
    #[expect(clippy::disallowed_methods, reason = "the process under test has no supervisor above it")]
    let mut process = Command::new(env!("CARGO_BIN_EXE_dragoman"));
    process.args(["audit", "--json", "--state"]).arg(place.state.path()).kill_on_drop(true);
    let ended = soon("the record", process.output()).await.expect("it runs");
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    let text = String::from_utf8(ended.stdout).expect("UTF-8");
    text.lines().rev().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// Checks ann's actions and bob's refusals, in this order.
fn check(told: &[Value], off: &str) {
    let told: Vec<Value> = told
        .iter()
        .map(|one| {
            let parts = ["principal", "method", "server", "profile", "outcome", "code"];
            parts.iter().map(|key| one[*key].clone()).collect()
        })
        .collect();
    let own = "POST /api/profiles/office/servers: changed: profile office";
    assert_eq!(
        told,
        [
            json!([
                "user:ann",
                "POST /api/mcp-servers: added: server sums; changed: profile default",
                null,
                "",
                "ok",
                null
            ]),
            json!([
                "user:ann",
                "POST /api/mcp-servers: added: server far; changed: profile default",
                null,
                "",
                "ok",
                null
            ]),
            json!(["user:bob", "DELETE /api/mcp-servers/sums", null, "", "denied", 403]),
            json!(["user:ann", "POST /api/profiles: added: profile office", null, "", "ok", null]),
            json!(["user:ann", own, null, "office", "ok", null]),
            json!(["user:ann", "DELETE /api/mcp-servers/sums", "sums", "", "error", 409]),
            json!(["user:ann", format!("POST {off}: changed: profile office"), "sums", "office", "ok", null]),
        ]
    );
}

#[tokio::test]
async fn changes_are_written_down_with_who_made_them() {
    let rest = format!("management: {{ who: {{ user: ann }} }}\naudit: true\n{}", users());
    let place = Place::with(&rest).await;
    let (ann, bob) = (showing(&place, "ann"), showing(&place, "bob"));
    let server = json!({"name": "sums", "type": "builtin", "config": {"native": "plain"}});
    assert_eq!(ask(ann, "POST", "/api/mcp-servers", &server).await.status, 201);
    let secret = json!({"name": "far", "type": "remote_http",
        "config": {"url": "http://127.0.0.1:9/mcp", "headers": {"X-Key": "se-cret-7777"}}});
    assert_eq!(ask(ann, "POST", "/api/mcp-servers", &secret).await.status, 201);
    assert_eq!(ask(bob, "DELETE", "/api/mcp-servers/sums", &Value::Null).await.status, 403);
    assert_eq!(ask(ann, "GET", "/api/mcp-servers", &Value::Null).await.status, 200, "looking is no deed");
    let profile = json!({"slug": "office", "name": "Office"});
    assert_eq!(ask(ann, "POST", "/api/profiles", &profile).await.status, 201);
    let own = json!({"mcpServerId": "sums"});
    assert_eq!(ask(ann, "POST", "/api/profiles/office/servers", &own).await.status, 201);
    assert_eq!(ask(ann, "DELETE", "/api/mcp-servers/sums", &Value::Null).await.status, 409);
    let off = "/api/profiles/office/servers/sums/toggle";
    assert_eq!(ask(ann, "POST", off, &Value::Null).await.status, 200);

    soon("the record of all of it", async { while audit(&place).await.len() < 7 {} }).await;
    let told = audit(&place).await;
    check(&told, off);
    let all = serde_json::to_string(&audit(&place).await).expect("JSON");
    let ended = place.gateway.stop().await;
    for part in [
        "user:ann",
        "POST /api/mcp-servers",
        "added: server sums",
        "user:bob",
        "DELETE /api/mcp-servers/sums",
    ] {
        assert!(ended.err.contains(part), "{part}:\n{}", ended.err);
    }
    assert!(!ended.err.contains("se-cret-7777") && !all.contains("se-cret-7777"));
}

#[tokio::test]
async fn a_file_that_is_read_again_is_written_down() {
    let rest = "management: true\naudit: true\n";
    let place = Place::with(rest).await;
    place.gateway.write(&place.config(&format!("{rest}access: [ {{ deny: '*', servers: good }} ]\n")));
    place.gateway.signal(Signal::HUP);
    place.gateway.log().has("reloaded the configuration").await;
    assert!(place.gateway.log().text().contains("changed: access"), "{}", place.gateway.log().text());
    soon("the record of it", async { while audit(&place).await.is_empty() {} }).await;
    let told = audit(&place).await;
    let one = (&told[0]["principal"], &told[0]["method"], &told[0]["outcome"]);
    assert_eq!(one, (&json!("file"), &json!("reload: changed: access"), &json!("ok")), "{told:?}");
}

#[tokio::test]
async fn those_who_are_refused_lock_out_nobody_who_is_known() {
    let place =
        Place::with(&format!("management: {{ who: {{ user: ann }}, rate: 3/1h }}\n{}", users())).await;
    let (ann, bob) = (showing(&place, "ann"), showing(&place, "bob"));
    let stranger = place.gateway.http().showing("Basic bm9ib2R5OmJhZA==");
    for http in [stranger, bob, stranger] {
        assert!(matches!(ask(http, "GET", "/api/profiles", &Value::Null).await.status, 401 | 403));
    }
    let refused = ask(stranger, "GET", "/api/profiles", &Value::Null).await;
    assert_eq!(refused.refusal(), (429, "RATE_LIMITED"));
    for left in ["2", "1", "0"] {
        let answer = ask(ann, "GET", "/api/profiles", &Value::Null).await;
        assert_eq!((answer.status, &*answer.headers["x-ratelimit-remaining"]), (200, left));
    }
    assert_eq!(ask(ann, "GET", "/api/profiles", &Value::Null).await.refusal(), (429, "RATE_LIMITED"));
}

#[tokio::test]
async fn every_login_does_not_manage_after_a_reload_either() {
    let place = Place::with("management: true\nauth: { bearer: abc }\n").await;
    place.gateway.write(&place.config(&format!("management: true\n{}", users())));
    place.gateway.signal(Signal::HUP);
    place.gateway.log().has("may change servers here").await;
    assert!(place.gateway.log().text().contains("the old one stays in force"));
    let http = place.gateway.http().showing("Bearer abc");
    assert_eq!(ask(http, "GET", "/api/profiles", &Value::Null).await.status, 200);
    place.gateway.write(&place.config(&format!("management: {{ who: {{ user: ann }} }}\n{}", users())));
    place.gateway.signal(Signal::HUP);
    place.gateway.log().has("reloaded the configuration").await;
    for (who, status) in [(http, 401), (showing(&place, "bob"), 403), (showing(&place, "ann"), 200)] {
        assert_eq!(ask(who, "GET", "/api/profiles", &Value::Null).await.status, status);
    }
}
