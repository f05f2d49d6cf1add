//! What is kept of a dialect's clients: whether they have introduced themselves, and where their events go. It must not know
//! messages.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use engine::Snapshot;
use engine::access::Calls;
use parking_lot::Mutex;
use proto::era::Era;
use proto::rpc::{Frame, Id};
use tokio::sync::{Semaphore, mpsc, oneshot};
use transport::net::Stop;

use super::subscribed::{Subscriptions, follow};
use crate::gateway::admission::identity::Identity;
use crate::gateway::call::CallContext;
use crate::gateway::session::until::Held;
use crate::gateway::session::usage::Usage;
use upstream::quota::{Permit, Quota, QuotaError, Throttle};

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
    /// Who opened it; nobody else may use it, nor they with other rights than they had then.
    identity: Identity,
    pub(crate) profile: usize,
    initialized: AtomicBool,
    /// The name and version of its client's program, once it has introduced itself.
    program: OnceLock<Arc<str>>,
    /// Its event stream, if it has one.
    stream: Option<Stream>,
    /// What is worked on for its client, by the ids that it gave; each hears here that it has been given up.
    calls: Mutex<Vec<(Id, oneshot::Sender<Option<Frame>>)>>,
    /// Those that are at a server, whatever their ids.
    pub(crate) in_flight: Calls,
    usage: Usage,
    /// After how long without a message it is over; never for `None`.
    idle: Option<Duration>,
}

impl Session {
    /// A client of `profile`, with its stream if it has one.
    pub(crate) fn new(
        identity: Identity,
        profile: usize,
        stream: Option<Stream>,
        idle: Option<Duration>,
    ) -> Self {
        Self {
            identity,
            profile,
            initialized: AtomicBool::new(false),
            program: OnceLock::new(),
            stream,
            calls: Mutex::default(),
            in_flight: Calls::default(),
            usage: Usage::new(),
            idle,
        }
    }

    pub(crate) fn is_initialized(&self) -> bool {
        self.initialized.load(Ordering::Acquire)
    }

    /// It has introduced itself, as this program.
    pub(crate) fn initialize(&self, program: Option<Arc<str>>) {
        if let Some(program) = program {
            let _ = self.program.set(program);
        }
        self.initialized.store(true, Ordering::Release);
    }

    /// The name and version of its client's program.
    pub(crate) fn program(&self) -> Option<&Arc<str>> {
        self.program.get()
    }

    /// Lets a request be given up for as long as what is returned is there; `None` where its id is none, or is in use.
    pub(crate) fn begin(&self, id: &[u8]) -> Option<UnderWay<'_>> {
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
    pub(crate) fn give_up(&self, id: &Id, notice: Frame) {
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
    pub(crate) fn give_up_all(&self) {
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

    /// Notes that more than the introduction has come.
    pub(crate) fn note_use(&self) {
        self.usage.note();
    }

    /// Returns true if it holds no stream, is so old and was never used.
    fn is_unused_for(&self, age: Duration) -> bool {
        self.usage.is_unused_for(age) && !self.has_stream() && self.calls.lock().is_empty()
    }

    /// Returns true if its time is over.
    pub(crate) fn is_over(&self) -> bool {
        self.idle.is_some_and(|idle| self.usage.idle() > idle)
    }
}

/// A request that is worked on.
pub(crate) struct UnderWay<'s> {
    session: &'s Session,
    id: Id,
    given_up: Option<oneshot::Receiver<Option<Frame>>>,
}

impl UnderWay<'_> {
    /// Whence it is heard that it has been given up; once.
    pub(crate) fn given_up(&mut self) -> Option<oneshot::Receiver<Option<Frame>>> {
        self.given_up.take()
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        drop(self.session.take_call(&self.id));
    }
}

/// The time for which a session must have lain unused since its introduction before it makes room for another one.
const UNUSED_FOR: Duration = Duration::from_mins(1);

/// All of them, by id; at most so many, and of each caller at most a share.
pub(crate) struct Sessions {
    quota: Arc<Quota>,
    searches: Throttle,
    open: Mutex<HashMap<Box<str>, OpenSession>>,
}

struct OpenSession {
    session: Arc<Session>,
    permit: Permit,
}

impl Sessions {
    pub(crate) fn new(max: usize) -> Self {
        Self { quota: Quota::new(max), searches: Throttle::default(), open: Mutex::default() }
    }

    /// Adds a session of a caller.
    ///
    /// # Errors
    /// The caller has all that one may have, or all are taken and none can make room.
    pub(crate) fn add(
        &self,
        id: &str,
        session: Session,
        identity: &Identity,
    ) -> Result<Arc<Session>, QuotaError> {
        let permit = match self.quota.take(identity.holder()) {
            Err(QuotaError::Whole(_)) if self.searches.pass() => {
                self.evict(UNUSED_FOR);
                self.quota.take(identity.holder())
            }
            taken => taken,
        }?;
        let session = Arc::new(session);
        self.open.lock().insert(id.into(), OpenSession { session: session.clone(), permit });
        Ok(session)
    }

    /// Removes the sessions whose time is over, and those of the largest holder that nobody has used for so long.
    fn evict(&self, unused_for: Duration) {
        self.sweep();
        let Some(holder) = self.quota.largest_holder() else { return };
        let stays =
            |open: &OpenSession| *open.permit.holder() != holder || !open.session.is_unused_for(unused_for);
        self.open.lock().retain(|_, open| stays(open));
    }

