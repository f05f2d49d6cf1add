//! Tests of the pool's individual rules; `model` checks all rules over random orders of events.

mod happening;
mod model;

use transport::child::Companion;

use super::*;

const RULES: PoolRules = PoolRules {
    max: 3,
    starts: 2,
    further_after: Duration::from_millis(250),
    move_after: Duration::from_secs(2),
    waiters: 64,
    keep: 2,
    owned_rest: Duration::ZERO,
    others_rest: Duration::from_mins(1),
    unowned_rest: Duration::from_mins(5),
};

fn class(bits: u8) -> LinkClass {
    LinkClass { version: "2025-11-25", askable: Askable::from_bits(bits) }
}

/// A pool, its clock, and the actions that the pool has requested.
struct World {
    dispatch: Dispatch,
    now: Instant,
    told: Vec<Action>,
}

impl World {
    fn new() -> Self {
        Self::with(RULES)
    }

    fn with(rules: PoolRules) -> Self {
        Self::sharing(rules, &LinkBudget::new(rules.max))
    }

    fn sharing(rules: PoolRules, budget: &Arc<LinkBudget>) -> Self {
        Self { dispatch: Dispatch::new(rules, budget.clone()), now: Instant::now(), told: Vec::new() }
    }

    fn ask(&mut self, owner: OwnerId, bits: u8, last: Option<SlotId>) -> Ticket {
        let ticket = self.dispatch.request(owner, class(bits), last, self.now).expect("room");
        self.look();
        ticket
    }

    fn look(&mut self) {
        self.told.extend(self.dispatch.dispatch(self.now));
    }

    fn pass(&mut self, time: Duration) {
        self.now += time;
        self.look();
    }

    fn given(&self, ticket: Ticket) -> Option<(SlotId, bool)> {
        self.told.iter().find_map(|action| match action {
            Action::Grant(to, slot) if *to == ticket => Some((*slot, false)),
            Action::Open(to, slot) if *to == ticket => Some((*slot, true)),
            _ => None,
        })
    }

    /// Creates an owner with an open link that the owner has used once; returns the link's number.
    fn owner(&mut self, owner: OwnerId, bits: u8) -> SlotId {
        let ticket = self.ask(owner, bits, None);
        self.pass(RULES.further_after);
        let (slot, opens) = self.given(ticket).expect("a link");
        if opens {
            self.dispatch.opened(slot, self.now);
        }
        assert!(self.dispatch.enter(slot, owner, self.now));
        assert!(!self.dispatch.leave(slot, self.now));
        slot
    }
}

#[test]
fn the_first_link_opens_at_once_and_a_further_one_after_a_while() {
    let mut world = World::new();
    let (first, second) = (world.ask(1, 1, None), world.ask(2, 1, None));
    assert!(world.given(first).expect("at once").1);
    assert_eq!(world.given(second), None);
    world.pass(RULES.further_after);
    assert!(world.given(second).expect("now").1);
}

#[test]
fn a_link_whose_owner_has_gone_serves_the_next_at_once() {
    let mut world = World::new();
    let slot = world.owner(1, 1);
    assert!(!world.dispatch.release(slot, 1), "it stays open");
    let next = world.ask(2, 1, None);
    assert_eq!(world.given(next), Some((slot, false)));
}

#[test]
fn an_owner_keeps_its_link_while_there_is_room() {
    let mut world = World::new();
    let slot = world.owner(1, 1);
    let other = world.owner(2, 1);
    assert_ne!(slot, other);
    assert!(world.dispatch.enter(slot, 1, world.now), "it is still the first one's");
}

#[test]
fn owners_take_turns_when_all_links_are_open() {
    let mut world = World::new();
    let slots = [1, 2, 3].map(|owner| world.owner(owner, 1));
    assert!(world.dispatch.enter(slots[0], 1, world.now), "a call runs on the first");
    let next = world.ask(4, 1, None);
    assert_eq!(world.given(next), Some((slots[1], false)), "the idlest that is free");
    assert!(!world.dispatch.enter(slots[1], 2, world.now), "it has lost it");
    assert!(world.dispatch.enter(slots[1], 4, world.now));
}

#[test]
fn a_link_that_was_promised_is_taken_only_after_a_long_rest() {
    let (nearly, rest) = (Duration::from_secs(298), Duration::from_mins(5));
    for binding in [Binding::None, Binding::Owner] {
        let mut world = World::with(PoolRules { owned_rest: rest, ..RULES });
        let slots = [1, 2, 3].map(|owner| world.owner(owner, 1));
        for slot in &slots {
            world.dispatch.bind(*slot, binding);
        }
        let next = world.ask(4, 1, None);
        world.pass(nearly);
        assert_eq!(world.given(next), None);
        assert_eq!(world.dispatch.moves(), 0);
        world.pass(Duration::from_secs(3));
        let (slot, opens) = world.given(next).expect("a link");
        assert_eq!((slots.contains(&slot), opens), (binding == Binding::None, binding == Binding::Owner));
        assert_eq!(world.told.contains(&Action::Close(slots[0])), binding == Binding::Owner);
    }
}

