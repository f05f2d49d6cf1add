//! The history of a link's openings: when the next one may be, and whose calls the lost link carried. It must not know how a link
//! is opened.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use transport::child::backoff::Backoff;
use transport::up::LinkError;

use crate::link::LinkUser;

/// The longest back-off that a caller waits for instead of failing.
const SHORT_REST: Duration = Duration::from_secs(1);

/// The history of a link's openings.
#[derive(Default)]
pub(super) struct Starts {
    pub(super) backoff: Backoff,
    /// True if what failed last does so until somebody changes something.
    pub(super) is_final: bool,
    /// The sessions whose calls used a link that is gone, until there is another one.
    pub(super) users: Vec<Weak<dyn LinkUser>>,
}

impl Starts {
    /// The rest of a short back-off of a child that keeps exiting; fails during a long one.
    pub(super) fn wait(&self) -> Result<Option<Duration>, LinkError> {
        let now = Instant::now();
        let Some(at) = self.backoff.next_start(now) else { return Ok(None) };
        if at - now > SHORT_REST {
            let why = self.backoff.reason(now).unwrap_or_default();
            return Err(LinkError::Resting { why, at, heals: !self.is_final });
        }
        Ok(Some(at - now))
    }

    /// There is a link again; the sessions whose calls used the one before.
    pub(super) fn began(&mut self) -> Vec<Arc<dyn LinkUser>> {
        self.backoff.started(Instant::now());
        std::mem::take(&mut self.users).iter().filter_map(Weak::upgrade).collect()
    }
}
