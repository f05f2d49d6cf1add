//! A running child of either kind, for the owner that ends it. This module must not know pipes.

use std::{io, process::ExitStatus, time::Duration};

use super::caps::CapUse;
use super::grouped::GroupedServer;
#[cfg(target_os = "linux")]
use super::guarded::HeldServer;

/// A child with all processes that it starts.
pub(super) enum ServerProcess {
    /// A child of this process, which is ended with its process group.
    Grouped(GroupedServer),
    /// A child of a holder, which is ended with all of its descendants. Dropping this value ends all of these processes.
    #[cfg(target_os = "linux")]
    Held(HeldServer),
}

impl ServerProcess {
    /// Waits until the child's program runs, and returns its process id.
    ///
    /// # Errors
    /// Returns the system's error if the program cannot be run.
    pub(super) async fn started(&mut self) -> io::Result<u32> {
        match self {
            Self::Grouped(server) => Ok(server.pid),
            #[cfg(target_os = "linux")]
            Self::Held(server) => server.started().await,
        }
    }

    /// Waits until the child has ended; returns `None` if its status is unknown. It is safe to drop the future and
    /// call this function again.
    pub(super) async fn wait(&mut self) -> Option<ExitStatus> {
        match self {
            Self::Grouped(server) => server.wait().await,
            #[cfg(target_os = "linux")]
            Self::Held(server) => server.wait().await,
        }
    }

    /// Returns the cap that ended the child, or may have ended it; known once the child has ended.
    pub(super) fn cap(&self) -> Option<CapUse> {
        match self {
            Self::Grouped(_) => None,
            #[cfg(target_os = "linux")]
            Self::Held(server) => server.cap(),
        }
    }

    /// Waits until none of the child's processes is left, for at most `patience`. Returns true if none is left. Call
    /// this function once the child has ended.
    pub(super) async fn vanishes(&mut self, patience: Duration) -> bool {
        match self {
            Self::Grouped(server) => server.vanishes(patience).await,
            #[cfg(target_os = "linux")]
            Self::Held(server) => server.vanishes(patience).await,
        }
    }

    /// Returns true if, as far as is known, none of the child's processes is left. Call this function once the child
    /// has ended.
    pub(super) fn is_gone(&self) -> bool {
        match self {
            Self::Grouped(server) => server.is_gone(),
            #[cfg(target_os = "linux")]
            Self::Held(server) => server.is_gone(),
        }
    }

    /// Asks all of the child's processes to end.
    pub(super) fn terminate(&self) {
        match self {
            Self::Grouped(server) => server.terminate(),
            #[cfg(target_os = "linux")]
            Self::Held(server) => server.terminate(),
        }
    }

    /// Kills all of the child's processes.
    pub(super) fn kill(&self) {
        match self {
            Self::Grouped(server) => server.kill(),
            #[cfg(target_os = "linux")]
            Self::Held(server) => server.kill(),
        }
    }
}
