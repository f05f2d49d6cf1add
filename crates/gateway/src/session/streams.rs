//! The event streams of one client session: numbered events, replay after a lost connection, and keep-alive events.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use bytes::Bytes;
use cluster::peers::NUMBER_BITS;
use config::Limits;
use engine::session::{EventId, EventLog};
use parking_lot::Mutex;
use proto::codec::sse::{KEEP_ALIVE, encode_event};
use proto::rpc::Id;
use tokio::time::{Instant, timeout_at};
use transport::budget::{self, KeptCount, KeptPart};
use transport::net::{Body, BodySender};

use self::copies::CopyState;
use super::seal::random_number;

pub(crate) mod copies;
mod resuming;

/// The number of the standing stream (GET), which carries the messages that belong to no request.
pub(crate) const STANDING: u64 = 0;

/// The time without a message after which a request is answered with an event stream, so keep-alive events can be
/// sent.
pub(crate) const SILENCE: Duration = Duration::from_secs(15);

/// The number of messages that may wait for a client that has no standing stream yet.
const MAX_PENDING: usize = 64;

/// The number of events that a client may be behind before its connection is closed. The client can then request
/// the events again.
const BEHIND: usize = 256;

/// The message for a client whose answer was lost.
pub(crate) const LOST: &str = "the answer was lost with the gateway that received it, which has ended; the request may have been executed";

/// The reason why a stream cannot be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum StreamFault {
    #[error("this session has {0} event streams open; close one of them")]
    TooMany(usize),
    #[error("the events after this Last-Event-ID are no longer kept; send the request again")]
    Gap,
    #[error(
        "the events of this stream are in the cluster's store, which cannot be read now; resume the stream again in a moment"
    )]
    Unreadable,
    #[error("{LOST}")]
    Lost,
}

struct SessionStreamState {
    next: u64,
    live: Option<BodySender>,
    done: bool,
}

struct Table {
    epoch: u32,
    log: Box<EventLog>,
    /// The size of the log in bytes. It counts toward the total size of the events of all sessions.
    kept: KeptCount,
    streams: HashMap<u64, SessionStreamState>,
    pending: VecDeque<Bytes>,
    next_stream: u64,
    /// The state of copying the events to the cluster's store; `None` if they are not copied.
    copies: Option<Box<CopyState>>,
}

/// All streams of a session.
pub struct Streams {
    max: usize,
    table: Mutex<Table>,
}

/// Returns the number of the process that sent an event, if processes have numbers.
pub(crate) fn sending_process(event: EventId) -> u32 {
    event.epoch & ((1 << NUMBER_BITS) - 1)
}

impl Streams {
    /// Creates the streams of a session. The ids of their events contain the number `process`; it is 0 if clients resume streams at no
    /// other process.
    pub(crate) fn new(limits: &Limits, process: u32) -> Self {
        Self::counted(limits, process, budget::of_process().kept())
    }

    /// Creates the streams of a session, and counts their kept events in `kept`.
    pub(super) fn counted(limits: &Limits, process: u32, kept: &'static KeptPart) -> Self {
        // Without randomness, a stream from an earlier process may look like one whose events are no longer kept.
        let random = random_number().map_or(0, |number| u32::try_from(number >> 32).unwrap_or(0));
        let epoch = if process == 0 { random } else { random << NUMBER_BITS | process };
        let table = Table {
            epoch,
            log: Box::new(EventLog::new(limits.replay_events, limits.replay_bytes)),
            kept: kept.count(),
            streams: HashMap::new(),
            pending: VecDeque::new(),
            next_stream: STANDING + 1,
            copies: None,
        };
        Self { max: limits.streams_per_session, table: Mutex::new(table) }
    }

    /// Opens a stream for the messages of these requests. If `primed` is true, an event without data is sent first, so the
    /// client can request the rest even if the connection breaks before the first message.
    pub(crate) fn open(&self, primed: bool, requests: &[Id]) -> Result<(u64, Body), StreamFault> {
        let mut table = self.table.lock();
        table.make_room(self.max)?;
        let id = table.next_stream;
        table.next_stream += 1;
        table.note_requests(id, requests);
        let body = table.attach(id, BEHIND);
        if primed {
            table.prime(id, None);
        }
        Ok((id, body))
    }

