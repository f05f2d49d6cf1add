//! Runs other programs, either to their end, with a deadline and a log, or in the background until dropped.
//!
//! This module must not know the programs.

mod log;
mod service;
mod tree;

pub(crate) use log::Log;
pub(crate) use service::Service;
