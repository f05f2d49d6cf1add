//! The state that a call needs for sending its request again. This module must not know calls.

use engine::exchange::{Outbound, ResendPolicy};
use tokio::time::Instant;

/// The state that a call needs for sending its request again.
pub(crate) struct Retries {
    /// The rewrites of the request so far.
    pub(super) rewrites: Rewrites,
    /// The policy for sending the request again after a link fails.
    pub(crate) policy: ResendPolicy,
    /// The request, kept while it may be sent again even after a possible execution.
    pub(super) repeatable: Option<Outbound>,
    /// The request, kept until the client has answered a question that the server asked first; then it is sent.
    pub(super) held: Option<Box<HeldRequest>>,
}

/// A request that is sent once the client has answered a question.
pub(super) struct HeldRequest {
    pub(super) outbound: Outbound,
    /// The time at which the request is sent even without an answer.
    pub(super) until: Instant,
}

impl Retries {
    /// Creates the state of a request that has not been sent.
    pub(super) fn new(unchecked: bool, policy: ResendPolicy) -> Self {
        Self { rewrites: Rewrites::of(unchecked), policy, repeatable: None, held: None }
    }
}

/// The maximum number of times that a request is rewritten for another version. While a server restarts, it may
/// appear to support first one lifecycle and then the other.
pub(super) const RENEGOTIATIONS: u8 = 3;

/// The maximum number of pauses for a server that lost a session, and then also the session that replaced it. Such
/// a server may be restarting, but some servers forget every session.
pub(super) const LOST_SESSIONS: u8 = 2;

/// The rewrites of a call's request so far.
pub(crate) struct Rewrites {
    /// True if the upstream's lists were fetched again for this call.
    pub(super) relisted: bool,
    /// The number of times that the link did not use the expected version.
    pub(super) renegotiated: u8,
    /// The number of times that the server lost two sessions in a row.
    pub(super) lost_sessions: u8,
    /// True if the server has already sent one refusal whose meaning is ambiguous.
    pub(super) was_ambiguous: bool,
    /// True if only the server validates the arguments; Dragoman does not.
    pub(super) unchecked: bool,
}

impl Rewrites {
    /// Creates the state of a request that has not been rewritten.
    pub(super) fn of(unchecked: bool) -> Self {
        Self { relisted: false, renegotiated: 0, lost_sessions: 0, was_ambiguous: false, unchecked }
    }
}
