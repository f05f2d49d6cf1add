//! The gateway on a free port, with upstreams behind it, for runs against real peers.
//!
//! This module must not know the callers.

use crate::root::{self, Programs};
use crate::run::{Log, Service};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// A server over HTTP.
#[derive(Debug)]
pub(crate) struct HttpUpstream {
    /// The server's endpoint.
    pub(crate) url: String,
    service: Service,
}

impl HttpUpstream {
    /// Starts a program and waits for a line in which `ready` finds its endpoint.
    pub(crate) fn start(
        command: &mut Command,
        ready: impl Fn(&str) -> Option<String>,
        log: &Log,
    ) -> Result<Self, String> {
        let (service, url) = Service::start(command, log, ready)?;
        Ok(Self { url, service })
    }

    pub(crate) fn tell(&self, log: &Log) {
        self.service.tell(log);
    }
}

/// The transport by which a fixture is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Streamable HTTP.
    Http,
    /// HTTP+SSE, as in versions before 2025-03-26.
    Sse,
    /// The pipes of a child of the gateway.
    Stdio,
}

/// A fixture upstream: its transport, and the options that limit its versions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fixture {
    pub(crate) reach: Reach,
    pub(crate) options: &'static [&'static str],
}

impl Fixture {
    pub(crate) const fn new(reach: Reach, options: &'static [&'static str]) -> Self {
        Self { reach, options }
    }

    /// Starts the fixture, unless the gateway starts it; returns the fixture's entry in a configuration, and the
    /// running program.
    pub(crate) fn start(
        self,
        programs: &Programs,
        log: &Log,
    ) -> Result<(Value, Option<HttpUpstream>), String> {
        let listen = match self.reach {
            Reach::Stdio => {
                let args = ["--stdio"].iter().chain(self.options).collect::<Vec<_>>();
                return Ok((json!({ "command": programs.fixture(), "args": args }), None));
            }
            Reach::Http => "--http",
            Reach::Sse => "--sse",
        };
        let mut command = Command::new(programs.fixture());
        command.args([listen, "127.0.0.1:0"]).args(self.options);
        let running =
            HttpUpstream::start(&mut command, |line| address(line).map(|url| endpoint(&url, line)), log)?;
        let kind = if self.reach == Reach::Sse { "sse" } else { "http" };
        Ok((json!({ "type": kind, "url": running.url }), Some(running)))
    }
}

/// The names of items in the default profile.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Naming {
    /// `server__tool`.
    Prefix,
    /// `tool`.
    Plain,
}

/// The options of a gateway.
#[derive(Debug, Clone, Default)]
pub(crate) struct Serving {
    /// The options that `serve` and `stdio` share.
    pub(crate) args: Vec<String>,
    /// The environment of `serve`.
    pub(crate) env: Vec<(&'static str, String)>,
}

/// A running gateway.
#[derive(Debug)]
pub(crate) struct Gateway {
    /// The endpoint of the default profile.
    pub(crate) url: String,
    /// The options with which the gateway was started.
    pub(crate) told: Serving,
    service: Service,
}

impl Gateway {
    /// Starts `dragoman serve` with these servers, all in the default profile.
    pub(crate) fn start(
        programs: &Programs,
        name: &str,
        servers: &Value,
        naming: Naming,
        log: &Log,
    ) -> Result<Self, String> {
        let names = match naming {
            Naming::Prefix => "prefix",
            Naming::Plain => "plain",
        };
        let profiles = json!({ "default": { "names": names } });
        // Peers list at once and expect the complete lists.
        let config = json!({ "mcpServers": servers, "profiles": profiles, "limits": { "listWait": "30s" } });
        let args = configured(name, &config)?.into();
        Self::start_as(programs, Serving { args, ..Serving::default() }, log)
    }

    /// Starts `dragoman serve` with these options.
    pub(crate) fn start_as(programs: &Programs, told: Serving, log: &Log) -> Result<Self, String> {
        let mut command = Command::new(programs.dragoman());
        command.args(["serve", "--listen", "127.0.0.1:0"]).args(&told.args);
        command.envs(told.env.iter().map(|(name, value)| (name, value)));
        // Its log may name upstreams before its own address.
        let own = |line: &str| address(line.split_once(" serves ")?.1);
        let (service, url) = Service::start(&mut command, log, own)?;
        Ok(Self { url: format!("{url}/mcp"), told, service })
    }

    /// The URL for a path.
    pub(crate) fn at(&self, path: &str) -> String {
        format!("{}{path}", self.url.trim_end_matches("/mcp"))
    }

    pub(crate) fn tell(&self, log: &Log) {
        self.service.tell(log);
    }

    /// The last part of the gateway's output.
    pub(crate) fn said(&self) -> String {
        self.service.said()
    }
}

/// Writes a configuration into an empty folder; returns the options with which the gateway uses this configuration.
pub(crate) fn configured(name: &str, config: &Value) -> Result<[String; 2], String> {
    let file = scratch(name)?.join("dragoman.json");
    fs::write(&file, config.to_string()).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(["--config".to_owned(), file.display().to_string()])
}

/// An empty folder for one run's files.
pub(crate) fn scratch(name: &str) -> Result<PathBuf, String> {
    let folder = root::target().join("test-work").join(name);
    let said = |error: std::io::Error| format!("{}: {error}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(said)?;
    }
    fs::create_dir_all(&folder).map_err(said)?;
    Ok(folder)
}

/// The URL `http://127.0.0.1:PORT` in a line.
fn address(line: &str) -> Option<String> {
    let start = ["http://127.0.0.1:", "http://localhost:"]
        .iter()
        .find_map(|prefix| Some(line.find(prefix)? + prefix.len()))?;
    let port: String = line[start..].chars().take_while(char::is_ascii_digit).collect();
    port.parse::<u16>().ok().filter(|port| *port > 0).map(|port| format!("http://127.0.0.1:{port}"))
}

/// The endpoint in a line; if the line contains only the address, the address with `/mcp`.
fn endpoint(url: &str, line: &str) -> String {
    let port = url.rsplit(':').next().unwrap_or_default();
    let path: String = line
        .split_once(&format!(":{port}"))
        .map(|(_, rest)| {
            rest.chars().take_while(|c| c.is_ascii_alphanumeric() || "/_-".contains(*c)).collect()
        })
        .unwrap_or_default();
    format!("{url}{}", if path.len() > 1 { path.as_str() } else { "/mcp" })
}

#[cfg(test)]
mod tests {
    use super::{address, endpoint};

    #[test]
    fn an_address_is_found_in_a_line() {
        for (line, url) in [
            ("listening http://127.0.0.1:4312/mcp", Some("http://127.0.0.1:4312/mcp")),
            ("MCP server on http://localhost:80.", Some("http://127.0.0.1:80/mcp")),
            ("http://127.0.0.1:0", None),
            ("http://127.0.0.1:x", None),
            ("starting", None),
        ] {
            assert_eq!(address(line).map(|found| endpoint(&found, line)).as_deref(), url, "{line}");
        }
    }
}
