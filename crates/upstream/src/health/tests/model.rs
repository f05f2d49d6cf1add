//! A server with random events in any order, and the rules that hold after each event.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::super::event::{Failure, HealthEvent};
use super::super::state::HealthWord;
use super::{SECOND, World, unreachable, why};

fn failure() -> impl Strategy<Value = Failure> {
    prop_oneof![
        Just(unreachable()),
        Just(Failure::Doubtful(why())),
        Just(Failure::Unwell(why())),
        Just(Failure::Unauthorized(why())),
        Just(Failure::Nothing),
    ]
}

/// The next action of the model.
#[derive(Debug, Clone)]
enum Step {
    Say(HealthEvent),
    BeginOpening,
    EndOpening(Result<(), Failure>),
    BeginListing,
    EndListing,
    Pass(u64),
    TryIfDue,
}

fn step() -> impl Strategy<Value = Step> {
    let event = prop_oneof![
        (0_u64..4).prop_map(|link| HealthEvent::LinkEnded(link, why())),
        Just(HealthEvent::Rested),
        Just(HealthEvent::ListedFor("roots")),
        (0_usize..9).prop_map(HealthEvent::ListsKept),
        (0_usize..9, 0_usize..2).prop_map(|(tools, left_out)| HealthEvent::ListsFetched(tools, left_out)),
        (0_usize..9).prop_map(|tools| HealthEvent::ListsFetchedInPart(tools, 0, why())),
        failure().prop_map(HealthEvent::ListsFailed),
        Just(HealthEvent::ExchangeGood),
        failure().prop_map(HealthEvent::ExchangeFailed),
        failure().prop_map(HealthEvent::StreamFailed),
        (0_u64..99).prop_map(|link| HealthEvent::NoticesLost(link, why())),
        (0_u64..99).prop_map(HealthEvent::NoticesHeard),
    ];
    prop_oneof![
        6 => event.prop_map(Step::Say),
        2 => Just(Step::BeginOpening),
        2 => prop_oneof![Just(Ok(())), failure().prop_map(Err)].prop_map(Step::EndOpening),
        1 => Just(Step::BeginListing),
        1 => Just(Step::EndListing),
        2 => (0_u64..120_000).prop_map(Step::Pass),
        2 => Just(Step::TryIfDue),
    ]
}

/// A server with random events, and the rules that hold after each event.
struct Model {
    world: World,
    openings: u32,
    listings: u32,
    since: Instant,
}

impl Model {
    fn take(&mut self, step: Step) {
        let before = self.world.word();
        let event = match step {
            Step::Say(event) => event,
            Step::BeginOpening => {
                self.openings += 1;
                HealthEvent::OpeningBegan
            }
            Step::EndOpening(outcome) if self.openings > 0 => {
                self.openings -= 1;
                HealthEvent::OpeningEnded(outcome)
            }
            Step::BeginListing => {
                self.listings += 1;
                HealthEvent::ListingBegan
            }
            Step::EndListing if self.listings > 0 => {
                self.listings -= 1;
                HealthEvent::ListingEnded
            }
            Step::Pass(millis) => return self.world.pass(Duration::from_millis(millis)),
            Step::TryIfDue => {
                if self.world.machine.take_try(self.world.now) {
                    assert!(!self.world.machine.take_try(self.world.now), "one try at a time");
                }
                return;
            }
            Step::EndOpening(_) | Step::EndListing => return,
        };
        let now = self.world.now;
        let change = self.world.machine.feed(now, event);
        assert_eq!(change.is_some(), before != self.world.word(), "each change is told, and nothing else");
        if let Some(change) = change {
            assert_eq!((change.from, change.to), (before, self.world.word()));
            assert_eq!(change.lasted, now - self.since);
        }
        self.check();
    }

    fn check(&mut self) {
        let machine = &self.world.machine;
        let (word, cause) = machine.state();
        assert_eq!(
            cause.detail.is_empty(),
            word == HealthWord::Ready,
            "{word}: each other state has a reason"
        );
        assert_eq!(cause.detail.is_empty(), cause.brief.is_empty());
        assert!(machine.since() >= self.since && machine.since() <= self.world.now, "since never goes back");
        self.since = machine.since();
        assert_eq!(
            (machine.connection.openings, machine.lists.fetches),
            (self.openings, self.listings),
            "counts return"
        );
        assert!(machine.connection.lost_notices.len() <= 32);
        assert!(
            !machine.is_held_back() || word == HealthWord::Unreachable,
            "{word}: nobody may be held back"
        );
        let is_busy = self.openings > 0 || self.listings > 0;
        if matches!(word, HealthWord::Unreachable | HealthWord::BackingOff) && !is_busy {
            assert!(machine.next_try().is_some(), "{word}: somebody tries again");
        }
        if word == HealthWord::AuthRequired {
            assert_eq!(machine.next_try(), None, "nobody tries without a credential");
        }
    }

    /// Ends everything that is in progress, and lets the server answer.
    fn heal(&mut self) {
        while self.openings > 0 {
            self.take(Step::EndOpening(Err(Failure::Nothing)));
        }
        while self.listings > 0 {
            self.take(Step::EndListing);
        }
        self.take(Step::BeginOpening);
        self.take(Step::EndOpening(Ok(())));
        self.take(Step::BeginListing);
        self.take(Step::Say(HealthEvent::ListsFetched(1, 0)));
        self.take(Step::EndListing);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_it_is_explained_and_ends(is_child: bool, steps in prop::collection::vec(step(), 0..60)) {
        let world = World::new(is_child);
        let since = world.now;
        let mut model = Model { world, openings: 0, listings: 0, since };
        for step in steps {
            model.take(step);
        }
        model.heal();
        prop_assert_eq!(model.world.word(), HealthWord::Ready);
        prop_assert!(!model.world.machine.is_held_back());
        prop_assert_eq!(model.world.machine.next_try(), None);
        prop_assert_eq!((model.world.machine.connection.openings, model.world.machine.lists.fetches), (0, 0));
        model.take(Step::Say(HealthEvent::Leaving));
        model.heal();
        model.take(Step::BeginOpening);
        model.take(Step::EndOpening(Err(unreachable())));
        prop_assert_eq!((model.world.word(), model.world.machine.next_try()), (HealthWord::Leaving, None));
        prop_assert!(!model.world.machine.take_try(model.world.now + SECOND));
    }
}
