//! The event streams of one client session: numbered events, replay after a lost connection, keep-alive.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use bytes::Bytes;
use engine::config::Limits;
use engine::session::{EventId, EventLog};
use parking_lot::Mutex;
use proto::codec::sse::{KEEP_ALIVE, encode_event};
use transport::net::{Body, BodySender};

/// The stream on which a server speaks unasked (GET).
pub(crate) const STANDING: u64 = 0;

/// After how long without a word a client gets an event stream with signs of life, rather than silence.
pub(crate) const SILENCE: Duration = Duration::from_secs(15);

/// The number of messages that wait for a client that has no standing stream yet.
const MAX_PENDING: usize = 64;

/// The number of events that a client may be behind before its connection is given up; it can ask for them again.
const BEHIND: usize = 256;

/// The reason why a stream cannot be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum StreamFault {
    #[error("this session has {0} event streams open; close one of them")]
    TooMany(usize),
    #[error("the events behind this Last-Event-ID are no longer kept; send the request again")]
    Gap,
}

struct Stream {
    next: u64,
    live: Option<BodySender>,
    done: bool,
}

struct Table {
    log: EventLog,
    streams: HashMap<u64, Stream>,
    pending: VecDeque<Bytes>,
    next_stream: u64,
}

/// All streams of a session.
pub(crate) struct Streams {
    max: usize,
    table: Mutex<Table>,
}

impl Streams {
    pub(crate) fn new(limits: &Limits) -> Self {
        let table = Table {
            log: EventLog::new(limits.replay_events, limits.replay_bytes),
            streams: HashMap::new(),
            pending: VecDeque::new(),
            next_stream: STANDING + 1,
        };
        Self { max: limits.streams_per_session, table: Mutex::new(table) }
    }

    /// Opens a stream for one request's messages. `primed` sends an event without data first, so that the client can
    /// ask for the rest whenever it loses the connection.
    pub(crate) fn open(&self, primed: bool) -> Result<(u64, Body), StreamFault> {
        let mut table = self.table.lock();
        table.make_room(self.max)?;
        let id = table.next_stream;
        table.next_stream += 1;
        let body = table.attach(id);
        if primed {
            table.prime(id, None);
        }
        Ok((id, body))
    }

    /// Opens the standing stream. An older one ends: each message goes on one stream only.
    pub(crate) fn open_standing(&self, primed: bool) -> Result<Body, StreamFault> {
        let mut table = self.table.lock();
        // One in the place of another needs no more room.
        if !table.streams.contains_key(&STANDING) {
            table.make_room(self.max)?;
        }
        let body = table.attach(STANDING);
        if primed {
            table.prime(STANDING, None);
        }
        table.send_pending();
        Ok(body)
    }

    /// Opens a stream again behind the last event that the client has seen.
    pub(crate) fn resume(&self, last: EventId) -> Result<Body, StreamFault> {
        let mut table = self.table.lock();
        let next = table.streams.get(&last.stream).map(|stream| stream.next).ok_or(StreamFault::Gap)?;
        if table.log.has_gap(last, next) {
            return Err(StreamFault::Gap);
        }
        let missed: Vec<(EventId, Bytes)> = table.log.after(last).collect();
        let body = table.attach(last.stream);
        if let Some(stream) = table.streams.get_mut(&last.stream) {
            for (id, data) in missed {
                stream.write(id, &data);
            }
            if stream.done {
                stream.live = None;
            }
        }
        if last.stream == STANDING {
            table.send_pending();
        }
        Ok(body)
    }

    /// Sends a message on a stream; it is kept for a replay whether or not the client is there.
    pub(crate) fn push(&self, stream: u64, message: Bytes) {
        self.table.lock().push(stream, message);
    }

