//! The time of a request, by a monotonic clock and by the calendar. This module must not know what the time is used
//! for.

use std::time::Duration;

/// A point in time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    /// The time since this process began to authenticate callers; it never goes backwards.
    pub(super) since_start: Duration,
    /// The number of milliseconds since 1970.
    pub(super) unix_ms: u64,
}

impl Moment {
    /// Returns the number of seconds since 1970.
    pub(super) fn unix(self) -> u64 {
        self.unix_ms / 1000
    }
}
