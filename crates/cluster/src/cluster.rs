//! A replica's membership in its cluster: the tasks that keep the shared data in sync, and the functions that the
//! gateway calls. This module must not know what sessions and keys mean.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use store::sessions::SessionKey;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use transport::task::spawn;

use crate::event_copies::EventCopies;
use crate::families::StoreKeys;
use crate::following::follow;
use crate::homes::KnownHomes;
use crate::journal::{self, JournalPage, JournalPosition};
use crate::logins::LoginEnds;
use crate::member::{ChangeWatch, SharedKeys, SharedLogins, SharedSessions};
use crate::notices::OwnNotices;
use crate::peer_table::PeerTable;
use crate::peers::{self, PassedOn, Peer};
use crate::publishing::publish;
use crate::replicas::{self, Replica};
use crate::sealed::{SealedValues, ValueSealer};
use crate::session_outbox::{OpenSession, SessionOutbox};
use crate::sessions::{self, SharedSession};
use crate::settings::ClusterSettings;
use crate::standstill::Standstill;
use crate::valkey::{Store, StoreError, StoreHealth, StoreState, UnfitStore};

/// The maximum time for reading from the store. It is short, because a client's request waits for the answer.
pub(crate) const READ: Duration = Duration::from_millis(50);

/// The maximum time for an exchange between a task and the store. No request waits for it.
pub(crate) const WRITE: Duration = Duration::from_millis(500);

/// The minimum time between two searches for replicas with unknown numbers.
const PEERS_EVERY: Duration = Duration::from_millis(200);

/// The state that the tasks of a replica share.
pub(crate) struct Membership {
    pub(crate) store: Arc<Store>,
    pub(crate) keys: StoreKeys,
    pub(crate) values: SealedValues,
    pub(crate) id: u64,
    pub(crate) me: Replica,
    /// The replicas that were alive at the last heartbeat; none while the store cannot be used.
    pub(crate) replicas: ArcSwap<Vec<Replica>>,
    /// The ids of living replicas whose data this one cannot read, or the other way round.
    pub(crate) incompatible: Mutex<Vec<String>>,
    /// The number of replicas that were alive when the store was last read.
    pub(crate) last_replica_count: AtomicU32,
    /// The replicas to which requests can be passed on. While the store cannot be used, they stay known.
    pub(crate) peers: PeerTable,
    /// The time at which the list of replicas was last read because of an unknown number.
    read: tokio::sync::Mutex<Option<Instant>>,
    pub(crate) homes: KnownHomes,
    pub(crate) standstill: Standstill,
    /// Notified when the managed configuration may have changed.
    pub(crate) managed: Notify,
    pub(crate) logins: Mutex<LoginEnds>,
    /// The time at which everything was last compared with the store.
    pub(crate) settled: Mutex<Option<Instant>>,
    pub(crate) outbox: Mutex<SessionOutbox>,
    /// The notices of ended sessions that this replica has sent and not read yet.
    pub(crate) own_notices: Mutex<OwnNotices>,
    /// Notified of changes in the outbox.
    pub(crate) waiting: Notify,
    /// The copies of clients' events; `None` if events are not copied.
    pub(crate) events: Option<Arc<EventCopies>>,
    /// The time for which sessions are kept after their last use.
    pub(crate) session_life: Mutex<Duration>,
    pub(crate) sessions: Arc<dyn SharedSessions>,
    pub(crate) api_keys: Option<Arc<dyn SharedKeys>>,
    pub(crate) operators: Arc<dyn SharedLogins>,
    pub(crate) definitions: Arc<dyn ChangeWatch>,
    pub(crate) consents: Arc<dyn ChangeWatch>,
    pub(crate) sign_ins: Arc<dyn ChangeWatch>,
}

/// A replica in its cluster. Dropping it ends its tasks.
pub struct Cluster {
    pub(crate) membership: Arc<Membership>,
    tasks: Vec<JoinHandle<()>>,
}

