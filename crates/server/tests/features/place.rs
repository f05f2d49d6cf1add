//! The place of a test: a version, the client's transport and the upstream's; and the upstreams.

use std::net::Ipv4Addr;

use testkit::fixture::{Eras, Options, Running, serve_http, serve_lines};
use tokio::io::BufReader;
use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};

use serde_json::{Value, json};

use crate::support::{Alone, MODERN, Over, Start};

/// The place of a test.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) version: &'static str,
    /// The client's transport.
    pub(crate) client: Over,
    /// The upstream's transport.
    pub(crate) upstream: Over,
}

impl Place {
    /// Returns true if there is no handshake.
    pub(crate) fn is_stateless(self) -> bool {
        self.version == MODERN
    }

    /// The fixture, which supports only this version's era.
    pub(crate) async fn fixture(self) -> Fixture {
        self.fixture_with(false).await
    }

    /// The fixture with lists of several pages, if `many`.
    pub(crate) async fn fixture_with(self, many: bool) -> Fixture {
        let eras = if self.is_stateless() { Eras::Modern } else { Eras::Legacy };
        Fixture::start(self.upstream, Options { eras, many, ..Options::default() }).await
    }

    /// A client of one fixture named `up`.
    pub(crate) async fn client(self, capabilities: &Value) -> Behind {
        let fixture = self.fixture().await;
        let config = format!("mcpServers:\n  up: {}\n", fixture.config());
        let client = self.client_of(&config, capabilities).await;
        Behind { client, _fixture: fixture }
    }

    /// A client of a gateway with this configuration, introduced.
    pub(crate) async fn client_of(self, config: &str, capabilities: &Value) -> Alone {
        let env: &[_] = match self.client {
            Over::Stdio => &[("DRAGOMAN_LOG", "debug,dragoman=trace")],
            Over::Http => &[],
        };
        let start = Start { config, env, ..Start::default() };
        let mut client = Alone::start(self.client, &start, &json!(self.version), capabilities).await;
        let hello = client.introduce().await;
        assert!(self.is_stateless() || hello["result"]["protocolVersion"] == self.version, "{hello}");
        client
    }
}

/// A client of a gateway, and the fixture behind that.
pub(crate) struct Behind {
    pub(crate) client: Alone,
    _fixture: Fixture,
}

/// The capabilities of a client that supports every question.
pub(crate) fn everything() -> Value {
    json!({"sampling": {}, "elicitation": {}, "roots": {"listChanged": true}})
}

/// A running fixture; it stops when dropped.
pub(crate) struct Fixture {
    config: String,
    _running: Option<Running>,
    task: Option<JoinHandle<()>>,
}

impl Fixture {
    /// Starts a fixture. Over stdio, each child of the gateway is a shell that passes lines between its pipes
    /// and this process, and each child has a separate fixture here.
    pub(crate) async fn start(over: Over, options: Options) -> Self {
        if over == Over::Http {
            let (_, running) =
                serve_http((Ipv4Addr::LOCALHOST, 0).into(), options).await.expect("a free port");
            let config = format!("{{ url: \"{}\" }}", running.url());
            return Self { config, _running: Some(running), task: None };
        }
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
        let port = listener.local_addr().expect("its address").port();
        let task = tokio::spawn(async move {
            let mut open = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (input, output) = stream.into_split();
                // A stopped child ends its connection in one way or another.
                let options = options.clone();
                open.spawn(async move { drop(serve_lines(BufReader::new(input), output, options).await) });
            }
        });
        let script = format!("exec 3<>/dev/tcp/127.0.0.1/{port}; cat <&3 & exec cat >&3");
        let config = format!("{{ command: bash, args: [-c, \"{script}\"] }}");
        Self { config, _running: None, task: Some(task) }
    }

    /// Its configuration.
    pub(crate) fn config(&self) -> &str {
        &self.config
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}