#[test]
fn an_owner_that_comes_back_takes_no_link_that_was_promised_to_another() {
    let rest = Duration::from_mins(5);
    let mut world = World::with(PoolRules { owned_rest: rest, max: 1, ..RULES });
    let slot = world.owner(1, 1);
    let next = world.ask(2, 1, None);
    world.pass(rest);
    assert_eq!(world.given(next), Some((slot, false)));
    assert!(world.dispatch.enter(slot, 2, world.now));
    assert!(!world.dispatch.leave(slot, world.now));
    let back = world.ask(1, 1, Some(slot));
    world.pass(rest.saturating_sub(Duration::from_secs(1)));
    assert_eq!(world.given(back), None);
    world.pass(Duration::from_secs(1));
    assert_eq!(world.given(back), Some((slot, false)));
}

#[test]
fn an_owner_gets_its_link_back_when_that_is_idle() {
    let mut world = World::new();
    let slots = [1, 2, 3].map(|owner| world.owner(owner, 1));
    let next = world.ask(4, 1, None);
    assert_eq!(world.given(next), Some((slots[0], false)));
    assert!(world.dispatch.enter(slots[0], 4, world.now));
    assert!(!world.dispatch.leave(slots[0], world.now));
    let back = world.ask(1, 1, Some(slots[0]));
    assert_eq!(world.given(back), Some((slots[0], false)));
    assert_eq!(world.dispatch.moves(), 2, "the server may mix the states of both owners");
}

#[test]
fn a_wider_link_serves_and_a_narrower_one_does_not() {
    let mut world = World::new();
    let slots = [(1, 0b11), (2, 0b11), (3, 0b1)].map(|(owner, bits)| world.owner(owner, bits));
    for (owner, slot) in [(1, slots[0]), (2, slots[1])] {
        assert!(world.dispatch.enter(slot, owner, world.now));
    }
    let wide = world.ask(4, 0b10, None);
    let (slot, opens) = world.given(wide).expect("the idle link makes room for one of its own");
    assert!(opens && world.told.contains(&Action::Close(slots[2])));
    world.dispatch.opened(slot, world.now);
    assert!(world.dispatch.enter(slot, 4, world.now));
    assert!(!world.dispatch.leave(slots[0], world.now), "its call has ended");
    let narrow = world.ask(5, 0b1, None);
    assert_eq!(world.given(narrow), Some((slots[0], false)), "one that can be asked more");
}

#[test]
fn a_link_whose_process_is_still_ending_counts_and_no_other_is_closed_in_its_place() {
    let mut world = World::new();
    let slots = [1, 2, 3].map(|owner| world.owner(owner, 0b1));
    let processes = slots.map(|slot| world.dispatch.companion(slot).expect("a link"));
    let [first, second, third] = processes;
    let waits = world.ask(4, 0b10, None);
    assert_eq!(world.told.last(), Some(&Action::Close(slots[0])));
    for _ in 0..20 {
        world.pass(Duration::from_millis(200));
    }
    assert_eq!((world.given(waits), world.dispatch.size()), (None, 2), "only one link is closed for it");
    assert!(!world.dispatch.budget.has_room());
    drop(first);
    world.look();
    assert!(world.given(waits).expect("at once").1);
    drop((second, third));
}

#[test]
fn an_owner_that_waits_long_for_the_end_of_a_process_takes_a_wider_link() {
    let mut world = World::new();
    let slots = [(1, 0b1), (2, 0b11), (3, 0b11)].map(|(owner, bits)| world.owner(owner, bits));
    let _processes = slots.map(|slot| world.dispatch.companion(slot).expect("a link"));
    for (slot, owner) in [(slots[1], 2), (slots[2], 3)] {
        assert!(world.dispatch.enter(slot, owner, world.now));
    }
    let waits = world.ask(4, 0b10, None);
    assert_eq!(world.told.last(), Some(&Action::Close(slots[0])));
    assert!(!world.dispatch.leave(slots[1], world.now), "its call has ended");
    world.look();
    assert_eq!(world.given(waits), None, "a link of its own class is better, if it is there soon");
    world.pass(RULES.further_after);
    assert_eq!(world.given(waits), Some((slots[1], false)));
}

#[test]
fn slow_ends_leave_links_for_the_others() {
    let mut world = World::with(PoolRules { max: 4, ..RULES });
    let slots = [1, 2, 3, 4].map(|owner| world.owner(owner, 0b1));
    let _processes = slots.map(|slot| world.dispatch.companion(slot).expect("a link"));
    for owner in 5..10 {
        world.ask(owner, 0b10, None);
    }
    world.pass(Duration::from_secs(3));
    assert_eq!(world.dispatch.size(), 4 - RULES.starts);
}

#[test]
fn a_bound_link_serves_nobody_else_and_closes_with_its_owner() {
    let mut world = World::new();
    let slot = world.owner(1, 1);
    world.dispatch.bind(slot, Binding::Owner);
    assert!(world.dispatch.release(slot, 1));
    assert_eq!(world.dispatch.size(), 0);
}

