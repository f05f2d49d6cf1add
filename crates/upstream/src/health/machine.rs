//! The state of one server as a pure state machine: the input is events and the time, the output is changes of state.
//! It keeps the facts about the server and derives the state from them, so no order of events can lead to a state
//! without an exit. This module must not know links, catalogues or the log.

use std::time::{Duration, Instant};

use super::event::{Failure, HealthEvent};
use super::facts::{
    ConnectionAttempts, ConnectionFacts, DownReason, KnownLists, ListFacts, ProcessEnds, ReachFacts,
    RequestFacts,
};
use super::state::{HealthCause, HealthWord};

/// The running time after which a process counts as healthy. Its end then starts a new count of consecutive ends.
const HEALTHY: Duration = Duration::from_mins(1);

/// The delay of the next attempt after a process has ended, until the time of the next start is known.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// A change of state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HealthChange {
    pub(super) from: HealthWord,
    pub(super) to: HealthWord,
    pub(super) cause: HealthCause,
    /// The time spent in the old state.
    pub(super) lasted: Duration,
}

/// The state machine of one server.
#[derive(Debug)]
pub(super) struct HealthMachine {
    /// True if each link is a child process.
    pub(super) is_child: bool,
    pub(super) is_leaving: bool,
    pub(super) connection: ConnectionFacts,
    pub(super) ends: ProcessEnds,
    pub(super) reach: ReachFacts,
    pub(super) lists: ListFacts,
    pub(super) requests: RequestFacts,
    tries: ConnectionAttempts,
    pub(super) now: Instant,
    state: (HealthWord, HealthCause),
    since: Instant,
}

impl HealthMachine {
    /// Creates the machine of a server that has not been asked yet. The seed makes this gateway's pauses between
    /// attempts differ from those of other gateways.
    pub(super) fn new(is_child: bool, seed: u64, now: Instant) -> Self {
        Self {
            is_child,
            is_leaving: false,
            connection: ConnectionFacts::default(),
            ends: ProcessEnds::default(),
            reach: ReachFacts::default(),
            lists: ListFacts::default(),
            requests: RequestFacts::default(),
            tries: ConnectionAttempts::new(seed),
            now,
            state: (HealthWord::Starting, HealthCause::plain(super::derived::NOT_ASKED)),
            since: now,
        }
    }

    /// Handles an event. The machine's time never goes backwards, even if a thread reports an earlier time.
    pub(super) fn feed(&mut self, now: Instant, event: HealthEvent) -> Option<HealthChange> {
        self.now = self.now.max(now);
        self.take(event);
        if !self.is_failing() {
            self.tries.schedule.over();
        }
        let state = self.derived();
        let from = self.state.0;
        let is_news = from != state.0;
        self.state = state;
        if !is_news {
            return None;
        }
        let lasted = self.now.saturating_duration_since(self.since);
        self.since = self.now;
        Some(HealthChange { from, to: self.state.0, cause: self.state.1.clone(), lasted })
    }

    /// Returns true if the server should be tried now, without a client's request. The caller makes the attempt.
    pub(super) fn take_try(&mut self, now: Instant) -> bool {
        self.now = self.now.max(now);
        !self.is_leaving && self.tries.schedule.take(self.now)
    }

    /// Returns the state, and the reason for it.
    pub(super) fn state(&self) -> (HealthWord, &HealthCause) {
        (self.state.0, &self.state.1)
    }

    /// Returns the time at which the state began.
    pub(super) fn since(&self) -> Instant {
        self.since
    }

    /// Returns the number of tools that the server listed last.
    pub(super) fn tools(&self) -> usize {
        self.lists.tools
    }

    /// Returns the time of the next attempt; `None` if none is planned, or if one is running.
    pub(super) fn next_try(&self) -> Option<Instant> {
        self.tries
            .schedule
            .next()
            .filter(|_| self.connection.openings == 0 && self.lists.fetches == 0 && !self.is_leaving)
    }

    /// Returns true if the server has been tried, or if its lists are known from an earlier run.
    pub(super) fn was_tried(&self, now: Instant) -> bool {
        self.lists.known != KnownLists::Nothing || self.tries.are_enough(now)
    }

