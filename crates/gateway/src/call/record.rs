//! The record of a running request: its entry in the record of calls, its figures, and its spans. This module must not know
//! files, or how figures and spans are published.

mod completion;
mod facts;
mod observers;
mod reason;

use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::exchange::{ExchangeAnswer, TraceHop};
use engine::meters::OperationOutcome;
use engine::{Condition, Fault};
use proto::era::Era;
use proto::json::{MAX_DEPTH, Members};
use proto::mcp::says_failure;
use proto::rpc::{Frame, RpcError};
use upstream::Upstream;

use crate::admission::audit::{AuditEntry, CallOutcome, ReasonKind};
use crate::admission::identity::Identity;
use crate::call::CallContext;
use crate::call::audit_entry::audit_entry;
use crate::call::capture::{Lane, MessageTape};
use crate::call::recorded_target::RecordedTarget;
pub(crate) use crate::call::refused::Refused;
use crate::call::traced::traced;
use crate::telemetry::trace::TracedRequest;
use crate::telemetry::{RequestMeter, SentTimes};
use facts::RecordedFacts;
use observers::{meter, tape};

/// The record of a running request. Dropping it completes the record.
pub(crate) struct Record {
    context: Arc<CallContext>,
    /// The time at which the whole request had arrived.
    started: Instant,
    /// The time at which the request began to wait before it is sent; `None` if it does not wait.
    waits_since: Option<Instant>,
    /// The time at which the call began to wait for its client; `None` if it does not wait.
    parked_since: Option<Instant>,
    facts: RecordedFacts,
    /// The entry in the record of calls, without the facts that are known only at the end; `None` if calls are not
    /// recorded.
    entry: Option<AuditEntry>,
    /// The meter that counts the request; `None` if requests are not counted.
    meter: Option<RequestMeter>,
    /// The facts for the request's spans; `None` if the request is not traced.
    traced: Option<TracedRequest>,
    /// The times of sending and of the server's messages, if the request was sent and is counted or traced.
    times: Option<SentTimes>,
    /// The request's messages, if they are captured.
    tape: Option<Box<MessageTape>>,
}

impl Record {
    /// Begins a record; `None` if requests are not recorded.
    pub(crate) fn begin(
        context: &Arc<CallContext>,
        identity: &Identity,
        profile: usize,
        frame: &Frame,
    ) -> Option<Box<Self>> {
        Self::of(context, (identity, profile), frame, None)
    }

    /// Begins the record of a request to a server.
    pub(crate) fn forwarded(
        context: &Arc<CallContext>,
        identity: &Identity,
        profile: usize,
        frame: &Frame,
        target: RecordedTarget<'_>,
    ) -> Option<Box<Self>> {
        Self::of(context, (identity, profile), frame, Some(target))
    }

    /// Returns the tool that is called, by the name that the client used, if the call is recorded.
    pub(super) fn tool(&self) -> Option<Arc<str>> {
        self.entry.as_ref()?.tool.clone()
    }

    /// Returns true if requests are recorded.
    pub(super) fn is_kept(context: &CallContext) -> bool {
        context.state.observes()
    }

    fn of(
        context: &Arc<CallContext>,
        caller: (&Identity, usize),
        frame: &Frame,
        target: Option<RecordedTarget<'_>>,
    ) -> Option<Box<Self>> {
        if !Self::is_kept(context) {
            return None;
        }
        let (tool, arrived) = target.map_or((None, None), |target| (target.tool, target.arrived));
        let (entry, meter) = (audit_entry(context, caller, frame, tool), meter(context, frame, target));
        let traced = traced(context, caller, frame, target);
        let started = arrived.map_or_else(Instant::now, |arrived| arrived.at);
        let tape = tape(context, caller.0, (frame, started), target);
        if entry.is_none() && meter.is_none() && traced.is_none() && tape.is_none() {
            return None;
        }
        let mut record = Box::new(Self {
            started,
            waits_since: None,
            parked_since: None,
            facts: RecordedFacts {
                outcome: CallOutcome::Error,
                failure: None,
                code: None,
                upstream: target.map(|target| target.upstream.name().clone()),
                response_bytes: 0,
                tries: 0,
                waited: Duration::ZERO,
                cached: false,
                cause: None,
                reason: None,
            },
            entry: None,
            meter,
            traced: None,
            times: None,
            tape,
            context: context.clone(),
        });
        // These parts have several hundred bytes, and few records have both.
        if entry.is_some() {
            record.entry = entry;
        }
        if traced.is_some() {
            record.traced = traced;
        }
        Some(record)
    }

