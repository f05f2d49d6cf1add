//! What is kept of a dialect's clients: whether they have introduced themselves, and where their events go. It must not know
//! messages.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use engine::access::{Calls, Principal};
use parking_lot::Mutex;
use proto::era::Era;
use proto::rpc::{Frame, Id};
use tokio::sync::{Semaphore, mpsc, oneshot};
use transport::net::Stop;

use super::subscribed::{Subscriptions, follow};
use crate::gateway::Shard;
use crate::gateway::identity::Identity;
use crate::gateway::withdrawn::Held;

/// A client's event stream.
pub(crate) struct Stream {
    /// Takes its events.
    pub(crate) events: mpsc::Sender<Bytes>,
    /// How many of its client's requests are worked on at once.
    pub(crate) room: Arc<Semaphore>,
    /// As something that is held open.
    pub(crate) held: Arc<Held>,
    /// What else it is told.
    pub(crate) subscriptions: Subscriptions,
    /// Who opened it, and the version in which the gateway serves it.
    pub(crate) identity: Identity,
    pub(crate) era: &'static Era,
    /// Under which rules it was opened.
    pub(crate) regime: u64,
    /// Raised when what is configured by now is not for it.
    pub(crate) ends: Stop,
}

/// One client.
pub(crate) struct Session {
    /// Who opened it; nobody else may use it.
    principal: Arc<Principal>,
    pub(super) profile: usize,
    initialized: AtomicBool,
    /// Its event stream, if it has one.
    stream: Option<Stream>,
    /// What is worked on for its client, by the ids that it gave; each hears here that it has been given up.
    calls: Mutex<Vec<(Id, oneshot::Sender<Option<Frame>>)>>,
    /// Those that are at a server, whatever their ids.
    pub(super) in_flight: Calls,
    born: Instant,
    /// Milliseconds after `born` at which it was last used.
    used: AtomicU64,
    /// After how long without a message it is over; never for `None`.
    idle: Option<Duration>,
}

impl Session {
    /// A client of `profile`, with its stream if it has one.
    pub(crate) fn new(
        principal: Arc<Principal>,
        profile: usize,
        stream: Option<Stream>,
        idle: Option<Duration>,
    ) -> Self {
        Self {
            principal,
            profile,
            initialized: AtomicBool::new(false),
            stream,
            calls: Mutex::default(),
            in_flight: Calls::default(),
            born: Instant::now(),
            used: AtomicU64::new(0),
            idle,
        }
    }

    pub(crate) fn is_initialized(&self) -> bool {
        self.initialized.load(Ordering::Acquire)
    }

    /// It has introduced itself.
    pub(crate) fn initialize(&self) {
        self.initialized.store(true, Ordering::Release);
    }

    /// Lets a request be given up for as long as what is returned is there; `None` where its id is none, or is in use.
    pub(super) fn begin(&self, id: &[u8]) -> Option<UnderWay<'_>> {
        let id = Id::from_json(Bytes::copy_from_slice(id)).ok()?;
        let mut calls = self.calls.lock();
        if calls.iter().any(|(open, _)| *open == id) {
            return None;
        }
        let (sender, receiver) = oneshot::channel();
        calls.push((id.clone(), sender));
        Some(UnderWay { session: self, id, given_up: Some(receiver) })
    }

    /// Gives up the request with this id, by the client's notice.
    pub(super) fn give_up(&self, id: &Id, notice: Frame) {
        if let Some(call) = self.take_call(id) {
            let _ = call.send(Some(notice));
        }
    }

    fn take_call(&self, id: &Id) -> Option<oneshot::Sender<Option<Frame>>> {
        let mut calls = self.calls.lock();
        let at = calls.iter().position(|(open, _)| open == id)?;
        Some(calls.swap_remove(at).1)
    }

    /// Gives up all that is worked on: nobody waits for it any more.
    pub(super) fn give_up_all(&self) {
        for (_, call) in self.calls.lock().drain(..) {
            let _ = call.send(None);
        }
    }

    pub(crate) fn stream(&self) -> Option<&Stream> {
        self.stream.as_ref()
    }

    pub(crate) fn has_stream(&self) -> bool {
        self.stream.is_some()
    }

    /// Sends an event on its stream; `false` when it has none, or is too far behind.
    pub(crate) fn send(&self, event: Bytes) -> bool {
        self.stream.as_ref().is_some_and(|stream| stream.events.try_send(event).is_ok())
    }

    fn touch(&self) {
        let now = u64::try_from(self.born.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.used.store(now, Ordering::Relaxed);
    }

    /// Whether its time is over.
    pub(super) fn is_over(&self) -> bool {
        let used = Duration::from_millis(self.used.load(Ordering::Relaxed));
        self.idle.is_some_and(|idle| self.born.elapsed().saturating_sub(used) > idle)
    }
}

