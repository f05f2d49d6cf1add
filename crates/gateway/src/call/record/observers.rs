//! The observers of a request that begins, beside its entry: the meter that counts it, and the tape with its messages. This
//! module must not know how the request ends.

use std::time::Instant;

use proto::mcp::Method;
use proto::rpc::Frame;

use crate::admission::identity::Identity;
use crate::call::CallContext;
use crate::call::capture::{Lane, MessageTape};
use crate::call::recorded_target::RecordedTarget;
use crate::telemetry::RequestMeter;

/// Returns the meter that counts a request, if requests are counted.
pub(super) fn meter(
    context: &CallContext,
    frame: &Frame,
    target: Option<RecordedTarget<'_>>,
) -> Option<RequestMeter> {
    let figures = &context.state.figures;
    if !figures.is_on() {
        return None;
    }
    let mut meter = RequestMeter::new(figures, Method::from_name(&frame.method()));
    if let Some(RecordedTarget { upstream, tool, .. }) = target {
        meter.set_server(&upstream.server.meters);
        if let Some(tool) = tool {
            meter.set_tool(figures, &tool.meter, || tool.own_name().into_owned());
        }
    }
    Some(meter)
}

/// Returns a tape with the request, if its messages are captured.
pub(super) fn tape(
    context: &CallContext,
    identity: &Identity,
    (frame, started): (&Frame, Instant),
    target: Option<RecordedTarget<'_>>,
) -> Option<Box<MessageTape>> {
    let eras = target
        .and_then(|target| target.traced)
        .map(|(caller, server)| (caller.era().version, server.version));
    let tape = context.state.capture.tape(&identity.principal, started, eras.unwrap_or_default())?;
    tape.add(Lane::FromClient, frame.text());
    Some(Box::new(tape))
}
