//! The addresses at which the process listens, and the state that they share. The addresses can change while the
//! process is serving. This module must not know what is served.

use std::net::{SocketAddr, TcpListener};

use config::Limits;
use parking_lot::Mutex;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use transport::net::{
    BindError, ConnectionCap, Listeners, ServerLimits, ServerTls, SharedServerLimits, Stop,
};

/// The maximum number of requests and streams that another gateway of the cluster may pass on over one connection.
const PEER_STREAMS: u32 = 10_000;

/// The maximum number of connections at the separate address for metrics.
const SCRAPERS: usize = 32;

/// A thread's listening socket for an address.
pub(crate) struct ServingSocket {
    /// The socket.
    pub(crate) socket: TcpListener,
    /// Raised when the address is no longer served.
    pub(crate) stop: Stop,
}

/// All addresses at which the process listens, and the state that they share.
pub struct Serving {
    /// The limits for new connections.
    pub limits: SharedServerLimits,
    /// The limit on the number of connections at all addresses together.
    pub cap: ConnectionCap,
    open: Mutex<Vec<OpenAddress>>,
    /// The channel to each thread. The channel needs no bound, because threads receive quickly, and there are at most
    /// as many sockets as addresses.
    threads: Vec<UnboundedSender<ServingSocket>>,
    receivers: Mutex<Vec<Option<UnboundedReceiver<ServingSocket>>>>,
    /// Sockets from the service manager that are not served yet.
    inherited: Mutex<Vec<(SocketAddr, TcpListener)>>,
}

/// An address that is being served.
#[derive(Clone)]
struct OpenAddress {
    /// The address as configured; its port may be 0.
    wanted: SocketAddr,
    actual: SocketAddr,
    stop: Stop,
}

/// The addresses that will replace the current ones: new addresses are bound, but not served yet.
pub(crate) struct NextAddresses {
    all: Vec<OpenAddress>,
    bound: Vec<(Listeners, Stop)>,
}

impl NextAddresses {
    /// Returns the addresses with their actual ports, which the system may have chosen.
    pub(crate) fn actual(&self) -> Vec<SocketAddr> {
        self.all.iter().map(|one| one.actual).collect()
    }
}

impl Serving {
    /// Creates a state with this many threads and no addresses.
    pub(crate) fn new(threads: usize, limits: &Limits, tls: Option<ServerTls>) -> Self {
        let (threads, receivers): (Vec<_>, Vec<_>) = (0..threads).map(|_| unbounded_channel()).unzip();
        let serving = ServerLimits { tls, ..ServerLimits::default() };
        Self {
            limits: with(serving, limits).into(),
            cap: ConnectionCap::new(limits.connections),
            open: Mutex::default(),
            threads,
            receivers: Mutex::new(receivers.into_iter().map(Some).collect()),
            inherited: Mutex::default(),
        }
    }

    /// Uses these inherited sockets instead of binding their addresses.
    pub(crate) fn inheriting(self, sockets: Vec<(SocketAddr, TcpListener)>) -> Self {
        *self.inherited.lock() = sockets;
        self
    }

    /// Returns the addresses of unused inherited sockets: the service manager opened them, but no configured
    /// address matches.
    pub(crate) fn unused(&self) -> Vec<SocketAddr> {
        self.inherited.lock().iter().map(|(address, _)| *address).collect()
    }

    /// Takes the socket that already listens on an address.
    fn inherited(&self, wanted: SocketAddr) -> Option<(SocketAddr, TcpListener)> {
        let mut sockets = self.inherited.lock();
        let at = sockets.iter().position(|(address, _)| *address == wanted)?;
        Some(sockets.swap_remove(at))
    }

    /// Creates a state for the separate address for metrics, which one thread serves.
    pub(crate) fn of_metrics(limits: &Limits) -> Self {
        Self::new(1, &Limits { connections: SCRAPERS, ..limits.clone() }, None)
    }

