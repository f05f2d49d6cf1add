//! The calls that a server has not answered yet, and their owners. A log message does not name its call, so it may
//! concern any of these calls, including abandoned ones. This module must not know who an owner is.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use proto::mcp::Method;
use proto::rpc::{Frame, FrameKind};

use super::numbered::Numbered;

/// The maximum number of abandoned calls that are tracked for each link. While a link has more, none of its
/// messages can be assigned to an owner.
const MOST_GIVEN_UP: usize = 1024;

/// A party that must not see the messages of other parties: a session, or one call of a client without a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Owner(u64);

impl Owner {
    /// Creates an owner that is unique in this process.
    pub fn unique() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// The owners of a set of calls: none, one, or several.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Owners {
    #[default]
    Nobody,
    One(Owner),
    Several,
}

impl Owners {
    fn add(&mut self, owner: Owner) {
        *self = match *self {
            Self::Nobody => Self::One(owner),
            Self::One(known) if known == owner => return,
            Self::One(_) | Self::Several => Self::Several,
        };
    }
}

#[derive(Debug, Default)]
struct OpenCallsState {
    waited_for: Numbered<Owner>,
    /// The abandoned calls by key, each with the time until which the server may still work on the call.
    given_up: Numbered<(Owner, Instant)>,
    /// The time until which there may be abandoned calls that are not in the table.
    crowded: Option<Instant>,
    /// The owners that have used the link so far: none, one, or several.
    ever: Owners,
}

impl OpenCallsState {
    fn now(&mut self) -> Owners {
        let now = Instant::now();
        self.given_up.retain(|_, (_, until)| *until > now);
        if self.crowded.is_some_and(|until| until > now) {
            return Owners::Several;
        }
        let mut owners = Owners::Nobody;
        let given_up = self.given_up.values().map(|(owner, _)| owner);
        self.waited_for.values().chain(given_up).for_each(|owner| owners.add(*owner));
        owners
    }
}

/// The calls of one link.
#[derive(Debug)]
pub struct OpenCalls {
    state: Mutex<OpenCallsState>,
    forget: Duration,
    /// True once the server has asked for its client's roots.
    asked_roots: AtomicBool,
}

impl OpenCalls {
    /// Creates a record without calls. An abandoned call is forgotten after the time `forget`.
    pub fn new(forget: Duration) -> Arc<Self> {
        Arc::new(Self { state: Mutex::default(), forget, asked_roots: AtomicBool::new(false) })
    }

    /// Notes a message that has arrived on the link. Call this before the message is delivered, and before any later message
    /// is.
    pub fn note_arrival(&self, frame: &Frame) {
        if frame.kind() == FrameKind::Request && frame.method() == Method::RootsList.name() {
            self.asked_roots.store(true, Ordering::Release);
        }
    }

    /// Returns true once the server has asked for its client's roots on this link. The server keeps the roots of the client that
    /// answers, so the link must serve no other client.
    pub fn has_asked_roots(&self) -> bool {
        self.asked_roots.load(Ordering::Acquire)
    }

    /// Records that an owner uses the link.
    pub fn note_user(&self, owner: Owner) {
        self.state.lock().ever.add(owner);
    }

    /// Adds a call under its key. Call [`OpenCall::over`] on the returned value once the call is answered. Dropping
    /// the value earlier abandons the call.
    pub fn begin(self: &Arc<Self>, key: u64, owner: Owner) -> OpenCall {
        let mut state = self.state.lock();
        state.ever.add(owner);
        state.waited_for.insert(key, owner);
        drop(state);
        OpenCall { calls: self.clone(), key }
    }

    /// Removes a call that the server has answered or never received.
    pub fn answered(&self, key: u64) {
        let mut state = self.state.lock();
        if state.waited_for.remove(&key).is_none() {
            state.given_up.remove(&key);
        }
    }

