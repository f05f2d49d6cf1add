//! The parts of a request that a run of steps needs besides the arguments. This module must not know requests.

use crate::passing::FileTransfer;
use crate::server::Mapped;

/// The caller of a run.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RunContext<'a> {
    /// Values of the client's request that the configuration maps to this server.
    pub(crate) mapped: Option<&'a Mapped>,
    /// Counts the bytes of a file that is passed on.
    pub(crate) transfer: Option<&'a FileTransfer>,
}

impl<'a> RunContext<'a> {
    /// The context of a caller who does not want to know how much of a file was passed on.
    pub(crate) fn of(mapped: Option<&'a Mapped>) -> Self {
        Self { mapped, transfer: None }
    }
}
