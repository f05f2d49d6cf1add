//! The guards between a request and its tool in the guarded run: an API key, rules, a limit, the audit log. This module
//! must not know what is measured.

use super::plain_http::{ask, is};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A tool that the rules allow.
const ALLOWED: &str = "up__echo";
/// A tool that the rules deny.
const DENIED: &str = "up__payload";
/// A rate that no machine reaches.
const RATE: &str = "1000000/s";

/// Adds all guards to a configuration. The limit is never reached; the rules allow one tool and deny another.
pub(crate) fn add(config: &mut Value, folder: &Path) {
    config["stateFolder"] = json!(state(folder));
    config["auth"] = json!({ "keys": true });
    config["access"] = json!([{ "allow": ALLOWED }, { "deny": DENIED }]);
    config["rateLimits"] = json!([{ "rate": RATE, "per": "principal" }]);
    config["audit"] = json!({});
}

/// The folder in which the guarded gateway stores its keys and its audit log.
fn state(folder: &Path) -> PathBuf {
    folder.join("state")
}

/// An API key for the duration of the run.
#[derive(Clone, Debug)]
pub(crate) struct Key(String);

impl Key {
    /// Creates a key for the gateway with this folder.
    pub(crate) fn make(program: &Path, folder: &Path) -> Result<Self, String> {
        let made = Command::new(program)
            .args(["key", "new", "bench", "--state"])
            .arg(state(folder))
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("{}: {error}", program.display()))?;
        let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        if !made.status.success() {
            return Err(format!("no API key was made: {}", said(&made.stderr)));
        }
        Ok(Self(said(&made.stdout)))
    }

    /// The text that the load sends.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// Checks that the gateway accepts this key and rejects requests without it. If the gateway accepted every
    /// request, the run would measure nothing.
    pub(crate) fn is_asked_for(&self, address: SocketAddr) -> Result<(), String> {
        let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
        let common = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";
        let shown = format!("{common}Authorization: Bearer {}\r\n", self.0);
        let is_refused = |headers| ask(address, "POST /mcp", headers, list).map(|answer| is(&answer, 401));
        match (is_refused(common), is_refused(&shown)) {
            (Some(true), Some(false)) => Ok(()),
            found => Err(format!("refuses without the key, with it: {found:?}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::add;
    use serde_json::json;
    use std::path::Path;

    #[test]
    fn every_guard_is_in_the_config() {
        let mut config = json!({"mcpServers": {}});
        add(&mut config, Path::new("/folder"));
        assert_eq!(config["stateFolder"], "/folder/state");
        for guard in ["auth", "access", "rateLimits", "audit"] {
            assert!(!config[guard].is_null(), "{guard}");
        }
    }
}
