//! The limit of open files for this process. Each connection is an open file, and the soft limit of many systems
//! (1024) is meant for programs that do not raise it. Children start with the original limit of this process, because
//! some programs do not work with a high limit. This module must not know what the files are for.

use std::io;
use std::sync::OnceLock;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The limit before it was raised.
static STARTED_WITH: OnceLock<Rlimit> = OnceLock::new();

/// The limit of open files, before and after it was raised; `None` means unlimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenFileLimits {
    /// The previous limit.
    pub from: Option<u64>,
    /// The current limit.
    pub to: Option<u64>,
}

/// Raises the soft limit to the hard limit.
///
/// # Errors
/// Returns the system's error; the limit is then unchanged.
pub fn raise() -> io::Result<OpenFileLimits> {
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit })?;
        // Only the first call stores the limit with which this process was started.
        let _ = STARTED_WITH.set(limit);
    }
    Ok(OpenFileLimits { from: limit.current, to: limit.maximum })
}

/// Returns the limit for children, if it differs from that of this process.
pub(crate) fn started_with() -> Option<Rlimit> {
    STARTED_WITH.get().copied()
}
