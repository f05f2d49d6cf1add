//! State that clients share at a server: no client waits for something that only other clients want, and no
//! client receives it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::client::{Peer, Wire};
use tokio::sync::watch;

use crate::gateway;
use crate::support::{Actor, Gateway, LEGACY, Legacy, Modern, Puppet, Said, Speaks, text};
use crate::{askable, call};

const URI: &str = "memo:///a";

fn logged(level: &str) -> Value {
    let params = json!({"level": level, "data": level});
    json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params})
}

#[tokio::test]
async fn each_session_hears_its_own_log_level_during_its_call() {
    let actor = Actor::start(Speaks::Handshake).await;
    let gateway = gateway(&actor.config(), "").await;
    let (calm, curious) = (Legacy::open(gateway.http()).await, Legacy::open(gateway.http()).await);
    for (client, level) in [(&calm, "error"), (&curious, "debug")] {
        assert_eq!(client.ask("logging/setLevel", &json!({"level": level})).await["result"], json!({}));
    }
    let params = call("up__ok", &json!({}));
    for (client, heard) in [(&calm, vec!["error"]), (&curious, vec!["info", "error"])] {
        let speaking = async {
            let line = actor.next("tools/call").await;
            line.say(&logged("info"));
            line.say(&logged("error"));
            line.answer_text("done");
        };
        let (mut reply, ()) = tokio::join!(client.begin("tools/call", &params), speaking);
        for level in heard {
            let message = reply.message().await.expect("a log message");
            assert_eq!(message["params"]["level"], level, "{message}");
        }
        assert_eq!(text(&reply.response().await), "done");
    }
}

#[tokio::test]
async fn a_call_does_not_wait_until_its_link_knows_what_others_listen_to() {
    let puppet = Puppet::start(|number, received| {
        let result = match received.method() {
            "initialize" => json!({
                "protocolVersion": LEGACY, "capabilities": {"tools": {}, "resources": {"subscribe": true}},
                "serverInfo": {"name": "puppet", "version": "1"},
            }),
            "resources/list" => json!({"resources": [{"uri": URI, "name": "a"}]}),
            // The listener's own link, and the link of a call.
            "resources/subscribe" if number == 0 => json!({}),
            "resources/subscribe" => return Said::Hold(Vec::new()),
            _ => return Said::Proper,
        };
        Said::Result(result, String::new())
    })
    .await;
    // A client that waited for it would wait for longer than the test may take.
    let gateway = gateway(&puppet.config(), "limits: { connectTimeout: 2m }\n").await;
    let params = json!({"notifications": {"resourceSubscriptions": [URI]}});
    let mut listening = Modern::new(gateway.http()).begin("subscriptions/listen", &params).await;
    listening.message().await.expect("an acknowledgement");
    assert_eq!(text(&askable(&gateway).call("up__ok", &json!({})).await), "ok");
    puppet.was_sent("resources/subscribe", 2).await;
}

#[tokio::test]
async fn what_follows_on_a_stream_does_not_wait_for_lists_that_changed() {
    let (say, said) = watch::channel((Vec::new(), false));
    let puppet = Puppet::start(move |number, received| {
        let result = match received.method() {
            "initialize" => json!({
                "protocolVersion": LEGACY, "capabilities": {"tools": {"listChanged": true}, "logging": {}},
                "serverInfo": {"name": "puppet", "version": "1"},
            }),
            "GET" => return Said::Stream(said.clone()),
            // Lists after the first one are never answered.
            "tools/list" if number >= 1 => return Said::Hold(Vec::new()),
            _ => return Said::Proper,
        };
        Said::Result(result, String::new())
    })
    .await;
    let gateway = gateway(&puppet.config(), "limits: { callIdleTimeout: 2m, callTimeout: 2m }\n").await;
    let client = Legacy::open(gateway.http()).await;
    assert_eq!(text(&client.call("up__ok", &json!({})).await), "ok");
    puppet.was_sent("tools/list", 1).await;
    let mut standing = client.listen().await;
    let changed = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
    let text = format!("data: {changed}\n\ndata: {}\n\n", logged("error"));
    say.send_modify(|(all, _)| all.extend_from_slice(text.as_bytes()));
    let message = standing.message().await.expect("a notice");
    assert_eq!(message["params"]["level"], "error", "{message}");
    // The lists are fetched nevertheless.
    puppet.was_sent("tools/list", 2).await;
}

#[tokio::test]
async fn a_server_that_announces_without_end_is_asked_a_few_times_a_second() {
    let (say, said) = watch::channel((Vec::new(), false));
    let say = Arc::new(say);
    let changed = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
    let announce = move || {
        say.send_modify(|(all, _)| all.extend_from_slice(format!("data: {changed}\n\n").as_bytes()));
    };
    let announcing = announce.clone();
    let puppet = Puppet::start(move |number, received| {
        let result = match received.method() {
            "initialize" => json!({
                "protocolVersion": LEGACY, "capabilities": {"tools": {"listChanged": true}},
                "serverInfo": {"name": "puppet", "version": "1"},
            }),
            "GET" => return Said::Stream(said.clone()),
            "tools/list" if number >= 1 => {
                announcing();
                return Said::Proper;
            }
            _ => return Said::Proper,
        };
        Said::Result(result, String::new())
    })
    .await;
    let gateway = gateway(&puppet.config(), "").await;
    let client = Legacy::open(gateway.http()).await;
    assert_eq!(text(&client.call("up__ok", &json!({})).await), "ok");
    puppet.was_sent("tools/list", 1).await;
    let begun = Instant::now();
    announce();
    puppet.was_sent("tools/list", 4).await;
    assert!(begun.elapsed() >= Duration::from_millis(550), "{:?}", begun.elapsed());
}

