//! The functions of a replica for the events of clients' streams. This module must not know what an event contains.

use std::sync::Weak;

use store::sessions::SessionKey;

use crate::cluster::Cluster;
use crate::event_chunks::{StreamCopy, StreamKey};
use crate::event_copies::{EventCopies, EventFigures};
use crate::event_outbox::EventSource;
use crate::valkey::StoreError;

impl Cluster {
    fn event_copies(&self) -> Option<&EventCopies> {
        self.membership.events.as_deref()
    }

    /// Returns true if this replica copies the events of clients' streams, and reads those of others.
    pub fn copies_events(&self) -> bool {
        self.event_copies().is_some()
    }

    /// Records that a session has new events, which are copied a little later. Returns false if too many sessions wait, or if this replica
    /// does not copy events.
    pub fn events_wait(&self, key: SessionKey, source: Weak<dyn EventSource>) -> bool {
        self.event_copies().is_some_and(|copies| copies.add(key, source))
    }

    /// Records that the store has lost its data, so the events there no longer count.
    pub fn events_are_lost(&self) {
        self.event_copies().into_iter().for_each(EventCopies::lost_by_store);
    }

    /// Reads the events of a stream that another process has sent; `None` if this replica does not read them.
    ///
    /// # Errors
    /// Fails if the store does not answer in time.
    pub async fn copied_events(&self, key: &StreamKey) -> Result<Option<StreamCopy>, StoreError> {
        match self.event_copies() {
            Some(copies) => copies.read(key).await.map(Some),
            None => Ok(None),
        }
    }

    /// Counts a stream of another process that continues here.
    pub fn stream_resumed(&self) {
        self.event_copies().into_iter().for_each(EventCopies::count_resumed);
    }

    /// Returns the figures about copied events; `None` if this replica copies no events.
    pub fn event_figures(&self) -> Option<EventFigures> {
        self.event_copies().map(EventCopies::figures)
    }
}
