//! Links that are not needed: those that have been idle long enough, and the link that is closed first if another
//! server needs a process. This module must not know other pools.

use std::time::{Duration, Instant};

use super::{Binding, Dispatch, Slot, SlotId, Ticket, Waiter};

/// A link that carries no call. The order by `Ord` is the order in which such links are closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnneededLink {
    /// True if the link has an owner, which would lose the state that the server keeps for it.
    pub is_owned: bool,
    /// The time of the link's last use.
    pub used: Instant,
    /// The link's number.
    pub slot: SlotId,
}

impl Dispatch {
    /// Removes the links that have no owner and have been idle for `idle_for` or for `PoolRules::unowned_rest`,
    /// whichever is shorter; returns their numbers.
    pub fn shed(&mut self, idle_for: Duration, now: Instant) -> Vec<SlotId> {
        let rest = idle_for.min(self.rules.unowned_rest);
        let is_old = |slot: &Slot| {
            slot.owner.is_none() && slot.is_idle(now) && now.saturating_duration_since(slot.used) >= rest
        };
        let old: Vec<SlotId> =
            self.slots.iter().filter(|(_, slot)| is_old(slot)).map(|(id, _)| *id).collect();
        for id in &old {
            self.slots.remove(id);
        }
        old
    }

    /// Returns true if this link has no owner, and can be given to any owner.
    pub fn is_free(&self, slot: SlotId, now: Instant) -> bool {
        let is_free =
            |slot: &Slot| slot.owner.is_none() && slot.is_idle(now) && slot.binding == Binding::None;
        self.slots.get(&slot).is_some_and(is_free)
    }

    /// Returns the link that is closed first if another server needs a process: a link without an owner or, if
    /// there is none, a link whose reservation has ended because its owner has not used it for long enough.
    pub fn spare(&self, now: Instant) -> Option<UnneededLink> {
        self.spare_after(self.rules.owned_rest, now)
    }

    /// Returns the link that is closed first if another caller of this server needs a link.
    pub fn spare_for_others(&self, now: Instant) -> Option<UnneededLink> {
        self.spare_after(self.rules.others_rest, now)
    }

    fn spare_after(&self, promised: Duration, now: Instant) -> Option<UnneededLink> {
        let may_go = |slot: &Slot| {
            let rest = now.saturating_duration_since(slot.used);
            slot.can_go(now) && (slot.owner.is_none() || rest >= promised)
        };
        let free = self.slots.iter().filter(|(_, slot)| may_go(slot));
        free.map(|(id, slot)| UnneededLink { is_owned: slot.owner.is_some(), used: slot.used, slot: *id })
            .min()
    }

    /// Removes a link from the pool, if it is still spare.
    pub fn give_up(&mut self, spare: UnneededLink, now: Instant) -> bool {
        let is_same = self.slots.get(&spare.slot).is_some_and(|slot| {
            slot.can_go(now) && slot.owner.is_some() == spare.is_owned && slot.used == spare.used
        });
        if is_same {
            self.slots.remove(&spare.slot);
            if spare.is_owned {
                self.count_move();
            }
        }
        is_same
    }

    /// Returns true if this request is the first in the queue, and a link would be opened for its owner if the
    /// budget were not used up. Returns false while the process of a closed link ends, because this will make room.
    pub fn lacks_room(&self, ticket: Ticket, now: Instant) -> bool {
        let is_due = |waiter: &Waiter| {
            waiter.ticket == ticket && now.saturating_duration_since(waiter.since) >= self.patience(waiter)
        };
        let is_full = !self.budget.has_room() && self.budget.leaving() == 0;
        is_full && self.may_start() && self.waiters.front().is_some_and(is_due)
    }

    /// Returns the number of owners that wait for a link.
    pub fn waiting(&self) -> usize {
        self.waiters.len()
    }
}
