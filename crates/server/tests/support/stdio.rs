//! `dragoman stdio`, and its client.

use std::ops::{Deref, DerefMut};

use serde_json::json;
use testkit::client::Lines;

use super::gateway::{Ended, Output, Start, Started, start};
use super::{LEGACY, soon};

/// The process, killed when dropped, and its client, whose methods it exposes.
pub(crate) struct Stdio {
    process: Started,
    client: Lines,
}

impl Deref for Stdio {
    type Target = Lines;

    fn deref(&self) -> &Lines {
        &self.client
    }
}

impl DerefMut for Stdio {
    fn deref_mut(&mut self) -> &mut Lines {
        &mut self.client
    }
}

impl Stdio {
    /// Starts it with this configuration.
    pub(crate) fn start(config: &str) -> Self {
        Self::start_with(&Start { config, ..Start::default() })
    }

    /// Starts it with arguments and environment variables.
    pub(crate) fn start_with(with: &Start<'_>) -> Self {
        let mut process = start("stdio", with);
        let input = process.child.stdin.take().expect("a pipe");
        let client = Lines::new(input, process.out.take().expect("a pipe"));
        Self { process, client }
    }

    /// Starts it and performs the handshake of the newest version that has one.
    pub(crate) async fn open(config: &str) -> Self {
        let mut client = Self::start(config);
        client.initialize(LEGACY, &json!({})).await;
        client
    }

    /// Its process, which must be kept, and its client.
    pub(crate) fn parts(self) -> (Started, Lines) {
        (self.process, self.client)
    }

    /// Its process ID.
    pub(crate) fn pid(&self) -> u32 {
        self.process.child.id().expect("it has not been awaited")
    }

    /// Its log.
    pub(crate) fn log(&self) -> &Output {
        &self.process.err
    }

    /// Waits until it ends by itself; nothing more is read.
    pub(crate) async fn ended(mut self) -> Ended {
        let status = soon("its end", self.process.child.wait()).await.expect("a child can be awaited");
        Ended { code: status.code(), out: String::new(), err: self.process.err.ended().await }
    }

    /// Closes stdin and waits for the end; `out` is the output after the last message that was read.
    pub(crate) async fn close(mut self) -> Ended {
        self.close_input();
        let mut out = String::new();
        while let Some(line) = self.line().await {
            out.push_str(&line);
            out.push('\n');
        }
        Ended { out, ..self.ended().await }
    }
}
