//! A request of a dialect's client, run to its end as that of a client without a session that nobody can ask. What is said
//! on the way has nowhere to go.

use bytes::Bytes;
use engine::dialect::{Outcome, Trouble};
use engine::exchange::Answer;
use engine::{Condition, Fault};
use proto::rpc::{Frame, Kind, RpcError, code};
use tokio::sync::oneshot;

use super::front::Front;
use crate::gateway::Shard;
use crate::gateway::admission::identity::Identity;
use crate::gateway::call::call::{Call, Progress};
use crate::gateway::call::record::{Record, Refused};
use crate::gateway::call::stateless::{self, Asking, Decision, decide_for};

/// What became of a request, and what is to be written down of it once that was said to its client.
pub(super) type Became = (Outcome, Option<Box<Record>>);

/// What becomes of a request; `None` when its client has given it up. `counted` where it counts among its caller's.
pub(super) async fn forward(
    shard: &Shard,
    front: &Front,
    identity: &Identity,
    frame: Frame,
    (given_up, counted): (Option<oneshot::Receiver<Option<Frame>>>, bool),
) -> Option<Became> {
    let cell = stateless::view(&shard.call, front.profile, front.row.era, identity).await;
    let unchecked = !front.row.calls.check_arguments;
    let asking = Asking { cell, identity, headers: None, unchecked, counted };
    let outcome = match decide_for(&shard.call, &shard.gateway.parked, asking, frame).await {
        Err(Refused { fault, record }) => return Some((Outcome::Trouble(Trouble::from(&fault)), record)),
        Ok(Decision::Done(_, text)) => read(shard, text, None),
        Ok(Decision::Long(pieces)) => read(shard, Bytes::from(pieces.concat()), None),
        Ok(Decision::Listen(..)) => {
            let fault = Fault::unknown_method("subscriptions/listen", "has no stream to answer on here");
            Outcome::Trouble(Trouble::from(&fault))
        }
        Ok(Decision::Call(mut begun)) => {
            if let Some(given_up) = given_up {
                begun.cancel_by(given_up);
            }
            return run(shard, begun).await;
        }
    };
    Some((outcome, None))
}

async fn run(shard: &Shard, mut call: Box<Call>) -> Option<Became> {
    let (server, embedded) = (call.server_name().clone(), call.is_embedded());
    loop {
        let progress;
        (call, progress) = call.run().await;
        let outcome = match progress {
            Progress::Answer(Answer { fault: Some(fault), .. }) => Outcome::Trouble(Trouble::from(&*fault)),
            Progress::Answer(answer) => read(shard, answer.body, Some((&server, embedded))),
            Progress::Relay(_) | Progress::Paused(_) => continue,
            Progress::End => return None,
            Progress::Park(..) | Progress::Pass(_) => {
                let message = format!("server {server:?} wants something that this client cannot give");
                Outcome::Trouble(Trouble::new(Condition::UpstreamError, message).of(&*server))
            }
        };
        return Some((outcome, call.take_record()));
    }
}

fn not_known(answer: &Frame) -> bool {
    let error = answer.payload().and_then(|payload| RpcError::of_value(answer.text(), payload));
    error.is_some_and(|error| error.code == code::METHOD_NOT_FOUND)
}

/// A response as an outcome.
fn read(shard: &Shard, text: Bytes, server: Option<(&str, bool)>) -> Outcome {
    let unreadable = |why: String| Outcome::Trouble(Trouble::new(Condition::Internal, why));
    let frame = match Frame::parse(text, shard.gateway.frame_limits()) {
        Ok(frame) => frame,
        Err(e) => return unreadable(format!("the answer cannot be read: {e}")),
    };
    let trouble = match server {
        // What lives in the binary stands for a site or a service, and says itself what went wrong.
        Some((name, true)) => Trouble::of_own_answer(&frame, Some(name)),
        _ => Trouble::of_answer(&frame, server.map(|(name, _)| name)),
    };
    match (trouble, frame.payload()) {
        // Nobody behind the endpoint knows the method, so the endpoint does not.
        (Some(mut trouble), _) if not_known(&frame) => {
            (trouble.condition, trouble.server, trouble.original) = (Condition::UnknownMethod, None, None);
            Outcome::Trouble(trouble)
        }
        (Some(trouble), _) => Outcome::Trouble(trouble),
        (None, Some(result)) if frame.kind() == Kind::Response => Outcome::Result(result.share(frame.text())),
        _ => unreadable("the answer is no response".to_owned()),
    }
}