    /// Returns true if it is known that no link is open.
    pub(super) fn is_down(&self) -> bool {
        self.reach.down.is_some()
    }

    /// Returns true if no request can reach the server now.
    pub(super) fn is_away(&self) -> bool {
        self.is_down() || self.is_held_back()
    }

    /// Returns true if clients' requests are held back.
    pub(super) fn is_held_back(&self) -> bool {
        self.requests.held_back.is_some() && !self.is_leaving
    }

    /// Returns true if no request has failed for a while, so successful ones need not be counted.
    pub(super) fn is_calm(&self) -> bool {
        self.reach.down.is_none() && self.requests.are_calm(self.now)
    }

    fn take(&mut self, event: HealthEvent) {
        match event {
            HealthEvent::OpeningBegan => {
                self.connection.openings += 1;
                self.tries.first.get_or_insert(self.now);
            }
            HealthEvent::OpeningEnded(outcome) => {
                self.connection.openings = self.connection.openings.saturating_sub(1);
                match outcome {
                    Ok(()) => self.opened(),
                    Err(failure) => self.failed_to_open(failure),
                }
            }
            HealthEvent::LinkEnded(link, cause) => self.ended(link, cause),
            HealthEvent::NextStart(at) => {
                if self.is_failing() {
                    self.tries.schedule.at(at);
                }
            }
            HealthEvent::Rested => (self.connection.is_resting, self.connection.is_open) = (true, false),
            HealthEvent::ListingBegan => {
                self.lists.fetches += 1;
                self.tries.first.get_or_insert(self.now);
            }
            HealthEvent::ListingEnded => self.lists.fetches = self.lists.fetches.saturating_sub(1),
            HealthEvent::ListsKept(tools) => {
                if self.lists.known == KnownLists::Nothing {
                    (self.lists.known, self.lists.tools) = (KnownLists::Kept, tools);
                }
            }
            HealthEvent::ListsFetched(tools, left_out) => self.listed(tools, left_out, None),
            HealthEvent::ListsFetchedInPart(tools, left_out, why) => self.listed(tools, left_out, Some(why)),
            HealthEvent::ListedFor(clients) => self.listed_for(clients),
            HealthEvent::ListsFailed(failure) => self.failed_to_list(failure),
            HealthEvent::ExchangeGood => {
                self.requests.breaker.good(self.now);
                self.reach.is_doubted = false;
                // An answer from an owner's process reveals nothing about the shared process that keeps ending.
                if !self.is_child {
                    self.reach.down = None;
                }
            }
            HealthEvent::ExchangeFailed(failure) => {
                self.count_failure(&failure);
                self.failed_to_answer(failure);
            }
            HealthEvent::StreamFailed(failure) => self.failed_to_answer(failure),
            HealthEvent::NoticesLost(link, cause) => {
                self.connection.lose_notices(link, cause);
            }
            HealthEvent::NoticesHeard(link) => drop(self.connection.lost_notices.remove(&link)),
            HealthEvent::Leaving => self.is_leaving = true,
        }
    }

    /// Records that a dedicated process has listed its items. This matters only if the shared process has never
    /// listed any.
    fn listed_for(&mut self, clients: &'static str) {
        if self.is_child && self.reach.down.is_some() && self.lists.known != KnownLists::Confirmed {
            self.reach.starts_for = Some(clients);
        }
    }

    fn opened(&mut self) {
        self.opened_again();
        self.requests.breaker.reset();
        self.connection.opened_at = Some(self.now);
        self.connection.lost_notices.clear();
    }

    /// Records that the server is reachable, and forgets the facts that contradict this.
    fn opened_again(&mut self) {
        self.requests.release();
        (self.reach.down, self.reach.unauthorized, self.reach.starts_for) = (None, None, None);
        (self.connection.is_open, self.connection.is_resting, self.reach.is_doubted) = (true, false, false);
    }

