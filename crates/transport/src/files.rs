//! How many files this process may have open: each connection is one, and the soft limit of many systems (1024) is for
//! programs that know no better. Children begin with the limit that this process was started with, as some of them do not
//! work with a high one. It must not know what the files are for.

use std::io;
use std::sync::OnceLock;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The limit before it was raised.
static STARTED_WITH: OnceLock<Rlimit> = OnceLock::new();

/// The number of files that may be open; `None` for as many as anybody likes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Raised {
    /// Before.
    pub from: Option<u64>,
    /// Now.
    pub to: Option<u64>,
}

/// Raises the soft limit to the hard one.
///
/// # Errors
/// Why the system refuses that; the limit then is as it was.
pub fn raise() -> io::Result<Raised> {
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit })?;
        // Whoever raises it first was started with the one before.
        let _ = STARTED_WITH.set(limit);
    }
    Ok(Raised { from: limit.current, to: limit.maximum })
}

/// The limit that children are to have, where it is another one than this process has.
pub(crate) fn started_with() -> Option<Rlimit> {
    STARTED_WITH.get().copied()
}