    /// Opens the standing stream. An older standing stream ends: each message is sent on one stream only.
    pub(crate) fn open_standing(&self, primed: bool) -> Result<Body, StreamFault> {
        let mut table = self.table.lock();
        // A stream that replaces another one needs no additional room.
        if !table.streams.contains_key(&STANDING) {
            table.make_room(self.max)?;
        }
        let body = table.attach(STANDING, BEHIND);
        if primed {
            table.prime(STANDING, None);
        }
        table.send_pending();
        Ok(body)
    }

    /// Returns true if a standing stream is open.
    pub fn has_standing(&self) -> bool {
        self.table.lock().is_live(STANDING)
    }

    /// Returns true if a standing stream has ever been open.
    pub(crate) fn had_standing(&self) -> bool {
        self.table.lock().streams.contains_key(&STANDING)
    }

    /// Returns true if the event has been sent since the session was opened or restored in this process.
    pub(crate) fn has_sent(&self, event: EventId) -> bool {
        self.table.lock().epoch == event.epoch
    }

    /// Sends a message on a stream. The message is kept for resumption, whether or not the client is connected.
    pub(crate) fn push(&self, stream: u64, message: Bytes) {
        self.table.lock().push(stream, message);
    }

    /// Sends a message on a stream once its reader has room for it, or at `deadline`. If the stream has no reader, the
    /// message is kept for resumption immediately.
    pub(crate) async fn push_when_read(&self, stream: u64, message: Bytes, deadline: Instant) {
        self.room(stream, deadline).await;
        self.push(stream, message);
    }

    /// Sends an answer on a stream once its reader has room for it, or at `deadline`. The answer is kept regardless of
    /// the session's other messages.
    pub(crate) async fn push_answer(&self, stream: u64, answer: Bytes, deadline: Instant) {
        self.room(stream, deadline).await;
        self.table.lock().push_answer(stream, answer);
    }

    async fn room(&self, stream: u64, deadline: Instant) {
        loop {
            let reader = self.table.lock().reader(stream).filter(|reader| !reader.has_room());
            let Some(reader) = reader else { return };
            if timeout_at(deadline, reader.room()).await.is_err() {
                return;
            }
        }
    }

    /// Sends a message on the standing stream. If the stream has no reader, a message with `keep` waits for the
    /// next reader, unless an identical message is already waiting. A message without `keep` is then kept only for
    /// resumption, and only if a standing stream has ever been open.
    pub(crate) fn push_standing(&self, message: Bytes, keep: bool) {
        let mut table = self.table.lock();
        if table.is_live(STANDING) || (!keep && table.streams.contains_key(&STANDING)) {
            table.push(STANDING, message);
        } else if keep && !table.pending.contains(&message) {
            if table.pending.len() == MAX_PENDING {
                table.pending.pop_front();
            }
            table.pending.push_back(message);
        }
    }

    /// Closes a stream's connection for now, and asks the client to reconnect after `retry` milliseconds.
    pub(crate) fn pause(&self, stream: u64, retry: Option<u64>) {
        let mut table = self.table.lock();
        table.prime(stream, retry);
        if let Some(stream) = table.streams.get_mut(&stream) {
            stream.live = None;
        }
    }

    /// Ends a stream; its events can still be resumed.
    pub(crate) fn finish(&self, stream: u64) {
        let mut table = self.table.lock();
        if let Some(stream) = table.streams.get_mut(&stream) {
            stream.done = true;
            stream.live = None;
        }
        table.note_new();
    }

    /// Returns the sequence number of the oldest event that may be evicted. See [`EventLog::oldest`].
    pub(super) fn oldest(&self, pinned_from: u64) -> Option<u64> {
        self.table.lock().log.oldest(pinned_from)
    }

    /// Evicts the oldest event that may be evicted.
    pub(super) fn drop_oldest(&self, pinned_from: u64) {
        let mut table = self.table.lock();
        table.log.drop_oldest(pinned_from);
        table.count();
    }

    /// Ends all streams.
    pub(crate) fn close(&self) {
        self.table.lock().streams.clear();
    }

