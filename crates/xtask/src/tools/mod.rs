//! Tools that tests need and that a fresh machine lacks, installed below `target/tools` in pinned versions.
//!
//! An installer does nothing if its tool is already installed. Two concurrent runs wait for each other.

mod apps;
mod apt;
mod cargo;
mod cluster;
mod deploy;
mod gungraun;
mod install;
mod node;
mod not_started;
mod packaging;
mod python;
mod reach;
pub(crate) mod stamp;
mod telemetry;
mod wordpress;

pub(crate) use apps::for_apps;
pub(crate) use cargo::mdbook;
pub(crate) use cluster::for_cluster;
pub(crate) use deploy::for_deploy;
pub(crate) use gungraun::gungraun_runner;
pub(crate) use install::Tools;
pub(crate) use node::Node;
pub(crate) use not_started::NotStarted;
pub(crate) use packaging::{Packagers, for_containers, for_units};
pub(crate) use python::environment;
pub(crate) use reach::for_reach;
pub(crate) use telemetry::for_telemetry;
pub(crate) use wordpress::{wordpress, wordpress_for_communities};