    /// Records a request that was refused before it was forwarded.
    pub(crate) fn refusal(
        context: &Arc<CallContext>,
        identity: &Identity,
        profile: usize,
        frame: &Frame,
        fault: &Fault,
    ) -> Option<Box<Self>> {
        let mut record = Self::begin(context, identity, profile, frame)?;
        record.refused(fault);
        Some(record)
    }

    /// Records the server to which the request was sent.
    pub(crate) fn went_to(&mut self, server: &Arc<str>) {
        if let Some(meter) = &mut self.meter {
            let all = self.context.view.state.upstreams.all();
            if let Some(one) = all.iter().find(|one| one.common.name() == server) {
                meter.set_server(&one.common.server.meters);
            }
        }
        self.facts.upstream = Some(server.clone());
    }

    /// Records that the request waits from now on, until it is sent. For most requests, which never wait, the clock
    /// is not read.
    pub(crate) fn waits(&mut self) {
        self.waits_since.get_or_insert_with(Instant::now);
    }

    /// Records that the request is sent to its server.
    pub(crate) fn sent(&mut self) {
        self.end_wait();
        self.facts.tries = self.facts.tries.saturating_add(1);
        match &mut self.times {
            Some(times) => times.interrupt(),
            None if self.meter.is_some() || self.traced.is_some() => {
                self.times = Some(SentTimes::new(Instant::now()));
            }
            None => {}
        }
    }

    /// Captures a message of the request, if messages are captured.
    pub(crate) fn capture(&self, lane: Lane, text: &[u8]) {
        if let Some(tape) = &self.tape {
            tape.add(lane, text);
        }
    }

    /// Captures the request in the form in which it is sent to its server.
    pub(crate) fn capture_sent(&mut self, era: &'static Era, text: &[u8]) {
        if let Some(tape) = &mut self.tape {
            tape.set_server_era(era.version);
            tape.add(Lane::ToServer, text);
        }
    }

    /// Records that the server has sent a message about the request.
    pub(crate) fn heard(&mut self, now: Instant) {
        if let (Some(times), None) = (&mut self.times, self.parked_since) {
            times.hear(now);
        }
    }

    /// Records that the call waits until its client returns with answers to questions.
    pub(crate) fn parks(&mut self) {
        self.parked_since.get_or_insert_with(Instant::now);
    }

    /// Records that the call's client has returned.
    pub(crate) fn resumes(&mut self) {
        if let (Some(since), Some(times)) = (self.parked_since.take(), &mut self.times) {
            times.resume(since.elapsed());
        }
        (self.facts.outcome, self.facts.failure, self.facts.reason) = (CallOutcome::Error, None, None);
    }

    /// Returns the trace context that a traced request carries to its server. Baggage is not forwarded to servers
    /// on the network, because it may contain data about users.
    pub(super) fn trace_hop(&self, upstream: &Upstream) -> Option<TraceHop> {
        let traced = self.traced.as_ref().filter(|_| !upstream.server.is_native())?;
        Some(TraceHop::new(&traced.ids.sent().traceparent(), upstream.server.over_http()))
    }

    /// Records that the request is answered with a kept result.
    pub(crate) fn cached(&mut self) {
        self.facts.cached = true;
    }

    fn end_wait(&mut self) {
        if let Some(since) = self.waits_since.take() {
            self.facts.waited = self.facts.waited.saturating_add(since.elapsed());
        }
    }

    /// Records the answer.
    pub(crate) fn answered(&mut self, answer: &ExchangeAnswer) {
        self.capture(Lane::ToClient, &answer.body);
        let facts = &mut self.facts;
        facts.response_bytes = answer.body.len() as u64;
        if !answer.ok {
            let fault = answer.fault.as_ref();
            let code = fault.map(|fault| fault.code).or_else(|| error_code(&answer.body));
            facts.code = code.map(i64::from);
            facts.fail(kind(fault.map(|fault| fault.condition)));
            match fault {
                Some(fault) => self.give_reason_of(fault),
                None => self.give_reason_in(&answer.body, ReasonKind::ServerError),
            }
        } else if says_failure(&answer.body) {
            facts.fail(OperationOutcome::ToolError);
            self.give_reason_in(&answer.body, ReasonKind::ToolError);
        } else {
            facts.outcome = CallOutcome::Ok;
        }
    }

