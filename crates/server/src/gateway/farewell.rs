//! The end of all threads together. Each has its own clients and connections, but children and the links to them may
//! live on any: so no thread goes before all have let their clients go, and the children go before the threads.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;
use transport::net::Stop;

use super::{Shard, partings};

/// The time for which all children together get to end.
const CHILDREN: Duration = Duration::from_secs(5);

/// What a thread that is behind the others gets on top of the time that all have.
const GRACE: Duration = Duration::from_secs(1);

/// What the threads know of each other's end.
#[derive(Clone)]
pub(super) struct Farewell {
    busy: Arc<watch::Sender<usize>>,
    over: Stop,
    drain: Duration,
}

/// A thread that still has clients. Dropping it says that it has none any more.
pub(super) struct Busy(Arc<watch::Sender<usize>>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.send_modify(|busy| *busy = busy.saturating_sub(1));
    }
}

impl Farewell {
    /// For so many threads, of which each lets its clients go within `drain`.
    pub(super) fn new(threads: usize, drain: Duration) -> Self {
        Self { busy: Arc::new(watch::Sender::new(threads)), over: Stop::new(), drain }
    }

    /// One thread's part; to be taken once by each.
    pub(super) fn busy(&self) -> Busy {
        Busy(self.busy.clone())
    }

    /// Waits for the other threads' clients, then for the end of the children and of the sessions at servers. Exactly one
    /// thread brings the `shard` that ends them.
    pub(super) async fn wait(&self, own: Busy, shard: Option<&Shard>) {
        drop(own);
        let mut others = self.busy.subscribe();
        // A thread that never began cannot end.
        let _ = timeout(self.drain + GRACE, others.wait_for(|busy| *busy == 0)).await;
        match shard {
            Some(shard) => {
                let children = shard.gateway.egress.supervisor.shutdown(CHILDREN);
                tokio::join!(children, partings::farewell(shard));
                self.over.stop();
            }
            None => {
                let _ = timeout(CHILDREN + GRACE, self.over.stopped()).await;
            }
        }
    }
}
