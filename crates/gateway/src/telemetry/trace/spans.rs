//! A traced request as spans, named as in the OpenTelemetry conventions for MCP (semantic-conventions-genai 0.1.0). This
//! module must not know how spans are written.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use engine::meters::OperationOutcome;
use proto::rpc::code;

use super::TraceContext;
use super::traced_request::{TracedEnd, TracedPeer, TracedRequest};
use crate::telemetry::export::AttributeValue;

/// The maximum length of an attribute's text, in bytes.
const LONGEST: usize = 1024;

/// The error codes for mistakes of the client. They do not mark the span of the server side as an error.
const FAULTS_OF_CLIENTS: [i64; 5] = [-32700, -32600, -32601, -32602, -32002];

/// A side of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SpanKind {
    /// The gateway serves a client.
    Server,
    /// The gateway is the client of a server.
    Client,
}

/// The properties that many requests' spans have in common: everything except times, ids and outcome.
#[derive(Debug, Clone, Copy)]
pub(super) struct SpanOperation<'a> {
    pub(super) kind: SpanKind,
    pub(super) method: &'a str,
    /// The second word of the span's name, in UTF-8.
    pub(super) target: Option<&'a [u8]>,
    is_tool: bool,
    /// The protocol version, and true if messages pass through a pipe.
    peer: Option<(&'static str, bool)>,
    upstream: Option<&'a str>,
    address: Option<(&'a str, u16)>,
    profile: Option<&'a str>,
}

impl PartialEq for SpanOperation<'_> {
    /// Compares texts by their addresses first, because the texts of most requests are parts of the same catalogue.
    fn eq(&self, other: &Self) -> bool {
        let same = |one: Option<&[u8]>, other: Option<&[u8]>| match (one, other) {
            (Some(one), Some(other)) => std::ptr::eq(one, other) || one == other,
            (None, None) => true,
            _ => false,
        };
        let texts = |one: &Self| {
            let host = one.address.map(|(host, _)| host);
            [Some(one.method), one.upstream, host, one.profile].map(|text| text.map(str::as_bytes))
        };
        self.kind == other.kind
            && self.is_tool == other.is_tool
            && self.peer.map(|(_, is_pipe)| is_pipe) == other.peer.map(|(_, is_pipe)| is_pipe)
            && self.address.map(|(_, port)| port) == other.address.map(|(_, port)| port)
            && same(self.target, other.target)
            && same(
                self.peer.map(|(version, _)| version.as_bytes()),
                other.peer.map(|(version, _)| version.as_bytes()),
            )
            && texts(self).iter().zip(texts(other)).all(|(one, other)| same(*one, other))
    }
}

impl SpanOperation<'_> {
    /// Passes the attributes to `put`.
    pub(super) fn attributes(&self, mut put: impl FnMut(&'static str, AttributeValue<'_>)) {
        let mut text = |key, value: Option<&str>| put_text(&mut put, key, value);
        text("mcp.method.name", Some(self.method));
        if let Some((version, is_pipe)) = self.peer {
            text("mcp.protocol.version", Some(version));
            text("network.transport", Some(if is_pipe { "pipe" } else { "tcp" }));
            text("network.protocol.name", (!is_pipe).then_some("http"));
        }
        text("dragoman.upstream", self.upstream);
        let key = if self.is_tool { "gen_ai.tool.name" } else { "gen_ai.prompt.name" };
        text(key, self.target.and_then(|name| std::str::from_utf8(name).ok()));
        text("gen_ai.operation.name", self.target.filter(|_| self.is_tool).map(|_| "execute_tool"));
        text("dragoman.profile", self.profile);
        if let Some((host, port)) = self.address {
            text("server.address", Some(host));
            put("server.port", AttributeValue::Number(port.into()));
        }
    }
}

/// A span of a traced request.
pub(super) struct TracedSpan<'a, 't> {
    pub(super) own: TraceContext,
    pub(super) parent: Option<[u8; 8]>,
    pub(super) trace_state: Option<&'a str>,
    pub(super) link: Option<TraceContext>,
    pub(super) operation: SpanOperation<'a>,
    /// Start and end.
    pub(super) times: (Instant, Instant),
    pub(super) is_error: bool,
    request: &'a TracedRequest,
    end: &'a TracedEnd,
    texts: &'t SpanTexts,
}

impl TracedSpan<'_, '_> {
    /// Passes the attributes that do not belong to the operation to `put`.
    pub(super) fn attributes(&self, mut put: impl FnMut(&'static str, AttributeValue<'_>)) {
        let Self { request, end, texts, .. } = self;
        let mut text = |key, value: Option<&str>| put_text(&mut put, key, value);
        text("mcp.resource.uri", request.resource.as_deref());
        text("rpc.response.status_code", texts.code.as_deref());
        if self.is_error {
            text("error.type", Some(error_type(end, texts)));
        }
        match self.operation.kind {
            SpanKind::Server => {
                if let Some(digits) = &texts.session {
                    put("mcp.session.id", AttributeValue::Utf8(digits));
                }
                if !request.id.is_empty() {
                    put("jsonrpc.request.id", AttributeValue::Utf8(&request.id));
                }
                if end.cached {
                    put("dragoman.cache", AttributeValue::Flag(true));
                }
            }
            SpanKind::Client if end.tries > 1 => {
                put("dragoman.tries", AttributeValue::Number(end.tries.into()));
            }
            SpanKind::Client => {}
        }
    }
}

