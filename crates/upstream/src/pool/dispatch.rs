//! Decides which owner gets which dedicated link. An owner is a session or a call that needs such a link. This is a
//! state machine without I/O, so that tests can try all orders of events. Callers pass the current time as an
//! argument. This module must not know what a link is, or who owns one.
//!
//! The rules: a link carries the calls of one owner at a time. An owner gets back the link that it had before. The
//! first link opens immediately. A further link opens only if no link has become free for a while, and if there are
//! fewer links than `PoolRules::max`. A link can serve an owner if all of the owner's capabilities were declared on
//! it; additional declared capabilities do no harm. Owners are served in the order in which they arrived. A link that
//! was closed counts until its process has ended; meanwhile, no other link is closed for the same waiting owner.

use std::collections::BTreeMap;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use proto::bridge::input::Askable;

use super::budget::{LinkBudget, LinkPermit};
use super::rules::PoolRules;

/// The number of a link, unique in its pool.
pub type SlotId = u64;

/// The number of an owner.
pub type OwnerId = u64;

/// The number of a request for a link.
pub type Ticket = u64;

/// The time for which a newly granted link stays with its owner, whose call is about to begin.
pub const GRACE: Duration = Duration::from_secs(1);

/// The time for which the link of a task must have been idle before the task is abandoned and another owner gets
/// the link.
pub const TASK_REST: Duration = Duration::from_mins(1);

/// The class of clients that was declared to the server when a link was opened: the requested version, and the
/// questions that these clients can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkClass {
    /// The requested version, which distinguishes links that were opened for different versions.
    pub version: &'static str,
    /// The questions that can be asked.
    pub askable: Askable,
}

impl LinkClass {
    /// Returns true if a link of this class serves clients of class `other` at least as well.
    fn covers(self, other: Self) -> bool {
        self.version == other.version && self.askable.includes(other.askable)
    }
}

/// The reason why a link can serve no other owner, if there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Binding {
    /// Nothing binds the link.
    #[default]
    None,
    /// The server has the owner's roots, or may still be working on a call that was given up.
    Owner,
    /// The server runs a task of the link's owner.
    Task,
}

#[derive(Debug)]
struct Waiter {
    ticket: Ticket,
    owner: OwnerId,
    class: LinkClass,
    /// The link that the owner had before.
    last: Option<SlotId>,
    since: Instant,
    /// True once a link was closed to make room for this owner.
    has_closed: bool,
}

/// An action that the pool has to perform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Gives this open link to the owner of this request.
    Grant(Ticket, SlotId),
    /// Lets the owner of this request open a link with this number.
    Open(Ticket, SlotId),
    /// Removes the link from the pool, so that it is closed.
    Close(SlotId),
}

/// The links of a pool, and the owners that wait for one.
#[derive(Debug)]
pub struct Dispatch {
    rules: PoolRules,
    budget: Arc<LinkBudget>,
    slots: BTreeMap<SlotId, Slot>,
    waiters: VecDeque<Waiter>,
    next: u64,
    moves: u64,
}

impl Dispatch {
    /// Creates a pool without links, which opens links as long as `budget` has room.
    pub fn new(rules: PoolRules, budget: Arc<LinkBudget>) -> Self {
        Self { rules, budget, slots: BTreeMap::new(), waiters: VecDeque::new(), next: 1, moves: 0 }
    }

    /// Requests a link that serves clients of `class` for an owner; `last` is the link that the owner had before.
    /// Returns `None` if too many owners are waiting.
    pub fn request(
        &mut self,
        owner: OwnerId,
        class: LinkClass,
        last: Option<SlotId>,
        now: Instant,
    ) -> Option<Ticket> {
        if self.waiters.len() >= self.rules.waiters {
            return None;
        }
        let ticket = self.number();
        self.waiters.push_back(Waiter { ticket, owner, class, last, since: now, has_closed: false });
        Some(ticket)
    }

    /// Cancels a request, because its owner is gone.
    pub fn cancel(&mut self, ticket: Ticket) {
        self.waiters.retain(|waiter| waiter.ticket != ticket);
    }

    /// Records that a link was opened.
    pub fn opened(&mut self, slot: SlotId, now: Instant) {
        if let Some(slot) = self.slots.get_mut(&slot) {
            (slot.is_open, slot.granted, slot.used) = (true, true, now);
        }
    }

    /// Records that a link could not be opened, was lost, or was closed.
    pub fn lost(&mut self, slot: SlotId) {
        self.slots.remove(&slot);
    }

