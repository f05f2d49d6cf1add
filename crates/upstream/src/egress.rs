//! A thread's access to servers: the thread's own connections, the configuration with which the thread began, and
//! the state that all threads share. This module must not know what is asked of servers, or by whom.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use engine::Snapshot;
use parking_lot::Mutex;
use proto::mcp::Notice;
use proto::rpc::FrameLimits;
use transport::child::Supervisor;
use transport::net::Stop;
use transport::net::client::Client;
use transport::task::{BlockingHandle, spawn_blocking};

use crate::server::Server;
use crate::starts::Starts;

/// The clients that see the catalogues of servers.
pub trait Audience: Send + Sync {
    /// Updates the views after a server's catalogue has changed. Clients see the change once the returned update has
    /// finished, and are notified after that.
    fn catalogue_changed(self: Arc<Self>, snapshot: &Snapshot, server: &Arc<Server>) -> Updating;

    /// Prepares for an announced list change before the lists are fetched. Call the returned function after the
    /// fetch: it notifies the clients, except those that were notified of a difference during the fetch.
    fn before_change(&self, server: &Arc<Server>) -> Announcement;

    /// Returns true if any client receives notifications of this server's list changes: on a notification stream or,
    /// if `sessions` is true, in a session.
    fn listens(&self, server: &Server, sessions: bool) -> bool;
}

/// The update of the views that show a changed catalogue.
#[must_use = "until the views are built, clients see the previous catalogue"]
#[derive(Debug)]
pub struct Updating(Option<BlockingHandle<()>>);

impl Updating {
    /// Returns an update that has already finished: all views are built.
    pub fn done() -> Self {
        Self(None)
    }

    /// Begins to build the views on the blocking pool. This continues even if nobody waits.
    pub fn on_the_blocking_pool(build: impl FnOnce() + Send + 'static) -> Self {
        Self(Some(spawn_blocking(build)))
    }

    /// Waits until the views are built.
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

/// The maximum time for reaping a killed process.
const REAPING: Duration = Duration::from_secs(1);

/// The links of one server, some of which can be closed so that a process of another server may start.
pub trait SpareLinks: Send + Sync {
    /// Describes the link that would be closed first: true if the link has an owner, and the time of its last use.
    fn spare(&self) -> Option<(bool, Instant)>;

    /// Closes the link that [`SpareLinks::spare`] describes, unless it is needed by now; returns true if the link
    /// was closed.
    fn close_spare(&self, egress: &Egress) -> bool;
}

/// The marks by which this gateway identifies its servers to other gateways. Only this gateway understands them.
pub trait ServerMarks: Send + Sync {
    /// Returns the mark of the server with this name.
    fn mark(&self, server: &str) -> Box<str>;

    /// Returns true if this gateway made the mark for the server with this name.
    fn is_of(&self, mark: &str, server: &str) -> bool;
}

/// The state that all threads share.
pub struct EgressProcess {
    /// Starts and ends children.
    pub supervisor: Supervisor,
    /// Raised when the process begins to stop.
    pub stop: Stop,
    keys: AtomicU64,
    /// The links that are being opened.
    starts: Starts,
    /// The servers whose links can be closed to let another process start.
    spare: Mutex<Vec<Weak<dyn SpareLinks>>>,
    audience: OnceLock<Weak<dyn Audience>>,
    marks: OnceLock<Arc<dyn ServerMarks>>,
}

impl EgressProcess {
    /// Creates the shared state for at most this many children.
    pub fn new(children: usize, stop: Stop) -> Arc<Self> {
        Arc::new(Self {
            supervisor: Supervisor::new(children),
            stop,
            // Keys are also progress tokens, and some servers treat a token of 0 as missing.
            keys: AtomicU64::new(1),
            starts: Starts::default(),
            spare: Mutex::default(),
            audience: OnceLock::new(),
            marks: OnceLock::new(),
        })
    }

