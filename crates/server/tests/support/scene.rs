//! A gateway in front of a well-behaved upstream, and of any servers that a test adds.

use std::sync::Arc;

use serde_json::{Value, json};
use testkit::fixture::{Eras, Running};
use tokio::task::JoinSet;

use super::gateway::{Gateway, Start};
use super::upstreams::{fixture, quoted};
use super::{Http, Legacy, Modern, error_message, request, soon, text};

/// The gateway, the server `good` behind it, and a client that opened its session before anything happened.
pub(crate) struct Scene {
    pub(crate) gateway: Gateway,
    pub(crate) good: Running,
    witness: Legacy,
}

impl Scene {
    /// Starts a scene. `servers` are further entries of `mcpServers`, one per line; `rest` is the rest of the
    /// configuration.
    pub(crate) async fn new(servers: &[(&str, &str)], rest: &str) -> Self {
        Self::start_with(servers, rest, &Start::default()).await
    }

    /// Starts a scene with arguments and environment variables.
    pub(crate) async fn start_with(servers: &[(&str, &str)], rest: &str, with: &Start<'_>) -> Self {
        let good = fixture(Eras::Both).await;
        let config = Self::config(&good, servers, rest);
        let gateway = Gateway::start_with(&Start { config: &config, ..with.clone() }).await;
        let witness = Legacy::open(gateway.http()).await;
        let scene = Self { gateway, good, witness };
        scene.is_well().await;
        scene
    }

    /// The configuration's text.
    pub(crate) fn config(good: &Running, servers: &[(&str, &str)], rest: &str) -> String {
        let mut config = format!("mcpServers:\n  good: {{ url: {} }}\n", quoted(&good.url()));
        for (name, server) in servers {
            config.push_str("  ");
            config.push_str(name);
            config.push_str(": ");
            config.push_str(server);
            config.push('\n');
        }
        config + rest
    }

    pub(crate) fn http(&self) -> Http {
        self.gateway.http()
    }

    /// The client that opened its session before anything happened.
    pub(crate) fn witness(&self) -> &Legacy {
        &self.witness
    }

    /// Checks that the server `good` answers old and new clients of either era.
    pub(crate) async fn is_well(&self) {
        let arguments = json!({"a": 1});
        let answers = [
            self.witness.call("good__echo", &arguments).await,
            Legacy::open(self.http()).await.call("good__echo", &arguments).await,
            Modern::new(self.http()).call("good__echo", &arguments).await,
        ];
        for answer in answers {
            assert_eq!(text(&answer), arguments.to_string());
        }
    }
}

/// A call that is certainly in progress; its answer is the only outstanding one.
pub(crate) async fn under_way(session: &Arc<Legacy>, tool: &str, arguments: &Value) -> JoinSet<Value> {
    let call = request("one", "tools/call", &json!({"name": tool, "arguments": arguments})).to_string();
    let mut calls = JoinSet::new();
    for _ in 0..2 {
        let (session, call) = (session.clone(), call.clone());
        calls.spawn(async move { session.post(&[], &call).await.response().await });
    }
    // Of two calls with the same ID, one is refused at once: then the other one has begun.
    let refusal = soon("a refusal", calls.join_next()).await.expect("two calls").expect("no panic");
    assert!(error_message(&refusal).contains("id is open"), "{refusal}");
    calls
}