    /// Begins a call; returns `false` if the link no longer belongs to the owner.
    pub fn enter(&mut self, slot: SlotId, owner: OwnerId, now: Instant) -> bool {
        match self.slots.get_mut(&slot).filter(|slot| slot.is_open && slot.owner == Some(owner)) {
            Some(slot) => {
                slot.calls += 1;
                (slot.granted, slot.used) = (false, now);
                true
            }
            None => false,
        }
    }

    /// Begins another use of a link by its owner, such as a task.
    pub fn enter_again(&mut self, slot: SlotId) {
        if let Some(slot) = self.slots.get_mut(&slot) {
            slot.calls += 1;
        }
    }

    /// Ends a call. Returns true if the link should be closed, because its owner is gone and no other owner can use
    /// the link.
    pub fn leave(&mut self, slot: SlotId, now: Instant) -> bool {
        let Some(found) = self.slots.get_mut(&slot) else { return false };
        found.calls = found.calls.saturating_sub(1);
        found.used = now;
        // Each call ends here, and nearly always the link stays, so this looks it up only once.
        let goes = found.is_over();
        if goes {
            self.slots.remove(&slot);
        }
        goes
    }

    /// Binds a link to its owner.
    pub fn bind(&mut self, slot: SlotId, binding: Binding) {
        if let Some(slot) = self.slots.get_mut(&slot)
            && slot.binding != Binding::Owner
        {
            slot.binding = binding;
        }
    }

    /// Records that the owner of a link is gone for good. Returns true if the link should be closed.
    pub fn release(&mut self, slot: SlotId, owner: OwnerId) -> bool {
        let Some(found) = self.slots.get_mut(&slot).filter(|slot| slot.owner == Some(owner)) else {
            return false;
        };
        (found.owner, found.granted) = (None, false);
        let free = self.slots.values().filter(|slot| slot.owner.is_none() && slot.is_open && slot.calls == 0);
        if free.count() > self.rules.keep {
            // The link is closed below, as soon as it carries no call.
            self.bind(slot, Binding::Owner);
        }
        self.drop_ownerless(slot)
    }

    /// Takes back a link whose owner disappeared before it accepted the link.
    pub fn abandon(&mut self, slot: SlotId) {
        if let Some(slot) = self.slots.get_mut(&slot) {
            (slot.owner, slot.granted) = (None, false);
        }
    }

    fn drop_ownerless(&mut self, id: SlotId) -> bool {
        let goes = self.slots.get(&id).is_some_and(Slot::is_over);
        if goes {
            self.slots.remove(&id);
        }
        goes
    }

    /// Returns the number of links, including those that are being opened.
    pub fn size(&self) -> usize {
        self.slots.len()
    }

    /// Gives links to as many waiting owners as possible.
    pub fn dispatch(&mut self, now: Instant) -> Vec<Action> {
        let mut actions = Vec::new();
        let mut waiting = std::mem::take(&mut self.waiters);
        let mut promised = 0;
        waiting.retain_mut(|waiter| !self.serve(waiter, now, &mut promised, &mut actions));
        self.waiters = waiting;
        actions
    }

    /// Serves one owner; returns `false` if the owner has to wait. `promised` counts the owners before this one that wait
    /// for the process of a closed link to end.
    fn serve(
        &mut self,
        waiter: &mut Waiter,
        now: Instant,
        promised: &mut usize,
        actions: &mut Vec<Action>,
    ) -> bool {
        if let Some(id) = self.ready_for(waiter, now) {
            self.grant(waiter, id, now, actions);
            return true;
        }
        let may_start = self.may_start();
        if self.budget.has_room() {
            let opens = may_start && now.saturating_duration_since(waiter.since) >= self.patience(waiter);
            let Some(permit) = opens.then(|| self.budget.take()).flatten() else { return false };
            self.open(waiter, permit, now, actions);
            return true;
        }
        let is_promised = *promised < self.budget.leaving();
        *promised += usize::from(is_promised);
        let may_close = !is_promised && self.may_close();
        if may_close && let Some(id) = self.idlest(now, |slot| slot.owner.is_none()) {
            *promised += 1;
            return self.replace(waiter, id, now, actions);
        }
        // If the process ends soon, the owner gets a link of exactly its own class.
        if is_promised && now.saturating_duration_since(waiter.since) < self.rules.further_after {
            return false;
        }
        let is_left = |slot: &Slot| self.is_left(slot, now);
        let serves =
            |slot: &Slot| is_left(slot) && slot.binding == Binding::None && slot.class.covers(waiter.class);
        let exact = self.idlest(now, |slot| serves(slot) && slot.class == waiter.class);
        if let Some(id) = exact.or_else(|| self.idlest(now, serves)) {
            self.grant(waiter, id, now, actions);
            return true;
        }
        if may_close && let Some(id) = self.idlest(now, is_left) {
            *promised += 1;
            return self.replace(waiter, id, now, actions);
        }
        false
    }

