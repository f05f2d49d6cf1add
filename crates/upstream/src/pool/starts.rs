//! The history of a link's openings: the time of the next one, and the sessions that used the lost link. This module
//! must not know how a link is opened.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use transport::child::backoff::Backoff;
use transport::up::LinkError;

use crate::link::LinkUser;

/// The longest back-off for which a caller waits; during a longer one, calls fail immediately.
const SHORT_REST: Duration = Duration::from_secs(1);

/// The history of a link's openings.
#[derive(Default)]
pub(super) struct Starts {
    pub(super) backoff: Backoff,
    /// True if the last failure will be repeated until somebody changes the server or its configuration.
    pub(super) is_final: bool,
    /// The sessions whose calls used the lost link; kept until there is a new link.
    pub(super) users: Vec<Weak<dyn LinkUser>>,
}

impl Starts {
    /// Returns the remaining time of a short back-off, for a child that keeps exiting; fails during a long back-off.
    pub(super) fn wait(&self) -> Result<Option<Duration>, LinkError> {
        let now = Instant::now();
        let Some(at) = self.backoff.next_start(now) else { return Ok(None) };
        if at - now > SHORT_REST {
            let why = self.backoff.reason(now).unwrap_or_default();
            return Err(LinkError::Resting { why, at, heals: !self.is_final });
        }
        Ok(Some(at - now))
    }

    /// Records that a new link is open; returns the sessions whose calls used the previous one.
    pub(super) fn began(&mut self) -> Vec<Arc<dyn LinkUser>> {
        self.backoff.started(Instant::now());
        std::mem::take(&mut self.users).iter().filter_map(Weak::upgrade).collect()
    }
}
