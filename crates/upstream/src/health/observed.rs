//! The health of a server in use: its state machine under a lock that is held only briefly, its clock, and its log lines.
//! This module must not know who reports the events.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::event::{Failure, HealthEvent};
use super::history::{History, PastChange};
use super::journal::{Journal, Line};
use super::machine::{HealthChange, HealthMachine};
use super::returning::Returning;
use super::state::{HealthCause, HealthWord};

/// The log target for changes of state; these lines are shown even where other targets show only warnings.
const TARGET: &str = "dragoman::state";

/// The health of one server.
pub struct ServerHealth {
    name: Arc<str>,
    observed: Mutex<Observed>,
    /// A copy of the state machine's flag of the same name, so that calls need no lock.
    is_held_back: AtomicBool,
    /// True if the server needs the consent of each caller, so it is expected to refuse the gateway's own requests.
    awaits_callers: AtomicBool,
    returning: Returning,
}

struct Observed {
    machine: HealthMachine,
    journal: Journal,
    history: History,
    /// The last reason that was logged.
    told: String,
}

/// The state of a server at one point in time.
#[derive(Debug, Clone)]
pub struct HealthReport {
    /// The state.
    pub word: HealthWord,
    /// The reason for the state; empty for `ready`.
    pub cause: HealthCause,
    /// The time when the state began.
    pub since: Instant,
    /// The time of the next attempt; `None` if none is planned, or if one is running.
    pub next_try: Option<Instant>,
    /// True if the server has been tried, or if its lists are known from an earlier run.
    pub was_tried: bool,
}

impl ServerHealth {
    /// Creates the health of a server that has not been asked yet; `is_child` is true if each link to it is a child
    /// process.
    pub fn new(name: Arc<str>, is_child: bool) -> Self {
        // Seeds differ, so that gateways with the same configuration do not retry at the same times.
        let machine = HealthMachine::new(is_child, RandomState::new().hash_one(&name), Instant::now());
        let observed = Observed {
            machine,
            journal: Journal::default(),
            history: History::default(),
            told: String::new(),
        };
        Self {
            name,
            observed: Mutex::new(observed),
            is_held_back: AtomicBool::new(false),
            awaits_callers: AtomicBool::new(false),
            returning: Returning::default(),
        }
    }

    /// Handles an event.
    pub fn note(&self, event: HealthEvent) {
        let now = Instant::now();
        let mut observed = self.observed.lock();
        let was_away = observed.machine.is_away();
        let change = observed.machine.feed(now, event);
        if was_away && !observed.machine.is_away() {
            self.returning.is_back();
        }
        self.is_held_back.store(observed.machine.is_held_back(), Ordering::Relaxed);
        let Some(change) = change else { return };
        observed.history.note(now, &change);
        if let Some(line) = observed.journal.changed(now) {
            observed.told.clone_from(&change.cause.detail);
            let tools = observed.machine.tools();
            drop(observed);
            self.write(line, &change, tools);
        }
    }

    /// Records that the server needs the consent of each caller: its refusal of the gateway's own requests is no fault.
    pub(crate) fn expect_refusal(&self) {
        self.awaits_callers.store(true, Ordering::Relaxed);
    }

    /// Records a successful request. Returns true if no request has failed for a while, so further successes need not be
    /// noted.
    pub fn note_good(&self) -> bool {
        self.note(HealthEvent::ExchangeGood);
        self.observed.lock().machine.is_calm()
    }

    /// Returns true if clients' requests are held back until the server has answered the gateway.
    pub fn is_held_back(&self) -> bool {
        self.is_held_back.load(Ordering::Relaxed)
    }

    /// Waits until the server is back after an outage, but at most for the time `longest`.
    pub async fn pause(&self, longest: Duration) {
        self.returning.pause(longest).await;
    }

    /// Waits until this request may continue, if the request has waited for the server's return.
    pub async fn turn(&self) {
        self.returning.turn().await;
    }

