//! Tests the pool over random orders of events, and compares it with a record of what its owners got.

use proptest::prelude::*;

use super::happening::{Happening, happening};
use super::*;

/// The state of the owners, recorded independently of the pool.
#[derive(Default)]
struct Owners {
    /// The rules of the pool.
    rules: Option<PoolRules>,
    /// The class that was declared when each link was opened.
    declared: std::collections::HashMap<SlotId, LinkClass>,
    /// The time at which each link was granted, opened, or used by a call.
    used: std::collections::HashMap<SlotId, Instant>,
    /// The link that each owner has now.
    has: std::collections::HashMap<OwnerId, SlotId>,
    /// The last link of each owner, even if another owner got the link afterwards.
    last: std::collections::HashMap<OwnerId, SlotId>,
    calls: Vec<(OwnerId, SlotId)>,
    waiting: Vec<(Ticket, OwnerId, LinkClass)>,
    opening: Vec<(SlotId, OwnerId)>,
    /// Calls that wait for their clients and hold their links, the oldest first.
    parked: Vec<(OwnerId, SlotId)>,
    /// The links whose server has the roots of an owner, with that owner.
    personal: std::collections::HashMap<SlotId, OwnerId>,
    /// The number of times that an owner lost its link because of a decision of the pool.
    moves: u64,
    /// The processes of links that were opened; each one ends some time after its link has left the pool.
    processes: Vec<(SlotId, Companion)>,
    /// True if links have processes, which may take long to end.
    has_processes: bool,
}

/// Returns a class of clients from its bits: three bits for types of questions, and one bit for the version.
fn class_of(bits: u8) -> LinkClass {
    let version = if bits & 8 == 0 { "2025-11-25" } else { "2025-06-18" };
    LinkClass { version, ..class(bits & 7) }
}

impl Owners {
    fn of(rules: PoolRules) -> Self {
        Self { rules: Some(rules), ..Self::default() }
    }

    fn rules(&self) -> PoolRules {
        self.rules.unwrap_or(RULES)
    }

    /// Checks that a link stays with its owner until the owner has left it idle for the time `rest`: earlier, it is
    /// neither given to another owner nor closed for another owner.
    fn check_rest(&self, slot: SlotId, by: Option<OwnerId>, rest: Duration, now: Instant) {
        let owner = self.has.iter().find(|(_, has)| **has == slot).map(|(owner, _)| *owner);
        let is_others = owner.is_some() && owner != by;
        let used = self.used.get(&slot).filter(|_| is_others);
        assert!(
            used.is_none_or(|used| now.duration_since(*used) >= rest),
            "{slot} is reserved for {owner:?}"
        );
    }

    /// Records the pool's actions, and checks that no link is given away while another owner's call uses it.
    fn note(&mut self, world: &mut World) {
        for action in std::mem::take(&mut world.told) {
            match action {
                Action::Close(slot) => {
                    assert!(self.calls.iter().all(|(_, used)| *used != slot), "closed under a call");
                    self.check_rest(slot, None, self.rules().owned_rest, world.now);
                    self.take_away(slot);
                }
                Action::Grant(ticket, slot) | Action::Open(ticket, slot) => {
                    let at = self.waiting.iter().position(|(waits, ..)| *waits == ticket).expect("it waited");
                    let (_, owner, needed) = self.waiting.remove(at);
                    self.check_rest(slot, Some(owner), self.rules().owned_rest, world.now);
                    self.used.insert(slot, world.now);
                    let declared = *self.declared.entry(slot).or_insert(needed);
                    assert_eq!(declared.version, needed.version);
                    assert!(
                        declared.askable.includes(needed.askable),
                        "{declared:?} is narrower than {needed:?}"
                    );
                    assert!(self.calls.iter().all(|(by, used)| *used != slot || *by == owner), "two owners");
                    let known = self.personal.get(&slot);
                    assert!(known.is_none_or(|known| *known == owner), "roots of another owner");
                    if self.has.remove(&owner).is_some_and(|had| had != slot) {
                        self.moves += 1;
                    }
                    self.take_away(slot);
                    self.has.insert(owner, slot);
                    self.last.insert(owner, slot);
                    if matches!(action, Action::Open(..)) {
                        self.opening.push((slot, owner));
                        let process = world.dispatch.companion(slot).filter(|_| self.has_processes);
                        self.processes.extend(process.map(|process| (slot, process)));
                    }
                }
            }
        }
        assert_eq!(world.dispatch.moves(), self.moves, "each owner that loses its link is counted");
        assert!(world.dispatch.size() <= self.rules().max);
        assert!(self.processes.len() <= self.rules().max, "processes that are ending count");
        assert!(self.opening.len() <= self.rules().starts);
    }

    /// Ends the process of a link that has left the pool.
    fn end_process(&mut self, world: &World, which: usize) {
        let mut leaving = self.processes.iter().filter(|(slot, _)| !world.dispatch.slots.contains_key(slot));
        let ended = leaving.nth(which).map(|(slot, _)| *slot);
        self.processes.retain(|(slot, _)| Some(*slot) != ended);
    }

