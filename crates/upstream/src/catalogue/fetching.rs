//! The state of the fetches of one catalogue. Only one fetch runs at a time. This module must not know what is
//! fetched.

use std::time::Instant;

/// The running fetch, and the numbers of the fetches that have begun and ended.
#[derive(Default)]
pub(super) struct FetchState {
    pub(super) fetching: bool,
    /// The time when the running fetch began.
    pub(super) since: Option<Instant>,
    /// The number of fetches that have begun, and the number of the last fetch of all lists that has ended.
    pub(super) begun: u64,
    pub(super) ended: u64,
    /// The number of fetches that had begun when the server last announced a change.
    pub(super) announced: Option<u64>,
}

impl FetchState {
    /// Starts a fetch.
    pub(super) fn begin(&mut self) {
        self.fetching = true;
        self.since = Some(Instant::now());
        self.begun += 1;
    }

    /// Returns true if the server has announced a change, and no fetch that began after the announcement has ended.
    pub(super) fn is_change_announced(&self) -> bool {
        self.announced.is_some_and(|begun| self.ended <= begun)
    }

    /// Ends the fetch. Only a fetch of all lists satisfies callers that wait for newer lists: a fetch for one version
    /// leaves the lists of the other lifecycle unchanged.
    pub(super) fn end(&mut self, of_all_lists: bool) {
        self.fetching = false;
        if of_all_lists {
            self.ended = self.begun;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fetch_for_one_version_does_not_count_as_one_of_all_lists() {
        let mut busy = FetchState::default();
        let wanted = busy.begun + 1;
        busy.begin();
        busy.end(false);
        assert!(!busy.fetching && busy.ended < wanted);
        busy.begin();
        assert!(busy.fetching && busy.ended < wanted);
        busy.end(true);
        assert!(busy.ended >= wanted);
    }
}
