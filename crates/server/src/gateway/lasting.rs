//! What the process has whatever is configured: sessions, servers with their links, views, and what is kept for calls. It must
//! not know configurations beyond the limits that it began with.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwap;
use engine::Snapshot;
use tokio::sync::mpsc;
use transport::net::Stop;

use super::dialect;
use super::manage::Asked;
use super::memory::Tidying;
use super::parked::Parked;
use super::rates::ManageRates;
use super::sealer::StateSealer;
use super::sessions::Sessions;
use super::tasks::{self, Homes};
use super::threads::Threads;
use super::unchecked::Unchecked;
use super::views::Views;
use super::withdrawn::Holders;
use crate::audit::AuditSink;
use upstream::oauth::Consents;
use upstream::quota::Quota;
use upstream::{EgressProcess, Upstreams};

/// What comes from outside of the gateway.
pub(super) struct Outside {
    pub(super) audit: AuditSink,
    pub(super) stop: Stop,
    /// Where keys, consents and the record of calls are kept; `None` where nobody says.
    pub(super) folder: Option<PathBuf>,
    /// The addresses that are listened at.
    pub(super) addresses: Vec<SocketAddr>,
    /// Whether only this machine can connect.
    pub(super) loopback: bool,
    /// Whether nobody is asked who they are, whatever is configured: there is one client, which started this.
    pub(super) lets_all_in: bool,
}

/// Everything that outlives a change of the configuration.
pub(crate) struct Lasting {
    /// The snapshot in force, for what has begun under another one.
    pub(super) current: ArcSwap<Snapshot>,
    pub(super) consents: Arc<Consents>,
    pub(super) upstreams: Upstreams,
    pub(super) sessions: Arc<Sessions>,
    pub(super) views: Views,
    pub(super) egress: Arc<EgressProcess>,
    pub(super) seal: Arc<StateSealer>,
    pub(super) parked: Parked,
    pub(super) homes: Homes,
    pub(super) held: parking_lot::Mutex<engine::tasks::Held>,
    pub(super) listens: Arc<Quota>,
    pub(super) holders: Holders,
    pub(super) dialect_sessions: dialect::Sessions,
    pub(super) dialect_lists: dialect::Lists,
    pub(super) audit: AuditSink,
    pub(super) unchecked: Unchecked,
    pub(super) tidying: Tidying,
    pub(super) threads: Threads,
    pub(super) folder: Option<PathBuf>,
    pub(super) addresses: Vec<SocketAddr>,
    pub(super) loopback: bool,
    pub(super) lets_all_in: bool,
    /// How often somebody may manage; `None` where nobody may.
    pub(super) manage_rates: Option<ManageRates>,
    /// Where changes of the configuration are asked for, where anybody may.
    pub(super) edits: OnceLock<mpsc::Sender<Asked>>,
    pub(super) stop: Stop,
}

impl Lasting {
    /// For the configuration that the process begins with.
    ///
    /// # Errors
    /// Which server cannot be, and why.
    pub(super) fn new(
        snapshot: &Arc<Snapshot>,
        manage_rates: Option<ManageRates>,
        outside: Outside,
    ) -> Result<Self, String> {
        let limits = &snapshot.limits;
        let Outside { audit, stop, folder, addresses, loopback, lets_all_in } = outside;
        let egress = EgressProcess::new(limits.children, stop.clone());
        let consents = Arc::new(Consents::new(folder.clone(), limits.connect_timeout));
        Ok(Self {
            upstreams: Upstreams::new(snapshot, consents.clone())?,
            consents,
            sessions: Arc::new(Sessions::new(limits)),
            views: Views::default(),
            seal: Arc::new(StateSealer::new(&egress)?),
            egress,
            parked: Parked::new(limits.parked_calls, limits.request_state_lifetime),
            homes: Homes::new(limits.parked_calls, limits.request_state_lifetime),
            held: tasks::new_held(limits.request_state_lifetime),
            listens: Quota::new(limits.listen_streams),
            holders: Holders::default(),
            dialect_sessions: dialect::Sessions::new(limits.sessions),
            dialect_lists: dialect::Lists::default(),
            current: ArcSwap::new(snapshot.clone()),
            audit,
            unchecked: Unchecked::default(),
            tidying: Tidying::default(),
            threads: Threads::default(),
            folder,
            addresses,
            loopback,
            lets_all_in,
            manage_rates,
            edits: OnceLock::new(),
            stop,
        })
    }
}
