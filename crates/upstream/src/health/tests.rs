//! Tests of the individual states; `model` checks all rules over random orders of events.

mod model;

use std::time::{Duration, Instant};

use super::event::{Failure, HealthEvent};
use super::machine::HealthMachine;
use super::state::{HealthCause, HealthWord};

const SECOND: Duration = Duration::from_secs(1);

fn why() -> HealthCause {
    HealthCause::of_lists("brief".to_owned(), "the whole reason".to_owned())
}

fn unreachable() -> Failure {
    Failure::Unreachable(why())
}

/// A server and its clock.
struct World {
    machine: HealthMachine,
    now: Instant,
}

impl World {
    fn new(is_child: bool) -> Self {
        let now = Instant::now();
        Self { machine: HealthMachine::new(is_child, 1, now), now }
    }

    /// A healthy server with three tools.
    fn ready(is_child: bool) -> Self {
        let mut world = Self::new(is_child);
        world.open();
        world.list();
        assert_eq!(world.word(), HealthWord::Ready);
        world
    }

    fn say(&mut self, event: HealthEvent) -> &mut Self {
        self.machine.feed(self.now, event);
        self
    }

    fn open(&mut self) {
        self.say(HealthEvent::OpeningBegan).say(HealthEvent::OpeningEnded(Ok(())));
    }

    fn fail_to_open(&mut self, failure: Failure) {
        self.say(HealthEvent::OpeningBegan).say(HealthEvent::OpeningEnded(Err(failure)));
    }

    fn list(&mut self) {
        self.say(HealthEvent::ListingBegan);
        self.say(HealthEvent::ListsFetched(3, 0)).say(HealthEvent::ListingEnded);
    }

    fn fail_five_times(&mut self) {
        for _ in 0..5 {
            assert!(!self.machine.is_held_back());
            self.say(HealthEvent::ExchangeFailed(Failure::Doubtful(why())));
        }
    }

    fn word(&self) -> HealthWord {
        self.machine.state().0
    }

    fn reason(&self) -> &str {
        &self.machine.state().1.detail
    }

    fn pass(&mut self, time: Duration) {
        self.now += time;
    }
}

#[test]
fn a_server_starts_lists_and_is_ready() {
    let mut world = World::new(false);
    assert_eq!(
        (world.word(), world.reason()),
        (HealthWord::Starting, "the server has not been contacted yet")
    );
    world.say(HealthEvent::ListingBegan);
    assert_eq!(
        (world.word(), world.reason()),
        (HealthWord::Starting, "a connection to the server is being opened")
    );
    world.say(HealthEvent::OpeningBegan);
    assert_eq!(world.word(), HealthWord::Starting);
    world.say(HealthEvent::OpeningEnded(Ok(())));
    assert_eq!(world.word(), HealthWord::Listing);
    assert!(!world.machine.was_tried(world.now));
    world.pass(SECOND);
    let now = world.now;
    let change = world.machine.feed(now, HealthEvent::ListsFetched(3, 0)).expect("a change");
    assert_eq!((change.from, change.to, change.lasted), (HealthWord::Listing, HealthWord::Ready, SECOND));
    assert_eq!(world.machine.tools(), 3);
    assert!(world.machine.was_tried(world.now));
}

#[test]
fn a_server_that_cannot_be_reached_is_tried_until_it_is_back() {
    let mut world = World::ready(false);
    world.say(HealthEvent::ExchangeFailed(unreachable()));
    assert_eq!((world.word(), world.reason()), (HealthWord::Unreachable, "the whole reason"));
    for _ in 0..100 {
        let next = world.machine.next_try().expect("another try");
        assert!(next > world.now && !world.machine.take_try(world.now));
        world.now = next;
        assert!(world.machine.take_try(next));
        world.say(HealthEvent::OpeningBegan);
        assert_eq!(world.word(), HealthWord::Unreachable, "a try is no change");
        assert_eq!(world.machine.next_try(), None, "one is under way");
        world.say(HealthEvent::OpeningEnded(Err(unreachable())));
    }
    world.open();
    assert_eq!((world.word(), world.machine.next_try()), (HealthWord::Ready, None));
}

#[test]
fn a_process_that_ends_once_starts_again_and_backs_off_when_it_keeps_ending() {
    let mut world = World::ready(true);
    world.say(HealthEvent::LinkEnded(1, why())).say(HealthEvent::LinkEnded(1, why()));
    assert_eq!(world.word(), HealthWord::Starting, "it ended once, though two noticed it");
    assert_eq!(world.reason(), "the connection ended and is being reopened: the whole reason");
    world.open();
    assert_eq!(world.word(), HealthWord::Ready);
    world.pass(10 * SECOND);
    world.say(HealthEvent::LinkEnded(2, why()));
    assert_eq!(
        (world.word(), world.reason()),
        (HealthWord::BackingOff, "the process exited 2 times in 10 s: the whole reason")
    );
    let next = world.now + 8 * SECOND;
    world.say(HealthEvent::NextStart(next));
    assert_eq!(world.machine.next_try(), Some(next));
    world.open();
    world.pass(60 * SECOND);
    world.say(HealthEvent::LinkEnded(3, why()));
    assert_eq!(world.word(), HealthWord::Starting, "a healthy minute forgives");
}

#[test]
fn a_process_that_cannot_start_backs_off_at_once() {
    let mut world = World::new(true);
    world.fail_to_open(unreachable());
    assert_eq!(
        (world.word(), world.reason()),
        (HealthWord::BackingOff, "the process failed to start once: the whole reason")
    );
    assert!(world.machine.was_tried(world.now));
}

