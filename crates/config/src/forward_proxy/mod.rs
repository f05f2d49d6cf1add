//! Forward proxies: the HTTP proxies through which the gateway sends its own requests. Their addresses come from the
//! configuration or from environment variables. This module must not know sockets, or what is requested.
//!
//! | file | is for |
//! |---|---|
//! | `address` | one proxy: its address and credentials, read from a URL |
//! | `exemptions` | `NO_PROXY`: the hosts that are reached without a proxy |
//! | `environment` | the environment variables, and the choice of a proxy for one host |

mod address;
mod environment;
mod exemptions;

#[cfg(test)]
mod tests;

pub(crate) use address::decoded;
pub use address::{ForwardProxy, ProxyUrlFault};
pub use environment::{EnvironmentProxies, UnusableProxy};
pub use exemptions::{ProxyExemptions, is_loopback_host};
