//! A request's entry in the record of calls. This module must not know files.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use engine::catalogue::ToolEntry;
use engine::exchange::ExchangeAnswer;
use engine::{Condition, Fault};
use proto::json::{MAX_DEPTH, Members};
use proto::mcp::{Method, meta, says_failure};
use proto::rpc::{Frame, RpcError};

use crate::admission::audit::{AuditEntry, AuditSink, CallOutcome};
use crate::admission::client_label;
use crate::admission::identity::Identity;
use crate::call::CallContext;

/// The record of a running request.
pub(crate) struct Record {
    sink: AuditSink,
    started: Instant,
    /// The time at which the request began to wait until it can be sent; `None` if it does not wait.
    waits_since: Option<Instant>,
    /// The entry; `None` once it has been recorded.
    entry: Option<AuditEntry>,
}

impl Record {
    /// Begins a record; `None` if calls are not recorded.
    pub(crate) fn begin(
        context: &Arc<CallContext>,
        identity: &Identity,
        profile: usize,
        frame: &Frame,
    ) -> Option<Box<Self>> {
        Self::of(context, identity, profile, frame, None)
    }

    /// Begins the record of a request to `server`; `tool` is set if the request calls a tool.
    pub(crate) fn forwarded(
        context: &Arc<CallContext>,
        identity: &Identity,
        profile: usize,
        frame: &Frame,
        (server, tool): (&Arc<str>, Option<&ToolEntry>),
    ) -> Option<Box<Self>> {
        let mut record = Self::of(context, identity, profile, frame, tool)?;
        record.went_to(server);
        Some(record)
    }

    /// Returns true if requests are recorded.
    pub(super) fn is_kept(context: &CallContext) -> bool {
        context.state.audit.is_on()
    }

    fn of(
        context: &Arc<CallContext>,
        identity: &Identity,
        profile: usize,
        frame: &Frame,
        tool: Option<&ToolEntry>,
    ) -> Option<Box<Self>> {
        let sink = &context.state.audit;
        if !Self::is_kept(context) {
            return None;
        }
        let method = frame.method();
        let member = |key| frame.param(key).ok().flatten();
        let named = || member("name").or_else(|| member("uri")).and_then(|span| frame.string(span));
        let name = tool.map(|tool| tool.name.clone()).or_else(|| named().map(|name| name.as_ref().into()));
        let arguments = sink.takes_arguments().then(|| member("arguments")).flatten();
        let arguments = arguments.and_then(|span| sink.arguments(span.of(frame.text())));
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let entry = AuditEntry {
            at_ms: u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
            principal: identity.principal.id.clone(),
            profile: context.egress.snapshot().profiles[profile].slug.clone(),
            upstream: None,
            tool: name,
            method: Method::from_name(&method)
                .map_or_else(|| Cow::Owned(method.clone().into_owned()), |known| Cow::Borrowed(known.name())),
            // The outcome that is recorded if nobody completes the record.
            outcome: CallOutcome::Error,
            code: None,
            duration_us: 0,
            request_bytes: frame.text().len() as u64,
            response_bytes: 0,
            tries: 0,
            waited_us: 0,
            cached: false,
            arguments,
            address: identity.address().map(client_label::address),
            client: identity.program.clone().or_else(|| {
                let info = frame.meta(meta::CLIENT_INFO).ok().flatten()?;
                client_label::program(info.of(frame.text()))
            }),
        };
        Some(Box::new(Self {
            sink: sink.clone(),
            started: Instant::now(),
            waits_since: None,
            entry: Some(entry),
        }))
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
        self.note(|entry| entry.upstream = Some(server.clone()));
    }

    /// Records that the request waits from now on, until it is sent. Most requests never wait, and for these, the clock
    /// is not read.
    pub(crate) fn waits(&mut self) {
        self.waits_since.get_or_insert_with(Instant::now);
    }

    /// Records that the request is sent to its server.
    pub(crate) fn sent(&mut self) {
        self.end_wait();
        self.note(|entry| entry.tries = entry.tries.saturating_add(1));
    }

    /// Records that the request is answered with a kept result.
    pub(crate) fn cached(&mut self) {
        self.note(|entry| entry.cached = true);
    }

    fn end_wait(&mut self) {
        if let Some(since) = self.waits_since.take() {
            let waited = micros(since);
            self.note(|entry| entry.waited_us = entry.waited_us.saturating_add(waited));
        }
    }

