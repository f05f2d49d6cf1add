//! The table of all sessions: found by id, swept when idle, capped. With them the doors at which messages come in for
//! clients that have an event stream of their own, from before they have introduced themselves.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use engine::access::{Class, Principal};
use engine::catalogue::UpstreamId;
use engine::config::Limits;
use parking_lot::RwLock;
use proto::rpc::{FrameError, Message};
use tokio::sync::mpsc;
use transport::net::Stop;

use super::link_cell::LinkCell;
use super::session::{Face, Session};
use super::streams::STANDING;
use super::view_cell::ViewCell;
use super::withdrawn::Held;
use super::{Shard, partings};

/// Ids are random, so their first bytes are as good as a hash of them: nobody else chooses what is kept in the table.
#[derive(Default)]
struct FirstBytes(u64);

impl Hasher for FirstBytes {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes.iter().take(8) {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn finish(&self) -> u64 {
        // The table looks at the upper bits, too, and letters differ in few of them.
        self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

type ByItself = BuildHasherDefault<FirstBytes>;

/// All sessions.
pub(crate) struct Sessions {
    max: usize,
    idle: Duration,
    open: RwLock<HashMap<Box<str>, Arc<Session>, ByItself>>,
    /// How many of them have no door; written while `open` is locked.
    doorless: AtomicUsize,
    doors: RwLock<HashMap<Box<str>, Door>>,
}

/// Where messages for one event stream come in.
#[derive(Clone)]
pub(crate) struct Door {
    /// The profile that its client sees.
    pub(crate) profile: usize,
    /// Who opened it; nobody else may send to it, nor they with other rights than they had then.
    pub(crate) principal: Arc<Principal>,
    pub(crate) class: Class,
    /// Under which rules that is its class.
    pub(crate) regime: u64,
    /// Raised when what is configured by now is not for it.
    pub(crate) ends: Stop,
    /// Its event stream, as something that is held open.
    pub(crate) held: Arc<Held>,
    /// Takes them in order, and waits when they come too fast.
    pub(crate) messages: mpsc::Sender<Result<Message, FrameError>>,
}

impl Sessions {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            max: limits.sessions,
            idle: limits.session_idle,
            open: RwLock::default(),
            doorless: AtomicUsize::new(0),
            doors: RwLock::default(),
        }
    }

    pub(crate) fn get(&self, id: &str) -> Option<Arc<Session>> {
        self.open.read().get(id).cloned()
    }

    /// Adds a session; `false` when there are too many. One that has a door has its place already.
    pub(crate) fn add(&self, session: &Arc<Session>) -> bool {
        let doors = self.doors.read();
        let mut open = self.open.write();
        let has_place = doors.contains_key(&session.id);
        if !has_place && self.places(&doors) >= self.max {
            return false;
        }
        if open.insert(session.id.clone(), session.clone()).is_none() && is_doorless(session) {
            self.doorless.fetch_add(1, Ordering::Relaxed);
        }
        true
    }

    /// Opens a door under the id that its session will have; `false` when there are too many sessions.
    pub(crate) fn open_door(&self, id: Box<str>, door: Door) -> bool {
        let mut doors = self.doors.write();
        self.places(&doors) < self.max && {
            doors.insert(id, door);
            true
        }
    }

    pub(crate) fn door(&self, id: &str) -> Option<Door> {
        self.doors.read().get(id).cloned()
    }

    /// Asks the clients of doors that do not fit what is configured to come again.
    pub(crate) fn end_doors(&self, fits: impl Fn(&Door) -> bool) {
        for door in self.doors.read().values().filter(|door| !fits(door)) {
            door.ends.stop();
        }
    }

    pub(crate) fn close_door(&self, id: &str) {
        self.doors.write().remove(id);
    }

    pub(crate) fn remove(&self, id: &str) -> Option<Arc<Session>> {
        let mut open = self.open.write();
        let removed = open.remove(id);
        if removed.as_ref().is_some_and(is_doorless) {
            self.doorless.fetch_sub(1, Ordering::Relaxed);
        }
        // What a rush of sessions took is given back.
        if open.capacity() > 64 && open.len() * 4 < open.capacity() {
            open.shrink_to_fit();
        }
        removed
    }

    /// How many clients have a place: a door, or a session without one.
    fn places(&self, doors: &HashMap<Box<str>, Door>) -> usize {
        doors.len() + self.doorless.load(Ordering::Relaxed)
    }

    pub(crate) fn is_full(&self) -> bool {
        let doors = self.doors.read();
        self.places(&doors) >= self.max
    }

    /// The sessions that see a view.
    pub(crate) fn with_view(&self, view: &ViewCell) -> Vec<Arc<Session>> {
        let sees = |s: &&Arc<Session>| s.view().is_some_and(|own| std::ptr::eq(Arc::as_ptr(&own), view));
        self.open.read().values().filter(sees).cloned().collect()
    }

    /// Whether another session than this one listens to a resource over this cell.
    pub(crate) fn listens(&self, but: &Session, over: (UpstreamId, &Arc<LinkCell>), uri: &str) -> bool {
        let listens = |s: &Arc<Session>| s.id != but.id && s.is_subscribed(uri) && s.uses(over);
        self.open.read().values().any(listens)
    }

    /// Those of which this is true.
    pub(crate) fn those(&self, is_one: impl Fn(&Session) -> bool) -> Vec<Arc<Session>> {
        self.open.read().values().filter(|session| is_one(session)).cloned().collect()
    }

    pub(crate) fn all(&self) -> Vec<Arc<Session>> {
        self.open.read().values().cloned().collect()
    }

    /// Ends the streams that belong to no call, as nothing will come on them any more.
    pub(crate) fn hang_up(&self) {
        for session in self.all() {
            if let Face::Http(streams) = &session.face {
                streams.finish(STANDING);
            }
        }
    }

    /// Keeps streams alive and ends the sessions that nobody uses.
    pub(crate) fn sweep(&self, shard: &Shard) {
        for session in self.all() {
            if let Face::Http(streams) = &session.face
                && streams.keep_alive()
            {
                session.touch();
            }
            let busy = session.is_busy();
            if !busy && session.idle() > self.idle && matches!(session.face, Face::Http(_)) {
                tracing::info!("a session ends: nobody used it for {:?}", self.idle);
                if let Some(session) = self.remove(&session.id) {
                    let shard = shard.clone();
                    partings::beside(async move { session.end(&shard).await });
                }
            }
        }
    }
}

/// Whether a session has its place by itself, rather than behind a door.
fn is_doorless(session: &Arc<Session>) -> bool {
    matches!(session.face, Face::Http(_))
}
