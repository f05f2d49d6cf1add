//! Classes of clients: the properties that decide what a client is shown. It must not know who they are.

use proto::bridge::input::Askable;
use proto::era::{Era, Tasks};

/// Clients that are shown the same, as far as they say of themselves what they can.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ClientClass {
    /// Their protocol version.
    pub(crate) era: &'static Era,
    /// The questions that they can be asked.
    pub(crate) askable: Askable,
    /// True if they have links of their own to servers that may ask them, and the ids of their tasks are those of the server.
    pub(crate) keeps_ids: bool,
}

impl ClientClass {
    /// Clients of a version that can be asked nothing.
    pub(crate) fn plain(era: &'static Era) -> Self {
        Self::new(era, Askable::NOTHING)
    }

    /// Clients of a version that can be asked this.
    pub(crate) fn new(era: &'static Era, askable: Askable) -> Self {
        // Only the experiment has tasks that a client lists, in its session.
        Self { era, askable, keeps_ids: era.shapes.tasks == Tasks::Experiment && !askable.is_nothing() }
    }
}
