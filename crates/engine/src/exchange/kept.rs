//! Messages from an upstream that arrive while its client is away. This module must not know how they are used.

use super::Event;

/// Messages from the upstream for a client that received questions in a result, and therefore has no stream on
/// which to receive them.
#[derive(Debug, Default)]
pub(super) struct MissedMessages {
    /// The notifications (only the latest one about progress), followed by the answer or the end.
    pub(super) events: Vec<Event>,
    /// True once `events` ends with the answer or with the failure of the stream.
    pub(super) is_over: bool,
}
