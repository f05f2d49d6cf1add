//! Changes to lists, and to resources that a client follows.

use serde_json::{Value, json};

use crate::place::{Place, everything};
use crate::support::text;

/// The description of the changing entry in the current list.
fn description(answer: &Value, list: &str, name: &str) -> String {
    let entries = answer["result"][list].as_array().unwrap_or_else(|| panic!("no {list} in {answer}"));
    let entry = entries.iter().find(|entry| entry["name"] == name || entry["uri"] == name);
    entry.unwrap_or_else(|| panic!("no {name} in {answer}"))["description"].as_str().expect("text").to_owned()
}

const LISTS: [(&str, &str, &str, &str, &str); 3] = [
    ("up__test_trigger_tool_change", "tools", "tools/list", "up__test_changing_tool", "toolsListChanged"),
    (
        "up__test_trigger_prompt_change",
        "prompts",
        "prompts/list",
        "up__test_changing_prompt",
        "promptsListChanged",
    ),
    (
        "up__test_trigger_resource_change",
        "resources",
        "resources/list",
        "test://changing-resource",
        "resourcesListChanged",
    ),
];

/// A client that listens is notified of each changed list, and gets the new list right after.
pub(crate) async fn lists(place: Place) {
    for capabilities in [json!({}), everything()] {
        let mut up = place.client(&capabilities).await;
        let filter =
            json!({"toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true});
        let mut news = up.client.listen(&filter).await;
        for (trigger, list, method, entry, _) in LISTS {
            let before = up.client.ask(method, &json!({})).await;
            let turn = up.client.begin("tools/call", &json!({"name": trigger})).await;
            // Over a pipe, the answer and the notification come in any order.
            let (mut said, answer) = up.client.finish(turn).await;
            assert_eq!(text(&answer), "Revision 1");
            let told = match said.pop() {
                Some(told) => told,
                None => up.client.news(&mut news).await,
            };
            assert_eq!(told["method"], format!("notifications/{list}/list_changed"), "{told}");
            let after = up.client.ask(method, &json!({})).await;
            assert_ne!(description(&before, list, entry), description(&after, list, entry));
            assert!(description(&after, list, entry).ends_with("revision 1"), "{after}");
        }
    }
}

/// A stateless client is only notified of the changes that it asked for.
pub(crate) async fn filtered(place: Place) {
    let mut up = place.client(&json!({})).await;
    let mut news = up.client.listen(&json!({"promptsListChanged": true})).await;
    let mut said = Vec::new();
    for (trigger, ..) in LISTS {
        let turn = up.client.begin("tools/call", &json!({"name": trigger})).await;
        said.extend(up.client.finish(turn).await.0);
    }
    // The tools changed before the prompts, so their notification would have come first.
    let told = match said.first() {
        Some(told) => told.clone(),
        None => up.client.news(&mut news).await,
    };
    assert_eq!(told["method"], "notifications/prompts/list_changed", "{told}");
    assert!(said.len() <= 1, "{said:?}");
}

/// A client is notified of a resource until it unsubscribes.
pub(crate) async fn resources(place: Place) {
    for capabilities in [json!({}), everything()] {
        let mut up = place.client(&capabilities).await;
        let uri = "test://watched-resource";
        let mut news =
            up.client.listen(&json!({"resourceSubscriptions": [uri], "toolsListChanged": true})).await;
        for revision in 1..=2 {
            let turn = up.client.begin("tools/call", &json!({"name": "up__test_touch_watched"})).await;
            let (mut said, answer) = up.client.finish(turn).await;
            assert_eq!(text(&answer), format!("Revision {revision}"));
            let told = match said.pop() {
                Some(told) => told,
                None => up.client.news(&mut news).await,
            };
            assert_eq!(told["method"], "notifications/resources/updated", "{told}");
            assert_eq!(told["params"]["uri"], uri, "{told}");
            let read = up.client.ask("resources/read", &json!({"uri": uri})).await;
            assert_eq!(read["result"]["contents"][0]["text"], format!("Revision {revision}"), "{read}");
        }
        if place.is_stateless() {
            continue;
        }
        let answer = up.client.ask("resources/unsubscribe", &json!({"uri": uri})).await;
        assert_eq!(answer["result"], json!({}), "{answer}");
        // The next notification is about the list, not about the resource.
        up.client.call("up__test_touch_watched", &json!({})).await;
        let turn = up.client.begin("tools/call", &json!({"name": "up__test_trigger_tool_change"})).await;
        let (mut said, _) = up.client.finish(turn).await;
        let told = match said.pop() {
            Some(told) => told,
            None => up.client.news(&mut news).await,
        };
        assert_eq!(told["method"], "notifications/tools/list_changed", "{told}");
    }
}
