//! Prepares a request: checks its arguments, and writes it in the form that its upstream receives.

use std::io::Write;

use bytes::Bytes;
use proto::bridge::handshake::{Envelope, is_alike, request};
use proto::json::{Members, Span, Splice};
use proto::mcp::{Method, meta};
use proto::rpc::{Frame, FrameLimits, code};
use smallvec::SmallVec;

use super::Start;
use super::input::{RetryState, answers, may_ask, state_of};
use super::invalid::invalid_arguments;
use super::outbound::{Mirror, Outbound};
use super::task_bridge::TaskBridge;
use super::trace_hop::TraceHop;
use crate::fault::Fault;

/// One of our keys as JSON; the buffer can hold any 64-bit number.
pub(super) fn digits(key: u64) -> SmallVec<[u8; 20]> {
    let mut digits = SmallVec::new();
    // Writing to memory cannot fail.
    let _ = write!(digits, "{key}");
    digits
}

/// Checks a call's arguments. Depending on the era, a mismatch is answered with a fault or with a tool result.
pub(super) fn check_arguments(start: &Start<'_>, arguments: Option<Span>) -> Result<Option<Bytes>, Fault> {
    let Some(tool) = start.route.tool.filter(|_| !start.route.unchecked) else { return Ok(None) };
    // Some clients send null if there are no arguments.
    let arguments = arguments.map(|span| span.of(start.frame.text())).filter(|text| *text != b"null");
    if arguments.is_some_and(|text| text[0] != b'{') {
        return Err(Fault::client(code::INVALID_PARAMS, "params.arguments must be an object"));
    }
    let Err(misfit) = tool.check(arguments) else { return Ok(None) };
    invalid_arguments(start.client, start.server_info, &misfit.to_string()).map(Some)
}

/// Writes the request for its upstream: in the upstream's form, with our id, the real name or URI, our progress token and
/// the upstream's own state. If the form is the same in both eras, only these parts change. Otherwise, the second
/// value is the request in the upstream's form.
pub(super) fn outbound(
    start: &Start<'_>,
    bridge: Option<&TaskBridge>,
) -> Result<(Outbound, Option<Frame>), Fault> {
    let state = match state_of(&start.frame, start.client, start.sealer, start.binding)? {
        None => None,
        Some(RetryState::Visited) => {
            visits_agreed(&start.frame, start.binding.server)?;
            None
        }
        Some(RetryState::Upstream(state)) => Some(state),
        // A parked request with this state would have been found earlier.
        Some(RetryState::Parked(_)) => return Err(super::input::no_longer_open()),
    };
    if bridge.is_none() && is_alike(&start.frame, start.client, start.server) {
        let name = start.route.rename.as_ref().map(|(public, _)| *public);
        let body = spliced(start, &start.frame, name, state.as_deref())?;
        return Ok((written(start, &start.frame, body), None));
    }
    if let Some(outbound) = bridge.and_then(|bridge| bridge.first(start.key)) {
        let said = read(outbound.body.clone())?;
        return Ok((outbound, Some(said)));
    }
    let capabilities = bridge.and_then(TaskBridge::capabilities);
    let envelope = Envelope {
        capabilities: capabilities.as_deref().unwrap_or(start.capabilities_upstream),
        client_info: start.client_info,
        level: start.level,
    };
    let text = request(&start.frame, start.client, start.server, &envelope);
    let said = read(bridge.map_or(text.clone(), |bridge| bridge.dressed(text)))?;
    let body = spliced(start, &said, name_span(&said), None)?;
    let outbound = written(start, &said, body.clone());
    Ok((outbound, Some(read(body)?)))
}

fn read(text: Bytes) -> Result<Frame, Fault> {
    Frame::parse(text, FrameLimits::default())
        .map_err(|e| Fault::gateway(format!("the request cannot be translated for the server: {e}")))
}

/// Checks that the user agreed to visit the required pages. If the user did not, the upstream would only ask again.
fn visits_agreed(retry: &Frame, server: &str) -> Result<(), Fault> {
    let Some(answers) = answers(retry)? else { return Ok(()) };
    let text = retry.text();
    let refused = |value: Span| {
        let action = Members::of_value(text, value).and_then(|answer| answer.get(text, "action"));
        action.is_some_and(|action| action.of(text) != b"\"accept\"")
    };
    if answers.iter().any(|member| refused(member.value)) {
        let message =
            format!("server {server:?} requires the user to visit a page first, and the user declined");
        return Err(Fault::not_sent(server, false, message));
    }
    Ok(())
}

fn written(start: &Start<'_>, said: &Frame, body: Bytes) -> Outbound {
    let Start { server, route, key, .. } = start;
    let real = route.rename.as_ref().map(|(_, real)| real.as_ref());
    let mirror =
        server.mirrored_headers.then(|| Mirror::of_request(said, route.method.clone(), real, route.tool));
    let traceparent = start.trace.map(TraceHop::traceparent);
    Outbound { upstream: route.upstream, era: server, key: *key, body, mirror, traceparent }
}

/// The request with our id, the real name instead of the public one, our progress token and the upstream's state, a
/// JSON string.
fn spliced(
    start: &Start<'_>,
    frame: &Frame,
    name: Option<Span>,
    state: Option<&str>,
) -> Result<Bytes, Fault> {
    let key_text = digits(start.key);
    let mut splice = Splice::new(frame.text());
    if let Some(span) = frame.id_span() {
        splice.replace(span, &key_text);
    }
    if let (Some((_, real)), Some(span)) = (&start.route.rename, name) {
        splice.replace(span, real);
    }
    if let Some(span) = frame.meta(meta::PROGRESS_TOKEN)? {
        splice.replace(span, &key_text);
    }
    if may_ask(start.server, frame)
        && let Some(span) = frame.param("requestState")?
        && let Some(state) = state
    {
        splice.replace(span, state.as_bytes());
    }
    if let Some(hop) = start.trace {
        hop.write(frame, &mut splice);
    }
    Ok(splice.finish())
}

/// The span of the name or URI in a rewritten request; the span that was found earlier belongs to the original.
fn name_span(frame: &Frame) -> Option<Span> {
    match Method::from_name(&frame.method()) {
        Some(Method::Complete) => {
            let reference = Members::of_value(frame.text(), frame.param("ref").ok().flatten()?)?;
            reference.get(frame.text(), "name").or_else(|| reference.get(frame.text(), "uri"))
        }
        Some(Method::ResourcesRead | Method::Subscribe | Method::Unsubscribe) => {
            frame.param("uri").ok().flatten()
        }
        _ => frame.param("name").ok().flatten(),
    }
}
