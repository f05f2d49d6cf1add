//! Resources that clients follow: one subscription at the server, however many clients follow them.

use serde_json::{Value, json};

use crate::gateway;
use crate::support::{Actor, Gateway, LEGACY, Legacy, Modern, Reply, Speaks};

const URI: &str = "memo:///a";

/// A stateless client's acknowledged stream of notifications about a resource.
async fn listening(gateway: &Gateway, uri: &str) -> Reply {
    let params = json!({"notifications": {"resourceSubscriptions": [uri]}});
    let mut reply = Modern::new(gateway.http()).begin("subscriptions/listen", &params).await;
    let first = reply.message().await.expect("an acknowledgement");
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(first["params"]["notifications"]["resourceSubscriptions"], json!([uri]), "{first}");
    reply
}

fn updated(uri: &str) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}})
}

/// The resource in the next notification of a stream.
async fn heard(reply: &mut Reply) -> String {
    let message = reply.message().await.expect("a notice");
    assert_eq!(message["method"], "notifications/resources/updated", "{message}");
    message["params"]["uri"].as_str().expect("a URI").to_owned()
}

#[tokio::test]
async fn stateless_clients_share_one_subscription_of_a_session() {
    let actor = Actor::start(Speaks::Handshake).await;
    let gateway = gateway(&actor.config(), "").await;
    let standing = actor.next("GET").await;
    let mut one = listening(&gateway, URI).await;
    let mut two = listening(&gateway, URI).await;
    let mut other = listening(&gateway, "memo:///b").await;
    actor.was_sent("resources/subscribe", 2).await;
    standing.say(&updated(URI));
    standing.say(&updated("memo:///b"));
    assert_eq!((heard(&mut one).await, heard(&mut two).await), (URI.to_owned(), URI.to_owned()));
    assert_eq!(heard(&mut other).await, "memo:///b", "each hears of what it wanted");
    drop(one);
    drop(other);
    actor.was_sent("resources/unsubscribe", 1).await;
    standing.say(&updated(URI));
    assert_eq!(heard(&mut two).await, URI);
    drop(two);
    actor.was_sent("resources/unsubscribe", 2).await;
    let told: Vec<Value> = actor
        .received()
        .iter()
        .filter(|one| one.method().ends_with("subscribe"))
        .map(|one| json!([one.method(), one.body["params"]["uri"]]))
        .collect();
    let (on, off) = ("resources/subscribe", "resources/unsubscribe");
    assert_eq!(
        told,
        [json!([on, URI]), json!([on, "memo:///b"]), json!([off, "memo:///b"]), json!([off, URI])]
    );
}

#[tokio::test]
async fn a_session_that_was_lost_is_one_notice_for_each_resource_after_it_listens_again() {
    let actor = Actor::start(Speaks::Handshake).await;
    let gateway = gateway(&actor.config(), "").await;
    let standing = actor.next("GET").await;
    let mut one = listening(&gateway, URI).await;
    let mut two = listening(&gateway, URI).await;
    actor.was_sent("resources/subscribe", 1).await;
    actor.forget_sessions();
    standing.close();
    // The possible gap is reported after the new stream is open, so that no change is lost in between.
    assert_eq!((heard(&mut one).await, heard(&mut two).await), (URI.to_owned(), URI.to_owned()));
    assert_eq!(actor.count("resources/subscribe"), 2);
    let standing = actor.next("GET").await;
    standing.say(&updated("memo:///a/part"));
    assert_eq!(
        (heard(&mut one).await, heard(&mut two).await),
        ("memo:///a/part".into(), "memo:///a/part".into())
    );
}

#[tokio::test]
async fn sessions_share_one_stream_of_a_stateless_server() {
    let actor = Actor::start(Speaks::Stateless).await;
    let gateway = gateway(&actor.config(), "").await;
    let clients = [
        Legacy::open_at(gateway.http(), "/mcp", LEGACY, &json!({})).await,
        Legacy::open_at(gateway.http(), "/mcp", LEGACY, &json!({"roots": {}})).await,
    ];
    let mut streams = [clients[0].listen().await, clients[1].listen().await];
    let params = json!({"uri": URI});
    let (answer, line) =
        tokio::join!(clients[0].ask("resources/subscribe", &params), acknowledging(&actor, &[URI]));
    assert_eq!(answer["result"], json!({}), "{answer}");
    assert_eq!(clients[1].ask("resources/subscribe", &params).await["result"], json!({}));
    let notice = |line: &crate::support::Line| {
        let mut notice = updated(URI);
        notice["params"]["_meta"] =
            json!({"io.modelcontextprotocol/subscriptionId": line.received.body["id"]});
        line.say(&notice);
    };
    notice(&line);
    for stream in &mut streams {
        let message = stream.message().await.expect("a notice");
        assert_eq!(
            (&message["method"], &message["params"]["uri"]),
            (&json!("notifications/resources/updated"), &json!(URI))
        );
        assert_eq!(message["params"].get("_meta"), None, "{message}");
    }
    let more = json!({"uri": "memo:///b"});
    let both = [URI, "memo:///b"];
    let (answer, second) =
        tokio::join!(clients[0].ask("resources/subscribe", &more), acknowledging(&actor, &both));
    assert_eq!(answer["result"], json!({}), "{answer}");
    line.gone().await;
    assert!(second.is_heard());
    notice(&second);
    for stream in &mut streams {
        assert_eq!(heard(stream).await, URI);
    }
    // If a server ends its stream, the gateway requests a new one, and clients are notified of possible
    // changes.
    second.close();
    let third = acknowledging(&actor, &both).await;
    assert_eq!(heard(&mut streams[1]).await, URI);
    let mut missed = [heard(&mut streams[0]).await, heard(&mut streams[0]).await];
    missed.sort();
    assert_eq!(missed, both);
    assert_eq!(clients[0].ask("resources/unsubscribe", &more).await["result"], json!({}));
    let fourth = acknowledging(&actor, &[URI]).await;
    third.gone().await;
    assert_eq!(clients[0].ask("resources/unsubscribe", &params).await["result"], json!({}));
    notice(&fourth);
    assert_eq!(heard(&mut streams[1]).await, URI);
    // The last subscription ends with its session.
    assert!(matches!(clients[1].delete().await.status, 200 | 204));
    fourth.gone().await;
    assert_eq!(actor.count("subscriptions/listen"), 4);
}

/// The next stream of notifications that the gateway requests from a stateless server, which acknowledges it.
async fn acknowledging(actor: &Actor, uris: &[&str]) -> crate::support::Line {
    let line = actor.next("subscriptions/listen").await;
    let wanted = &line.received.body["params"]["notifications"];
    assert_eq!(wanted["resourceSubscriptions"], json!(uris));
    let meta = json!({"io.modelcontextprotocol/subscriptionId": line.received.body["id"]});
    let params = json!({"notifications": wanted, "_meta": meta});
    line.say(
        &json!({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": params}),
    );
    line
}

#[tokio::test]
async fn a_server_that_never_acknowledges_keeps_nobody_waiting() {
    let actor = Actor::start(Speaks::Stateless).await;
    let gateway = gateway(&actor.config(), "limits: { connectTimeout: 500ms }\n").await;
    let client = Legacy::open(gateway.http()).await;
    let answer = client.ask("resources/subscribe", &json!({"uri": URI})).await;
    assert_eq!(answer["result"], json!({}), "{answer}");
    // Its stream is closed, and another one is requested.
    let first = actor.next("subscriptions/listen").await;
    first.gone().await;
    acknowledging(&actor, &[URI]).await;
}
