//! The limit on running calls: per session, and per caller for clients without a session. A call above the limit is
//! refused as rate-limited, always with the same message. Sessions of the standard protocol count their calls
//! themselves.

use std::sync::Arc;

use engine::access::{CallPlace, Calls};
use engine::{Condition, Fault};
use proto::rpc::{Frame, code};
use tokio::sync::oneshot;

use crate::call::CallContext;
use crate::call::caller::Caller;
use crate::call::record::{Record, Refused};
use crate::session::open_requests::CannotBegin;

/// Takes a permit for another call of a caller. A refusal is recorded as rate-limited.
///
/// # Errors
/// Returns the fault to answer with.
pub(crate) fn place(
    context: &Arc<CallContext>,
    caller: &Caller,
    request: &Frame,
) -> Result<CallPlace, Refused> {
    let most = context.egress.snapshot().limits.calls_per_caller;
    let place = caller.identity().principal.calls.take(most);
    place.ok_or_else(|| refused(context, caller, request, full(most, "callsPerCaller")))
}

/// Registers a call in its caller's session, if there is one; returns the receiver of its cancellation. A refusal is
/// recorded.
///
/// # Errors
/// Returns the fault to answer with.
pub(crate) fn register(
    context: &Arc<CallContext>,
    caller: &Caller,
    call: &Frame,
) -> Result<Option<oneshot::Receiver<Option<Frame>>>, Refused> {
    let Caller::Session(session) = caller else { return Ok(None) };
    let begun = call.id().map_or(Err(CannotBegin::Id), |id| session.requests.begin(id));
    begun.map(Some).map_err(|busy| match busy {
        CannotBegin::Id => refused(context, caller, call, id_in_use()),
        CannotBegin::Full(most) => refused(context, caller, call, full_session(most)),
    })
}

fn refused(context: &Arc<CallContext>, caller: &Caller, request: &Frame, fault: Fault) -> Refused {
    let (view, identity) = (caller.view(), caller.identity());
    let record = view.and_then(|view| Record::refusal(context, identity, view.profile, request, &fault));
    Refused { fault, record }
}

fn id_in_use() -> Fault {
    Fault::client(code::INVALID_REQUEST, "a request with this id is open; wait for its answer")
}

/// Takes a permit for another call of a dialect's session.
///
/// # Errors
/// Returns the fault to answer with.
pub(crate) fn place_in_session(context: &Arc<CallContext>, calls: &Calls) -> Result<CallPlace, Fault> {
    let most = context.egress.snapshot().limits.calls_per_session;
    calls.take(most).ok_or_else(|| full_session(most))
}

/// Returns the fault for a call above the limit of a session.
pub(crate) fn full_session(most: usize) -> Fault {
    full(most, "callsPerSession")
}

fn full(most: usize, limit: &str) -> Fault {
    let message = format!(
        "too many calls: {most} are running; call again when one of them has been answered, or raise `limits.{limit}`"
    );
    Fault::client(code::REFUSED, message).about(Condition::RateLimited, "").with_status(429)
}
