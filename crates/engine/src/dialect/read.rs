//! Reads bytes as a request, or returns the answer that explains why they are not a request.
//!
//! A message that is valid according to JSON-RPC 2.0 and MCP is valid for every row, and is checked only once. Any
//! other message is taken apart and checked in the row's order. This module must not know tools.

use bytes::Bytes;
use config::dialect_rows::row::Dialect;
use config::dialect_rows::words::{Batches, Check, ErrorId, Ids, NoId, NullId, ParamsShape};
use proto::json::{Elements, JsonError, Members, Scanner, Span, Splice};
use proto::rpc::{Frame, FrameFault, FrameKind, FrameLimits, Id};

use super::ask::DialectRequest;
use super::dialect_fault::DialectFault;
use super::finish::{DialectReply, refuse_with_id};
use crate::fault::Condition;

/// The content of a body or a line.
#[derive(Debug)]
pub enum DialectMessage {
    /// The message is answered immediately.
    Done(DialectReply),
    /// The message is acknowledged, and possibly executed; its result is not sent.
    Notified(DialectReply, Option<DialectRequest>),
    /// The message is a request.
    Ask(DialectRequest),
    /// An array of messages, each of which is read separately; see [`super::gather`].
    Batch(Vec<Self>),
}

/// The maximum length of an accepted id, in bytes as written.
const MAX_ID: usize = 1024;

/// The id that the gateway assigns to a request without an id. For servers, the gateway uses its own ids in any case.
const OWN_ID: &[u8] = b"0";

/// Reads a body or a line.
pub fn read(row: &Dialect, text: &Bytes, limits: FrameLimits) -> DialectMessage {
    let first = text.iter().find(|b| !matches!(b, b' ' | b'\n' | b'\r' | b'\t'));
    if first == Some(&b'[') && row.reading.batches == Batches::Each {
        return batch(row, text, limits);
    }
    single(row, text, limits)
}

fn batch(row: &Dialect, text: &Bytes, limits: FrameLimits) -> DialectMessage {
    let scanned = Scanner::new(text, limits.depth).and_then(|scanner| scanner.document());
    if let Err(error) = scanned {
        return no_json(row, &error);
    }
    let start = text.iter().position(|b| *b == b'[').unwrap_or(0);
    let elements = Elements::of_value(text, Span::new(start, text.len()));
    if let Some(list) = elements.filter(|list| (1..=limits.batch).contains(&list.len())) {
        return DialectMessage::Batch(
            list.iter().map(|span| single(row, &span.share(text), limits)).collect(),
        );
    }
    let why = format!("an array must contain 1 to {} messages", limits.batch);
    DialectMessage::Done(fail(row, Condition::InvalidRequest, None, why))
}

fn single(row: &Dialect, text: &Bytes, limits: FrameLimits) -> DialectMessage {
    match Frame::parse(text.clone(), limits) {
        Ok(frame) if frame.kind() == FrameKind::Request => {
            let id = frame.id().map(|id| id.json().clone());
            DialectMessage::Ask(DialectRequest::new(id, frame))
        }
        Ok(_) => taken_apart(row, text, limits),
        Err(error) => match error.fault {
            FrameFault::Json(error) => no_json(row, &error),
            FrameFault::NotObject => DialectMessage::Done(fail(
                row,
                Condition::InvalidRequest,
                None,
                "the message is not a JSON object",
            )),
            _ => taken_apart(row, text, limits),
        },
    }
}

fn no_json(row: &Dialect, error: &JsonError) -> DialectMessage {
    DialectMessage::Done(fail(row, Condition::ParseError, None, error.to_string()))
}

fn fail(row: &Dialect, condition: Condition, id: Option<&[u8]>, why: impl Into<String>) -> DialectReply {
    refuse_with_id(row, id, &DialectFault::new(condition, why))
}

/// The members that determine the meaning of a message.
struct Parts<'t> {
    row: &'t Dialect,
    text: &'t Bytes,
    members: Members,
    jsonrpc: Option<Span>,
    id: Option<Span>,
    method: Option<Span>,
    params: Option<Span>,
}

/// The kind of a message, according to its id.
enum Identity {
    Request(Option<Bytes>),
    Notification,
}

fn taken_apart(row: &Dialect, text: &Bytes, limits: FrameLimits) -> DialectMessage {
    let members = match Members::of_document(text, limits.depth) {
        Ok(members) => members,
        Err(error) => return no_json(row, &error),
    };
    let unique = |key| members.unique(text, key);
    let found =
        unique("id").and_then(|id| Ok((id, unique("jsonrpc")?, unique("method")?, unique("params")?)));
    match found {
        Ok((id, jsonrpc, method, params)) => {
            Parts { row, text, members, jsonrpc, id, method, params }.reading(limits)
        }
        // If a member occurs twice, two parsers may use different ones.
        Err(twice) => DialectMessage::Done(fail(row, Condition::InvalidRequest, None, twice.to_string())),
    }
}

