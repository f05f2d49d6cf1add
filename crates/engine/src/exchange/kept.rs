//! What an upstream says while its client is away. It must not know what becomes of it.

use super::Event;

/// What the upstream said meanwhile to a client that was asked by a result: it has no stream on which it could hear it.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// Its notices, the newest one about progress alone, and then its answer or its end.
    pub(super) events: Vec<Event>,
    /// True if the last of them is the end.
    pub(super) is_over: bool,
}