    /// Sends keep-alive events. Returns `true` if any stream is open.
    pub(crate) fn keep_alive(&self) -> bool {
        let mut table = self.table.lock();
        let mut alive = false;
        for stream in table.streams.values_mut() {
            let Some(live) = &stream.live else { continue };
            if live.is_gone() {
                stream.live = None;
                continue;
            }
            alive = true;
            // If there is no room, other events are already in transit, so no keep-alive is needed.
            let _ = live.try_send(Bytes::from_static(KEEP_ALIVE));
        }
        alive
    }
}

impl Table {
    /// Removes ended streams without kept events; fails if too many streams are open.
    fn make_room(&mut self, max: usize) -> Result<(), StreamFault> {
        if self.streams.len() < max {
            return Ok(());
        }
        let gone = |s: &SessionStreamState| s.live.as_ref().is_none_or(BodySender::is_gone);
        let open = self.streams.values().filter(|s| !s.done && !gone(s)).count();
        if open >= max {
            return Err(StreamFault::TooMany(max));
        }
        let (log, epoch) = (&self.log, self.epoch);
        self.streams
            .retain(|id, s| !s.done || log.after(EventId { epoch, stream: *id, event: 0 }).next().is_some());
        Ok(())
    }

    /// Gives a stream a new reader, which may be behind by this number of events.
    fn attach(&mut self, id: u64, behind: usize) -> Body {
        let (sender, body) = Body::channel(behind);
        let stream =
            self.streams.entry(id).or_insert(SessionStreamState { next: 0, live: None, done: false });
        stream.live = Some(sender);
        body
    }

    fn reader(&self, id: u64) -> Option<BodySender> {
        self.streams.get(&id)?.live.clone()
    }

    fn is_live(&self, id: u64) -> bool {
        self.streams.get(&id).and_then(|s| s.live.as_ref()).is_some_and(|live| !live.is_gone())
    }

    /// Sends waiting messages on the standing stream.
    fn send_pending(&mut self) {
        for message in std::mem::take(&mut self.pending) {
            self.push(STANDING, message);
        }
    }

    fn prime(&mut self, id: u64, retry: Option<u64>) {
        let epoch = self.epoch;
        let Some(stream) = self.streams.get_mut(&id) else { return };
        let event = EventId { epoch, stream: id, event: stream.next };
        stream.next += 1;
        let mut text = Vec::with_capacity(32);
        encode_event(&mut text, None, Some(&event.to_string()), retry, b"");
        stream.send(Bytes::from(text));
        let order = self.kept.part().next_order();
        self.log.push(event, Bytes::new(), order);
        self.note_new();
    }

    fn push(&mut self, id: u64, message: Bytes) {
        if let Some(event) = self.write(id, &message) {
            let order = self.kept.part().next_order();
            self.log.push(event, message, order);
            self.count();
            self.note_new();
        }
    }

    fn push_answer(&mut self, id: u64, answer: Bytes) {
        if let Some(event) = self.write(id, &answer) {
            let order = self.kept.part().next_order();
            self.log.push_answer(event, answer, order);
            self.count();
            self.note_new();
        }
    }

    fn count(&mut self) {
        let bytes = self.log.bytes();
        self.kept.set(bytes);
    }

    /// Writes a message to the log under the stream's next number, and sends it to the reader if there is one.
    fn write(&mut self, id: u64, message: &Bytes) -> Option<EventId> {
        let epoch = self.epoch;
        let stream = self.streams.get_mut(&id)?;
        let event = EventId { epoch, stream: id, event: stream.next };
        stream.next += 1;
        stream.write(event, message);
        Some(event)
    }
}

impl SessionStreamState {
    fn write(&mut self, id: EventId, data: &Bytes) {
        // An event without data only primes the stream, and the stream is primed already.
        if data.is_empty() {
            return;
        }
        let mut text = Vec::with_capacity(data.len() + 48);
        encode_event(&mut text, Some("message"), Some(&id.to_string()), None, data);
        self.send(Bytes::from(text));
    }

    fn send(&mut self, text: Bytes) {
        if self.live.as_ref().is_some_and(|live| live.try_send(text).is_err()) {
            self.live = None;
        }
    }
}

/// Returns a message as an event without an id, because streams of this era cannot be resumed.
pub(crate) fn event(message: &[u8]) -> Bytes {
    let mut text = Vec::with_capacity(message.len() + 24);
    encode_event(&mut text, Some("message"), None, None, message);
    Bytes::from(text)
}

#[cfg(test)]
mod tests;
