//! A gateway in front of a well-behaved upstream, and of whatever a test puts beside it.

use serde_json::json;
use testkit::fixture::{Eras, Running};

use super::gateway::{Gateway, Start};
use super::http::Http;
use super::session::{Legacy, Modern, text};
use super::upstreams::{fixture, quoted};

/// The gateway, the server `good` behind it, and a client that had its session before anything happened.
pub(crate) struct Scene {
    pub(crate) gateway: Gateway,
    pub(crate) good: Running,
    witness: Legacy,
}

impl Scene {
    /// `servers` are further entries of `mcpServers`, one a line; `rest` is the rest of the configuration.
    pub(crate) async fn new(servers: &[(&str, &str)], rest: &str) -> Self {
        Self::start_with(servers, rest, &Start::default()).await
    }

    /// The same with arguments and environment variables.
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

    /// The client that had its session before anything happened.
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
