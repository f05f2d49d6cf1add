//! The facts about one server. This module must not know events, or the state that follows from the facts.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::breaker::Breaker;
use super::schedule::Schedule;
use super::state::HealthCause;

/// The time after which the first attempt is regarded as finished, so that nothing waits for an unresponsive
/// server.
const FIRST_TRY: Duration = Duration::from_secs(8);

/// The maximum number of links whose lost notifications are remembered; there is one shared link for each version.
const MOST_LINKS: usize = 32;

/// The facts about the links that all clients share.
#[derive(Debug, Default)]
pub(super) struct ConnectionFacts {
    /// The number of links that are being opened.
    pub(super) openings: u32,
    /// True if a link is open, as far as is known.
    pub(super) is_open: bool,
    pub(super) opened_at: Option<Instant>,
    /// True if the server's process was stopped because nobody used it.
    pub(super) is_resting: bool,
    /// The links whose notifications are not received.
    pub(super) lost_notices: BTreeMap<u64, HealthCause>,
}

impl ConnectionFacts {
    /// Records that the notifications of this link are no longer received.
    pub(super) fn lose_notices(&mut self, link: u64, cause: HealthCause) {
        if self.lost_notices.len() < MOST_LINKS {
            self.lost_notices.insert(link, cause);
        }
    }
}

/// The exits and failed starts of the server's process.
#[derive(Debug, Default)]
pub(super) struct ProcessEnds {
    pub(super) in_a_row: Option<EndsInARow>,
    /// The number of the link whose end was counted last.
    pub(super) last_link: Option<u64>,
}

impl ProcessEnds {
    /// Counts an end or a failed start; `is_first` is true if this one starts a new count.
    pub(super) fn count(&mut self, now: Instant, is_first: bool) {
        let before = self.in_a_row.filter(|_| !is_first);
        self.in_a_row = Some(EndsInARow {
            first: before.map_or(now, |ends| ends.first),
            last: now,
            number: before.map_or(0, |ends| ends.number).saturating_add(1),
        });
    }
}

/// Consecutive ends and failed starts of a process.
#[derive(Debug, Clone, Copy)]
pub(super) struct EndsInARow {
    first: Instant,
    last: Instant,
    pub(super) number: u32,
}

impl EndsInARow {
    /// Returns the number of ends, and the time from the first to the last, as text.
    pub(super) fn in_words(self) -> String {
        let seconds = self.last.saturating_duration_since(self.first).as_secs();
        match self.number {
            1 => "once".to_owned(),
            number => format!("{number} times in {} s", seconds.max(1)),
        }
    }
}

/// The reasons why the server cannot be used, or can be used only by some clients.
#[derive(Debug, Default)]
pub(super) struct ReachFacts {
    pub(super) down: Option<DownReason>,
    pub(super) unauthorized: Option<HealthCause>,
    /// True if a request failed in a way that leaves the server's state unknown until another request has been sent.
    pub(super) is_doubted: bool,
    /// The clients that can use the server although the shared process does not start: a dedicated process was
    /// started for them.
    pub(super) starts_for: Option<&'static str>,
}

/// The reason why no link can be opened.
#[derive(Debug, Clone)]
pub(super) enum DownReason {
    /// A link that worked has ended by itself.
    Ended(HealthCause),
    /// A process could not be started.
    NotStarted(HealthCause),
    /// The server cannot be reached.
    Unreachable(HealthCause),
}

/// The facts about the server's lists.
#[derive(Debug, Default)]
pub(super) struct ListFacts {
    /// The number of fetches that are running.
    pub(super) fetches: u32,
    pub(super) known: KnownLists,
    pub(super) tools: usize,
    /// The number of items that were left out of the lists.
    pub(super) left_out: usize,
    /// The reason why the last fetch failed.
    pub(super) failed: Option<HealthCause>,
    /// The reason why some of the lists are out of date.
    pub(super) partly: Option<HealthCause>,
}

/// The origin of the server's known lists.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum KnownLists {
    #[default]
    Nothing,
    /// The lists of an earlier run.
    Kept,
    Confirmed,
}

/// The outcomes of clients' requests.
#[derive(Debug, Default)]
pub(super) struct RequestFacts {
    pub(super) breaker: Breaker,
    /// The reason why clients' requests are held back until the server has answered the gateway; `None` if they are not
    /// held back.
    pub(super) held_back: Option<HealthCause>,
}

impl RequestFacts {
    /// Returns true if no request has failed for a while, so successful ones need not be counted.
    pub(super) fn are_calm(&self, now: Instant) -> bool {
        self.held_back.is_none() && self.breaker.is_calm(now)
    }

    /// Counts a failed request; returns true if clients' requests are held back from now on.
    pub(super) fn failed(&mut self, now: Instant, cause: &HealthCause) -> bool {
        if self.held_back.is_some() {
            return false;
        }
        let why = self.breaker.failed(now);
        self.held_back = why.map(|why| cause.after(&format!("breaker open, {why}")));
        self.held_back.is_some()
    }

    /// Lets clients' requests through again, because the server has answered the gateway.
    pub(super) fn release(&mut self) {
        if self.held_back.take().is_some() {
            self.breaker.reset();
        }
    }
}

/// The gateway's attempts to use the server.
#[derive(Debug)]
pub(super) struct ConnectionAttempts {
    /// The time at which the first attempt began.
    pub(super) first: Option<Instant>,
    /// True once an attempt has ended.
    pub(super) was_tried: bool,
    pub(super) schedule: Schedule,
}

impl ConnectionAttempts {
    /// Creates the facts before the first attempt. The seed makes this gateway's pauses between attempts differ from
    /// those of other gateways.
    pub(super) fn new(seed: u64) -> Self {
        Self { first: None, was_tried: false, schedule: Schedule::new(seed) }
    }

    /// Returns true if an attempt has ended, or began so long ago that nothing need wait for it.
    pub(super) fn are_enough(&self, now: Instant) -> bool {
        let takes_long = |began: Instant| now.saturating_duration_since(began) >= FIRST_TRY;
        self.was_tried || self.first.is_some_and(takes_long)
    }
}
