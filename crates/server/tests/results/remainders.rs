//! Rests of shortened results: only the caller of the tool reads one, in time, and nobody learns whether there is one.

use std::time::Duration;

use serde_json::{Value, json};

use crate::library::*;
use crate::support::*;

const CAP: &str = "maxResult: 8KiB";
const NEVER: &str = "dragoman://results/00000000000000000000000000000000";

/// A refusal without the URI that it repeats.
fn refusal(answer: &Value, name: &str) -> String {
    assert!(answer.get("error").is_some(), "{answer}");
    answer["error"].to_string().replace(name, "URI")
}

#[tokio::test]
async fn only_the_caller_reads_it_over_any_connection_and_version() {
    let puppet = library().await;
    let remainder = "profiles: { default: {}, other: {} }";
    let gateway = Gateway::start(&guarded(&puppet, CAP, remainder)).await;
    let (ann, bob) = (by(&gateway, "ann"), by(&gateway, "bob"));
    let name = link(&Legacy::open(ann).await.call("up__read", &json!({ "lines": 900 })).await);
    for answer in [
        Legacy::open(ann).await.ask("resources/read", &uri(&name)).await,
        Legacy::open_at(ann, "/mcp", "2024-11-05", &json!({})).await.ask("resources/read", &uri(&name)).await,
        Modern::new(ann).ask("resources/read", &uri(&name)).await,
        Modern::new(ann).ask("resources/read", &uri(&format!("{name}#2"))).await,
    ] {
        assert!(
            answer["result"]["contents"][0]["text"].as_str().is_some_and(|text| text.contains("line 899"))
        );
    }
    let elsewhere = Modern { path: "/mcp/other".to_owned(), ..Modern::new(ann) };
    for (who, client) in [("bob", Modern::new(bob)), ("ann, in another profile", elsewhere)] {
        let never = client.ask("resources/read", &uri(NEVER)).await;
        let foreign = client.ask("resources/read", &uri(&name)).await;
        assert_eq!(refusal(&foreign, &name), refusal(&never, NEVER), "{who}");
    }
    let theirs = Legacy::open(bob).await;
    let never = theirs.ask("resources/read", &uri(NEVER)).await;
    let foreign = theirs.ask("resources/read", &uri(&name)).await;
    assert_eq!(refusal(&foreign, &name), refusal(&never, NEVER));
    assert_eq!(puppet.count("resources/read"), 0, "no server learns of it");
}

#[tokio::test]
async fn odd_uris_are_refused_like_unknown_ones() {
    let puppet = library().await;
    let gateway = Gateway::start(&open(&puppet, CAP, "")).await;
    let client = Modern::new(gateway.http());
    let never = refusal(&client.ask("resources/read", &uri(NEVER)).await, NEVER);
    for odd in ["dragoman://results/", "dragoman://results/x", "dragoman://results/.."] {
        assert_eq!(refusal(&client.ask("resources/read", &uri(odd)).await, odd), never, "{odd}");
    }
    assert_eq!(puppet.count("resources/read"), 0);
}

#[tokio::test]
async fn callers_with_other_passed_headers_are_others() {
    let puppet = library().await;
    let gateway = Gateway::start(&open(&puppet, "maxResult: 8KiB, passHeaders: [x-tenant]", "")).await;
    let of = |tenant: &str| Modern::new(gateway.http().carrying("X-Tenant", tenant));
    let name = link(&of("a").call("up__read", &json!({ "lines": 900 })).await);
    assert!(of("a").ask("resources/read", &uri(&name)).await.get("result").is_some());
    let foreign = of("b").ask("resources/read", &uri(&name)).await;
    assert_eq!(refusal(&foreign, &name), refusal(&of("b").ask("resources/read", &uri(NEVER)).await, NEVER));
}

#[tokio::test]
async fn it_ends_with_its_time() {
    let puppet = library().await;
    let gateway = Gateway::start(&open(&puppet, CAP, "limits: { restLifetime: 1s }")).await;
    let client = Modern::new(gateway.http());
    let answer = client.call("up__read", &json!({ "lines": 900 })).await;
    assert!(text(&answer).contains("within 1 second."), "{answer}");
    let name = link(&answer);
    assert!(client.ask("resources/read", &uri(&name)).await.get("result").is_some());
    tokio::time::sleep(Duration::from_millis(1100)).await;
    let late = client.ask("resources/read", &uri(&name)).await;
    assert_eq!(refusal(&late, &name), refusal(&client.ask("resources/read", &uri(NEVER)).await, NEVER));
}

#[tokio::test]
async fn the_oldest_make_way_and_what_is_too_large_has_no_link() {
    let puppet = library().await;
    let gateway =
        Gateway::start(&open(&puppet, CAP, "limits: { keptResults: 2, keptResultBytes: 100KiB }")).await;
    let client = Modern::new(gateway.http());
    let mut names = Vec::new();
    for _ in 0..3 {
        names.push(link(&client.call("up__read", &json!({ "lines": 900 })).await));
    }
    let mut there = Vec::new();
    for name in &names {
        there.push(client.ask("resources/read", &uri(name)).await.get("result").is_some());
    }
    assert_eq!(there, [false, true, true]);
    let large = client.call("up__read", &json!({ "lines": 9000 })).await;
    assert!(text(&large).contains("The rest was not kept; request less"), "{large}");
    assert!(!large.to_string().contains("resource_link"));
}

/// Waits until a remainder cannot be read any more, and compares the refusal with that of a remainder that never existed.
async fn until_it_ends(client: &Modern, name: &str) {
    let refused = async {
        loop {
            let answer = client.ask("resources/read", &uri(name)).await;
            if answer.get("error").is_some() {
                return answer;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let refused = soon("the end of the remainder", refused).await;
    assert_eq!(refusal(&refused, name), refusal(&client.ask("resources/read", &uri(NEVER)).await, NEVER));
}

#[tokio::test]
async fn it_ends_with_the_right_to_use_the_tool() {
    let puppet = library().await;
    let gateway = Gateway::start(&guarded(&puppet, CAP, "")).await;
    let client = Modern::new(by(&gateway, "ann"));
    let text = link(&client.call("up__read", &json!({ "lines": 900 })).await);
    let picture = link(&client.call("up__picture", &json!({})).await);
    // The profile alone changes, so everything else that could end a remainder stays unchanged.
    gateway.write(&guarded(&puppet, CAP, "profiles: { default: { tools: { deny: [up__read] } } }"));
    until_it_ends(&client, &text).await;
    let left = client.ask("resources/read", &uri(&picture)).await;
    assert!(left.get("result").is_some(), "the remainder of a tool that the caller may use: {left}");
}

/// New access rules end all remainders, and a new server ends those of its predecessor, even if the caller may still use the tool.
#[tokio::test]
async fn it_ends_with_its_access_rules_and_its_server() {
    let puppet = library().await;
    let plain = guarded(&puppet, CAP, "");
    for changed in [
        format!("{plain}access: [{{ deny: up__picture }}]\n"),
        guarded(&puppet, "maxResult: 8KiB, headers: { X-Other: y }", ""),
    ] {
        let gateway = Gateway::start(&plain).await;
        let client = Modern::new(by(&gateway, "ann"));
        let name = link(&client.call("up__read", &json!({ "lines": 900 })).await);
        gateway.write(&changed);
        until_it_ends(&client, &name).await;
        let next = link(&client.call("up__read", &json!({ "lines": 900 })).await);
        assert!(client.ask("resources/read", &uri(&next)).await.get("result").is_some(), "{changed}");
        until_it_ends(&client, &name).await;
    }
}
