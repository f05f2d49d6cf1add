//! Classes of clients: the properties that affect what a client is shown. It must not know who the clients are.

use proto::bridge::input::Askable;
use proto::era::{Era, Tasks};

/// Clients that see the same items, according to the capabilities that they declare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ClientClass {
    /// Their protocol version.
    pub(crate) era: &'static Era,
    /// The questions that the clients can be asked.
    pub(crate) askable: Askable,
    /// True if they have dedicated links to servers that may ask them questions, and the ids of their tasks are the server's
    /// own.
    pub(crate) keeps_ids: bool,
}

impl ClientClass {
    /// Clients of a version that cannot be asked anything.
    pub(crate) fn plain(era: &'static Era) -> Self {
        Self::new(era, Askable::NOTHING)
    }

    /// Clients of a version that can be asked these questions.
    pub(crate) fn new(era: &'static Era, askable: Askable) -> Self {
        // Only the experimental tasks can be listed by a client, within its session.
        Self { era, askable, keeps_ids: era.shapes.tasks == Tasks::Experiment && !askable.is_nothing() }
    }
}
