//! Subscriptions: each client has its own, which are confirmed only if the server honours them.

use serde_json::{Value, json};

use crate::gateway;
use crate::support::{
    Actor, Gateway, LEGACY, Legacy, MODERN, Modern, Puppet, Received, Said, Speaks, Stdio, error_code,
    error_message,
};

const URI: &str = "memo:///a";

fn updated(uri: &str) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}})
}

/// The confirmation that a stateless client gets for its subscription to the resource.
async fn honoured(gateway: &Gateway) -> Value {
    let params = json!({"notifications": {"resourceSubscriptions": [URI]}});
    let mut reply = Modern::new(gateway.http()).begin("subscriptions/listen", &params).await;
    let first = reply.message().await.expect("an acknowledgement");
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged", "{first}");
    first["params"]["notifications"].clone()
}

#[tokio::test]
async fn nobody_ends_a_subscription_of_another_session() {
    let actor = Actor::start(Speaks::Handshake).await;
    let gateway = gateway(&actor.config(), "").await;
    let (one, other) = (Legacy::open(gateway.http()).await, Legacy::open(gateway.http()).await);
    let uri = json!({"uri": URI});
    assert_eq!(one.ask("resources/subscribe", &uri).await["result"], json!({}));
    // The client has never followed anything, nor made a call.
    assert_eq!(other.ask("resources/unsubscribe", &uri).await["result"], json!({}));
    assert_eq!(actor.count("resources/unsubscribe"), 0);
    // An unsubscription after its own subscription is not passed on either.
    assert_eq!(other.ask("resources/subscribe", &uri).await["result"], json!({}));
    assert_eq!(other.ask("resources/unsubscribe", &uri).await["result"], json!({}));
    assert_eq!(actor.count("resources/unsubscribe"), 0);
    assert_eq!(one.ask("resources/unsubscribe", &uri).await["result"], json!({}));
    assert_eq!(actor.count("resources/unsubscribe"), 1, "the last one ends it");
}

#[tokio::test]
async fn a_change_of_a_part_is_told_to_a_session_that_listens_to_the_whole() {
    let actor = Actor::start(Speaks::Handshake).await;
    let gateway = gateway(&actor.config(), "").await;
    let client = Legacy::open(gateway.http()).await;
    let mut stream = client.listen().await;
    assert_eq!(client.ask("resources/subscribe", &json!({"uri": URI})).await["result"], json!({}));
    // Clients with sessions and clients without sessions share a subscription.
    let standing = actor.next("GET").await;
    standing.say(&updated("memo:///ab"));
    standing.say(&updated("memo:///a/part"));
    let message = stream.message().await.expect("a notice");
    assert_eq!(message["params"]["uri"], "memo:///a/part", "{message}");
}

/// The answers of a stateless server with one resource and these capabilities.
fn stateless(received: &Received, resources: &Value) -> Said {
    let mut result = match received.method() {
        "server/discover" => {
            json!({"supportedVersions": [MODERN], "capabilities": {"resources": resources}})
        }
        "resources/list" => json!({"resources": [{"uri": URI, "name": "a"}]}),
        "resources/templates/list" => json!({"resourceTemplates": []}),
        _ => {
            let error = json!({"code": -32601, "message": "there is no such method"});
            let body = json!({"jsonrpc": "2.0", "id": received.body["id"], "error": error});
            return Said::Status(404, "application/json", body.to_string());
        }
    };
    result["resultType"] = json!("complete");
    result["ttlMs"] = json!(60_000);
    result["cacheScope"] = json!("public");
    Said::Result(result, String::new())
}

#[tokio::test]
async fn a_server_without_subscriptions_is_not_said_to_have_them() {
    let puppet = Puppet::start(|_, received| stateless(received, &json!({}))).await;
    let gateway = gateway(&puppet.config(), "").await;
    let client = Legacy::open(gateway.http()).await;
    let answer = client.ask("resources/subscribe", &json!({"uri": URI})).await;
    assert_eq!(error_code(&answer), -32601, "{answer}");
    assert!(error_message(&answer).contains("\"up\" does not support subscriptions"), "{answer}");
    assert_eq!(honoured(&gateway).await, json!({}));
    assert_eq!(puppet.count("subscriptions/listen"), 0);
}

#[tokio::test]
async fn a_stream_that_a_server_refuses_is_not_confirmed() {
    let puppet = Puppet::start(|_, received| stateless(received, &json!({"subscribe": true}))).await;
    let gateway = gateway(&puppet.config(), "").await;
    assert_eq!(honoured(&gateway).await, json!({}));
    let client = Legacy::open(gateway.http()).await;
    let answer = client.ask("resources/subscribe", &json!({"uri": URI})).await;
    assert!(error_message(&answer).contains("does not send updates"), "{answer}");
}

#[tokio::test]
async fn what_a_stateless_server_does_not_acknowledge_is_not_confirmed() {
    let actor = Actor::start(Speaks::Stateless).await;
    let gateway = gateway(&actor.config(), "").await;
    let nothing = async {
        let line = actor.next("subscriptions/listen").await;
        let meta = json!({"io.modelcontextprotocol/subscriptionId": line.received.body["id"]});
        let params = json!({"notifications": {}, "_meta": meta});
        line.say(
            &json!({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": params}),
        );
        line
    };
    let (told, line) = tokio::join!(honoured(&gateway), nothing);
    assert_eq!(told, json!({}));
    // No client needs anything there any more.
    line.gone().await;
}

#[tokio::test]
async fn what_a_server_with_sessions_refuses_is_not_confirmed() {
    let puppet = Puppet::start(|_, received| {
        let result = match received.method() {
            "initialize" => json!({
                "protocolVersion": LEGACY, "capabilities": {"resources": {"subscribe": true}},
                "serverInfo": {"name": "puppet", "version": "1"},
            }),
            "resources/list" => json!({"resources": [{"uri": URI, "name": "a"}]}),
            _ => return Said::Proper,
        };
        Said::Result(result, String::new())
    })
    .await;
    let gateway = gateway(&puppet.config(), "").await;
    assert_eq!(honoured(&gateway).await, json!({}));
    assert_eq!(puppet.count("resources/subscribe"), 1);
    // It is asked again for a later client.
    assert_eq!(honoured(&gateway).await, json!({}));
    assert_eq!(puppet.count("resources/subscribe"), 2);
}

#[tokio::test]
async fn a_server_that_acknowledges_late_holds_up_nothing_else_of_a_client_over_pipes() {
    let actor = Actor::start(Speaks::Stateless).await;
    let config = format!("mcpServers:\n  up: {}\n", actor.config());
    let mut client = Stdio::open(&config).await;
    let subscribing = client.begin("resources/subscribe", &json!({"uri": URI})).await;
    let pinging = client.begin("ping", &json!({})).await;
    let first = client.message().await;
    assert_eq!(first["id"], pinging, "{first}");
    let second = client.message().await;
    assert_eq!((&second["id"], &second["result"]), (&subscribing, &json!({})), "{second}");
}
