//! Everything that runs against real peers need, in one go.

use super::apt::debian_packages;
use super::node::Node;
use super::python::{SDKS, python};
use crate::run::Log;
use std::path::PathBuf;

/// What was installed for the steps.
#[derive(Debug)]
pub(crate) struct Tools {
    /// Node with the pinned peers.
    pub(crate) node: Node,
    /// A Python interpreter for each pinned SDK, by its name.
    pub(crate) pythons: Vec<(&'static str, PathBuf)>,
}

impl Tools {
    /// Installs what is missing.
    pub(crate) fn install(log: &Log) -> Result<Self, String> {
        debian_packages(log)?;
        let node = Node::install(log)?;
        let pythons = SDKS.into_iter().map(|name| Ok((name, python(name, log)?)));
        Ok(Self { node, pythons: pythons.collect::<Result<_, String>>()? })
    }
}
