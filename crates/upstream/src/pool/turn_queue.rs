//! Turns on a server's only link. A turn belongs either to one owner that can be asked questions, or to all calls
//! of clients that cannot be asked. This is a state machine without I/O. This module must not know what a link is.

use std::collections::VecDeque;

use transport::up::Owner;

use super::dispatch::Ticket;

/// The party that uses the link in one turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnParty {
    /// All calls whose clients cannot be asked.
    Unaskable,
    /// The calls of one owner that can be asked.
    Askable(Owner),
}

/// The current turn, and the calls that wait for theirs.
#[derive(Debug)]
pub(super) struct TurnQueue {
    current: Option<(TurnParty, usize)>,
    waiting: VecDeque<(Ticket, TurnParty)>,
    max: usize,
    next: Ticket,
}

impl TurnQueue {
    /// Creates a queue in which at most `max` calls may wait.
    pub(super) fn new(max: usize) -> Self {
        Self { current: None, waiting: VecDeque::new(), max, next: 0 }
    }

    /// Returns the party whose turn it is.
    pub(super) fn current(&self) -> Option<TurnParty> {
        self.current.map(|(party, _)| party)
    }

    /// Returns the number of calls that wait.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Begins a call immediately if this is possible. Further calls of an owner join the owner's turn even while
    /// other calls are waiting. A client may call the server again before it answers the server's question, so the
    /// new call must not wait for the turn to end.
    pub(super) fn join(&mut self, party: TurnParty) -> bool {
        match &mut self.current {
            None => {
                self.current = Some((party, 1));
                true
            }
            Some((current, calls))
                if *current == party && (party != TurnParty::Unaskable || self.waiting.is_empty()) =>
            {
                *calls += 1;
                true
            }
            Some(_) => false,
        }
    }

    /// Adds another hold on the turn for a call that already has the turn.
    pub(super) fn enter_again(&mut self) {
        if let Some((_, calls)) = &mut self.current {
            *calls += 1;
        }
    }

    /// Lets a call wait for its turn; returns `None` if too many calls are waiting.
    pub(super) fn wait(&mut self, party: TurnParty) -> Option<Ticket> {
        if self.waiting.len() >= self.max {
            return None;
        }
        self.next += 1;
        self.waiting.push_back((self.next, party));
        Some(self.next)
    }

    /// Removes a waiting call that is gone; returns the calls that begin now.
    pub(super) fn cancel(&mut self, ticket: Ticket) -> Vec<Ticket> {
        self.waiting.retain(|(waiting, _)| *waiting != ticket);
        self.serve()
    }

    /// Ends a call. Returns true if the turn has ended as well.
    pub(super) fn leave(&mut self) -> bool {
        if let Some((_, calls)) = &mut self.current {
            *calls -= 1;
            if *calls > 0 {
                return false;
            }
        }
        self.current = None;
        true
    }

    /// Returns the calls that begin now: the first waiting call, and all other calls of its party.
    pub(super) fn serve(&mut self) -> Vec<Ticket> {
        let Some((_, next)) = self.waiting.front().copied() else { return Vec::new() };
        if self.current().is_some_and(|current| current != next) {
            return Vec::new();
        }
        let begin: Vec<Ticket> =
            self.waiting.iter().filter(|(_, party)| *party == next).map(|(ticket, _)| *ticket).collect();
        self.waiting.retain(|(_, party)| *party != next);
        let (_, calls) = self.current.get_or_insert((next, 0));
        *calls += begin.len();
        begin
    }
}

#[cfg(test)]
mod model;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_take_turns_with_each_other_and_with_all_that_cannot_be_asked() {
        let (one, two) = (TurnParty::Askable(Owner::unique()), TurnParty::Askable(Owner::unique()));
        let mut queue = TurnQueue::new(4);
        assert!(queue.join(TurnParty::Unaskable) && queue.join(TurnParty::Unaskable));
        assert!(!queue.join(one));
        let first = queue.wait(one).unwrap();
        assert!(!queue.join(TurnParty::Unaskable), "they would keep it for ever");
        let plain = queue.wait(TurnParty::Unaskable).unwrap();
        let second = queue.wait(two).unwrap();
        let also_plain = queue.wait(TurnParty::Unaskable).unwrap();
        assert_eq!(queue.wait(two), None, "too many");
        assert!(!queue.leave() && queue.leave());
        assert_eq!(queue.serve(), [first]);
        assert!(queue.join(one), "it may call while it is asked");
        assert!(!queue.join(two) && !queue.leave() && queue.leave());
        assert_eq!(queue.serve(), [plain, also_plain], "all together");
        assert!(queue.serve().is_empty() && !queue.leave() && queue.leave());
        assert_eq!(queue.serve(), [second]);
        assert!(queue.leave() && queue.current().is_none());
    }

    #[test]
    fn who_goes_makes_room_for_those_behind() {
        let owner = TurnParty::Askable(Owner::unique());
        let mut queue = TurnQueue::new(4);
        assert!(queue.join(TurnParty::Unaskable));
        let asked = queue.wait(owner).unwrap();
        let plain = queue.wait(TurnParty::Unaskable).unwrap();
        assert_eq!(queue.cancel(asked), [plain]);
        assert!(!queue.leave() && queue.leave() && queue.waiting() == 0);
    }
}