    /// Records that the pool takes this link from its owner, if the link has one.
    fn take_away(&mut self, slot: SlotId) {
        let before = self.has.len();
        self.has.retain(|_, has| *has != slot);
        self.moves += (before - self.has.len()) as u64;
    }

    fn happen(&mut self, world: &mut World, what: Happening) {
        match what {
            // An owner has one request at a time.
            Happening::Ask(owner, bits)
                if self.waiting.iter().all(|(_, waits, _)| *waits != owner)
                    && self.opening.iter().all(|(_, opens)| *opens != owner) =>
            {
                let last = self.last.get(&owner).copied();
                if let Some(ticket) = world.dispatch.request(owner, class_of(bits), last, world.now) {
                    self.waiting.push((ticket, owner, class_of(bits)));
                }
            }
            Happening::Opens(which, works) if which < self.opening.len() => {
                let (slot, owner) = self.opening.remove(which);
                if works {
                    world.dispatch.opened(slot, world.now);
                    self.used.insert(slot, world.now);
                } else {
                    world.dispatch.lost(slot);
                    self.has.retain(|by, has| *by != owner || *has != slot);
                }
            }
            Happening::Begin(owner) => {
                if let Some(slot) = self.has.get(&owner).copied()
                    && world.dispatch.enter(slot, owner, world.now)
                {
                    self.calls.push((owner, slot));
                    self.used.insert(slot, world.now);
                }
            }
            Happening::End(owner) => {
                if let Some(at) = self.calls.iter().position(|(by, _)| *by == owner) {
                    let (_, slot) = self.calls.remove(at);
                    self.used.insert(slot, world.now);
                    if world.dispatch.leave(slot, world.now) {
                        self.has.retain(|_, has| *has != slot);
                    }
                }
            }
            Happening::Pass(ms) => world.now += Duration::from_millis(ms),
            Happening::Ends(which) => self.end_process(world, which),
            Happening::MakeRoom | Happening::Shed(_) | Happening::Reload => self.shrink(world, what),
            Happening::Park(_) | Happening::MakeWay | Happening::Personal(_) => self.wait(world, what),
            rest => self.end_or_lose(world, rest),
        }
        self.parked.retain(|parked| self.calls.contains(parked));
        world.look();
        self.note(world);
    }

    /// Applies events that close links although nobody has requested a link of this server.
    fn shrink(&mut self, world: &mut World, what: Happening) {
        let gone = match what {
            Happening::MakeRoom => {
                let spare = world.dispatch.spare(world.now);
                let spare = spare.filter(|spare| world.dispatch.give_up(*spare, world.now));
                if let Some(spare) = spare {
                    self.check_rest(spare.slot, None, self.rules().owned_rest, world.now);
                }
                spare.map(|spare| spare.slot).into_iter().collect()
            }
            Happening::Shed(ms) => world.dispatch.shed(Duration::from_millis(ms), world.now),
            _ => {
                let open: Vec<SlotId> = world.dispatch.slots.keys().copied().collect();
                for slot in &open {
                    world.dispatch.lost(*slot);
                }
                self.calls.clear();
                self.opening.clear();
                self.has.clear();
                open
            }
        };
        for slot in gone {
            assert!(self.calls.iter().all(|(_, used)| *used != slot), "closed under a call");
            self.take_away(slot);
        }
    }

    /// Applies events of calls that wait for their clients, and of owners whose roots a server has.
    fn wait(&mut self, world: &mut World, what: Happening) {
        match what {
            Happening::Park(owner) => {
                let call = self.calls.iter().find(|call| call.0 == owner && !self.parked.contains(call));
                self.parked.extend(call.copied());
            }
            // The longest waiting call is given up: its server may still work on it.
            Happening::MakeWay if !self.parked.is_empty() => {
                let (owner, slot) = self.parked.remove(0);
                world.dispatch.bind(slot, Binding::Owner);
                self.personal.insert(slot, owner);
                self.happen(world, Happening::End(owner));
            }
            Happening::Personal(owner) => {
                if let Some((_, slot)) = self.calls.iter().find(|call| call.0 == owner) {
                    world.dispatch.bind(*slot, Binding::Owner);
                    self.personal.insert(*slot, owner);
                }
            }
            _ => {}
        }
    }

    fn end_or_lose(&mut self, world: &mut World, what: Happening) {
        match what {
            Happening::Release(owner) => {
                if let Some(slot) = self.has.remove(&owner) {
                    world.dispatch.release(slot, owner);
                }
            }
            Happening::Bind(owner, task) => {
                if let Some(slot) = self.has.get(&owner) {
                    world.dispatch.bind(*slot, if task { Binding::Task } else { Binding::Owner });
                }
            }
            Happening::Lose(which) => {
                if let Some(slot) = self.has.values().nth(which).copied()
                    && self.opening.iter().all(|(opens, _)| *opens != slot)
                {
                    world.dispatch.lost(slot);
                    self.calls.retain(|(_, used)| *used != slot);
                    self.has.retain(|_, has| *has != slot);
                }
            }
            Happening::Cancel(which) if which < self.waiting.len() => {
                let (ticket, ..) = self.waiting.remove(which);
                world.dispatch.cancel(ticket);
            }
            // The event has no target.
            _ => {}
        }
    }
}

