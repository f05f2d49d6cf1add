//! What tests need and a fresh machine lacks, installed below `target/tools` from pinned versions.
//!
//! Each installer does nothing when what it installs is there already; two runs at once wait for each other.

mod apt;
mod gungraun;
mod install;
mod node;
mod python;
mod stamp;
mod wordpress;

pub(crate) use gungraun::gungraun_runner;
pub(crate) use install::Tools;
pub(crate) use node::Node;
pub(crate) use wordpress::{wordpress, wordpress_for_communities};
