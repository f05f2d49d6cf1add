//! The state of copying a session's events to the cluster's store: which events wait to be copied. The events are those that the session
//! keeps anyway. This module must not know the store.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use bytes::Bytes;
use cluster::{Cluster, EventSource, NewEvents, TakenEvents};
use proto::rpc::Id;
use store::sessions::SessionKey;

use super::{STANDING, Streams, Table};

/// The maximum size of the ids of a stream's requests, in bytes. Longer ids are not copied.
const MOST_REQUESTS: usize = 1 << 10;

/// The queue of sessions with events that wait to be copied.
pub(crate) trait CopyQueue: Send + Sync {
    /// Adds a session; returns false if it was not added.
    fn add(&self, key: SessionKey, source: Weak<dyn EventSource>) -> bool;
}

impl CopyQueue for Cluster {
    fn add(&self, key: SessionKey, source: Weak<dyn EventSource>) -> bool {
        self.events_wait(key, source)
    }
}

/// The state of copying the events of one session.
pub(super) struct CopyState {
    queue: Arc<dyn CopyQueue>,
    key: SessionKey,
    source: Weak<dyn EventSource>,
    /// True while the session is in the queue.
    is_waiting: bool,
    /// The position of the first event, among the events of all sessions, that was not taken.
    next: u64,
    streams: HashMap<u64, StreamProgress>,
    /// The epoch whose standing stream the standing stream here has continued, and the number of its first event after that.
    continued: Option<(u32, u64)>,
}

/// The part of a stream that was taken.
#[derive(Default)]
struct StreamProgress {
    requests: Vec<Bytes>,
    /// The number of the first event that was not taken.
    next: u64,
    has_end: bool,
}

impl Streams {
    /// Lets the events of all streams be copied from now on. They are copied as those of the session `key`; `source` returns them.
    pub(crate) fn copy_by(&self, queue: Arc<dyn CopyQueue>, key: SessionKey, source: Weak<dyn EventSource>) {
        let (streams, continued) = (HashMap::new(), None);
        let copies = CopyState { queue, key, source, is_waiting: false, next: 0, streams, continued };
        self.table.lock().copies = Some(Box::new(copies));
    }

    /// Lets all kept events be copied again.
    pub(crate) fn copy_again(&self) {
        let mut table = self.table.lock();
        if let Some(copies) = &mut table.copies {
            copies.next = 0;
            copies.streams.values_mut().for_each(|stream| stream.has_end = false);
        }
        table.note_new();
    }

    /// Returns events that were not taken before: see [`EventSource::take_new`].
    pub(crate) fn take_new(&self, most: usize) -> TakenEvents {
        self.table.lock().take_new(most)
    }

    /// Records that taken events were not copied: see [`EventSource::put_back`].
    pub(crate) fn put_back(&self, taken: &TakenEvents) -> bool {
        let mut table = self.table.lock();
        table.copies.as_mut().is_some_and(|copies| copies.put_back(taken))
    }
}

impl Table {
    /// Records that there is a new event, or that a stream has ended.
    pub(super) fn note_new(&mut self) {
        if let Some(copies) = &mut self.copies
            && !copies.is_waiting
        {
            copies.is_waiting = copies.queue.add(copies.key, copies.source.clone());
        }
    }

    /// Records the requests that are answered on a stream.
    pub(super) fn note_requests(&mut self, stream: u64, requests: &[Id]) {
        let Some(copies) = &mut self.copies else { return };
        let own = |id: &Id| Bytes::copy_from_slice(id.json());
        if requests.iter().map(|id| id.json().len()).sum::<usize>() <= MOST_REQUESTS {
            let requests = requests.iter().map(own).collect();
            copies.streams.insert(stream, StreamProgress { requests, ..StreamProgress::default() });
        }
    }

    /// Records that the standing stream continues the standing stream of another epoch with its next event.
    pub(super) fn note_continued(&mut self, epoch: u32) {
        let next = self.streams.get(&STANDING).map_or(0, |stream| stream.next);
        if let Some(copies) = &mut self.copies {
            copies.continued = Some((epoch, next));
        }
    }

    /// Returns the epoch that the standing stream has continued, and the number of its first event after that.
    pub(super) fn continued(&self) -> Option<(u32, u64)> {
        self.copies.as_ref()?.continued
    }

    fn take_new(&mut self, most: usize) -> TakenEvents {
        let Some(copies) = &mut self.copies else { return TakenEvents::default() };
        let mut taken = TakenEvents { from: copies.next, ..TakenEvents::default() };
        let mut size = 0;
        for (id, data, order) in self.log.since(copies.next) {
            if size >= most {
                taken.has_more = true;
                break;
            }
            copies.next = order + 1;
            size += data.len();
            let progress = copies.streams.entry(id.stream).or_default();
            taken.lost += id.event.saturating_sub(progress.next);
            progress.next = progress.next.max(id.event + 1);
            of_stream(&mut taken, (self.epoch, id.stream), progress).events.push((id.event, data));
        }
        if !taken.has_more {
            for (number, stream) in self.streams.iter().filter(|(_, stream)| stream.done && stream.next > 0) {
                let progress = copies.streams.entry(*number).or_default();
                if !progress.has_end {
                    progress.has_end = true;
                    taken.lost += stream.next.saturating_sub(progress.next);
                    of_stream(&mut taken, (self.epoch, *number), progress).end = Some(stream.next);
                }
            }
        }
        copies.streams.retain(|number, _| self.streams.contains_key(number));
        copies.is_waiting = taken.has_more;
        taken
    }
}

/// Returns the events of one stream among those that are being taken.
fn of_stream<'t>(
    taken: &'t mut TakenEvents,
    (epoch, stream): (u32, u64),
    progress: &StreamProgress,
) -> &'t mut NewEvents {
    let at = taken.streams.iter().position(|new| new.stream == stream).unwrap_or_else(|| {
        let requests = progress.requests.clone();
        taken.streams.push(NewEvents { epoch, stream, events: Vec::new(), requests, end: None });
        taken.streams.len() - 1
    });
    &mut taken.streams[at]
}

impl CopyState {
    fn put_back(&mut self, taken: &TakenEvents) -> bool {
        self.next = self.next.min(taken.from);
        for new in &taken.streams {
            let Some(progress) = self.streams.get_mut(&new.stream) else { continue };
            if let Some((first, _)) = new.events.first() {
                progress.next = progress.next.min(*first);
            }
            progress.has_end &= new.end.is_none();
        }
        !std::mem::replace(&mut self.is_waiting, true)
    }
}

#[cfg(test)]
mod tests;
