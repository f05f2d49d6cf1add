//! The reasons and means to send a call's request a second time. It must not know calls.

use engine::exchange::{Outbound, ResendPolicy};

/// The reasons and means to send a call's request again.
pub(crate) struct Retries {
    /// The reasons for which its request may still be written again.
    pub(super) rewrites: Rewrites,
    /// The rules for sending its request again if a link fails.
    pub(crate) policy: ResendPolicy,
    /// Its request, while it may be sent again although it may have been executed.
    pub(super) repeatable: Option<Outbound>,
}

/// The number of times that a request is written for another version: a server that restarts may be met in both lifecycles.
pub(super) const RENEGOTIATIONS: u8 = 3;

/// The reasons for which a call's request is written again.
pub(crate) struct Rewrites {
    /// True if its upstream's lists were read again on its account.
    pub(super) relisted: bool,
    /// The number of times that its link was found to speak another version than was expected.
    pub(super) renegotiated: u8,
    /// True if arguments are its server's matter alone.
    pub(super) unchecked: bool,
}

impl Rewrites {
    /// Nothing has happened yet.
    pub(super) fn of(unchecked: bool) -> Self {
        Self { relisted: false, renegotiated: 0, unchecked }
    }
}
