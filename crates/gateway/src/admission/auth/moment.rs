//! The time of a request: by a clock that never goes back, and by the calendar. It must not know what it is for.

use std::time::Duration;

/// A point in time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    /// The time since this process began to authenticate; never goes back.
    pub(super) since_start: Duration,
    /// Milliseconds since 1970.
    pub(super) unix_ms: u64,
}

impl Moment {
    /// Seconds since 1970.
    pub(super) fn unix(self) -> u64 {
        self.unix_ms / 1000
    }
}
