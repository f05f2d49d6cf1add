//! The table of all sessions: found by id, swept when idle, capped. With them the doors at which messages come in for
//! clients that have an event stream of their own, from before they have introduced themselves. Each caller has a share of
//! it; in a full table those make room that were opened and never used.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;
use std::time::Duration;

use engine::access::{Class, Principal};
use engine::catalogue::UpstreamId;
use engine::config::Limits;
use parking_lot::RwLock;
use proto::rpc::{FrameError, Message};
use tokio::sync::mpsc;
use transport::net::Stop;

use crate::gateway::admission::identity::Identity;
use crate::gateway::session::session::{Face, Session};
use crate::gateway::session::streams::STANDING;
use crate::gateway::session::until::Held;
use crate::gateway::view::view_cell::ViewCell;
use upstream::pool::LinkCell;
use upstream::quota::{Permit, Quota, QuotaError, Throttle};

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

/// The number of sessions that make room at once: a full table is searched seldom.
const EVICTED_AT_ONCE: usize = 64;

/// All sessions.
pub(crate) struct Sessions {
    quota: Arc<Quota>,
    searches: Throttle,
    idle: Duration,
    open: RwLock<HashMap<Box<str>, OpenSession, ByItself>>,
    doors: RwLock<HashMap<Box<str>, OpenDoor>>,
}

/// A session, and its permit; one that has a door, or is on a pipe, has none of its own.
struct OpenSession {
    session: Arc<Session>,
    permit: Option<Permit>,
}

