//! A session as a source of events, which are copied to the cluster's store so that another gateway can send them again. This module must
//! not know how events are copied.

use std::sync::Arc;

use cluster::{EventSource, TakenEvents};
use config::Limits;

use super::context::SessionState;
use super::session::{ClientChannel, Session};

impl SessionState {
    /// Lets the events of a session's streams be copied, if they are kept and if the cluster copies events.
    pub(super) fn copy_events(&self, session: &Arc<Session>, limits: &Limits) {
        let (Some(cluster), Some(key)) = (self.cluster.get(), session.stored_key()) else { return };
        if let ClientChannel::Http(streams) = &session.channel
            && cluster.copies_events()
            && limits.replay_events > 0
            && limits.replay_bytes > 0
        {
            let session: std::sync::Weak<Session> = Arc::downgrade(session);
            streams.copy_by(cluster.clone(), key, session);
        }
    }

    /// Copies the kept events of all sessions again, because the store has lost its data.
    pub(super) fn copy_events_again(&self) {
        if let Some(cluster) = self.cluster.get() {
            cluster.events_are_lost();
        }
        for session in self.sessions.all() {
            if let ClientChannel::Http(streams) = &session.channel {
                streams.copy_again();
            }
        }
    }
}

impl EventSource for Session {
    fn take_new(&self, most: usize) -> TakenEvents {
        match &self.channel {
            ClientChannel::Http(streams) => streams.take_new(most),
            ClientChannel::Pipe(_) => TakenEvents::default(),
        }
    }

    fn put_back(&self, taken: &TakenEvents) -> bool {
        match &self.channel {
            ClientChannel::Http(streams) => streams.put_back(taken),
            ClientChannel::Pipe(_) => false,
        }
    }
}
