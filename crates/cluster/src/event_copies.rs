//! Copies of clients' events in the store: the task that writes them, and the function that reads the events of a replica that has
//! ended. No call waits for either. This module must not know what an event contains.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use store::sessions::SessionKey;
use tokio::sync::{Notify, Semaphore};
use tokio::time::{sleep, timeout};

use crate::cluster::{Cluster, Membership, WRITE};
use crate::copied_streams::CopiedStreams;
use crate::event_chunks::{self, StreamCopy, StreamKey};
use crate::event_outbox::{EventOutbox, EventSource, SessionEvents};
use crate::resp::StoreCommand;
use crate::valkey::StoreError;

/// The time between two writes: events in between are written together.
const PAUSE: Duration = Duration::from_millis(20);

/// The time after a failure until the next attempt.
const AGAIN: Duration = Duration::from_millis(500);

/// The maximum number of streams that are read at the same time. Their events are in memory together.
const READS: usize = 8;

/// The number of streams that one command deletes.
const DELETED_AT_ONCE: usize = 1000;

/// The state of a replica that copies events.
pub(crate) struct EventCopies {
    outbox: EventOutbox,
    /// Notified when a session waits in the outbox.
    waiting: Notify,
    streams: Mutex<CopiedStreams>,
    /// One batch is written at a time, so a replica that ends waits for the last one.
    turn: Semaphore,
    reads: Semaphore,
    figures: [AtomicU64; 3],
}

/// The figures of a replica that copies events, since its start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EventFigures {
    /// The events that were copied to the store.
    pub copied: u64,
    /// The events that were not copied, because the store was slow, away or full, or because they are too large.
    pub lost: u64,
    /// The streams of other replicas that were read from the store, and continued here.
    pub resumed: u64,
    /// The streams that the store keeps for this replica.
    pub streams: u64,
    /// The size of these streams in the store, in bytes.
    pub bytes: u64,
}

/// A figure in [`EventCopies::figures`].
#[derive(Clone, Copy)]
enum Figure {
    Copied,
    Lost,
    Resumed,
}

impl EventCopies {
    pub(crate) fn new() -> Self {
        Self {
            outbox: EventOutbox::default(),
            waiting: Notify::new(),
            streams: Mutex::default(),
            turn: Semaphore::new(1),
            reads: Semaphore::new(READS),
            figures: Default::default(),
        }
    }

    fn count(&self, figure: Figure, more: u64) {
        self.figures[figure as usize].fetch_add(more, Ordering::Relaxed);
    }

    fn figures(&self) -> EventFigures {
        let figure = |figure| self.figures[figure as usize].load(Ordering::Relaxed);
        let (streams, bytes) = self.streams.lock().size();
        EventFigures {
            copied: figure(Figure::Copied),
            lost: figure(Figure::Lost),
            resumed: figure(Figure::Resumed),
            streams: streams as u64,
            bytes: bytes as u64,
        }
    }
}

/// Returns the number of events in a batch.
fn events_in(batch: &[SessionEvents]) -> u64 {
    let streams = batch.iter().flat_map(|session| &session.taken.streams);
    streams.map(|stream| stream.events.len() as u64).sum()
}

/// Returns the streams in a batch.
fn streams_in(batch: &[SessionEvents]) -> Vec<StreamKey> {
    let of = |session: &SessionEvents| {
        let key = session.key;
        let streams = session.taken.streams.iter();
        streams
            .map(move |new| StreamKey { session: key, epoch: new.epoch, stream: new.stream })
            .collect::<Vec<_>>()
    };
    batch.iter().flat_map(of).collect()
}

/// Copies events until the `Cluster` is dropped.
pub(crate) async fn copy_events(membership: Arc<Membership>) {
    let Some(copies) = &membership.events else { return };
    loop {
        if copies.outbox.is_empty() {
            copies.waiting.notified().await;
        }
        let pause = if membership.copy_once(copies).await.is_ok() { PAUSE } else { AGAIN };
        sleep(pause).await;
    }
}