struct OpenDoor {
    door: Door,
    _permit: Permit,
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
            quota: Quota::new(limits.sessions),
            searches: Throttle::default(),
            idle: limits.session_idle,
            open: RwLock::default(),
            doors: RwLock::default(),
        }
    }

    pub(crate) fn get(&self, id: &str) -> Option<Arc<Session>> {
        self.open.read().get(id).map(|open| open.session.clone())
    }

    /// Takes a permit for a session or a door, before either is there.
    ///
    /// # Errors
    /// The caller has all that one may have, or all are taken.
    pub(super) fn take_permit(&self, identity: &Identity) -> Result<Permit, QuotaError> {
        self.quota.take(identity.holder())
    }

    /// Returns true if a full table may be searched for room now.
    pub(super) fn may_search(&self) -> bool {
        self.searches.pass()
    }

    /// Removes sessions of the largest holder that nobody has used for so long since their `initialize`, the oldest first.
    pub(super) fn evict(&self, unused_for: Duration) -> Vec<Arc<Session>> {
        let Some(holder) = self.quota.largest_holder() else { return Vec::new() };
        let is_its = |permit: &Permit| *permit.holder() == holder;
        let mut unused: Vec<Arc<Session>> = {
            let open = self.open.read();
            let its = open.values().filter(|open| open.permit.as_ref().is_some_and(is_its));
            let unused = its.filter(|open| open.session.is_unused_for(unused_for));
            unused.map(|open| open.session.clone()).collect()
        };
        unused.sort_unstable_by_key(|session| std::cmp::Reverse(session.usage.age()));
        unused.truncate(EVICTED_AT_ONCE);
        // Its client may have come back in the meantime.
        unused.retain(|session| session.is_unused_for(unused_for) && self.remove(&session.id).is_some());
        unused
    }

    /// Adds a session with its permit; one that has a door, or is on a pipe, needs none.
    pub(crate) fn add(&self, session: &Arc<Session>, permit: Option<Permit>) {
        let open = OpenSession { session: session.clone(), permit };
        self.open.write().insert(session.id.clone(), open);
    }

    /// Opens a door under the id that its session will have.
    pub(crate) fn open_door(&self, id: Box<str>, door: Door, permit: Permit) {
        self.doors.write().insert(id, OpenDoor { door, _permit: permit });
    }

    pub(crate) fn door(&self, id: &str) -> Option<Door> {
        self.doors.read().get(id).map(|open| open.door.clone())
    }

    /// Asks the clients of doors that do not fit what is configured to come again.
    pub(crate) fn end_doors(&self, fits: impl Fn(&Door) -> bool) {
        for door in self.doors.read().values().map(|open| &open.door).filter(|door| !fits(door)) {
            door.ends.stop();
        }
    }

    pub(crate) fn close_door(&self, id: &str) {
        self.doors.write().remove(id);
    }

    pub(crate) fn remove(&self, id: &str) -> Option<Arc<Session>> {
        let mut open = self.open.write();
        let removed = open.remove(id);
        // What a rush of sessions took is given back.
        if open.capacity() > 64 && open.len() * 4 < open.capacity() {
            open.shrink_to_fit();
        }
        drop(open);
        removed.map(|open| open.session)
    }

    /// The sessions that see a view.
    pub(crate) fn with_view(&self, view: &ViewCell) -> Vec<Arc<Session>> {
        let sees = |s: &&Arc<Session>| s.view().is_some_and(|own| std::ptr::eq(Arc::as_ptr(&own), view));
        self.open.read().values().map(|open| &open.session).filter(sees).cloned().collect()
    }

    /// Returns true if another session than this one listens to a resource over this cell.
    pub(crate) fn listens(&self, but: &Session, over: (UpstreamId, &Arc<LinkCell>), uri: &str) -> bool {
        let listens = |s: &Arc<Session>| s.id != but.id && s.subscriptions.has(uri) && s.uses(over);
        self.open.read().values().map(|open| &open.session).any(listens)
    }

    /// Those of which this is true.
    pub(crate) fn those(&self, is_one: impl Fn(&Session) -> bool) -> Vec<Arc<Session>> {
        self.open
            .read()
            .values()
            .map(|open| &open.session)
            .filter(|session| is_one(session))
            .cloned()
            .collect()
    }

    pub(crate) fn all(&self) -> Vec<Arc<Session>> {
        self.open.read().values().map(|open| open.session.clone()).collect()
    }

    /// Ends the streams that belong to no call, as nothing will come on them any more.
    pub(crate) fn hang_up(&self) {
        for session in self.all() {
            if let Face::Http(streams) = &session.face {
                streams.finish(STANDING);
            }
        }
    }

    /// Keeps streams alive, and removes the sessions that nobody uses: these.
    pub(super) fn sweep(&self) -> Vec<Arc<Session>> {
        let mut unused = Vec::new();
        for session in self.all() {
            if let Face::Http(streams) = &session.face
                && streams.keep_alive()
            {
                session.touch();
            }
            let busy = session.requests.is_busy();
            if !busy && session.usage.idle() > self.idle && matches!(session.face, Face::Http(_)) {
                tracing::info!("a session ends: nobody used it for {:?}", self.idle);
                unused.extend(self.remove(&session.id));
            }
        }
        unused
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use engine::ClientAddress;
    use engine::access::{Principal, Scheme};
    use proto::era::{ClientHello, by_version};
    use transport::net::Stop;
    use upstream::EgressProcess;

    use super::super::sealer::StateSealer;
    use super::super::session::Birth;
    use super::super::streams::Streams;
    use super::*;

    fn known(id: &str) -> Identity {
        Identity::of(Arc::new(Principal::new(id, Scheme::Key)), None)
    }

    fn at(address: &str) -> Identity {
        Identity::anyone(Some(ClientAddress::direct(address.parse().unwrap())))
    }

    fn limits(sessions: usize) -> Limits {
        Limits { sessions, ..Limits::default() }
    }

    fn open(sessions: &Sessions, id: &str, identity: &Identity) -> Result<Arc<Session>, QuotaError> {
        let permit = sessions.quota.take(identity.holder())?;
        let text = |text: &'static str| Bytes::from_static(text.as_bytes());
        let hello = ClientHello {
            version: "2025-06-18".to_owned(),
            version_json: text("\"2025-06-18\""),
            params: text("{}"),
            capabilities: text("{}"),
            info: None,
            can_be_asked: false,
        };
        let sealer = Arc::new(StateSealer::new(&EgressProcess::new(1, Stop::new())).unwrap());
        let (id, identity) = (id.into(), identity.clone());
        let (era, face) = (by_version("2025-06-18").unwrap(), Face::Http(Streams::new(&limits(8))));
        let session = Session::new(Birth { id, profile: 0, identity, era, hello, face }, &limits(8), sealer);
        sessions.add(&session, Some(permit));
        Ok(session)
    }

    #[test]
    fn a_full_table_takes_room_from_unused_sessions_of_the_largest_holder_alone() {
        let sessions = Sessions::new(&limits(8));
        let local = at("127.0.0.1");
        let unused = open(&sessions, "unused", &local).unwrap();
        let used = open(&sessions, "used", &local).unwrap();
        used.touch();
        let busy = open(&sessions, "busy", &local).unwrap();
        let _call =
            busy.requests.begin(&proto::rpc::Id::from_json(Bytes::from_static(b"1")).unwrap()).unwrap();
        for (id, holder) in [("a", known("key:a")), ("b", at("203.0.113.1")), ("c", at("203.0.113.2"))] {
            open(&sessions, id, &holder).unwrap();
        }
        assert!(sessions.evict(Duration::from_mins(1)).is_empty(), "nobody has lain unused for so long");
        let evicted = sessions.evict(Duration::ZERO);
        assert_eq!(evicted.iter().map(|session| &*session.id).collect::<Vec<_>>(), ["unused"]);
        assert!(sessions.get(&unused.id).is_none() && sessions.get("used").is_some());
        assert!(["busy", "a", "b", "c"].iter().all(|id| sessions.get(id).is_some()));
        assert!(sessions.evict(Duration::ZERO).is_empty());
    }

    #[test]
    fn a_removed_session_gives_its_permit_back_at_once() {
        let sessions = Sessions::new(&limits(4));
        let held = open(&sessions, "a", &at("203.0.113.1")).unwrap();
        assert!(matches!(open(&sessions, "b", &at("203.0.113.1")), Err(QuotaError::Own(..))));
        assert!(open(&sessions, "c", &at("203.0.113.2")).is_ok());
        assert!(sessions.remove("a").is_some());
        assert!(open(&sessions, "d", &at("203.0.113.1")).is_ok());
        drop(held);
    }
}