/// A request that is worked on.
pub(super) struct UnderWay<'s> {
    session: &'s Session,
    id: Id,
    given_up: Option<oneshot::Receiver<Option<Frame>>>,
}

impl UnderWay<'_> {
    /// Whence it is heard that it has been given up; once.
    pub(super) fn given_up(&mut self) -> Option<oneshot::Receiver<Option<Frame>>> {
        self.given_up.take()
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        drop(self.session.take_call(&self.id));
    }
}

/// All of them, by id; at most so many.
pub(crate) struct Sessions {
    max: usize,
    open: Mutex<HashMap<Box<str>, Arc<Session>>>,
}

impl Sessions {
    pub(crate) fn new(max: usize) -> Self {
        Self { max, open: Mutex::default() }
    }

    /// Adds a session; `None` when there are too many.
    pub(crate) fn add(&self, id: &str, session: Session) -> Option<Arc<Session>> {
        let mut open = self.open.lock();
        if open.len() >= self.max {
            open.retain(|_, session| !session.is_over());
        }
        if open.len() >= self.max {
            return None;
        }
        let session = Arc::new(session);
        open.insert(id.into(), session.clone());
        Some(session)
    }

    /// The session of this name, for the one who opened it.
    pub(crate) fn get(&self, id: &str, principal: &Principal, profile: usize) -> Option<Arc<Session>> {
        let session = self.open.lock().get(id).cloned()?;
        let is_own = session.principal.id == principal.id && session.profile == profile;
        (is_own && !session.is_over()).then(|| {
            session.touch();
            if let Some(stream) = &session.stream {
                stream.held.until.renew(principal);
            }
            session
        })
    }

    /// Asks the clients of event streams that do not fit what is configured to come again: `fits` is told a stream's regime
    /// and its profile.
    pub(crate) fn end_streams(&self, fits: impl Fn(u64, usize) -> bool) {
        for session in self.open.lock().values() {
            if let Some(stream) =
                session.stream.as_ref().filter(|stream| !fits(stream.regime, session.profile))
            {
                stream.ends.stop();
            }
        }
    }

    /// Brings what clients of event streams listen to in line with what is configured.
    pub(crate) fn follow(&self, shard: &Shard) {
        let all: Vec<_> = self.open.lock().values().cloned().collect();
        for session in all {
            follow(shard, &session);
        }
    }

    pub(crate) fn remove(&self, id: &str) -> bool {
        self.open.lock().remove(id).is_some()
    }

    /// Lets go of those whose time is over.
    pub(crate) fn sweep(&self) {
        self.open.lock().retain(|_, session| !session.is_over());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::access::Scheme;

    #[test]
    fn sessions_are_their_openers_alone_and_few() {
        let (ann, bob) =
            (Principal::new("user:ann", Scheme::Basic), Principal::new("user:bob", Scheme::Basic));
        let sessions = Sessions::new(1);
        let of_ann = || Session::new(Arc::new(ann.clone()), 0, None, None);
        assert!(sessions.add("s", of_ann()).is_some());
        assert!(sessions.add("t", of_ann()).is_none(), "one too many");
        assert!(sessions.get("s", &ann, 0).is_some());
        assert!(sessions.get("s", &bob, 0).is_none() && sessions.get("s", &ann, 1).is_none());
        assert!(sessions.remove("s") && sessions.get("s", &ann, 0).is_none());
    }

    #[test]
    fn an_idle_session_makes_room() {
        let anyone = Arc::new(Principal::anyone());
        let sessions = Sessions::new(1);
        let over = Session::new(anyone.clone(), 0, None, Some(Duration::ZERO));
        assert!(sessions.add("s", over).is_some());
        while !sessions.open.lock()["s"].is_over() {
            std::hint::spin_loop();
        }
        assert!(sessions.get("s", &anyone, 0).is_none());
        assert!(sessions.add("t", Session::new(anyone, 0, None, None)).is_some());
    }
}
