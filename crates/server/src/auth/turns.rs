//! Checks that cost much, a few at a time, with a line of bounded length before them. It must not know what is checked.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::denied::Refused;

/// How long one may stand in line.
const PATIENCE: Duration = Duration::from_secs(10);
/// When who was sent away may come again.
const RETRY: Duration = Duration::from_secs(2);

/// So many at a time, and so many more in line.
#[derive(Debug)]
pub(super) struct Turns {
    at_once: Arc<Semaphore>,
    in_all: Arc<Semaphore>,
}

/// Somebody's turn, until this is dropped.
pub(super) struct Turn {
    _own: OwnedSemaphorePermit,
    _place: OwnedSemaphorePermit,
}

impl Turns {
    pub(super) fn new(at_once: usize, in_line: usize) -> Self {
        Self {
            at_once: Arc::new(Semaphore::new(at_once)),
            in_all: Arc::new(Semaphore::new(at_once + in_line)),
        }
    }

    /// Waits for a turn.
    pub(super) async fn take(&self) -> Result<Turn, Refused> {
        let busy = || Refused::Unavailable("too many credentials are being checked".to_owned(), RETRY);
        let place = Arc::clone(&self.in_all).try_acquire_owned().map_err(|_| busy())?;
        let own = tokio::time::timeout(PATIENCE, Arc::clone(&self.at_once).acquire_owned()).await;
        let own = own.ok().and_then(Result::ok).ok_or_else(busy)?;
        Ok(Turn { _own: own, _place: place })
    }

    /// Runs `work` on a thread that may block. Who gives up waiting does not make room before the work has ended.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        turn: Turn,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Refused> {
        let done = tokio::task::spawn_blocking(move || {
            let done = work();
            drop(turn);
            done
        });
        done.await.map_err(|_| Refused::Unavailable("a check of credentials broke off".to_owned(), RETRY))
    }
}
