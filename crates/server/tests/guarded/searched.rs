//! Tools that are found by searching are under the same rules, limits and records as listed ones: everything counts for the tool
//! that is meant.

use serde_json::{Value, json};

use crate::place::*;
use crate::record::recorded;
use crate::rules::RULES;
use crate::support::*;

/// The tools that the guest may use.
const SHOWN: [&str; 3] = ["good__echo", "good__test_described_tool", "good__test_error_handling"];

/// The names that a search finds.
async fn found(way: &Way, query: &str) -> Vec<String> {
    let answer = way.call("find_tools", &json!({"query": query, "limit": 20})).await;
    let found: Value = serde_json::from_str(text(&answer)).unwrap_or_else(|e| panic!("{e}: {answer}"));
    let tools = found["tools"].as_array().expect("tools").iter();
    tools.map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
}

async fn through(way: &Way, tool: &str, arguments: &Value) -> Value {
    way.call("call_tool", &json!({"name": tool, "arguments": arguments})).await
}

#[tokio::test]
async fn each_caller_finds_and_calls_its_own_tools() {
    let place = Place::start_searched(RULES).await;
    let (boss, guest) = (place.state.new_key(&["boss"]).await, place.state.new_key(&["guest"]).await);
    let (bosses, guests) = (Way::all(place.by(&boss)).await, Way::all(place.by(&guest)).await);
    for (boss, guest) in bosses.iter().zip(&guests) {
        let mut listed = guest.tools().await;
        listed.sort();
        assert_eq!(listed, ["call_tool", "find_tools"], "{}", guest.name());
        let query = "echo, test, simple text, error handling, described tool, image";
        assert!(found(boss, query).await.len() > 10, "{}", boss.name());
        let all = found(guest, query).await;
        assert!(!all.is_empty() && all.iter().all(|name| SHOWN.contains(&name.as_str())), "{all:?}");
        let none = json!({});
        assert!(is_fine(&through(boss, "good__test_simple_text", &none).await), "{}", boss.name());
        assert!(!is_fine(&through(guest, "good__test_simple_text", &none).await), "{}", guest.name());
        assert!(is_fine(&through(guest, "good__echo", &json!({"path": "/tmp/x"})).await), "{}", guest.name());
        // A condition on arguments applies to those of the inner call, also if they are written as a string.
        for denied in [json!({"path": "/etc/x"}), json!("{\"path\":\"/etc/x\"}")] {
            assert!(!is_fine(&through(guest, "good__echo", &denied).await), "{}", guest.name());
        }
        // A client that knows the name may call the tool directly.
        assert!(is_fine(&guest.call("good__echo", &json!({"path": "/tmp/x"})).await), "{}", guest.name());
    }
    assert!(!place.wire().contains("/etc/x") && !place.wire().contains("call_tool"), "{}", place.wire());
}

#[tokio::test]
async fn the_record_names_the_tool_that_was_meant() {
    let place = Place::start_searched(&format!("{RULES}audit: true\n")).await;
    let key = place.state.new_key(&["guest"]).await;
    let ways = Way::all(place.by(&key)).await;
    for way in &ways {
        found(way, "echo").await;
        through(way, "good__echo", &json!({"path": "/tmp/x"})).await;
        through(way, "good__test_simple_text", &json!({})).await;
        through(way, "good__nothing", &json!({})).await;
    }
    let (_state, entries, _) = recorded(place).await;
    let calls = entries.iter().filter(|one| one["method"] == "tools/call");
    let seen: Vec<_> =
        calls.map(|one| (one["tool"].clone(), one["outcome"].clone(), one["server"].clone())).collect();
    let wanted = [
        (json!("find_tools"), json!("ok"), Value::Null),
        (json!("good__echo"), json!("ok"), json!("good")),
        (json!("good__test_simple_text"), json!("denied"), json!("good")),
        (json!("good__nothing"), json!("unknown"), Value::Null),
    ];
    assert_eq!(seen.len(), ways.len() * wanted.len(), "{seen:#?}");
    for (seen, way) in seen.chunks(wanted.len()).zip(&ways) {
        assert_eq!(seen, wanted, "{}", way.name());
    }
}

#[tokio::test]
async fn a_limit_for_a_tool_counts_its_inner_calls() {
    let place = Place::start_searched("rateLimits: [{ rate: 3/1h, tools: good__echo }]\n").await;
    for at in 0..5 {
        let key = place.state.new_key(&[&format!("key-{at}")]).await;
        let ways = Way::all(place.by(&key)).await;
        let way = &ways[at];
        for _ in 0..2 {
            assert!(is_fine(&through(way, "good__echo", &json!({})).await), "{}", way.name());
        }
        assert!(is_fine(&way.call("good__echo", &json!({})).await), "{}", way.name());
        assert!(!is_fine(&through(way, "good__echo", &json!({})).await), "{}", way.name());
        assert!(!is_fine(&way.call("good__echo", &json!({})).await), "{}", way.name());
        assert!(is_fine(&through(way, "good__test_simple_text", &json!({})).await), "{}", way.name());
    }
}
