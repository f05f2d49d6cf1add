//! The end of a record: hands on the entry, the figures, the spans and the captured messages. This module must not
//! know what a request asked for.

use std::time::{Duration, Instant};

use engine::meters::OperationOutcome;

use super::Record;
use crate::admission::audit::AuditEntry;
use crate::call::capture::CallMark;
use crate::telemetry::MeteredEnd;
use crate::telemetry::trace::TracedEnd;

impl Drop for Record {
    fn drop(&mut self) {
        self.end_wait();
        let reason = self.reason_at_end();
        let (now, parked) = (Instant::now(), self.parked_since);
        // If the client has not come back, the call ended for everybody when it began to wait.
        let ended = parked.unwrap_or(now);
        let outcome =
            if parked.is_some() { OperationOutcome::Cancelled } else { self.facts.operation_outcome() };
        let state = &self.context.state;
        if let Some(meter) = self.meter.take() {
            let (started, waited, sent) = (self.started, self.facts.waited, self.times);
            meter.finish(&state.figures, MeteredEnd { outcome, started, ended, waited, sent });
        }
        let span = self.traced.as_ref().map(|traced| traced.ids.served());
        if let (Some(traced), Some(tracer)) = (&mut self.traced, &state.tracer) {
            let upstream = self.facts.upstream.as_ref();
            if !traced.operation.is_at(upstream) {
                traced.operation = traced.operation.at(upstream);
            }
            let end = TracedEnd {
                started: self.started,
                ended,
                sent: self.times.map(|times| times.at_server(ended)),
                outcome,
                code: self.facts.code,
                tries: self.facts.tries,
                cached: self.facts.cached,
            };
            tracer.queue.accept(|spans| spans.add(traced, &end));
        }
        if let Some(entry) = self.entry.take() {
            let facts = &mut self.facts;
            let entry = AuditEntry {
                outcome: facts.outcome,
                code: facts.code,
                upstream: facts.upstream.take(),
                response_bytes: facts.response_bytes,
                tries: facts.tries,
                waited_us: micros(facts.waited),
                cached: facts.cached,
                reason,
                duration_us: micros(now.saturating_duration_since(self.started)),
                ..entry
            };
            if let Some(tape) = self.tape.take() {
                state.capture.keep(&tape, CallMark::of(&entry));
            }
            state.audit.record_in(entry, span);
        }
    }
}

/// Returns the number of microseconds in a duration.
fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
