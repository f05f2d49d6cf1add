//! The sessions of dialect clients: their introductions, and the receivers of their events. This module must not know
//! messages.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use engine::Snapshot;
use engine::access::Calls;
use proto::era::Era;
use proto::rpc::Id;
use tokio::sync::{Semaphore, mpsc};
use transport::net::Stop;

use super::subscribed::{Subscriptions, follow};
use crate::admission::identity::Identity;
use crate::call::CallContext;
use crate::session::open_requests::{HeldRequest, OpenRequests};
use crate::session::table::{Evictable, SessionTable};
use crate::session::until::HeldOpen;
use crate::session::usage::Usage;
use upstream::quota::QuotaError;

/// A client's event stream.
pub(crate) struct DialectStream {
    /// The sender through which the client receives its events.
    pub(crate) events: mpsc::Sender<Bytes>,
    /// Permits for concurrent requests of the client.
    pub(crate) room: Arc<Semaphore>,
    /// The stream's entry in the table of open streams. The stream ends when its credentials are no longer valid.
    pub(crate) held: Arc<HeldOpen>,
    /// The client's subscriptions.
    pub(crate) subscriptions: Subscriptions,
    /// The caller that opened the stream.
    pub(crate) identity: Identity,
    pub(crate) era: &'static Era,
    /// The generation of the access rules (`regime`) that were in force when the stream was opened.
    pub(crate) regime: u64,
    /// Raised when the stream no longer matches the configuration.
    pub(crate) ends: Stop,
}

/// The session of one client.
pub struct Session {
    /// The owner of the session. Only this caller may use the session, and only with the rights that the caller had
    /// when the session was opened.
    identity: Identity,
    pub profile: usize,
    initialized: AtomicBool,
    /// The name and version of the client, once it has introduced itself.
    program: OnceLock<Arc<str>>,
    /// The client's event stream, if it has one.
    stream: Option<DialectStream>,
    /// The client's running requests. This table does not limit their number.
    pub requests: OpenRequests,
    /// The client's running calls to servers, whatever their ids.
    pub(crate) in_flight: Calls,
    usage: Usage,
    /// The idle time after which the session ends; `None` if idle time does not end it.
    idle: Option<Duration>,
}

impl Session {
    /// Creates a session of `profile`, with a stream if the client has one.
    pub(crate) fn new(
        identity: Identity,
        profile: usize,
        stream: Option<DialectStream>,
        idle: Option<Duration>,
    ) -> Self {
        Self {
            identity,
            profile,
            initialized: AtomicBool::new(false),
            program: OnceLock::new(),
            stream,
            requests: OpenRequests::new(usize::MAX),
            in_flight: Calls::default(),
            usage: Usage::new(),
            idle,
        }
    }

    pub(crate) fn is_initialized(&self) -> bool {
        self.initialized.load(Ordering::Acquire)
    }

    /// Records the client's introduction.
    pub(crate) fn initialize(&self, program: Option<Arc<str>>) {
        if let Some(program) = program {
            let _ = self.program.set(program);
        }
        self.initialized.store(true, Ordering::Release);
    }

    /// Returns the name and version of the client.
    pub fn program(&self) -> Option<&Arc<str>> {
        self.program.get()
    }

    /// Registers a request. The request can be cancelled until the returned value is dropped. Returns `None` if the
    /// request has no id, or if the id is in use.
    pub(crate) fn begin(&self, id: &[u8]) -> Option<HeldRequest<'_>> {
        self.requests.hold(Id::from_json(Bytes::copy_from_slice(id)).ok()?)
    }

    /// Returns the caller that opened the session.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Returns the time since the session was opened.
    pub fn opened_for(&self) -> Duration {
        self.usage.age()
    }

    /// Returns the time since the session's last use.
    pub fn idle_for(&self) -> Duration {
        self.usage.idle()
    }

    pub(crate) fn stream(&self) -> Option<&DialectStream> {
        self.stream.as_ref()
    }

    pub fn has_stream(&self) -> bool {
        self.stream.is_some()
    }

    /// Sends an event on the session's stream; returns `false` if there is no stream, or if the client is too far
    /// behind.
    pub(crate) fn send(&self, event: Bytes) -> bool {
        self.stream.as_ref().is_some_and(|stream| stream.events.try_send(event).is_ok())
    }

    /// Records that a message after the introduction has arrived.
    pub(crate) fn note_use(&self) {
        self.usage.note();
    }

    /// Returns true if the session has expired.
    pub(crate) fn is_over(&self) -> bool {
        self.idle.is_some_and(|idle| self.usage.idle() > idle)
    }
}

