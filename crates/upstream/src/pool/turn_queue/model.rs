//! Tests the queue of turns over random orders of events, and compares it with a separate record of turns and
//! waiting calls.

use std::collections::VecDeque;

use proptest::prelude::*;

use super::*;

/// The maximum number of calls that wait.
const MAX: usize = 5;

/// One event of a random history. Parties are numbered; 0 stands for all calls whose clients cannot be asked.
#[derive(Debug, Clone, Copy)]
enum Happening {
    Call(usize),
    /// A running call holds the turn once more.
    Again,
    /// One of the holds on the turn ends.
    End,
    /// A waiting call is cancelled.
    Go(usize),
}

fn happening() -> impl Strategy<Value = Happening> {
    prop_oneof![
        5 => (0..4_usize).prop_map(Happening::Call),
        1 => Just(Happening::Again),
        4 => Just(Happening::End),
        1 => (0..MAX).prop_map(Happening::Go),
    ]
}

/// The queue, and the expected turns and waiting calls, recorded independently of the queue.
struct Callers {
    queue: TurnQueue,
    parties: [TurnParty; 4],
    /// The party whose turn it is, and the number of its holds.
    turn: Option<(TurnParty, usize)>,
    /// The calls that wait, in the order of arrival.
    waiting: VecDeque<(Ticket, TurnParty)>,
}

impl Callers {
    fn new() -> Self {
        let askable = || TurnParty::Askable(Owner::unique());
        let parties = [TurnParty::Unaskable, askable(), askable(), askable()];
        Self { queue: TurnQueue::new(MAX), parties, turn: None, waiting: VecDeque::new() }
    }

    fn happen(&mut self, what: Happening) {
        match what {
            Happening::Call(party) => self.call(self.parties[party]),
            Happening::Again => {
                if let Some((_, holds)) = &mut self.turn {
                    self.queue.enter_again();
                    *holds += 1;
                }
            }
            Happening::End => self.end(),
            Happening::Go(which) if which < self.waiting.len() => {
                let (ticket, _) = self.waiting.remove(which).expect("it waits");
                let begun = self.queue.cancel(ticket);
                self.begin(&begun);
            }
            Happening::Go(_) => {}
        }
        assert_eq!(self.queue.current(), self.turn.map(|(party, _)| party));
        assert_eq!(self.queue.waiting(), self.waiting.len());
        let next = self.waiting.front().map(|(_, party)| *party);
        assert!(next.is_none() || self.turn.is_some(), "they wait for nobody: {:?}", self.queue);
        assert!(next.is_none() || self.turn.map(|(party, _)| party) != next, "they wait for themselves");
    }

    fn call(&mut self, party: TurnParty) {
        let joins = self.queue.join(party);
        let is_own = self.turn.is_some_and(|(current, _)| current == party);
        // The calls whose clients cannot be asked may come from many callers, so they must not keep the turn while others
        // wait.
        let expected =
            self.turn.is_none() || (is_own && (party != TurnParty::Unaskable || self.waiting.is_empty()));
        assert_eq!(joins, expected, "{party:?} with {:?}", self.queue);
        if joins {
            self.turn.get_or_insert((party, 0)).1 += 1;
            return;
        }
        let ticket = self.queue.wait(party);
        assert_eq!(ticket.is_some(), self.waiting.len() < MAX, "the cap");
        self.waiting.extend(ticket.map(|ticket| (ticket, party)));
        let begun = self.queue.serve();
        assert_eq!(begun, [0; 0], "it could have joined");
    }

    fn end(&mut self) {
        let Some((_, holds)) = &mut self.turn else { return };
        *holds -= 1;
        let is_over = *holds == 0;
        assert_eq!(self.queue.leave(), is_over);
        if is_over {
            self.turn = None;
            let begun = self.queue.serve();
            self.begin(&begun);
        }
    }

    /// Checks and records the calls that begin: the first waiting call and all other calls of its party, and no
    /// others.
    fn begin(&mut self, begun: &[Ticket]) {
        let Some((_, party)) = self.waiting.front().copied() else { return assert!(begun.is_empty()) };
        if self.turn.is_some_and(|(current, _)| current != party) {
            return assert!(begun.is_empty(), "two parties at once");
        }
        let due: Vec<Ticket> =
            self.waiting.iter().filter(|(_, its)| *its == party).map(|(ticket, _)| *ticket).collect();
        assert_eq!(begun, due, "the first come and its party");
        self.waiting.retain(|(_, its)| *its != party);
        self.turn.get_or_insert((party, 0)).1 += begun.len();
    }
}

proptest! {
    /// Checks that one party has the turn at a time, that parties are served in the order of arrival, and that nobody waits
    /// once all calls have ended.
    #[test]
    fn any_order_of_calls(history in prop::collection::vec(happening(), 1..200)) {
        let mut callers = Callers::new();
        for what in history {
            callers.happen(what);
        }
        let most = callers.waiting.len() + callers.turn.map_or(0, |(_, holds)| holds);
        for _ in 0..most {
            callers.happen(Happening::End);
        }
        prop_assert!(callers.turn.is_none() && callers.waiting.is_empty(), "{:?}", callers.queue);
    }
}
