//! The counts of rate limits that all gateways of a cluster share: asks the store for leases ahead of the requests that need them. This
//! module must not know which limits there are.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use cluster::{Cluster, CountTake, Counted, StoreError};
use engine::rate::{CountAnswer, CountRequest, SharedLimiter};
use parking_lot::Mutex;
use tokio::sync::{Notify, mpsc};
use transport::net::Stop;

/// The number of requests for leases that may wait. Above it, requests decide without the store.
const WAITING: usize = 1024;

/// The maximum number of requests for leases in one exchange with the store.
const AT_ONCE: usize = 64;

/// The number of groups of counters; an answer wakes all requests that wait for a counter of its group.
const GROUPS: usize = 64;

/// The time after a failure in which requests decide without the store.
const REST: Duration = Duration::from_millis(100);

/// A request for a lease, and the limiter that gets the lease.
struct LeaseOrder {
    limiter: Arc<SharedLimiter>,
    /// The start of the limiter's time.
    start: Instant,
    request: CountRequest,
}

/// The connection between the limits of this gateway and the counts of the cluster. It outlives a change to the configuration.
pub struct CountStore {
    cluster: OnceLock<Arc<Cluster>>,
    orders: mpsc::Sender<LeaseOrder>,
    /// The receiver, until the gateway joins its cluster.
    received: Mutex<Option<mpsc::Receiver<LeaseOrder>>>,
    arrived: [Notify; GROUPS],
    start: Instant,
    /// The time until which the store is not asked, in milliseconds since `start`.
    resting_until: AtomicU64,
    asked: AtomicU64,
    alone: AtomicU64,
}

impl Default for CountStore {
    fn default() -> Self {
        let (orders, received) = mpsc::channel(WAITING);
        Self {
            cluster: OnceLock::new(),
            orders,
            received: Mutex::new(Some(received)),
            arrived: [const { Notify::const_new() }; GROUPS],
            start: Instant::now(),
            resting_until: AtomicU64::default(),
            asked: AtomicU64::default(),
            alone: AtomicU64::default(),
        }
    }
}

impl CountStore {
    /// Asks the store of this cluster from now on, until the gateway stops.
    pub(crate) fn join(self: &Arc<Self>, cluster: Arc<Cluster>, stop: Stop) {
        let Some(received) = self.received.lock().take() else { return };
        let _ = self.cluster.set(cluster);
        let store = self.clone();
        transport::task::spawn(async move {
            tokio::select! {
                () = store.serve(received) => {}
                () = stop.stopped() => {}
            }
        });
    }

    /// Asks for a lease. Its arrival wakes the requests that wait for it.
    pub(super) fn order(&self, limiter: &Arc<SharedLimiter>, start: Instant, request: CountRequest) {
        let order = LeaseOrder { limiter: limiter.clone(), start, request };
        if let Err(unsent) = self.orders.try_send(order) {
            let (mpsc::error::TrySendError::Full(order) | mpsc::error::TrySendError::Closed(order)) = unsent;
            self.answer(&order, None);
        }
    }

    /// Returns the notification of answers about this counter and the other counters of its group.
    pub(super) fn arrivals(&self, key: u64) -> &Notify {
        &self.arrived[usize::try_from(key % GROUPS as u64).unwrap_or(0)]
    }

    /// Lets the store count requests: all or none.
    ///
    /// # Errors
    /// Fails if the store does not answer in time.
    pub(super) async fn count(&self, requests: &[CountRequest]) -> Result<Vec<CountAnswer>, StoreError> {
        let takes: Vec<CountTake> = requests.iter().map(take).collect();
        let mut counted = self.ask(&[&takes]).await?;
        Ok(counted.pop().unwrap_or_default().into_iter().map(answer).collect())
    }

    /// Takes back one request that the store has counted.
    pub(super) fn give_back(&self, name: &[u8], interval: u64) {
        if let Some(cluster) = self.cluster.get().filter(|_| self.is_usable()) {
            self.asked.fetch_add(1, Relaxed);
            cluster.give_back(name, interval);
        }
    }

    /// Returns true if the store can be asked now.
    pub(super) fn is_usable(&self) -> bool {
        self.now_ms() >= self.resting_until.load(Relaxed)
            && self.cluster.get().is_some_and(|one| one.has_store())
    }

    /// Returns the last known number of gateways, and counts a request that is decided without the store.
    pub(super) fn gateways_alone(&self) -> u32 {
        self.alone.fetch_add(1, Relaxed);
        self.gateways()
    }

    /// Returns the last known number of gateways.
    pub(super) fn gateways(&self) -> u32 {
        self.cluster.get().map_or(1, |cluster| cluster.last_replica_count())
    }

    /// Returns the number of commands by which limits have asked the store, and of requests that were decided without it.
    pub fn figures(&self) -> (u64, u64) {
        (self.asked.load(Relaxed), self.alone.load(Relaxed))
    }

    async fn serve(&self, mut received: mpsc::Receiver<LeaseOrder>) {
        let mut orders = Vec::with_capacity(AT_ONCE);
        while received.recv_many(&mut orders, AT_ONCE).await > 0 {
            let takes: Vec<CountTake> = orders.iter().map(|order| take(&order.request)).collect();
            let groups: Vec<&[CountTake]> = takes.chunks(1).collect();
            let counted = self.ask(&groups).await.unwrap_or_default();
            for (place, order) in orders.drain(..).enumerate() {
                let counted = counted.get(place).and_then(|group| group.first());
                self.answer(&order, counted.copied().map(answer));
            }
        }
    }

    async fn ask(&self, groups: &[&[CountTake]]) -> Result<Vec<Vec<Counted>>, StoreError> {
        let no_cluster = || StoreError::Unreachable("this gateway has not joined its cluster yet".to_owned());
        let cluster = self.cluster.get().ok_or_else(no_cluster)?;
        self.asked.fetch_add(groups.len() as u64, Relaxed);
        let counted = cluster.count(groups).await;
        if let Err(error) = &counted {
            tracing::debug!("rate limits are applied without the cluster's store: {error}");
            let rest = u64::try_from(REST.as_millis()).unwrap_or(u64::MAX);
            self.resting_until.store(self.now_ms().saturating_add(rest), Relaxed);
        }
        counted
    }

    fn answer(&self, order: &LeaseOrder, answer: Option<CountAnswer>) {
        order.limiter.leased(&order.request, answer, order.start.elapsed());
        self.arrivals(order.request.key).notify_waiters();
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

fn take(request: &CountRequest) -> CountTake {
    let CountRequest { subject, interval, burst, least, most, owed, .. } = request;
    CountTake {
        name: subject.clone(),
        interval: *interval,
        burst: *burst,
        least: *least,
        most: *most,
        owed: *owed,
    }
}

fn answer(counted: Counted) -> CountAnswer {
    CountAnswer { granted: counted.granted, owed: counted.owed }
}
