//! The process's state, independent of the configuration: sessions, servers with their links, views, and the state
//! of calls. This module must not know any part of a configuration except the limits at startup.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use cluster::PeerDoor;
use config::{Link, Metrics};
use engine::Snapshot;
use parking_lot::Mutex;
use tokio::sync::mpsc;
use transport::net::Stop;

use crate::admission::admin::AdminState;
use crate::admission::arrivals::Arrivals;
use crate::admission::audit::AuditSink;
use crate::admission::count_store::CountStore;
use crate::admission::refused_requests::RefusedRequests;
use crate::call::CallState;
use crate::call::parked::Parked;
use crate::changes::edits::{ConfigRequest, Reloaded};
use crate::dialect_session::lists::Lists;
use crate::dialect_session::sessions::Sessions as DialectSessions;
use crate::process::kept_catalogues::KeptCatalogues;
use crate::process::kept_definitions::KeptDefinitions;
use crate::process::kept_sessions::KeptSessions;
use crate::process::key_ring::KeyRing;
use crate::process::serving::Serving;
use crate::process::threads::Threads;
use crate::session::kept::SessionStore;
use crate::session::seal::random_number;
use crate::session::{SessionState, sealer::StateSealer};
use crate::telemetry::ProcessFigures;
use crate::telemetry::trace::Tracer;
use crate::view::ViewState;
use upstream::catalogue::CatalogueStore;
use upstream::definitions::DefinitionStore;
use upstream::oauth::Consents;
use upstream::{EgressProcess, NO_RANDOM, Upstreams};

/// The parts of the process state that are created outside of the gateway.
pub(crate) struct ExternalParts {
    pub(crate) audit: AuditSink,
    pub(crate) key_ring: KeyRing,
    pub(crate) stop: Stop,
    /// The folder of keys, consents and the record of calls; `None` if no folder is configured.
    pub(crate) folder: Option<PathBuf>,
    /// The file of the configuration, if there is one.
    pub(crate) config_file: Option<PathBuf>,
    /// The addresses at which the gateway listens; `None` if its only client uses a pipe.
    pub(crate) serving: Option<Arc<Serving>>,
    /// The separate address for metrics; `None` if the only client uses a pipe.
    pub(crate) metrics_serving: Option<Arc<Serving>>,
    /// True if callers are not authenticated, regardless of the configuration, because the only client is the one
    /// that started this process.
    pub(crate) lets_all_in: bool,
    /// The address for the other gateways of the cluster, if this gateway listens for them.
    pub(crate) peer_door: Option<PeerDoor>,
    /// The time for which a request for a list waits for child processes whose lists are not known yet; if `None`,
    /// `limits.listWait` applies.
    pub(crate) child_wait: Option<Duration>,
    /// The traces of requests; `None` if no request is traced.
    pub(crate) tracer: Option<Arc<Tracer>>,
    /// The configuration of metrics; `None` if there is no address at which to read them.
    pub(crate) metrics: Option<Metrics>,
}

/// The state that outlives a change to the configuration.
pub struct ProcessState {
    pub consents: Arc<Consents>,
    pub view: Arc<ViewState>,
    pub session: Arc<SessionState>,
    pub call: Arc<CallState>,
    pub parked: Arc<Parked>,
    /// The counts of rate limits that the gateways of a cluster share.
    pub counts: Arc<CountStore>,
    pub egress: Arc<EgressProcess>,
    /// The store of servers' catalogues; `None` if catalogues are not stored.
    pub(crate) catalogues: Option<Arc<KeptCatalogues>>,
    /// The record of servers' tool definitions; empty if none are compared.
    pub(crate) definitions: OnceLock<Arc<KeptDefinitions>>,
    /// The store of sessions; `None` if sessions are not stored.
    pub(crate) sessions: Option<Arc<KeptSessions>>,
    pub(crate) key_ring: Arc<KeyRing>,
    pub dialect_sessions: DialectSessions,
    pub(crate) dialect_lists: Lists,
    pub(crate) threads: Threads,
    pub folder: Option<PathBuf>,
    /// The addresses at which the gateway listens; `None` if its only client uses a pipe.
    pub serving: Option<Arc<Serving>>,
    /// The separate address for metrics; `None` if the only client uses a pipe.
    pub(crate) metrics_serving: Option<Arc<Serving>>,
    /// The channel for edits of the configuration.
    pub(crate) edits: OnceLock<mpsc::Sender<ConfigRequest>>,
    /// The watchers of arriving requests.
    pub arrivals: Arc<Arrivals>,
    /// The latest requests that were turned away.
    pub refused: RefusedRequests,
    /// The sessions and one-time links of operators.
    pub admin: AdminState,
    /// The file of the configuration, if there is one.
    pub config_file: Option<PathBuf>,
    /// The outcome of the last reload of the file.
    pub last_reload: Mutex<Option<Reloaded>>,
    /// The reason why changes that were made at another gateway of the cluster are not in force here.
    pub unfit_changes: Mutex<Option<String>>,
    /// The number of configurations that were put into force.
    pub(crate) generations: AtomicU64,
    /// A random number of this process.
    pub seed: u64,
    /// The address for the other gateways of the cluster, if this gateway listens for them.
    pub(crate) peer_door: Option<PeerDoor>,
    pub started: Instant,
    pub stop: Stop,
}

