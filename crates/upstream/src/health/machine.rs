//! The state of one server as a pure machine: events and the time in, changes of state out. It keeps what is known of the server
//! and derives the state from it, so that no order of events leads into a state that nothing leaves. It must not know links,
//! catalogues or the log.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::breaker::Breaker;
use super::event::{Failure, HealthEvent};
use super::schedule::Schedule;
use super::state::{HealthCause, HealthWord};

/// A process that ran this long was well: its end counts as a first one.
const HEALTHY: Duration = Duration::from_mins(1);

/// The time after an end in which no next start is known yet.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// A first try that takes longer than this counts as done, so nothing waits for a server that hangs.
const FIRST_TRY: Duration = Duration::from_secs(8);

/// The number of links whose lost notices are remembered; there is one shared link for each version.
const MOST_LINKS: usize = 32;

/// A change of state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HealthChange {
    pub(super) from: HealthWord,
    pub(super) to: HealthWord,
    pub(super) cause: HealthCause,
    /// The time in the old state.
    pub(super) lasted: Duration,
}

/// The reason why nothing can be opened.
#[derive(Debug, Clone)]
pub(super) enum Down {
    /// A link that worked has ended on its own.
    Ended(HealthCause),
    /// A process could not be started.
    NotStarted(HealthCause),
    /// It cannot be reached.
    Unreachable(HealthCause),
}

/// The lists that are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KnownLists {
    Nothing,
    /// Those of an earlier run.
    Kept,
    Confirmed,
}

/// Ends and failed starts of a process in a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ends {
    pub(super) first: Instant,
    pub(super) last: Instant,
    pub(super) number: u32,
}

/// The state machine of one server.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, from which the state is derived")]
pub(super) struct HealthMachine {
    /// True if each link is a process.
    pub(super) is_child: bool,
    pub(super) is_leaving: bool,
    pub(super) openings: u32,
    pub(super) listings: u32,
    /// True if a link is open, as far as is known.
    pub(super) is_open: bool,
    pub(super) opened_at: Option<Instant>,
    pub(super) is_resting: bool,
    /// The clients for which a process of their own has started although the shared one does not.
    pub(super) starts_for: Option<&'static str>,
    pub(super) lists: KnownLists,
    pub(super) tools: usize,
    pub(super) left_out: usize,
    pub(super) down: Option<Down>,
    pub(super) unauthorized: Option<HealthCause>,
    pub(super) lists_failed: Option<HealthCause>,
    /// The reason why a part of the lists is out of date.
    pub(super) lists_partly: Option<HealthCause>,
    /// True if a request failed in a way that only another one explains.
    is_doubted: bool,
    breaker: Breaker,
    /// The reason why clients' requests are held back, until the server has answered the gateway.
    pub(super) held_back: Option<HealthCause>,
    pub(super) lost_notices: BTreeMap<u64, HealthCause>,
    pub(super) ends: Option<Ends>,
    pub(super) last_ended: Option<u64>,
    /// The time when the first try began, and true once one has ended.
    pub(super) first_try: Option<Instant>,
    pub(super) was_tried: bool,
    pub(super) schedule: Schedule,
    pub(super) now: Instant,
    pub(super) state: (HealthWord, HealthCause),
    pub(super) since: Instant,
}

impl HealthMachine {
    /// A server that was not asked yet. The pauses between tries differ by the seed.
    pub(super) fn new(is_child: bool, seed: u64, now: Instant) -> Self {
        Self {
            is_child,
            is_leaving: false,
            openings: 0,
            listings: 0,
            is_open: false,
            opened_at: None,
            is_resting: false,
            starts_for: None,
            lists: KnownLists::Nothing,
            tools: 0,
            left_out: 0,
            down: None,
            unauthorized: None,
            lists_failed: None,
            lists_partly: None,
            is_doubted: false,
            breaker: Breaker::default(),
            held_back: None,
            lost_notices: BTreeMap::new(),
            ends: None,
            last_ended: None,
            first_try: None,
            was_tried: false,
            schedule: Schedule::new(seed),
            now,
            state: (HealthWord::Starting, HealthCause::plain(super::derived::NOT_ASKED)),
            since: now,
        }
    }