    /// Records that the answer is passed on as it arrives; `bytes` is the length that the server announced.
    pub(crate) fn passed(&mut self, bytes: u64) {
        self.heard(Instant::now());
        (self.facts.outcome, self.facts.response_bytes) = (CallOutcome::Ok, bytes);
    }

    /// Records an answer that was ready immediately.
    pub(crate) fn body(&mut self, body: &[u8], failed: bool) {
        self.capture(Lane::ToClient, body);
        let facts = &mut self.facts;
        facts.response_bytes = body.len() as u64;
        facts.code = error_code(body).map(i64::from);
        if facts.code.is_some() {
            facts.fail(OperationOutcome::Error);
            self.give_reason_in(body, ReasonKind::Request);
        } else if failed || says_failure(body) {
            facts.fail(OperationOutcome::ToolError);
            self.give_reason_in(body, ReasonKind::ToolError);
        } else {
            facts.outcome = CallOutcome::Ok;
        }
    }

    /// Records a refusal.
    pub(crate) fn refused(&mut self, fault: &Fault) {
        // The caller cannot distinguish the two cases.
        let is_absent = matches!(
            fault.condition,
            Condition::UnknownTool | Condition::UnknownPrompt | Condition::UnknownResource
        );
        let away = fault.subject.as_deref().filter(|_| fault.condition == Condition::UpstreamDown);
        if let Some(server) = away {
            self.went_to(&server.into());
        }
        if let Some(server) = &fault.server {
            self.withheld(server);
        }
        let facts = &mut self.facts;
        facts.code = Some(i64::from(fault.code));
        facts.fail(kind(Some(fault.condition)));
        if away.is_some() {
            // The server is the reason.
        } else if matches!(
            fault.condition,
            Condition::RateLimited | Condition::DeniedArguments | Condition::HeldTool
        ) {
            facts.outcome = CallOutcome::Denied;
        } else if is_absent {
            facts.outcome = if fault.hidden { CallOutcome::Denied } else { CallOutcome::Unknown };
        }
        self.give_reason_of(fault);
    }

    /// Records the body that was sent to the client, for endpoints that have their own texts and codes.
    pub(crate) fn answered_with(&mut self, body: &[u8]) {
        let facts = &mut self.facts;
        facts.response_bytes = body.len() as u64;
        facts.code = error_code(body).map(i64::from);
        if facts.outcome == CallOutcome::Ok && facts.code.is_some() {
            facts.fail(OperationOutcome::Error);
            self.give_reason_in(body, ReasonKind::ServerError);
        } else if facts.outcome == CallOutcome::Ok && says_failure(body) {
            facts.fail(OperationOutcome::ToolError);
            self.give_reason_in(body, ReasonKind::ToolError);
        }
    }

    /// Records the server of an item that the client may not use.
    pub(crate) fn withheld(&mut self, server: &str) {
        if self.facts.upstream.is_none() && !server.is_empty() {
            self.facts.upstream = Some(server.into());
        }
    }

    /// Records the answer to a refused request.
    pub(crate) fn replied(&mut self, body: &[u8]) {
        self.capture(Lane::ToClient, body);
        self.facts.response_bytes = body.len() as u64;
    }

    /// Records a denial, with its reason and the error text.
    pub(crate) fn denied(&mut self, code: Option<i32>, kind: ReasonKind, text: &str) {
        self.facts.code = code.map(i64::from).or(self.facts.code);
        self.facts.outcome = CallOutcome::Denied;
        self.give_reason(kind, text);
    }

    /// Records that the target does not exist.
    pub(crate) fn unknown(&mut self) {
        self.facts.outcome = CallOutcome::Unknown;
        self.give_reason(ReasonKind::UnknownName, "");
    }
}

/// Returns the kind of a failure with this condition.
fn kind(condition: Option<Condition>) -> OperationOutcome {
    match condition {
        Some(Condition::UpstreamDown) => OperationOutcome::Unavailable,
        Some(Condition::ToolFailed) => OperationOutcome::ToolError,
        _ => OperationOutcome::Error,
    }
}

/// Returns the code of an error response.
fn error_code(body: &[u8]) -> Option<i32> {
    let members = Members::of_document(body, MAX_DEPTH).ok()?;
    RpcError::of_value(body, members.get(body, "error")?).map(|error| error.code)
}
