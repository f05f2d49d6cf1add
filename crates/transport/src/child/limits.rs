//! The limits of one child.

use std::time::Duration;

/// The amounts of memory and time that one child may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The maximum length of a line that is read, in bytes. A longer line is reported and skipped without being
    /// stored.
    pub line_bytes: usize,
    /// The number of bytes that may wait to be written. A single longer line is accepted if nothing else is waiting.
    pub queue_bytes: u32,
    /// The time for which a sender waits for room in the queue while the child does not read.
    pub send: Duration,
    /// The number of bytes that are kept from the end of stderr.
    pub stderr_bytes: usize,
    /// The time that the child may take to exit after its stdin is closed, before SIGTERM.
    pub stdin_grace: Duration,
    /// The time that the child's processes may take to end after SIGTERM, before SIGKILL.
    pub term_grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            line_bytes: 64 << 20,
            queue_bytes: 8 << 20,
            send: Duration::from_secs(10),
            stderr_bytes: 8 << 10,
            stdin_grace: Duration::from_secs(2),
            term_grace: Duration::from_secs(2),
        }
    }
}
