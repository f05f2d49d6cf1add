//! Lists and calls follow the same rules, in sessions, without sessions, and in dialects.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::place::*;
use crate::support::*;

pub(crate) const RULES: &str = "
access:
  - { allow: '*', who: { key: boss } }
  - allow: [good__echo, good__test_error_handling, good__test_simple_prompt, 'test://static-text']
    who: { key: guest }
  - { allow: '*', when: { annotations: { readOnlyHint: true } }, who: { key: guest } }
  - { deny: good__echo, when: { arguments: { path: ['/etc/*', '*..*'] } }, who: { key: guest } }
";

/// The tools that the guest may see.
const SHOWN: [&str; 3] = ["good__echo", "good__test_described_tool", "good__test_error_handling"];

/// The place with one caller that may use everything, and one that may not.
pub(crate) async fn unlike() -> (Place, Http, Http) {
    let place = Place::start(RULES).await;
    let (boss, guest) = (place.state.new_key(&["boss"]).await, place.state.new_key(&["guest"]).await);
    let (boss, guest) = (place.by(&boss), place.by(&guest));
    (place, boss, guest)
}

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names
}

#[tokio::test]
async fn two_callers_see_and_use_their_own() {
    let (_place, boss, guest) = unlike().await;
    let (bosses, guests) = (Way::all(boss).await, Way::all(guest).await);
    for _ in 0..3 {
        for (all, some) in bosses.iter().zip(&guests) {
            let (everything, shown) = tokio::join!(all.tools(), some.tools());
            assert!(everything.len() > 20, "{}: {everything:?}", all.name());
            assert_eq!(sorted(shown), SHOWN, "{}", some.name());
            let none = json!({});
            let calls =
                (all.call("good__test_simple_text", &none), some.call("good__test_simple_text", &none));
            let (mine, theirs) = tokio::join!(calls.0, calls.1);
            assert!(is_fine(&mine), "{}: {mine}", all.name());
            assert!(!is_fine(&theirs), "{}: {theirs}", some.name());
            assert!(is_fine(&some.call("good__echo", &json!({"path": "/tmp/x"})).await), "{}", some.name());
        }
    }
}

/// The status and the answer to a call, with its tool's name removed.
async fn without_name(way: &Way, tool: &str, arguments: &Value) -> (u16, String) {
    let mut reply = way.begin("tools/call", &json!({"name": tool, "arguments": arguments})).await;
    let mut answer = reply.response().await;
    answer["id"] = Value::Null;
    (reply.status, answer.to_string().replace(tool, "TOOL"))
}

#[tokio::test]
async fn what_is_denied_looks_unknown() {
    let (place, boss, guest) = unlike().await;
    let everything: BTreeSet<String> = Way::Stateless(Modern::new(boss)).tools().await.into_iter().collect();
    let calls = place.sent("tools/call").len();
    for way in Way::all(guest).await {
        let unknown = without_name(&way, "good__nothing_at_all", &json!({})).await;
        for tool in everything.iter().filter(|tool| !SHOWN.contains(&tool.as_str())) {
            let denied = without_name(&way, tool, &json!({})).await;
            assert_eq!(denied, unknown, "{}: {tool}", way.name());
        }
        // This tool is listed, but this particular call of it is denied.
        for arguments in [json!({"path": "/etc/passwd"}), json!({"path": ["/tmp/x", "a/../b"]})] {
            let (_, denied) = without_name(&way, "good__echo", &arguments).await;
            assert!(denied.contains("cannot be called with these arguments"), "{}: {denied}", way.name());
            assert_ne!(denied, unknown.1, "{}: {arguments}", way.name());
        }
    }
    assert_eq!(place.sent("tools/call").len(), calls, "nothing went further");
}

#[tokio::test]
async fn arguments_that_read_in_two_ways_are_denied() {
    let (place, _, guest) = unlike().await;
    for path in DIALECTS {
        for arguments in [r#"{"path":"/etc/x","path":"/tmp/x"}"#, r#"{"path":"/tmp/x","p\u0061th":"/etc/x"}"#]
        {
            let body = format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"good__echo","arguments":{arguments}}}}}"#
            );
            let answer = guest.post(path, &[], &body).await.response().await;
            assert!(!is_fine(&answer), "{path} {arguments}: {answer}");
        }
    }
    let session = Legacy::open(guest).await;
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"good__echo","arguments":{"path":"/etc/x","path":"/tmp/x"}}}"#;
    let answer = session.post(&[], body).await.response().await;
    assert!(!is_fine(&answer), "{answer}");
    assert!(place.sent("tools/call").is_empty());
}

#[tokio::test]
async fn prompts_are_under_rules_too() {
    let (place, boss, guest) = unlike().await;
    let (session, stateless) = (Way::Session(Legacy::open(guest).await), Way::Stateless(Modern::new(guest)));
    let all = Way::Stateless(Modern::new(boss)).ask("prompts/list", &json!({})).await;
    assert!(all["result"]["prompts"].as_array().is_some_and(|all| all.len() > 3), "{all}");
    for way in [session, stateless] {
        let shown = way.ask("prompts/list", &json!({})).await;
        let names: Vec<&Value> =
            shown["result"]["prompts"].as_array().expect("prompts").iter().map(|p| &p["name"]).collect();
        assert_eq!(names, ["good__test_simple_prompt"], "{}", way.name());
        assert!(is_fine(&way.ask("prompts/get", &json!({"name": "good__test_simple_prompt"})).await));
        let denied = way.ask("prompts/get", &json!({"name": "good__test_prompt_with_image"})).await;
        let unknown = way.ask("prompts/get", &json!({"name": "good__nothing"})).await;
        assert_eq!(
            error_message(&denied).replace("test_prompt_with_image", "nothing"),
            error_message(&unknown)
        );
        assert_eq!(error_code(&denied), error_code(&unknown));
        let completed = json!({
            "ref": {"type": "ref/prompt", "name": "good__test_prompt_with_arguments"},
            "argument": {"name": "arg1", "value": "a"},
        });
        let completed = way.ask("completion/complete", &completed).await;
        assert!(completed.get("error").is_some(), "{completed}");
    }
    assert_eq!(place.sent("prompts/get").len(), 2);
    assert!(place.sent("completion/complete").is_empty());
}
