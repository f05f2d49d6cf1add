//! The facts about a traced request that are known when it begins. This module must not know how the request ends,
//! or what the facts are used for.

use std::borrow::Cow;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, LazyLock};

use engine::catalogue::ToolEntry;
use proto::mcp::{Method, meta};
use proto::rpc::Frame;
use smallvec::SmallVec;

use crate::admission::identity::Identity;
use crate::call::CallContext;
use crate::call::caller::Caller;
use crate::call::recorded_target::RecordedTarget;
use crate::session::Session;
use crate::telemetry::trace::{
    OperationFacts, TraceContext, TracedOperation, TracedPeer, TracedRequest, hex_digits,
};

/// The longest text that is copied from a request, in bytes.
const LONGEST: usize = 256;

/// The longest `tracestate` that is copied, in bytes: a truncated one would be invalid.
const LONGEST_STATE: usize = 512;

/// The key for digests of session ids. Traces contain digests, because the ids must not be readable there.
static SESSIONS: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// Returns the facts about a request; `None` if it is not traced.
pub(super) fn traced(
    context: &CallContext,
    (identity, profile): (&Identity, usize),
    frame: &Frame,
    target: Option<RecordedTarget<'_>>,
) -> Option<TracedRequest> {
    let tracer = context.state.tracer.as_ref()?;
    let text = |key| frame.meta(key).ok().flatten().and_then(|span| frame.string(span));
    let carried = text(meta::TRACEPARENT).and_then(|text| TraceContext::parse(text.as_bytes()));
    let outer = target.and_then(|target| target.arrived).and_then(|arrived| arrived.outer);
    let ids = tracer.begin(carried, outer)?;
    let state = carried.and(text(meta::TRACESTATE)).filter(|state| state.len() <= LONGEST_STATE);
    let session = match target.and_then(|target| target.traced) {
        Some((Caller::Session(session), _)) => Some(session),
        _ => None,
    };
    let digest =
        |session: &Session| *session.trace_digest.get_or_init(|| hex_digits(SESSIONS.hash_one(&session.id)));
    let method = frame.method();
    let known = Method::from_name(&method);
    Some(TracedRequest {
        ids,
        trace_state: state.map(Into::into),
        operation: operation(context, (identity, profile), (&method, known, frame), target),
        resource: resource(known, frame),
        id: frame.id().map_or_else(SmallVec::new, |id| unquoted(id.json())),
        session: session.map(|session| digest(session)),
    })
}

/// Returns the facts that the request has in common with others.
fn operation(
    context: &CallContext,
    (identity, profile): (&Identity, usize),
    (method, known, frame): (&str, Option<Method>, &Frame),
    target: Option<RecordedTarget<'_>>,
) -> Arc<TracedOperation> {
    let method =
        known.map_or_else(|| Cow::Owned(clipped(method).into()), |known| Cow::Borrowed(known.name()));
    let (mut tool, mut named) = (None, None);
    if matches!(known, Some(Method::ToolsCall | Method::PromptsGet)) {
        tool = target.and_then(|target| target.tool);
        if tool.is_none() {
            named = param(frame, "name").map(|name| Arc::from(clipped(&name)));
        }
    }
    let own_name = tool.and_then(own_name);
    let ends = target.and_then(|target| Some((target, target.traced?)));
    let server = ends
        .map(|(target, (_, era))| (&target.upstream.server, era))
        .filter(|(server, _)| !server.is_native());
    TracedOperation::of(&OperationFacts {
        method: &method,
        target: tool.map(|tool| &tool.name).or(named.as_ref()),
        is_tool: known == Some(Method::ToolsCall),
        own_target: own_name.as_deref(),
        profile: &context.egress.snapshot().profiles[profile].slug,
        upstream: target.map(|target| target.upstream.name()),
        client: ends.map(|(_, (caller, _))| TracedPeer {
            version: caller.era().version,
            is_pipe: identity.client_address.is_none(),
        }),
        server: server.map(|(server, era)| TracedPeer { version: era.version, is_pipe: server.is_child() }),
        address: server.and_then(|(server, _)| server.address.as_ref()),
    })
}

/// Returns the URI of a resource that is asked for, without its query, which may contain secrets.
fn resource(method: Option<Method>, frame: &Frame) -> Option<Box<str>> {
    match method? {
        Method::ResourcesRead | Method::Subscribe | Method::Unsubscribe => {
            Some(clipped(param(frame, "uri")?.split('?').next()?).into())
        }
        _ => None,
    }
}

fn param<'a>(frame: &'a Frame, key: &'static str) -> Option<Cow<'a, str>> {
    frame.param(key).ok().flatten().and_then(|span| frame.string(span))
}

/// The server's own name for a tool, if it differs from the client's. Nearly every name is a part of the catalogue's
/// text, so it is not copied.
fn own_name(tool: &ToolEntry) -> Option<Cow<'_, [u8]>> {
    Some(match &**tool.real_name.as_ref()? {
        [b'"', inner @ .., b'"'] if !inner.contains(&b'\\') => Cow::Borrowed(inner),
        _ => Cow::Owned(tool.own_name().into_owned().into()),
    })
}

/// The text of an id: a number, or a string without its quotes.
fn unquoted(id: &[u8]) -> SmallVec<[u8; 24]> {
    let inner = match id {
        [b'"', inner @ .., b'"'] => inner,
        _ => id,
    };
    if inner.len() <= LONGEST {
        // The text of a message is valid UTF-8.
        return SmallVec::from_slice(inner);
    }
    clipped(std::str::from_utf8(inner).unwrap_or_default()).as_bytes().into()
}

fn clipped(text: &str) -> &str {
    &text[..text.floor_char_boundary(LONGEST)]
}
