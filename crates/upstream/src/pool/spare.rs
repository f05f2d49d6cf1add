//! Closes dedicated links to make room: for a process of another server, or for a link of another caller. This module
//! must not know who needs the room.

use std::time::Instant;

use super::dedicated::{Dedicated, DeferredActions};
use super::dispatch::{Action, UnneededLink};
use super::family::GivesWay;
use crate::egress::{Egress, SpareLinks};

impl SpareLinks for Dedicated {
    fn spare(&self) -> Option<(bool, Instant)> {
        let spare = self.state.lock().dispatch.spare(Instant::now());
        spare.map(|spare| (spare.is_owned, spare.used))
    }

    fn close_spare(&self, egress: &Egress) -> bool {
        let spare = self.state.lock().dispatch.spare(Instant::now());
        let closed = spare.is_some_and(|spare| self.give_up(spare, egress));
        if closed {
            tracing::info!(server = %self.name, "closed an idle dedicated connection, because another server needs a process, and no more \
                                                 processes may run (`limits.children`)");
        }
        closed
    }
}

impl GivesWay for Dedicated {
    fn spare_for_others(&self) -> Option<UnneededLink> {
        self.state.lock().dispatch.spare_for_others(Instant::now())
    }

    fn close_for_others(&self, spare: UnneededLink, egress: &Egress) -> bool {
        let closed = self.give_up(spare, egress);
        if closed {
            tracing::debug!(server = %self.name, "closed an idle dedicated connection, because another caller needs one");
        }
        closed
    }
}

impl Dedicated {
    fn give_up(&self, spare: UnneededLink, egress: &Egress) -> bool {
        let mut deferred = DeferredActions::default();
        {
            let mut state = self.state.lock();
            if !state.dispatch.give_up(spare, Instant::now()) {
                return false;
            }
            state.perform(Action::Close(spare.slot), &mut deferred);
        }
        deferred.finish(egress);
        true
    }
}
