//! Derives a server's state from the facts about it. This module must not know events.

use super::facts::{DownReason, KnownLists};
use super::machine::HealthMachine;
use super::state::{HealthCause, HealthWord};

impl HealthMachine {
    /// Returns the state that follows from the facts, and the reason for it. Only `ready` has no reason.
    pub(super) fn derived(&self) -> (HealthWord, HealthCause) {
        let starting = |why: &str| (HealthWord::Starting, HealthCause::plain(why));
        if self.is_leaving {
            return (HealthWord::Leaving, HealthCause::plain("the server is no longer configured"));
        }
        if let Some(cause) = &self.reach.unauthorized {
            return (HealthWord::AuthRequired, cause.clone());
        }
        if let Some(cause) = &self.requests.held_back {
            return (HealthWord::Unreachable, cause.clone());
        }
        if let Some(down) = &self.reach.down {
            if let Some(clients) = self.reach.starts_for {
                let why =
                    format!("the server starts only for clients with {clients}; for other clients, it fails");
                return (HealthWord::Degraded, self.derived_down(down).1.after(&why));
            }
            return self.derived_down(down);
        }
        if self.lists.known == KnownLists::Nothing {
            return match &self.lists.failed {
                Some(cause) => (HealthWord::Unreachable, cause.after("the server's lists cannot be fetched")),
                None => self.derived_beginning(NOT_ASKED),
            };
        }
        if !self.connection.is_open && self.connection.openings > 0 {
            return starting(OPENING);
        }
        if self.lists.known == KnownLists::Kept && self.lists.failed.is_none() {
            return self.derived_beginning(
                "the server's lists are from an earlier run and have not been confirmed yet",
            );
        }
        if self.connection.is_resting {
            return (
                HealthWord::Resting,
                HealthCause::plain("the server's process was stopped because nobody used it"),
            );
        }
        match self.flaw() {
            Some(cause) => (HealthWord::Degraded, cause),
            None => (HealthWord::Ready, HealthCause::default()),
        }
    }

    /// Returns the state before the server's lists have been fetched for the first time.
    fn derived_beginning(&self, untouched: &str) -> (HealthWord, HealthCause) {
        match (self.connection.is_open, self.connection.openings + self.lists.fetches) {
            (true, 1..) if self.lists.fetches > 0 => (HealthWord::Listing, HealthCause::plain(LISTING)),
            (_, 0) => (HealthWord::Starting, HealthCause::plain(untouched)),
            _ => (HealthWord::Starting, HealthCause::plain(OPENING)),
        }
    }

    fn derived_down(&self, down: &DownReason) -> (HealthWord, HealthCause) {
        match (down, self.ends.in_a_row) {
            (DownReason::Ended(cause), Some(ends)) if self.is_child && ends.number > 1 => {
                (HealthWord::BackingOff, cause.after(&format!("the process exited {}", ends.in_words())))
            }
            (DownReason::Ended(cause), _) => {
                (HealthWord::Starting, cause.after("the connection ended and is being reopened"))
            }
            (DownReason::NotStarted(cause), Some(ends)) => (
                HealthWord::BackingOff,
                cause.after(&format!("the process failed to start {}", ends.in_words())),
            ),
            (DownReason::NotStarted(cause) | DownReason::Unreachable(cause), _) => {
                (HealthWord::Unreachable, cause.clone())
            }
        }
    }

    /// Returns the reason why the server is not fully usable.
    fn flaw(&self) -> Option<HealthCause> {
        if let Some(cause) = &self.lists.failed {
            return Some(
                cause.after("the server's lists may be out of date, because they cannot be fetched"),
            );
        }
        if let Some(cause) = &self.lists.partly {
            return Some(cause.after("some of the server's lists cannot be fetched"));
        }
        if let Some(cause) = self.connection.lost_notices.values().next() {
            return Some(cause.after("the server's notifications are not received"));
        }
        (self.lists.left_out > 0).then(|| {
            let items = match self.lists.left_out {
                1 => "1 item in the server's lists is".to_owned(),
                number => format!("{number} items in the server's lists are"),
            };
            let text = format!("{items} left out; the log says why");
            HealthCause::of_lists(text.clone(), text)
        })
    }
}

pub(super) const NOT_ASKED: &str = "the server has not been contacted yet";
const OPENING: &str = "a connection to the server is being opened";
const LISTING: &str = "the server's lists are being fetched";