#[test]
fn who_wants_a_credential_is_not_tried_before_there_is_one() {
    let mut world = World::ready(false);
    world.say(HealthEvent::ListsFailed(Failure::Unauthorized(why())));
    assert_eq!((world.word(), world.machine.next_try()), (HealthWord::AuthRequired, None));
    world.fail_to_open(unreachable());
    assert_eq!(world.word(), HealthWord::Unreachable, "it is no longer there to ask for one");
    world.fail_to_open(Failure::Unauthorized(why()));
    assert_eq!((world.word(), world.machine.next_try()), (HealthWord::AuthRequired, None));
    world.list();
    assert_eq!(world.word(), HealthWord::Ready);
}

#[test]
fn a_server_is_degraded_until_nothing_is_missing() {
    let mut world = World::ready(false);
    world.say(HealthEvent::ListsFailed(Failure::Unwell(why())));
    assert_eq!(world.word(), HealthWord::Degraded);
    assert!(world.machine.next_try().is_some());
    world.say(HealthEvent::ListsFetchedInPart(3, 2, why()));
    assert_eq!(world.reason(), "some of the server's lists cannot be fetched: the whole reason");
    world.say(HealthEvent::NoticesLost(7, why())).say(HealthEvent::ListsFetched(3, 2));
    assert_eq!(world.reason(), "the server's notifications are not received: the whole reason");
    world.say(HealthEvent::NoticesHeard(7));
    assert_eq!(world.reason(), "2 items in the server's lists are left out; the log says why");
    world.list();
    assert_eq!(world.word(), HealthWord::Ready);
}

#[test]
fn without_lists_a_server_whose_lists_fail_is_of_no_use() {
    let mut world = World::new(false);
    world.open();
    world.say(HealthEvent::ListsFailed(Failure::Unwell(why())));
    assert_eq!(world.reason(), "the server's lists cannot be fetched: the whole reason");
    assert_eq!(world.word(), HealthWord::Unreachable);
}

#[test]
fn a_process_rests_and_starts_when_it_is_needed() {
    let mut world = World::ready(true);
    world.say(HealthEvent::Rested);
    assert!(world.word() == HealthWord::Resting && world.word().is_usable());
    world.say(HealthEvent::OpeningBegan);
    assert_eq!(world.word(), HealthWord::Starting);
    world.say(HealthEvent::OpeningEnded(Err(Failure::Nothing)));
    assert_eq!(world.word(), HealthWord::Resting, "nobody needs it any more");
    world.open();
    assert_eq!(world.word(), HealthWord::Ready);
}

#[test]
fn lists_of_an_earlier_run_are_shown_and_confirmed() {
    let mut world = World::new(true);
    world.say(HealthEvent::ListsKept(4));
    assert!(world.word() == HealthWord::Starting && world.machine.was_tried(world.now));
    world.say(HealthEvent::ListingBegan).say(HealthEvent::OpeningBegan);
    assert_eq!(world.word(), HealthWord::Starting);
    world.say(HealthEvent::OpeningEnded(Ok(())));
    assert_eq!(world.word(), HealthWord::Listing);
    world.say(HealthEvent::ListsFetched(3, 0)).say(HealthEvent::ListsKept(4));
    assert_eq!((world.word(), world.machine.tools()), (HealthWord::Ready, 3));
}

#[test]
fn one_doubtful_request_is_looked_into_at_once_and_changes_nothing() {
    let mut world = World::ready(false);
    world.say(HealthEvent::ExchangeFailed(Failure::Doubtful(why())));
    assert_eq!(world.word(), HealthWord::Ready);
    assert!(world.machine.take_try(world.now));
    world.say(HealthEvent::ExchangeGood);
    assert!(world.word() == HealthWord::Ready && world.machine.next_try().is_none());
}

#[test]
fn after_failures_in_a_row_requests_are_held_back_until_the_server_answers_the_gateway() {
    for is_child in [false, true] {
        let mut world = World::ready(is_child);
        world.fail_five_times();
        assert!(world.machine.is_held_back() && !world.machine.is_calm());
        let reason = "breaker open, 5 requests in a row failed: the whole reason";
        assert_eq!((world.word(), world.reason()), (HealthWord::Unreachable, reason));
        assert!(world.machine.take_try(world.now), "the gateway looks at once");
        world.say(HealthEvent::ExchangeGood);
        assert!(world.machine.is_held_back(), "a client's request is no proof");
        world.say(HealthEvent::ListsFailed(Failure::Doubtful(why())));
        assert!(world.machine.is_held_back() && world.machine.next_try().is_some());
        world.list();
        assert!(!world.machine.is_held_back() && world.machine.is_calm());
        assert_eq!(world.word(), HealthWord::Ready);
        world.fail_five_times();
        world.say(HealthEvent::ListsFailed(Failure::Unwell(why())));
        assert!(!world.machine.is_held_back(), "it refuses, so it is there");
    }
    let mut world = World::ready(false);
    for failure in [unreachable(), Failure::Unwell(why()), Failure::Unauthorized(why()), Failure::Nothing] {
        for _ in 0..30 {
            world.say(HealthEvent::ExchangeFailed(failure.clone()));
            world.say(HealthEvent::StreamFailed(Failure::Doubtful(why())));
        }
    }
    assert!(!world.machine.is_held_back(), "these are no requests without an answer");
}

#[test]
fn a_first_try_that_takes_long_counts_as_made() {
    let mut world = World::new(false);
    world.say(HealthEvent::OpeningBegan);
    assert!(!world.machine.was_tried(world.now));
    world.pass(8 * SECOND);
    assert!(world.machine.was_tried(world.now));
}
