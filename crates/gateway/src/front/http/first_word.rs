//! The first item that a call produces, which decides whether the request is answered with a single body or an event
//! stream. This module must not know the caller.

use http::{Response, StatusCode};
use tokio::time::{Instant, sleep_until};
use transport::net::Body;

use super::answer;
use crate::call::call::{Call, Progress};
use crate::call::parked::Parked;

/// A call, and the latest item that it produced.
pub(super) type CallStep = (Box<Call>, Progress);

/// The form in which a request is answered.
pub(super) enum FirstWord {
    /// A single response; `true` if it contains a result.
    Whole(Box<Response<Body>>, bool),
    /// An event stream: either nothing came in time, or a message came before the answer.
    Stream(Option<CallStep>),
}

/// Waits for the first item until `silent`.
pub(super) async fn first_word(
    next: impl Future<Output = CallStep>,
    silent: Instant,
    parked: &Parked,
) -> FirstWord {
    let first = tokio::select! {
        first = next => Some(first),
        () = sleep_until(silent) => None,
    };
    let Some((call, progress)) = first else { return FirstWord::Stream(None) };
    let (response, ok) = match progress {
        Progress::Answer(answered) => (answer::message(answered.status, answered.body), answered.ok),
        Progress::Pass(body) => (answer::passing(body), true),
        Progress::Park(ticket, asked) => {
            let asked = call.park(parked, ticket, asked);
            (answer::message(asked.status, asked.body), asked.ok)
        }
        Progress::End => (answer::empty(StatusCode::ACCEPTED), false),
        progress @ (Progress::Relay(_) | Progress::Paused(_)) => {
            return FirstWord::Stream(Some((call, progress)));
        }
    };
    FirstWord::Whole(Box::new(response), ok)
}
