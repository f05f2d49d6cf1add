//! Classes of clients: the properties that affect what a client is shown. This module must not know who the clients
//! are.

use proto::bridge::input::Askable;
use proto::era::{Era, Tasks};

/// The clients that see the same items because they use the same version and declare the same capabilities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ClientClass {
    /// The protocol version of the clients.
    pub(crate) era: &'static Era,
    /// The questions that the clients can be asked.
    pub(crate) askable: Askable,
    /// True if the clients have dedicated links to servers that may ask them questions. Their task ids are then the
    /// server's own ids.
    pub(crate) keeps_ids: bool,
}

impl ClientClass {
    /// Returns the class of the clients of a version that cannot answer questions.
    pub(crate) fn plain(era: &'static Era) -> Self {
        Self::new(era, Askable::NOTHING)
    }

    /// Returns the class of the clients of a version that can answer these questions.
    pub(crate) fn new(era: &'static Era, askable: Askable) -> Self {
        // Only the experimental tasks can be listed by clients, and only within a session.
        Self { era, askable, keeps_ids: era.shapes.tasks == Tasks::Experiment && !askable.is_nothing() }
    }
}
