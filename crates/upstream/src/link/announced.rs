//! The state that was sent to a server on a link: the log level, and the resources to which the link is subscribed.
//! This module must not know who wants them.

use std::sync::atomic::AtomicU64;

use bytes::Bytes;
use parking_lot::Mutex;

/// The state that the server keeps for a link.
pub struct AnnouncedState {
    /// True if the upstream sends log messages and keeps a log level per link.
    pub keeps_level: bool,
    /// The log level that was last sent to the upstream.
    level: Mutex<Option<Bytes>>,
    topics: Mutex<AnnouncedTopics>,
    /// The revision of the wanted resources that was last sent on this link; each change to the wanted resources
    /// begins a new revision.
    pub topics_revision: AtomicU64,
}

#[derive(Default)]
struct AnnouncedTopics {
    /// The resources to which this link is subscribed because clients listen to them over other links or streams.
    uris: Vec<String>,
    /// True while a task sends the changes.
    is_changing: bool,
}

impl AnnouncedState {
    /// Creates the state of a link on which nothing has been sent yet.
    pub(super) fn new(keeps_level: bool) -> Self {
        Self {
            keeps_level,
            level: Mutex::default(),
            topics: Mutex::default(),
            topics_revision: AtomicU64::new(0),
        }
    }

    /// Returns true if this log level was the last one sent on this link.
    pub fn has_level(&self, level: &Bytes) -> bool {
        self.level.lock().as_ref() == Some(level)
    }

    /// Records the log level to send; returns `false` if the upstream already has this level.
    pub fn note_level(&self, level: &Bytes) -> bool {
        self.level.lock().replace(level.clone()).as_ref() != Some(level)
    }

    /// Records the resources that are wanted on this link. Returns the differences; the flag is true if the resource is
    /// wanted now.
    pub fn note_topics(&self, wanted: &[String]) -> Vec<(String, bool)> {
        let topics = &mut *self.topics.lock();
        let gone = topics.uris.iter().filter(|uri| !wanted.contains(uri)).map(|uri| (uri.clone(), false));
        let new = wanted.iter().filter(|uri| !topics.uris.contains(uri)).map(|uri| (uri.clone(), true));
        let differs: Vec<(String, bool)> = gone.chain(new).collect();
        topics.is_changing = !differs.is_empty();
        if topics.is_changing {
            topics.uris = wanted.to_vec();
        }
        differs
    }

    /// Returns true if the caller has to subscribe to the wanted resources, because no task is doing this. The caller
    /// continues until there is no difference left.
    pub fn begin_announcing(&self) -> bool {
        !std::mem::replace(&mut self.topics.lock().is_changing, true)
    }
}
