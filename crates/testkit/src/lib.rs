//! Peers for tests and measurements: fixture upstreams, odd upstreams, a fake site, load.

pub mod bench;
pub mod fixture;
pub mod odd;
mod program;
pub mod site;
