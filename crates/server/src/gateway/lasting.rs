//! What the process has whatever is configured: sessions, servers with their links, views, and what is kept for calls. It must
//! not know configurations beyond the limits that it began with.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use engine::Snapshot;
use tokio::sync::mpsc;
use transport::net::Stop;

use super::admission::rates::ManageRates;
use super::call::CallState;
use super::call::parked::Parked;
use super::dialect_session::lists::Lists;
use super::dialect_session::sessions::Sessions as DialectSessions;
use super::edits::Asked;
use super::session::{SessionState, sealer::StateSealer};
use super::threads::Threads;
use super::view::ViewState;
use crate::audit::AuditSink;
use upstream::oauth::Consents;
use upstream::{EgressProcess, Upstreams};

/// What comes from outside of the gateway.
pub(super) struct Outside {
    pub(super) audit: AuditSink,
    pub(super) stop: Stop,
    /// Where keys, consents and the record of calls are kept; `None` where nobody says.
    pub(super) folder: Option<PathBuf>,
    /// The addresses that are listened at.
    pub(super) addresses: Vec<SocketAddr>,
    /// True if only this machine can connect.
    pub(super) loopback: bool,
    /// True if nobody is asked who they are, whatever is configured: there is one client, which started this.
    pub(super) lets_all_in: bool,
}

/// Everything that outlives a change of the configuration.
pub(crate) struct Lasting {
    pub(super) consents: Arc<Consents>,
    pub(super) view: Arc<ViewState>,
    pub(super) session: Arc<SessionState>,
    pub(super) call: Arc<CallState>,
    pub(super) parked: Arc<Parked>,
    pub(super) egress: Arc<EgressProcess>,
    pub(super) dialect_sessions: DialectSessions,
    pub(super) dialect_lists: Lists,
    pub(super) threads: Threads,
    pub(super) folder: Option<PathBuf>,
    pub(super) addresses: Vec<SocketAddr>,
    pub(super) loopback: bool,
    /// The rate at which somebody may manage; `None` where nobody may.
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
            view: Arc::new(ViewState::new(
                snapshot,
                Upstreams::new(snapshot, consents.clone())?,
                lets_all_in,
            )),
            session: Arc::new(SessionState::new(limits, StateSealer::new(&egress)?)),
            call: Arc::new(CallState::new(limits, audit)),
            parked: Arc::new(Parked::new(limits.parked_calls, limits.request_state_lifetime)),
            consents,
            egress,
            dialect_sessions: DialectSessions::new(limits.sessions),
            dialect_lists: Lists::default(),
            threads: Threads::default(),
            folder,
            addresses,
            loopback,
            manage_rates,
            edits: OnceLock::new(),
            stop,
        })
    }
}
