//! A gateway that is stopped or killed and started again with the same state folder: the states of its clients are still
//! valid.
//!
//! | file | is for |
//! |---|---|
//! | `sessions` | sessions with an ID |
//! | `states` | states and tasks of stateless clients; keys that are rotated while in use |

#[path = "../support/mod.rs"]
mod support;

mod sessions;
mod states;

use std::path::PathBuf;

use support::{Start, run_to_end};

/// A state folder, removed when the test ends.
struct StateFolder(PathBuf);

impl StateFolder {
    fn new(name: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("restarts-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder in the target folder");
        Self(path)
    }

    /// A configuration with the server `up`, and more text.
    fn config(&self, server: &str, rest: &str) -> String {
        format!("stateFolder: '{}'\nmcpServers:\n  up: {server}\n{rest}", self.0.display())
    }

    /// Replaces the keys of the ring.
    async fn rotate(&self) {
        let config = self.config("{ native: demo }", "");
        let with = Start { config: &config, args: &["rotate"], ..Start::default() };
        let ended = run_to_end("keyring", &with).await;
        assert_eq!(ended.code, Some(0), "{}", ended.err);
    }
}

impl Drop for StateFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The part of a sealed text that names its key.
fn key_of(sealed: &str) -> &str {
    &sealed[..6]
}