    /// Records that a link is being opened.
    pub fn opening(&self) -> OpeningWatch<'_> {
        self.note(HealthEvent::OpeningBegan);
        OpeningWatch { health: self, outcome: Err(Failure::Nothing) }
    }

    /// Returns true if the server should be tried now, without a client's request. Also writes the log lines that are
    /// due.
    pub fn is_try_due(&self) -> bool {
        let now = Instant::now();
        let mut observed = self.observed.lock();
        let is_due = observed.machine.take_try(now);
        if let Some(line) = observed.journal.passed(now) {
            let (word, cause) = observed.machine.state();
            let lasted = now.saturating_duration_since(observed.machine.since());
            let state = HealthChange { from: word, to: word, cause: cause.clone(), lasted };
            let tools = observed.machine.tools();
            drop(observed);
            self.write(line, &state, tools);
        }
        is_due
    }

    /// Returns the time of the next attempt.
    pub fn next_try(&self) -> Option<Instant> {
        self.observed.lock().machine.next_try()
    }

    /// Returns the current state.
    pub fn report(&self) -> HealthReport {
        let observed = self.observed.lock();
        let machine = &observed.machine;
        let (word, cause) = machine.state();
        HealthReport {
            word,
            cause: cause.clone(),
            since: machine.since(),
            next_try: machine.next_try(),
            was_tried: machine.was_tried(Instant::now()),
        }
    }

    /// Returns the last state changes, oldest first.
    pub fn history(&self) -> Vec<PastChange> {
        self.observed.lock().history.last()
    }

    /// Returns the number of state changes since the start.
    pub fn changes(&self) -> u64 {
        self.observed.lock().history.all
    }

    /// Returns true if it is known that no link is open.
    pub fn is_down(&self) -> bool {
        self.observed.lock().machine.is_down()
    }

    /// Returns true if the last log line stated this reason.
    pub fn has_told(&self, reason: &str) -> bool {
        !reason.is_empty() && self.observed.lock().told.contains(reason)
    }

    fn write(&self, line: Line, change: &HealthChange, tools: usize) {
        let HealthChange { from, to, cause, lasted } = change;
        let (name, why) = (&self.name, cause.after(""));
        let lasted = Duration::from_millis(u64::try_from(lasted.as_millis()).unwrap_or(u64::MAX));
        let text = match line {
            Line::Change => format!("{to} after {lasted:?} of {from}, tools: {tools}{}", why.detail),
            Line::Flapping => format!(
                "flapping: {to} after {lasted:?} of {from}, tools: {tools}{}; from now on at most one line a minute",
                why.detail
            ),
            Line::Summary(changes) => {
                format!("flapping: {changes} changes, now {to} for {lasted:?}, tools: {tools}{}", why.detail)
            }
        };
        let is_expected = *to == HealthWord::AuthRequired && self.awaits_callers.load(Ordering::Relaxed);
        if is_expected {
            tracing::info!(target: TARGET, server = %name, "{text}; each caller gives its own consent");
        } else if to.is_trouble() {
            tracing::warn!(target: TARGET, server = %name, "{text}");
        } else {
            tracing::info!(target: TARGET, server = %name, "{text}");
        }
    }
}

/// A link that is being opened. If this value is dropped without an outcome, it reveals nothing about the server.
pub struct OpeningWatch<'a> {
    health: &'a ServerHealth,
    outcome: Result<(), Failure>,
}

impl OpeningWatch<'_> {
    /// Records how the opening has ended.
    pub fn ended(mut self, outcome: Result<(), Failure>) {
        self.outcome = outcome;
    }
}

impl Drop for OpeningWatch<'_> {
    fn drop(&mut self) {
        let outcome = std::mem::replace(&mut self.outcome, Err(Failure::Nothing));
        self.health.note(HealthEvent::OpeningEnded(outcome));
    }
}
