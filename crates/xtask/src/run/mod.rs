//! Running other programs: to their end under a deadline with a log, or beside us until dropped.
//!
//! Knows processes and logs; knows nothing of what is run.

mod log;
mod service;
mod tree;

pub(crate) use log::Log;
pub(crate) use service::Service;
