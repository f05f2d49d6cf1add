//! The accept loop: accepts connections from a listener until the stop signal, then lets the open connections
//! finish. This module must not know what is served.

use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::net::{TcpStream, UnixStream};
use tokio::time::{sleep, timeout};

use super::goodbye::end;
use super::handler::Handler;
use super::roster::{Order, Roster, StateTimeouts};
use super::serve::{Protocols, connection, local_connection};
use super::server_limits::{ServerLimits, SharedServerLimits};
use super::stop::Stop;

/// The number of connections that may be open at the same time, counted over all listeners that hold a clone.
#[derive(Clone, Debug)]
pub struct ConnectionCap(Arc<Counter>);

#[derive(Debug)]
struct Counter {
    open: AtomicUsize,
    cap: AtomicUsize,
}

impl ConnectionCap {
    /// Creates a cap of `cap` connections, at least one.
    pub fn new(cap: usize) -> Self {
        Self(Arc::new(Counter { open: AtomicUsize::new(0), cap: AtomicUsize::new(cap.max(1)) }))
    }

    /// Changes the cap. Connections that are already open remain.
    pub fn resize(&self, cap: usize) {
        self.0.cap.store(cap.max(1), Relaxed);
    }

    /// Returns the number of open connections.
    pub fn open(&self) -> usize {
        self.0.open.load(Relaxed)
    }

    fn admit(&self) -> Option<Admitted> {
        let admitted = Admitted(self.0.clone());
        // The connection is counted first, so that two shards cannot both take the last place; `admitted` decrements the
        // count again.
        (self.0.open.fetch_add(1, Relaxed) < self.0.cap.load(Relaxed)).then_some(admitted)
    }
}

/// A connection's share of the cap.
#[derive(Debug)]
struct Admitted(Arc<Counter>);

impl Drop for Admitted {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Relaxed);
    }
}

/// The error if the listener failed and will accept no further connections.
#[derive(Debug, thiserror::Error)]
#[error("the listening socket failed: {0}; restart Dragoman")]
pub struct ServeError(#[from] io::Error);

/// The reaction to a failed accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AfterError {
    /// Accept the next connection: only this one failed, because it was closed while it waited.
    Next,
    /// Wait, because files or memory have run out; otherwise the loop would spin.
    BackOff(Duration),
    /// Give up: the socket itself is unusable.
    Fail,
}

/// Decides how to react to a failed accept; `failures` is the number of consecutive back-offs before this one.
pub(super) fn after_error(error: &io::Error, failures: u32) -> AfterError {
    match error.kind() {
        ErrorKind::ConnectionAborted
        | ErrorKind::ConnectionReset
        | ErrorKind::ConnectionRefused
        | ErrorKind::Interrupted => AfterError::Next,
        // On some systems, EBADF and ENOTSOCK have no kind of their own. EINVAL means that the socket is not
        // listening.
        ErrorKind::InvalidInput => AfterError::Fail,
        // EMFILE, ENFILE, ENOBUFS, ENOMEM, and temporary network errors.
        _ => AfterError::BackOff(Duration::from_millis(10 << failures.min(7)).min(Duration::from_secs(1))),
    }
}

/// Serves `listener` (from [`super::Listeners::take`]) until `stop`. Then it accepts the connections that are already
/// waiting, closes idle ones, and returns when the last request is done or the drain time is over. Changed limits
/// apply to connections that are accepted later; the limits of the roster apply to all connections.
pub async fn serve(
    listener: TcpListener,
    handler: impl Handler,
    limits: impl Into<SharedServerLimits>,
    cap: ConnectionCap,
    stop: Stop,
) -> Result<(), ServeError> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let acceptor = Acceptor::new(Arc::new(handler), limits.into(), cap);
    let result = tokio::select! {
        result = acceptor.accept_all(&listener) => result,
        () = stop.stopped() => Ok(()),
        () = acceptor.sweep() => Ok(()),
    };
    acceptor.accept_waiting(listener);
    acceptor.drain().await;
    result
}

async fn sweep(roster: &Roster, limits: &SharedServerLimits) {
    loop {
        let limits = limits.get();
        let patience = StateTimeouts {
            header: limits.header_timeout,
            idle: limits.idle_timeout,
            write: limits.write_timeout,
            rest: limits.rest_after,
        };
        let shortest = patience.header.min(patience.idle).min(patience.write).min(patience.rest * 2);
        sleep((shortest / 4).max(Duration::from_millis(1))).await;
        roster.sweep(Instant::now(), patience);
    }
}

/// The limits, and the settings derived from them.
struct DerivedSettings {
    limits: Arc<ServerLimits>,
    protocols: Arc<Protocols>,
}

impl DerivedSettings {
    fn new(limits: Arc<ServerLimits>) -> Self {
        Self { protocols: Arc::new(Protocols::new(&limits)), limits }
    }
}

/// Starts connections, and keeps the list of those that are open.
pub(super) struct Acceptor {
    handler: Arc<dyn Handler>,
    limits: SharedServerLimits,
    settled: Mutex<DerivedSettings>,
    roster: Roster,
    cap: ConnectionCap,
    turned_away: ConnectionCap,
}

impl Acceptor {
    pub(super) fn new(handler: Arc<dyn Handler>, limits: SharedServerLimits, cap: ConnectionCap) -> Self {
        Self {
            handler,
            settled: Mutex::new(DerivedSettings::new(limits.get())),
            limits,
            roster: Roster::default(),
            turned_away: ConnectionCap::new(MOST_TURNED_AWAY),
            cap,
        }
    }

