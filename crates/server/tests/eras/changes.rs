//! Changes to lists, and to resources that a client follows.

use serde_json::{Value, json};

use crate::section::Topics;
use crate::stage::{Feature, Stage};
use crate::tools::said;
use crate::version::Version;

pub(crate) const FEATURES: &[Feature] = &[
    Feature {
        name: "list-changed",
        title: "Notifications about changed lists",
        topics: Topics::during(&["tools/call", "notifications/tools/list_changed"]),
        run: |stage| Box::pin(lists(stage)),
    },
    Feature {
        name: "subscription",
        title: "Notifications about a changed resource",
        topics: Topics::during(&[
            "resources/subscribe",
            "resources/unsubscribe",
            "resources/read",
            "notifications/resources/updated",
            "subscriptions/listen",
            "notifications/subscriptions/acknowledged",
            "tools/call",
        ]),
        run: |stage| Box::pin(resources(stage)),
    },
];

fn description(answer: &Value) -> &str {
    let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("no tools in {answer}"));
    let tool = tools.iter().find(|tool| tool["name"] == "up__test_changing_tool").expect("it is listed");
    tool["description"].as_str().expect("text")
}

/// A client that listens is notified of a changed list, and gets the new list right after.
async fn lists(stage: &mut Stage) {
    let mut news = stage.client.listen(&json!({"toolsListChanged": true})).await;
    let before = stage.client.ask("tools/list", &json!({})).await;
    let answer = stage.call("test_trigger_tool_change", &json!({})).await;
    assert_eq!(said(stage, &answer), "Revision 1");
    let told = stage.client.news(&mut news).await;
    assert_eq!(told["method"], "notifications/tools/list_changed", "{told}");
    let after = stage.client.ask("tools/list", &json!({})).await;
    assert_ne!(description(&before), description(&after));
    assert!(description(&after).ends_with("revision 1"), "{after}");
    stage.client.unlisten(news).await;
}

/// A client is notified of a resource until it unsubscribes.
async fn resources(stage: &mut Stage) {
    let uri = "test://watched-resource";
    let mut news = stage.client.listen(&json!({"resourceSubscriptions": [uri]})).await;
    let answer = stage.call("test_touch_watched", &json!({})).await;
    assert_eq!(said(stage, &answer), "Revision 1");
    let told = stage.client.news(&mut news).await;
    assert_eq!(told["method"], "notifications/resources/updated", "{told}");
    assert_eq!(told["params"]["uri"], uri, "{told}");
    let read = stage.client.ask("resources/read", &json!({"uri": uri})).await;
    assert_eq!(read["result"]["contents"][0]["text"], "Revision 1", "{read}");
    if stage.pair.client.is_stateless() {
        stage.client.unlisten(news).await;
    } else {
        let answer = stage.client.ask("resources/unsubscribe", &json!({"uri": uri})).await;
        assert_eq!(answer["result"], json!({}), "{answer}");
    }
    if stage.pair.upstream < Version::July2026 {
        stage.was_answered("resources/unsubscribe").await;
    }
}
