//! The programs that check and run the files in `deploy`: from Debian's packages and from `PyPI`.

use super::{apt, python};
use crate::run::Log;
use std::path::PathBuf;

const PACKAGES: &[apt::Package] = &[
    ("caddy", &["caddy", "version"]),
    ("curl", &["curl", "--version"]),
    ("haproxy", &["haproxy", "-v"]),
    ("nginx", &["/usr/sbin/nginx", "-v"]),
    ("openssl", &["openssl", "version"]),
    ("systemd", &["systemd-analyze", "--version"]),
];

/// Installs the programs that are missing; returns the interpreter with the schemas of Kubernetes.
pub(crate) fn for_deploy(log: &Log) -> Result<PathBuf, String> {
    apt::install(PACKAGES, log)?;
    python::environment("tests/deploy/kubernetes.txt", "py-kubernetes", log)
}
