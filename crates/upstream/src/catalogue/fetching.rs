//! Fetches of one list of catalogues, one at a time. They must not know which list.

use std::time::Instant;

/// Fetches, one at a time.
#[derive(Default)]
pub(super) struct Busy {
    pub(super) fetching: bool,
    /// The time when the last one began.
    pub(super) since: Option<Instant>,
    /// The number of fetches begun, and the number of the last one that has ended.
    pub(super) begun: u64,
    pub(super) ended: u64,
}

impl Busy {
    /// Starts a fetch.
    pub(super) fn begin(&mut self) {
        self.fetching = true;
        self.since = Some(Instant::now());
        self.begun += 1;
    }

    /// Ends it.
    pub(super) fn end(&mut self) {
        self.fetching = false;
        self.ended = self.begun;
    }
}
