//! Servers behind the gateway.

use std::net::{Ipv4Addr, SocketAddr};
use std::process::Stdio as Pipe;

use testkit::fixture::{Eras, Options, Running, serve_http};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use super::soon;

/// A value in the syntax of YAML (and JSON).
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A well-behaved upstream over HTTP in this process, which runs as long as the returned value exists.
pub(crate) async fn fixture(eras: Eras) -> Running {
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let (_, running) = serve_http(any, Options { eras, ..Options::default() }).await.expect("a free port");
    running
}

/// The configuration of the odd upstream as a child process, with these arguments in addition to `--stdio`.
pub(crate) fn odd_stdio(args: &[&str]) -> String {
    let program = quoted(testkit::odd::program().to_str().expect("a path in UTF-8"));
    let args: Vec<String> = std::iter::once(&"--stdio").chain(args).map(|arg| quoted(arg)).collect();
    format!("{{ command: {program}, args: [{}] }}", args.join(", "))
}

/// The odd upstream over HTTP, in a separate process; killed when dropped.
pub(crate) struct OddHttp {
    child: Child,
    url: String,
}

impl OddHttp {
    /// Starts it with these arguments in addition to `--http`.
    pub(crate) async fn start(args: &[&str]) -> Self {
        Self::start_at("127.0.0.1:0", args).await
    }

    /// Starts it on this address.
    pub(crate) async fn start_at(address: &str, args: &[&str]) -> Self {
        #[expect(clippy::disallowed_methods, reason = "an upstream that nobody supervises")]
        let mut process = Command::new(testkit::odd::program());
        process.args(["--http", address]).args(args);
        process.stdin(Pipe::null()).stdout(Pipe::piped()).kill_on_drop(true);
        let mut child = process.spawn().expect("the program starts");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let line = soon("its address", lines.next_line()).await.expect("readable").expect("a line");
        let url = line.strip_prefix("listening ").expect("its first line").to_owned();
        Self { child, url }
    }

    /// Its configuration.
    pub(crate) fn config(&self) -> String {
        format!("{{ url: {} }}", quoted(&self.url))
    }

    /// Stops it and waits for its end.
    pub(crate) async fn stop(mut self) {
        soon("its end", self.child.kill()).await.expect("a child of ours");
    }

    /// Its URL.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}
