//! The capture of messages, for operators who investigate a problem. It covers all calls for some minutes, or the calls that
//! an operator makes. Captured messages stay in memory only, up to fixed limits. This module must not know how messages are
//! shown.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use engine::access::Principal;
use parking_lot::Mutex;
use store::audit::AuditEntry;

/// The maximum duration of a capture.
pub(crate) const LONGEST: Duration = Duration::from_hours(1);

/// The maximum size of a captured message, in bytes. Longer messages are truncated.
const MESSAGE: usize = 64 << 10;

/// The maximum number of messages of one call.
const MESSAGES: usize = 64;

/// The maximum number of calls whose messages are kept.
const CALLS: usize = 500;

/// The maximum size of all kept messages, in bytes.
const ALL: usize = 16 << 20;

/// The direction of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// A message that the client sent.
    FromClient,
    /// A message that was sent to the server.
    ToServer,
    /// A message that the server sent.
    FromServer,
    /// A message that was sent to the client.
    ToClient,
}

/// A captured message.
#[derive(Debug, Clone)]
pub struct CapturedMessage {
    /// The time from the arrival of the request to this message.
    pub after: Duration,
    /// The direction of the message.
    pub lane: Lane,
    /// The protocol version that is used with the client or with the server, depending on the direction.
    pub era: &'static str,
    /// The message, or its beginning.
    pub text: Bytes,
    /// The size of the whole message, in bytes.
    pub bytes: usize,
}

/// Messages that others may read while more are added.
pub type SharedMessages = Arc<Mutex<Vec<CapturedMessage>>>;

/// The facts that match a captured call to its entry in the record of calls. The number of the entry cannot be
/// used, because it is assigned later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallMark {
    /// The time when the call ended, in milliseconds since 1970.
    pub at_ms: u64,
    /// The duration of the call, in microseconds.
    pub duration_us: u64,
    /// The size of the request, in bytes.
    pub request_bytes: u64,
    /// The caller.
    pub principal: Arc<str>,
}

impl CallMark {
    pub(crate) fn of(entry: &AuditEntry) -> Self {
        Self {
            at_ms: entry.at_ms,
            duration_us: entry.duration_us,
            request_bytes: entry.request_bytes,
            principal: entry.principal.clone(),
        }
    }
}

/// The messages of one call, while it runs.
pub(super) struct MessageTape {
    messages: SharedMessages,
    started: Instant,
    client_era: &'static str,
    server_era: &'static str,
    /// True if the messages are kept after the call.
    is_kept: bool,
}

impl MessageTape {
    /// Adds a message.
    pub(super) fn add(&self, lane: Lane, text: &[u8]) {
        let era = match lane {
            Lane::FromClient | Lane::ToClient => self.client_era,
            Lane::ToServer | Lane::FromServer => self.server_era,
        };
        let mut messages = self.messages.lock();
        if messages.len() < MESSAGES {
            let (after, bytes) = (self.started.elapsed(), text.len());
            let text = Bytes::copy_from_slice(&text[..bytes.min(MESSAGE)]);
            messages.push(CapturedMessage { after, lane, era, text, bytes });
        }
    }

    /// Records the protocol version that is used with the server.
    pub(super) fn set_server_era(&mut self, era: &'static str) {
        self.server_era = era;
    }
}

/// The messages of a call that has ended.
struct KeptCall {
    mark: CallMark,
    messages: Vec<CapturedMessage>,
    bytes: usize,
}

/// The messages of the calls that have ended, the oldest first.
#[derive(Default)]
struct KeptCalls {
    calls: VecDeque<KeptCall>,
    bytes: usize,
    /// The time of the newest call whose messages were dropped to make room.
    dropped_until: Option<u64>,
}

/// The capture.
#[derive(Default)]
pub struct Capture {
    /// The end of the capture of all calls, in milliseconds since 1970; 0 if there is none.
    until_ms: AtomicU64,
    /// The number of followed principals.
    followed: AtomicUsize,
    followers: Mutex<HashMap<usize, SharedMessages>>,
    kept: Mutex<KeptCalls>,
}

/// A capture of one principal's calls; it ends when this value is dropped.
pub struct FollowedCalls<'c> {
    capture: &'c Capture,
    key: usize,
    /// The messages so far; they grow while the call runs.
    pub messages: SharedMessages,
}

impl Drop for FollowedCalls<'_> {
    fn drop(&mut self) {
        self.capture.followers.lock().remove(&self.key);
        self.capture.followed.fetch_sub(1, Ordering::Relaxed);
    }
}

