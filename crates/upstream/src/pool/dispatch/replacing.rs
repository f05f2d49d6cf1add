//! Closes links to make room for others. A closed link counts until its process has ended, so the owner that needs the
//! room may have to wait. This module must not know what a link is.

use std::time::Instant;

use transport::child::Companion;

use super::{Action, Dispatch, Slot, SlotId, Waiter};

impl Dispatch {
    /// Returns true if a link may be closed to make room for another one. The other links stay in use while the
    /// processes of closed links end, even if this takes long.
    pub(super) fn may_close(&self) -> bool {
        self.opening() + self.budget.leaving() < self.rules.starts
    }

    /// Closes a link for an owner, and opens another one as soon as no process of the closed link exists; returns
    /// `false` if the owner has to wait until then.
    pub(super) fn replace(
        &mut self,
        waiter: &mut Waiter,
        id: SlotId,
        now: Instant,
        actions: &mut Vec<Action>,
    ) -> bool {
        let Some(Slot { permit, owner, .. }) = self.slots.remove(&id) else { return false };
        if owner.is_some() {
            self.count_move();
        }
        actions.push(Action::Close(id));
        waiter.has_closed = true;
        let permit = permit.into_free();
        let is_free = permit.is_some();
        if let Some(permit) = permit {
            self.open(waiter, permit, now, actions);
        }
        is_free
    }

    /// Returns the part of a link's permit that is kept as long as a process of the link exists.
    pub fn companion(&self, slot: SlotId) -> Option<Companion> {
        self.slots.get(&slot).map(|slot| slot.permit.companion())
    }
}