    /// Sets the clients that see the catalogues of servers; called only once.
    pub fn set_audience(&self, audience: Weak<dyn Audience>) {
        let _ = self.audience.set(audience);
    }

    /// Sets the marks of servers; called only once.
    pub fn set_marks(&self, marks: Arc<dyn ServerMarks>) {
        let _ = self.marks.set(marks);
    }

    /// Adds a server whose links can be closed to let another process start.
    pub fn add_spare(&self, links: Weak<dyn SpareLinks>) {
        let mut spare = self.spare.lock();
        spare.retain(|links| links.strong_count() > 0);
        spare.push(links);
    }

    /// Returns a request key that no other request has.
    pub fn next_key(&self) -> u64 {
        self.keys.fetch_add(1, Ordering::Relaxed)
    }
}

/// A thread's access to servers. Clones share one allocation.
#[derive(Clone)]
pub struct Egress(Arc<EgressParts>);

struct EgressParts {
    client: Client,
    snapshot: Arc<Snapshot>,
    process: Arc<EgressProcess>,
}

impl Egress {
    /// Creates a thread's access from these connections and this configuration.
    pub fn new(client: Client, snapshot: Arc<Snapshot>, process: Arc<EgressProcess>) -> Self {
        Self(Arc::new(EgressParts { client, snapshot, process }))
    }

    /// Returns the thread's own connections.
    pub fn client(&self) -> &Client {
        &self.0.client
    }

    /// Returns the configuration that was in force when this value was created.
    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.0.snapshot
    }

    /// Returns the marks of servers for other gateways; `None` if other gateways get no marks.
    pub fn marks(&self) -> Option<&dyn ServerMarks> {
        self.0.process.marks.get().map(|marks| &**marks)
    }

    /// Closes the least recently used spare link of any server, and waits until another process may be started; returns
    /// `false` if there is no such link. Links with owners are closed only if `also_owned` is true.
    pub async fn make_room(&self, also_owned: bool) -> bool {
        let mut spare: Vec<((bool, Instant), Arc<dyn SpareLinks>)> = {
            let links = self.0.process.spare.lock();
            links.iter().filter_map(Weak::upgrade).filter_map(|links| Some((links.spare()?, links))).collect()
        };
        in_turn(&mut spare, also_owned);
        let is_closed = spare.iter().any(|(_, links)| links.close_spare(self));
        is_closed && self.supervisor().room(self.ending_time()).await
    }

    /// Returns the time within which a process that was told to end has ended.
    pub(crate) fn ending_time(&self) -> Duration {
        // A process has two grace periods before it is killed.
        self.snapshot().limits.child_stop_timeout * 2 + REAPING
    }

    /// Returns a request key that no other request has.
    pub fn next_key(&self) -> u64 {
        self.0.process.next_key()
    }

    /// Returns the links that the whole process is opening.
    pub fn starts(&self) -> &Starts {
        &self.0.process.starts
    }

    /// Adds a server whose links can be closed to let another process start.
    pub fn add_spare(&self, links: Weak<dyn SpareLinks>) {
        self.0.process.add_spare(links);
    }

    /// Returns the supervisor that starts and ends children.
    pub fn supervisor(&self) -> &Supervisor {
        &self.0.process.supervisor
    }

    /// Returns the signal that is raised when the process begins to stop.
    pub fn stop(&self) -> &Stop {
        &self.0.process.stop
    }

    /// Returns the limits for reading a message.
    pub fn frame_limits(&self) -> FrameLimits {
        engine::snapshot::frame_limits(&self.snapshot().limits)
    }

    /// Returns the clients that see the catalogues of servers; `None` if there are none.
    pub fn audience(&self) -> Option<Arc<dyn Audience>> {
        self.0.process.audience.get().and_then(Weak::upgrade)
    }
}

/// Sorts links in the order in which they are closed: first those without an owner, then the others; within each group,
/// the least recently used first.
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