    /// The session of this name, for the one who opened it and has the same rights as then.
    pub(crate) fn get(
        &self,
        id: &str,
        (identity, profile): (&Identity, usize),
        snapshot: &Snapshot,
    ) -> Option<Arc<Session>> {
        let session = self.open.lock().get(id).map(|open| open.session.clone())?;
        let is_own = session.profile == profile && session.identity.is_alike(identity, snapshot);
        (is_own && !session.is_over()).then(|| {
            session.usage.touch();
            if let Some(stream) = &session.stream {
                stream.held.until.renew(&identity.principal);
            }
            session
        })
    }

    /// Asks the clients of event streams that do not fit what is configured to come again: `fits` is told a stream's regime
    /// and its profile.
    pub(crate) fn end_streams(&self, fits: impl Fn(u64, usize) -> bool) {
        for OpenSession { session, .. } in self.open.lock().values() {
            if let Some(stream) =
                session.stream.as_ref().filter(|stream| !fits(stream.regime, session.profile))
            {
                stream.ends.stop();
            }
        }
    }

    /// Brings what clients of event streams listen to in line with what is configured.
    pub(crate) fn follow(&self, context: &Arc<CallContext>) {
        let all: Vec<_> = self.open.lock().values().map(|open| open.session.clone()).collect();
        for session in all {
            follow(context, &session);
        }
    }

    pub(crate) fn remove(&self, id: &str) -> bool {
        self.open.lock().remove(id).is_some()
    }

    /// Lets go of those whose time is over.
    pub(crate) fn sweep(&self) {
        self.open.lock().retain(|_, open| !open.session.is_over());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::access::{Principal, Scheme};

    fn snapshot() -> Snapshot {
        Snapshot::compile(&engine::config::Config::default(), "1")
    }

    fn known(name: &str) -> Identity {
        Identity::of(Arc::new(Principal::new(name, Scheme::Basic)), None)
    }

    fn of(identity: &Identity, idle: Option<Duration>) -> Session {
        Session::new(identity.clone(), 0, None, idle)
    }

    #[test]
    fn sessions_are_their_openers_alone_and_few() {
        let (ann, bob) = (known("user:ann"), known("user:bob"));
        let sessions = Sessions::new(4);
        assert!(sessions.add("s", of(&ann, None), &ann).is_ok());
        let one_more = sessions.add("t", of(&ann, None), &ann);
        assert!(matches!(one_more, Err(QuotaError::Own(..))), "one caller has a quarter");
        assert!(sessions.add("u", of(&bob, None), &bob).is_ok(), "another one still gets in");
        let snapshot = snapshot();
        let get = |who: &Identity, profile| sessions.get("s", (who, profile), &snapshot).is_some();
        assert!(get(&ann, 0) && !get(&bob, 0) && !get(&ann, 1));
        assert!(sessions.remove("s") && !get(&ann, 0));
    }

    #[test]
    fn who_has_other_rights_by_now_goes_on_with_no_session() {
        let lookup = engine::config::Lookup { env: &|_| None, file: &|_| Err(String::new()) };
        let rules = "mcpServers: { docs: { command: x } }\naccess: [{ deny: '*', who: { scope: guest } }]\n";
        let config = engine::config::load(rules, "test", &lookup).unwrap().config;
        let snapshot = Snapshot::compile(&config, "1");
        let with = |scope: &str| {
            let ann = Principal::new("jwt:https://i#ann", Scheme::Token);
            Identity::of(Arc::new(Principal { scopes: Arc::from([scope.into()]), ..ann }), None)
        };
        let (boss, guest) = (with("boss"), with("guest"));
        let sessions = Sessions::new(4);
        assert!(sessions.add("s", of(&boss, None), &boss).is_ok());
        assert!(sessions.get("s", (&guest, 0), &snapshot).is_none(), "same principal, other rights");
        assert!(
            sessions.get("s", (&with("other"), 0), &snapshot).is_some(),
            "another token of the same rights"
        );
    }

    #[test]
    fn an_idle_session_makes_room() {
        let anyone = Identity::anyone(None);
        let sessions = Sessions::new(1);
        assert!(sessions.add("s", of(&anyone, Some(Duration::ZERO)), &anyone).is_ok());
        while !sessions.open.lock()["s"].session.is_over() {
            std::hint::spin_loop();
        }
        assert!(sessions.get("s", (&anyone, 0), &snapshot()).is_none());
        assert!(sessions.add("t", of(&anyone, None), &anyone).is_ok());
        assert!(sessions.add("u", of(&anyone, None), &anyone).is_err());
    }

    #[test]
    fn a_full_table_takes_room_from_unused_sessions_of_the_largest_holder_alone() {
        let (anyone, ann) = (Identity::anyone(None), known("user:ann"));
        let sessions = Sessions::new(4);
        let used = sessions.add("used", of(&anyone, None), &anyone).unwrap();
        used.note_use();
        for id in ["one", "two"] {
            sessions.add(id, of(&anyone, None), &anyone).unwrap();
        }
        sessions.add("ann", of(&ann, None), &ann).unwrap();
        sessions.evict(Duration::from_mins(1));
        assert_eq!(sessions.open.lock().len(), 4, "nobody has lain unused for so long");
        sessions.evict(Duration::ZERO);
        let open = sessions.open.lock();
        assert!(open.len() == 2 && open.contains_key("used") && open.contains_key("ann"));
    }
}
