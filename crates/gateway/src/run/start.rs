//! Starts serving threads from a checked configuration. This module must not know how a configuration is read.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use config::{Auth, Config};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinSet;
use transport::net::client::{Client, ClientLimits, Trust, environment_proxies};
use transport::net::{
    BoxError, Handler, RuntimeKind, Stop, inherited_listeners, runtime, serve as serve_connections,
};

use super::beside_clients::{BesideClients, BesideThread};
use super::exports::Exports;
use super::shutdown::ShutdownBarrier;
use super::sweep::{evict, supervise, sweep, watch_definitions, watch_keys};
use super::{cluster, control, server_sessions, service_notice};
use crate::admission::audit::{self, AuditOptions, AuditSink};
use crate::admission::door::door;
use crate::changes::{Changes, Standing};
use crate::front::http::Service;
use crate::front::http::operators::OperatorEndpoints;
use crate::front::http::peer_service::PeerService;
use crate::front::stdio as front_stdio;
use crate::management::{admin_link, shared_definitions};
use crate::process::key_ring::KeyRing;
use crate::process::serving::{NextAddresses, Serving, ServingSocket};
use crate::process::{ExternalParts, Gateway, Thread};
use crate::reload::revoked;
use crate::reload::shared_changes::first_comparison;
use crate::reload::standing::{first_standing, log_notes};
use crate::reload::warm::warm;
use crate::reload::watch::{self, Origin, Sources};
use crate::tls::TlsWatch;
use upstream::route;

/// The time allowed for recording the last calls at shutdown.
const LAST_RECORDS: Duration = Duration::from_secs(5);

/// The options of the gateway.
pub struct Options {
    /// The checked configuration.
    pub config: Config,
    /// The source of the configuration, which is read again when it changes; `None` if the configuration cannot be read
    /// again.
    pub origin: Option<Origin>,
    /// The kind of runtime, which determines how threads share the work.
    pub runtime: RuntimeKind,
    /// The number of threads; one per core if `None`.
    pub threads: Option<usize>,
    /// The folder of keys, consents and the record of calls; `None` if no folder is configured.
    pub folder: Option<PathBuf>,
    /// The file of the key ring that the configuration names; `None` to use the file in the state folder.
    pub key_ring: Option<PathBuf>,
    /// The time for which a request for a list waits for child processes whose lists are not known yet; if `None`,
    /// `limits.listWait` applies.
    pub child_wait: Option<Duration>,
    /// Called once all addresses are listening.
    pub ready: Ready,
}

/// The addresses of a gateway that has just begun to listen.
pub struct ListeningPlaces<'a> {
    /// The addresses at which clients can connect.
    pub addresses: &'a [SocketAddr],
    /// A link that opens the operators' pages once; `None` if there are no pages.
    pub admin_link: Option<String>,
}

