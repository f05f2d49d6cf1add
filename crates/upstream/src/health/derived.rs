//! From what is known of a server to its state. It must not know events.

use super::machine::{Down, Ends, HealthMachine, KnownLists};
use super::state::{HealthCause, HealthWord};

impl HealthMachine {
    /// The state that follows from what is known, and its reason. Only `ready` has none.
    pub(super) fn derived(&self) -> (HealthWord, HealthCause) {
        let starting = |why: &str| (HealthWord::Starting, HealthCause::plain(why));
        if self.is_leaving {
            return (HealthWord::Leaving, HealthCause::plain("it is no longer configured"));
        }
        if let Some(cause) = &self.unauthorized {
            return (HealthWord::AuthRequired, cause.clone());
        }
        if let Some(cause) = &self.held_back {
            return (HealthWord::Unreachable, cause.clone());
        }
        if let Some(down) = &self.down {
            if let Some(clients) = self.starts_for {
                let why = format!("starts only for clients with {clients}; without");
                return (HealthWord::Degraded, self.derived_down(down).1.after(&why));
            }
            return self.derived_down(down);
        }
        if self.lists == KnownLists::Nothing {
            return match &self.lists_failed {
                Some(cause) => (HealthWord::Unreachable, cause.after("its lists cannot be fetched")),
                None => self.derived_beginning(NOT_ASKED),
            };
        }
        if !self.is_open && self.openings > 0 {
            return starting(OPENING);
        }
        if self.lists == KnownLists::Kept && self.lists_failed.is_none() {
            return self.derived_beginning("its lists are from an earlier run and were not confirmed yet");
        }
        if self.is_resting {
            return (
                HealthWord::Resting,
                HealthCause::plain("its process was stopped because nobody used it"),
            );
        }
        match self.flaw() {
            Some(cause) => (HealthWord::Degraded, cause),
            None => (HealthWord::Ready, HealthCause::default()),
        }
    }

    /// The state before its lists have come for the first time.
    fn derived_beginning(&self, untouched: &str) -> (HealthWord, HealthCause) {
        match (self.is_open, self.openings + self.listings) {
            (true, 1..) if self.listings > 0 => (HealthWord::Listing, HealthCause::plain(LISTING)),
            (_, 0) => (HealthWord::Starting, HealthCause::plain(untouched)),
            _ => (HealthWord::Starting, HealthCause::plain(OPENING)),
        }
    }

    fn derived_down(&self, down: &Down) -> (HealthWord, HealthCause) {
        match (down, self.ends) {
            (Down::Ended(cause), Some(ends)) if self.is_child && ends.number > 1 => {
                (HealthWord::BackingOff, cause.after(&format!("exited {}", ends.in_words())))
            }
            (Down::Ended(cause), _) => {
                (HealthWord::Starting, cause.after("it ended and is being opened again"))
            }
            (Down::NotStarted(cause), Some(ends)) => {
                (HealthWord::BackingOff, cause.after(&format!("failed to start {}", ends.in_words())))
            }
            (Down::NotStarted(cause) | Down::Unreachable(cause), _) => {
                (HealthWord::Unreachable, cause.clone())
            }
        }
    }

    /// The reason why it cannot be used fully.
    fn flaw(&self) -> Option<HealthCause> {
        if let Some(cause) = &self.lists_failed {
            return Some(cause.after("its lists may be out of date, they cannot be fetched"));
        }
        if let Some(cause) = &self.lists_partly {
            return Some(cause.after("some of its lists cannot be fetched"));
        }
        if let Some(cause) = self.lost_notices.values().next() {
            return Some(cause.after("its notifications are not received"));
        }
        (self.left_out > 0).then(|| {
            let items = match self.left_out {
                1 => "1 item of its lists is".to_owned(),
                number => format!("{number} items of its lists are"),
            };
            HealthCause::plain(format!("{items} left out; the log says why"))
        })
    }
}

impl Ends {
    /// The number, and the time from the first to the last.
    fn in_words(self) -> String {
        let seconds = self.last.saturating_duration_since(self.first).as_secs();
        match self.number {
            1 => "once".to_owned(),
            number => format!("{number} times in {} s", seconds.max(1)),
        }
    }
}

pub(super) const NOT_ASKED: &str = "it was not contacted yet";
const OPENING: &str = "a connection to it is being opened";
const LISTING: &str = "its lists are being fetched";
