//! All sessions of the protocol: queries on their table, and the end of idle sessions. Also holds the receivers of
//! messages for event streams, which exist before their clients introduce themselves.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use config::Limits;
use engine::access::{Class, Principal};
use engine::catalogue::UpstreamId;
use engine::passed_headers::PassedHeaders;
use parking_lot::{Mutex, RwLock};
use proto::rpc::{FrameError, Message};
use tokio::sync::mpsc;
use transport::net::Stop;

use crate::admission::identity::Identity;
use crate::session::session::{ClientChannel, Session};
use crate::session::streams::STANDING;
use crate::session::table::SessionTable;
use crate::session::until::HeldOpen;
use crate::view::view_cell::ViewCell;
use upstream::pool::LinkCell;
use upstream::quota::{Permit, QuotaError};

/// All sessions, and the receivers of messages for event streams.
pub struct Sessions {
    /// The table of sessions. Sessions on a pipe, or with their own event stream, have no permit in it.
    table: SessionTable<Session>,
    idle: Mutex<Duration>,
    doors: RwLock<HashMap<Box<str>, OpenDoor>>,
}

struct OpenDoor {
    door: Door,
    _permit: Permit,
}

/// The receiver of messages for one event stream.
#[derive(Clone)]
pub(crate) struct Door {
    /// The profile that the client sees.
    pub(crate) profile: usize,
    /// The principal that opened the stream. Only this principal may send messages for the stream, and only with the
    /// rights that the principal had when the stream was opened.
    pub(crate) principal: Arc<Principal>,
    /// The headers that are passed on for the principal.
    pub(crate) passed: PassedHeaders,
    pub(crate) class: Class,
    /// The generation of the access rules (`regime`) that determined these rights.
    pub(crate) regime: u64,
    /// Raised when the stream no longer matches the configuration.
    pub(crate) ends: Stop,
    /// The stream's entry in the table of open streams. The stream ends when its credentials are no longer valid.
    pub(crate) held: Arc<HeldOpen>,
    /// The sender for the client's messages, which are received in order. Senders that are too fast have to wait.
    pub(crate) messages: mpsc::Sender<Result<Message, FrameError>>,
}

impl Sessions {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            table: SessionTable::new(limits.sessions),
            idle: Mutex::new(limits.session_idle),
            doors: RwLock::default(),
        }
    }

    /// Changes the maximum number of sessions, and how long each may be idle. Open sessions are not affected.
    pub(crate) fn follow(&self, limits: &Limits) {
        self.table.resize(limits.sessions);
        *self.idle.lock() = limits.session_idle;
    }

    /// Returns the number of sessions.
    pub fn count(&self) -> usize {
        self.table.count()
    }

    pub(crate) fn get(&self, id: &str) -> Option<Arc<Session>> {
        self.table.get(id)
    }

    /// Takes a permit for a session or an event stream that is about to be opened.
    ///
    /// # Errors
    /// Fails if the caller already has as many sessions as allowed, or if all permits are taken.
    pub(super) fn take_permit(&self, identity: &Identity) -> Result<Permit, QuotaError> {
        self.table.take_permit(identity)
    }

    /// Returns true if a full table may be searched for evictable sessions now.
    pub(super) fn may_search(&self) -> bool {
        self.table.may_search()
    }

    /// Removes unused sessions of the caller that has the most sessions, the oldest first: sessions that were
    /// opened at least `unused_for` ago, and not used after their `initialize`. Returns the removed sessions.
    pub(super) fn evict(&self, unused_for: Duration) -> Vec<Arc<Session>> {
        self.table.evict(unused_for)
    }

    /// Adds a session with its permit. A session on a pipe, or with its own event stream, needs none.
    pub(crate) fn add(&self, session: &Arc<Session>, permit: Option<Permit>) {
        self.table.add(session.id.clone(), session.clone(), permit);
    }

    /// Adds the receiver of an event stream under the id that its session will have.
    pub(crate) fn open_door(&self, id: Box<str>, door: Door, permit: Permit) {
        self.doors.write().insert(id, OpenDoor { door, _permit: permit });
    }

    pub(crate) fn door(&self, id: &str) -> Option<Door> {
        self.doors.read().get(id).map(|open| open.door.clone())
    }

    /// Ends the event streams that no longer match the configuration, so that their clients connect again.
    pub(crate) fn end_doors(&self, fits: impl Fn(&Door) -> bool) {
        for door in self.doors.read().values().map(|open| &open.door).filter(|door| !fits(door)) {
            door.ends.stop();
        }
    }

    pub(crate) fn close_door(&self, id: &str) {
        self.doors.write().remove(id);
    }

    pub fn remove(&self, id: &str) -> Option<Arc<Session>> {
        self.table.remove(id)
    }

    /// Returns the sessions that see a view.
    pub(crate) fn with_view(&self, view: &ViewCell) -> Vec<Arc<Session>> {
        self.table.those(|s| s.view().is_some_and(|own| std::ptr::eq(Arc::as_ptr(&own), view)))
    }

    /// Returns true if a session other than `but` listens to a resource over this cell; `uri` is the server's own URI.
    pub(crate) fn listens(&self, but: &Session, over: (UpstreamId, &Arc<LinkCell>), uri: &str) -> bool {
        self.table.any(|s| s.id != but.id && s.interests.subscriptions.has_own(over.0, uri) && s.uses(over))
    }

    /// Returns the sessions for which `is_one` is true.
    pub fn those(&self, is_one: impl Fn(&Session) -> bool) -> Vec<Arc<Session>> {
        self.table.those(is_one)
    }

    pub fn all(&self) -> Vec<Arc<Session>> {
        self.table.those(|_| true)
    }

    /// Returns the number of sessions and event streams that count toward the limit.
    pub fn counted(&self) -> usize {
        self.table.counted()
    }

    /// Ends the standing streams: no more messages will be sent on them.
    pub(crate) fn hang_up(&self) {
        for session in self.all() {
            if let ClientChannel::Http(streams) = &session.channel {
                streams.finish(STANDING);
            }
        }
    }

    /// Keeps streams alive; removes and returns the sessions that have been idle for too long.
    pub(super) fn sweep(&self) -> Vec<Arc<Session>> {
        let (most_idle, mut unused) = (*self.idle.lock(), Vec::new());
        for session in self.all() {
            if let ClientChannel::Http(streams) = &session.channel
                && streams.keep_alive()
            {
                session.touch();
            }
            let busy = session.requests.is_busy();
            if !busy && session.usage.idle() > most_idle && matches!(session.channel, ClientChannel::Http(_))
            {
                tracing::info!(
                    "forgot a session that was idle for {most_idle:?}; its next request restores it"
                );
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

    use super::super::seal;
    use super::super::sealer::StateSealer;
    use super::super::session::NewSession;
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
        let permit = sessions.take_permit(identity)?;
        let text = |text: &'static str| Bytes::from_static(text.as_bytes());
        let hello = ClientHello {
            version: "2025-06-18".to_owned(),
            version_json: text("\"2025-06-18\""),
            params: text("{}"),
            capabilities: text("{}"),
            info: None,
            can_be_asked: false,
        };
        let sealer = Arc::new(
            StateSealer::new(Arc::new(seal::tests::random()), &EgressProcess::new(1, Stop::new()), false)
                .unwrap(),
        );
        let (id, identity) = (id.into(), identity.clone());
        let (era, channel) =
            (by_version("2025-06-18").unwrap(), ClientChannel::Http(Streams::new(&limits(8), 0)));
        let session = Session::new(
            NewSession { id, key: None, profile: 0, identity, era, hello, channel },
            &limits(8),
            sealer,
        );
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
