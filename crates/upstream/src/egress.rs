//! What a thread needs to reach servers: its own connections, the configuration that it began with, and what all threads
//! share. It must not know what is asked of servers, or by whom.

use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use engine::Snapshot;
use proto::mcp::Notice;
use proto::rpc::FrameLimits;
use transport::child::Supervisor;
use transport::net::Stop;
use transport::net::client::Client;

use crate::server::{Kind, Server};

/// Those who see what servers offer.
pub trait Audience: Send + Sync {
    /// What a server offers to clients of this kind is another now.
    fn offer_changed(&self, snapshot: &Snapshot, server: &Server, kind: &Kind);

    /// A server has announced that lists have changed, and they are about to be fetched. What is returned tells, once they
    /// are, those who were not told by the difference.
    fn before_change(&self, server: &Arc<Server>, kinds: &[Kind]) -> Announcement;

    /// Returns true if somebody of these kinds is told of changes of this server's lists on a stream of notices or, if
    /// `sessions` count, in a session.
    fn listens(&self, server: &Server, kinds: &[Kind], sessions: bool) -> bool;
}

/// What is left to do once lists have been fetched that had changed.
pub type Announcement = Box<dyn FnOnce(&[Notice]) + Send>;

/// What all threads share.
pub struct EgressProcess {
    /// Starts and ends children.
    pub supervisor: Supervisor,
    /// Raised when the process ends.
    pub stop: Stop,
    keys: AtomicU64,
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
            audience: OnceLock::new(),
        })
    }

    /// Sets who sees what servers offer; once.
    pub fn set_audience(&self, audience: Weak<dyn Audience>) {
        let _ = self.audience.set(audience);
    }

    /// A number for a request that no other request has.
    pub fn next_key(&self) -> u64 {
        self.keys.fetch_add(1, Ordering::Relaxed)
    }
}

/// A thread's way to servers.
#[derive(Clone)]
pub struct Egress(Arc<EgressState>);

/// What [`Egress`] is made of.
pub struct EgressState {
    /// The thread's own connections.
    pub client: Client,
    /// The configuration that was in force when this was taken.
    pub snapshot: Arc<Snapshot>,
    process: Arc<EgressProcess>,
}

impl Deref for Egress {
    type Target = EgressState;

    fn deref(&self) -> &EgressState {
        &self.0
    }
}

impl Egress {
    /// Over these connections, under this configuration.
    pub fn new(client: Client, snapshot: Arc<Snapshot>, process: Arc<EgressProcess>) -> Self {
        Self(Arc::new(EgressState { client, snapshot, process }))
    }
}

impl EgressState {
    /// A number for a request that no other request has.
    pub fn next_key(&self) -> u64 {
        self.process.next_key()
    }

    /// What starts and ends children.
    pub fn supervisor(&self) -> &Supervisor {
        &self.process.supervisor
    }

    /// Raised when the process ends.
    pub fn stop(&self) -> &Stop {
        &self.process.stop
    }

    /// How a message is read.
    pub fn frame_limits(&self) -> FrameLimits {
        engine::snapshot::frame_limits(&self.snapshot.limits)
    }

    /// Those who see what servers offer, while there are any.
    pub fn audience(&self) -> Option<Arc<dyn Audience>> {
        self.process.audience.get().and_then(Weak::upgrade)
    }
}
