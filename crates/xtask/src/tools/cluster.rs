//! The store and the balancers of a cluster, from Debian's packages.

use super::apt;
use super::not_started::NotStarted;
use crate::run::Log;

const PACKAGES: &[apt::Package] = &[
    ("haproxy", &["haproxy", "-v"]),
    ("nginx", &["/usr/sbin/nginx", "-v"]),
    ("redis-server", &["sh", "-c", "redis-server --version && redis-cli --version"]),
];

/// Installs the programs that are missing, without starting them as services.
pub(crate) fn for_cluster(log: &Log) -> Result<(), String> {
    let _not_started = NotStarted::new();
    apt::install(PACKAGES, log)
}
