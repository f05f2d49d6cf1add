//! The gateway's ends of a child's pipes.

use std::os::fd::OwnedFd;

/// The ends of a child's pipes to which the gateway writes and from which it reads.
pub(super) struct Pipes {
    /// The writing end of the child's stdin.
    pub(super) stdin: OwnedFd,
    /// The reading end of the child's stdout.
    pub(super) stdout: OwnedFd,
    /// The reading end of the child's stderr.
    pub(super) stderr: OwnedFd,
}
