//! Starting the gateway, and ending it in good order.

use std::error::Error;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::audit::{AuditOptions, AuditSink};
use crate::auth::{Authenticator, KeyBook, StoredKeys};
use crate::manage::{Changes, Standing};
use crate::tls::TlsWatch;
use engine::config::{Auth, Config};
use proto::era::{newest_handshake, newest_stateless};
use store::audit::Log;
use store::keys::Keys;
use transport::net::client::{Client, ClientLimits, Trust};
use transport::net::{
    ConnectionCap, Listeners, RuntimeKind, ServerLimits, Stop, runtime, serve as serve_connections,
};

use super::farewell::Farewell;
use super::http::Service;
use super::lasting::Outside;
use super::manage::Kept;
use super::reload::{self, Origin, Sources};
use super::threads::Thread;
use super::{Gateway, Shard, apart, partings, stdio, withdrawn};
use upstream::{Kind, Upstream};

/// The time that the last calls may take to be written down.
const LAST_RECORDS: Duration = Duration::from_secs(5);

/// Every how many seconds sessions are looked after.
const SWEEP: u64 = 10;

/// After how many seconds the start is over, and servers have told what they have.
const STARTED: u64 = 3;

/// What the gateway runs with.
pub(crate) struct Options {
    /// The checked configuration.
    pub(crate) config: Config,
    /// Where it comes from, and comes from again when that has changed.
    pub(crate) origin: Option<Origin>,
    /// How threads share the work.
    pub(crate) runtime: RuntimeKind,
    /// How many threads; as many as there are cores without.
    pub(crate) threads: Option<usize>,
    /// Where keys and the record of calls are kept; `None` where nobody says.
    pub(crate) folder: Option<PathBuf>,
    /// Called once everything listens, with the addresses.
    pub(crate) ready: Ready,
}

/// Takes the addresses that are listened at.
type Ready = Box<dyn FnOnce(&[SocketAddr]) + Send>;

type BoxError = Box<dyn Error + Send + Sync>;

/// Serves over HTTP until the process is told to stop.
pub(crate) fn serve(options: Options) -> Result<(), BoxError> {
    let Options { config, origin, runtime: kind, threads, ready, folder } = options;
    let stop = Stop::new();
    let door = door(&config.auth, folder.as_deref())?;
    let audit = audit(&config, folder.as_deref())?;
    let tls = config.tls.clone().map(TlsWatch::start).transpose()?;
    let mut limits = server_limits(&config);
    limits.tls = tls.as_ref().map(TlsWatch::serves);
    let (standing, kept) = standing(config.clone(), folder.as_deref())?;
    let threads = threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let shards = runtime::shards(kind, threads);
    let listeners: Vec<Listeners> =
        config.listen.iter().map(|addr| Listeners::bind(*addr, shards)).collect::<Result<_, _>>()?;
    let addrs: Vec<SocketAddr> = listeners.iter().map(Listeners::addr).collect();
    let loopback = addrs.iter().all(|addr| addr.ip().is_loopback());
    let (audit_sink, addresses, lets_all_in) = (audit.clone(), addrs.clone(), false);
    let outside = Outside { audit: audit_sink, stop: stop.clone(), folder, addresses, loopback, lets_all_in };
    let gateway = Arc::new(Gateway::new(standing, door, outside)?);
    let listeners = Arc::new(listeners);
    let cap = ConnectionCap::new(config.limits.connections);
    let trust = Trust::default();
    let (ready, sources) = (Mutex::new(Some(ready)), Mutex::new(Some(Sources { origin, kept, tls })));
    let farewell = Farewell::new(shards, config.limits.drain_timeout);
    let outcome = runtime::run(kind, threads, &stop, |shard| {
        let thread = Thread::new(Client::new(client_limits(&config), trust.clone()), &gateway);
        let sockets: Vec<_> = listeners.iter().filter_map(|listener| listener.take(shard.index)).collect();
        let (cap, stop) = (cap.clone(), shard.stop.clone());
        let limits = limits.clone();
        let ready = if shard.index == 0 { ready.lock().ok().and_then(|mut r| r.take()) } else { None };
        let sources = if shard.index == 0 { sources.lock().ok().and_then(|mut s| s.take()) } else { None };
        let addrs = addrs.clone();
        let (farewell, busy) = (farewell.clone(), farewell.busy());
        async move {
            let first = shard.index == 0;
            if first {
                look_after(&thread, stop.clone(), sources.unwrap_or_default());
            }
            let mut running = tokio::task::JoinSet::new();
            for socket in sockets {
                let service = Service::new(thread.clone());
                running.spawn(serve_connections(socket, service, limits.clone(), cap.clone(), stop.clone()));
            }
            if let Some(ready) = ready {
                ready(&addrs);
            }
            let mut outcome = Ok::<(), BoxError>(());
            while let Some(ended) = running.join_next().await {
                if let Err(e) = ended.map_err(BoxError::from).and_then(|served| Ok(served?)) {
                    outcome = Err(e);
                    stop.stop();
                }
            }
            farewell.wait(busy, first.then(|| thread.now()).as_ref()).await;
            outcome
        }
    });
    audit.close(LAST_RECORDS);
    Ok(outcome?)
}

