//! The means by which a thread reaches servers: its own connections, the configuration that it began with, and what all threads
//! share. It must not know what is asked of servers, or by whom.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use engine::Snapshot;
use parking_lot::Mutex;
use proto::mcp::Notice;
use proto::rpc::FrameLimits;
use tokio::task::JoinHandle;
use transport::child::Supervisor;
use transport::net::Stop;
use transport::net::client::Client;

use crate::server::Server;
use crate::starts::Starts;

/// Those who see what servers offer.
pub trait Audience: Send + Sync {
    /// A server's catalogue has changed. Those who see it are shown the change at the end of what is returned, and told after.
    fn catalogue_changed(self: Arc<Self>, snapshot: &Snapshot, server: &Arc<Server>) -> Updating;

    /// A server has announced that lists have changed, and they are about to be fetched. What is returned tells, once they
    /// are, those who were not told by the difference.
    fn before_change(&self, server: &Arc<Server>) -> Announcement;

    /// Returns true if somebody is told of changes of this server's lists on a stream of notices or, if `sessions` count, in a
    /// session.
    fn listens(&self, server: &Server, sessions: bool) -> bool;
}

/// The views that show a changed catalogue, while they are built.
#[must_use = "until the views are built, clients are shown the catalogue of before"]
#[derive(Debug)]
pub struct Updating(Option<JoinHandle<()>>);

impl Updating {
    /// All of them have been built.
    pub fn done() -> Self {
        Self(None)
    }

    /// Begins to build them on the blocking pool. They are built whether or not anybody waits.
    pub fn on_the_blocking_pool(build: impl FnOnce() + Send + 'static) -> Self {
        Self(Some(tokio::task::spawn_blocking(build)))
    }

    /// Waits until they are built.
    pub async fn finished(self) {
        if let Some(task) = self.0
            && task.await.is_err()
        {
            tracing::error!("the views of a changed catalogue were not built: their task panicked");
        }
    }
}

/// The notification to send once changed lists have been fetched.
pub type Announcement = Box<dyn FnOnce(&[Notice]) + Send>;

/// The time that the end of a killed process may take.
const REAPING: Duration = Duration::from_secs(1);

/// The connections of one server of which some can be given up, to make room for a process of another server.
pub trait SpareLinks: Send + Sync {
    /// The time of the last use of the one that goes first, and true if it has an owner.
    fn spare(&self) -> Option<(bool, Instant)>;

    /// Closes it, unless it is needed by now.
    fn close_spare(&self, egress: &Egress) -> bool;
}

/// The state that all threads share.
pub struct EgressProcess {
    /// Starts and ends children.
    pub supervisor: Supervisor,
    /// Raised when the process ends.
    pub stop: Stop,
    keys: AtomicU64,
    /// The links that are being opened.
    starts: Starts,
    /// The servers whose links can make room.
    spare: Mutex<Vec<Weak<dyn SpareLinks>>>,
    audience: OnceLock<Weak<dyn Audience>>,
}

impl EgressProcess {
    /// For at most so many children.
    pub fn new(children: usize, stop: Stop) -> Arc<Self> {
        Arc::new(Self {
            supervisor: Supervisor::new(children),
            stop,
            // Keys are also progress tokens, which some servers take for missing when they are 0.
            keys: AtomicU64::new(1),
            starts: Starts::default(),
            spare: Mutex::default(),
            audience: OnceLock::new(),
        })
    }

    /// Sets who sees what servers offer; once.
    pub fn set_audience(&self, audience: Weak<dyn Audience>) {
        let _ = self.audience.set(audience);
    }

    /// Adds a server whose links can make room for others.
    pub fn add_spare(&self, links: Weak<dyn SpareLinks>) {
        let mut spare = self.spare.lock();
        spare.retain(|links| links.strong_count() > 0);
        spare.push(links);
    }

    /// A number for a request that no other request has.
    pub fn next_key(&self) -> u64 {
        self.keys.fetch_add(1, Ordering::Relaxed)
    }
}

/// A thread's way to servers. Its clones share one allocation.
#[derive(Clone)]
pub struct Egress(Arc<EgressParts>);

struct EgressParts {
    client: Client,
    snapshot: Arc<Snapshot>,
    process: Arc<EgressProcess>,
}

impl Egress {
    /// Over these connections, under this configuration.
    pub fn new(client: Client, snapshot: Arc<Snapshot>, process: Arc<EgressProcess>) -> Self {
        Self(Arc::new(EgressParts { client, snapshot, process }))
    }

    /// The thread's own connections.
    pub fn client(&self) -> &Client {
        &self.0.client
    }

    /// The configuration that was in force when this was taken.
    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.0.snapshot
    }

    /// Closes the link of any server that was not used for longest, and waits until another process may be started; `false` if
    /// there is none. Links with owners go only if `also_owned`.
    pub async fn make_room(&self, also_owned: bool) -> bool {
        let mut spare: Vec<((bool, Instant), Arc<dyn SpareLinks>)> = {
            let links = self.0.process.spare.lock();
            links.iter().filter_map(Weak::upgrade).filter_map(|links| Some((links.spare()?, links))).collect()
        };
        in_turn(&mut spare, also_owned);
        let is_closed = spare.iter().any(|(_, links)| links.close_spare(self));
        // A process has two graces before it is killed.
        is_closed && self.supervisor().room(self.snapshot().limits.child_stop_timeout * 2 + REAPING).await
    }

    /// A number for a request that no other request has.
    pub fn next_key(&self) -> u64 {
        self.0.process.next_key()
    }

    /// The links that are being opened in the whole process.
    pub fn starts(&self) -> &Starts {
        &self.0.process.starts
    }

    /// Adds a server whose links can make room for others.
    pub fn add_spare(&self, links: Weak<dyn SpareLinks>) {
        self.0.process.add_spare(links);
    }

    /// The supervisor that starts and ends children.
    pub fn supervisor(&self) -> &Supervisor {
        &self.0.process.supervisor
    }

    /// Raised when the process ends.
    pub fn stop(&self) -> &Stop {
        &self.0.process.stop
    }

    /// The limits for reading a message.
    pub fn frame_limits(&self) -> FrameLimits {
        engine::snapshot::frame_limits(&self.snapshot().limits)
    }

    /// Those who see what servers offer, while there are any.
    pub fn audience(&self) -> Option<Arc<dyn Audience>> {
        self.0.process.audience.get().and_then(Weak::upgrade)
    }
}

/// The order in which links go: first those without an owner, the one that was not used for longest first.
fn in_turn<T>(spare: &mut Vec<((bool, Instant), T)>, also_owned: bool) {
    spare.retain(|((is_owned, _), _)| also_owned || !is_owned);
    spare.sort_by_key(|(which, _)| *which);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_owns_goes_first_and_what_somebody_owns_only_for_a_first_link() {
        let now = Instant::now();
        let at = |seconds| now + Duration::from_secs(seconds);
        let all = || vec![((true, at(1)), "owned, old"), ((false, at(3)), "new"), ((false, at(2)), "old")];
        let order = |also_owned| {
            let mut spare = all();
            in_turn(&mut spare, also_owned);
            spare.iter().map(|(_, name)| *name).collect::<Vec<_>>()
        };
        assert_eq!(order(true), ["old", "new", "owned, old"]);
        assert_eq!(order(false), ["old", "new"]);
    }
}
