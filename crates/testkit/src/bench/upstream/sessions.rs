//! The open legacy sessions, and the streams that end with them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// The largest number of open sessions; further ones are refused.
const MOST_SESSIONS: usize = 100_000;
/// The largest number of streams of one session.
const MOST_STREAMS: usize = 8;

/// All open sessions by number.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    open: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    last: u64,
    sessions: HashMap<u64, Arc<Session>>,
}

/// One session; it only stores the streams that wait for its end.
#[derive(Debug, Default)]
pub(super) struct Session {
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    ended: bool,
    wakers: Vec<Waker>,
}

impl Sessions {
    /// Opens a session and returns its ID; `None` if too many sessions are open.
    pub(super) fn open(&self) -> Option<String> {
        let mut table = lock(&self.open);
        if table.sessions.len() >= MOST_SESSIONS {
            return None;
        }
        table.last += 1;
        let number = table.last;
        table.sessions.insert(number, Arc::default());
        Some(format!("{number:016x}"))
    }

    /// Returns true if a session with this ID is open.
    pub(super) fn has(&self, id: &[u8]) -> bool {
        number(id).is_some_and(|number| lock(&self.open).sessions.contains_key(&number))
    }

    /// The open session with this ID.
    pub(super) fn get(&self, id: &[u8]) -> Option<Arc<Session>> {
        lock(&self.open).sessions.get(&number(id)?).cloned()
    }

    /// Ends a session and its streams; returns false if there is no such session.
    pub(super) fn end(&self, id: &[u8]) -> bool {
        let Some(session) = number(id).and_then(|number| lock(&self.open).sessions.remove(&number)) else {
            return false;
        };
        let wakers = {
            let mut waiting = lock(&session.waiting);
            waiting.ended = true;
            std::mem::take(&mut waiting.wakers)
        };
        wakers.into_iter().for_each(Waker::wake);
        true
    }
}

impl Session {
    /// Ready when the session has ended, or if too many streams already wait for its end.
    pub(super) fn poll_end(&self, context: &mut Context<'_>) -> Poll<()> {
        let mut waiting = lock(&self.waiting);
        if waiting.ended {
            return Poll::Ready(());
        }
        if !waiting.wakers.iter().any(|waker| waker.will_wake(context.waker())) {
            if waiting.wakers.len() >= MOST_STREAMS {
                return Poll::Ready(());
            }
            waiting.wakers.push(context.waker().clone());
        }
        Poll::Pending
    }
}

fn number(id: &[u8]) -> Option<u64> {
    u64::from_str_radix(std::str::from_utf8(id).ok()?, 16).ok()
}

/// Locks a mutex, even a poisoned one: a thread that panics while it holds the lock leaves no incomplete change.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::Sessions;
    use std::task::{Context, Poll, Waker};

    #[test]
    fn a_session_lives_until_it_is_ended() {
        let sessions = Sessions::default();
        let (first, second) = (sessions.open().unwrap(), sessions.open().unwrap());
        assert_ne!(first, second);
        assert!(sessions.has(first.as_bytes()) && !sessions.has(b"ff") && !sessions.has(b"x"));
        let session = sessions.get(first.as_bytes()).unwrap();
        let mut context = Context::from_waker(Waker::noop());
        assert_eq!(session.poll_end(&mut context), Poll::Pending);
        assert!(sessions.end(first.as_bytes()));
        assert_eq!(session.poll_end(&mut context), Poll::Ready(()));
        assert!(!sessions.end(first.as_bytes()) && sessions.has(second.as_bytes()));
    }
}
