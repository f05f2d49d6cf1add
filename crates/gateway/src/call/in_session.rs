//! Handles the responses and notifications that arrive in a session, and the level of its log messages.

use std::sync::Arc;

use bytes::Bytes;
use engine::Fault;
use engine::session::LinkMessage;
use engine::tasks::{TaskIds, inbound_edits};
use proto::bridge::shape;
use proto::era::Era;
use proto::json::Splice;
use proto::mcp::{Method, Notice};
use proto::rpc::{Frame, FrameKind, FrameLimits};
use upstream::link::Inbound;

use super::CallContext;
use super::caller::Caller;
use crate::session::question_origin::QuestionOrigin;
use crate::session::session::Session;

/// Passes a client's response to the call or the server that sent the request.
pub(crate) fn response(context: &Arc<CallContext>, session: &Arc<Session>, frame: &Frame) {
    let asked = session.asks.lock().answer(frame);
    let Some(asked) = asked else {
        tracing::debug!("ignored an answer that matches no open question");
        return;
    };
    match asked.link {
        QuestionOrigin::Call(_, index, call) => {
            if let Ok(frame) = Frame::parse(asked.text, context.egress.frame_limits()) {
                // A call that has ended no longer needs the reply.
                let _ = call.send(Inbound::Reply(index, frame));
            }
        }
        QuestionOrigin::Link(link) => {
            let ids = TaskIds::new(context.sealer(), session.owner(), session.era());
            let text = named(asked.text, ids, link.server.name());
            let text = answered(session.era(), link.era, &asked.method, text);
            link.enqueue(&context.egress, text);
            if *asked.method == *Method::RootsList.name() {
                link.roots.answered();
            }
        }
    }
}

/// Sets the minimum level of log messages for a session's client.
///
/// # Errors
/// Fails for a client without a session.
pub(super) async fn set_level(
    context: &Arc<CallContext>,
    caller: &Caller,
    level: Bytes,
    frame: &Frame,
) -> Result<(), Fault> {
    let Caller::Session(session) = caller else {
        return Err(Fault::unknown_method(&frame.method(), "needs a session"));
    };
    session.set_level(&context.egress, level).await;
    context.session.state.note_change(session);
    Ok(())
}

/// Returns a client's response with the task's id translated back to the server's own id.
fn named(text: Bytes, ids: TaskIds<'_>, server: &str) -> Bytes {
    let Ok(frame) = Frame::parse(text.clone(), FrameLimits::default()) else { return text };
    let edits = inbound_edits(&frame, ids, server);
    let mut splice = Splice::new(&text);
    for (span, name) in &edits {
        splice.replace(*span, name);
    }
    splice.finish()
}

/// Returns a client's response in the form of the era of the server that asked.
fn answered(client: &'static Era, server: &'static Era, method: &str, text: Bytes) -> Bytes {
    if client == server {
        return text;
    }
    let Ok(frame) = Frame::parse(text.clone(), FrameLimits::default()) else { return text };
    let Some(span) = frame.payload().filter(|_| frame.kind() == FrameKind::Response) else { return text };
    let result = shape::answer(method, &span.share(&text), client, server);
    let mut splice = Splice::new(&text);
    splice.replace(span, &result);
    splice.finish()
}

/// Handles a client's notification.
pub(crate) fn notification(context: &Arc<CallContext>, session: &Arc<Session>, frame: Frame) {
    match Notice::from_name(&frame.method()) {
        Some(Notice::Initialized) => {}
        Some(Notice::Cancelled) => session.requests.cancel(frame),
        Some(Notice::Progress) => {
            let asked = session.asks.lock().progress(&frame);
            if let Some(LinkMessage { link: QuestionOrigin::Link(link), text, .. }) = asked {
                link.enqueue(&context.egress, text);
            }
        }
        known => session.broadcast(&context.egress, &frame, known.is_none()),
    }
}
