//! A request of a dialect's client, run to its end as that of a client without a session that nobody can ask. What is said
//! on the way has nowhere to go.

use bytes::Bytes;
use engine::dialect::{Outcome, Trouble};
use engine::exchange::Answer;
use engine::{Condition, Fault};
use proto::rpc::{Frame, Kind};
use serde_json::Value;

use super::serve::Front;
use crate::gateway::Shard;
use crate::gateway::call::{Call, Progress};
use crate::gateway::identity::Identity;
use crate::gateway::stateless::{self, Asking, Decision, decide_for};

/// What becomes of a request.
pub(super) async fn forward(shard: &Shard, front: &Front, identity: &Identity, frame: Frame) -> Outcome {
    let cell = stateless::view(shard, front.profile, front.row.era).await;
    let asking = Asking { cell, identity, headers: None };
    match decide_for(shard, asking, frame).await {
        Err(fault) => Outcome::Trouble(Trouble::from(&fault)),
        Ok(Decision::Done(_, text)) => read(shard, text, None),
        Ok(Decision::Long(pieces)) => read(shard, Bytes::from(pieces.concat()), None),
        Ok(Decision::Listen(..)) => {
            let fault = Fault::unknown_method("subscriptions/listen", "has no stream to answer on here");
            Outcome::Trouble(Trouble::from(&fault))
        }
        Ok(Decision::Call(begun)) => run(shard, begun).await,
    }
}

async fn run(shard: &Shard, mut call: Box<Call>) -> Outcome {
    let (server, embedded) = (call.server_name().clone(), call.is_embedded());
    loop {
        let (running, progress) = call.run().await;
        match progress {
            Progress::Answer(Answer { fault: Some(fault), .. }) => {
                return Outcome::Trouble(Trouble::from(&*fault));
            }
            Progress::Answer(answer) => {
                let outcome = read(shard, answer.body, Some(&server));
                return if embedded { named(outcome) } else { outcome };
            }
            Progress::Relay(_) | Progress::Paused(_) => call = running,
            Progress::Park(..) | Progress::Pass(_) | Progress::End => {
                let message = format!("server {server:?} wants something that this client cannot give");
                return Outcome::Trouble(Trouble::new(Condition::UpstreamError, message).of(&*server));
            }
        }
    }
}

/// The same, of the kind that an embedded server says itself: it stands for a site or a service, and knows what went wrong.
fn named(outcome: Outcome) -> Outcome {
    let Outcome::Trouble(mut trouble) = outcome else { return outcome };
    let error: Option<Value> =
        trouble.original.as_ref().and_then(|original| serde_json::from_slice(original).ok());
    let word = error.as_ref().and_then(|error| error.pointer("/data/condition")).and_then(Value::as_str);
    if let Some(condition) = word.and_then(Condition::of_word) {
        trouble.condition = condition;
    }
    Outcome::Trouble(trouble)
}

/// A response as an outcome.
fn read(shard: &Shard, text: Bytes, server: Option<&str>) -> Outcome {
    let unreadable = |why: String| Outcome::Trouble(Trouble::new(Condition::Internal, why));
    let frame = match Frame::parse(text, shard.gateway.frame_limits()) {
        Ok(frame) => frame,
        Err(e) => return unreadable(format!("the answer cannot be read: {e}")),
    };
    match (Trouble::of_answer(&frame, server), frame.payload()) {
        (Some(trouble), _) => Outcome::Trouble(trouble),
        (None, Some(result)) if frame.kind() == Kind::Response => Outcome::Result(result.share(frame.text())),
        _ => unreadable("the answer is no response".to_owned()),
    }
}
