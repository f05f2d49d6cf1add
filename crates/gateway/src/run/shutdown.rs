//! The common shutdown of all threads. Each thread has its own clients and connections, but child processes, and the
//! links to them, may belong to any thread. Therefore, no thread ends before all clients are gone, and child processes
//! end before the threads.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;
use transport::net::{SharedServerLimits, Stop};

use super::server_sessions;
use crate::process::Shard;

/// The total time within which all child processes must exit.
const CHILDREN: Duration = Duration::from_secs(5);

/// The additional time for a thread that is slower than the others.
const GRACE: Duration = Duration::from_secs(1);

/// The threads' shared state during shutdown.
#[derive(Clone)]
pub(crate) struct ShutdownBarrier {
    busy: Arc<watch::Sender<usize>>,
    over: Stop,
    limits: SharedServerLimits,
}

/// A thread that still has clients. Dropping it marks the thread as done.
pub(crate) struct ServingThread(Arc<watch::Sender<usize>>);

impl Drop for ServingThread {
    fn drop(&mut self) {
        self.0.send_modify(|busy| *busy = busy.saturating_sub(1));
    }
}

impl ShutdownBarrier {
    /// Creates the barrier for this many threads; each of them ends its clients within the drain timeout.
    pub(crate) fn new(threads: usize, limits: SharedServerLimits) -> Self {
        Self { busy: Arc::new(watch::Sender::new(threads)), over: Stop::new(), limits }
    }

    /// Returns the part of the barrier that one thread holds while it has clients. Each thread calls this function
    /// once.
    pub(crate) fn busy(&self) -> ServingThread {
        ServingThread(self.busy.clone())
    }

    /// Waits for the other threads' clients, then for the end of the child processes and of the sessions at servers.
    /// Exactly one thread passes a `shard`, and that thread ends the processes and sessions.
    pub(crate) async fn wait(&self, own: ServingThread, shard: Option<&Arc<Shard>>) {
        drop(own);
        let mut others = self.busy.subscribe();
        // The timeout also covers threads that never started and therefore cannot end.
        let _ = timeout(self.limits.get().drain_timeout + GRACE, others.wait_for(|busy| *busy == 0)).await;
        match shard {
            Some(shard) => {
                if shard.session.state.cluster.get().is_some() {
                    shard.gateway.process.parked.leave().await;
                }
                let children = shard.gateway.process.egress.supervisor.shutdown(CHILDREN);
                tokio::join!(children, server_sessions::close(shard));
                self.over.stop();
            }
            None => {
                let _ = timeout(CHILDREN + GRACE, self.over.stopped()).await;
            }
        }
    }
}
