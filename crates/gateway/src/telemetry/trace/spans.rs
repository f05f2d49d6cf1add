//! A traced request as spans, in the words of the OpenTelemetry conventions for MCP (semantic-conventions-genai 0.1.0). This
//! module must not know how spans are written.

use std::time::{Instant, UNIX_EPOCH};

use engine::meters::OperationOutcome;
use proto::rpc::code;

use super::TraceContext;
use super::traced_request::{TracedEnd, TracedPeer, TracedRequest};
use crate::telemetry::export::AttributeValue;

/// The longest text of an attribute, in bytes.
const LONGEST: usize = 1024;

/// The error codes that are the client's own fault, so that the span of the server side is not an error.
const FAULTS_OF_CLIENTS: [i64; 5] = [-32700, -32600, -32601, -32602, -32002];

/// A side of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SpanKind {
    /// The gateway serves a client.
    Server,
    /// The gateway is the client of a server.
    Client,
}

/// A span; texts are those of the traced request.
pub(super) struct TracedSpan<'a> {
    pub(super) own: TraceContext,
    pub(super) parent: Option<[u8; 8]>,
    pub(super) trace_state: Option<&'a str>,
    pub(super) link: Option<TraceContext>,
    pub(super) kind: SpanKind,
    pub(super) method: &'a str,
    /// The second word of the span's name.
    pub(super) target: Option<&'a str>,
    /// Start and end, in nanoseconds since 1970.
    pub(super) times: (u64, u64),
    pub(super) is_error: bool,
    pub(super) attributes: Vec<(&'static str, AttributeValue<'a>)>,
}

/// Texts of numbers that attributes show as texts.
pub(super) struct SpanTexts {
    session: Option<String>,
    code: Option<String>,
}

impl SpanTexts {
    pub(super) fn of(request: &TracedRequest) -> Self {
        let code = request.end.as_ref().and_then(|end| end.code);
        Self {
            session: request.session.map(|session| format!("{session:016x}")),
            code: code.map(|code| code.to_string()),
        }
    }
}

/// Returns the spans of a request: one for the client's request and, if the request was sent to a server, one for that.
pub(super) fn spans<'a>(request: &'a TracedRequest, texts: &'a SpanTexts) -> Vec<TracedSpan<'a>> {
    let Some(end) = &request.end else { return Vec::new() };
    let served = served(request, end, texts);
    let sent = end.sent.map(|times| sent(request, end, texts, times));
    std::iter::once(served).chain(sent).collect()
}

fn served<'a>(request: &'a TracedRequest, end: &'a TracedEnd, texts: &'a SpanTexts) -> TracedSpan<'a> {
    let is_own_fault = end.code.is_some_and(|code| FAULTS_OF_CLIENTS.contains(&code))
        || matches!(end.outcome, OperationOutcome::Denied | OperationOutcome::NotFound);
    let is_error = end.outcome != OperationOutcome::Ok && !is_own_fault;
    let mut attributes = common(request, end, texts, request.client.as_ref());
    target(&mut attributes, request, request.target.as_deref());
    text(&mut attributes, "mcp.session.id", texts.session.as_deref());
    text(&mut attributes, "jsonrpc.request.id", request.id.as_deref());
    if is_error {
        text(&mut attributes, "error.type", Some(error_type(end, texts)));
    }
    text(&mut attributes, "dragoman.profile", Some(&request.profile));
    if end.cached {
        attributes.push(("dragoman.cache", AttributeValue::Flag(true)));
    }
    TracedSpan {
        own: request.served,
        parent: request.parent.map(|parent| parent.span),
        trace_state: request.trace_state.as_deref(),
        link: request.link,
        kind: SpanKind::Server,
        method: &request.method,
        target: request.target.as_deref(),
        times: (nanoseconds(request, end.started), nanoseconds(request, end.ended)),
        is_error,
        attributes,
    }
}

fn sent<'a>(
    request: &'a TracedRequest,
    end: &'a TracedEnd,
    texts: &'a SpanTexts,
    (first, heard): (Instant, Instant),
) -> TracedSpan<'a> {
    let is_error = end.outcome != OperationOutcome::Ok;
    let mut attributes = common(request, end, texts, request.server.as_ref());
    let own = request.own_target.as_deref().or(request.target.as_deref());
    target(&mut attributes, request, own);
    if let Some((host, port)) = request.server.as_ref().and_then(|server| server.address.as_ref()) {
        text(&mut attributes, "server.address", Some(host));
        attributes.push(("server.port", AttributeValue::Number((*port).into())));
    }
    if is_error {
        text(&mut attributes, "error.type", Some(error_type(end, texts)));
    }
    if end.tries > 1 {
        attributes.push(("dragoman.tries", AttributeValue::Number(end.tries.into())));
    }
    TracedSpan {
        own: request.sent,
        parent: Some(request.served.span),
        trace_state: request.trace_state.as_deref(),
        link: None,
        kind: SpanKind::Client,
        method: &request.method,
        target: own,
        times: (nanoseconds(request, first), nanoseconds(request, heard)),
        is_error,
        attributes,
    }
}

type Attributes<'a> = Vec<(&'static str, AttributeValue<'a>)>;

fn common<'a>(
    request: &'a TracedRequest,
    end: &'a TracedEnd,
    texts: &'a SpanTexts,
    peer: Option<&'a TracedPeer>,
) -> Attributes<'a> {
    let mut attributes = Vec::with_capacity(14);
    text(&mut attributes, "mcp.method.name", Some(&request.method));
    if let Some(peer) = peer {
        text(&mut attributes, "mcp.protocol.version", Some(peer.version));
        let transport = if peer.is_pipe { "pipe" } else { "tcp" };
        text(&mut attributes, "network.transport", Some(transport));
        if !peer.is_pipe {
            text(&mut attributes, "network.protocol.name", Some("http"));
        }
    }
    text(&mut attributes, "mcp.resource.uri", request.resource.as_deref());
    text(&mut attributes, "rpc.response.status_code", texts.code.as_deref());
    text(&mut attributes, "dragoman.upstream", end.upstream.as_deref());
    attributes
}

fn target<'a>(attributes: &mut Attributes<'a>, request: &TracedRequest, target: Option<&'a str>) {
    let Some(name) = target else { return };
    let key = if request.is_tool { "gen_ai.tool.name" } else { "gen_ai.prompt.name" };
    text(attributes, key, Some(name));
    if request.is_tool {
        text(attributes, "gen_ai.operation.name", Some("execute_tool"));
    }
}

fn text<'a>(attributes: &mut Attributes<'a>, key: &'static str, value: Option<&'a str>) {
    if let Some(value) = value {
        attributes.push((key, AttributeValue::Text(&value[..value.floor_char_boundary(LONGEST)])));
    }
}

fn error_type<'a>(end: &TracedEnd, texts: &'a SpanTexts) -> &'a str {
    match (end.outcome, &texts.code) {
        (OperationOutcome::ToolError, _) => "tool_error",
        (_, Some(code)) => code,
        (outcome, None) => outcome.name(),
    }
}

/// Returns a moment in nanoseconds since 1970.
fn nanoseconds(request: &TracedRequest, at: Instant) -> u64 {
    let (wall, clock) = request.began;
    let wall = if at >= clock { wall + (at - clock) } else { wall - (clock - at) };
    let since = wall.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

const _: () = assert!(FAULTS_OF_CLIENTS[3] == code::INVALID_PARAMS as i64);