    /// Records the answer.
    pub(crate) fn answered(&mut self, answer: &ExchangeAnswer) {
        self.note(|entry| {
            entry.response_bytes = answer.body.len() as u64;
            if !answer.ok {
                let code = answer.fault.as_ref().map(|fault| fault.code).or_else(|| error_code(&answer.body));
                entry.code = code.map(i64::from);
            } else if !says_failure(&answer.body) {
                entry.outcome = CallOutcome::Ok;
            }
        });
    }

    /// Records that the answer is passed on as it arrives; `bytes` is the length that the server announced.
    pub(crate) fn passed(&mut self, bytes: u64) {
        self.note(|entry| (entry.outcome, entry.response_bytes) = (CallOutcome::Ok, bytes));
    }

    /// Records an answer that was ready immediately.
    pub(crate) fn body(&mut self, body: &[u8], failed: bool) {
        self.note(|entry| {
            entry.response_bytes = body.len() as u64;
            entry.code = error_code(body).map(i64::from);
            if entry.code.is_none() && !failed && !says_failure(body) {
                entry.outcome = CallOutcome::Ok;
            }
        });
    }

    /// Records a refusal.
    pub(crate) fn refused(&mut self, fault: &Fault) {
        // The caller cannot distinguish the two cases.
        let is_absent = matches!(
            fault.condition,
            Condition::UnknownTool | Condition::UnknownPrompt | Condition::UnknownResource
        );
        let away = fault.subject.as_deref().filter(|_| fault.condition == Condition::UpstreamDown);
        self.note(|entry| {
            entry.code = Some(i64::from(fault.code));
            if let Some(server) = away {
                entry.upstream = Some(server.into());
            } else if matches!(
                fault.condition,
                Condition::RateLimited | Condition::DeniedArguments | Condition::HeldTool
            ) {
                entry.outcome = CallOutcome::Denied;
            } else if is_absent {
                entry.outcome = if fault.hidden { CallOutcome::Denied } else { CallOutcome::Unknown };
            }
        });
    }

    /// Records the body that was sent to the client, for endpoints that have their own texts and codes.
    pub(crate) fn answered_with(&mut self, body: &[u8]) {
        self.note(|entry| {
            entry.response_bytes = body.len() as u64;
            entry.code = error_code(body).map(i64::from);
            if entry.outcome == CallOutcome::Ok && (entry.code.is_some() || says_failure(body)) {
                entry.outcome = CallOutcome::Error;
            }
        });
    }

    /// Records a denial.
    pub(crate) fn denied(&mut self, code: Option<i32>) {
        self.note(|entry| {
            entry.code = code.map(i64::from).or(entry.code);
            entry.outcome = CallOutcome::Denied;
        });
    }

    /// Records that the target does not exist.
    pub(crate) fn unknown(&mut self) {
        self.note(|entry| entry.outcome = CallOutcome::Unknown);
    }

    fn note(&mut self, what: impl FnOnce(&mut AuditEntry)) {
        if let Some(entry) = &mut self.entry {
            what(entry);
        }
    }
}

/// A refused request; dropping it completes its record.
pub(crate) struct Refused {
    pub(crate) fault: Fault,
    pub(crate) record: Option<Box<Record>>,
}

impl Refused {
    /// Creates a refusal with this fault; if there is a `masked` fault, the client receives that one instead.
    pub(super) fn new(fault: Fault, masked: Option<Box<Fault>>, mut record: Option<Box<Record>>) -> Self {
        if let Some(record) = &mut record {
            record.refused(&fault);
        }
        Self { fault: masked.map_or(fault, |masked| *masked), record }
    }
}

impl From<Fault> for Refused {
    fn from(fault: Fault) -> Self {
        Self { fault, record: None }
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        self.end_wait();
        let duration_us = micros(self.started);
        if let Some(entry) = self.entry.take() {
            self.sink.record(AuditEntry { duration_us, ..entry });
        }
    }
}

/// Returns the number of microseconds since `since`.
fn micros(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX)
}

/// Returns the code of an error response.
fn error_code(body: &[u8]) -> Option<i32> {
    let members = Members::of_document(body, MAX_DEPTH).ok()?;
    RpcError::of_value(body, members.get(body, "error")?).map(|error| error.code)
}
