//! The handle with which commands are sent, and the task that keeps the connection. This module must not know what is
//! stored.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::time::{sleep, timeout};

use super::breaker::Breaker;
use super::connection::CommandBatch;
use super::{StoreAddress, StoreError, StoreHealth, StoreState};
use crate::resp::{StoreCommand, StoreReply};

/// The number of batches that may wait to be sent.
const WAITING: usize = 256;

/// The shortest and the longest pause before a lost connection is opened again.
const PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));

/// The target of messages that are logged at every log level: an operator who has read that the store cannot be reached
/// must also read that it can be reached again.
const STATE: &str = "dragoman::state";

/// The handle with which commands are sent to the store.
pub(crate) struct Store {
    batches: mpsc::Sender<CommandBatch>,
    breaker: Mutex<Breaker>,
    health: watch::Sender<Arc<StoreHealth>>,
    /// Notified of each message that another replica announces.
    pub(crate) announced: Notify,
    /// Notified when a connection has been opened or lost.
    pub(crate) changed: Notify,
}

impl Store {
    /// Creates the handle, and the task that keeps the connection.
    pub(crate) fn new(address: StoreAddress) -> (Arc<Self>, impl Future<Output = ()> + Send + 'static) {
        let (batches, received) = mpsc::channel(WAITING);
        let store = Arc::new(Self {
            batches,
            breaker: Mutex::default(),
            health: watch::Sender::new(Arc::new(StoreHealth::new(StoreState::Connecting))),
            announced: Notify::new(),
            changed: Notify::new(),
        });
        let kept = keep(store.clone(), address, received);
        (store, kept)
    }

    /// Returns the state of the connection.
    pub(crate) fn health(&self) -> Arc<StoreHealth> {
        self.health.borrow().clone()
    }

    /// Returns a receiver for the connection's state.
    pub(crate) fn changes(&self) -> watch::Receiver<Arc<StoreHealth>> {
        self.health.subscribe()
    }

    /// Sends commands together, and returns their replies.
    ///
    /// # Errors
    /// Fails if the store cannot be reached, does not answer within this time, or refuses one of the commands.
    pub(crate) async fn run(
        &self,
        commands: Vec<StoreCommand>,
        within: Duration,
    ) -> Result<Vec<StoreReply>, StoreError> {
        let health = self.health();
        if let StoreState::Unreachable(why) = &health.state {
            return Err(StoreError::Unreachable(why.clone()));
        }
        if !health.is_ready() {
            return Err(StoreError::Unreachable("there is no connection yet".to_owned()));
        }
        if !self.breaker.lock().admits(Instant::now()) {
            return Err(StoreError::Paused);
        }
        let result = self.answered(commands, within).await;
        let mut breaker = self.breaker.lock();
        match &result {
            Ok(_) | Err(StoreError::Refused(_)) => breaker.succeeded(),
            Err(_) => breaker.failed(Instant::now()),
        }
        result
    }

    /// Returns true if a command would be sent now.
    pub(crate) fn is_usable(&self) -> bool {
        self.health().is_ready() && self.breaker.lock().would_admit(Instant::now())
    }

    /// Sends a command after all commands that were sent before, without waiting for its reply. The command is dropped if the store
    /// cannot be used, or if too many others wait.
    pub(crate) fn send(&self, command: StoreCommand) {
        if self.is_usable() {
            let (done, _) = oneshot::channel();
            let _ = self.batches.try_send(CommandBatch { commands: vec![command], done });
        }
    }

    /// Sends one command, and returns its reply.
    ///
    /// # Errors
    /// Fails in the same cases as [`Store::run`].
    pub(crate) async fn one(
        &self,
        command: StoreCommand,
        within: Duration,
    ) -> Result<StoreReply, StoreError> {
        let mut replies = self.run(vec![command], within).await?;
        Ok(replies.pop().unwrap_or(StoreReply::Nil))
    }

    async fn answered(
        &self,
        commands: Vec<StoreCommand>,
        within: Duration,
    ) -> Result<Vec<StoreReply>, StoreError> {
        let (done, answer) = oneshot::channel();
        let batch = CommandBatch { commands, done };
        let answered = async {
            let lost = || StoreError::Unreachable("the connection was lost".to_owned());
            self.batches.send(batch).await.map_err(|_| lost())?;
            answer.await.map_err(|_| lost())
        };
        let replies = timeout(within, answered).await.map_err(|_| StoreError::Slow(within))??;
        for reply in &replies {
            if let StoreReply::Error(why) = reply {
                return Err(StoreError::Refused(why.clone()));
            }
        }
        Ok(replies)
    }

    fn set(&self, state: StoreState) {
        if self.health.borrow().state == state {
            return;
        }
        match &state {
            StoreState::Ready(version) => {
                tracing::info!(target: STATE, version, "connected to the cluster's store");
            }
            StoreState::Connecting => {}
            StoreState::Unreachable(why) => {
                tracing::warn!("the cluster's store cannot be reached, so this gateway works alone: {why}");
            }
            StoreState::Unfit(unfit) => {
                tracing::error!(help = unfit.help(), "the cluster's store cannot be used: {unfit}");
            }
        }
        self.health.send_replace(Arc::new(StoreHealth::new(state)));
        self.changed.notify_one();
    }
}

/// Keeps a connection open. The task ends with its owner.
async fn keep(store: Arc<Store>, address: StoreAddress, mut batches: mpsc::Receiver<CommandBatch>) {
    let mut pause = PAUSES.0;
    loop {
        match address.connect().await {
            Ok((connection, version)) => {
                pause = PAUSES.0;
                store.breaker.lock().succeeded();
                // Their senders have stopped waiting.
                while batches.try_recv().is_ok() {}
                store.set(StoreState::Ready(version));
                let Some(lost) = connection.serve(&mut batches, &store.announced).await else { return };
                store.set(StoreState::Unreachable(lost.to_string()));
            }
            Err(unconnected) => store.set(unconnected.state()),
        }
        sleep(pause).await;
        pause = (pause * 2).min(PAUSES.1);
    }
}