impl Parts<'_> {
    fn reading(&self, limits: FrameLimits) -> DialectMessage {
        let mut identity = None;
        for check in &self.row.reading.checks {
            let checked = match check {
                Check::Version => self.version(),
                Check::Method => self.method(),
                Check::Params => self.params(),
                Check::Id => self.identity().map(|found| identity = Some(found)),
                // These checks need the method, and run once it is known.
                Check::Known | Check::Initialized => Ok(()),
            };
            let notified = matches!(identity, Some(Identity::Notification));
            match checked {
                // A faulty notification is acknowledged without an error once it is known to be a notification.
                _ if notified && self.row.reading.no_id == NoId::Acknowledge => return self.notified(None),
                Err(_) if notified => return self.notified(None),
                Err(failed) => return DialectMessage::Done(failed),
                Ok(()) => {}
            }
        }
        match (self.normal(limits), identity) {
            (frame, Some(Identity::Notification)) => {
                self.notified(frame.ok().map(|frame| DialectRequest::new(None, frame)))
            }
            (Ok(frame), Some(Identity::Request(id))) => DialectMessage::Ask(DialectRequest::new(id, frame)),
            (Ok(frame), None) => DialectMessage::Ask(DialectRequest::new(None, frame)),
            (Err(failed), _) => DialectMessage::Done(failed),
        }
    }

    fn notified(&self, ask: Option<DialectRequest>) -> DialectMessage {
        DialectMessage::Notified(acknowledged(self.row), ask)
    }

    fn version(&self) -> Result<(), DialectReply> {
        match self.jsonrpc.map(|span| span.of(self.text)) {
            Some(b"\"2.0\"") => Ok(()),
            None if self.row.reading.jsonrpc_optional => Ok(()),
            found => {
                let id = self.echo(self.row.reading.version_error_id);
                let why = if found.is_some() { "jsonrpc must be \"2.0\"" } else { "jsonrpc is missing" };
                Err(fail(self.row, Condition::InvalidRequest, id.as_deref(), why))
            }
        }
    }

    fn method(&self) -> Result<(), DialectReply> {
        match self.method.map(|span| span.of(self.text)) {
            Some(text) if text[0] == b'"' && text.len() > 2 => Ok(()),
            Some(_) => Err(self.malformed("method must be a string")),
            None => Err(self.malformed("method is missing")),
        }
    }

    fn params(&self) -> Result<(), DialectReply> {
        let first = self.params.map(|span| span.of(self.text)[0]);
        match (first, self.row.reading.params_shape) {
            (None | Some(b'{'), _)
            | (_, ParamsShape::Ignore)
            | (Some(b'n'), ParamsShape::Request | ParamsShape::Params) => Ok(()),
            (_, ParamsShape::Request | ParamsShape::Strict) => {
                Err(self.malformed("params must be an object"))
            }
            (_, ParamsShape::Params) => {
                let id = self.echo(ErrorId::Echo);
                Err(fail(self.row, Condition::InvalidParams, id.as_deref(), "params must be an object"))
            }
        }
    }

    fn identity(&self) -> Result<Identity, DialectReply> {
        let (no_id, null_id) = (self.row.reading.no_id, self.row.reading.null_id);
        let Some(span) = self.id else {
            return match no_id {
                NoId::Acknowledge | NoId::Execute => Ok(Identity::Notification),
                NoId::Answer => Ok(Identity::Request(None)),
                NoId::Refuse => Err(self.malformed("id is missing")),
            };
        };
        match (span.of(self.text)[0], null_id) {
            (b'n', NullId::Keep) => Ok(Identity::Request(None)),
            (b'n', NullId::Notification) => match no_id {
                NoId::Answer => Ok(Identity::Request(None)),
                NoId::Refuse => Err(self.malformed("id is null")),
                NoId::Acknowledge | NoId::Execute => Ok(Identity::Notification),
            },
            (b'n', NullId::Invalid) => Err(self.malformed("id is null")),
            _ => match self.echo(ErrorId::Echo) {
                Some(id) => Ok(Identity::Request(Some(id))),
                None => Err(self.malformed("id must be a short string or number")),
            },
        }
    }

    fn malformed(&self, why: &str) -> DialectReply {
        let id = self.echo(self.row.reading.structure_error_id);
        fail(self.row, Condition::InvalidRequest, id.as_deref(), why)
    }

    /// The id as written, if the row accepts it.
    fn echo(&self, how: ErrorId) -> Option<Bytes> {
        let span = self.id.filter(|span| how == ErrorId::Echo && span.len() <= MAX_ID)?;
        let scalar = matches!(span.of(self.text)[0], b'"' | b'-' | b'0'..=b'9');
        // The id is copied, because the answer must not keep the whole message in memory.
        (scalar || (self.row.reading.ids == Ids::Any && span.of(self.text) != b"null"))
            .then(|| Bytes::copy_from_slice(span.of(self.text)))
    }

    /// The message in the gateway's form.
    fn normal(&self, limits: FrameLimits) -> Result<Frame, DialectReply> {
        let mut splice = Splice::new(self.text);
        if self.jsonrpc.is_none() {
            splice.set(&self.members, b"jsonrpc", b"\"2.0\"");
        }
        let own = self.id.is_none_or(|span| Id::from_json(span.share(self.text)).is_err());
        if own {
            splice.set(&self.members, b"id", OWN_ID);
        }
        if self.params.is_some_and(|span| span.of(self.text)[0] != b'{') {
            splice.remove(&self.members, b"params");
        }
        for answer in ["result", "error"] {
            splice.remove(&self.members, answer.as_bytes());
        }
        let text = if splice.is_empty() { self.text.clone() } else { splice.finish() };
        Frame::parse(text, limits).map_err(|error| self.malformed(&error.to_string()))
    }
}

/// The acknowledgement of a message that is not answered.
fn acknowledged(row: &Dialect) -> DialectReply {
    DialectReply::raw(row.reading.ack_status, Bytes::copy_from_slice(row.reading.ack_body.as_bytes()))
}
