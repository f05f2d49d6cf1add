//! Counts how often owners lose the state that a server keeps for their links, because there are more owners than
//! links. Links that the server itself ends are not counted. This module must not decide who gets a link.

use super::{Dispatch, OwnerId, SlotId, Waiter};

impl Dispatch {
    /// Returns the number of times that an owner lost its link: the link was given to another owner, it was closed
    /// to make room, or its owner moved to another link.
    pub fn moves(&self) -> u64 {
        self.moves
    }

    /// Counts a move if an owner moves from a link that it still owns to another link. If another owner has the old
    /// link, the move was counted when that owner got it.
    pub(super) fn note_move(&mut self, waiter: &Waiter, to: SlotId) {
        let is_left = |last: &SlotId| *last != to && self.has(waiter.owner, *last);
        if waiter.last.as_ref().is_some_and(is_left) {
            self.count_move();
        }
    }

    /// Counts a move if the link belongs to another owner, because the server may mix the states of both owners.
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