#[test]
fn the_link_of_a_task_goes_last_and_only_after_a_minute() {
    let mut world = World::new();
    let slots = [1, 2, 3].map(|owner| world.owner(owner, 1));
    for slot in slots {
        world.dispatch.bind(slot, Binding::Task);
    }
    let next = world.ask(4, 1, None);
    world.pass(Duration::from_secs(30));
    assert_eq!(world.given(next), None);
    world.pass(TASK_REST);
    assert!(world.given(next).expect("a link of its own").1);
    assert!(world.told.contains(&Action::Close(slots[0])));
}

#[test]
fn only_some_links_without_an_owner_stay_open() {
    let mut world = World::new();
    let slots = [1, 2, 3].map(|owner| world.owner(owner, 1));
    let closes = [0, 1, 2].map(|at| world.dispatch.release(slots[at], at as u64 + 1));
    assert_eq!(closes, [false, false, true]);
    assert_eq!(world.dispatch.size(), RULES.keep);
}

#[test]
fn a_link_without_an_owner_is_closed_after_five_minutes_whatever_the_idle_time_of_sessions() {
    let mut world = World::new();
    let (left, owned) = (world.owner(1, 1), world.owner(2, 1));
    assert!(!world.dispatch.release(left, 1));
    let half_an_hour = Duration::from_mins(30);
    world.pass(Duration::from_secs(299));
    assert!(world.dispatch.shed(half_an_hour, world.now).is_empty());
    world.pass(Duration::from_secs(1));
    assert_eq!(world.dispatch.shed(half_an_hour, world.now), [left]);
    assert!(world.dispatch.enter(owned, 2, world.now), "an owner keeps its link");
}

#[test]
fn a_link_without_an_owner_goes_first_for_another_server_and_none_with_a_call_on_it() {
    let mut world = World::new();
    let slots = [1, 2, 3].map(|owner| world.owner(owner, 1));
    world.pass(GRACE);
    assert!(!world.dispatch.release(slots[2], 3));
    assert!(world.dispatch.enter(slots[0], 1, world.now));
    for (expected, is_owned) in [(slots[2], false), (slots[1], true)] {
        let spare = world.dispatch.spare(world.now).expect("a spare link");
        assert_eq!((spare.slot, spare.is_owned), (expected, is_owned));
        assert!(world.dispatch.give_up(spare, world.now));
        assert!(!world.dispatch.give_up(spare, world.now), "it has gone");
    }
    assert_eq!(world.dispatch.spare(world.now), None, "a call is on the last one");
    assert_eq!(world.dispatch.moves(), 1, "one had an owner");
}

#[test]
fn a_link_that_was_promised_is_no_room_for_another_server() {
    let mut world = World::with(PoolRules { owned_rest: Duration::from_mins(5), ..RULES });
    let slot = world.owner(1, 1);
    world.pass(Duration::from_secs(299));
    assert_eq!(world.dispatch.spare(world.now), None);
    world.pass(Duration::from_secs(1));
    let spare = world.dispatch.spare(world.now).expect("long enough");
    assert!(world.dispatch.enter(slot, 1, world.now), "its owner comes back");
    assert!(!world.dispatch.give_up(spare, world.now));
}

#[test]
fn who_is_not_there_any_more_gets_nothing() {
    let mut world = World::new();
    let slot = world.owner(1, 1);
    let gone = world.ask(2, 1, None);
    world.dispatch.cancel(gone);
    world.pass(RULES.move_after);
    assert_eq!(world.given(gone), None);
    assert_eq!((world.dispatch.size(), world.dispatch.release(slot, 1)), (1, false));
}

#[test]
fn two_pools_have_as_many_links_together_as_one() {
    let budget = LinkBudget::new(RULES.max);
    let (mut ann, mut bob) = (World::sharing(RULES, &budget), World::sharing(RULES, &budget));
    let links = [ann.owner(1, 1), ann.owner(2, 1), ann.owner(3, 1)];
    assert!(!budget.has_room());
    let (first, second) = (bob.ask(4, 1, None), bob.ask(5, 1, None));
    bob.pass(RULES.further_after);
    assert_eq!((bob.given(first), bob.given(second)), (None, None));
    assert!(bob.dispatch.lacks_room(first, bob.now), "the first one that waits needs a link of another pool");
    assert!(!bob.dispatch.lacks_room(second, bob.now));
    assert_eq!(ann.dispatch.spare_for_others(ann.now), None, "its owners have just used them");
    ann.pass(RULES.others_rest);
    let spare = ann.dispatch.spare_for_others(ann.now).expect("a link that nobody has used for long");
    assert_eq!(spare.slot, links[0]);
    assert!(ann.dispatch.give_up(spare, ann.now) && budget.has_room());
    assert_eq!((ann.dispatch.moves(), bob.dispatch.moves(), budget.moves()), (1, 0, 1));
    bob.look();
    assert!(bob.given(first).expect("a link").1);
    assert_eq!(bob.given(second), None);
    assert!(!budget.has_room());
    // A further request makes neither pool open or close a link.
    ann.ask(6, 1, None);
    assert_eq!((ann.dispatch.size(), bob.dispatch.size()), (2, 1));
}