impl Membership {
    /// Copies some of the waiting events. If the store cannot be used, they wait with their sessions.
    async fn copy_once(&self, copies: &EventCopies) -> Result<(), StoreError> {
        if !self.store.is_usable() {
            return Err(StoreError::Paused);
        }
        // Never closed.
        let _turn = copies.turn.acquire().await;
        let batch = copies.outbox.take();
        copies.count(Figure::Lost, batch.iter().map(|session| session.taken.lost).sum());
        let commands = self.append_events(copies, &batch);
        if commands.is_empty() {
            return Ok(());
        }
        let written = self.store.run(commands, WRITE).await.map(drop);
        match &written {
            Ok(()) => copies.count(Figure::Copied, events_in(&batch)),
            Err(StoreError::Refused(why)) => {
                copies.count(Figure::Lost, events_in(&batch));
                let is_full = why.starts_with("OOM");
                tracing::warn!("the cluster's store does not take the events of clients' streams: {why}");
                self.give_up(copies, &batch, is_full).await;
            }
            Err(_) => {
                let mut streams = copies.streams.lock();
                streams_in(&batch).iter().for_each(|key| streams.take_back(key));
                drop(streams);
                copies.outbox.put_back(batch);
            }
        }
        written
    }

    /// Returns the commands that append the events of a batch to their streams, and delete streams that no longer fit.
    fn append_events(&self, copies: &EventCopies, batch: &[SessionEvents]) -> Vec<StoreCommand> {
        let (mut commands, now) = (Vec::new(), Instant::now());
        let mut streams = copies.streams.lock();
        for session in batch {
            for new in &session.taken.streams {
                let key = StreamKey { session: session.key, epoch: new.epoch, stream: new.stream };
                let name = key.name(&self.keys);
                let Some(sealed) = new.sealed(&name, &self.values) else { continue };
                let keep = streams.add(key, new.events.len(), sealed.len(), now);
                commands.extend(event_chunks::append(&name, &sealed, keep));
            }
        }
        commands.extend(self.delete_streams(&streams.take_excess(now)));
        commands
    }

    fn delete_streams(&self, streams: &[StreamKey]) -> impl Iterator<Item = StoreCommand> {
        streams.chunks(DELETED_AT_ONCE).map(|part| event_chunks::delete(&self.keys, part))
    }

    /// Deletes the streams of a batch that the store has refused, because they now have gaps. If the store is full, deletes all streams:
    /// other data needs the memory more.
    async fn give_up(&self, copies: &EventCopies, batch: &[SessionEvents], is_full: bool) {
        let gone = if is_full {
            copies.streams.lock().forget_all()
        } else {
            let (mut streams, gone) = (copies.streams.lock(), streams_in(batch));
            gone.iter().for_each(|key| streams.forget(key));
            gone
        };
        // Otherwise they expire.
        let _ = self.store.run(self.delete_streams(&gone).collect(), WRITE).await;
    }

    /// Copies the waiting events before this replica ends.
    pub(crate) async fn copy_rest(&self) {
        if let Some(copies) = &self.events {
            while self.copy_once(copies).await.is_ok() && !copies.outbox.is_empty() {}
        }
    }
}

impl Cluster {
    /// Returns true if this replica copies the events of clients' streams, and reads those of others.
    pub fn copies_events(&self) -> bool {
        self.membership.events.is_some()
    }

    /// Records that a session has new events, which are copied a little later. Returns false if too many sessions wait, or if this replica
    /// does not copy events.
    pub fn events_wait(&self, key: SessionKey, source: Weak<dyn EventSource>) -> bool {
        let Some(copies) = &self.membership.events else { return false };
        let is_added = copies.outbox.add(key, source);
        copies.waiting.notify_one();
        is_added
    }

    /// Records that the store has lost its data, so the events there no longer count.
    pub fn events_are_lost(&self) {
        if let Some(copies) = &self.membership.events {
            copies.streams.lock().forget_all();
        }
    }

    /// Reads the events of a stream that another process has sent; `None` if this replica does not read them.
    ///
    /// # Errors
    /// Fails if the store does not answer in time.
    pub async fn copied_events(&self, key: &StreamKey) -> Result<Option<StreamCopy>, StoreError> {
        let Membership { store, keys, values, events, .. } = &*self.membership;
        let Some(copies) = events else { return Ok(None) };
        let name = key.name(keys);
        let read = async {
            let _turn = copies.reads.acquire().await;
            let reply = store.one(event_chunks::read(&name), WRITE).await?;
            Ok(StreamCopy::read((key, &name), values, &reply))
        };
        timeout(WRITE, read).await.map_err(|_| StoreError::Slow(WRITE))?.map(Some)
    }

    /// Counts a stream of another process that continues here.
    pub fn stream_resumed(&self) {
        if let Some(copies) = &self.membership.events {
            copies.count(Figure::Resumed, 1);
        }
    }

    /// Returns the figures about copied events; `None` if this replica copies no events.
    pub fn event_figures(&self) -> Option<EventFigures> {
        self.membership.events.as_ref().map(EventCopies::figures)
    }
}
