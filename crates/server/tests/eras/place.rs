//! The upstream that supports only one version, and its entry in the gateway's configuration.

use std::process::Stdio as Pipe;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::record::Record;
use crate::support::{Over, quoted, soon};
use crate::version::Version;

/// An upstream, which stops when dropped; over pipes, the gateway starts it.
pub(crate) struct Upstream {
    pub(crate) record: Record,
    config: String,
    _child: Option<Child>,
}

impl Upstream {
    /// Prepares an upstream.
    pub(crate) async fn start(version: Version, way: Over) -> Self {
        let record = Record::new();
        let program = testkit::fixture::program();
        let path = record.path().to_str().expect("a path in UTF-8").to_owned();
        let common = ["--version", version.as_str(), "--many", "--record", path.as_str()];
        if way == Over::Stdio {
            let args: Vec<String> = ["--stdio"].iter().chain(&common).map(|arg| quoted(arg)).collect();
            let program = quoted(program.to_str().expect("a path in UTF-8"));
            let config = format!("{{ command: {program}, args: [{}] }}", args.join(", "));
            return Self { record, config, _child: None };
        }
        let transport = if version.has_two_endpoints() { "--sse" } else { "--http" };
        #[expect(clippy::disallowed_methods, reason = "an upstream that nobody supervises")]
        let mut process = Command::new(program);
        process.args([transport, "127.0.0.1:0"]).args(common);
        process.stdin(Pipe::null()).stdout(Pipe::piped()).stderr(Pipe::null()).kill_on_drop(true);
        let mut child = process.spawn().expect("the program starts");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let line = soon("its address", lines.next_line()).await.expect("readable").expect("a line");
        let url = quoted(line.strip_prefix("listening ").expect("its first line"));
        let config = if version.has_two_endpoints() {
            format!("{{ type: sse, url: {url} }}")
        } else {
            format!("{{ url: {url} }}")
        };
        Self { record, config, _child: Some(child) }
    }

    /// The gateway's configuration.
    pub(crate) fn config(&self) -> String {
        format!("mcpServers:\n  up: {}\n", self.config)
    }
}