    /// Creates a state for the address for the other gateways of a cluster. All their requests share one connection for each thread, so
    /// a connection may carry many requests at once.
    pub(crate) fn of_peers(threads: usize, limits: &Limits, tls: Option<ServerTls>) -> Self {
        let serving = Self::new(threads, limits, tls);
        serving.limits.set(ServerLimits {
            max_streams: PEER_STREAMS,
            max_resets: PEER_STREAMS as usize,
            ..ServerLimits::clone(&serving.limits.get())
        });
        serving
    }

    /// Returns the receiver of a thread's sockets; it can be taken only once.
    pub(crate) fn sockets(&self, thread: usize) -> Option<UnboundedReceiver<ServingSocket>> {
        self.receivers.lock().get_mut(thread)?.take()
    }

    /// Applies new limits to new connections.
    pub(crate) fn follow(&self, limits: &Limits) {
        self.cap.resize(limits.connections);
        self.limits.set(with(ServerLimits::clone(&self.limits.get()), limits));
    }

    /// Binds the addresses that are not served yet. Dropping the result releases them again.
    ///
    /// # Errors
    /// Returns the address that cannot be bound, and the reason; in this case nothing has changed.
    pub(crate) fn bind(&self, wanted: &[SocketAddr]) -> Result<NextAddresses, BindError> {
        let mut open = self.open.lock().clone();
        let ports: Vec<u16> = open.iter().map(|one| one.actual.port()).collect();
        let mut next = NextAddresses { all: Vec::new(), bound: Vec::new() };
        for &wanted in wanted {
            if let Some(at) = open.iter().position(|one| one.wanted == wanted || one.actual == wanted) {
                next.all.push(OpenAddress { wanted, ..open.swap_remove(at) });
                continue;
            }
            let threads = self.threads.len();
            // The port may be in use by this process at another address, for example if the configuration changes from
            // loopback to all addresses.
            let listeners = match self.inherited(wanted) {
                Some((address, socket)) => Listeners::adopt(address, socket, threads),
                None => match Listeners::bind(wanted, threads) {
                    Err(BindError::InUse { .. }) if ports.contains(&wanted.port()) => {
                        Listeners::bind_beside(wanted, threads)
                    }
                    bound => bound,
                },
            }?;
            let (actual, stop) = (listeners.addr(), Stop::new());
            next.all.push(OpenAddress { wanted, actual, stop: stop.clone() });
            next.bound.push((listeners, stop));
        }
        Ok(next)
    }

    /// Serves exactly these addresses. At addresses that are no longer served, open requests may finish.
    pub(crate) fn serve(&self, next: NextAddresses) {
        for (listeners, stop) in next.bound {
            for (index, thread) in self.threads.iter().enumerate() {
                if let Some(socket) = listeners.take(index) {
                    // A thread that has ended no longer serves anything.
                    let _ = thread.send(ServingSocket { socket, stop: stop.clone() });
                }
            }
        }
        let before = std::mem::replace(&mut *self.open.lock(), next.all.clone());
        let is_in =
            |all: &[OpenAddress], one: &OpenAddress| all.iter().any(|other| other.actual == one.actual);
        for one in next.all.iter().filter(|one| !before.is_empty() && !is_in(&before, one)) {
            tracing::info!(address = %one.actual, "listening on another address");
        }
        for one in before.iter().filter(|one| !is_in(&next.all, one)) {
            tracing::info!(address = %one.actual, "no longer listening; open requests may finish");
            one.stop.stop();
        }
    }

    /// Returns the addresses that are served.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.open.lock().iter().map(|one| one.actual).collect()
    }

    /// Stops serving at all addresses.
    pub(crate) fn stop(&self) {
        for one in self.open.lock().iter() {
            one.stop.stop();
        }
    }
}

fn with(serving: ServerLimits, limits: &Limits) -> ServerLimits {
    ServerLimits {
        header_timeout: limits.header_read_timeout,
        drain_timeout: limits.drain_timeout,
        max_header_bytes: limits.request_headers,
        ..serving
    }
}