/// Numbers as texts, for attributes whose values are texts.
pub(super) struct SpanTexts {
    session: Option<[u8; 16]>,
    code: Option<String>,
}

impl SpanTexts {
    pub(super) fn of(request: &TracedRequest) -> Self {
        let code = request.end.as_ref().and_then(|end| end.code);
        Self { session: request.session.map(hex), code: code.map(|code| code.to_string()) }
    }
}

fn hex(number: u64) -> [u8; 16] {
    let mut digits = [0; 16];
    super::context::write_hex(&mut digits, &number.to_be_bytes());
    digits
}

/// Returns the spans of a request: one for the client's request and, if the request was sent to a server, one for the
/// gateway's request.
pub(super) fn spans<'a, 't>(
    request: &'a TracedRequest,
    texts: &'t SpanTexts,
) -> impl Iterator<Item = TracedSpan<'a, 't>> {
    let served = request.end.as_ref().map(|end| served(request, end, texts));
    let sent = request.end.as_ref().and_then(|end| Some(sent(request, end, texts, end.sent?)));
    served.into_iter().chain(sent)
}

fn served<'a, 't>(
    request: &'a TracedRequest,
    end: &'a TracedEnd,
    texts: &'t SpanTexts,
) -> TracedSpan<'a, 't> {
    let is_own_fault = end.code.is_some_and(|code| FAULTS_OF_CLIENTS.contains(&code))
        || matches!(end.outcome, OperationOutcome::Denied | OperationOutcome::NotFound);
    TracedSpan {
        own: request.served,
        parent: request.parent.map(|parent| parent.span),
        trace_state: request.trace_state.as_deref(),
        link: request.link,
        operation: SpanOperation {
            kind: SpanKind::Server,
            target: request.target.as_deref().map(str::as_bytes),
            address: None,
            profile: Some(&request.profile),
            ..operation(request, end, request.client.as_ref())
        },
        times: (end.started, end.ended),
        is_error: end.outcome != OperationOutcome::Ok && !is_own_fault,
        request,
        end,
        texts,
    }
}

fn sent<'a, 't>(
    request: &'a TracedRequest,
    end: &'a TracedEnd,
    texts: &'t SpanTexts,
    times: (Instant, Instant),
) -> TracedSpan<'a, 't> {
    TracedSpan {
        own: request.sent,
        parent: Some(request.served.span),
        trace_state: request.trace_state.as_deref(),
        link: None,
        operation: operation(request, end, request.server.as_ref()),
        times,
        is_error: end.outcome != OperationOutcome::Ok,
        request,
        end,
        texts,
    }
}

/// Returns the operation of the gateway's own request to a server.
fn operation<'a>(
    request: &'a TracedRequest,
    end: &'a TracedEnd,
    peer: Option<&'a TracedPeer>,
) -> SpanOperation<'a> {
    let address = peer.and_then(|peer| peer.address.as_ref());
    SpanOperation {
        kind: SpanKind::Client,
        method: &request.method,
        target: request.own_target.as_deref().or(request.target.as_deref().map(str::as_bytes)),
        is_tool: request.is_tool,
        peer: peer.map(|peer| (peer.version, peer.is_pipe)),
        upstream: end.upstream.as_deref(),
        address: address.map(|(host, port)| (&**host, *port)),
        profile: None,
    }
}

fn put_text(put: &mut impl FnMut(&'static str, AttributeValue<'_>), key: &'static str, value: Option<&str>) {
    if let Some(value) = value {
        put(key, AttributeValue::Text(&value[..value.floor_char_boundary(LONGEST)]));
    }
}

fn error_type<'a>(end: &TracedEnd, texts: &'a SpanTexts) -> &'a str {
    match (end.outcome, &texts.code) {
        (OperationOutcome::ToolError, _) => "tool_error",
        (_, Some(code)) => code,
        (outcome, None) => outcome.name(),
    }
}

/// One moment on both clocks. Other moments are computed relative to it.
#[derive(Clone, Copy)]
pub(super) struct ClockPair {
    /// The moment in nanoseconds since 1970.
    wall: u64,
    clock: Instant,
}

impl ClockPair {
    /// The current moment.
    pub(super) fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { wall: nanoseconds(since), clock: Instant::now() }
    }

    /// Returns an earlier moment in nanoseconds since 1970.
    pub(super) fn nanoseconds(self, at: Instant) -> u64 {
        self.wall.saturating_sub(nanoseconds(self.clock.saturating_duration_since(at)))
    }
}

fn nanoseconds(time: Duration) -> u64 {
    time.as_secs().wrapping_mul(1_000_000_000).wrapping_add(u64::from(time.subsec_nanos()))
}

const _: () = assert!(FAULTS_OF_CLIENTS[3] == code::INVALID_PARAMS as i64);
