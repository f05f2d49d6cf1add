//! What comes back, in the dialect's words: results, and troubles by their conditions. It must not know how a request was
//! served.

use std::borrow::Cow;

use bytes::Bytes;
use proto::json::{MAX_DEPTH, Members, quote, quote_into};
use proto::mcp::Method;
use proto::rpc::code;

use super::ask::Ask;
use super::result::{Failed, call_result};
use super::trouble::Trouble;
use super::web::{RETRY_SOON, refused_rate_headers};
use crate::dialect_rows::row::Dialect;
use crate::dialect_rows::say::{Say, Words};
use crate::dialect_rows::words::Channel;
use crate::fault::Condition;

/// What became of a request.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// Its result, JSON.
    Result(Bytes),
    /// It came to nothing.
    Trouble(Trouble),
}

/// What the client gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// The body, JSON; where it is empty there is none, and nothing is written to a pipe.
    pub body: Bytes,
    /// Header lines beside those of every answer; names in lower case.
    pub headers: Vec<(&'static str, String)>,
    /// True if it tells that the request failed, in whatever form.
    pub failed: bool,
}

impl Reply {
    /// A body under a status.
    pub(super) fn raw(status: u16, body: impl Into<Bytes>) -> Self {
        Self { status, body: body.into(), headers: Vec::new(), failed: false }
    }

    /// A result; `id` is JSON text.
    pub(super) fn result(id: &[u8], result: &[u8]) -> Self {
        let mut out = Vec::with_capacity(40 + id.len() + result.len());
        for piece in [b"{\"jsonrpc\":\"2.0\",\"id\":", id, b",\"result\":", result, b"}"] {
            out.extend_from_slice(piece);
        }
        Self::raw(200, out)
    }
}

/// Says what became of a request.
pub fn finish(row: &Dialect, ask: &Ask, outcome: Outcome) -> Reply {
    match outcome {
        Outcome::Result(result) if ask.is_call() => match call_result(row, &result) {
            Ok((result, failed)) => Reply { failed, ..Reply::result(ask.id(), &result) },
            Err(Failed { message, original, stack }) => {
                let failed = Trouble { original, stack, ..Trouble::new(Condition::ToolFailed, message) };
                refuse(row, Some(ask), &failed)
            }
        },
        Outcome::Result(result) => Reply::result(ask.id(), &result),
        Outcome::Trouble(trouble) => refuse(row, Some(ask), &trouble),
    }
}

/// The reply to a request that its client has given up: nothing but a status, where there is one.
pub fn given_up(row: &Dialect) -> Reply {
    Reply::raw(row.reading.ack_status, Bytes::new())
}

/// Says what went wrong; without a request where it was not read, such as when nobody said who asks.
pub fn refuse(row: &Dialect, ask: Option<&Ask>, trouble: &Trouble) -> Reply {
    tell(row, ask, ask.map(Ask::id), trouble)
}

/// The same for a message that is no request; `id` is JSON text.
pub(super) fn refuse_with_id(row: &Dialect, id: Option<&[u8]>, trouble: &Trouble) -> Reply {
    tell(row, None, id, trouble)
}

/// The answers to an array of messages as one.
pub fn gather(row: &Dialect, replies: Vec<Reply>) -> Reply {
    let failed = replies.iter().any(|reply| reply.failed);
    // What acknowledges a message without an id is no answer.
    let is_answer = |body: &Bytes| !body.is_empty() && **body != *row.reading.ack_body.as_bytes();
    let bodies: Vec<Bytes> = replies.into_iter().map(|r| r.body).filter(is_answer).collect();
    if bodies.is_empty() {
        return Reply::raw(row.reading.ack_status, row.reading.ack_body.as_bytes().to_vec());
    }
    Reply { failed, ..Reply::raw(200, proto::rpc::array(&bodies)) }
}

