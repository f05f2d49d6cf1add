//! One JSON-RPC message and the spans of its members.

use std::borrow::Cow;

use bytes::Bytes;

use super::envelope_members::{EnvelopeKey, EnvelopeMembers};
use super::{Id, IdError, Params};
use crate::json::{Duplicate, JsonError, Members, Scanner, Span, unquote};
use crate::mcp::Method;

/// The maximum depth and batch size of the messages that are accepted.
#[derive(Debug, Clone, Copy)]
pub struct FrameLimits {
    /// The nesting depth of arrays and objects; at most [`crate::json::MAX_DEPTH`].
    pub depth: u32,
    /// The number of messages in one batch.
    pub batch: usize,
}

impl Default for FrameLimits {
    fn default() -> Self {
        Self { depth: crate::json::MAX_DEPTH, batch: 64 }
    }
}

/// The kind of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameKind {
    /// A message with a method and an id.
    Request,
    /// A message with a method and no id.
    Notification,
    /// A message with a result.
    Response,
    /// A message with an error.
    Error,
}

/// The reason why a text is not a JSON-RPC message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FrameFault {
    /// The text is not JSON (-32700).
    #[error("the message is not valid JSON: {0}")]
    Json(#[from] JsonError),
    /// The text is JSON, but not an object.
    #[error("the message is not a JSON object")]
    NotObject,
    /// `jsonrpc` is missing or not "2.0".
    #[error("\"jsonrpc\" must be \"2.0\"")]
    Version,
    /// A member that determines the meaning of the message occurs twice.
    #[error(transparent)]
    Duplicate(#[from] Duplicate),
    /// The id has a type that MCP does not allow.
    #[error(transparent)]
    Id(#[from] IdError),
    /// `method` is not a string.
    #[error("\"method\" must be a string")]
    Method,
    /// `params` is not an object (MCP has no positional parameters).
    #[error("\"params\" must be an object")]
    Params,
    /// `params._meta` is not an object.
    #[error("\"params._meta\" must be an object")]
    Meta,
    /// The message has none of `method`, `result` and `error`, or more than one of them.
    #[error("a message must have exactly one of \"method\", \"result\" and \"error\"")]
    Shape,
    /// A response without an id.
    #[error("a response needs the id of its request")]
    NoId,
    /// An empty batch, or one above the cap.
    #[error("a batch must contain 1 to {0} messages")]
    BatchSize(usize),
}

/// A [`FrameFault`] together with the id of the faulty message, if that could be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{fault}")]
pub struct FrameError {
    /// The reason why the message is invalid.
    pub fault: FrameFault,
    /// The id with which to answer.
    pub id: Option<Id>,
}

impl FrameError {
    /// The JSON-RPC code: -32700 for text that is not JSON, otherwise -32600.
    pub fn code(&self) -> i32 {
        match self.fault {
            FrameFault::Json(_) => super::code::PARSE_ERROR,
            _ => super::code::INVALID_REQUEST,
        }
    }
}

/// One message: its unchanged bytes, and the spans of the members that the gateway reads. A frame has the size of one
/// pointer, because frames are moved often.
#[derive(Debug, Clone)]
pub struct Frame(Box<FrameParts>);

#[derive(Debug, Clone)]
struct FrameParts {
    text: Bytes,
    kind: FrameKind,
    members: Members,
    id: Option<Id>,
    id_span: Option<Span>,
    method: Option<Span>,
    /// The method, if the gateway acts on it. It is stored, because it is needed about a dozen times per call.
    known: Option<Method>,
    params: Option<Params>,
    payload: Option<Span>,
}

impl FrameParts {
    /// Creates empty parts for a message that has not been read yet.
    fn of_no(text: Bytes) -> Self {
        let (members, params) = (Members::default(), None);
        Self {
            text,
            kind: FrameKind::Error,
            members,
            id: None,
            id_span: None,
            method: None,
            known: None,
            params,
            payload: None,
        }
    }

    /// Determines what the message is from its members.
    fn complete(&mut self) -> Result<(), FrameError> {
        let text = &self.text;
        let envelope = EnvelopeMembers::of(&self.members, text);
        let id_span = envelope.get(EnvelopeKey::Id).map_err(|e| no_id(e.into()))?;
        let id = id_span.map(|span| Id::from_json(span.share(text))).transpose();
        let known = id.as_ref().ok().cloned().flatten();
        let with_id = |fault: FrameFault| FrameError { fault, id: known.clone() };
        let unique = |key| envelope.get(key).map_err(|e| with_id(e.into()));

        if unique(EnvelopeKey::Jsonrpc)?.map(|v| v.of(text)) != Some(b"\"2.0\"") {
            return Err(with_id(FrameFault::Version));
        }
        let method = unique(EnvelopeKey::Method)?;
        let (result, error) = (unique(EnvelopeKey::Result)?, unique(EnvelopeKey::Error)?);
        let params_span = unique(EnvelopeKey::Params)?;
        let kind = match (method, result, error) {
            (Some(_), None, None) if id_span.is_some() => FrameKind::Request,
            (Some(_), None, None) => FrameKind::Notification,
            (None, Some(_), None) => FrameKind::Response,
            (None, None, Some(_)) => FrameKind::Error,
            _ => return Err(with_id(FrameFault::Shape)),
        };
        // A peer answers text that it cannot parse with a null id, so null is valid only in an error.
        let id = match id {
            Err(IdError::Null) if kind == FrameKind::Error => None,
            Err(e) => return Err(with_id(e.into())),
            Ok(id) => id,
        };
        if kind == FrameKind::Response && id.is_none() {
            return Err(with_id(FrameFault::NoId));
        }
        if method.is_some_and(|m| m.of(text)[0] != b'"') {
            return Err(with_id(FrameFault::Method));
        }
        self.known = method.and_then(|m| Method::from_name(&string(text, m)?));
        match params_span {
            Some(span) if method.is_some() => checked(text, span, &mut self.params).map_err(with_id)?,
            _ => self.params = None,
        }
        (self.kind, self.id, self.id_span, self.method) = (kind, id, id_span, method);
        self.payload = result.or(error);
        Ok(())
    }
}

impl Frame {
    /// Reads one message; `text` is fully validated.
    ///
    /// # Errors
    /// [`FrameError`] with the id for the answer, if it could be read.
    pub fn parse(text: Bytes, limits: FrameLimits) -> Result<Self, FrameError> {
        // The parts are written directly into their box, because they are too large to be moved from step to step.
        let mut parts = Box::write(Box::new_uninit(), FrameParts::of_no(text));
        let FrameParts { text, members, params, .. } = &mut *parts;
        let scanner = Scanner::new(text, limits.depth).map_err(|e| no_id(e.into()))?;
        let start = scanner.space(0);
        if scanner.peek(start).map_err(|e| no_id(e.into()))? != b'{' {
            let fault = scanner.document().map_or_else(FrameFault::Json, |()| FrameFault::NotObject);
            return Err(no_id(fault));
        }
        members
            .scan_into(scanner, start, |scanner, key, at| {
                if key.of(scanner.text()) == b"params" && scanner.peek(at)? == b'{' {
                    return scan_params(params.insert(Params::default()), scanner.deeper(1), at);
                }
                scanner.deeper(1).value(at)
            })
            .and_then(|end| scanner.finish(end))
            .map_err(|e| no_id(e.into()))?;
        parts.complete()?;
        Ok(Self(parts))
    }

    /// The message as received.
    pub fn text(&self) -> &Bytes {
        &self.0.text
    }

    /// The kind of the message.
    pub fn kind(&self) -> FrameKind {
        self.0.kind
    }

    /// The members of the message's outer object.
    pub fn members(&self) -> &Members {
        &self.0.members
    }

    /// The message's id; `None` for notifications, and for errors that answer an unreadable message.
    pub fn id(&self) -> Option<&Id> {
        self.0.id.as_ref()
    }

    /// The span of the message's id.
    pub fn id_span(&self) -> Option<Span> {
        self.0.id_span
    }

    /// The message's method, with escapes resolved; empty for responses.
    pub fn method(&self) -> Cow<'_, str> {
        if let Some(method) = self.0.known {
            return Cow::Borrowed(method.name());
        }
        self.0.method.map_or(Cow::Borrowed(""), |span| self.string(span).unwrap_or_default())
    }

    /// The message's params, if there are any.
    pub fn params(&self) -> Option<&Params> {
        self.0.params.as_ref()
    }

    /// The span of `result` or `error`.
    pub fn payload(&self) -> Option<Span> {
        self.0.payload
    }

    /// A member of `params`; an error if it occurs twice.
    pub fn param(&self, key: &'static str) -> Result<Option<Span>, Duplicate> {
        self.0.params.as_ref().map_or(Ok(None), |p| p.unique(&self.0.text, key))
    }

    /// A member of `params._meta`; an error if it occurs twice.
    pub fn meta(&self, key: &'static str) -> Result<Option<Span>, Duplicate> {
        self.0.params.as_ref().map_or(Ok(None), |p| p.meta(&self.0.text, key))
    }

    /// The decoded string at `span`; `None` if it is not a string (or one that no `str` can hold).
    pub fn string(&self, span: Span) -> Option<Cow<'_, str>> {
        string(&self.0.text, span)
    }
}

