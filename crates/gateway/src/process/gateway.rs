//! The gateway under one configuration. This module must not know how a configuration is put into force, or what
//! clients request.

use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::Ordering;
use std::sync::{Arc, LazyLock, Weak};
use std::time::SystemTime;

use config::{Config, RateLimit, RateMethods, RatePer};
use engine::access::Hosts;
use engine::{ClientAddress, Snapshot};
use http::HeaderMap;
use login::AuthorizationServer;
use proto::rpc::FrameLimits;
use transport::budget;
use upstream::{NO_RANDOM, embedded};

use super::shared_sign_ins::StoredSignIns;
use super::state::{ExternalParts, ProcessState};
use crate::admission::admin::AdminDoor;
use crate::admission::auth::Authenticator;
use crate::admission::count_store::CountStore;
use crate::admission::rates::{ManageRates, Rates};
use crate::changes::Standing;
use crate::session::SessionState;
use crate::view::ViewState;
use crate::{call, session};

/// The version of Dragoman.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The gateway under one configuration.
pub struct Gateway {
    /// The configuration, prepared for requests.
    pub snapshot: Arc<Snapshot>,
    /// The configuration from which the snapshot was compiled.
    pub standing: Arc<Standing>,
    /// The hosts and origins whose requests are answered.
    pub(crate) hosts: Hosts,
    /// The authenticator of callers, without connections; each thread adds its own connections.
    pub(crate) door: Authenticator,
    /// The rate limits of callers.
    pub rates: Arc<Rates>,
    /// The rate limits of management; `None` if management is disabled.
    pub manage_rates: Option<Arc<ManageRates>>,
    /// The check that admits operators to their pages; `None` if there are no pages.
    pub admin: Option<Arc<AdminDoor>>,
    /// True if only clients on this machine can connect.
    pub loopback: bool,
    /// True if requests may carry credentials for sites behind embedded servers.
    pub(crate) carries: bool,
    /// The number of configurations that were put into force before this one.
    pub generation: u64,
    /// The time when this configuration was put into force.
    pub in_force_since: SystemTime,
    /// The state that outlives this configuration.
    pub process: Arc<ProcessState>,
}

/// The parts of a gateway that depend on its configuration.
pub struct GatewayParts {
    pub(crate) standing: Standing,
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) door: Authenticator,
    pub(crate) rates: Arc<Rates>,
    pub(crate) manage_rates: Option<Arc<ManageRates>>,
    pub(crate) admin: Option<Arc<AdminDoor>>,
    /// The addresses at which the gateway listens.
    pub(crate) addresses: Vec<SocketAddr>,
}

/// Shares the sign-ins of a server with the other gateways of the cluster, if there is one.
fn share(server: &AuthorizationServer, process: &ProcessState) {
    if let Some(cluster) = process.session.cluster.get() {
        let number = process.session.sealer.short_number();
        server.share(Arc::new(StoredSignIns(cluster.clone())), number);
    }
}

impl Gateway {
    /// Creates the gateway of the process's first configuration.
    ///
    /// # Errors
    /// Returns the unusable part of the configuration, and the reason why this part is unusable.
    pub(crate) fn new(
        standing: Standing,
        door: Authenticator,
        addresses: Vec<SocketAddr>,
        outside: ExternalParts,
    ) -> Result<Self, String> {
        let config = standing.config();
        let snapshot = Arc::new(Snapshot::compile(config, VERSION));
        let manage_rates = manage_rates(config)?;
        let admin = AdminDoor::of(config.admin.as_ref())?;
        let process = Arc::new(ProcessState::new(&snapshot, outside)?);
        let audience: Weak<ViewState> = Arc::downgrade(&process.view);
        process.egress.set_audience(audience);
        let observer: Weak<SessionState> = Arc::downgrade(&process.session);
        process.view.set_observer(observer);
        let rates = Arc::new(configured_rates(config, &process)?);
        let parts = GatewayParts { standing, snapshot, door, rates, manage_rates, admin, addresses };
        Ok(Self::over(process, parts))
    }

