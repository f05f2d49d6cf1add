//! Sends the requests of commands to the running gateway, over the socket in its state folder. This module must not
//! know what is asked, or how answers are shown.

use std::time::Duration;

use gateway::control::{ControlClient, ControlError, ControlEvents};
use http::Method;
use serde_json::Value;
use tokio::runtime::Runtime;
use tokio::time::Instant;

use crate::commands::configuration::state::StateOptions;
use crate::output::console::Console;
use crate::output::failure::Failure;
use crate::output::options::Global;
use crate::output::status_line;

/// The running gateway of a state folder.
pub(crate) struct RunningGateway<'c> {
    console: &'c Console,
    client: ControlClient,
    /// The runtime for the requests; it is taken out when this value is dropped.
    runtime: Option<Runtime>,
}

impl<'c> RunningGateway<'c> {
    /// Finds the gateway's state folder. Nothing is sent yet.
    ///
    /// # Errors
    /// Fails if the configuration is invalid, or no folder is known.
    pub(crate) fn find(place: &StateOptions, global: &Global, console: &'c Console) -> Result<Self, Failure> {
        let folder = place.find(global, console)?.folder;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|e| Failure::new(format!("cannot create an event queue: {e}")))?;
        Ok(Self { console, client: ControlClient::new(&folder), runtime: Some(runtime) })
    }

    /// Returns the JSON at a path.
    ///
    /// # Errors
    /// Fails if no gateway is running, if it refuses the request, or after Ctrl-C.
    pub(crate) fn get(&self, path: &str) -> Result<Value, Failure> {
        self.send(Method::GET, path, None)
    }

    /// Sends a request; returns the answer, which is `null` if it is empty.
    ///
    /// # Errors
    /// Fails in the same cases as [`Self::get`].
    pub(crate) fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, Failure> {
        self.run(async |client| self.asked(client.send(method, path, body)).await)
    }

    /// Sends several requests; Ctrl-C ends them.
    ///
    /// # Errors
    /// Returns the failure of `work`, or fails after Ctrl-C.
    pub(crate) fn run<T>(
        &self,
        work: impl AsyncFnOnce(&ControlClient) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let Some(runtime) = &self.runtime else { return Err(Failure::interrupted()) };
        let done = runtime.block_on(async {
            tokio::select! {
                done = work(&self.client) => done,
                _ = tokio::signal::ctrl_c() => Err(Failure::interrupted()),
            }
        });
        status_line::clear();
        done
    }

    /// Waits for an answer, and shows on a terminal that the command is waiting.
    ///
    /// # Errors
    /// Returns the failure of the request.
    pub(crate) async fn asked<T>(
        &self,
        request: impl Future<Output = Result<T, ControlError>>,
    ) -> Result<T, Failure> {
        let line = |waited: Duration| format!("waiting for the running gateway, {} s", waited.as_secs());
        let answer = status_line::watched(self.console, Instant::now(), line, request).await;
        status_line::clear();
        answer.map_err(|e| failed(&e))
    }

    /// Opens a stream of events.
    ///
    /// # Errors
    /// Fails in the same cases as [`Self::get`].
    pub(crate) async fn events(&self, path: &str) -> Result<ControlEvents, Failure> {
        self.client.events(path).await.map_err(|e| failed(&e))
    }
}

impl Drop for RunningGateway<'_> {
    fn drop(&mut self) {
        // A pending read of stdin cannot be cancelled.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Returns the failure for an error of a request.
pub(crate) fn failed(error: &ControlError) -> Failure {
    let failure = match error {
        ControlError::Refused { status: 400..=499, .. } => Failure::usage(error.to_string()),
        _ => Failure::new(error.to_string()),
    };
    match error.help() {
        Some(help) => failure.help(help),
        None => failure,
    }
}

/// Formats a caller for people: if it has a key with a name, the name comes first.
pub(crate) fn caller(id: &str, name: &str) -> String {
    match id.strip_prefix("key:") {
        Some(prefix) if !name.is_empty() => format!("{name} (key {prefix})"),
        _ => id.to_owned(),
    }
}

/// Percent-encodes a word for a segment of a path, or for a value in a query.
pub(crate) fn encoded(word: &str) -> String {
    let mut text = String::with_capacity(word.len());
    for byte in word.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.".contains(&byte) {
            text.push(char::from(byte));
        } else {
            use std::fmt::Write as _;
            // Writing to a string cannot fail.
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_cannot_leave_their_place_in_a_path() {
        assert_eq!(encoded("files-1.x_y"), "files-1.x_y");
        assert_eq!(encoded("a/../b?c=d e&ü"), "a%2F..%2Fb%3Fc%3Dd%20e%26%C3%BC");
    }
}