impl Evictable for Session {
    fn age(&self) -> Duration {
        self.usage.age()
    }

    fn is_unused_for(&self, age: Duration) -> bool {
        self.usage.is_unused_for(age) && !self.has_stream() && !self.requests.is_busy()
    }
}

/// The minimum age at which a session that was not used after its introduction can be evicted to make room for
/// another.
const UNUSED_FOR: Duration = Duration::from_mins(1);

/// All sessions of dialects.
pub struct Sessions(SessionTable<Session>);

impl Sessions {
    pub(crate) fn new(max: usize) -> Self {
        Self(SessionTable::new(max))
    }

    /// Changes the maximum number of sessions. Open sessions are not affected.
    pub(crate) fn resize(&self, max: usize) {
        self.0.resize(max);
    }

    /// Returns the number of sessions.
    pub fn count(&self) -> usize {
        self.0.count()
    }

    /// Adds a session of a caller.
    ///
    /// # Errors
    /// Fails if the caller already has as many sessions as allowed, or if all are taken and none can be evicted.
    pub(crate) fn add(
        &self,
        id: &str,
        session: Session,
        identity: &Identity,
    ) -> Result<Arc<Session>, QuotaError> {
        let permit = match self.0.take_permit(identity) {
            Err(QuotaError::Whole(_)) if self.0.may_search() => {
                self.sweep();
                self.0.evict(UNUSED_FOR);
                self.0.take_permit(identity)
            }
            taken => taken,
        }?;
        let session = Arc::new(session);
        self.0.add(id.into(), session.clone(), Some(permit));
        Ok(session)
    }

    /// Returns the session with this id, if this caller opened it and still has the same rights.
    pub(crate) fn get(
        &self,
        id: &str,
        (identity, profile): (&Identity, usize),
        snapshot: &Snapshot,
    ) -> Option<Arc<Session>> {
        let session = self.0.get(id)?;
        let is_own = session.profile == profile && session.identity.is_alike(identity, snapshot);
        (is_own && !session.is_over()).then(|| {
            session.usage.touch();
            if let Some(stream) = &session.stream {
                stream.held.until.renew(&identity.principal);
            }
            session
        })
    }

    /// Ends the event streams that no longer match the configuration, so that their clients connect again. `fits`
    /// receives the regime and the profile of a stream.
    pub(crate) fn end_streams(&self, fits: impl Fn(u64, usize) -> bool) {
        let is_unfit = |session: &Session| {
            session.stream.as_ref().is_some_and(|stream| !fits(stream.regime, session.profile))
        };
        for session in self.0.those(is_unfit) {
            if let Some(stream) = &session.stream {
                stream.ends.stop();
            }
        }
    }

    /// Updates the subscriptions of clients with event streams after a change to the configuration.
    pub(crate) fn follow(&self, context: &Arc<CallContext>) {
        for session in self.0.those(Session::has_stream) {
            follow(context, &session);
        }
    }

    /// Returns all sessions with their ids.
    pub fn listed(&self) -> Vec<(Box<str>, Arc<Session>)> {
        self.0.listed()
    }

    /// Ends a session and its event stream; returns the id of the principal that opened it.
    pub fn end(&self, id: &str) -> Option<String> {
        let session = self.0.remove(id)?;
        if let Some(stream) = &session.stream {
            stream.ends.stop();
        }
        session.requests.give_up();
        Some(session.identity.id().to_owned())
    }

    pub(crate) fn remove(&self, id: &str) -> bool {
        self.0.remove(id).is_some()
    }

    /// Removes expired sessions.
    pub(crate) fn sweep(&self) {
        self.0.retain(|session| !session.is_over());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::access::{Principal, Scheme};

    fn snapshot() -> Snapshot {
        Snapshot::compile(&config::Config::default(), "1")
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
        let lookup = config::Lookup { env: &|_| None, file: &|_| Err(String::new()) };
        let rules = "mcpServers: { docs: { command: x } }\naccess: [{ deny: '*', who: { scope: guest } }]\n";
        let config = config::load(rules, "test", &lookup).unwrap().config;
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
        while !sessions.0.get("s").unwrap().is_over() {
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
        assert!(sessions.0.evict(Duration::from_mins(1)).is_empty(), "nobody has lain unused for so long");
        assert_eq!(sessions.0.evict(Duration::ZERO).len(), 2);
        assert!(sessions.0.get("used").is_some() && sessions.0.get("ann").is_some());
    }
}