/// Serves one client over stdin and stdout, until it closes them.
pub(crate) fn stdio(options: Options, profile: &str) -> Result<(), BoxError> {
    let stop = Stop::new();
    let Options { config, origin, folder, .. } = options;
    // Whoever starts a child is known well enough, but for what a site says of the account that its tools use.
    let door = door(&Auth { site: config.auth.site.clone(), ..Auth::default() }, None)?;
    let audit = audit(&config, folder.as_deref())?;
    let outside = Outside {
        audit: audit.clone(),
        stop: stop.clone(),
        folder,
        addresses: Vec::new(),
        loopback: true,
        lets_all_in: true,
    };
    let standing = Standing::new(config.clone(), Changes::default()).map_err(|refusal| refusal.message)?;
    let gateway = Arc::new(Gateway::new(standing, door, outside)?);
    let names = || gateway.snapshot.profiles.iter().map(|p| &*p.slug).collect::<Vec<_>>().join(", ");
    let profile = gateway
        .snapshot
        .profile_named(profile)
        .ok_or_else(|| format!("there is no profile {profile:?}; the configuration has: {}", names()))?;
    let sources = Mutex::new(Some(Sources { origin, kept: None, tls: None }));
    let outcome = runtime::run(RuntimeKind::PerCore, 1, &stop, |shard| {
        let thread = Thread::new(Client::new(client_limits(&config), Trust::default()), &gateway);
        let sources = sources.lock().ok().and_then(|mut sources| sources.take());
        async move {
            look_after(&thread, shard.stop.clone(), sources.unwrap_or_default());
            let own = thread.now();
            let outcome = stdio::serve(&own, profile).await;
            shard.stop.stop();
            tokio::join!(
                own.gateway.egress.supervisor.shutdown(Duration::from_secs(5)),
                partings::farewell(&own)
            );
            outcome
        }
    });
    audit.close(LAST_RECORDS);
    Ok(outcome?)
}

/// Begins what one thread does for all.
fn look_after(thread: &Arc<Thread>, stop: Stop, sources: Sources) {
    let own = thread.now();
    until_signal(stop);
    let all: Vec<_> = own.view.state.upstreams.all().iter().map(|one| one.common.clone()).collect();
    warm(&own, &all);
    sweep(thread.clone());
    reload::start(thread.clone(), sources);
    withdrawn::watch(thread.clone());
}

/// Lets this process have as many files open as the system allows, and says so when that is too few: each client's connection
/// is one, and each of those to servers.
pub(crate) fn may_open_files(connections: usize) {
    match transport::files::raise() {
        Ok(raised) => {
            tracing::info!(from = raised.from, to = raised.to, "as many files may be open");
            if raised.to.is_some_and(|most| most < connections as u64) {
                let mend = "raise the hard limit (ulimit -Hn, LimitNOFILE=), or lower limits.connections";
                tracing::warn!(
                    files = raised.to,
                    connections,
                    mend,
                    "fewer files may be open than connections"
                );
            }
        }
        Err(error) => tracing::warn!(%error, "the limit of open files cannot be raised"),
    }
}

/// The configuration with what was changed while it was served before, and where that is kept.
fn standing(config: Config, folder: Option<&Path>) -> Result<(Standing, Option<Kept>), BoxError> {
    if config.management.is_none() {
        return Ok((Standing::new(config, Changes::default()).map_err(|refusal| refusal.message)?, None));
    }
    let folder = folder.ok_or("nobody says where changes are kept; set stateFolder in the configuration")?;
    let (kept, changes) = Kept::open(folder)?;
    let standing = Standing::new(config, changes).map_err(|refusal| {
        let folder = folder.display();
        format!("what was changed while serving does not fit any more: {refusal}; mend it, or move changes.db in {folder} away")
    })?;
    warn(&standing);
    Ok((standing, Some(kept)))
}

