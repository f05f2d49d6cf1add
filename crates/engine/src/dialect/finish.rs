//! Answers in the dialect's form: results, and faults by their conditions. This module must not know how a request was
//! served.

use std::borrow::Cow;

use bytes::Bytes;
use config::dialect_rows::fault_text::{FaultText, Words};
use config::dialect_rows::row::Dialect;
use config::dialect_rows::words::Channel;
use proto::json::{MAX_DEPTH, Members, quote, quote_into};
use proto::mcp::Method;
use proto::rpc::code;

use super::ask::DialectRequest;
use super::dialect_fault::{DialectFault, text_for};
use super::result::{FailedCall, call_result};
use super::web::{RETRY_SOON, refused_rate_headers};
use crate::fault::Condition;

/// The outcome of a request.
#[derive(Debug, Clone)]
pub enum DialectOutcome {
    /// The result of the request, as JSON.
    Result(Bytes),
    /// The request failed.
    Fault(DialectFault),
}

/// The answer for the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DialectReply {
    /// The HTTP status of the answer.
    pub status: u16,
    /// The body, JSON; if it is empty, nothing is written to a pipe.
    pub body: Bytes,
    /// Additional header lines; their names are in lower case.
    pub headers: Vec<(&'static str, String)>,
    /// True if the answer reports a failure in any form.
    pub failed: bool,
}

impl DialectReply {
    /// An answer with this status and body.
    pub(super) fn raw(status: u16, body: impl Into<Bytes>) -> Self {
        Self { status, body: body.into(), headers: Vec::new(), failed: false }
    }

    /// An answer with a result; `id` is JSON text.
    pub(super) fn result(id: &[u8], result: &[u8]) -> Self {
        let mut out = Vec::with_capacity(40 + id.len() + result.len());
        for piece in [b"{\"jsonrpc\":\"2.0\",\"id\":", id, b",\"result\":", result, b"}"] {
            out.extend_from_slice(piece);
        }
        Self::raw(200, out)
    }
}

/// Renders the outcome of a request.
pub fn finish(row: &Dialect, ask: &DialectRequest, outcome: DialectOutcome) -> DialectReply {
    match outcome {
        DialectOutcome::Result(result) if ask.is_call() => match call_result(row, &result) {
            Ok((result, failed)) => DialectReply { failed, ..DialectReply::result(ask.id(), &result) },
            Err(FailedCall { message, original, stack }) => {
                let failed =
                    DialectFault { original, stack, ..DialectFault::new(Condition::ToolFailed, message) };
                refuse(row, Some(ask), &failed)
            }
        },
        DialectOutcome::Result(result) => DialectReply::result(ask.id(), &result),
        DialectOutcome::Fault(fault) => refuse(row, Some(ask), &fault),
    }
}

/// The reply to a request that its client has cancelled: a status over HTTP, and nothing otherwise.
pub fn given_up(row: &Dialect) -> DialectReply {
    DialectReply::raw(row.reading.ack_status, Bytes::new())
}

/// Renders a fault. `ask` is `None` if the request was not read, for example because the credentials were missing.
pub fn refuse(row: &Dialect, ask: Option<&DialectRequest>, fault: &DialectFault) -> DialectReply {
    error_reply(row, ask, ask.map(DialectRequest::id), fault)
}

/// Renders a fault of a message that is not a request; `id` is JSON text.
pub(super) fn refuse_with_id(row: &Dialect, id: Option<&[u8]>, fault: &DialectFault) -> DialectReply {
    error_reply(row, None, id, fault)
}

/// Joins the answers to an array of messages.
pub fn gather(row: &Dialect, replies: Vec<DialectReply>) -> DialectReply {
    let failed = replies.iter().any(|reply| reply.failed);
    // The acknowledgement of a message without an id is not an answer.
    let is_answer = |body: &Bytes| !body.is_empty() && **body != *row.reading.ack_body.as_bytes();
    let bodies: Vec<Bytes> = replies.into_iter().map(|r| r.body).filter(is_answer).collect();
    if bodies.is_empty() {
        return DialectReply::raw(row.reading.ack_status, row.reading.ack_body.as_bytes().to_vec());
    }
    DialectReply { failed, ..DialectReply::raw(200, proto::rpc::array(&bodies)) }
}

