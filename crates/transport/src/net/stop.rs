//! The stop signal: raised once, seen by every clone on any thread.

use tokio::sync::watch;

/// A signal that changes from "running" to "stopping" once and never back. Clones share it.
#[derive(Clone, Debug)]
pub struct Stop(watch::Sender<bool>);

impl Stop {
    /// Creates a signal that has not been raised.
    pub fn new() -> Self {
        Self(watch::Sender::new(false))
    }

    /// Raises the signal. Raising it again changes nothing.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }

    /// Returns true if the signal has been raised.
    pub fn is_stopped(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until the signal is raised; returns immediately if it already has been.
    pub async fn stopped(&self) {
        // The wait fails only if no sender is left, and this value holds one.
        let _ = self.0.subscribe().wait_for(|stopped| *stopped).await;
    }
}

impl Default for Stop {
    fn default() -> Self {
        Self::new()
    }
}