/// The parts of a gateway that are shared.
pub struct ClusterMembers {
    /// The sessions.
    pub sessions: Arc<dyn SharedSessions>,
    /// The API keys; `None` if no API key is accepted.
    pub keys: Option<Arc<dyn SharedKeys>>,
    /// The attempts of operators to log in.
    pub operators: Arc<dyn SharedLogins>,
    /// The approved definitions of tools.
    pub definitions: Arc<dyn ChangeWatch>,
    /// The consents of users to servers.
    pub consents: Arc<dyn ChangeWatch>,
    /// The sign-ins of people.
    pub sign_ins: Arc<dyn ChangeWatch>,
}

impl Cluster {
    /// Joins a cluster: connects to its store, now and whenever the connection is lost.
    ///
    /// # Panics
    /// Outside of a runtime.
    pub fn join(settings: &ClusterSettings, sealer: Arc<dyn ValueSealer>, members: ClusterMembers) -> Self {
        let keys = StoreKeys::new(&settings.store.prefix);
        let (store, kept) = Store::new(settings.store.address(keys.log()));
        let values = SealedValues::new(sealer);
        let events = settings.copies_events.then(|| Arc::new(EventCopies::new(&store, &keys, &values)));
        let membership = Arc::new(Membership {
            store,
            keys,
            values,
            id: settings.id,
            me: settings.replica(now_ms()),
            replicas: ArcSwap::default(),
            incompatible: Mutex::default(),
            last_replica_count: AtomicU32::new(1),
            peers: PeerTable::default(),
            read: tokio::sync::Mutex::default(),
            homes: KnownHomes::default(),
            standstill: Standstill::new(Instant::now()),
            managed: Notify::new(),
            logins: Mutex::default(),
            settled: Mutex::default(),
            definitions: members.definitions,
            consents: members.consents,
            sign_ins: members.sign_ins,
            operators: members.operators,
            outbox: Mutex::default(),
            own_notices: Mutex::default(),
            waiting: Notify::new(),
            events,
            session_life: Mutex::new(settings.session_life),
            sessions: members.sessions,
            api_keys: members.keys,
        });
        let living = membership.clone();
        let mut tasks = vec![
            spawn(kept),
            spawn(follow(membership.clone())),
            spawn(publish(membership.clone())),
            spawn(async move { living.standstill.live().await }),
        ];
        tasks.extend(membership.events.clone().map(|events| spawn(async move { events.run().await })));
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

    /// Returns true if this replica's data can be relied on. Otherwise the process stood still for seconds, and the replica has not
    /// compared its data with the store since then.
    pub fn is_current(&self) -> bool {
        self.membership.standstill.is_current(Instant::now())
    }

    /// Waits until this replica has compared its data with the store, but for two seconds at most.
    pub async fn catch_up(&self) {
        self.membership.standstill.catch_up().await;
    }

    /// Records a change to an open session.
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

    /// Appends an entry to the journal of all replicas, which the store keeps for the time `life` after its last entry.
    ///
    /// # Errors
    /// Fails if the store does not take the entry in time.
    pub async fn append_to_journal(&self, entry: &[u8], life: Duration) -> Result<(), StoreError> {
        let Membership { store, keys, values, .. } = &*self.membership;
        let unsealed = || StoreError::Refused("the entry cannot be sealed".to_owned());
        let commands = journal::append(keys, values, entry, life).ok_or_else(unsealed)?;
        store.run(commands.into(), WRITE).await.map(drop)
    }

    /// Reads at most `most` entries of the journal, from newer to older ones.
    ///
    /// # Errors
    /// Fails if the store does not answer in time.
    pub async fn journal(&self, from: &JournalPosition, most: usize) -> Result<JournalPage, StoreError> {
        let Membership { store, keys, values, .. } = &*self.membership;
        let reply = store.one(journal::read(keys, from, most), WRITE).await?;
        Ok(journal::page(keys, values, &reply))
    }

    /// Changes the time for which sessions are kept after their last use.
    pub fn keep_sessions_for(&self, life: Duration) {
        *self.membership.session_life.lock() = life;
    }

    /// Returns the prefix of all key names in the store, which is the name of the cluster.
    pub fn prefix(&self) -> &str {
        self.membership.keys.prefix()
    }

    /// Returns the description of this replica.
    pub fn me(&self) -> &Replica {
        &self.membership.me
    }

    /// Returns the replicas that were alive a few seconds ago, among them this one.
    pub fn replicas(&self) -> Arc<Vec<Replica>> {
        self.membership.replicas.load_full()
    }

    /// Returns the number of this process.
    pub fn id(&self) -> u64 {
        self.membership.id
    }

    /// Returns another replica to which requests can be passed on. The number comes from a sealed value, so nobody can make it up, and
    /// the store is asked for a replica that is not known yet.
    pub async fn peer(&self, id: u64) -> Option<Peer> {
        let peers = &self.membership.peers;
        if id == self.id() {
            return None;
        }
        if let Some(known) = peers.find(|peer| peer.id == id) {
            return Some(known);
        }
        let reported = self.reported(id).await.ok()?;
        peers.add(reported.as_ref().and_then(Peer::of)?, Instant::now());
        peers.find(|peer| peer.id == id)
    }

    /// Returns another replica to which requests can be passed on. Anybody can make up the number.
    pub async fn claimed_peer(&self, id: u64) -> Option<Peer> {
        if id == self.id() { None } else { self.find(|peer| peer.id == id).await }
    }

    /// Returns true if a replica has signed off, or has not reported for too long. The number comes from a sealed value.
    ///
    /// # Errors
    /// Fails if the store does not answer in time.
    pub async fn has_ended(&self, id: u64) -> Result<bool, StoreError> {
        Ok(self.reported(id).await?.is_none())
    }

    /// Reads the description of a replica that has reported lately.
    async fn reported(&self, id: u64) -> Result<Option<Replica>, StoreError> {
        let Membership { store, keys, values, .. } = &*self.membership;
        let ids = [format!("{id:016x}")];
        let reply = store.one(replicas::read(keys, &ids), READ).await?;
        Ok(replicas::alive(keys, values, &ids, &reply).pop())
    }

    /// Returns the replica with this short number, if it is another one to which requests can be passed on.
    pub async fn peer_with_number(&self, number: u32) -> Option<Peer> {
        let is_own = number == peers::short_number(self.id());
        if is_own { None } else { self.find(|peer| peers::short_number(peer.id) == number).await }
    }

    /// Returns the first replica with a property. A replica that has just started may not be known yet, so the list of replicas is read
    /// if none is found, but only a few times a second: anybody can make up numbers.
    async fn find(&self, is_wanted: impl Fn(&Peer) -> bool) -> Option<Peer> {
        let Membership { peers, read, .. } = &*self.membership;
        if let Some(peer) = peers.find(&is_wanted) {
            return Some(peer);
        }
        let mut read = read.lock().await;
        let found = peers.find(&is_wanted);
        if found.is_some() || read.is_some_and(|read| read.elapsed() < PEERS_EVERY) {
            return found;
        }
        *read = Some(Instant::now());
        self.membership.read_replicas(READ).await.ok()?;
        peers.find(is_wanted)
    }

    /// Forgets a replica that could not be reached, if it has signed off or has not reported for too long.
    pub async fn forget_if_gone(&self, peer: &Peer) {
        if matches!(self.reported(peer.id).await, Ok(None)) {
            self.membership.peers.forget(peer.id, Instant::now());
        }
    }

    /// Returns true if a replica is no longer alive. Without the store, every replica that was alive counts as alive.
    pub fn is_gone(&self, peer: &Peer) -> bool {
        self.membership.peers.find(|known| known.id == peer.id).is_none()
    }

    /// Seals the note for a request that is passed on to another replica; `None` if the random number generator fails.
    pub fn note_for(&self, peer: &Peer, request: PassedOn) -> Option<String> {
        peers::note(&self.membership.values, peer.id, request, now_ms())
    }

    /// Opens the note of a request that another replica has passed on; `None` if no replica has written it.
    pub fn opened(&self, note: &str) -> Option<PassedOn> {
        peers::opened(&self.membership.values, self.id(), note, now_ms())
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
            let _ = membership.write_logins().await;
            if let Some(events) = &membership.events {
                events.copy_rest().await;
            }
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
