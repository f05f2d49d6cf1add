//! Reading and subscribing follow the same rules as lists.

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
async fn a_dialects_client_hears_of_what_it_listens_to() {
    let (_place, boss, guest) = unlike().await;
    let at = |who: Http| async move {
        let mut events = who.get("/gateway", &[("Accept", "text/event-stream")]).await;
        let messages = events.data().await.expect("where messages go");
        (events, messages)
    };
    let send = |who: Http, messages: String, id: u64, method: &'static str, params: Value| async move {
        let reply = who.post(&messages, &[], &request(id, method, &params).to_string()).await;
        assert!((200..300).contains(&reply.status), "{method}: {}", reply.status);
    };
    let watched = json!({"uri": DENIED[1]});
    let ((mut mine, my_messages), (mut theirs, their_messages)) = (at(boss).await, at(guest).await);
    send(boss, my_messages.clone(), 1, "resources/subscribe", watched.clone()).await;
    let agreed = mine.message().await.expect("an answer");
    assert_eq!((&agreed["id"], &agreed["result"]), (&json!(1), &json!({})), "{agreed}");
    send(guest, their_messages.clone(), 1, "resources/subscribe", watched.clone()).await;
    let refused = theirs.message().await.expect("an answer");
    assert_eq!(refused["error"]["code"], -32001, "{refused}");
    let touch = json!({"name": "good__test_touch_watched", "arguments": {}});
    send(boss, my_messages.clone(), 2, "tools/call", touch.clone()).await;
    // The answer and the notification come in any order.
    let (one, two) = (mine.message().await.expect("one"), mine.message().await.expect("two"));
    let notice = if one.get("method").is_some() { one } else { two };
    let wanted = json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": watched});
    assert_eq!(notice, wanted);
    send(boss, my_messages.clone(), 3, "resources/unsubscribe", watched.clone()).await;
    assert_eq!(mine.message().await.expect("an answer")["id"], 3);
    send(boss, my_messages, 4, "tools/call", touch).await;
    assert_eq!(mine.message().await.expect("an answer")["id"], 4, "nothing else comes");
    send(guest, their_messages, 5, "tools/list", json!({})).await;
    assert_eq!(theirs.message().await.expect("an answer")["id"], 5, "nothing came there");
}

const PROFILE: &str = "{ resources: { allow: ['test://static-text', 'test://template/1/*'] } }";
const UNLISTED: &str = "test://template/1/data";

#[tokio::test]
async fn resources_that_a_profile_excludes_are_unknown_on_every_way() {
    let place = Place::start_with_profile(PROFILE).await;
    let key = place.state.new_key(&["ann"]).await;
    let ann = place.by(&key);
    let ways = [
        Way::Session(Legacy::open(ann).await),
        Way::Stateless(Modern::new(ann)),
        Way::Dialect(ann, "/gateway"),
    ];
    for way in ways {
        for uri in [SHOWN, UNLISTED] {
            let read = way.ask("resources/read", &json!({"uri": uri})).await;
            assert!(is_fine(&read), "{}: {read}", way.name());
        }
        for method in ["resources/read", "resources/subscribe", "resources/unsubscribe"] {
            let unknown = way.ask(method, &json!({"uri": "nothing://at-all"})).await["error"].to_string();
            for uri in [DENIED[0], DENIED[1], "test://template/2/data"] {
                let denied = way.ask(method, &json!({"uri": uri})).await["error"].to_string();
                assert_eq!(denied.replace(uri, "nothing://at-all"), unknown, "{} {method}", way.name());
            }
        }
    }
    let uris = json!({"notifications": {"resourceSubscriptions": [DENIED[1], SHOWN, UNLISTED]}});
    let mut listening = Modern::new(ann).begin("subscriptions/listen", &uris).await;
    let first = listening.message().await.expect("an acknowledgement");
    assert_eq!(
        first["params"]["notifications"]["resourceSubscriptions"],
        json!([SHOWN, UNLISTED]),
        "{first}"
    );
    for excluded in [DENIED[0], DENIED[1], "test://template/2/data"] {
        assert!(!place.wire().contains(&format!("\"uri\":\"{excluded}\"}}")), "{excluded} was asked for");
    }
}

#[tokio::test]
async fn resources_that_a_profile_excludes_are_unknown_on_event_streams() {
    let place = Place::start_with_profile(PROFILE).await;
    let key = place.state.new_key(&["ann"]).await;
    let ann = place.by(&key);
    for path in ["/sse", "/gateway"] {
        let mut events = ann.get(path, &[("Accept", "text/event-stream")]).await;
        let messages = events.data().await.expect("where messages go");
        let hello = json!({
            "protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}
        });
        let mut answers = Vec::new();
        for (id, (method, uri)) in (1..).zip([
            ("initialize", ""),
            ("resources/read", UNLISTED),
            ("resources/read", DENIED[1]),
            ("resources/read", "nothing://at-all"),
            ("resources/subscribe", DENIED[1]),
            ("resources/subscribe", "nothing://at-all"),
        ]) {
            let params = if id == 1 { hello.clone() } else { json!({"uri": uri}) };
            let reply = ann.post(&messages, &[], &request(id, method, &params).to_string()).await;
            assert!((200..300).contains(&reply.status), "{path} {method}: {}", reply.status);
            let answer = events.message().await.expect("an answer");
            assert_eq!(answer["id"], id, "{path} {method}: {answer}");
            answers.push(answer);
            if id == 1 {
                let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
                ann.post(&messages, &[], &ready.to_string()).await;
            }
        }
        assert!(is_fine(&answers[1]), "{path}: {}", answers[1]);
        let refusal = |at: usize| answers[at]["error"].to_string().replace(DENIED[1], "nothing://at-all");
        assert!(answers[2].get("error").is_some(), "{path}: {}", answers[2]);
        assert_eq!((refusal(2), refusal(4)), (refusal(3), refusal(5)), "{path}");
    }
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
    // A permitted caller is notified; its notifications reach nobody else.
    let mut standing = mine.listen().await;
    assert!(is_fine(&mine.ask("resources/subscribe", &watched).await));
    assert!(is_fine(&mine.call("good__test_touch_watched", &json!({})).await));
    let heard = standing.message().await.expect("a notice");
    assert_eq!(
        (&heard["method"], &heard["params"]["uri"]),
        (&json!("notifications/resources/updated"), &watched["uri"])
    );
}