/// A function that is called once the gateway listens.
pub type Ready = Box<dyn FnOnce(&ListeningPlaces<'_>) + Send>;

/// Serves MCP clients over HTTP until the process receives a signal to stop. Also serves operators, at the
/// endpoints `operators`.
pub fn serve(options: Options, operators: &Arc<dyn OperatorEndpoints>) -> Result<(), BoxError> {
    let Options { config, origin, runtime: kind, threads, ready, folder, child_wait, key_ring } = options;
    let stop = Stop::new();
    let door = door(&config.auth, folder.as_deref())?;
    let audit = start_audit(&config, folder.as_deref())?;
    let key_ring = KeyRing::open(key_ring.as_deref(), folder.as_deref(), config.limits.session_lifetime)?;
    let tls = config.tls.clone().map(TlsWatch::start).transpose()?;
    let (standing, kept) = first_standing(config.clone(), folder.as_deref())?;
    log_notes(&standing);
    log_routes(&config);
    let threads = threads.unwrap_or_else(cores);
    let shards = runtime::shards(kind, threads);
    let (serving, first) = listening(shards, &config, tls.as_ref())?;
    let beside = BesideClients::open(shards, &config)?;
    let (addrs, exports) = (first.actual(), Exports::from_environment());
    let outside = ExternalParts {
        audit: audit.exporting_to(exports.call_log()),
        key_ring,
        stop: stop.clone(),
        folder,
        config_file: origin.as_ref().and_then(|origin| origin.file.clone()),
        serving: Some(serving.clone()),
        metrics_serving: Some(beside.metrics.clone()),
        lets_all_in: false,
        peer_door: beside.peers.door.clone(),
        child_wait,
        tracer: exports.tracer(),
        metrics: config.metrics.clone(),
    };
    let gateway = Arc::new(Gateway::new(standing, door, addrs.clone(), outside)?);
    serving.serve(first);
    beside.serve();
    let first_client = Client::new(client_limits(&config), Trust::default());
    let client = || first_client.sibling();
    let (ready, sources) = (Mutex::new(Some(ready)), Mutex::new(Some(Sources { origin, kept, tls })));
    let barrier = ShutdownBarrier::new(shards, serving.limits.clone());
    let outcome = runtime::run(kind, threads, &stop, |shard| {
        let service = Service::new(Thread::new(client(), &gateway), operators.clone());
        let (sending, first) = (exports.start(&shard, client), shard.index == 0);
        let (sockets, serving) = (serving.sockets(shard.index), serving.clone());
        let beside = beside.of_thread(shard.index);
        let (stop, addrs) = (shard.stop.clone(), addrs.clone());
        let (ready, sources) = (taken(&ready, shard.index), taken(&sources, shard.index));
        let (barrier, busy) = (barrier.clone(), barrier.busy());
        async move {
            if first {
                begin(&service, &stop, sources.unwrap_or_default()).await?;
            }
            announce(service.thread(), ready, &addrs);
            let outcome = serve_all(&service, (&serving, sockets), beside, &stop).await;
            barrier.wait(busy, first.then(|| service.thread().now()).as_ref()).await;
            cluster::leave(first.then_some(&**service.thread())).await;
            sending.finish().await;
            outcome
        }
    });
    close_files(&gateway);
    Ok(outcome?)
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Calls `ready`, if it was not called before, with the addresses and a link to the operators' pages.
fn announce(thread: &Thread, ready: Option<Ready>, addresses: &[SocketAddr]) {
    if let Some(ready) = ready {
        let shown: Vec<String> = addresses.iter().map(ToString::to_string).collect();
        service_notice::ready(&shown.join(", "));
        let admin_link = admin_link::create(&thread.now().gateway).ok().map(|link| link.url);
        ready(&ListeningPlaces { addresses, admin_link });
    }
}

/// Listens on the configured addresses. If the service manager has already opened a socket at an address, that
/// socket is used.
fn listening(
    threads: usize,
    config: &Config,
    tls: Option<&TlsWatch>,
) -> Result<(Arc<Serving>, NextAddresses), BoxError> {
    let sockets =
        inherited_listeners().map_err(|e| format!("cannot use the sockets from the service manager: {e}"))?;
    let serving = Serving::new(threads, &config.limits, tls.map(TlsWatch::serves)).inheriting(sockets);
    let first = serving.bind(&config.listen)?;
    refuse_unused(&serving)?;
    Ok((Arc::new(serving), first))
}

/// Refuses to start if the service manager listens on an address that is not configured, because clients at that
/// address would wait in vain.
fn refuse_unused(serving: &Serving) -> Result<(), BoxError> {
    match serving.unused().first() {
        None => Ok(()),
        Some(address) => Err(format!(
            "the service manager passed a socket at {address}, but `listen` does not contain this address; write listen: {address}, or change the socket unit"
        )
        .into()),
    }
}

/// Serves clients, operators and the other gateways of the cluster until the gateway stops.
async fn serve_all(
    service: &Service,
    (serving, sockets): (&Serving, Option<UnboundedReceiver<ServingSocket>>),
    beside: BesideThread,
    stop: &Stop,
) -> Result<(), BoxError> {
    let BesideThread { metrics, local, peers } = beside;
    let scrapers = async {
        let Some((metrics, sockets)) = metrics else { return Ok(()) };
        serve_sockets(&metrics, sockets, stop, || service.of_metrics()).await
    };
    // While requests are still running here, other gateways pass on what these requests wait for.
    let drained = Stop::new();
    let own = async {
        let ended = tokio::join!(
            serve_sockets(serving, sockets, stop, || service.clone()),
            scrapers,
            local.serve(service, serving, stop)
        );
        drained.stop();
        ended.0.and(ended.1).and(ended.2)
    };
    let others = serve_sockets(&peers.0, peers.1, &drained, || PeerService::new(service.clone()));
    let (outcome, of_others) = tokio::join!(own, others);
    outcome.and(of_others)
}

/// Serves the sockets that a thread receives, until the gateway stops; an error in one of them stops the gateway.
async fn serve_sockets<H: Handler>(
    serving: &Serving,
    sockets: Option<UnboundedReceiver<ServingSocket>>,
    stop: &Stop,
    service: impl Fn() -> H,
) -> Result<(), BoxError> {
    let Some(mut sockets) = sockets else { return Ok(()) };
    let (mut running, mut outcome, mut stopping) = (JoinSet::new(), Ok(()), false);
    loop {
        let ended = tokio::select! {
            Some(one) = sockets.recv(), if !stopping => {
                let (service, limits) = (service(), serving.limits.clone());
                running.spawn(transport::task::boxed(serve_connections(one.socket, service, limits, serving.cap.clone(), one.stop)));
                continue;
            }
            Some(ended) = running.join_next() => ended,
            () = stop.stopped(), if !stopping => {
                stopping = true;
                serving.stop();
                continue;
            }
            else => return outcome,
        };
        if let Err(e) = ended.map_err(BoxError::from).and_then(|served| served.map_err(Into::into)) {
            outcome = Err(e);
            stop.stop();
        }
    }
}

/// Takes a value that only the first thread may use; `index` is the number of the thread.
fn taken<T>(one: &Mutex<Option<T>>, index: usize) -> Option<T> {
    if index == 0 { one.lock().ok().and_then(|mut one| one.take()) } else { None }
}

/// Writes the last calls, and all lists, definitions and sessions that have not been written yet.
fn close_files(gateway: &Gateway) {
    gateway.process.call.audit.close(LAST_RECORDS);
    if let Some(catalogues) = &gateway.process.catalogues {
        catalogues.close();
    }
    if let Some(definitions) = gateway.process.definitions.get() {
        definitions.close();
    }
    if let Some(sessions) = &gateway.process.sessions {
        sessions.close();
    }
}

/// Serves one client over stdin and stdout, until the client closes stdin or the process receives a signal to stop.
pub fn stdio(options: Options, profile: &str) -> Result<(), BoxError> {
    let stop = Stop::new();
    let Options { config, origin, folder, child_wait, key_ring, .. } = options;
    // The user who starts this process needs no authentication, except that a site may have to identify the account
    // that its tools use.
    let exports = Exports::from_environment();
    let door = door(&Auth { site: config.auth.site.clone(), ..Auth::default() }, None)?;
    let audit = start_audit(&config, folder.as_deref())?;
    let key_ring = KeyRing::open(key_ring.as_deref(), folder.as_deref(), config.limits.session_lifetime)?;
    let outside = ExternalParts {
        key_ring,
        audit: audit.exporting_to(exports.call_log()),
        stop: stop.clone(),
        folder,
        config_file: origin.as_ref().and_then(|origin| origin.file.clone()),
        serving: None,
        metrics_serving: None,
        lets_all_in: true,
        peer_door: None,
        child_wait,
        tracer: exports.tracer(),
        metrics: None,
    };
    let standing = Standing::new(config.clone(), Changes::default()).map_err(|refusal| refusal.message)?;
    let gateway = Arc::new(Gateway::new(standing, door, Vec::new(), outside)?);
    let names = || gateway.snapshot.profiles.iter().map(|p| &*p.slug).collect::<Vec<_>>().join(", ");
    let profile = gateway
        .snapshot
        .profile_named(profile)
        .ok_or_else(|| format!("there is no profile {profile:?}; the configured profiles are {}", names()))?;
    log_routes(&config);
    let sources = Mutex::new(Some(Sources { origin, kept: None, tls: None }));
    let outcome = runtime::run(RuntimeKind::PerCore, 1, &stop, |shard| {
        let thread = Thread::new(Client::new(client_limits(&config), Trust::default()), &gateway);
        let sending = exports.start(&shard, || Client::new(client_limits(&config), Trust::default()));
        let sources = sources.lock().ok().and_then(|mut sources| sources.take());
        async move {
            look_after(&thread, shard.stop.clone(), sources.unwrap_or_default());
            let own = thread.now();
            let outcome = front_stdio::serve(&own, profile).await;
            shard.stop.stop();
            tokio::join!(
                own.gateway.process.egress.supervisor.shutdown(Duration::from_secs(5)),
                server_sessions::close(&own)
            );
            sending.finish().await;
            outcome
        }
    });
    close_files(&gateway);
    Ok(outcome?)
}

/// Joins the cluster, and starts the jobs that one thread performs for all threads. If the store of the cluster cannot be
/// used, the gateway stops.
async fn begin(service: &Service, stop: &Stop, sources: Sources) -> Result<(), BoxError> {
    let thread = service.thread();
    cluster::join(thread).await.inspect_err(|_| stop.stop())?;
    first_comparison(thread, &sources).await;
    shared_definitions::first_comparison(&thread.now()).await;
    look_after(thread, stop.clone(), sources);
    control::serve(thread.now().gateway.clone(), service.of_control());
    Ok(())
}

/// Starts the jobs that one thread performs for all threads.
fn look_after(thread: &Arc<Thread>, stop: Stop, sources: Sources) {
    let own = thread.now();
    service_notice::report(stop.clone());
    until_signal(stop);
    let all: Vec<_> = own.view.state.upstreams.all().iter().map(|one| one.common.clone()).collect();
    warm(&own, &all);
    sweep(thread.clone());
    evict(thread.clone());
    supervise(thread.clone());
    watch_keys(&own.gateway.process);
    watch_definitions(thread.clone());
    watch::start(thread.clone(), sources);
    revoked::watch(thread.clone());
}

/// Logs the proxies through which servers are reached, and warnings about the routes to servers. This blocks.
fn log_routes(config: &Config) {
    let mut proxies: Vec<String> = environment_proxies().proxies().map(ToString::to_string).collect();
    proxies.dedup();
    if !proxies.is_empty() {
        tracing::info!("the environment names a proxy for requests to servers: {}", proxies.join(", "));
    }
    for warning in route::warnings(config) {
        tracing::warn!("{warning}");
    }
}

/// Starts the record of calls.
fn start_audit(config: &Config, folder: Option<&Path>) -> Result<AuditSink, BoxError> {
    let log = audit::open(config.audit.as_ref(), folder)?;
    Ok(match log.zip(config.audit.as_ref()) {
        Some((log, audit)) => AuditSink::start(log, &AuditOptions::new(audit))?,
        None => AuditSink::off(),
    })
}

fn client_limits(config: &Config) -> ClientLimits {
    ClientLimits { connect_timeout: config.limits.connect_timeout, ..ClientLimits::default() }
}

/// Raises the stop signal on SIGTERM and SIGINT.
fn until_signal(stop: Stop) {
    // Register the handlers before anyone is told that the gateway is ready: without a handler, a signal ends the
    // process without any shutdown.
    let signals = (
        tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()),
        tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt()),
    );
    let (Ok(mut terminate), Ok(mut interrupt)) = signals else { return };
    transport::task::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            () = stop.stopped() => return,
        }
        tracing::info!("stopping: calls in flight may finish");
        stop.stop();
    });
}
