//! The attempts to listen on one link. If a lost notification stream cannot be reopened, the loss is reported. This
//! module must not know what is received.

use std::sync::Arc;

use transport::up::LinkError;

use crate::health::{HealthCause, HealthEvent};
use crate::link::OpenLink;
use crate::server::Server;

/// The current attempt to keep one stream open.
#[derive(Default)]
pub(super) struct Attempt {
    /// True for every attempt after the first.
    pub(super) again: bool,
    /// True if the stream was open in this attempt.
    is_heard: bool,
    /// The link and its server, as long as the loss of the stream is on record.
    lost: Option<(Arc<Server>, u64)>,
}

impl Attempt {
    /// Records that the stream is open; returns true if this is not the first attempt.
    pub(super) fn opened(&mut self, link: &OpenLink) -> bool {
        self.is_heard = true;
        if self.lost.is_some() {
            link.server.health.note(HealthEvent::NoticesHeard(link.id));
            self.lost = None;
        }
        self.again
    }

    /// Records the end of this attempt. If a stream was cut and can be reopened, no report is needed.
    pub(super) fn ended(&mut self, link: &OpenLink, why: Option<&LinkError>) {
        if let Some(why) = why.filter(|_| self.again && !self.is_heard && !link.own && link.is_alive()) {
            let cause = HealthCause::of(why, link.server.describe(why));
            link.server.health.note(HealthEvent::NoticesLost(link.id, cause));
            self.lost = Some((link.server.clone(), link.id));
        }
        (self.again, self.is_heard) = (true, false);
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        // Nobody listens on this link any more, so the loss no longer matters.
        if let Some((server, link)) = self.lost.take() {
            server.health.note(HealthEvent::NoticesHeard(link));
        }
    }
}
