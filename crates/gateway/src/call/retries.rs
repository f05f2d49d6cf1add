//! State for sending a call's request again. It must not know calls.

use engine::exchange::{Outbound, ResendPolicy};

/// State for sending a call's request again.
pub(crate) struct Retries {
    /// The rewrites that its request has been through.
    pub(super) rewrites: Rewrites,
    /// The policy for sending its request again after a link fails.
    pub(crate) policy: ResendPolicy,
    /// Its request, while it may be sent again even though it may have been executed.
    pub(super) repeatable: Option<Outbound>,
}

/// The number of times that a request is rewritten for another version: a restarting server may be reached in both
/// lifecycles.
pub(super) const RENEGOTIATIONS: u8 = 3;

/// The ways in which a call's request has been rewritten.
pub(crate) struct Rewrites {
    /// True if its upstream's lists were fetched again for this call.
    pub(super) relisted: bool,
    /// The number of times that its link used another version than expected.
    pub(super) renegotiated: u8,
    /// True if only its server validates the arguments.
    pub(super) unchecked: bool,
}

impl Rewrites {
    /// No rewrites so far.
    pub(super) fn of(unchecked: bool) -> Self {
        Self { relisted: false, renegotiated: 0, unchecked }
    }
}
