//! Gateways with authentication, API keys for them, and callers.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::json;
use tokio::process::Command;

use crate::support::*;

/// The password `battery staple`, cheaply hashed by another program (Node's `crypto.argon2Sync`).
pub(crate) const HASH: &str =
    "$argon2id$v=19$m=64,t=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$gbf/SFxMMbGdacBN7IhMnP5qQZ1Lml+OVTsOtCvCWWc";

/// A gateway with one server and this `auth`.
pub(crate) async fn gateway(auth: &str) -> Gateway {
    Gateway::start(&config(auth)).await
}

/// Its configuration.
pub(crate) fn config(auth: &str) -> String {
    format!(
        "mcpServers: {{ demo: {{ native: demo }} }}\nprofiles: {{ default: {{}}, other: {{}} }}\nauth: {auth}\n"
    )
}

/// The value of `Authorization` for a token.
pub(crate) fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}

/// The value of `Authorization` for a name and password.
pub(crate) fn basic(user: &str, password: &str) -> String {
    format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}")))
}

/// Opens a session at `path` with `value` in `Authorization`.
pub(crate) async fn visit(http: Http, path: &str, value: &str) -> Reply {
    let params = json!({
        "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
    });
    let body = request(0, "initialize", &params).to_string();
    http.post(path, &[("Authorization", value)], &body).await
}

/// The status of opening a session.
pub(crate) async fn status(http: Http, value: &str) -> u16 {
    visit(http, "/mcp", value).await.status
}

/// Waits until a credential is refused; its requests leave nothing behind.
pub(crate) async fn until_refused(http: Http, value: &str) {
    let ping = request(1, "ping", &json!({})).to_string();
    soon("the end of a credential", async {
        while http.post("/mcp", &[("Authorization", value)], &ping).await.status != 401 {}
    })
    .await;
}

/// A folder of keys, removed when dropped.
pub(crate) struct State(PathBuf);

impl State {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("auth-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&path).expect("a folder in the target folder");
        Self(path)
    }

    pub(crate) fn path(&self) -> &std::path::Path {
        &self.0
    }

    /// Its line in the configuration.
    pub(crate) fn line(&self) -> String {
        format!("stateFolder: '{}'\n", self.0.display())
    }

    /// Writes a file into it; returns the file's path.
    pub(crate) fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, text).expect("a file in the own folder");
        path.to_str().expect("UTF-8").to_owned()
    }

    /// Runs `dragoman key ARGS`; returns its output.
    pub(crate) async fn key(&self, args: &[&str]) -> String {
        #[expect(clippy::disallowed_methods, reason = "the process under test has no supervisor above it")]
        let mut process = Command::new(env!("CARGO_BIN_EXE_dragoman"));
        process.arg("key").args(args).arg("--state").arg(&self.0).kill_on_drop(true);
        let ended = soon("the end of the command", process.output()).await.expect("it runs");
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        String::from_utf8(ended.stdout).expect("UTF-8")
    }

    /// Creates a key.
    pub(crate) async fn new_key(&self, args: &[&str]) -> String {
        let out = self.key(&[&["new"], args].concat()).await;
        let key = out.split_whitespace().find(|word| word.starts_with("dgm_"));
        key.unwrap_or_else(|| panic!("no key in {out}")).to_owned()
    }
}

impl Drop for State {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
