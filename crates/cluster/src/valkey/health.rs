//! The state of the connection to the store, for people.

use std::time::SystemTime;

use super::UnfitStore;

/// The state of the connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreState {
    /// No connection has been opened yet.
    Connecting,
    /// The store can be used; its version.
    Ready(String),
    /// There is no connection, for this reason.
    Unreachable(String),
    /// The store cannot be used.
    Unfit(UnfitStore),
}

/// The state of the connection, and the time at which it began.
#[derive(Debug, Clone)]
pub struct StoreHealth {
    /// The state.
    pub state: StoreState,
    /// The time at which this state began.
    pub since: SystemTime,
}

impl StoreHealth {
    pub(super) fn new(state: StoreState) -> Self {
        Self { state, since: SystemTime::now() }
    }

    /// Returns true if commands can be sent.
    pub fn is_ready(&self) -> bool {
        matches!(self.state, StoreState::Ready(_))
    }
}