impl Owners {
    /// Ends all calls, and lets enough time pass for all waiting owners to be served.
    fn finish(&mut self, world: &mut World) {
        for owner in 1..6 {
            while self.calls.iter().any(|(by, _)| *by == owner) {
                self.happen(world, Happening::End(owner));
            }
        }
        while !self.opening.is_empty() {
            self.happen(world, Happening::Opens(0, true));
        }
        for _ in 0..self.processes.len() {
            self.happen(world, Happening::Ends(0));
        }
        self.happen(world, Happening::Pass(30_000));
    }

    /// Lets all owners release their links, and checks that no link is left.
    fn part(&mut self, world: &mut World) {
        for owner in 1..6 {
            self.happen(world, Happening::Release(owner));
        }
        world.dispatch.shed(Duration::ZERO, world.now + GRACE);
        assert_eq!(world.dispatch.size(), 0, "no link is left: {:?}", world.dispatch);
    }

    /// Makes room as a pool does if it lacks room: takes a link from the pool of another caller of the same server.
    fn make_room(&self, world: &World, other: &mut Self, theirs: &mut World) {
        let lacks =
            |(ticket, ..): &(Ticket, OwnerId, LinkClass)| world.dispatch.lacks_room(*ticket, world.now);
        if !self.waiting.iter().any(lacks) {
            return;
        }
        let spare = theirs.dispatch.spare_for_others(theirs.now);
        if let Some(spare) = spare.filter(|spare| theirs.dispatch.give_up(*spare, theirs.now)) {
            assert!(other.calls.iter().all(|(_, used)| *used != spare.slot), "closed under a call");
            other.check_rest(spare.slot, None, other.rules().others_rest, theirs.now);
            other.take_away(spare.slot);
        }
    }
}

fn rules() -> impl Strategy<Value = PoolRules> {
    // The times are so short that owners lose their links, and return for them, within one history.
    let promised = PoolRules { owned_rest: Duration::from_secs(3), further_after: Duration::ZERO, ..RULES };
    prop_oneof![Just(RULES), Just(promised)]
}

proptest! {
    /// Checks the rules of the pool: each link has one owner, and stays with this owner as long as promised;
    /// everything that the owner needs was declared on the link; the limit of links holds, also for processes that are
    /// ending; and nobody waits once all calls and all processes without a link have ended.
    #[test]
    fn any_order_of_events(
        rules in rules(),
        has_processes in any::<bool>(),
        history in prop::collection::vec(happening(), 1..120),
    ) {
        let (mut world, mut owners) = (World::with(rules), Owners::of(rules));
        owners.has_processes = has_processes;
        for what in history {
            owners.happen(&mut world, what);
        }
        for _ in 0..100 {
            owners.finish(&mut world);
        }
        prop_assert!(owners.waiting.is_empty(), "{:?} wait for nothing", owners.waiting);
        owners.part(&mut world);
    }

    /// Checks that the pools of all callers of a server together have no more links than one server may have, and
    /// that no caller waits forever for links of another caller.
    #[test]
    fn callers_share_the_links_of_a_server(
        rules in rules(),
        has_processes in any::<bool>(),
        history in prop::collection::vec((any::<bool>(), happening()), 1..120),
    ) {
        let budget = LinkBudget::new(rules.max);
        let mut pools = [(); 2].map(|()| {
            (World::sharing(rules, &budget), Owners { has_processes, ..Owners::of(rules) })
        });
        for (first, what) in history {
            let [one, two] = &mut pools;
            let (ours, theirs) = if first { (one, two) } else { (two, one) };
            ours.1.happen(&mut ours.0, what);
            theirs.0.now = ours.0.now.max(theirs.0.now);
            ours.1.make_room(&ours.0, &mut theirs.1, &mut theirs.0);
            let together = ours.0.dispatch.size() + theirs.0.dispatch.size() + budget.leaving();
            prop_assert!(together <= rules.max);
            prop_assert!(ours.1.processes.len() + theirs.1.processes.len() <= rules.max);
            prop_assert_eq!(budget.has_room(), together < rules.max, "{} links", together);
        }
        for _ in 0..100 {
            for at in [0, 1] {
                let [one, two] = &mut pools;
                let (ours, theirs) = if at == 0 { (one, two) } else { (two, one) };
                ours.1.finish(&mut ours.0);
                ours.1.make_room(&ours.0, &mut theirs.1, &mut theirs.0);
            }
        }
        for (world, owners) in &mut pools {
            prop_assert!(owners.waiting.is_empty(), "{:?} wait for nothing", owners.waiting);
            owners.part(world);
            owners.processes.clear();
        }
        prop_assert_eq!((0..rules.max).filter_map(|_| budget.take().map(std::mem::forget)).count(), rules.max);
    }
}