    fn listed(&mut self, tools: usize, left_out: usize, partly: Option<HealthCause>) {
        self.opened_again();
        (self.lists.failed, self.lists.partly) = (None, partly);
        (self.lists.known, self.lists.tools, self.lists.left_out) = (KnownLists::Confirmed, tools, left_out);
        self.tries.was_tried = true;
    }

    fn failed_to_open(&mut self, failure: Failure) {
        match failure {
            Failure::Unreachable(cause) | Failure::Doubtful(cause) | Failure::Unwell(cause) => {
                if self.is_child {
                    self.count_end();
                    self.be_down(DownReason::NotStarted(cause));
                } else {
                    self.be_down(DownReason::Unreachable(cause));
                }
            }
            Failure::Unauthorized(cause) => self.want_credential(cause),
            Failure::Nothing => {}
        }
    }

    fn failed_to_list(&mut self, failure: Failure) {
        match failure {
            // A server to which no link can be opened lists nothing, and that failure has been recorded already.
            _ if self.reach.down.is_some() || self.reach.unauthorized.is_some() => {}
            Failure::Unreachable(cause) | Failure::Doubtful(cause) => {
                self.be_down(DownReason::Unreachable(cause));
            }
            Failure::Unwell(cause) => {
                self.tries.was_tried = true;
                self.lists.failed = Some(cause);
                // A server that refuses requests is reachable.
                self.requests.release();
                self.tries.schedule.failed(self.now);
            }
            Failure::Unauthorized(cause) => self.want_credential(cause),
            Failure::Nothing => {}
        }
    }

    fn failed_to_answer(&mut self, failure: Failure) {
        match failure {
            // The end of a process is reported separately, with more detail.
            _ if self.is_child || self.reach.down.is_some() => {}
            Failure::Unreachable(cause) => self.be_down(DownReason::Unreachable(cause)),
            Failure::Doubtful(_) if !self.reach.is_doubted && self.reach.unauthorized.is_none() => {
                self.reach.is_doubted = true;
                self.tries.schedule.at(self.now);
            }
            // A single tool may fail, or may need a credential other than the rest.
            Failure::Doubtful(_) | Failure::Unwell(_) | Failure::Unauthorized(_) | Failure::Nothing => {}
        }
    }

    /// Counts a client's request that was not answered. A refused connection is not counted: it costs nobody time, and
    /// shows the server's state immediately.
    fn count_failure(&mut self, failure: &Failure) {
        let Failure::Doubtful(cause) = failure else { return };
        if self.requests.failed(self.now, cause) {
            self.tries.schedule.at(self.now);
        }
    }

    fn be_down(&mut self, down: DownReason) {
        (self.connection.is_open, self.connection.is_resting, self.reach.unauthorized) = (false, false, None);
        self.reach.is_doubted = false;
        self.reach.down = Some(down);
        self.tries.was_tried = true;
        self.tries.schedule.failed(self.now);
    }

    /// Records that the server answers, but requires a credential. Further attempts are useless until somebody
    /// provides another credential.
    fn want_credential(&mut self, cause: HealthCause) {
        (self.reach.down, self.lists.failed, self.requests.held_back, self.reach.is_doubted) =
            (None, None, None, false);
        self.reach.unauthorized = Some(cause);
        self.tries.was_tried = true;
        self.tries.schedule.over();
    }

    fn ended(&mut self, link: u64, cause: HealthCause) {
        // Several observers report the same end.
        if self.ends.last_link.replace(link) == Some(link) {
            return;
        }
        self.count_end();
        self.connection.lost_notices.remove(&link);
        self.be_down(DownReason::Ended(cause));
        self.tries.schedule.at(self.now + FIRST_PAUSE);
    }

    fn count_end(&mut self) {
        let was_well = |opened: Instant| self.now.saturating_duration_since(opened) >= HEALTHY;
        // The running time matters only if there was an end before.
        let is_first = self.ends.in_a_row.is_none() || self.connection.opened_at.take().is_some_and(was_well);
        self.ends.count(self.now, is_first);
    }

    fn is_failing(&self) -> bool {
        self.reach.down.is_some()
            || self.lists.failed.is_some()
            || self.requests.held_back.is_some()
            || self.reach.is_doubted
    }
}