/// A server whose lists a client knows, and whose lists are being fetched again: it has announced a change, and its answer is awaited.
struct Relisting {
    puppet: Puppet,
    client: Legacy,
    list: watch::Sender<(Vec<u8>, bool)>,
    gateway: Gateway,
    _say: watch::Sender<(Vec<u8>, bool)>,
}

impl Relisting {
    async fn begin() -> Self {
        let (say, said) = watch::channel((Vec::new(), false));
        let (list, listed) = watch::channel((Vec::new(), false));
        let puppet = Puppet::start(move |number, received| {
            let result = match received.method() {
                "initialize" => json!({
                    "protocolVersion": LEGACY, "capabilities": {"tools": {"listChanged": true}},
                    "serverInfo": {"name": "puppet", "version": "1"},
                }),
                "GET" => return Said::Stream(said.clone()),
                "tools/list" if number == 1 => return Said::Stream(listed.clone()),
                _ => return Said::Proper,
            };
            Said::Result(result, String::new())
        })
        .await;
        let gateway = gateway(&puppet.config(), "").await;
        let client = Legacy::open(gateway.http()).await;
        assert_eq!(text(&client.call("up__ok", &json!({})).await), "ok");
        let changed = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
        say.send_modify(|(all, _)| all.extend_from_slice(format!("data: {changed}\n\n").as_bytes()));
        puppet.was_sent("tools/list", 2).await;
        Self { puppet, client, list, gateway, _say: say }
    }

    /// Lets the server answer with another tool.
    fn end(&self) {
        let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
        let mut asked =
            self.puppet.received().into_iter().filter(|received| received.method() == "tools/list");
        let id = asked.next_back().expect("a request").body["id"].clone();
        let answer = json!({"jsonrpc": "2.0", "id": id, "result": {"tools": [tool("ok"), tool("new")]}});
        self.list.send_modify(|(all, over)| {
            all.extend_from_slice(format!("data: {answer}\n\n").as_bytes());
            *over = true;
        });
    }

    /// The number of calls of the new tool that the server received.
    fn calls(&self) -> usize {
        self.puppet.received().iter().filter(|received| received.body["params"]["name"] == "new").count()
    }
}

#[tokio::test]
async fn a_call_of_an_unknown_name_waits_while_its_server_is_listed() {
    let relisting = Relisting::begin().await;
    let nothing = json!({});
    let mut call = std::pin::pin!(relisting.client.call("up__new", &nothing));
    let early = tokio::time::timeout(Duration::from_millis(100), &mut call).await;
    assert!(early.is_err(), "it did not wait for the list: {early:?}");
    relisting.end();
    let answer = call.await;
    assert!(!answer.to_string().contains("unknown"), "{answer}");
    assert_eq!(relisting.calls(), 1, "{answer}");
}

#[tokio::test]
async fn a_call_that_waits_for_a_list_can_be_cancelled() {
    let relisting = Relisting::begin().await;
    let params = call("up__new", &json!({}));
    let mut waiting = std::pin::pin!(relisting.client.begin("tools/call", &params));
    let early = tokio::time::timeout(Duration::from_millis(100), &mut waiting).await;
    assert!(early.is_err(), "it did not wait for the list");
    let notice = json!({"requestId": relisting.client.last()});
    relisting.client.notify("notifications/cancelled", &notice).await;
    assert_eq!(waiting.await.status, 202, "a cancelled request gets no answer");
    relisting.end();
    assert_eq!(text(&relisting.client.call("up__ok", &json!({})).await), "ok");
    assert_eq!(relisting.calls(), 0, "the cancelled call ran");
}

#[tokio::test]
async fn a_call_of_an_event_stream_that_waits_for_a_list_can_be_cancelled_at_once() {
    let relisting = Relisting::begin().await;
    let mut client =
        Peer::new(Wire::sse(relisting.gateway.http(), "/sse", "").await, &json!(LEGACY), &json!({}));
    client.introduce().await;
    let id = client.begin("tools/call", &call("up__new", &json!({}))).await.id;
    client.notify("notifications/cancelled", &json!({"requestId": id})).await;
    // Messages of a session are handled in order.
    assert_eq!(text(&client.call("up__ok", &json!({})).await), "ok");
    relisting.end();
    assert_eq!(text(&relisting.client.call("up__ok", &json!({})).await), "ok");
    assert_eq!(relisting.calls(), 0, "the cancelled call ran");
}
