//! Peers for tests and measurements: fixture upstreams, odd upstreams, awkward processes, a fake site, a collector of
//! telemetry, servers with TLS, load generators, and a client.

#[cfg(target_os = "linux")]
pub mod awkward;
pub mod bench;
pub mod client;
pub mod collector;
pub mod fixture;
pub mod odd;
mod program;
pub mod site;
pub mod tls;
