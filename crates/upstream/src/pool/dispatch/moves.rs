//! Counts how often owners lose the state that a server keeps for their links, because there are more owners than links. Links
//! that a server ends are not counted. This module must not decide who gets a link.

use super::{Dispatch, OwnerId, SlotId, Waiter};

impl Dispatch {
    /// Returns the number of times that a link was taken from an owner: given to another owner, closed to make room, or left for
    /// another link.
    pub fn moves(&self) -> u64 {
        self.moves
    }

    /// Counts a move if the owner leaves a link that still belongs to it. If another owner has the link, this was counted when it
    /// was taken.
    pub(super) fn note_move(&mut self, waiter: &Waiter, to: SlotId) {
        let is_left = |last: &SlotId| *last != to && self.has(waiter.owner, *last);
        if waiter.last.as_ref().is_some_and(is_left) {
            self.count_move();
        }
    }

    /// Counts a move if a link belongs to another owner: its server may mix the states of both owners.
    pub(super) fn note_taken(&mut self, waiter: &Waiter, id: SlotId) {
        let before = self.slots.get(&id).and_then(|slot| slot.owner);
        if before.is_some_and(|owner| owner != waiter.owner) {
            self.count_move();
        }
    }

    fn has(&self, owner: OwnerId, slot: SlotId) -> bool {
        self.slots.get(&slot).is_some_and(|slot| slot.owner == Some(owner))
    }

    pub(super) fn count_move(&mut self) {
        self.moves += 1;
        self.budget.note_move();
    }
}
