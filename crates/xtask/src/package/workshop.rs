//! The tools and the release that builds and checks of packages share.

use super::release::Release;
use crate::run::Log;
use crate::tools::{Node, Packagers};

/// The release, the programs that pack it, and the log of the run.
pub(super) struct Workshop<'a> {
    pub(super) release: &'a Release,
    pub(super) packagers: &'a Packagers,
    pub(super) node: &'a Node,
    pub(super) log: &'a Log,
}
