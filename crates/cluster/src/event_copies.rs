//! Copies of clients' events in the store: the task that writes them, and the function that reads them. No call waits for the task. This
//! module must not know what an event contains.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use store::sessions::SessionKey;
use tokio::sync::{Notify, Semaphore};
use tokio::time::{sleep, timeout};

use crate::copied_streams::CopiedStreams;
use crate::event_chunks::{self, StreamCopy, StreamKey};
use crate::event_outbox::{EventOutbox, EventSource, SessionEvents};
use crate::families::StoreKeys;
use crate::resp::StoreCommand;
use crate::sealed::SealedValues;
use crate::valkey::{Store, StoreError};

/// The maximum time for an exchange with the store.
const WITHIN: Duration = Duration::from_millis(500);

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
    store: Arc<Store>,
    keys: StoreKeys,
    values: SealedValues,
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

/// A figure that is counted.
#[derive(Clone, Copy)]
enum Figure {
    Copied,
    Lost,
    Resumed,
}

impl EventCopies {
    pub(crate) fn new(store: &Arc<Store>, keys: &StoreKeys, values: &SealedValues) -> Self {
        Self {
            store: store.clone(),
            keys: keys.clone(),
            values: values.clone(),
            outbox: EventOutbox::default(),
            waiting: Notify::new(),
            streams: Mutex::default(),
            turn: Semaphore::new(1),
            reads: Semaphore::new(READS),
            figures: Default::default(),
        }
    }

    /// Records that a session has new events. Returns false if too many sessions wait.
    pub(crate) fn add(&self, key: SessionKey, source: Weak<dyn EventSource>) -> bool {
        let is_added = self.outbox.add(key, source);
        self.waiting.notify_one();
        is_added
    }

    /// Copies events until the `Cluster` is dropped.
    pub(crate) async fn run(&self) {
        loop {
            if self.outbox.is_empty() {
                self.waiting.notified().await;
            }
            let pause = if self.copy_once().await.is_ok() { PAUSE } else { AGAIN };
            sleep(pause).await;
        }
    }

    /// Copies the waiting events before this replica ends.
    pub(crate) async fn copy_rest(&self) {
        let all = async { while self.copy_once().await.is_ok() && !self.outbox.is_empty() {} };
        // The others are lost with this replica.
        let _ = timeout(WITHIN, all).await;
    }

    /// Copies some of the waiting events. If the store cannot be used, they wait with their sessions.
    async fn copy_once(&self) -> Result<(), StoreError> {
        if !self.store.is_usable() {
            return Err(StoreError::Paused);
        }
        // Never closed.
        let _turn = self.turn.acquire().await;
        let batch = self.outbox.take();
        self.count(Figure::Lost, batch.iter().map(|session| session.taken.lost).sum());
        let commands = self.append_events(&batch);
        if commands.is_empty() {
            return Ok(());
        }
        let written = self.store.run(commands, WITHIN).await.map(drop);
        match &written {
            Ok(()) => self.count(Figure::Copied, events_in(&batch)),
            Err(StoreError::Refused(why)) => {
                self.count(Figure::Lost, events_in(&batch));
                tracing::warn!("the cluster's store does not take the events of clients' streams: {why}");
                self.give_up(&batch, why.starts_with("OOM")).await;
            }
            Err(_) => {
                let mut streams = self.streams.lock();
                for key in streams_in(&batch) {
                    streams.take_back(&key);
                }
                drop(streams);
                self.outbox.put_back(batch);
            }
        }
        written
    }

    /// Returns the commands that append the events of a batch to their streams, and delete streams that no longer fit.
    fn append_events(&self, batch: &[SessionEvents]) -> Vec<StoreCommand> {
        let (mut commands, now) = (Vec::new(), Instant::now());
        let mut streams = self.streams.lock();
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
    async fn give_up(&self, batch: &[SessionEvents], is_full: bool) {
        let gone = if is_full {
            self.streams.lock().forget_all()
        } else {
            let (mut streams, gone) = (self.streams.lock(), streams_in(batch));
            for key in &gone {
                streams.forget(key);
            }
            gone
        };
        // Otherwise they expire.
        let _ = self.store.run(self.delete_streams(&gone).collect(), WITHIN).await;
    }

    /// Records that the store has lost its data, so the events there no longer count.
    pub(crate) fn lost_by_store(&self) {
        self.streams.lock().forget_all();
    }

    /// Reads the events of a stream.
    pub(crate) async fn read(&self, key: &StreamKey) -> Result<StreamCopy, StoreError> {
        let name = key.name(&self.keys);
        let read = async {
            let _turn = self.reads.acquire().await;
            let reply = self.store.one(event_chunks::read(&name), WITHIN).await?;
            Ok(StreamCopy::read((key, &name), &self.values, &reply))
        };
        timeout(WITHIN, read).await.map_err(|_| StoreError::Slow(WITHIN))?
    }

    /// Counts a stream of another process that continues here.
    pub(crate) fn count_resumed(&self) {
        self.count(Figure::Resumed, 1);
    }

    fn count(&self, figure: Figure, more: u64) {
        self.figures[figure as usize].fetch_add(more, Ordering::Relaxed);
    }

    /// Returns the figures since the start of this replica.
    pub(crate) fn figures(&self) -> EventFigures {
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
