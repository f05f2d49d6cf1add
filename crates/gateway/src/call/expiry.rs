//! The end of a call's time: while it waits for its turn, before it is sent, or while its server works. This module must not
//! know how a call is sent.

use std::time::Instant;

use engine::exchange::{Event, Execution};

use super::call::Call;
use super::in_progress::CallStage;
use super::input::CallInput;
use super::turn::CallTurn;
use crate::admission::audit::ReasonKind;

impl Call {
    /// Waits for the call's turn at its server; if another event ends the wait, returns that event.
    pub(super) async fn take_turn(&mut self) -> Option<CallInput> {
        if let Some(record) = &mut self.record {
            record.waits();
        }
        let (began, deadline) = (Instant::now(), self.exchange.deadline());
        let ended = self.turn.take(&self.upstream, &mut self.client, deadline).await;
        self.exchange.note_queued(began.elapsed());
        if ended.is_none() {
            self.at_stage(CallStage::Runs);
        }
        ended
    }

    /// Ends the call, or takes the exchange's delayed step, because its deadline has passed.
    pub(super) fn late(&mut self) {
        if self.turn.is_waiting() {
            self.fails_by(ReasonKind::Queue);
            return self.fail_in_words(CallTurn::overdue(&self.upstream), Execution::NotExecuted);
        }
        if self.is_unreached() {
            self.fails_by(ReasonKind::Unavailable);
            return self.feed(Event::Unreached);
        }
        self.fails_by(if self.exchange.is_waiting() {
            ReasonKind::Unanswered
        } else if self.exchange.was_mostly_queued(Instant::now()) {
            ReasonKind::Queue
        } else {
            ReasonKind::Timeout
        });
        self.before_expiry();
        self.feed(Event::Expired);
    }

    /// Records why the call is about to fail.
    pub(super) fn fails_by(&mut self, cause: ReasonKind) {
        if let Some(record) = &mut self.record {
            record.fails_by(cause);
        }
    }

    /// Returns true if no server can have got the request.
    fn is_unreached(&self) -> bool {
        let is_first = self.retries.policy.overall(Execution::NotExecuted) == Execution::NotExecuted;
        self.connection.held.is_none() && is_first && !self.exchange.is_waiting()
    }
}
