//! All tools for runs against real peers, installed together.

use super::apt;
use super::node::Node;
use super::python::{ENVIRONMENTS, python};
use crate::run::Log;
use std::path::{Path, PathBuf};

/// The tools that were installed for the steps.
#[derive(Debug)]
pub(crate) struct Tools {
    /// Node with the pinned peers.
    pub(crate) node: Node,
    /// Node with the scripts and packages of `tests/auth`.
    pub(crate) auth: Node,
    /// Node with the scripts of `tests/sites`.
    pub(crate) sites: Node,
    /// The Python interpreter of each environment, by its name.
    pythons: Vec<(&'static str, PathBuf)>,
}

impl Tools {
    /// Installs missing tools.
    pub(crate) fn install(log: &Log) -> Result<Self, String> {
        apt::install(apt::FOR_PEERS, log)?;
        let node = Node::install(log)?;
        let auth = node.with("auth", log)?;
        let sites = node.scripts_of("sites");
        let pythons = ENVIRONMENTS.into_iter().map(|name| Ok((name, python(name, log)?)));
        Ok(Self { node, auth, sites, pythons: pythons.collect::<Result<_, String>>()? })
    }

    /// The interpreter of one environment; the programs of its packages are in the same folder.
    pub(crate) fn python(&self, environment: &str) -> Result<&Path, String> {
        let found = self.pythons.iter().find(|(name, _)| *name == environment);
        found
            .map(|(_, program)| program.as_path())
            .ok_or_else(|| format!("no Python environment `{environment}`"))
    }
}