    /// Returns true if the link has no owner, or if its owner has not used it for so long that the reservation has
    /// ended.
    fn is_left(&self, slot: &Slot, now: Instant) -> bool {
        slot.owner.is_none() || now.saturating_duration_since(slot.used) >= self.rules.owned_rest
    }

    fn may_start(&self) -> bool {
        self.opening() < self.rules.starts
    }

    fn opening(&self) -> usize {
        self.slots.values().filter(|slot| !slot.is_open).count()
    }

    /// Returns the link that the owner had before, or a free link of exactly the owner's class.
    fn ready_for(&self, waiter: &Waiter, now: Instant) -> Option<SlotId> {
        let own = self.slots.iter().find(|(_, slot)| slot.owner == Some(waiter.owner) && slot.is_open);
        let own = own.filter(|(_, slot)| slot.class.covers(waiter.class)).map(|(id, _)| *id);
        let was_own = || {
            let last = waiter.last?;
            let slot = self.slots.get(&last)?;
            let is_left = self.is_left(slot, now);
            (is_left && slot.is_idle(now) && slot.binding == Binding::None && slot.class.covers(waiter.class))
                .then_some(last)
        };
        let is_free = |slot: &Slot| {
            slot.owner.is_none()
                && slot.is_idle(now)
                && slot.binding == Binding::None
                && slot.class == waiter.class
        };
        // The most recently used link is taken, so that the others can be closed when they have been idle long enough.
        let free = || {
            let free = self.slots.iter().filter(|(_, slot)| is_free(slot));
            free.max_by_key(|(_, slot)| slot.used).map(|(id, _)| *id)
        };
        own.or_else(was_own).or_else(free)
    }

    /// Returns the time for which an owner waits before a further link is opened.
    fn patience(&self, waiter: &Waiter) -> Duration {
        if waiter.has_closed {
            Duration::ZERO
        } else if waiter.last.is_some_and(|last| self.slots.contains_key(&last)) {
            self.rules.move_after
        } else if self.slots.is_empty() {
            Duration::ZERO
        } else {
            self.rules.further_after
        }
    }

    fn idlest(&self, now: Instant, is_meant: impl Fn(&Slot) -> bool) -> Option<SlotId> {
        let idle = self.slots.iter().filter(|(_, slot)| slot.can_go(now) && is_meant(slot));
        idle.min_by_key(|(_, slot)| slot.used).map(|(id, _)| *id)
    }

    fn grant(&mut self, waiter: &Waiter, id: SlotId, now: Instant, actions: &mut Vec<Action>) {
        self.note_taken(waiter, id);
        self.note_move(waiter, id);
        self.disown(waiter.owner);
        if let Some(slot) = self.slots.get_mut(&id) {
            (slot.owner, slot.granted, slot.used) = (Some(waiter.owner), true, now);
        }
        actions.push(Action::Grant(waiter.ticket, id));
    }

    fn open(&mut self, waiter: &Waiter, permit: LinkPermit, now: Instant, actions: &mut Vec<Action>) {
        let id = self.number();
        self.note_move(waiter, id);
        self.disown(waiter.owner);
        let slot = Slot {
            class: waiter.class,
            is_open: false,
            owner: Some(waiter.owner),
            calls: 0,
            binding: Binding::None,
            used: now,
            granted: true,
            permit,
        };
        self.slots.insert(id, slot);
        actions.push(Action::Open(waiter.ticket, id));
    }

    /// Takes the current link away from an owner, because an owner has only one link at a time.
    fn disown(&mut self, owner: OwnerId) {
        for slot in self.slots.values_mut().filter(|slot| slot.owner == Some(owner)) {
            (slot.owner, slot.granted) = (None, false);
        }
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }
}

mod moves;
mod replacing;
mod slot;
#[cfg(test)]
mod tests;
mod unneeded;

use slot::Slot;
pub use unneeded::UnneededLink;