    fn give_up(&self, key: u64) {
        let mut state = self.state.lock();
        let Some(owner) = state.waited_for.remove(&key) else { return };
        let until = Instant::now() + self.forget;
        if state.given_up.len() >= MOST_GIVEN_UP {
            state.now();
        }
        if state.given_up.len() >= MOST_GIVEN_UP {
            state.crowded = Some(until);
        } else {
            state.given_up.insert(key, (owner, until));
        }
    }

    /// Returns the owner of a message that names no call: the owner of all open calls or, if there are none, the only
    /// owner that has ever used the link. Returns `None` if the message may concern several owners.
    pub fn sole_owner(&self) -> Option<Owner> {
        let mut state = self.state.lock();
        match state.now() {
            Owners::One(owner) => Some(owner),
            Owners::Several => None,
            Owners::Nobody => match state.ever {
                Owners::One(owner) => Some(owner),
                Owners::Nobody | Owners::Several => None,
            },
        }
    }

    /// Returns the only owner that has ever used the link, if there is only one.
    pub fn only_user(&self) -> Option<Owner> {
        match self.state.lock().ever {
            Owners::One(owner) => Some(owner),
            Owners::Nobody | Owners::Several => None,
        }
    }

    /// Returns true if any other owner has an open call.
    pub fn has_others(&self, owner: Owner) -> bool {
        match self.state.lock().now() {
            Owners::Nobody => false,
            Owners::One(one) => one != owner,
            Owners::Several => true,
        }
    }
}

/// An open call. If this value is dropped before the answer, the call is abandoned.
#[derive(Debug)]
pub struct OpenCall {
    calls: Arc<OpenCalls>,
    key: u64,
}

impl OpenCall {
    /// Ends the call: the server has answered it, or never received it.
    pub fn over(&self) {
        self.calls.answered(self.key);
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        self.calls.give_up(self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_of_whoever_has_all_open_calls() {
        let calls = OpenCalls::new(Duration::from_mins(10));
        let (a, b) = (Owner::unique(), Owner::unique());
        assert_eq!(calls.sole_owner(), None);
        let (first, second) = (calls.begin(1, a), calls.begin(2, a));
        assert_eq!((calls.sole_owner(), calls.has_others(a), calls.has_others(b)), (Some(a), false, true));
        let other = calls.begin(3, b);
        assert_eq!((calls.sole_owner(), calls.has_others(a)), (None, true));
        // The server may still log about the abandoned call.
        drop(other);
        assert_eq!(calls.sole_owner(), None);
        calls.answered(3);
        assert_eq!(calls.sole_owner(), Some(a));
        first.over();
        second.over();
        assert_eq!((calls.sole_owner(), calls.only_user()), (None, None), "two have used it");
    }

    #[test]
    fn who_alone_ever_used_a_link_hears_what_is_said_between_calls() {
        let calls = OpenCalls::new(Duration::from_mins(10));
        let a = Owner::unique();
        calls.note_user(a);
        assert_eq!(calls.sole_owner(), Some(a));
        calls.begin(1, a).over();
        assert_eq!((calls.sole_owner(), calls.only_user()), (Some(a), Some(a)));
        calls.note_user(Owner::unique());
        assert_eq!((calls.sole_owner(), calls.only_user()), (None, None));
    }

    #[test]
    fn given_up_calls_are_forgotten_in_time_and_beyond_their_number_nobody_is_told() {
        let calls = OpenCalls::new(Duration::ZERO);
        let (a, b) = (Owner::unique(), Owner::unique());
        drop(calls.begin(1, a));
        let open = calls.begin(2, b);
        assert_eq!(calls.sole_owner(), Some(b));
        drop(open);
        let calls = OpenCalls::new(Duration::from_mins(10));
        for key in 0..=MOST_GIVEN_UP as u64 {
            drop(calls.begin(key, a));
        }
        assert_eq!(calls.sole_owner(), None);
        assert_eq!(calls.state.lock().given_up.len(), MOST_GIVEN_UP);
    }
}