    /// Sends a message on the standing stream. While nobody reads it, a message that is worth waiting for (`keep`) waits
    /// for the next reader, and any other one is kept for a replay if the stream was ever open.
    pub(crate) fn push_standing(&self, message: Bytes, keep: bool) {
        let mut table = self.table.lock();
        if table.is_live(STANDING) || (!keep && table.streams.contains_key(&STANDING)) {
            table.push(STANDING, message);
        } else if keep {
            if table.pending.len() == MAX_PENDING {
                table.pending.pop_front();
            }
            table.pending.push_back(message);
        }
    }

    /// Closes a stream's connection for now: the client shall ask again after so many milliseconds.
    pub(crate) fn pause(&self, stream: u64, retry: Option<u64>) {
        let mut table = self.table.lock();
        table.prime(stream, retry);
        if let Some(stream) = table.streams.get_mut(&stream) {
            stream.live = None;
        }
    }

    /// Ends a stream; what it carried can still be asked for.
    pub(crate) fn finish(&self, stream: u64) {
        let mut table = self.table.lock();
        if let Some(stream) = table.streams.get_mut(&stream) {
            stream.done = true;
            stream.live = None;
        }
    }

    /// Ends all streams.
    pub(crate) fn close(&self) {
        self.table.lock().streams.clear();
    }

    /// Shows clients, and what stands between, that their streams are alive. `true` when any is.
    pub(crate) fn keep_alive(&self) -> bool {
        let mut table = self.table.lock();
        let mut alive = false;
        for stream in table.streams.values_mut() {
            let Some(live) = &stream.live else { continue };
            if live.is_gone() || live.try_send(Bytes::from_static(KEEP_ALIVE)).is_err() {
                stream.live = None;
            } else {
                alive = true;
            }
        }
        alive
    }
}

impl Table {
    /// Forgets ended streams of which nothing is kept, and refuses when too many are open.
    fn make_room(&mut self, max: usize) -> Result<(), StreamFault> {
        if self.streams.len() < max {
            return Ok(());
        }
        let gone = |s: &Stream| s.live.as_ref().is_none_or(BodySender::is_gone);
        let open = self.streams.values().filter(|s| !s.done && !gone(s)).count();
        if open >= max {
            return Err(StreamFault::TooMany(max));
        }
        let log = &self.log;
        self.streams.retain(|id, s| !s.done || log.after(EventId { stream: *id, event: 0 }).next().is_some());
        Ok(())
    }

    fn attach(&mut self, id: u64) -> Body {
        let (sender, body) = Body::channel(BEHIND);
        let stream = self.streams.entry(id).or_insert(Stream { next: 0, live: None, done: false });
        stream.live = Some(sender);
        body
    }

    fn is_live(&self, id: u64) -> bool {
        self.streams.get(&id).and_then(|s| s.live.as_ref()).is_some_and(|live| !live.is_gone())
    }

    /// Sends on the standing stream what waits for a reader.
    fn send_pending(&mut self) {
        for message in std::mem::take(&mut self.pending) {
            self.push(STANDING, message);
        }
    }

    fn prime(&mut self, id: u64, retry: Option<u64>) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        let event = EventId { stream: id, event: stream.next };
        stream.next += 1;
        let mut text = Vec::with_capacity(32);
        encode_event(&mut text, None, Some(&event.to_string()), retry, b"");
        stream.send(Bytes::from(text));
        self.log.push(event, Bytes::new());
    }

    fn push(&mut self, id: u64, message: Bytes) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        let event = EventId { stream: id, event: stream.next };
        stream.next += 1;
        stream.write(event, &message);
        self.log.push(event, message);
    }
}

impl Stream {
    fn write(&mut self, id: EventId, data: &Bytes) {
        // An event without data only primes the stream, and that has been done.
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

/// A message as an event without an id: streams of this era cannot be resumed.
pub(crate) fn event(message: &[u8]) -> Bytes {
    let mut text = Vec::with_capacity(message.len() + 24);
    encode_event(&mut text, Some("message"), None, None, message);
    Bytes::from(text)
}
