//! A replica's membership in its cluster: the tasks that keep the shared data in sync, and the functions that the
//! gateway calls. This module must not know what sessions and keys mean.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use store::sessions::SessionKey;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use transport::task::spawn;

use crate::families::StoreKeys;
use crate::following::follow;
use crate::member::{SharedKeys, SharedSessions};
use crate::publishing::publish;
use crate::replicas::Replica;
use crate::sealed::{SealedValues, ValueSealer};
use crate::sessions::{self, OpenSession, SessionOutbox, SharedSession};
use crate::settings::ClusterSettings;
use crate::valkey::{Store, StoreError, StoreHealth, StoreState, UnfitStore};

/// The maximum time for reading from the store. It is short, because a client's request waits for the answer.
pub(crate) const READ: Duration = Duration::from_millis(50);

/// The maximum time for an exchange between a task and the store. No request waits for it.
pub(crate) const WRITE: Duration = Duration::from_millis(500);

/// The state that the tasks of a replica share.
pub(crate) struct Membership {
    pub(crate) store: Arc<Store>,
    pub(crate) keys: StoreKeys,
    pub(crate) values: SealedValues,
    pub(crate) me: Replica,
    /// The replicas that were alive at the last heartbeat.
    pub(crate) replicas: ArcSwap<Vec<Replica>>,
    pub(crate) outbox: Mutex<SessionOutbox>,
    /// Notified of changes in the outbox.
    pub(crate) waiting: Notify,
    /// The time for which sessions are kept after their last use.
    pub(crate) session_life: Mutex<Duration>,
    pub(crate) sessions: Arc<dyn SharedSessions>,
    pub(crate) api_keys: Option<Arc<dyn SharedKeys>>,
}

/// A replica in its cluster. Dropping it ends its tasks.
pub struct Cluster {
    membership: Arc<Membership>,
    tasks: Vec<JoinHandle<()>>,
}

/// The parts of a gateway that are shared.
pub struct ClusterMembers {
    /// The sessions.
    pub sessions: Arc<dyn SharedSessions>,
    /// The API keys; `None` if no API key is accepted.
    pub keys: Option<Arc<dyn SharedKeys>>,
}

impl Cluster {
    /// Joins a cluster: connects to its store, now and whenever the connection is lost.
    ///
    /// # Panics
    /// Outside of a runtime.
    pub fn join(settings: &ClusterSettings, sealer: Arc<dyn ValueSealer>, members: ClusterMembers) -> Self {
        let keys = StoreKeys::new(&settings.store.prefix);
        let (store, kept) = Store::new(settings.store.address(keys.log()));
        let membership = Arc::new(Membership {
            store,
            keys,
            values: SealedValues::new(sealer),
            me: settings.replica(now_ms()),
            replicas: ArcSwap::default(),
            outbox: Mutex::default(),
            waiting: Notify::new(),
            session_life: Mutex::new(settings.session_life),
            sessions: members.sessions,
            api_keys: members.keys,
        });
        let tasks = vec![spawn(kept), spawn(follow(membership.clone())), spawn(publish(membership.clone()))];
        Self { membership, tasks }
    }

    /// Waits until the store can be used, but at most for the time `within`. After that, the replica starts with its
    /// own data alone.
    ///
    /// # Errors
    /// Fails if the store can be reached but not used.
    pub async fn first_contact(&self, within: Duration) -> Result<(), UnfitStore> {
        let store = &self.membership.store;
        let decided = async {
            let mut changes = store.changes();
            loop {
                match &store.health().state {
                    StoreState::Ready(_) => return Ok(()),
                    StoreState::Unfit(unfit) => return Err(unfit.clone()),
                    // The sender lives as long as the store.
                    StoreState::Connecting | StoreState::Unreachable(_) => drop(changes.changed().await),
                }
            }
        };
        timeout(within, decided).await.unwrap_or(Ok(()))
    }

    /// Records a change of an open session.
    pub fn session_changed(&self, key: SessionKey, session: Arc<dyn OpenSession>) {
        self.membership.outbox.lock().changed(key, session);
        self.membership.waiting.notify_one();
    }

    /// Records that a session has ended; the session then ends at all replicas.
    pub fn session_ended(&self, key: SessionKey) {
        self.membership.outbox.lock().ended(key);
        self.membership.waiting.notify_one();
    }

    /// Looks up a session that this replica does not have in memory; `None` if the store does not contain it.
    ///
    /// # Errors
    /// Fails if the store does not answer in time.
    pub async fn session(&self, key: &SessionKey) -> Result<Option<SharedSession>, StoreError> {
        let Membership { store, keys, values, .. } = &*self.membership;
        let replies = store.run(sessions::look_up(keys, key).into(), READ).await?;
        Ok(sessions::found(keys, values, key, &replies))
    }

    /// Changes the time for which sessions are kept after their last use.
    pub fn keep_sessions_for(&self, life: Duration) {
        *self.membership.session_life.lock() = life;
    }

    /// Returns the description of this replica.
    pub fn me(&self) -> &Replica {
        &self.membership.me
    }

    /// Returns the replicas that were alive a few seconds ago, among them this one.
    pub fn replicas(&self) -> Arc<Vec<Replica>> {
        self.membership.replicas.load_full()
    }

    /// Returns the state of the connection to the store.
    pub fn health(&self) -> Arc<StoreHealth> {
        self.membership.store.health()
    }

    /// Writes the changes that are still waiting, and signs off. Takes at most a second.
    pub async fn leave(&self) {
        let membership = &self.membership;
        let left = async {
            while !membership.outbox.lock().is_empty() && membership.publish_once().await.is_ok() {}
            membership.sign_off().await;
        };
        // The store forgets the replica by itself after some seconds.
        let _ = timeout(Duration::from_secs(1), left).await;
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

/// Returns the current time, in milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
