//! Each thread's handle to the current gateway. An activity takes a handle once, and uses the same gateway until
//! its end.

use std::sync::{Arc, Weak};
use std::time::Duration;

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use transport::net::client::{Client, ClientLimits, Http2Limits, Trust};
use upstream::Egress;

use crate::call::CallContext;
use crate::session::SessionContext;
use crate::view::ViewContext;

use crate::admission::auth::Authenticator;
use crate::process::Gateway;

/// The time for connecting to another gateway of the cluster.
const PEER_CONNECT: Duration = Duration::from_secs(2);

/// The maximum number of requests and streams that a thread passes on to another gateway at once.
const PEER_REQUESTS: usize = 10_000;

/// The interval of pings to another gateway while requests are running there, and the time within which each ping must be answered.
const PEER_PINGS: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(1));

/// The receive windows of a request and of a connection, in bytes: a thousand clients that do not read use up a connection's window.
const PEER_WINDOWS: (u32, u32) = (64 << 10, 64 << 20);

/// A thread's handle to the gateway that was current when the handle was taken, with the thread's own connections to
/// upstreams.
pub struct Shard {
    /// The gateway under the current configuration.
    pub gateway: Arc<Gateway>,
    /// The thread's connections to servers.
    pub egress: Egress,
    /// The data that views use.
    pub view: Arc<ViewContext>,
    /// The data that sessions use.
    pub session: Arc<SessionContext>,
    /// The data that calls use.
    pub call: Arc<CallContext>,
    /// The authenticator of callers.
    pub door: Authenticator,
    /// The thread's connections to the other gateways of the cluster.
    pub(crate) peers: Client,
    thread: Weak<Thread>,
}

impl Shard {
    /// Returns the thread, unless it has ended.
    pub fn thread(&self) -> Option<Arc<Thread>> {
        self.thread.upgrade()
    }

    /// Returns the same thread's handle to the current gateway.
    pub fn now(self: &Arc<Self>) -> Arc<Self> {
        self.thread.upgrade().map_or_else(|| self.clone(), |thread| thread.now())
    }
}

/// A thread that serves clients.
pub struct Thread {
    client: Client,
    peers: Client,
    own: Weak<Self>,
    now: ArcSwap<Shard>,
}

impl Thread {
    /// Creates a thread that reaches servers through the HTTP client `client`.
    pub(crate) fn new(client: Client, gateway: &Arc<Gateway>) -> Arc<Self> {
        let (list, newest) = &mut *gateway.process.threads.0.lock();
        // The gateway may have been replaced since the thread was started.
        let gateway = newest.upgrade().unwrap_or_else(|| gateway.clone());
        let peers = Client::new(peer_limits(), Trust::default());
        let thread = Arc::new_cyclic(|own: &Weak<Self>| {
            let now = ArcSwap::from_pointee(state(gateway.clone(), (&client, &peers), own));
            Self { client, peers, own: own.clone(), now }
        });
        list.push(Arc::downgrade(&thread));
        thread
    }

    /// Returns a handle to the current gateway.
    pub fn now(&self) -> Arc<Shard> {
        self.now.load_full()
    }

    fn take(&self, gateway: &Arc<Gateway>) {
        self.client.set_connect_timeout(gateway.snapshot.limits.connect_timeout);
        self.now.store(Arc::new(state(gateway.clone(), (&self.client, &self.peers), &self.own)));
    }
}

/// Returns the limits of connections to the other gateways of the cluster. All requests of a thread share one connection to each of them,
/// so clients that read slowly must not use up its window, and a gateway that does not answer must be noticed soon.
fn peer_limits() -> ClientLimits {
    ClientLimits {
        connect_timeout: PEER_CONNECT,
        max_in_use: PEER_REQUESTS,
        http2: Http2Limits { ping: PEER_PINGS, windows: PEER_WINDOWS },
        ..ClientLimits::default()
    }
}

fn state(gateway: Arc<Gateway>, (client, peers): (&Client, &Client), thread: &Weak<Thread>) -> Shard {
    let door = gateway.door.over(Arc::new(client.clone()));
    let egress = Egress::new(client.clone(), gateway.snapshot.clone(), gateway.process.egress.clone());
    let state = gateway.process.view.clone();
    let view = Arc::new(ViewContext { egress: egress.clone(), state });
    let state = gateway.process.session.clone();
    let session = Arc::new(SessionContext { egress: egress.clone(), view: view.clone(), state });
    let (session_too, view_too, state) = (session.clone(), view.clone(), gateway.process.call.clone());
    let call = CallContext { egress: egress.clone(), view: view_too, session: session_too, state };
    let (call, peers, thread) = (Arc::new(call), peers.clone(), thread.clone());
    Shard { gateway, egress, view, session, call, door, peers, thread }
}

/// All threads, and the gateway that they use.
#[derive(Default)]
pub(crate) struct Threads(Mutex<(Vec<Weak<Thread>>, Weak<Gateway>)>);

impl Threads {
    /// Gives all threads a new gateway. All requests and tasks that begin from now on use the new gateway.
    pub(crate) fn give(&self, gateway: &Arc<Gateway>) {
        let (list, newest) = &mut *self.0.lock();
        *newest = Arc::downgrade(gateway);
        for thread in list.iter().filter_map(Weak::upgrade) {
            thread.take(gateway);
        }
    }
}
