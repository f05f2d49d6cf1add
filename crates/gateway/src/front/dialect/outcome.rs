//! Runs a dialect request to its end, like a request from a client without a session that cannot answer servers' questions.
//! Messages that arrive before the answer are dropped.

use bytes::Bytes;
use engine::dialect::{DialectFault, DialectOutcome};
use engine::exchange::ExchangeAnswer;
use engine::{Condition, Fault};
use proto::rpc::{Frame, FrameKind, RpcError, code};
use tokio::sync::oneshot;

use super::front::Front;
use crate::admission::identity::Identity;
use crate::call::call::Call;
use crate::call::decide::{Decision, decide_or_refuse};
use crate::call::drive::{CallEnd, ClientSink, drive};
use crate::call::record::{Record, Refused};
use crate::call::requester::Requester;
use crate::call::stateless;
use crate::process::Shard;

/// The outcome of a request, and the record that is completed once the client has been answered.
pub(super) type RecordedOutcome = (DialectOutcome, Option<Box<Record>>);

/// Forwards a request; returns `None` if its client cancelled it. `counted` is true if the request counts toward
/// its caller's limit.
pub(super) async fn forward(
    shard: &Shard,
    front: &Front,
    identity: &Identity,
    frame: Frame,
    (given_up, counted): (Option<oneshot::Receiver<Option<Frame>>>, bool),
) -> Option<RecordedOutcome> {
    let cell = stateless::view(&shard.call, front.profile, front.row.era, identity).await;
    let unchecked = !front.row.calls.check_arguments;
    let requester =
        Requester { unchecked, counted, whole: true, ..Requester::stateless(cell, identity, None) };
    let outcome = match decide_or_refuse(&shard.call, &shard.gateway.process.parked, requester, frame).await {
        Err(Refused { fault, record }) => {
            return Some((DialectOutcome::Fault(DialectFault::from(&fault)), record));
        }
        Ok(Decision::Done(_, text)) => read(shard, text, None),
        Ok(Decision::Long(pieces)) => read(shard, Bytes::from(pieces.concat()), None),
        Ok(Decision::Wait(id, subscribing)) => read(shard, subscribing.answer(&id).await.1, None),
        Ok(Decision::Cancelled | Decision::Elsewhere(_)) => return None,
        Ok(Decision::Listen(..)) => {
            let fault =
                Fault::unknown_method("subscriptions/listen", "needs an event stream, which is missing");
            DialectOutcome::Fault(DialectFault::from(&fault))
        }
        Ok(Decision::Call(mut begun, _)) => {
            if let Some(given_up) = given_up {
                begun.cancel_by(given_up);
            }
            let mut sink = DialectSink { shard, became: None };
            drive(begun.run(), &shard.gateway.process.parked, &mut sink).await;
            return sink.became;
        }
    };
    Some((outcome, None))
}

/// The sink for a dialect client, which receives only the end of a call.
struct DialectSink<'a> {
    shard: &'a Shard,
    became: Option<RecordedOutcome>,
}

impl ClientSink for DialectSink<'_> {
    async fn relay(&mut self, _: &Call, _: Bytes) -> bool {
        true
    }

    fn comes_back(&self) -> bool {
        false
    }

    async fn end(&mut self, end: CallEnd) {
        let (outcome, call) = match end {
            CallEnd::Silent => return,
            CallEnd::Answer(ExchangeAnswer { fault: Some(fault), .. }, call) => {
                (DialectOutcome::Fault(DialectFault::from(&*fault)), call)
            }
            CallEnd::Answer(answer, call) => {
                let server = call.as_deref().map(|call| (&**call.server_name(), call.is_embedded()));
                (read(self.shard, answer.body, server), call)
            }
            CallEnd::Unheard(call) | CallEnd::Long(_, call) => {
                let server = call.server_name().clone();
                let message =
                    format!("server {server:?} requires something that this client does not support");
                let fault = DialectFault::new(Condition::UpstreamError, message).of(&*server);
                (DialectOutcome::Fault(fault), Some(call))
            }
        };
        self.became = Some((outcome, call.and_then(|mut call| call.take_record())));
    }
}

fn not_known(answer: &Frame) -> bool {
    let error = answer.payload().and_then(|payload| RpcError::of_value(answer.text(), payload));
    error.is_some_and(|error| error.code == code::METHOD_NOT_FOUND)
}

/// Reads the text of a response as an outcome.
fn read(shard: &Shard, text: Bytes, server: Option<(&str, bool)>) -> DialectOutcome {
    let unreadable = |why: String| DialectOutcome::Fault(DialectFault::new(Condition::Internal, why));
    let frame = match Frame::parse(text, shard.gateway.frame_limits()) {
        Ok(frame) => frame,
        Err(e) => return unreadable(format!("the answer cannot be read: {e}")),
    };
    let fault = match server {
        // An embedded server represents a site or a service, and its answer already explains what went wrong.
        Some((name, true)) => DialectFault::of_own_answer(&frame, Some(name)),
        _ => DialectFault::of_answer(&frame, server.map(|(name, _)| name)),
    };
    match (fault, frame.payload()) {
        // No server behind the endpoint knows the method, so neither does the endpoint.
        (Some(mut fault), _) if not_known(&frame) => {
            (fault.condition, fault.server, fault.original) = (Condition::UnknownMethod, None, None);
            DialectOutcome::Fault(fault)
        }
        (Some(fault), _) => DialectOutcome::Fault(fault),
        (None, Some(result)) if frame.kind() == FrameKind::Response => {
            DialectOutcome::Result(result.share(frame.text()))
        }
        _ => unreadable("the answer is not a response".to_owned()),
    }
}
