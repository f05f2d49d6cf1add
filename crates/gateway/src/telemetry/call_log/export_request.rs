//! Entries of the record in the form in which collectors receive them: `ExportLogsServiceRequest` of OTLP 1. Attributes are
//! named as in the OpenTelemetry conventions for MCP (semantic-conventions-genai 0.1.0) where these define a name. This
//! module must not know where entries come from.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use store::audit::{AuditEntry, CallOutcome};

use super::LoggedCall;
use crate::telemetry::export::{
    AttributeValue, ExportBatch, ExportBody, Protobuf, ResourceAttributes, attribute,
};

/// The flag of a record whose trace is sampled.
const SAMPLED: u32 = 1;

/// The usual number of bytes of a log record.
const USUAL: usize = 512;

/// The names of the events: a request of a client, and a change or an operation of an operator.
const CALL: &str = "dragoman.call";
const OPERATION: &str = "dragoman.operation";

/// Entries that are sent together.
pub(crate) struct LogBatch {
    resource: Arc<ResourceAttributes>,
    pub(super) calls: Vec<LoggedCall>,
}

impl ExportBatch for LogBatch {
    fn new(resource: &Arc<ResourceAttributes>) -> Self {
        Self { resource: resource.clone(), calls: Vec::new() }
    }

    fn len(&self) -> usize {
        self.calls.len()
    }

    fn is_large(&self) -> bool {
        false
    }

    fn body(&mut self) -> Bytes {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let observed = u64::try_from(now.as_nanos()).unwrap_or(u64::MAX);
        let mut body = ExportBody::new(&self.resource);
        let bytes = body.bytes();
        bytes.reserve(USUAL * self.calls.len());
        let mut scope_logs = Protobuf::new(bytes);
        for call in &self.calls {
            scope_logs.message(2, |message| record(message, call, observed));
        }
        body.take()
    }

    fn reuse(mut self, _: Bytes) -> Option<Self> {
        self.calls.clear();
        Some(self)
    }
}

fn record(message: &mut Protobuf<'_>, call: &LoggedCall, observed: u64) {
    let entry = &call.entry;
    message.fixed64(1, entry.at_ms.saturating_mul(1_000_000));
    let (number, name) = severity(entry.outcome);
    message.number(2, number);
    message.bytes(3, name.as_bytes());
    message.message(5, |body| body.bytes(1, body_of(entry).as_bytes()));
    for (key, value) in attributes(entry) {
        attribute(message, 6, key, &value);
    }
    if let Some(trace) = &call.trace {
        message.fixed32(8, SAMPLED);
        message.bytes(9, &trace.trace);
        message.bytes(10, &trace.span);
    }
    message.fixed64(11, observed);
    message.bytes(12, if is_operation(entry) { OPERATION } else { CALL }.as_bytes());
}

/// Returns true for the entry of an operator's operation, which has no request.
fn is_operation(entry: &AuditEntry) -> bool {
    entry.request_bytes == 0
}

/// The severity of an outcome, as number and text (OpenTelemetry, logs data model).
fn severity(outcome: CallOutcome) -> (u64, &'static str) {
    match outcome {
        CallOutcome::Ok => (9, "INFO"),
        CallOutcome::Error => (17, "ERROR"),
        _ => (13, "WARN"),
    }
}

/// The text of a log record, for people: the request and its outcome.
fn body_of(entry: &AuditEntry) -> String {
    let (method, outcome) = (&entry.method, entry.outcome.as_str());
    match &entry.tool {
        Some(tool) => format!("{method} {tool}: {outcome}"),
        None => format!("{method}: {outcome}"),
    }
}

fn text<'a>(key: &'static str, value: Option<&'a str>) -> Option<(&'static str, AttributeValue<'a>)> {
    value.filter(|value| !value.is_empty()).map(|value| (key, AttributeValue::Text(value)))
}

fn attributes(entry: &AuditEntry) -> impl Iterator<Item = (&'static str, AttributeValue<'_>)> {
    let number = |key, value: u64| (key, AttributeValue::Number(i64::try_from(value).unwrap_or(i64::MAX)));
    let target = match &*entry.method {
        "tools/call" => "gen_ai.tool.name",
        "prompts/get" => "gen_ai.prompt.name",
        "resources/read" => "mcp.resource.uri",
        _ => "dragoman.target",
    };
    let texts = [
        text("mcp.method.name", Some(&*entry.method).filter(|_| !is_operation(entry))),
        text(target, entry.tool.as_deref()),
        text("dragoman.outcome", Some(entry.outcome.as_str())),
        text("dragoman.principal", Some(&entry.principal)),
        text("dragoman.profile", Some(&entry.profile)),
        text("dragoman.upstream", entry.upstream.as_deref()),
        text("dragoman.client", entry.client.as_deref()),
        text("client.address", entry.address.as_deref()),
        text("dragoman.reason", entry.reason.as_ref().map(|reason| reason.kind.as_str())),
        text("dragoman.reason.text", entry.reason.as_ref().map(|reason| &*reason.text)),
    ];
    let mut numbers = vec![number("dragoman.duration_us", entry.duration_us)];
    numbers.extend(entry.code.map(|code| ("dragoman.code", AttributeValue::Number(code))));
    if !is_operation(entry) {
        numbers.push(number("dragoman.request.size", entry.request_bytes));
        numbers.push(number("dragoman.response.size", entry.response_bytes));
        numbers.push(number("dragoman.tries", entry.tries.into()));
        numbers.push(number("dragoman.waited_us", entry.waited_us));
        numbers.push(("dragoman.cache", AttributeValue::Flag(entry.cached)));
    }
    texts.into_iter().flatten().chain(numbers)
}
