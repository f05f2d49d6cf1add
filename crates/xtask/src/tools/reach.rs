//! The programs between Dragoman and servers, from Debian's packages.

use super::apt;
use crate::run::Log;

const PACKAGES: &[apt::Package] = &[
    ("nginx", &["/usr/sbin/nginx", "-v"]),
    ("openssl", &["openssl", "version"]),
    ("tinyproxy-bin", &["tinyproxy", "-v"]),
];

/// Installs the programs that are missing.
pub(crate) fn for_reach(log: &Log) -> Result<(), String> {
    apt::install(PACKAGES, log)
}
