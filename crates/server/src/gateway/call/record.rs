//! What is written down of a request once it is over, where calls are recorded. It must not know files.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use engine::catalogue::ToolEntry;
use engine::exchange::Answer;
use engine::{Condition, Fault};
use proto::json::{MAX_DEPTH, Members};
use proto::mcp::{Method, meta, says_failure};
use proto::rpc::{Frame, RpcError};

use crate::audit::{AuditSink, Entry, Outcome};
use crate::gateway::admission::client_label;
use crate::gateway::admission::identity::Identity;
use crate::gateway::call::CallContext;

/// A request that is under way.
pub(crate) struct Record {
    sink: AuditSink,
    started: Instant,
    /// Until it is over.
    entry: Option<Entry>,
}

impl Record {
    /// Notes that a request has come; `None` where nothing is recorded.
    pub(crate) fn begin(
        context: &Arc<CallContext>,
        identity: &Identity,
        profile: usize,
        frame: &Frame,
    ) -> Option<Box<Self>> {
        Self::of(context, identity, profile, frame, None)
    }

    /// Notes that a request goes to `server`, for this tool if it is a call.
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

    fn of(
        context: &Arc<CallContext>,
        identity: &Identity,
        profile: usize,
        frame: &Frame,
        tool: Option<&ToolEntry>,
    ) -> Option<Box<Self>> {
        let sink = &context.state.audit;
        if !sink.is_on() {
            return None;
        }
        let method = frame.method();
        let member = |key| frame.param(key).ok().flatten();
        let named = || member("name").or_else(|| member("uri")).and_then(|span| frame.string(span));
        let name = tool.map(|tool| tool.name.clone()).or_else(|| named().map(|name| name.as_ref().into()));
        let arguments = sink.takes_arguments().then(|| member("arguments")).flatten();
        let arguments = arguments.and_then(|span| sink.arguments(span.of(frame.text())));
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let entry = Entry {
            at_ms: u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
            principal: identity.principal.id.clone(),
            profile: context.egress.snapshot.profiles[profile].slug.clone(),
            upstream: None,
            tool: name,
            method: Method::from_name(&method)
                .map_or_else(|| Cow::Owned(method.clone().into_owned()), |known| Cow::Borrowed(known.name())),
            // What nobody waits for any more ends like this.
            outcome: Outcome::Error,
            code: None,
            duration_us: 0,
            request_bytes: frame.text().len() as u64,
            response_bytes: 0,
            arguments,
            address: identity.address().map(client_label::address),
            client: identity.program.clone().or_else(|| {
                let info = frame.meta(meta::CLIENT_INFO).ok().flatten()?;
                client_label::program(info.of(frame.text()))
            }),
        };
        Some(Box::new(Self { sink: sink.clone(), started: Instant::now(), entry: Some(entry) }))
    }

    /// Notes a request that was refused before it went anywhere.
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

    /// The server that it went to.
    pub(crate) fn went_to(&mut self, server: &Arc<str>) {
        self.note(|entry| entry.upstream = Some(server.clone()));
    }

    /// It was answered with this.
    pub(crate) fn answered(&mut self, answer: &Answer) {
        self.note(|entry| {
            entry.response_bytes = answer.body.len() as u64;
            if !answer.ok {
                let code = answer.fault.as_ref().map(|fault| fault.code).or_else(|| error_code(&answer.body));
                entry.code = code.map(i64::from);
            } else if !says_failure(&answer.body) {
                entry.outcome = Outcome::Ok;
            }
        });
    }

    /// Its answer is passed on as it comes: so many bytes, as its server says.
    pub(crate) fn passed(&mut self, bytes: u64) {
        self.note(|entry| (entry.outcome, entry.response_bytes) = (Outcome::Ok, bytes));
    }

    /// It was answered on the spot with this.
    pub(crate) fn said(&mut self, body: &[u8], failed: bool) {
        self.note(|entry| {
            entry.response_bytes = body.len() as u64;
            entry.code = error_code(body).map(i64::from);
            if entry.code.is_none() && !failed && !says_failure(body) {
                entry.outcome = Outcome::Ok;
            }
        });
    }

    /// It was refused.
    pub(crate) fn refused(&mut self, fault: &Fault) {
        // To the caller both look alike.
        let is_absent = matches!(
            fault.condition,
            Condition::UnknownTool | Condition::UnknownPrompt | Condition::UnknownResource
        );
        let away = fault.subject.as_deref().filter(|_| fault.condition == Condition::UpstreamDown);
        self.note(|entry| {
            entry.code = Some(i64::from(fault.code));
            if let Some(server) = away {
                entry.upstream = Some(server.into());
            } else if matches!(fault.condition, Condition::RateLimited | Condition::DeniedArguments) {
                entry.outcome = Outcome::Denied;
            } else if is_absent {
                entry.outcome = if fault.hidden { Outcome::Denied } else { Outcome::Unknown };
            }
        });
    }

    /// What it came to was said to its client with this, in words and under a code of its endpoint's own.
    pub(crate) fn told(&mut self, body: &[u8]) {
        self.note(|entry| {
            entry.response_bytes = body.len() as u64;
            entry.code = error_code(body).map(i64::from);
            if entry.outcome == Outcome::Ok && (entry.code.is_some() || says_failure(body)) {
                entry.outcome = Outcome::Error;
            }
        });
    }

    /// It was not let through.
    pub(crate) fn denied(&mut self, code: Option<i32>) {
        self.note(|entry| {
            entry.code = code.map(i64::from).or(entry.code);
            entry.outcome = Outcome::Denied;
        });
    }

    /// What it names is not there.
    pub(crate) fn unknown(&mut self) {
        self.note(|entry| entry.outcome = Outcome::Unknown);
    }

    fn note(&mut self, what: impl FnOnce(&mut Entry)) {
        if let Some(entry) = &mut self.entry {
            what(entry);
        }
    }
}

/// A request that was refused, and what is written down of that once this is gone.
pub(crate) struct Refused {
    pub(crate) fault: Fault,
    pub(crate) record: Option<Box<Record>>,
}

impl Refused {
    /// A request that was refused with this fault; its client is told `veil` instead, where there is one.
    pub(super) fn new(fault: Fault, veil: Option<Box<Fault>>, mut record: Option<Box<Record>>) -> Self {
        if let Some(record) = &mut record {
            record.refused(&fault);
        }
        Self { fault: veil.map_or(fault, |veil| *veil), record }
    }
}

impl From<Fault> for Refused {
    fn from(fault: Fault) -> Self {
        Self { fault, record: None }
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        let duration_us = u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX);
        if let Some(entry) = self.entry.take() {
            self.sink.record(Entry { duration_us, ..entry });
        }
    }
}

/// The code of an error response.
fn error_code(body: &[u8]) -> Option<i32> {
    let members = Members::of_document(body, MAX_DEPTH).ok()?;
    RpcError::of_value(body, members.get(body, "error")?).map(|error| error.code)
}