fn key(principal: &Arc<Principal>) -> usize {
    Arc::as_ptr(principal) as usize
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

impl Capture {
    /// Returns true if messages of some calls are captured. Every request calls this.
    pub(crate) fn is_on(&self) -> bool {
        self.until_ms.load(Ordering::Relaxed) != 0 || self.followed.load(Ordering::Relaxed) != 0
    }

    /// Captures the messages of all calls for this long, at most [`LONGEST`]; ends the capture if the time is zero.
    pub fn run_for(&self, time: Duration) {
        let millis = u64::try_from(time.min(LONGEST).as_millis()).unwrap_or(0);
        self.until_ms.store(if millis == 0 { 0 } else { now_ms() + millis }, Ordering::Relaxed);
    }

    /// Returns the end of the capture of all calls, in milliseconds since 1970.
    pub fn until(&self) -> Option<u64> {
        let until = self.until_ms.load(Ordering::Relaxed);
        if until != 0 && until <= now_ms() {
            // The capture has ended, so requests need not read the clock.
            let _ = self.until_ms.compare_exchange(until, 0, Ordering::Relaxed, Ordering::Relaxed);
            return None;
        }
        (until != 0).then_some(until)
    }

    /// Captures the messages of calls with exactly this principal. Principals are compared by their pointers, so
    /// two calls of the same operator are not mixed up.
    pub fn follow(&self, principal: &Arc<Principal>) -> FollowedCalls<'_> {
        let (key, messages) = (key(principal), SharedMessages::default());
        self.followers.lock().insert(key, messages.clone());
        self.followed.fetch_add(1, Ordering::Relaxed);
        FollowedCalls { capture: self, key, messages }
    }

    /// Returns a tape for a call of this principal, if its messages are captured.
    pub(super) fn tape(
        &self,
        principal: &Arc<Principal>,
        started: Instant,
        (client_era, server_era): (&'static str, &'static str),
    ) -> Option<MessageTape> {
        if !self.is_on() {
            return None;
        }
        let followed = self.followers.lock().get(&key(principal)).cloned();
        let is_kept = self.until().is_some();
        let messages = match followed {
            Some(messages) => messages,
            None if is_kept => SharedMessages::default(),
            None => return None,
        };
        Some(MessageTape { messages, started, client_era, server_era, is_kept })
    }

    /// Keeps the messages of a call that has ended.
    pub(super) fn keep(&self, tape: &MessageTape, mark: CallMark) {
        if !tape.is_kept {
            return;
        }
        let messages = tape.messages.lock().clone();
        let bytes = messages.iter().map(|message| message.text.len()).sum();
        let mut kept = self.kept.lock();
        kept.bytes += bytes;
        kept.calls.push_back(KeptCall { mark, messages, bytes });
        while (kept.calls.len() > CALLS || kept.bytes > ALL)
            && let Some(oldest) = kept.calls.pop_front()
        {
            kept.bytes -= oldest.bytes;
            kept.dropped_until = Some(oldest.mark.at_ms);
        }
    }

    /// Returns the messages of a call that has ended.
    pub fn messages(&self, mark: &CallMark) -> Option<Vec<CapturedMessage>> {
        let kept = self.kept.lock();
        kept.calls.iter().find(|call| call.mark == *mark).map(|call| call.messages.clone())
    }

    /// Returns the calls whose messages are kept, the oldest first.
    pub fn marks(&self) -> Vec<CallMark> {
        self.kept.lock().calls.iter().map(|call| call.mark.clone()).collect()
    }

    /// Returns true if the messages of a call may have been dropped to make room.
    pub fn may_be_dropped(&self, mark: &CallMark) -> bool {
        self.kept.lock().dropped_until.is_some_and(|until| mark.at_ms <= until)
    }
}

#[cfg(test)]
mod tests {
    use engine::access::Scheme;

    use super::*;

    fn principal() -> Arc<Principal> {
        Arc::new(Principal::new("admin", Scheme::Anyone))
    }

    fn mark(at_ms: u64) -> CallMark {
        CallMark { at_ms, duration_us: 1, request_bytes: 2, principal: "admin".into() }
    }

    #[test]
    fn nothing_is_captured_unless_somebody_wants_it() {
        let (capture, who) = (Capture::default(), principal());
        assert!(!capture.is_on() && capture.tape(&who, Instant::now(), ("a", "b")).is_none());
        let following = capture.follow(&who);
        let tape = capture.tape(&who, Instant::now(), ("a", "b")).unwrap();
        assert!(
            capture.tape(&principal(), Instant::now(), ("a", "b")).is_none(),
            "an equal principal is another caller"
        );
        tape.add(Lane::FromClient, b"x");
        assert_eq!(following.messages.lock().len(), 1);
        capture.keep(&tape, mark(1));
        assert!(capture.messages(&mark(1)).is_none(), "followed calls are not kept");
        drop(following);
        assert!(!capture.is_on());
    }

    #[test]
    fn kept_messages_have_caps_and_the_oldest_make_room() {
        let (capture, who) = (Capture::default(), principal());
        capture.run_for(Duration::from_mins(1));
        for at in 0..300 {
            let tape = capture.tape(&who, Instant::now(), ("a", "b")).unwrap();
            tape.add(Lane::ToServer, &vec![b'x'; MESSAGE + 1]);
            capture.keep(&tape, mark(at));
        }
        let newest = capture.messages(&mark(299)).unwrap();
        assert_eq!((newest[0].text.len(), newest[0].bytes, newest[0].era), (MESSAGE, MESSAGE + 1, "b"));
        assert!(capture.messages(&mark(0)).is_none() && capture.may_be_dropped(&mark(0)));
        assert!(!capture.may_be_dropped(&mark(299)));
        assert!(capture.kept.lock().bytes <= ALL);
        capture.run_for(Duration::ZERO);
        assert!(!capture.is_on() && capture.until().is_none());
    }
}
