//! How many calls may be in flight at once: those of a caller without a session, and those of a dialect's session. Sessions
//! of the protocol count their own.

use engine::access::{CallPlace, Calls};
use engine::{Condition, Fault};
use proto::rpc::{Frame, code};

use super::Shard;
use super::caller::Caller;
use super::record::{Record, Refused};

/// A place for one more call of a caller. A refusal is written down as one that came too soon.
///
/// # Errors
/// The fault to answer with.
pub(super) fn place(shard: &Shard, caller: &Caller, request: &Frame) -> Result<CallPlace, Refused> {
    let (identity, most) = (caller.identity(), shard.gateway.snapshot.limits.calls_per_caller);
    identity.principal.calls.take(most).ok_or_else(|| {
        let fault = full(most, "callsPerCaller");
        let view = caller.view();
        let record = view.and_then(|view| Record::refusal(shard, identity, view.profile, request, &fault));
        Refused { fault, record }
    })
}

/// A place for one more call of a dialect's session.
///
/// # Errors
/// The fault to answer with.
pub(super) fn place_in_session(shard: &Shard, calls: &Calls) -> Result<CallPlace, Fault> {
    let most = shard.gateway.snapshot.limits.calls_per_session;
    calls.take(most).ok_or_else(|| full(most, "callsPerSession"))
}

fn full(most: usize, limit: &str) -> Fault {
    let message = format!(
        "too many calls: {most} are in flight; wait for an answer (`limits.{limit}` in the configuration)"
    );
    Fault::client(code::REFUSED, message).about(Condition::RateLimited, "").with_status(429)
}
