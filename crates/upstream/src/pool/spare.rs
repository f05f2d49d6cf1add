//! Dedicated links that make room for a process of another server. It must not know which server needs it.

use std::time::Instant;

use super::dedicated::{Aftermath, Dedicated};
use super::dispatch::Action;
use crate::egress::{Egress, SpareLinks};

impl SpareLinks for Dedicated {
    fn spare(&self) -> Option<(bool, Instant)> {
        let spare = self.state.lock().dispatch.spare(Instant::now());
        spare.map(|spare| (spare.is_owned, spare.used))
    }

    fn close_spare(&self, egress: &Egress) -> bool {
        let mut aftermath = Aftermath::default();
        {
            let mut state = self.state.lock();
            let now = Instant::now();
            let Some(spare) = state.dispatch.spare(now) else { return false };
            if !state.dispatch.give_up(spare, now) {
                return false;
            }
            state.perform(Action::Close(spare.slot), &mut aftermath);
        }
        tracing::info!(server = %self.name, "closed an idle dedicated connection: another server needs a process, and \
                                             `limits.children` processes are running");
        aftermath.finish(egress);
        true
    }
}