impl ProcessState {
    /// Creates the state for the process's first configuration.
    ///
    /// # Errors
    /// Returns the server that cannot be set up, and the reason.
    // tidy: long because each field of the state has a line.
    pub(crate) fn new(snapshot: &Arc<Snapshot>, outside: ExternalParts) -> Result<Self, String> {
        let limits = &snapshot.limits;
        let figures = ProcessFigures::new(outside.metrics.as_ref());
        // The session of a pipe's only client does not outlive the client.
        let keeps_sessions = !outside.lets_all_in;
        let egress = EgressProcess::new(limits.children, outside.stop.clone());
        egress.set_marks(outside.key_ring.seal.clone());
        let consents = Arc::new(Consents::new(outside.folder.clone(), limits.connect_timeout));
        let upstreams = Upstreams::new(snapshot, consents.clone())?;
        let definitions = OnceLock::new();
        if let Some(opened) = KeptDefinitions::open_for(outside.folder.as_deref(), &snapshot.upstreams)? {
            let store: Arc<dyn DefinitionStore> = opened.clone();
            upstreams.record_definitions(&store)?;
            let _ = definitions.set(opened);
        }
        let catalogues = kept(snapshot, outside.folder.as_deref());
        if let Some(catalogues) = &catalogues {
            let store: Arc<dyn CatalogueStore> = catalogues.clone();
            upstreams.restore(&store);
        }
        let sealer = StateSealer::new(outside.key_ring.seal.clone(), &egress, outside.peer_door.is_some())?;
        let sessions =
            KeptSessions::open(outside.folder.as_deref().filter(|_| keeps_sessions), limits.session_lifetime);
        let store = sessions.clone().map(|sessions| -> Arc<dyn SessionStore> { sessions });
        let view = ViewState::new(snapshot, upstreams, outside.lets_all_in, outside.child_wait);
        if let Some(catalogues) = &catalogues {
            let store: Arc<dyn CatalogueStore> = catalogues.clone();
            view.names.restore(snapshot.profiles.iter().map(|profile| &profile.slug), &store);
        }
        Ok(Self {
            view: Arc::new(view),
            catalogues,
            definitions,
            session: Arc::new(SessionState::new(limits, sealer, store)),
            sessions,
            call: Arc::new(CallState::new(limits, outside.audit, figures, outside.tracer)),
            parked: Arc::new(Parked::new(limits.parked_calls, limits.request_state_lifetime)),
            counts: Arc::default(),
            consents,
            egress,
            dialect_sessions: DialectSessions::new(limits.sessions),
            key_ring: Arc::new(outside.key_ring),
            dialect_lists: Lists::default(),
            threads: Threads::default(),
            folder: outside.folder,
            serving: outside.serving,
            metrics_serving: outside.metrics_serving,
            edits: OnceLock::new(),
            arrivals: Arc::default(),
            refused: RefusedRequests::default(),
            admin: AdminState::default(),
            config_file: outside.config_file,
            last_reload: Mutex::default(),
            unfit_changes: Mutex::default(),
            generations: AtomicU64::default(),
            peer_door: outside.peer_door,
            seed: random_number().map_err(|_| NO_RANDOM.to_owned())?,
            started: Instant::now(),
            stop: outside.stop,
        })
    }
}

impl ProcessState {
    /// Applies a new configuration of metrics. Metrics of servers and tools that no longer exist are dropped.
    pub(crate) fn follow_metrics(&self, snapshot: &Snapshot, metrics: Option<&Metrics>) {
        if metrics.is_none() {
            return self.call.figures.follow(None, &[]);
        }
        let servers = snapshot.upstreams.iter().map(|spec| self.view.upstreams.get(spec.id));
        let meters = servers.map(|upstream| {
            let meters = upstream.server.meters.clone();
            if let Some(listed) = upstream.catalogue.tool_names() {
                meters.tools.retain(|tool| listed.contains(tool));
            }
            meters
        });
        self.call.figures.follow(metrics, &meters.collect::<Vec<_>>());
    }

    /// Applies the limits of a new configuration. Sessions, calls and processes that already exceed the new limits
    /// continue until they end.
    pub(crate) fn follow(&self, snapshot: &Snapshot) {
        let limits = &snapshot.limits;
        self.view.upstreams.follow(snapshot);
        self.session.sessions.follow(limits);
        self.dialect_sessions.resize(limits.sessions);
        self.parked.follow(limits.parked_calls, limits.request_state_lifetime);
        self.call.follow(limits);
        self.egress.supervisor.set_max(limits.children);
        self.consents.set_connect_timeout(limits.connect_timeout);
        self.key_ring.keep_for(limits.session_lifetime);
        if let Some(cluster) = self.session.cluster.get() {
            cluster.keep_sessions_for(limits.session_lifetime);
        }
        if let Some(sessions) = &self.sessions {
            sessions.keep_for(limits.session_lifetime);
        }
        if let Some(serving) = &self.serving {
            serving.follow(limits);
        }
    }
}

/// Opens the store of servers' catalogues, if the configuration contains a server that may be unavailable; otherwise,
/// the store is not needed.
fn kept(snapshot: &Snapshot, folder: Option<&Path>) -> Option<Arc<KeptCatalogues>> {
    let may_be_away = snapshot.upstreams.iter().any(|one| !matches!(one.link, Link::Native(_)));
    KeptCatalogues::open(folder.filter(|_| may_be_away))
}