fn tell(row: &Dialect, ask: Option<&Ask>, id: Option<&[u8]>, trouble: &Trouble) -> Reply {
    let say = chosen(row, ask, trouble);
    let mut words = words(row, ask, say, trouble);
    let failed = trouble.condition == Condition::ToolFailed;
    let as_result = say.channel == Channel::Result && ask.is_some_and(Ask::is_call);
    let text = if as_result && failed && !trouble.message.is_empty() {
        format!("{}{}", row.calls.failure_prefix, trouble.message)
    } else {
        words.fill(&say.message)
    };
    words.text("text", text.clone());
    let id = id.unwrap_or(b"null");
    let mut reply = match &say.body {
        Some(body) => Reply::raw(say.status, words.render(body).unwrap_or_default()),
        None if as_result => Reply::result(id, failure(row, &text).as_bytes()),
        None => {
            // Where nothing is known that could be told, there is no data, rather than some without members.
            let data = say.data.as_ref().and_then(|data| words.render(data)).filter(|data| data != b"{}");
            Reply::raw(say.status, error(id, say.code, &text, data.as_deref()))
        }
    };
    reply.failed = true;
    if let Some(challenge) = &trouble.challenge {
        reply.headers.push(("www-authenticate", challenge.clone()));
    }
    if trouble.condition == Condition::RateLimited {
        reply.headers.extend(match trouble.rate {
            Some(rate) => refused_rate_headers(row, rate),
            None => vec![("retry-after", RETRY_SOON.to_string())],
        });
    }
    reply
}

/// How the row says it. Some conditions are told apart by more than their name.
fn chosen<'r>(row: &'r Dialect, ask: Option<&Ask>, trouble: &Trouble) -> &'r Say {
    if trouble.consent.is_some() {
        return &row.errors.consent_needed;
    }
    let reads = ask.is_some_and(|ask| ask.method() == Method::ResourcesRead.name());
    let missing = reads
        && trouble.condition == Condition::UpstreamError
        && trouble.original_error().is_some_and(|(error, _)| error.code == code::RESOURCE_NOT_FOUND);
    row.errors.say(if missing { Condition::UnknownResource } else { trouble.condition })
}

/// What the placeholders of a message stand for.
fn words<'t>(row: &Dialect, ask: Option<&'t Ask>, say: &Say, trouble: &'t Trouble) -> Words<'t> {
    let mut words = Words::default();
    words.json("code", say.code.to_string().into_bytes());
    words.json("status", say.status.to_string().into_bytes());
    let mut name: Cow<'t, str> = Cow::Borrowed("");
    if let Some(ask) = ask {
        name = ask.text_param("uri").or_else(|| ask.text_param("name")).unwrap_or_else(|| ask.method());
        words.text("method", ask.method()).text("tool", ask.tool().unwrap_or_default());
    }
    words.text("name", trouble.subject.as_deref().map_or(name, Cow::Borrowed));
    words.text("server", trouble.server.as_deref().unwrap_or_default());
    words.text("url", trouble.consent.as_deref().unwrap_or_default());
    if trouble.condition == Condition::RateLimited {
        let seconds = trouble.rate.map_or(RETRY_SOON, |rate| rate.retry_after);
        words.json("seconds", seconds.to_string().into_bytes());
    }
    if row.errors.detail {
        words.text("message", trouble.message.as_str()).text("detail", trouble.message.as_str());
        if trouble.server.is_some() {
            words.text("hint", trouble.message.as_str());
        }
        if let Some(original) = &trouble.original {
            words.json("original", original.as_ref());
        }
        if let Some((error, text)) = trouble.original_error()
            && let Some(data) = error.data
        {
            words.json("originalData", data.of(text));
        }
        if let Some(body) = trouble.body() {
            words.json("body", body);
        }
    }
    if row.errors.debug {
        words.text("stack", trouble.stack.as_deref().map_or_else(|| place(ask, trouble), Cow::Borrowed));
    }
    words
}

/// Where it happened, as far as the gateway can tell.
fn place(ask: Option<&Ask>, trouble: &Trouble) -> Cow<'static, str> {
    let mut lines = vec![format!("{:?}", trouble.condition)];
    lines.extend(ask.and_then(Ask::tool).map(|tool| format!("in tool {tool}")));
    lines.extend(trouble.server.as_ref().map(|server| format!("of server {server}")));
    Cow::Owned(lines.join("\n"))
}

/// A result that tells of a failure.
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