    /// Orders connections to end when they have exceeded their time limits. Works as long as this future is polled.
    pub(super) async fn sweep(&self) {
        sweep(&self.roster, &self.limits).await;
    }

    /// Returns hyper's settings for the next connection.
    fn protocols(&self) -> Arc<Protocols> {
        let limits = self.limits.get();
        let mut settled = self.settled.lock().unwrap_or_else(PoisonError::into_inner);
        if !Arc::ptr_eq(&settled.limits, &limits) {
            *settled = DerivedSettings::new(limits);
        }
        settled.protocols.clone()
    }

    async fn accept_all(&self, listener: &tokio::net::TcpListener) -> Result<(), ServeError> {
        self.accept_from(|cx| listener.poll_accept(cx), |(stream, peer)| self.start(stream, peer)).await
    }

    /// Accepts connections until the listener fails.
    pub(super) async fn accept_from<T>(
        &self,
        accept: impl Fn(&mut Context<'_>) -> Poll<io::Result<T>>,
        start: impl Fn(T),
    ) -> Result<(), ServeError> {
        let mut failures = 0;
        loop {
            let error = match poll_fn(&accept).await {
                Ok(accepted) => {
                    failures = 0;
                    start(accepted);
                    continue;
                }
                Err(error) => error,
            };
            match after_error(&error, failures) {
                AfterError::Next => {}
                AfterError::Fail => return Err(error.into()),
                AfterError::BackOff(pause) => {
                    if failures == 0 {
                        tracing::warn!(%error, open = self.cap.open(), "cannot accept connections \
                         for now; if no file descriptors are left, raise the limit (ulimit -n) or lower the connection cap");
                    }
                    failures += 1;
                    sleep(pause).await;
                }
            }
        }
    }

    /// Accepts the connections in the kernel's queue. Their clients already consider them connected, so they are served
    /// before the listener closes. The queue is queried directly, because the runtime knows only the connections that it saw
    /// in its last turn.
    fn accept_waiting(&self, listener: tokio::net::TcpListener) {
        let Ok(listener) = listener.into_std() else { return };
        loop {
            match listener.accept() {
                Ok((stream, peer)) => {
                    let stream = stream.set_nonblocking(true).and_then(|()| TcpStream::from_std(stream));
                    // A connection that cannot be served is treated as if it had never been accepted.
                    let _ = stream.map(|stream| self.start(stream, peer));
                }
                Err(error) if matches!(after_error(&error, 0), AfterError::Next) => {}
                Err(_) => return,
            }
        }
    }

    fn start(&self, stream: TcpStream, peer: SocketAddr) {
        let Some(admitted) = self.cap.admit() else {
            tracing::debug!(%peer, open = self.cap.open(), "rejected a connection: connection cap reached");
            if let Some(place) = self.turned_away.admit() {
                let words = if self.protocols().has_tls() { "" } else { TOO_MANY };
                crate::task::spawn(async move {
                    let _place = place;
                    end(stream, words).await;
                });
            }
            return;
        };
        // An answer is one write, so waiting for more data would only add up to 40 ms. A failure of this call does no harm.
        let _ = stream.set_nodelay(true);
        let place = self.roster.enter(Instant::now());
        let served = connection(stream, peer, self.handler.clone(), self.protocols(), place);
        crate::task::spawn(async move {
            served.await;
            drop(admitted);
        });
    }

    /// Serves a connection from a process of this machine. A connection over the cap is closed without an answer.
    pub(super) fn start_local(&self, stream: UnixStream) {
        let Some(admitted) = self.cap.admit() else {
            tracing::debug!(open = self.cap.open(), "rejected a local connection: connection cap reached");
            return;
        };
        let place = self.roster.enter(Instant::now());
        let served = local_connection(stream, self.handler.clone(), self.protocols(), place);
        crate::task::spawn(async move {
            served.await;
            drop(admitted);
        });
    }

    pub(super) async fn drain(&self) {
        if self.roster.len() > 0 {
            // Data on connections that were just accepted is seen only in the next turn of the event loop.
            sleep(SETTLE).await;
        }
        let last = Instant::now() + FIRST_REQUEST;
        while self.roster.order_used(Order::Drain) > 0 && Instant::now() < last {
            sleep(SETTLE).await;
        }
        self.roster.order_all(Order::Drain);
        if timeout(self.limits.get().drain_timeout, self.roster.emptied()).await.is_err() {
            tracing::warn!(open = self.roster.len(), "stopped with requests still running");
            self.roster.order_all(Order::Close);
            // These connections end when they are polled next.
            let _ = timeout(Duration::from_secs(1), self.roster.emptied()).await;
        }
    }
}

/// The pause before each check of the connections while they are being drained. It lets bytes that have just
/// arrived be noticed.
const SETTLE: Duration = Duration::from_millis(20);

/// The time within which the last accepted connections must start their first requests; after that, they are
/// treated as idle. On a busy machine, a load balancer may need a while between the connection and the request, and
/// it does not repeat a request whose connection was closed without an answer.
const FIRST_REQUEST: Duration = Duration::from_millis(250);

/// The maximum number of connections over the cap that receive an answer at the same time; further ones are closed
/// without one.
const MOST_TURNED_AWAY: usize = 64;

/// The answer to a connection over the cap. With TLS, the connection is closed without this answer, because clients
/// would treat the plain text as a broken record.
const TOO_MANY: &str = "HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain\r\ncontent-length: 57\r\n\
     x-content-type-options: nosniff\r\nretry-after: 1\r\nconnection: close\r\n\r\n\
     Too many open connections; close some or try again later\n";