/// Says what is worth knowing of what was changed while serving.
pub(super) fn warn(standing: &Standing) {
    for note in standing.notes() {
        tracing::warn!("{note}");
    }
}

/// Who is let in.
pub(super) fn door(auth: &Auth, folder: Option<&Path>) -> Result<Authenticator, BoxError> {
    let book: Option<Arc<dyn KeyBook>> = match folder.filter(|_| auth.keys) {
        Some(folder) => {
            let keys = Keys::open(folder).map_err(|e| format!("{e}; {}", e.mend()))?;
            Some(Arc::new(StoredKeys::new(keys)))
        }
        None => None,
    };
    // Each shard asks other servers over its own connections.
    let nobody = Client::new(ClientLimits::default(), Trust::default());
    Ok(Authenticator::new(auth, book, Arc::new(nobody))?)
}

/// Where calls are recorded.
fn audit(config: &Config, folder: Option<&Path>) -> Result<AuditSink, BoxError> {
    let Some(audit) = &config.audit else { return Ok(AuditSink::off()) };
    let folder = folder
        .ok_or("nobody says where the record of calls is kept; set stateFolder in the configuration")?;
    let log = Log::open(&folder.join(audit.file.expose())).map_err(|e| format!("{e}; {}", e.mend()))?;
    Ok(AuditSink::start(log, &AuditOptions::new(audit))?)
}

fn client_limits(config: &Config) -> ClientLimits {
    ClientLimits { connect_timeout: config.limits.connect_timeout, ..ClientLimits::default() }
}

fn server_limits(config: &Config) -> ServerLimits {
    ServerLimits {
        header_timeout: config.limits.header_read_timeout,
        drain_timeout: config.limits.drain_timeout,
        max_header_bytes: config.limits.request_headers,
        ..ServerLimits::default()
    }
}

/// Raises the stop signal on SIGTERM and SIGINT.
fn until_signal(stop: Stop) {
    // Before anybody is told that it is ready: a signal that nobody waits for ends the process without a word.
    let signals = (
        tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()),
        tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt()),
    );
    let (Ok(mut terminate), Ok(mut interrupt)) = signals else { return };
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            () = stop.stopped() => return,
        }
        tracing::info!("stopping: calls in flight may finish");
        stop.stop();
    });
}

/// Fetches what clients will ask for first, so that they need not wait. A server over HTTP is asked in the newest way
/// first, a child in the one that nearly all know: each then finds what the server speaks.
pub(super) fn warm(shard: &Shard, upstreams: &[Arc<Upstream>]) {
    for upstream in upstreams {
        let (shard, upstream) = (shard.clone(), upstream.clone());
        tokio::spawn(async move {
            let era = if upstream.server.over_http() { newest_stateless() } else { newest_handshake() };
            let kind = Kind { era, capabilities: bytes::Bytes::from_static(b"{}") };
            let mut done = upstream.offer(&kind).fetch(&shard.egress, upstream.shared_link(&kind));
            let _ = done.changed().await;
        });
    }
}

fn sweep(thread: Arc<Thread>) {
    tokio::spawn(async move {
        let stop = thread.now().gateway.stop.clone();
        for second in 1_u64.. {
            tokio::select! {
                () = tokio::time::sleep(Duration::from_secs(1)) => {}
                () = stop.stopped() => return thread.now().session.state.sessions.hang_up(),
            }
            let shard = thread.now();
            tick(&shard);
            if second == STARTED {
                super::session::tidying::forget_start();
            }
            if second % SWEEP == 0 {
                tidy_up(&shard);
            }
        }
    });
}

fn tick(shard: &Shard) {
    if let Some(rates) = &shard.gateway.manage_rates {
        rates.sweep();
    }
    shard.session.state.tidying.tick();
    shard.gateway.parked.sweep();
    shard.call.state.homes.sweep();
    shard.gateway.dialect_sessions.sweep();
    shard.gateway.rates.sweep();
    shard.door.sweep();
    shard.gateway.consents.tick();
    apart::tell_news(shard);
    shard.call.state.held.lock().sweep(std::time::Instant::now());
}

fn tidy_up(shard: &Shard) {
    super::session::ending::sweep(&shard.session);
    apart::shed(shard, shard.gateway.snapshot.limits.session_idle);
    for upstream in &shard.view.state.upstreams.families() {
        upstream.rest_idle(&shard.egress, shard.gateway.snapshot.limits.session_idle);
        upstream.links.shed(&shard.egress);
        for (offer, link) in upstream.old_offers() {
            let shard = shard.clone();
            tokio::spawn(async move { offer.renew(&shard.egress, &link).await });
        }
    }
}
