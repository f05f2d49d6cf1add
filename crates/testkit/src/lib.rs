//! Peers for tests and measurements: fixture upstreams, odd upstreams, load.

pub mod bench;
pub mod fixture;
pub mod odd;
mod program;
