//! The facts about a traced request that are known when it begins. This module must not know how the request ends,
//! or what the facts are used for.

use std::borrow::Cow;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::LazyLock;

use bytes::Bytes;
use engine::catalogue::ToolEntry;
use proto::era::Era;
use proto::mcp::{Method, meta};
use proto::rpc::Frame;
use smallvec::SmallVec;
use upstream::Upstream;

use crate::admission::identity::Identity;
use crate::call::CallContext;
use crate::call::caller::Caller;
use crate::call::recorded_target::RecordedTarget;
use crate::telemetry::trace::{TraceContext, TracedPeer, TracedRequest};

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
) -> Option<Box<TracedRequest>> {
    let decides = context.state.tracer.as_ref()?;
    let text = |key| frame.meta(key).ok().flatten().and_then(|span| frame.string(span));
    let carried = text(meta::TRACEPARENT).and_then(|text| TraceContext::parse(text.as_bytes()));
    let outer = target.and_then(|target| target.arrived).and_then(|arrived| arrived.outer);
    let mut traced = decides.begin(carried, outer)?;
    let state = carried.and(text(meta::TRACESTATE)).filter(|state| state.len() <= LONGEST_STATE);
    traced.trace_state = state.map(Into::into);
    let method = frame.method();
    let known = Method::from_name(&method);
    traced.method =
        known.map_or_else(|| Cow::Owned(clipped(&method).into()), |known| Cow::Borrowed(known.name()));
    traced.is_tool = known == Some(Method::ToolsCall);
    let param = |key| frame.param(key).ok().flatten().and_then(|span| frame.string(span));
    match known {
        Some(Method::ToolsCall | Method::PromptsGet) => {
            let tool = target.and_then(|target| target.tool);
            let known = tool.map(|tool| tool.name.clone());
            traced.target = known.or_else(|| param("name").map(|name| clipped(&name).into()));
            traced.own_target = tool.and_then(own_name);
        }
        Some(Method::ResourcesRead | Method::Subscribe | Method::Unsubscribe) => {
            // A query may contain secrets.
            traced.resource = param("uri").map(|uri| clipped(uri.split('?').next().unwrap_or_default()));
        }
        _ => {}
    }
    traced.id = frame.id().map_or_else(SmallVec::new, |id| unquoted(id.json()));
    traced.profile = context.egress.snapshot().profiles[profile].slug.clone();
    let caller = target.and_then(|target| target.traced);
    if let (Some(target), Some((caller, server))) = (target, caller) {
        traced.client = Some(client(caller, identity));
        traced.server = peer(target.upstream, server);
        if let Caller::Session(session) = caller {
            traced.session = Some(*session.trace_digest.get_or_init(|| SESSIONS.hash_one(&session.id)));
        }
    }
    Some(traced)
}

/// The server's own name for a tool, if it differs from the client's. Nearly every name is a slice of the
/// catalogue's text, so it is not copied.
fn own_name(tool: &ToolEntry) -> Option<Bytes> {
    let written = tool.real_name.as_ref()?;
    Some(match &**written {
        [b'"', inner @ .., b'"'] if !inner.contains(&b'\\') => written.slice_ref(inner),
        _ => Bytes::from(tool.own_name().into_owned()),
    })
}

/// The text of an id: a number, or a string without its quotes.
fn unquoted(id: &[u8]) -> SmallVec<[u8; 24]> {
    let inner = id.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")).unwrap_or(id);
    let text = std::str::from_utf8(inner).unwrap_or_default();
    SmallVec::from_slice(&text.as_bytes()[..text.floor_char_boundary(LONGEST)])
}

fn clipped(text: &str) -> Box<str> {
    text[..text.floor_char_boundary(LONGEST)].into()
}

fn client(caller: &Caller, identity: &Identity) -> TracedPeer {
    let is_pipe = identity.client_address.is_none();
    TracedPeer { version: caller.era().version, is_pipe, address: None }
}

/// Returns a server as seen from the gateway; `None` if the server is embedded in the gateway.
fn peer(upstream: &Upstream, era: &'static Era) -> Option<TracedPeer> {
    let server = &upstream.server;
    if server.is_native() {
        return None;
    }
    Some(TracedPeer { version: era.version, is_pipe: server.is_child(), address: server.address.clone() })
}