/// The decoded string at `span`; `None` if it is not a string (or one that no `str` can hold).
fn string(text: &[u8], span: Span) -> Option<Cow<'_, str>> {
    unquote(span.of(text).strip_prefix(b"\"")?.strip_suffix(b"\"")?)
}

fn no_id(fault: FrameFault) -> FrameError {
    FrameError { fault, id: None }
}

/// Ensures that `params` holds the members at `span`. These members were found in the first pass, or are scanned now if the key
/// `params` was written with escapes.
fn checked(text: &[u8], span: Span, params: &mut Option<Params>) -> Result<(), FrameFault> {
    if params.as_ref().is_none_or(|found| found.members.span() != span) {
        if span.of(text)[0] != b'{' {
            return Err(FrameFault::Params);
        }
        let scanner = Scanner::trusted(text, crate::json::MAX_DEPTH);
        scan_params(params.insert(Params::default()), scanner, span.start())?;
    }
    let Some(params) = params else { return Ok(()) };
    if let Some(meta) = params.unique(text, "_meta")?
        && params.meta.as_ref().map(Members::span) != Some(meta)
    {
        params.meta = Some(Members::of_value(text, meta).ok_or(FrameFault::Meta)?);
    }
    Ok(())
}

/// Scans the object at `at` into `params`; returns the offset after it.
fn scan_params(params: &mut Params, scanner: Scanner<'_>, at: usize) -> Result<usize, JsonError> {
    let Params { members, meta } = params;
    members.scan_into(scanner, at, |scanner, key, at| {
        if key.of(scanner.text()) == b"_meta" && scanner.peek(at)? == b'{' {
            let meta = meta.insert(Members::default());
            return meta.scan_into(scanner.deeper(1), at, |_, _, at| scanner.deeper(2).value(at));
        }
        scanner.deeper(1).value(at)
    })
}
