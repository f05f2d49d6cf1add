//! What is read and listened to is under the same rules as what is listed.

use serde_json::{Value, json};

use crate::place::*;
use crate::rules::unlike;
use crate::support::*;

const SHOWN: &str = "test://static-text";
const DENIED: [&str; 3] = ["test://static-binary", "test://watched-resource", "test://template/1/data"];

#[tokio::test]
async fn denied_resources_are_not_read() {
    let (place, boss, guest) = unlike().await;
    let everything = Way::Stateless(Modern::new(boss));
    for uri in DENIED {
        assert!(is_fine(&everything.ask("resources/read", &json!({"uri": uri})).await), "{uri}");
    }
    for way in [Way::Session(Legacy::open(guest).await), Way::Stateless(Modern::new(guest))] {
        let listed = way.ask("resources/list", &json!({})).await;
        let uris: Vec<&Value> =
            listed["result"]["resources"].as_array().expect("a list").iter().map(|one| &one["uri"]).collect();
        assert_eq!(uris, [SHOWN], "{}", way.name());
        let templates = way.ask("resources/templates/list", &json!({})).await;
        assert_eq!(templates["result"]["resourceTemplates"], json!([]), "{}", way.name());
        assert!(is_fine(&way.ask("resources/read", &json!({"uri": SHOWN})).await), "{}", way.name());
        let unknown = way.ask("resources/read", &json!({"uri": "nothing://at-all"})).await;
        for uri in DENIED {
            let denied = way.ask("resources/read", &json!({"uri": uri})).await;
            assert_eq!(error_code(&denied), error_code(&unknown), "{}: {denied}", way.name());
            let told = error_message(&denied).replace(uri, "nothing://at-all");
            assert_eq!(told, error_message(&unknown), "{}", way.name());
        }
    }
    let read: Vec<Value> =
        place.sent("resources/read").iter().map(|one| one["params"]["uri"].clone()).collect();
    assert_eq!(read, [DENIED[0], DENIED[1], DENIED[2], SHOWN, SHOWN]);
}

#[tokio::test]
async fn denied_resources_are_not_listened_to() {
    let (place, boss, guest) = unlike().await;
    let watched = json!({"uri": DENIED[1]});
    let (mine, theirs) = (Legacy::open(boss).await, Legacy::open(guest).await);
    let refused = theirs.ask("resources/subscribe", &watched).await;
    assert!(refused.get("error").is_some(), "{refused}");
    let uris = json!({"notifications": {"resourceSubscriptions": [DENIED[1], SHOWN]}});
    let mut listening = Modern::new(guest).begin("subscriptions/listen", &uris).await;
    let first = listening.message().await.expect("an acknowledgement");
    assert_eq!(first["params"]["notifications"]["resourceSubscriptions"], json!([SHOWN]), "{first}");
    let told = |method: &str| -> Vec<String> { place.sent(method).iter().map(Value::to_string).collect() };
    let before = [told("resources/subscribe"), told("subscriptions/listen")].concat().join("\n");
    assert!(!before.contains(DENIED[1]), "{before}");
    // Who may, hears of it; and what is heard then reaches nobody else.
    let mut standing = mine.listen().await;
    assert!(is_fine(&mine.ask("resources/subscribe", &watched).await));
    assert!(is_fine(&mine.call("good__test_touch_watched", &json!({})).await));
    let heard = standing.message().await.expect("a notice");
    assert_eq!(
        (&heard["method"], &heard["params"]["uri"]),
        (&json!("notifications/resources/updated"), &watched["uri"])
    );
}
