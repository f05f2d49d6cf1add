//! The tools and the release that are shared by the builds and the checks of packages.

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
