//! The failures of commands at the store. This module must not know commands.

use std::time::Duration;

/// The reason why a command at the store has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// There is no connection.
    #[error("the cluster's store cannot be reached: {0}")]
    Unreachable(String),
    /// The store did not answer in time.
    #[error("the cluster's store did not answer within {} ms", .0.as_millis())]
    Slow(Duration),
    /// The command was not sent, because the store has failed several times.
    #[error("the cluster's store has failed several times; the next attempt follows within a second")]
    Paused,
    /// The store answered with an error.
    #[error("the cluster's store refused a command: {0}")]
    Refused(String),
    /// The value was written by a newer version of Dragoman, in a form that this version does not know.
    #[error("a gateway with a newer version of Dragoman has written this; update this gateway")]
    Newer,
}