    pub(crate) fn over(process: Arc<ProcessState>, parts: GatewayParts) -> Self {
        let GatewayParts { standing, snapshot, door, rates, manage_rates, admin, addresses } = parts;
        let loopback = addresses.iter().all(|address| address.ip().is_loopback());
        let config = standing.config();
        let memory = snapshot.limits.memory.unwrap_or_else(|| *DEFAULT_MEMORY);
        budget::of_process().set_total(memory);
        let base = call::consent::base(config, &addresses);
        if let Some(server) = door.sign_in() {
            server.serve_at(base.as_deref());
            share(server, &process);
        }
        process.call.in_progress.keep(config.keeps_changes());
        process.consents.serve_at(base);
        process.consents.with_clients(snapshot.upstreams.iter().filter_map(call::consent::client));
        Self {
            hosts: Hosts::new(loopback, &config.allowed_hosts, &origins(config)),
            carries: embedded::is_wanted(&snapshot.upstreams),
            snapshot,
            standing: Arc::new(standing),
            door,
            rates,
            manage_rates,
            admin,
            loopback,
            in_force_since: SystemTime::now(),
            generation: process.generations.fetch_add(1, Ordering::Relaxed),
            process,
        }
    }

    /// Shares sign-ins with the other gateways, once this gateway has joined its cluster.
    pub(crate) fn share_sign_ins(&self) {
        if let Some(server) = self.door.sign_in() {
            share(server, &self.process);
        }
    }

    /// Returns a client's address, which trusted proxies may report; `peer` is the address of the connection.
    pub fn client_of(&self, peer: IpAddr, headers: &HeaderMap) -> ClientAddress {
        ClientAddress::of(peer, headers, &self.snapshot.proxies)
    }

    pub(crate) fn frame_limits(&self) -> FrameLimits {
        engine::snapshot::frame_limits(&self.snapshot.limits)
    }
}

/// The default memory budget, in bytes. It is computed only once, because the machine's memory does not change while
/// the process runs.
static DEFAULT_MEMORY: LazyLock<usize> = LazyLock::new(budget::default_total);

/// Returns the allowed origins of web pages: the configured ones, and the gateway's own public origin.
fn origins(config: &Config) -> Vec<String> {
    let own = config.public_url.as_ref().and_then(|url| url.parse::<http::Uri>().ok());
    let own = own
        .and_then(|url| Some(format!("{}://{}", url.scheme_str()?, url.authority()?).to_ascii_lowercase()));
    config.allowed_origins.iter().cloned().chain(own).collect()
}

/// Returns the configured rate limits. The gateways of a cluster share their counts.
pub(crate) fn configured_rates(config: &Config, process: &ProcessState) -> Result<Rates, String> {
    let store = config.cluster.as_ref().map(|_| process.counts.clone());
    new_rates(&config.rate_limits, |place| format!("rateLimits[{place}]"), store)
}

fn new_rates(
    limits: &[RateLimit],
    name: impl Fn(usize) -> String,
    store: Option<Arc<CountStore>>,
) -> Result<Rates, String> {
    let seed = session::seal::random_number().map_err(|_| NO_RANDOM.to_owned())?;
    Ok(Rates::new(limits, name, seed, store))
}

/// Returns the rate limits of management: those for managers, and those for failed attempts by address; `None` if
/// management is disabled.
pub(crate) fn manage_rates(config: &Config) -> Result<Option<Arc<ManageRates>>, String> {
    let Some(management) = &config.management else { return Ok(None) };
    let limit = |per| RateLimit {
        per: vec![per],
        methods: RateMethods::All,
        rate: management.rate,
        burst: management.rate.count,
        ..RateLimit::default()
    };
    let new = |per, whose: &str| new_rates(&[limit(per)], |_| format!("management, by {whose}"), None);
    let (known, refused) = (new(RatePer::Principal, "principal")?, new(RatePer::Ip, "address")?);
    Ok(Some(Arc::new(ManageRates { known, refused })))
}
