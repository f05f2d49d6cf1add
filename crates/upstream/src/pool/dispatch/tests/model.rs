//! Tests the pool over random orders of events, against a record of what its owners know.

use proptest::prelude::*;

use super::*;

/// One event of a random history.
#[derive(Debug, Clone, Copy)]
enum Happening {
    Ask(OwnerId, u8),
    Opens(usize, bool),
    Begin(OwnerId),
    End(OwnerId),
    Release(OwnerId),
    Bind(OwnerId, bool),
    Lose(usize),
    Cancel(usize),
    Pass(u64),
    /// Another server needs a process.
    MakeRoom,
    /// Links that were not used for this long are closed.
    Shed(u64),
    /// An owner's call waits for its client, and its link may be given up for another owner.
    Park(OwnerId),
    MakeWay,
    /// The server asks for an owner's roots during a call. In `Reload`, its configuration changes, and every link is lost.
    Personal(OwnerId),
    Reload,
}

fn happening() -> impl Strategy<Value = Happening> {
    let owner = || 1..6_u64;
    prop_oneof![
        6 => (owner(), 0..4_u8).prop_map(|(owner, bits)| Happening::Ask(owner, bits)),
        6 => (0..8_usize, any::<bool>()).prop_map(|(which, works)| Happening::Opens(which, works)),
        6 => owner().prop_map(Happening::Begin),
        6 => owner().prop_map(Happening::End),
        2 => owner().prop_map(Happening::Release),
        1 => (owner(), any::<bool>()).prop_map(|(owner, task)| Happening::Bind(owner, task)),
        1 => (0..8_usize).prop_map(Happening::Lose),
        2 => (0..8_usize).prop_map(Happening::Cancel),
        4 => (1..3_000_u64).prop_map(Happening::Pass),
        1 => Just(Happening::MakeRoom),
        1 => (1..600_000_u64).prop_map(Happening::Shed),
        2 => owner().prop_map(Happening::Park),
        2 => Just(Happening::MakeWay),
        1 => owner().prop_map(Happening::Personal),
        1 => Just(Happening::Reload),
    ]
}

/// The knowledge of the owners, recorded independently of the pool.
#[derive(Default)]
struct Owners {
    /// The link that each owner was given last.
    has: std::collections::HashMap<OwnerId, SlotId>,
    calls: Vec<(OwnerId, SlotId)>,
    waiting: Vec<(Ticket, OwnerId)>,
    opening: Vec<(SlotId, OwnerId)>,
    /// Calls that wait for their clients and hold their links, the oldest first.
    parked: Vec<(OwnerId, SlotId)>,
    /// The links whose server knows the roots of this owner.
    personal: std::collections::HashMap<SlotId, OwnerId>,
    /// The number of times that an owner lost its link to the pool's decisions.
    moves: u64,
}

impl Owners {
    /// Records the pool's actions, and checks that no link is given away while another owner's call uses it.
    fn note(&mut self, world: &mut World) {
        for action in std::mem::take(&mut world.told) {
            match action {
                Action::Close(slot) => {
                    assert!(self.calls.iter().all(|(_, used)| *used != slot), "closed under a call");
                    self.take_away(slot);
                }
                Action::Grant(ticket, slot) | Action::Open(ticket, slot) => {
                    let at = self.waiting.iter().position(|(waits, _)| *waits == ticket).expect("it waited");
                    let (_, owner) = self.waiting.remove(at);
                    assert!(self.calls.iter().all(|(by, used)| *used != slot || *by == owner), "two owners");
                    let known = self.personal.get(&slot);
                    assert!(known.is_none_or(|known| *known == owner), "roots of another owner");
                    if self.has.remove(&owner).is_some_and(|had| had != slot) {
                        self.moves += 1;
                    }
                    self.take_away(slot);
                    self.has.insert(owner, slot);
                    if matches!(action, Action::Open(..)) {
                        self.opening.push((slot, owner));
                    }
                }
            }
        }
        assert_eq!(world.dispatch.moves(), self.moves, "each owner that loses its link is counted");
        assert!(world.dispatch.size() <= RULES.max);
        assert!(self.opening.len() <= RULES.starts);
    }

    /// The pool takes this link from its owner, if it has one.
    fn take_away(&mut self, slot: SlotId) {
        let before = self.has.len();
        self.has.retain(|_, has| *has != slot);
        self.moves += (before - self.has.len()) as u64;
    }

    fn happen(&mut self, world: &mut World, what: Happening) {
        match what {
            // An owner has one request at a time.
            Happening::Ask(owner, bits)
                if self.waiting.iter().all(|(_, waits)| *waits != owner)
                    && self.opening.iter().all(|(_, opens)| *opens != owner) =>
            {
                let last = self.has.get(&owner).copied();
                if let Some(ticket) = world.dispatch.request(owner, class(bits), last, world.now) {
                    self.waiting.push((ticket, owner));
                }
            }
            Happening::Opens(which, works) if which < self.opening.len() => {
                let (slot, owner) = self.opening.remove(which);
                if works {
                    world.dispatch.opened(slot, world.now);
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
                }
            }
            Happening::End(owner) => {
                if let Some(at) = self.calls.iter().position(|(by, _)| *by == owner) {
                    let (_, slot) = self.calls.remove(at);
                    if world.dispatch.leave(slot, world.now) {
                        self.has.retain(|_, has| *has != slot);
                    }
                }
            }
            Happening::Pass(ms) => world.now += Duration::from_millis(ms),
            Happening::MakeRoom | Happening::Shed(_) | Happening::Reload => self.shrink(world, what),
            Happening::Park(_) | Happening::MakeWay | Happening::Personal(_) => self.wait(world, what),
            rest => self.end_or_lose(world, rest),
        }
        self.parked.retain(|parked| self.calls.contains(parked));
        world.look();
        self.note(world);
    }

    /// Events that close links although nobody has requested a link of this server.
    fn shrink(&mut self, world: &mut World, what: Happening) {
        let gone = match what {
            Happening::MakeRoom => {
                let spare = world.dispatch.spare(world.now);
                let spare = spare.filter(|spare| world.dispatch.give_up(*spare, world.now));
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

    /// Events of calls that wait for their clients, and of owners whose roots a server knows.
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
                let (ticket, _) = self.waiting.remove(which);
                world.dispatch.cancel(ticket);
            }
            // The event has no target.
            _ => {}
        }
    }
}

proptest! {
    /// Checks that a link has one owner, the limit of links holds, and nobody waits once all calls have ended.
    #[test]
    fn any_order_of_events(history in prop::collection::vec(happening(), 1..120)) {
        let (mut world, mut owners) = (World::new(), Owners::default());
        for what in history {
            owners.happen(&mut world, what);
        }
        for _ in 0..100 {
            for owner in 1..6 {
                while owners.calls.iter().any(|(by, _)| *by == owner) {
                    owners.happen(&mut world, Happening::End(owner));
                }
            }
            while !owners.opening.is_empty() {
                owners.happen(&mut world, Happening::Opens(0, true));
            }
            owners.happen(&mut world, Happening::Pass(30_000));
        }
        prop_assert!(owners.waiting.is_empty(), "{:?} wait for nothing", owners.waiting);
        for owner in 1..6 {
            owners.happen(&mut world, Happening::Release(owner));
        }
        world.dispatch.shed(Duration::ZERO, world.now + GRACE);
        prop_assert_eq!(world.dispatch.size(), 0, "no link is left: {:?}", world.dispatch);
    }
}