    /// Takes an event. Threads may be late with the time: it never goes back.
    pub(super) fn feed(&mut self, now: Instant, event: HealthEvent) -> Option<HealthChange> {
        self.now = self.now.max(now);
        self.take(event);
        if !self.is_failing() {
            self.schedule.over();
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

    /// Returns true if the server is to be tried now though nobody asks. The caller tries it.
    pub(super) fn take_try(&mut self, now: Instant) -> bool {
        self.now = self.now.max(now);
        !self.is_leaving && self.schedule.take(self.now)
    }

    /// The state and its reason.
    pub(super) fn state(&self) -> (HealthWord, &HealthCause) {
        (self.state.0, &self.state.1)
    }

    /// The time when the state began.
    pub(super) fn since(&self) -> Instant {
        self.since
    }

    /// The number of tools that it listed last.
    pub(super) fn tools(&self) -> usize {
        self.tools
    }

    /// The time of the next try; `None` if there is none, or one is under way.
    pub(super) fn next_try(&self) -> Option<Instant> {
        self.schedule.next().filter(|_| self.openings == 0 && self.listings == 0 && !self.is_leaving)
    }

    /// Returns true if it was tried, or its lists are known from before.
    pub(super) fn was_tried(&self, now: Instant) -> bool {
        let takes_long = |began: Instant| now.saturating_duration_since(began) >= FIRST_TRY;
        self.was_tried || self.lists != KnownLists::Nothing || self.first_try.is_some_and(takes_long)
    }

    /// Returns true if it is known that nothing is open.
    pub(super) fn is_down(&self) -> bool {
        self.down.is_some()
    }

    /// Returns true if no request can reach it now.
    pub(super) fn is_away(&self) -> bool {
        self.is_down() || self.is_held_back()
    }

    /// Returns true if clients' requests are held back.
    pub(super) fn is_held_back(&self) -> bool {
        self.held_back.is_some() && !self.is_leaving
    }

    /// Returns true if no request has failed for a while, so that good ones need not be counted.
    pub(super) fn is_calm(&self) -> bool {
        self.down.is_none() && self.held_back.is_none() && self.breaker.is_calm(self.now)
    }

    fn take(&mut self, event: HealthEvent) {
        match event {
            HealthEvent::OpeningBegan => {
                self.openings += 1;
                self.first_try.get_or_insert(self.now);
            }
            HealthEvent::OpeningEnded(outcome) => {
                self.openings = self.openings.saturating_sub(1);
                match outcome {
                    Ok(()) => self.opened(),
                    Err(failure) => self.failed_to_open(failure),
                }
            }
            HealthEvent::LinkEnded(link, cause) => self.ended(link, cause),
            HealthEvent::NextStart(at) => {
                if self.is_failing() {
                    self.schedule.at(at);
                }
            }
            HealthEvent::Rested => (self.is_resting, self.is_open) = (true, false),
            HealthEvent::ListingBegan => {
                self.listings += 1;
                self.first_try.get_or_insert(self.now);
            }
            HealthEvent::ListingEnded => self.listings = self.listings.saturating_sub(1),
            HealthEvent::ListsKept(tools) => {
                if self.lists == KnownLists::Nothing {
                    (self.lists, self.tools) = (KnownLists::Kept, tools);
                }
            }
            HealthEvent::ListsFetched(tools, left_out) => self.listed(tools, left_out, None),
            HealthEvent::ListsFetchedInPart(tools, left_out, why) => self.listed(tools, left_out, Some(why)),
            HealthEvent::ListedFor(clients) => self.listed_for(clients),
            HealthEvent::ListsFailed(failure) => self.failed_to_list(failure),
            HealthEvent::ExchangeGood => {
                self.breaker.good(self.now);
                self.is_doubted = false;
                // An owner's process that answers says nothing about the shared one that keeps ending.
                if !self.is_child {
                    self.down = None;
                }
            }
            HealthEvent::ExchangeFailed(failure) => {
                self.count_failure(&failure);
                self.failed_to_answer(failure);
            }
            HealthEvent::StreamFailed(failure) => self.failed_to_answer(failure),
            HealthEvent::NoticesLost(link, cause) => {
                if self.lost_notices.len() < MOST_LINKS {
                    self.lost_notices.insert(link, cause);
                }
            }
            HealthEvent::NoticesHeard(link) => drop(self.lost_notices.remove(&link)),
            HealthEvent::Leaving => self.is_leaving = true,
        }
    }

    /// The process of an owner has listed its items. That says something where the shared one never has.
    fn listed_for(&mut self, clients: &'static str) {
        if self.is_child && self.down.is_some() && self.lists != KnownLists::Confirmed {
            self.starts_for = Some(clients);
        }
    }

    fn opened(&mut self) {
        self.opened_again();
        self.breaker.reset();
        self.opened_at = Some(self.now);
        self.lost_notices.clear();
    }

    /// It is there: what says otherwise is over.
    fn opened_again(&mut self) {
        self.release();
        (self.down, self.unauthorized, self.starts_for) = (None, None, None);
        (self.is_open, self.is_resting, self.is_doubted) = (true, false, false);
    }

    fn listed(&mut self, tools: usize, left_out: usize, partly: Option<HealthCause>) {
        self.opened_again();
        (self.lists_failed, self.lists_partly) = (None, partly);
        (self.lists, self.tools, self.left_out) = (KnownLists::Confirmed, tools, left_out);
        self.was_tried = true;
    }

    /// It has answered the gateway: clients' requests are sent again.
    fn release(&mut self) {
        if self.held_back.take().is_some() {
            self.breaker.reset();
        }
    }

    fn failed_to_open(&mut self, failure: Failure) {
        match failure {
            Failure::Unreachable(cause) | Failure::Doubtful(cause) | Failure::Unwell(cause) => {
                if self.is_child {
                    self.count_end();
                    self.be_down(Down::NotStarted(cause));
                } else {
                    self.be_down(Down::Unreachable(cause));
                }
            }
            Failure::Unauthorized(cause) => self.want_credential(cause),
            Failure::Nothing => {}
        }
    }

    fn failed_to_list(&mut self, failure: Failure) {
        match failure {
            // What cannot be opened lists nothing: that has been said.
            _ if self.down.is_some() || self.unauthorized.is_some() => {}
            Failure::Unreachable(cause) | Failure::Doubtful(cause) => self.be_down(Down::Unreachable(cause)),
            Failure::Unwell(cause) => {
                self.was_tried = true;
                self.lists_failed = Some(cause);
                // It refuses, so it is there.
                self.release();
                self.schedule.failed(self.now);
            }
            Failure::Unauthorized(cause) => self.want_credential(cause),
            Failure::Nothing => {}
        }
    }

    fn failed_to_answer(&mut self, failure: Failure) {
        match failure {
            // The end of a process comes on its own, and says more.
            _ if self.is_child || self.down.is_some() => {}
            Failure::Unreachable(cause) => self.be_down(Down::Unreachable(cause)),
            Failure::Doubtful(_) if !self.is_doubted && self.unauthorized.is_none() => {
                self.is_doubted = true;
                self.schedule.at(self.now);
            }
            // One tool may fail, or want another credential than the rest.
            Failure::Doubtful(_) | Failure::Unwell(_) | Failure::Unauthorized(_) | Failure::Nothing => {}
        }
    }

    /// Counts a client's request that was not answered. That a connection is refused costs nobody anything, and says at once
    /// what there is to know.
    fn count_failure(&mut self, failure: &Failure) {
        let Failure::Doubtful(cause) = failure else { return };
        if self.held_back.is_none()
            && let Some(why) = self.breaker.failed(self.now)
        {
            self.held_back = Some(cause.after(&format!("breaker open, {why}")));
            self.schedule.at(self.now);
        }
    }

    fn be_down(&mut self, down: Down) {
        (self.is_open, self.is_resting, self.unauthorized) = (false, false, None);
        self.is_doubted = false;
        self.down = Some(down);
        self.was_tried = true;
        self.schedule.failed(self.now);
    }

    /// It answers, but lets nobody in. Trying again is of no use before somebody has another credential.
    fn want_credential(&mut self, cause: HealthCause) {
        (self.down, self.lists_failed, self.held_back, self.is_doubted) = (None, None, None, false);
        self.unauthorized = Some(cause);
        self.was_tried = true;
        self.schedule.over();
    }

    fn ended(&mut self, link: u64, cause: HealthCause) {
        // Several notice it.
        if self.last_ended.replace(link) == Some(link) {
            return;
        }
        self.count_end();
        self.lost_notices.remove(&link);
        self.be_down(Down::Ended(cause));
        self.schedule.at(self.now + FIRST_PAUSE);
    }

    fn count_end(&mut self) {
        let was_well = |opened: Instant| self.now.saturating_duration_since(opened) >= HEALTHY;
        let before = self.ends.filter(|_| !self.opened_at.take().is_some_and(was_well));
        self.ends = Some(Ends {
            first: before.map_or(self.now, |ends| ends.first),
            last: self.now,
            number: before.map_or(0, |ends| ends.number).saturating_add(1),
        });
    }

    fn is_failing(&self) -> bool {
        self.down.is_some() || self.lists_failed.is_some() || self.held_back.is_some() || self.is_doubted
    }
}
