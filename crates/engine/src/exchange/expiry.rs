//! The end of an exchange's time, and the message that says where the time went. This module must not read a clock.

use std::time::{Duration, Instant};

use super::{Exchange, Execution, LinkFailure, Sealer};
use crate::fault::Fault;

impl Exchange {
    /// Notes a time that the request waited for its turn at the server. It counts toward the time of the request.
    pub fn note_queued(&mut self, time: Duration) {
        self.clock.queued += time;
    }

    /// Returns true if the request has waited for its turn for at least half of its time.
    pub fn was_mostly_queued(&self, now: Instant) -> bool {
        self.clock.queued * 2 >= now.duration_since(self.clock.started)
    }

    pub(super) fn expire(&mut self, sealer: &dyn Sealer, server: &str, now: Instant) {
        let waited = now.duration_since(self.clock.started).as_secs();
        self.give_up();
        self.cancel_task(sealer);
        self.cancel_upstream(None);
        if self.is_waiting() {
            let message = format!(
                "server {server:?} needs the client's answer to a question, and none arrived within {waited} s"
            );
            return self.fail(Fault::upstream(server, false, message));
        }
        let queued = self.clock.queued.as_secs();
        let help = if queued > 0 {
            "more concurrent calls (`concurrentCalls`) or a longer `timeout` would help"
        } else if self.clock.exceeds_profile(now) {
            "the profile allows no more time for this tool (`timeout` in `tools.overrides`)"
        } else {
            "the server may be overloaded or stuck; increase its `timeout` if it needs more time"
        };
        let method = self.client.request.method();
        let message = if queued > 0 {
            let ran = waited.saturating_sub(queued);
            format!(
                "did not answer {method:?} within {ran} s; before, the call had waited {queued} s for its turn, which is a part \
                 of its time of {waited} s; {help}"
            )
        } else {
            format!("did not answer {method:?} within {waited} s; {help}")
        };
        let failure = LinkFailure { message, execution: Execution::Unknown, retry: false };
        self.fail(failure.fault(server));
    }

    pub(super) fn unreached(&mut self, server: &str, now: Instant) {
        let waited = now.duration_since(self.clock.started).as_secs();
        let message = format!(
            "could not be reached within {waited} s, so {:?} was not sent; the server may be starting or overloaded",
            self.client.request.method()
        );
        let failure = LinkFailure { message, execution: Execution::NotExecuted, retry: true };
        self.fail(failure.fault(server));
    }
}