fn error_reply(
    row: &Dialect,
    ask: Option<&DialectRequest>,
    id: Option<&[u8]>,
    fault: &DialectFault,
) -> DialectReply {
    let fault_text = chosen(row, ask, fault);
    let mut words = words(row, ask, fault_text, fault);
    let failed = fault.condition == Condition::ToolFailed;
    let as_result = fault_text.channel == Channel::Result && ask.is_some_and(DialectRequest::is_call);
    let text = if as_result && failed && !fault.message.is_empty() {
        format!("{}{}", row.calls.failure_prefix, fault.message)
    } else {
        words.fill(&fault_text.message)
    };
    words.text("text", text.clone());
    let id = id.unwrap_or(b"null");
    let mut reply = match &fault_text.body {
        Some(body) => DialectReply::raw(fault_text.status, words.render(body).unwrap_or_default()),
        None if as_result => DialectReply::result(id, failure(row, &text).as_bytes()),
        None => {
            // If no value is known, `data` is omitted instead of being empty.
            let data =
                fault_text.data.as_ref().and_then(|data| words.render(data)).filter(|data| data != b"{}");
            DialectReply::raw(fault_text.status, error(id, fault_text.code, &text, data.as_deref()))
        }
    };
    reply.failed = true;
    if let Some(challenge) = &fault.challenge {
        reply.headers.push(("www-authenticate", challenge.clone()));
    }
    if fault.condition == Condition::RateLimited {
        reply.headers.extend(match fault.rate {
            Some(rate) => refused_rate_headers(row, rate),
            None => vec![("retry-after", RETRY_SOON.to_string())],
        });
    }
    reply
}

/// The row's text for a fault. For some conditions, it depends on more than the condition's name.
fn chosen<'r>(row: &'r Dialect, ask: Option<&DialectRequest>, fault: &DialectFault) -> &'r FaultText {
    if fault.consent.is_some() {
        return &row.errors.consent_needed;
    }
    let reads = ask.is_some_and(|ask| ask.method() == Method::ResourcesRead.name());
    let missing = reads
        && fault.condition == Condition::UpstreamError
        && fault.original_error().is_some_and(|(error, _)| error.code == code::RESOURCE_NOT_FOUND);
    text_for(&row.errors, if missing { Condition::UnknownResource } else { fault.condition })
}

/// The values of the placeholders in a message.
fn words<'t>(
    row: &Dialect,
    ask: Option<&'t DialectRequest>,
    fault_text: &FaultText,
    fault: &'t DialectFault,
) -> Words<'t> {
    let mut words = Words::default();
    words.json("code", fault_text.code.to_string().into_bytes());
    words.json("status", fault_text.status.to_string().into_bytes());
    let mut name: Cow<'t, str> = Cow::Borrowed("");
    if let Some(ask) = ask {
        name = ask.text_param("uri").or_else(|| ask.text_param("name")).unwrap_or_else(|| ask.method());
        words.text("method", ask.method()).text("tool", ask.tool().unwrap_or_default());
    }
    words.text("name", fault.subject.as_deref().map_or(name, Cow::Borrowed));
    words.text("server", fault.server.as_deref().unwrap_or_default());
    words.text("url", fault.consent.as_deref().unwrap_or_default());
    if fault.condition == Condition::RateLimited {
        let seconds = fault.rate.map_or(RETRY_SOON, |rate| rate.retry_after);
        words.json("seconds", seconds.to_string().into_bytes());
    }
    if row.errors.detail {
        words.text("message", fault.message.as_str()).text("detail", fault.message.as_str());
        if fault.server.is_some() {
            words.text("hint", fault.message.as_str());
        }
        if let Some(original) = &fault.original {
            words.json("original", original.as_ref());
        }
        if let Some((error, text)) = fault.original_error()
            && let Some(data) = error.data
        {
            words.json("originalData", data.of(text));
        }
        if let Some(body) = fault.body() {
            words.json("body", body);
        }
    }
    if row.errors.debug {
        words.text("stack", fault.stack.as_deref().map_or_else(|| place(ask, fault), Cow::Borrowed));
    }
    words
}

/// The location of a failure: the condition, the tool and the server, as far as they are known. It takes the place of a stack
/// trace.
fn place(ask: Option<&DialectRequest>, fault: &DialectFault) -> Cow<'static, str> {
    let mut lines = vec![format!("{:?}", fault.condition)];
    lines.extend(ask.and_then(DialectRequest::tool).map(|tool| format!("in tool {tool}")));
    lines.extend(fault.server.as_ref().map(|server| format!("of server {server}")));
    Cow::Owned(lines.join("\n"))
}

/// A result that reports a failure.
fn failure(row: &Dialect, text: &str) -> String {
    let flag = if row.calls.failure_flag { ",\"isError\":true" } else { "" };
    format!("{{\"content\":[{{\"type\":\"text\",\"text\":{}}}]{flag}}}", quote(text))
}

fn error(id: &[u8], code: i32, message: &str, data: Option<&[u8]>) -> Vec<u8> {
    let mut out = Vec::with_capacity(96 + message.len() + data.map_or(0, <[u8]>::len));
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    out.extend_from_slice(id);
    out.extend_from_slice(format!(",\"error\":{{\"code\":{code},\"message\":").as_bytes());
    quote_into(&mut out, message);
    if let Some(data) = data {
        out.extend_from_slice(b",\"data\":");
        out.extend_from_slice(data);
    }
    out.extend_from_slice(b"}}");
    out
}

/// The members of a JSON object; `None` for anything else.
pub(super) fn members(text: &[u8]) -> Option<Members> {
    Members::of_document(text, MAX_DEPTH).ok()
}
