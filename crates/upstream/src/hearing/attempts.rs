//! Attempts to listen on one link: a stream of notices that is lost and cannot be opened again is missed. It must not know what
//! is heard.

use std::sync::Arc;

use transport::up::LinkError;

use crate::health::{HealthCause, HealthEvent};
use crate::link::OpenLink;
use crate::server::Server;

/// The attempts to keep one stream open.
#[derive(Default)]
pub(super) struct Attempt {
    /// True if it is not the first.
    pub(super) again: bool,
    /// True if the stream was open in this one.
    is_heard: bool,
    /// The link, while its server is known to have lost the stream.
    lost: Option<(Arc<Server>, u64)>,
}

impl Attempt {
    /// Notes that the stream is open; returns true if there was one before.
    pub(super) fn opened(&mut self, link: &OpenLink) -> bool {
        self.is_heard = true;
        if self.lost.is_some() {
            link.server.health.note(HealthEvent::NoticesHeard(link.id));
            self.lost = None;
        }
        self.again
    }

    /// Notes the end of this attempt. A stream that is cut now and then is opened again, and nobody need be told.
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
        // Nobody listens on this link any more.
        if let Some((server, link)) = self.lost.take() {
            server.health.note(HealthEvent::NoticesHeard(link));
        }
    }
}
